#!/usr/bin/env python3
"""How strew.jax comes into JAX and goes: enable, disable, jit, report, the environment, the persistent cache in two processes, ahead-of-time compilation, exports, threads, devices, and errors.

    hook_test.py [BUILD]

Exit status 0: right, 1: wrong.
"""
import contextlib
import doctest
import functools
import inspect
import os
import re
import subprocess
import sys
import tempfile
import threading
import warnings

from modes import Failures, differs, jax, leaves_of, np, strew

import jax.numpy as jnp
from jax._src import compiler

from strew.jax import _hook

TARGET = 'custom_call_target="strew"'
X, I, U = np.zeros((50, 16), np.float32), np.array([3, 3, -1, 49, 60], np.int32), np.arange(80, dtype=np.float32).reshape(5, 16)


def add(x, i, u):
    """Adds rows."""
    return x.at[i].add(u)


def weighted(x, i, u):
    """Level 2 makes one kernel of it, level 1 cannot."""
    return jnp.zeros_like(x).at[i].add(u * 3)


EXPECTED = np.asarray(jax.jit(add)(X, I, U))
jax.clear_caches()


def compiled_text(jitted, *arguments):
    return jitted.lower(*arguments).compile().as_text()


def has_strew(jitted, *arguments):
    return TARGET in compiled_text(jitted, *(arguments or (X, I, U)))


def raised(function, *arguments, **keywords):
    """The exception, or None."""
    try:
        function(*arguments, **keywords)
    except Exception as error:  # noqa: BLE001
        return error
    return None


def expect(failures, error, kind, *words):
    failures.check(type(error) is kind and all(word in str(error) for word in words), f"{type(error).__name__}: {error}; expected a {kind.__name__} with {words}")


@contextlib.contextmanager
def enabled():
    strew.jax.enable()
    try:
        yield
    finally:
        strew.jax.disable()


def python(text, **environment):
    """What a new process prints on stdout and stderr."""
    ran = subprocess.run([sys.executable, "-c", text], env={**os.environ, "JAX_PLATFORMS": "cpu", **environment}, capture_output=True, text=True, check=False)
    return f"{ran.stdout}{ran.stderr}" + (f"exit status {ran.returncode}" if ran.returncode else "")


def check_switch(failures):
    failures.check(not strew.jax.is_enabled() and not has_strew(jax.jit(add)), "strew is enabled from the start")
    jitted = jax.jit(add)
    jitted(X, I, U)
    strew.jax.report(clear=True)
    with enabled():
        failures.check(strew.jax.is_enabled(), "is_enabled() after enable()")
        failures.check(not differs(leaves_of(jitted(X, I, U)), [EXPECTED]) and len(strew.jax.report().modules) == 1, "a function that JAX had compiled was not compiled again")
        strew.jax.enable()
        jitted(X, I, U)
        failures.check(len(strew.jax.report().modules) == 1, "a second enable() made JAX compile again")
        failures.check(has_strew(jax.jit(add)), "enable() does not bring strew in")
    failures.check(not strew.jax.is_enabled() and not has_strew(jax.jit(add)), "disable() does not send strew away")
    strew.jax.disable()
    failures.check(_hook._original is not compiler.compile_or_get_cached and compiler.compile_or_get_cached.__module__ == "strew.jax._hook", "the hook is there twice, or not")


def check_report(failures):
    with enabled():
        strew.jax.report(clear=True)
        jax.jit(lambda x: x + 1)(X)
        failures.check(not strew.jax.report().modules, "a module without indexed operations is in the report")
        jax.jit(add)(X, I, U)
        module, = strew.jax.report().modules
        failures.check(module.module == "jit_add" and module.level == "operators" and module.replaced[0].operations == ("stablehlo.scatter",), f"report: {module!r}")
        failures.check("jit_add (operators): strew runs 1" in str(strew.jax.report()), f"report: {strew.jax.report()}")

        def kept(x, i):
            return jnp.sin(x * 2)[i] * 3
        jax.jit(kept)(X, I)
        module = strew.jax.report().modules[-1]
        failures.check(any(each.operation == "stablehlo.gather" and each.reason for each in module.kept) and re.search("    XLA    module:[0-9]+  stablehlo.gather: .", str(module)), f"report: {module!r}")
        failures.check(len(strew.jax.report(clear=True).modules) == 2 and not strew.jax.report().modules, "report(clear=True)")
    failures.check(str(strew.jax.report()) == "no modules", "the text of an empty report")


