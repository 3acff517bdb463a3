#!/usr/bin/env python3
"""Calls a kernel library from Python by TVM-FFI (docs/libraries.md), with arrays of NumPy, and of PyTorch and JAX where they are installed.

    tvm_ffi_test.py --strew STREW [--seed N]     the built program; libstrew_rt.so lies in ../lib

Results on random arguments are compared with NumPy's, bit for bit. Every argument that is wrong raises the error that the document names, and
nothing is written. 16 threads call one kernel, the first calls of a library among them. The example of the document runs as it stands there.
Run by ctest (`library_tvm_ffi`). Exit: 0 right, 1 wrong, 77 without apache-tvm-ffi.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading

os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")  # it would compile an extension when it is imported
try:
    import numpy as np
    import tvm_ffi
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None
try:
    import jax.numpy as jnp
except ImportError:
    jnp = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/library"
DRAWS = 400


class Check:
    def __init__(self, strew, folder):
        self.strew, self.folder, self.failures = strew, folder, 0
        self.lib = strew.parent.parent / "lib"

    def that(self, good, what):
        if not good:
            self.failures += 1
            print("FAILED:", what)

    def run(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, check=False,
                              env=dict(os.environ, **environment))
        self.that(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def raises(self, kind, text, function, *arguments, results=1):
        """The call raises this error, whose message has this text, and changes no result."""
        before = [np.array(each, copy=True) for each in arguments[:results] if isinstance(each, np.ndarray)]
        try:
            function(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            self.that(type(error) is kind and text in str(error), f"expected {kind.__name__} with '{text}', got {error!r}")
        else:
            self.that(False, f"no error, expected {kind.__name__} with '{text}'")
        for old, new in zip(before, arguments):
            self.that(old.tobytes() == np.asarray(new).tobytes(), f"a call that raised {kind.__name__} wrote")


def make(check):
    """tvm_ffi.json as a shared library."""
    check.run(check.strew, "library", HERE / "tvm_ffi.json", "-o", "made")
    check.run("cc", "-shared", "-o", "kernels.so", "-Wl,--whole-archive", "made/libtvm_kernels.a", "-Wl,--no-whole-archive", f"-L{check.lib}", "-lstrew_rt",
              "-lm", f"-Wl,-rpath,{check.lib}")
    return tvm_ffi.load_module(str(check.folder / "kernels.so"))


def floats(rng, shape, dtype):
    return rng.standard_normal(shape).astype(dtype)


def draw_calls(rng):
    """One random call of each kernel: its name, its arguments, the number of results, and what the results must be."""
    rows, count = int(rng.integers(1, 40)), int(rng.integers(0, 60))
    for name, values in [("f32", lambda shape: floats(rng, shape, np.float32)), ("i64", lambda shape: rng.integers(-2**62, 2**62, shape))]:
        table, places, updates = values((rows, 4)), rng.integers(0, rows, count).astype(np.int32), values((count, 4))
        expected = table.copy()
        np.add.at(expected, places, updates)
        yield f"add_rows_{name}", [table, places, updates], 1, [expected]
    wide = floats(rng, (2 * rows, 11), np.float32)
    table, places = wide[:: int(rng.integers(1, 3)), 2:10], rng.integers(0, rows, count)
    yield "take_rows", [np.full((count, 8), 7, np.float32), table, places], 1, [table[places]]
    batch, heads, length = (int(rng.integers(1, 6)) for _ in range(3))
    caches = [floats(rng, (batch, heads, length, 16), np.float16) for _ in range(2)]
    tokens = [floats(rng, (batch, heads, 1, 16), np.float16) for _ in range(2)]
    places = rng.integers(0, length, batch).astype(np.int32)
    expected = [cache.copy() for cache in caches]
    for cache, token in zip(expected, tokens):
        cache[np.arange(batch), :, places] = token[:, :, 0]
    yield "append_kv", [*caches, places, *tokens], 2, expected
    bins, places = np.zeros(rows, np.int32), rng.integers(-3, rows + 3, count)
    inside = places[(places >= 0) & (places < rows)]
    yield "count", [bins, places, np.ones(count, np.int32)], 1, [np.bincount(inside, minlength=rows).astype(np.int32)]
    places = rng.permutation(rows).astype(np.int32)[: min(rows, count)]
    tables, updates = ([floats(rng, (size,), np.float32) for _ in range(5)] for size in (rows, len(places)))
    expected = [table.copy() for table in tables]
    for table, update in zip(expected, updates):
        table[places] = update
    yield "set_five", [*tables, places, *updates], 5, expected


def check_results(check, kernels, seed):
    """NumPy's bits, from arrays of NumPy, tensors of TVM-FFI and, where they are installed, tensors of PyTorch."""
    kinds = {"NumPy": lambda array: array, "TVM-FFI": tvm_ffi.from_dlpack}
    if torch is not None:
        kinds["PyTorch"] = torch.from_numpy
    rng = np.random.default_rng(seed)
    for draw in range(DRAWS):
        for name, arguments, results, expected in draw_calls(rng):
            kind = list(kinds)[draw % len(kinds)]
            answer = kernels[name](*[kinds[kind](each) for each in arguments])
            good = answer is None and all(got.tobytes() == want.tobytes() for got, want in zip(arguments[:results], expected))
            check.that(good, f"{name}, seed {seed}, draw {draw}, {kind}: the result differs from NumPy's")
    print(f"{DRAWS} draws of {', '.join(kinds)}, seed {seed}")


