#!/usr/bin/env python3
"""The handler of custom calls (bindings/jax), called by hand: programs that JAX lowered are given to it as attributes, and what comes back has the bits that XLA computes for the same program. All
dtypes; buffers in place, donated, in loops, under vmap; several devices; threads; subnormals, which XLA:CPU flushes; executables of other processes; what is wrong.

    handler_test.py [--only REGEX] [--iterations N]

Exit status 0: right, 1: wrong, 77: there is no JAX, or strew was built without it.
"""
import argparse
import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

os.environ.setdefault("JAX_ENABLE_X64", "1")

from modes import jax, np

import jax.numpy as jnp
import ml_dtypes
from jax import lax

from strew.jax import _handler

_handler.register()

FLOATS = ["float32", "float64", "bfloat16", "float16"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
MOVED = ["bool", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def program_of(function, *arrays):
    """The text of a module that computes it, and its identity."""
    text = jax.jit(function, keep_unused=True).lower(*arrays).as_text()
    return text, int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def by_strew(function, *arrays, aliases=None, name="f"):
    """A function of arrays of these types that gives the program to strew's handler."""
    text, identity = program_of(function, *arrays)
    shapes = jax.eval_shape(function, *arrays)
    call = jax.ffi.ffi_call(_handler.TARGET, shapes, input_output_aliases=aliases or {})
    return lambda *given: call(*given, identity=np.int64(identity), name=name, program=text)


def bits(array):
    """The bytes of the elements, with one pattern for all NaNs: which one an operation gives is open."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind in "fcV" and array.dtype.name != "bool":
        parts = array.view(array.real.dtype) if array.dtype.kind == "c" else array
        parts = np.where(np.isnan(parts.astype(np.float64)), np.array(np.nan, parts.dtype), parts).astype(parts.dtype)
        return parts.tobytes()
    return array.tobytes()


def differs(got, expected):
    """None, or where two results, or tuples of them, differ first."""
    got, expected = jax.tree.leaves(got), jax.tree.leaves(expected)
    for number, (a, b) in enumerate(zip(got, expected, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return f"result {number} is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}"
        if bits(a) != bits(b):
            wrong = [at for at in range(a.size) if bits(a.reshape(-1)[at]) != bits(b.reshape(-1)[at])]
            return f"result {number} differs in {len(wrong)} elements, first {wrong[0]}: {a.reshape(-1)[wrong[0]]!r}, expected {b.reshape(-1)[wrong[0]]!r}"
    return None


class Failures(list):
    def require(self, what, is_so):
        if not is_so:
            self.append(what)

    def same(self, what, got, expected):
        if difference := differs(got, expected):
            self.append(f"{what}: {difference}")

    def refuses(self, what, call, *parts):
        """The call fails, with a message that has these parts."""
        try:
            jax.block_until_ready(call())
        except Exception as error:
            message = str(error)
            for part in parts:
                self.require(f"{what}: '{message}' lacks '{part}'", part in message)
        else:
            self.append(f"{what}: it was not refused")


def draw(rng, dtype, shape):
    dtype = dtype_of(dtype)
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(-100 if dtype.kind == "i" else 0, 100, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if dtype == dtype_of("float8_e8m0fnu"):
        return rng.integers(100, 140, shape).astype(np.uint8).view(dtype)
    return rng.standard_normal(shape).astype(dtype)


def operands(dtype, rows=50, count=40, width=6, seed=1):
    rng = np.random.default_rng(seed)
    return draw(rng, dtype, (rows, width)), rng.integers(-3, rows + 3, count).astype(np.int32), draw(rng, dtype, (count, width))


# Each form, by the method of x.at[i] with jnp's modes.
WRITES = {
    "set": lambda x, i, u: x.at[i].set(u, mode="drop", unique_indices=False),
    "add": lambda x, i, u: x.at[i].add(u, mode="drop"),
    "multiply": lambda x, i, u: x.at[i].multiply(u, mode="drop"),
    "min": lambda x, i, u: x.at[i].min(u, mode="drop"),
    "max": lambda x, i, u: x.at[i].max(u, mode="drop"),
}
FOLDS = [name for name in WRITES if name != "set"]


def take(x, i, u):
    return jnp.take(x, i, axis=0, mode="clip")


def messages(x, i, u):
    """A gather, a product of two, a scatter and what is around them."""
    return jnp.zeros_like(x).at[i].add(x[jnp.flip(i)] * u, mode="drop"), jnp.where(i < 0, 0, i) + 1


def forms_of(dtype):
    if dtype in MOVED:
        return ["set"]
    # XLA contracts a * b + c within a product of complex numbers, which strew never does.
    return [name for name in WRITES if not (dtype in COMPLEX and name in ("multiply", "min", "max"))]


def all_dtypes(failures):
    for dtype in FLOATS + COMPLEX + INTEGERS + MOVED:
        given = operands(dtype)
        for form in forms_of(dtype):
            function = WRITES[form]
            expected = jax.jit(function)(*given)
            failures.same(f"{form} {dtype}", jax.jit(by_strew(function, *given))(*given), expected)
            in_place = jax.jit(by_strew(function, *given, aliases={0: 0}), donate_argnums=0)
            table = jnp.array(given[0])
            address = table.unsafe_buffer_pointer()
            result = in_place(table, *given[1:])
            failures.same(f"{form} {dtype} donated", result, expected)
            failures.require(f"{form} {dtype} donated: the result lies elsewhere", result.unsafe_buffer_pointer() == address)
            if form not in ("set", "add"):
                continue
            kept = jnp.array(given[0])
            failures.same(f"{form} {dtype} in place, not donated", jax.jit(by_strew(function, *given, aliases={0: 0}))(kept, *given[1:]), expected)
            failures.same(f"{form} {dtype}: the operand was written", kept, given[0])
        failures.same(f"take {dtype}", jax.jit(by_strew(take, *given))(*given), jax.jit(take)(*given))


def several_kernels(failures):
    for dtype in FLOATS + ["int32"]:
        given = operands(dtype)
        failures.same(f"messages {dtype}", jax.jit(by_strew(messages, *given))(*given), jax.jit(messages)(*given))

    def both(x, i, u):  # the input that is updated is read by another kernel, too
        return x.at[i].add(u, mode="drop"), x[i] * 2

    given = operands("float32")
    in_place = by_strew(both, *given, aliases={0: 0})
    failures.same("read and updated", jax.jit(in_place)(*given), jax.jit(both)(*given))

    def twice(x, i, u):
        y = x.at[i].add(u, mode="drop")
        return y, x.at[i].set(u, mode="drop")

    failures.same("updated twice", jax.jit(by_strew(twice, *given, aliases={0: 0}))(*given), jax.jit(twice)(*given))

    def adds(x, i, u):
        return x.at[i].add(u[:, : x.shape[1]], mode="drop")

    call = by_strew(adds, given[0], given[1], given[0][: len(given[1])])
    same = jnp.array(given[0])
    rows = np.arange(40, dtype=np.int32)
    failures.same("one array as operand and updates", jax.jit(lambda x: call(x, rows, x[:40]))(same), jax.jit(lambda x: adds(x, rows, x[:40]))(same))


def add_rows(x, i, u):
    """What jnp makes nothing of where there are no elements."""
    return lax.scatter_add(x, i[..., None], u, lax.ScatterDimensionNumbers(tuple(range(i.ndim, u.ndim)), (0,), (0,)))


def extremes(failures):
    shapes = {
        "no indices": (np.zeros((5, 3), np.float32), np.zeros(0, np.int32), np.zeros((0, 3), np.float32)),
        "no columns": (np.zeros((5, 0), np.float32), np.zeros(4, np.int32), np.zeros((4, 0), np.float32)),
        "no rows": (np.zeros((0, 3), np.float32), np.zeros(4, np.int32), np.zeros((4, 3), np.float32)),
        "a vector": (np.arange(7, dtype=np.float32), np.array([3, 3, 9], np.int32), np.ones(3, np.float32)),
        "a scalar index": (np.arange(7, dtype=np.float32), np.int32(3), np.float32(2)),
    }
    for name, given in shapes.items():
        for aliases in ({}, {0: 0}):
            got = jax.jit(by_strew(add_rows, *given, aliases=aliases))(*given)
            failures.same(f"{name}, aliases {aliases}", got, jax.jit(add_rows)(*given))

    def slide(x, i, u):
        return lax.dynamic_update_slice(x, u[:2, :3], (i[0], i[1])), lax.dynamic_slice(x, (i[2], i[3]), (3, 2))

    given = operands("int32")
    failures.same("dynamic slices", jax.jit(by_strew(slide, *given))(*given), jax.jit(slide)(*given))


def loops(failures):
    given = operands("float32", count=4)
    function = WRITES["add"]
    call = by_strew(function, *given, aliases={0: 0})

    def steps(update, x, i, u):
        return lax.fori_loop(0, 100, lambda k, c: update(c, i + k % 3, u * (k + 1)), x)

    expected = jax.jit(lambda *a: steps(function, *a))(*given)
    compiled = jax.jit(lambda *a: steps(call, *a), donate_argnums=0).lower(*given).compile()
    copies = len(re.findall(r"= f32\[50,6\]\S* copy\(", compiled.as_text()))
    failures.require(f"a loop: {copies} copies of the carry, expected none", copies == 0)
    failures.same("a loop", compiled(jnp.array(given[0]), *given[1:]), expected)

    def scan(update, x, i, u):
        return lax.scan(lambda c, row: (update(c, i, u + row[: u.shape[1]]), c[0]), x, x)

    failures.same("a scan", jax.jit(lambda *a: scan(call, *a))(*given), jax.jit(lambda *a: scan(function, *a))(*given))

    def branch(update, x, i, u):
        return lax.cond(i[0] > 0, lambda: update(x, i, u), lambda: update(x, i + 1, -u))

    failures.same("a branch", jax.jit(lambda *a: branch(call, *a))(*given), jax.jit(lambda *a: branch(function, *a))(*given))


def batches(failures):
    for dtype in ("float32", "bfloat16", "int32"):
        x, i, u = operands(dtype)
        rng = np.random.default_rng(2)
        given = (np.stack([x, -x, x + x]), rng.integers(-3, 53, (3, 40)).astype(np.int32), np.stack([u, u, u + u]))
        for name in ("set", "add"):
            function = jax.vmap(WRITES[name])
            failures.same(f"vmap {name} {dtype}", jax.jit(by_strew(function, *given))(*given), jax.jit(function)(*given))
        function = jax.vmap(jax.vmap(lambda row, at: jnp.take_along_axis(row, at, axis=0, mode="fill"), (0, None)), (0, 0))
        pair = (given[0], rng.integers(0, 6, (3, 6)).astype(np.int32))
        failures.same(f"vmap take_along_axis {dtype}", jax.jit(by_strew(function, *pair))(*pair), jax.jit(function)(*pair))


def large(failures):
    """As much as several threads do."""
    rng = np.random.default_rng(3)
    for dtype in ("float32", "bfloat16", "int32"):
        given = (draw(rng, dtype, (20_000, 64)), rng.integers(-3, 20_003, 60_000).astype(np.int32), draw(rng, dtype, (60_000, 64)))
        for form in ("add", "max", "set"):
            call = jax.jit(by_strew(WRITES[form], *given, aliases={0: 0}))
            expected = jax.jit(WRITES[form])(*given)
            for _ in range(3):
                failures.same(f"large {form} {dtype}", call(*given), expected)
        failures.same(f"large take {dtype}", jax.jit(by_strew(take, *given))(*given), jax.jit(take)(*given))


def subnormals(dtype, rng, shape):
    """Numbers of all kinds around the smallest normal one."""
    real = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    least = float(ml_dtypes.finfo(dtype_of(real)).smallest_normal)
    kinds = np.array([least, least / 2, least / 4, -least / 2, 0.0, -0.0, least * 1.5, -least * 1.25, 1.0, -2.0], np.float64)
    def parts():
        return rng.choice(kinds, shape)

    return (parts() + 1j * parts() if dtype in COMPLEX else parts()).astype(dtype_of(dtype))


# Of subnormals of bfloat16, XLA of JAX 0.12 takes the smaller and the larger as they are; that of 0.10 flushes them.
KEPT = {"bfloat16": {"min", "max", "minimum", "maximum"}} if jax.__version_info__ >= (0, 11) else {}


def flushed(failures):
    """XLA:CPU computes with subnormals flushed, and so do strew's kernels when XLA calls them: on the thread that calls and on those that help."""
    rng = np.random.default_rng(4)
    for dtype in FLOATS + COMPLEX:
        for rows, count, width in ((9, 50, 5), (3000, 40_000, 32)):
            if rows > 100 and dtype not in ("float32", "bfloat16"):
                continue
            given = (subnormals(dtype, rng, (rows, width)), rng.integers(0, rows, count).astype(np.int32), subnormals(dtype, rng, (count, width)))
            for form in forms_of(dtype):
                if form in KEPT.get(dtype, ()):
                    continue
                expected = jax.jit(WRITES[form])(*given)
                for aliases in ({}, {0: 0}):
                    failures.same(f"subnormals {form} {dtype}{(rows, count, width)}", jax.jit(by_strew(WRITES[form], *given, aliases=aliases))(*given), expected)
            failures.same(f"subnormals take {dtype}{(rows, count, width)}", jax.jit(by_strew(take, *given))(*given), jax.jit(take)(*given))
            if dtype in FLOATS:
                failures.same(f"subnormals messages {dtype}{(rows, count, width)}", jax.jit(by_strew(messages, *given))(*given), jax.jit(messages)(*given))


UNARY = {"abs": jnp.abs, "negate": jnp.negative, "sign": jnp.sign, "floor": jnp.floor, "ceil": jnp.ceil, "trunc": jnp.trunc, "round": lambda a: lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN),
         "round away": lambda a: lax.round(a, lax.RoundingMethod.AWAY_FROM_ZERO), "sqrt": lambda a: lax.sqrt(lax.abs(a)), "is_finite": jnp.isfinite}
BINARY = {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "divide": lax.div, "remainder": lax.rem, "minimum": lax.min, "maximum": lax.max, "equal": lax.eq, "less": lax.lt,
          "select": lambda a, b: lax.select(lax.lt(a, b), a, b), "select_eq": lambda a, b: lax.select(lax.eq(a, b), a, b)}


def flushed_functions(failures):
    """One operation of elements that are looked up, on subnormals, as XLA computes it."""
    rng = np.random.default_rng(5)
    for dtype in FLOATS:
        x, i = subnormals(dtype, rng, (4000,)), rng.integers(0, 4000, 6000).astype(np.int32)
        least = float(ml_dtypes.finfo(dtype_of(dtype)).smallest_normal)
        u = np.where(np.arange(6000) % 3 == 0, (rng.integers(1, 9, 6000) * least / 8), subnormals(dtype, rng, (6000,)).astype(np.float64)).astype(dtype_of(dtype))
        functions = {name: (lambda f: lambda x, i, u: f(x.at[i].get(mode="clip")))(f) for name, f in UNARY.items()}
        functions |= {name: (lambda f: lambda x, i, u: f(x.at[i].get(mode="clip"), u))(f) for name, f in BINARY.items()}
        for to in FLOATS + ["int32"]:
            if to != dtype and (dtype, to) not in (("float64", "bfloat16"), ("float64", "float16")):  # XLA rounds these twice
                functions[f"to {to}"] = (lambda to: lambda x, i, u: x.at[i].get(mode="clip").astype(to))(to)
        functions.pop("remainder")  # XLA's of f32 is a function that keeps subnormals
        for name, function in functions.items():
            if name in KEPT.get(dtype, ()):
                continue
            failures.same(f"subnormals {name} {dtype}", jax.jit(by_strew(function, x, i, u))(x, i, u), jax.jit(function)(x, i, u))


def threads(failures):
    given = [operands("float32", seed=seed) for seed in range(8)]
    call = jax.jit(by_strew(WRITES["add"], *given[0], aliases={0: 0}))
    big = (np.zeros((4000, 64), np.float32), np.arange(40_000, dtype=np.int32) % 4000, np.ones((40_000, 64), np.float32))
    big_call = jax.jit(by_strew(WRITES["add"], *big))
    adds = jax.jit(WRITES["add"])
    expected = [adds(*each) for each in given]
    big_expected = jax.jit(WRITES["add"])(*big)
    found = []

    def work(number):
        for _ in range(100):
            if difference := differs(call(*given[number]), expected[number]):
                found.append(f"thread {number}: {difference}")
        for _ in range(3):
            if difference := differs(big_call(*big), big_expected):
                found.append(f"thread {number}, large: {difference}")

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failures.extend(found[:3])

    # Programs that many threads see for the first time at the same time.
    new = [(lambda k: lambda x, i, u: x.at[i].add(u * (k + 2), mode="drop"))(k) for k in range(4)]
    compiled = [jax.jit(by_strew(function, *given[0])).lower(*given[0]).compile() for function in new]
    expected = [[plain(*each) for each in given] for plain in map(jax.jit, new)]

    def fresh(number):
        for k, call in enumerate(compiled):
            if difference := differs(call(*given[number]), expected[k][number]):
                found.append(f"thread {number}, program {k}: {difference}")

    workers = [threading.Thread(target=fresh, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failures.extend(found[:3])


def seconds_of_threads():
    """The processor time of each thread of the process."""
    return {task.name: int((task / "schedstat").read_text().split()[0]) * 1e-9 for task in pathlib.Path("/proc/self/task").iterdir()}


def helpers(failures):
    """Several threads of XLA's pool take part, also where nothing but strew is in the module."""
    if len(os.sched_getaffinity(0)) < 2 or not pathlib.Path("/proc/self/schedstat").exists():
        print("helpers: skipped: one core, or a system that does not tell the processor time of threads")
        return
    given = jax.tree.map(jnp.asarray, (np.ones((10_000, 64), np.float32), np.arange(300_000, dtype=np.int32) * 7 % 9999, np.ones((300_000, 64), np.float32)))
    adds = jax.jit(by_strew(WRITES["add"], *given))
    jax.block_until_ready(adds(*given))
    for _ in range(100):  # other work on the machine may keep the pool's threads away
        before = seconds_of_threads()
        jax.block_until_ready(adds(*given))
        worked = sorted((seconds - before.get(thread, 0) for thread, seconds in seconds_of_threads().items()), reverse=True)
        if worked[1] > 0.2 * worked[0]:
            return
    failures.append(f"in the last of 100 calls the thread that worked most did for {worked[0]:.3f} s, the next one for {worked[1]:.3f} s, expected several at a time")


def wrong(failures):
    given = operands("float32")
    function = WRITES["add"]
    text, identity = program_of(function, *given)
    table = jax.ShapeDtypeStruct((50, 6), np.float32)
    call = jax.ffi.ffi_call(_handler.TARGET, table)

    def run(*arrays, of=call, **attributes):
        return lambda: jax.jit(lambda *a: of(*a, **attributes))(*arrays)

    good = {"identity": np.int64(identity), "name": "rows", "program": text}
    failures.refuses("two operands", run(*given[:2], **good), "custom call of 'rows': 2 operands, expected 3")
    failures.refuses("two results", run(*given, of=jax.ffi.ffi_call(_handler.TARGET, (table, table)), **good), "2 results, expected 1")
    failures.refuses("another shape", run(given[0][:40], *given[1:], **good), "operand 0 is F32[40,6], expected F32[50,6]", "arg0")
    failures.refuses("another rank", run(given[0][0], *given[1:], **good), "operand 0 is F32[6], expected F32[50,6]")
    failures.refuses("another dtype", run(given[0], given[1].astype(np.int64), given[2], **good), "operand 1 is S64[40], expected S32[40]")
    other = jax.ShapeDtypeStruct((50, 6), np.float16)
    failures.refuses("another result", run(*given, of=jax.ffi.ffi_call(_handler.TARGET, other), **good), "result 0 is F16[50,6], expected F32[50,6]")
    failures.refuses("no program", run(*given, identity=np.int64(1), name="rows"), "attributes (identity, name), expected identity (i64), name (string), program (string)")
    failures.refuses("other names", run(*given, identity=np.int64(identity), names="rows", program=text), "attributes (identity, names, program)")
    failures.refuses("another type", run(*given, identity=np.int32(1), name="rows", program=text), "expected identity (i64)")
    failures.refuses("no text", run(*given, identity=np.int64(2), name="rows", program=""), "rows.mlir")
    failures.refuses("no module", run(*given, identity=np.int64(3), name="rows", program="func.func @main( {"), "rows.mlir:1")
    opaque = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
    failures.refuses("what strew does not run", run(np.zeros(4, np.float32), of=jax.ffi.ffi_call(_handler.TARGET, jax.ShapeDtypeStruct((4,), np.float32)),
                                                    identity=np.int64(4), name="rows", program=opaque), "no stablehlo.scatter")
    packed = (given[0].astype(jnp.int4), given[1], given[2].astype(jnp.int4))
    failures.refuses("elements of 4 bits", lambda: jax.jit(by_strew(WRITES["set"], *packed))(*packed), "operand 0 is of i4, expected a dtype whose elements XLA keeps as strew does")
    jax.block_until_ready(run(*given, **good)())
    failures.refuses("an identity of another program", run(*given, identity=np.int64(identity), name="rows", program=text + " "), f"identity {identity}", "of another program")
    failures.same("a right call after wrong ones", run(*given, **good)(), jax.jit(function)(*given))


def versions(failures):
    """A call as XLA makes it when a handler is registered, of another version of the interface."""
    class Api(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("version_size", ctypes.c_size_t), ("version_extension", ctypes.c_void_p), ("major", ctypes.c_int),
                    ("minor", ctypes.c_int), ("internal", ctypes.c_void_p), ("functions", ctypes.c_void_p * 64)]  # more than there are

    class Error(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]

    class Metadata(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("version_size", ctypes.c_size_t), ("version_extension", ctypes.c_void_p), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                    ("traits", ctypes.c_uint32), ("state", ctypes.c_int64)]

    class Extension(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p), ("metadata", ctypes.POINTER(Metadata))]

    class Frame(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_size_t), ("extension", ctypes.POINTER(Extension)), ("api", ctypes.POINTER(Api)), ("rest", ctypes.c_char * 256)]

    messages = []
    create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Error))(lambda args: messages.append(args.contents.message.decode()) or 1)
    handler = ctypes.CDLL(_handler.library_path()).strew_jax_call
    handler.restype = ctypes.c_void_p

    def ask(major, minor, size=ctypes.sizeof(Api)):
        api = Api(struct_size=size, major=major, minor=minor)
        api.functions[0] = ctypes.cast(create, ctypes.c_void_p).value
        metadata = Metadata(struct_size=ctypes.sizeof(Metadata), major=-1, minor=-1)
        extension = Extension(ctypes.sizeof(Extension), 1, None, ctypes.pointer(metadata))
        frame = Frame(struct_size=ctypes.sizeof(Frame), extension=ctypes.pointer(extension), api=ctypes.pointer(api))
        messages.clear()
        return handler(ctypes.byref(frame)), (metadata.major, metadata.minor)

    _, (major, minor) = ask(0, 99)
    failures.require(f"the version it was built for: {major}.{minor}", (major, minor) >= (0, 3) and major == 0)
    failures.require(f"its own version: {messages}", not ask(major, minor)[0])
    failures.require("a later minor version", not ask(major, minor + 1)[0])
    for given in ((major + 1, 0), (major, minor - 1)):
        failed, _ = ask(*given)
        failures.require(f"version {given} was not refused: {messages}", failed and "{}.{}".format(*given) in messages[0] and f"expected {major}.{minor}" in messages[0])
    failures.require("an interface with fewer functions was not refused", ask(major, minor, 64)[0])