def check_jit(failures):
    strew.jax.report(clear=True)
    fused = strew.jax.jit(weighted)
    failures.check(has_strew(fused) and not has_strew(jax.jit(weighted)), "strew.jax.jit, without enable(), is for its own function alone")
    failures.check(not differs(leaves_of(fused(X, I, U)), leaves_of(jax.jit(weighted)(X, I, U))), "strew.jax.jit has other results")
    failures.check({each.level for each in strew.jax.report().modules} == {"fused"} and strew.jax.report().modules[0].module == "jit_weighted", f"report: {strew.jax.report()}")
    failures.check(fused.__name__ == "weighted" and fused.__doc__ == weighted.__doc__ and inspect.signature(fused) == inspect.signature(weighted) and fused.__wrapped__ is weighted, "the function's name")
    failures.check(has_strew(strew.jax.jit(strew.jax.jit(weighted))) and has_strew(strew.jax.jit(jax.jit(weighted))), "jit of jit")
    failures.check(not has_strew(jax.jit(lambda *a: fused(*a) + 1)), "the outermost jit decides")
    failures.check(has_strew(strew.jax.jit(numerics="strew")(weighted)), "the decorator with options")

    @strew.jax.jit
    def decorated(x, i, u):
        return weighted(x, i, u)
    failures.check(has_strew(decorated), "the decorator")
    static = strew.jax.jit(lambda x, i, u, n, *, m: x.at[i].add(u * n - m), static_argnums=3, static_argnames="m")
    failures.check(not differs(leaves_of(static(X, I, U, 1, m=0)), [EXPECTED]), "static_argnums and static_argnames")
    failures.check(has_strew(strew.jax.jit(functools.partial(weighted, u=U)), X, I), "a partial function")

    class Model:
        def __call__(self, x, i, u):
            return weighted(x, i, u)

        @functools.partial(strew.jax.jit, static_argnums=0)
        def method(self, x, i, u):
            return weighted(x, i, u)
    failures.check(has_strew(strew.jax.jit(Model())) and has_strew(strew.jax.jit(Model().__call__)), "an object that can be called, and a method")
    failures.check(not differs(leaves_of(Model().method(X, I, U)), leaves_of(jax.jit(weighted)(X, I, U))), "a decorated method")

    traces = []

    def counted(x, i, u):
        traces.append(1)
        return weighted(x, i, u)
    for _ in range(3):
        strew.jax.jit(counted)(X, I, U)
    failures.check(len(traces) == 1, f"jit of the same function was traced {len(traces)} times")
    strew.jax.report(clear=True)
    jax.grad(lambda u: fused(X, I, u).sum())(U)
    jax.vmap(fused, in_axes=(None, 0, 0))(X, np.stack([I, I]), np.stack([U, U]))
    failures.check({each.level for each in strew.jax.report().modules if "weighted" in each.module} == {"fused"}, f"gradients and batches of a function of strew.jax.jit: {strew.jax.report()}")
    failures.check("(table: " not in str(fused.trace(X, I, U).jaxpr) and fused.eval_shape(X, I, U).shape == X.shape, "trace and eval_shape")
    fused.clear_cache()
    expect(failures, raised(strew.jax.jit, weighted, numerics="fast"), ValueError, "numerics: it is 'fast', expected 'xla' or 'strew'")
    expect(failures, raised(strew.jax.jit, 3), TypeError, "function: it is 3, expected something that can be called")
    expect(failures, raised(strew.jax.jit, weighted, speed=3), TypeError, "speed")


