"""The place in JAX where strew comes in: each module that JAX gives to the compiler, before the persistent cache looks it up, passes through here, and goes on with calls of strew in it.

Lowered modules and exported ones are not changed: what the compiler gets is a copy.
"""

from __future__ import annotations

import ctypes
import inspect
import threading
import warnings
from typing import Any

import jax
from jax._src import compiler, core
from jaxlib.mlir import ir

from .. import _native
from . import _handler
from ._report import Kept, ModuleReport, Replaced, record

__all__ = ["FUSED", "OWN_NUMERICS", "disable", "enable", "install", "is_enabled"]

FUSED = ".strew"
"""In the name of a module: its function is of `strew.jax.jit`. No Python function has such a name, and JAX takes the names of modules from functions, also under vmap and grad."""
OWN_NUMERICS = ".strew_numerics"
"""The same, with numerics="strew"."""

# The parameters of jax._src.compiler.compile_or_get_cached, and the versions of JAX that have them.
_INTERFACES = {
    ("backend", "computation", "devices", "compile_options", "host_callbacks", "executable_devices", "pgle_profiler"): "0.10.2 to 0.12.0",
}
# What strew may replace. Modules that have none of these words are not looked at any further.
_INDEXED = ("stablehlo.scatter", "stablehlo.gather", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice")
_LARGE = 64  # elements of a constant that are not printed while it is unknown whether the module has such operations
_MOST_TEXT = 1 << 26  # bytes of a module's text

any_size = False  # tests replace what is too small to be worth it, too
_lock = threading.Lock()
_original: Any = None  # JAX's own function, once `install` was called
_enabled = False
_warned: set[str] = set()


def enable() -> None:
    """From now on, strew's kernels run indexed operations of the functions that JAX compiles for the CPU, in the whole process.

    Compiled functions that JAX remembers are forgotten (`jax.clear_caches`), so that they are compiled again with strew; a second call does nothing.

    Raises:
        RuntimeError: JAX is tracing a function; or its version is one that strew does not know.
        NotImplementedError: this installation of strew cannot read StableHLO, which the extra `mlir` does.
        OSError: it has no handler, because it was built without jaxlib.

    >>> import jax, jax.numpy as jnp, strew.jax
    >>> strew.jax.enable()
    >>> jax.jit(lambda x, i, u: x.at[i].add(u))(jnp.zeros(3), jnp.array([2, 0, 2]), jnp.ones(3))
    Array([1., 0., 2.], dtype=float32)
    >>> strew.jax.disable()
    """
    _switch(True)


def disable() -> None:
    """Functions that JAX compiles from now on are XLA's again, but those of `strew.jax.jit`; what was compiled is forgotten, except objects that `lower().compile()` gave.

    Raises RuntimeError if JAX is tracing a function.
    """
    _switch(False)


def is_enabled() -> bool:
    """Whether `enable` was called, and `disable` was not since.

    >>> import strew.jax
    >>> strew.jax.is_enabled()
    False
    """
    return _enabled


def _switch(on: bool) -> None:
    global _enabled
    if not core.trace_state_clean():
        raise RuntimeError(f"strew.jax.{'enable' if on else 'disable'}: JAX is tracing a function, expected a call outside of functions that JAX transforms")
    if on:
        install()
    with _lock:
        if _enabled != on:
            _enabled = on
            jax.clear_caches()  # type: ignore[no-untyped-call]


def install() -> None:
    """Puts the hook in its place, once in a process, and tells XLA where strew's handler is.

    Raises what `enable` raises.
    """
    global _original
    with _lock:
        if _original is not None:
            return
        function = compiler.compile_or_get_cached
        if tuple(inspect.signature(function).parameters) not in _INTERFACES:
            known = ", ".join(_INTERFACES.values())
            raise RuntimeError(f"strew {_version()}: JAX is {jax.__version__}, whose compiler has another interface than strew knows, expected JAX {known}")
        _native.splice("module {\n}\n", False, False)  # whether it can
        _handler.register()
        _original = function
        compiler.compile_or_get_cached = _compile_or_get_cached


def _version() -> str:
    library = ctypes.CDLL(_native.__file__)
    library.strew_version.restype = ctypes.c_char_p
    return library.strew_version().decode()  # type: ignore[no-any-return]


def _compile_or_get_cached(backend: Any, computation: ir.Module, devices: Any, *arguments: Any, **keywords: Any) -> Any:
    return _original(backend, _with_strew(backend, computation), devices, *arguments, **keywords)


def _with_strew(backend: Any, module: ir.Module) -> ir.Module:
    """The module with calls of strew in it, or the one that was given."""
    name = ir.StringAttr(module.operation.attributes["sym_name"]).value
    fused = FUSED in name
    if backend.platform != "cpu" or not (fused or _enabled):
        return module
    text = str(module.operation.get_asm(large_elements_limit=_LARGE))
    found = [word for word in _INDEXED if word in text]
    if not found:
        return module
    calls: list[tuple[str, str, list[str]]] = []
    kept: list[tuple[str, str, str]] = []
    reason = ""
    if "__elided__" in text:
        text = str(module.operation.get_asm())
    if len(text) > _MOST_TEXT:
        reason = f"the module's text has {len(text)} bytes, which is more than {_MOST_TEXT}"
    else:
        try:
            changed, calls, kept = _native.splice(text, fused, OWN_NUMERICS in name, any_size)
            if calls:
                module = ir.Module.parse(changed, context=module.context)
        except (ir.MLIRError, ValueError, NotImplementedError, RuntimeError) as error:
            calls, reason = [], f"an error, which was not expected: {error}"
            _warn(name, f"strew.jax: module {name} stays with XLA: {error}")
    if reason:
        kept = [(word, "", reason) for word in found]
    plain = name.replace(OWN_NUMERICS, "").replace(FUSED, "")
    record(ModuleReport(plain, "fused" if fused else "operators", tuple(Replaced(n, at, tuple(those)) for n, at, those in calls), tuple(Kept(*each) for each in kept)))
    return module


def _warn(module: str, message: str) -> None:
    """Once for modules of a name: texts of MLIR's errors change from one to the next."""
    with _lock:
        if module in _warned:
            return
        _warned.add(module)
    warnings.warn(message, RuntimeWarning, stacklevel=2)