# ---- Other processes -----------------------------------------------------------------------------------------------------------------------------

def child(failures, what, mode, *arguments, **environment):
    """Runs a function below in a process of its own, which prints what is wrong."""
    run = subprocess.run([sys.executable, __file__, "--child", mode, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    if run.returncode != 0:
        failures.append(f"{what}: {(run.stdout + run.stderr).strip()[-1500:]}")
    return run.stdout


def child_devices(failures):
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    devices = jax.devices()
    failures.require(f"{len(devices)} devices, expected 2", len(devices) == 2)
    x, i, u = operands("float32")
    call = by_strew(WRITES["add"], x, i, u)
    mesh = Mesh(np.array(devices), ("d",))
    for each in devices:
        failures.same(f"on {each}", jax.jit(call)(*jax.device_put((x, i, u), each)), jax.jit(WRITES["add"])(x, i, u))

    def sharded(function):
        return jax.jit(jax.shard_map(lambda *a: function(*(part[0] for part in a))[None], mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False))

    pair = jax.device_put(tuple(np.stack([each, each + each]) for each in (x, i, u)), NamedSharding(mesh, P("d")))
    for _ in range(20):
        failures.same("shard_map", sharded(call)(*pair), sharded(WRITES["add"])(*pair))


def child_core(failures):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    large(failures)
    threads(failures)


def executable_of():
    given = operands("float32")
    return jax.jit(by_strew(WRITES["add"], *given, aliases={0: 0})), given


def child_serialize(failures, folder):
    from jax.experimental import serialize_executable
    import pickle

    function, given = executable_of()
    compiled = function.lower(*given).compile()
    pathlib.Path(folder, "executable").write_bytes(pickle.dumps(serialize_executable.serialize(compiled)))


def child_load(failures, folder):
    from jax.experimental import serialize_executable
    import pickle

    given = operands("float32")
    loaded = serialize_executable.deserialize_and_load(*pickle.loads(pathlib.Path(folder, "executable").read_bytes()))
    failures.same("a loaded executable", loaded(*given), jax.jit(WRITES["add"])(*given))


def child_cache(failures, folder):
    hits = []
    jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event == "/jax/compilation_cache/cache_hits" else None)
    function, given = executable_of()
    got = function(*given)
    print(f"hits {len(hits)}")
    failures.same("an executable of the persistent cache", got, jax.jit(WRITES["add"])(*given))


def processes(failures):
    child(failures, "two devices", "devices", XLA_FLAGS="--xla_force_host_platform_device_count=2")
    child(failures, "one core", "core")
    with tempfile.TemporaryDirectory() as folder:
        child(failures, "an executable is written", "serialize", folder)
        child(failures, "an executable is read", "load", folder)
        cache = {"JAX_COMPILATION_CACHE_DIR": folder + "/cache", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
        first = child(failures, "the cache is filled", "cache", folder, **cache)
        second = child(failures, "the cache is read", "cache", folder, **cache)
        failures.require(f"hits of the cache: {first.strip()}, then {second.strip()}", "hits 0" in first and "hits 0" not in second and "hits" in second)


def drawn(failures, iterations):
    """Programs of drawn sizes, each in place and not."""
    for seed in range(iterations):
        rng = np.random.default_rng(seed)
        dtype = rng.choice(FLOATS + COMPLEX + INTEGERS)
        rows, count, width = (int(rng.choice(sizes)) for sizes in ((1, 2, 7, 100, 3000), (1, 3, 64, 5000), (1, 3, 16, 33)))
        given = (draw(rng, dtype, (rows, width)), rng.integers(-2, rows + 2, count).astype(rng.choice(["int32", "int64", "uint8", "int16"])), draw(rng, dtype, (count, width)))
        form = str(rng.choice(forms_of(dtype)))
        aliases = {0: 0} if rng.integers(2) else {}
        got = jax.jit(by_strew(WRITES[form], *given, aliases=aliases))(*given)
        failures.same(f"--iterations, seed {seed}: {form} {dtype} {rows}x{width}, {count} {given[1].dtype} indices, aliases {aliases}", got, jax.jit(WRITES[form])(*given))


TESTS = [all_dtypes, several_kernels, extremes, loops, batches, large, flushed, flushed_functions, threads, helpers, wrong, versions, processes]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--child", nargs="+")
    options = parser.parse_args()
    failures = Failures()
    if options.child:
        globals()["child_" + options.child[0]](failures, *options.child[1:])
    else:
        for test in TESTS:
            if re.search(options.only, test.__name__):
                before = len(failures)
                test(failures)
                print(f"{test.__name__}: {'right' if len(failures) == before else 'WRONG'}", flush=True)
        if re.search(options.only, "drawn"):
            drawn(failures, options.iterations)
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


sys.exit(main())