def check_lowered(failures):
    with enabled():
        for jitted in (jax.jit(add), strew.jax.jit(weighted)):
            lowered = jitted.lower(X, I, U)
            before = lowered.as_text()
            compiled = lowered.compile()
            failures.check(TARGET in compiled.as_text() and "@strew(" not in before and lowered.as_text() == before, "lower() has calls of strew, or compile() has none")
            exported = jax.export.export(jitted)(X, I, U)
            failures.check("@strew(" not in exported.mlir_module() and b"program" not in exported.serialize(), "an export has calls of strew")
            again = jax.export.deserialize(exported.serialize())
            failures.check(not differs(leaves_of(jax.jit(again.call)(X, I, U)), leaves_of(jitted(X, I, U))), "an export gives something else")
        failures.check(has_strew(jax.jit(jax.export.export(jax.jit(add))(X, I, U).call)), "a function that was exported and is called is not looked at")
        compiled = jax.jit(add).lower(X, I, U).compile()
    failures.check(not differs(leaves_of(compiled(X, I, U)), [EXPECTED]), "a compiled object after disable()")


def check_donation(failures):
    for jit in (jax.jit, strew.jax.jit):
        with enabled():
            jitted, x = jit(add, donate_argnums=0), jnp.asarray(X)
            address = x.unsafe_buffer_pointer()
            result = jitted(x, I, U)
            failures.check(result.unsafe_buffer_pointer() == address and x.is_deleted(), "a donated array is not updated where it lies")
            failures.check(not differs(leaves_of(result), [EXPECTED]), "a donated array")
            expect(failures, raised(jitted, x, I, U), ValueError if jax.__version_info__ < (0, 11) else RuntimeError, "deleted")  # JAX's own words


