"""What the exporters share: a case is a folder FRAMEWORK/NAME with the model, tensors.npz (its inputs and the framework's results) and case.json."""

import fnmatch
import functools
import hashlib
import json
import os
import shutil
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOVES = 0  # tolerance of a file that moves values, or sums small integers, which no order of additions rounds
FLOAT_MATH = (1e-5, "the file has float math of its own (matrix products, exp, division), which frameworks round differently")
HALF_MATH = (2e-2, "the file has bf16 or f16 math of its own, which frameworks round differently")


def rng(name):
    """A generator that depends on the name of the case alone, so that a case stays the same when others are added."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def small(r, *shape, dtype=np.float32, low=-4, high=5):
    """Small integers of any dtype: their sums are exact in every order."""
    return r.integers(low, high, shape).astype(dtype)


def real(r, *shape, dtype=np.float32):
    return r.standard_normal(shape).astype(dtype)


def to_npy(array):
    """Types that NumPy lacks are stored as raw items of their size (docs/cli.md)."""
    array = np.asarray(array)
    if array.dtype.kind in "biufcUS" and array.dtype.isbuiltin == 1:
        return array
    if array.dtype.kind == "O":
        return np.array([x.decode() if isinstance(x, bytes) else x for x in array.ravel()], dtype=np.str_).reshape(array.shape)
    if array.dtype.name in ("int4", "uint4"):
        return array.astype(array.dtype.name.replace("4", "8"))
    return array.view(np.uint8 if array.dtype.itemsize == 1 else f"V{array.dtype.itemsize}")


def save(folder, arrays):
    """Writes tensors.npz. arrays: {name: array that to_npy returned}. The file is sorted by name and has no times, so that equal arrays give equal bytes, and it is not
    compressed, because git compresses all of it in one, which is smaller."""
    rows = {name: array if array.ndim == 0 else np.ascontiguousarray(array) for name, array in sorted(arrays.items())}
    np.savez(os.path.join(folder, "tensors.npz"), **rows)


def save_description(folder, case):
    with open(os.path.join(folder, "case.json"), "w") as file:
        file.write(text_of(case))


def identity(stored):
    """Equal for arrays that are stored once."""
    return stored.dtype.str, stored.shape, stored.tobytes()


def collector():
    """A list of cases, and the decorator that adds to it (name, make, note, tolerance, options)."""
    out = []

    def case(note, tolerance=MOVES, name=None, **options):
        def add(make):
            out.append((name or make.__name__, make, note, tolerance, options))
            return make
        return add
    return out, case


def text_of(case):
    """JSON with one line per tensor and kernel."""
    line = functools.partial(json.dumps, ensure_ascii=False)
    rows = []
    for key, value in case.items():
        if isinstance(value, list) and value:
            rows.append(f" {line(key)}: [\n" + ",\n".join(f"  {line(item)}" for item in value) + "\n ]")
        elif key == "values":
            rows.append(f" {line(key)}: {{\n" + ",\n".join(f"  {line(k)}: {line(v)}" for k, v in value.items()) + "\n }")
        else:
            rows.append(f" {line(key)}: {line(value)}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


class Corpus:
    """Writes the cases of one exporter. On the command line: patterns of names, to write only those."""

    def __init__(self, source, folder, extension):
        self.source, self.folder, self.extension = source, folder, extension
        self.patterns = [a for a in sys.argv[1:] if not a.startswith("-")]
        self.written, self.failed = [], []

    def wants(self, name, folder=None):
        full = f"{folder or self.folder}/{name}"
        return not self.patterns or any(fnmatch.fnmatch(full, p) or fnmatch.fnmatch(name, p) for p in self.patterns)

    def write(self, name, model, inputs, outputs, note, indexed_ops, tolerance=MOVES, kernels=(), folder=None, values=None, **more):
        """model: bytes; inputs and outputs: [(name, array)]; kernels: [{"node", ..., "inputs": {name: array}, "result": array}]; values:
        {function: {name: array}}, or {name: array} where there are no functions."""
        path = os.path.join(ROOT, folder or self.folder, name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        with open(os.path.join(path, f"model.{self.extension}"), "wb") as file:
            file.write(model)
        case = {"source": self.source, "note": note, "inputs": [], "outputs": []}
        arrays, seen = {}, {}
        for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
            for k, (label, array) in enumerate(tensors):
                stored_as = f"{kind[:-1]}_{k}"
                arrays[stored_as] = to_npy(array)
                seen.setdefault(identity(arrays[stored_as]), stored_as)
                case[kind].append({"name": label, "array": stored_as})
        case["tolerance"] = tolerance if tolerance == MOVES else tolerance[0]
        if tolerance != MOVES:
            case["tolerance_reason"] = tolerance[1]
        case["indexed_ops"] = indexed_ops
        case.update(more)

        def keep(tree):
            if isinstance(tree, dict):
                return {label: keep(value) for label, value in tree.items()}
            stored = to_npy(tree)
            name_of = seen.setdefault(identity(stored), f"value_{len(seen)}")
            arrays[name_of] = stored
            return name_of

        if kernels:
            case["kernels"] = [{key: keep(value) if key in ("inputs", "result") else value for key, value in kernel.items()} for kernel in kernels]
        if values:
            case["values"] = keep(values)
        save(path, arrays)
        save_description(path, case)
        size = sum(os.path.getsize(os.path.join(path, f)) for f in os.listdir(path))
        self.written.append(name)
        print(f"{folder or self.folder}/{name}: {size} bytes, {indexed_ops} indexed ops, {len(kernels)} kernels", flush=True)

    def fail(self, name, why):
        self.failed.append(name)
        print(f"FAILED {name}: {str(why)[:600]}", flush=True)

    def finish(self):
        print(f"{len(self.written)} written, {len(self.failed)} failed: {' '.join(self.failed)}")
        sys.exit(1 if self.failed else 0)