def check_bfloat16(check, kernels):
    if torch is None:
        return print("no PyTorch: bf16 is left out")
    table, updates = torch.zeros(6, 4, dtype=torch.bfloat16), torch.arange(12, dtype=torch.bfloat16).reshape(3, 4)
    kernels.add_rows_bf16(table, torch.tensor([5, 0, 5], dtype=torch.int32), updates)
    check.that(torch.equal(table[5], updates[0] + updates[2]) and torch.equal(table[0], updates[1]), f"bf16: {table}")
    return None


def check_jax(check, kernels):
    """Arrays of JAX as arguments that are read; both packages' libraries are in one process."""
    if jnp is None:
        return print("no JAX: its arrays are left out")
    table = np.zeros((6, 4), np.float32)
    kernels.add_rows_f32(table, jnp.array([5, 0, 5], jnp.int32), jnp.ones((3, 4), jnp.float32) * 2)
    check.that(table[5, 0] == 4 and table[0, 3] == 2 and table[1, 1] == 0, f"JAX: {table}")
    return None


def check_refusals(check, kernels):
    add = kernels.add_rows_f32
    table, places, updates = np.zeros((6, 4), np.float32), np.array([5, 0, 5], np.int32), np.ones((3, 4), np.float32)
    add(table, places, updates)

    def refused(kind, text, *arguments):
        check.raises(kind, text, add, *arguments)

    refused(IndexError, "update position [1] (linear 1), component 0: value 6, expected 0 <= v <= 5", table, np.array([5, 6, 5], np.int32), updates)
    refused(IndexError, "value -1", table, np.array([-1, 0, 0], np.int32), updates)
    refused(TypeError, "args: there are 2, expected 3: result 0, indices, updates 0", table, places)
    refused(TypeError, "args: there are 4", table, places, updates, updates)
    refused(TypeError, "args: there are 0")
    for wrong in (3, 2.5, None, "rows", [1.0, 2.0], True, np.float32):
        refused(TypeError, "args[2], updates 0: its type index is", table, places, wrong)
    refused(ValueError, "indices: dtype i64, expected i32", table, places.astype(np.int64), updates)
    refused(ValueError, "result 0: dtype f64, expected f32", table.astype(np.float64), places, updates)
    refused(ValueError, "updates 0: rank 1, expected 2", table, places, updates[0])
    refused(ValueError, "updates 0: dim 0", table, places, updates[:2])
    refused(ValueError, "result 0: dim 1 is 3, expected 4", np.zeros((6, 3), np.float32), places, updates)
    refused(ValueError, "result 0: stride 0 is 8, expected 4", np.zeros((12, 4), np.float32)[::2], places, updates)
    refused(ValueError, "result 0: stride 0 is 1", np.asfortranarray(table), places, updates)
    refused(ValueError, "result 0: stride 0 is -4", table[::-1], places, updates)
    refused(ValueError, "result 0 overlaps updates 0", table, places, table[:3])
    read_only = table.copy()
    read_only.flags.writeable = False
    refused(BufferError, "readonly", read_only, places, updates)
    refused(BufferError, "byte order", table.astype(">f4"), places, updates)
    caches, tokens = [np.zeros((2, 3, 5, 16), np.float16) for _ in range(2)], [np.ones((2, 3, 1, 16), np.float16) for _ in range(2)]
    check.raises(IndexError, "value 5", kernels.append_kv, *caches, np.array([1, 5], np.int32), *tokens, results=2)
    check.raises(ValueError, "result 1: dim 2 is 4", kernels.append_kv, caches[0], caches[1][:, :, :4].copy(), np.array([1, 2], np.int32), *tokens, results=2)
    before = table.copy()
    for empty in (np.zeros((0, 4), np.float32), np.zeros((8, 4), np.float32)[4:4]):
        add(table, np.zeros(0, np.int32), empty)
        add(empty, np.zeros(0, np.int32), updates[:0])
    refused(IndexError, "value 0", np.zeros((0, 4), np.float32), places[1:2], updates[:1])
    check.that(before.tobytes() == table.tobytes(), "a call without updates wrote")
    check.that(not hasattr(kernels, "add_rows"), "the library has a function for a kernel that it does not have")