def check_errors(failures):
    for function in (strew.jax.enable, strew.jax.disable):
        expect(failures, raised(jax.jit(lambda x, function=function: (function(), x)[1]), X), RuntimeError, f"strew.jax.{function.__name__}: JAX is tracing a function, expected")
        expect(failures, raised(jax.grad(lambda x, function=function: (function(), x.sum())[1]), X), RuntimeError, "JAX is tracing a function")
    splice, words = strew.jax._hook._native.splice, "a sentence about the module"

    class Broken:
        """The module in C++, with a rewriter that cannot."""

        @staticmethod
        def splice(text, fused, own_numerics, any_size):
            if "jit_add" in text:
                raise ValueError(words)
            changed, calls, kept = splice(text, fused, own_numerics, any_size)
            return changed.replace("stablehlo.custom_call", "no_such.operation"), calls, kept
    strew.jax._hook._native = Broken
    try:
        with enabled(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            strew.jax.report(clear=True)
            for _ in range(2):
                failures.check(not differs(leaves_of(jax.jit(lambda *a: add(*a))(X, I, U)), [EXPECTED]), "results where the rewritten text is wrong")
                failures.check(not differs(leaves_of(jax.jit(add)(X, I, U)), [EXPECTED]), "results where the rewriter fails")
                jax.clear_caches()
    finally:
        strew.jax._hook._native = strew._native
    ours = [str(each.message) for each in caught if issubclass(each.category, RuntimeWarning)]
    failures.check(len(ours) == 2 and any(words in each and "jit_add stays with XLA" in each for each in ours), f"warnings: {ours}")
    failures.check(all(each.kept and not each.replaced for each in strew.jax.report().modules), f"report: {strew.jax.report()}")
    if any(each.platform != "cpu" for each in jax.devices()):
        return
    print("skipped: no GPU, on which modules would have to stay as they are")


def check_threads(failures):
    """Functions of jax.jit and of strew.jax.jit, compiled side by side: none is compiled as the other."""
    wrong = []

    def work(number):
        for n in range(4):
            def function(x, i, u, n=n):
                return jnp.zeros_like(x).at[i].add(u * (2 + n + 10 * number))
            ours = (n + number) % 2 == 0
            jitted = (strew.jax.jit if ours else jax.jit)(function)
            if has_strew(jitted) != ours or differs(leaves_of(jitted(X, I, U)), leaves_of(jax.jit(function)(X, I, U))):
                wrong.append((number, n))
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    failures.check(not wrong, f"threads: {wrong}")


def check_processes(failures):
    text = "import strew.jax; from jax._src import xla_bridge; print(bool(xla_bridge._backends), strew.jax.is_enabled())"
    for value, expected in (("", "False False"), ("0", "False False"), ("1", "False True")):
        failures.check(python(text, STREW_JAX=value).strip() == expected, f"STREW_JAX={value}: {python(text, STREW_JAX=value)}, expected {expected}")
    got = python(text, STREW_JAX="yes", STREW_VERBOSE="warn")
    failures.check("environment variable STREW_JAX: it is 'yes', expected 0 or 1; it counts as 0" in got and "False False" in got and "no option" not in got, f"STREW_JAX=yes: {got}")
    text = """
import jax, strew.jax
from jax._src import compiler
jax.__version__ = "0.9.9"
compiler.compile_or_get_cached = lambda module, options: None
for function in (strew.jax.enable, lambda: strew.jax.jit(lambda x: x)):
    try:
        function()
    except RuntimeError as error:
        print(error)
print(strew.jax.is_enabled())
"""
    got = python(text)
    sentence = f"strew {_hook._version()}: JAX is 0.9.9, whose compiler has another interface than strew knows, expected JAX 0.10.2"
    failures.check(got.count(sentence) == 2 and "False" in got, f"JAX of an unknown version: {got}")


CACHED = """
import jax, jax.numpy as jnp, numpy as np, strew.jax
strew.jax._hook.any_size = True
jax.config.update("jax_compilation_cache_dir", FOLDER)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None)
if MODE == "operators":
    strew.jax.enable()
jit = strew.jax.jit if MODE == "fused" else jax.jit
def function(x, i, u):
    return x.at[i].add(u)
compiled = jit(function).lower(np.zeros((50, 16), np.float32), np.array([3, 3, -1], np.int32), np.ones((3, 16), np.float32)).compile()
sums = np.asarray(compiled(np.zeros((50, 16), np.float32), np.array([3, 3, -1], np.int32), np.ones((3, 16), np.float32))).sum(1)
print(len(hits), 'custom_call_target="strew"' in compiled.as_text(), sums[3], sums[49], sums.sum())
"""


def check_persistent_cache(failures):
    with tempfile.TemporaryDirectory() as folder:
        for mode, first in (("off", "0 False"), ("operators", "0 True"), ("fused", "0 True")):
            for again in (False, True):
                got = python(f"FOLDER, MODE = {folder!r}, {mode!r}\n{CACHED}").strip()
                expected = f"{'1' + first[1:] if again else first} 32.0 16.0 48.0"
                if mode == "fused" and not again:  # it may be the same module as with enable()
                    got = re.sub("^1", "0", got)
                failures.check(got == expected, f"{mode}, in process {1 + again}: {got}, expected {expected}")


def check_devices(failures):
    text = """
import jax, numpy as np, jax.numpy as jnp, strew.jax
strew.jax._hook.any_size = True
strew.jax.enable()
mesh = jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
x = jax.device_put(np.zeros((50, 16), np.float32), jax.NamedSharding(mesh, jax.P("rows")))
result = jax.jit(lambda x, i: x.at[i].add(1))(x, np.array([3, 3, -1]))
print(np.asarray(result).sum(), strew.jax.report())
one = jax.device_put(np.zeros((50, 16), np.float32), jax.devices()[1])
result = jax.jit(lambda x, i: x.at[i].add(1))(one, np.array([3, 3, -1]))
print(np.asarray(result).sum(), result.devices(), len(strew.jax.report().modules[-1].replaced))
"""
    got = python(text, XLA_FLAGS="--xla_force_host_platform_device_count=2")
    failures.check("48.0 " in got and "it is divided into 2 partitions" in got, f"two devices: {got}")
    failures.check("48.0 {CpuDevice(id=1)} 1" in got, f"the second of two devices: {got}")


def check_docstrings(failures):
    for module in (strew.jax._hook, strew.jax._jit, strew.jax._report):
        result = doctest.testmod(module, extraglobs={"strew": strew})
        failures.check(result.attempted > 0 and result.failed == 0, f"{module.__name__}: {result}")
    for name in strew.jax.__all__:
        failures.check(inspect.getdoc(getattr(strew.jax, name)), f"strew.jax.{name}: no docstring")


def main():
    failures = Failures()
    for check in (check_switch, check_report, check_jit, check_lowered, check_donation, check_errors, check_threads, check_processes, check_persistent_cache, check_devices, check_docstrings):
        try:
            check(failures)
        except Exception as error:  # noqa: BLE001  the other checks are to run, too
            import traceback
            traceback.print_exc()
            failures.append(f"{check.__name__}: {type(error).__name__}: {error}")
        strew.jax.disable()
    print(f"hook_test: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