def check_threads(check):
    """16 threads, whose first calls open the library: each adds rows to a table of its own, and one call in five is refused."""
    shutil.copy(check.folder / "kernels.so", check.folder / "threads.so")
    add = tvm_ffi.load_module(str(check.folder / "threads.so"), keep_module_alive=False).add_rows_f32
    start, wrong = threading.Barrier(16), []

    def call(number, turn, rng):
        rows = int(rng.integers(1, 200))
        table, places, updates = floats(rng, (rows, 4), np.float32), rng.integers(0, rows, 64).astype(np.int32), floats(rng, (64, 4), np.float32)
        expected, message = table.copy(), ""
        if turn % 5 == 4:
            places[rng.integers(0, 64)] = rows
        else:
            np.add.at(expected, places, updates)
        try:
            add(table, places, updates)
        except IndexError as error:
            message = str(error)
        if (turn % 5 == 4) != (f"value {rows}," in message) or table.tobytes() != expected.tobytes():
            wrong.append(f"thread {number}, turn {turn}: '{message}'")

    def work(number):
        rng = np.random.default_rng(number)
        start.wait()
        try:
            for turn in range(200):
                call(number, turn, rng)
        except Exception as error:  # pylint: disable=broad-except
            wrong.append(f"thread {number}: {error!r}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check.that(not wrong, f"16 threads: {wrong[:3]}")
    del add, call, work, threads
    check.that("threads.so" not in pathlib.Path("/proc/self/maps").read_text(), "the library is not unloaded with its last function")


def check_local(check):
    """An error is also raised where TVM-FFI's library was loaded for its own users alone: the class of the error is in the object that TVM-FFI keeps."""
    program = f"""
import ctypes
ffi = ctypes.CDLL({str(next(pathlib.Path(tvm_ffi.__file__).parent.glob("lib/libtvm_ffi.so")))!r}, ctypes.RTLD_LOCAL)
call = ctypes.CDLL({str(check.folder / "kernels.so")!r}).__getattr__("__tvm_ffi_count")
assert call(None, None, 0, ctypes.create_string_buffer(16)) == -1
class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]
error = ctypes.c_void_p()
ffi.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
kind = Bytes.from_address(error.value + 24)
print(ctypes.string_at(kind.data, kind.size).decode())
"""
    check.that(check.run(sys.executable, "-c", program) == "TypeError\n", "with TVM-FFI loaded locally, the error is not raised")


def check_document(check):
    """The section's example runs, with pkg-config's answers for the build tree."""
    text = (ROOT / "docs/libraries.md").read_text().split("## From Python, by TVM-FFI\n")[1].split("\n## ")[0]
    manifest, commands, program = re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)
    (check.folder / "rows.json").write_text(manifest)
    commands = commands.replace("$(pkg-config --libs strew_rt)", f"-L{check.lib} -lstrew_rt").replace("$(pkg-config --variable=libdir strew_rt)", str(check.lib))
    check.that("pkg-config" not in commands, f"the document asks pkg-config for more: {commands}")
    check.run("sh", "-ec", commands, PATH=f"{check.strew.parent}:{os.environ['PATH']}")
    *statements, last = program.strip().split("\n")
    check.that(last.endswith("# IndexError, and nothing is written"), f"the document's last line is {last}")
    wrapped = "\n".join(statements) + f"\ntry:\n    {last}\nexcept IndexError:\n    print(table[5])\n"
    printed = check.run(sys.executable, "-c", wrapped)
    check.that(printed == "[2. 2. 2. 2.]\n" * 2, f"the document's example prints {printed}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    strew = options.strew.resolve()
    folder = strew.parent.parent / "library_tvm_ffi_test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    check = Check(strew, folder)
    kernels = make(check)
    check_results(check, kernels, options.seed)
    check_bfloat16(check, kernels)
    check_jax(check, kernels)
    check_refusals(check, kernels)
    check_threads(check)
    check_local(check)
    check_document(check)
    if check.failures:
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
