"""TensorScatter-24 through `strew run` against ONNX's own node tests and a generated matrix.

First part: every TensorScatter case of the installed onnx package (its node tests are generated on the fly), inputs given as .pb,
output compared with the case's expectation bit for bit, on every backend.

Second part: mode x axis x rank x element type, with missing write_indices, ring buffers that wrap, batches and heads larger than the
sequence, and empty updates. The expectation is the small NumPy function below, written from the operator's prose: the sequence
coordinate alone is folded (onnx's reference folded every coordinate up to 1.22). Elements are compared as raw items, NaN bits too:
TensorScatter only moves.

Exit status 77 when onnx, numpy or ml_dtypes is absent.
"""

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

try:
    import ml_dtypes  # noqa: F401  (onnx's helpers need it for the narrow types)
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from _npy import load
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

# ONNX type -> (NumPy item type of the .npy file, bits that count). The items of types NumPy lacks are raw.
TYPES = {
    "FLOAT": "<f4", "UINT8": "|u1", "INT8": "|i1", "UINT16": "<u2", "INT16": "<i2", "INT32": "<i4", "INT64": "<i8", "STRING": "<U5",
    "BOOL": "|b1", "FLOAT16": "<f2", "DOUBLE": "<f8", "UINT32": "<u4", "UINT64": "<u8", "COMPLEX64": "<c8", "COMPLEX128": "<c16",
    "BFLOAT16": "|V2", "FLOAT8E4M3FN": "|u1", "FLOAT8E4M3FNUZ": "|u1", "FLOAT8E5M2": "|u1", "FLOAT8E5M2FNUZ": "|u1", "UINT4": "|u1",
    "INT4": "|i1", "FLOAT4E2M1": "|u1", "FLOAT8E8M0": "|u1",
}


def tensor_scatter(past, update, indices, axis, mode):
    """The operator's prose."""
    axis = axis % past.ndim
    present = past.copy()
    length = past.shape[axis]
    for prefix in np.ndindex(past.shape[:axis]):
        for s in range(update.shape[axis]):
            at = int(indices[prefix[0]]) + s
            if mode == "circular":
                at %= length
            present[(*prefix, at)] = update[(*prefix, s)]
    return present


def random_items(rng, type_name, shape):
    if type_name == "STRING":
        words = ["", "a", "zz", "h\u00e9", "\u6f22\u5b57", "abcde"]
        return np.array([rng.choice(words) for _ in range(int(np.prod(shape)))], dtype="<U5").reshape(shape)
    item = np.dtype(TYPES[type_name])
    count = int(np.prod(shape))
    if type_name == "BOOL":
        return np.frombuffer(rng.randbytes(count), np.uint8).reshape(shape) % 2 == 1
    if type_name in ("UINT4", "INT4", "FLOAT4E2M1"):
        nibbles = np.frombuffer(rng.randbytes(count), np.uint8).reshape(shape) & 15
        if type_name == "INT4":
            return ((nibbles.astype(np.int8) ^ 8) - 8).astype(np.int8)
        return nibbles.astype(np.uint8)
    return np.frombuffer(rng.randbytes(count * item.itemsize), item).reshape(shape)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def as_text(array):
    """<U arrays differ in their item length."""
    return array.tolist() if array.dtype.kind == "U" else None


class Oracle:
    def __init__(self, strew, folder):
        self.strew, self.folder = strew, folder
        self.failures, self.cases = [], 0

    def run(self, name, arguments):
        result = subprocess.run([self.strew, *arguments], capture_output=True, text=True, timeout=120)
        if result.returncode != 0:
            return f"{name}: exit {result.returncode}: {result.stderr.strip()}"
        return None

    def count(self, failure):
        self.cases += 1
        if failure:
            self.failures.append(failure)

    def node_test(self, case, backend):
        folder = os.path.join(self.folder, f"{case.name}_{backend}")
        os.makedirs(folder)
        path = os.path.join(folder, "model.onnx")
        onnx.save(case.model, path)
        for number, (inputs, outputs) in enumerate(case.data_sets):
            files = []
            for i, value in enumerate(inputs):
                files.append(os.path.join(folder, f"input_{number}_{i}.pb"))
                tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(value)
                with open(files[-1], "wb") as f:
                    f.write(tensor.SerializeToString())
            out = os.path.join(folder, "out.npy")
            failure = self.run(case.name, ["run", path, "--backend", backend, "--input", *files, "--output", out])
            expected = numpy_helper.to_array(outputs[0]) if isinstance(outputs[0], TensorProto) else outputs[0]
            if not failure and not same(load(out), expected):
                failure = f"{case.name} on {backend}: the output differs"
            self.count(failure)

    def generated(self, number, type_name, rank, axis, mode, indices_kind, backend):
        rng = random.Random(number)
        shape = [rng.choice([1, 2, 3, 5]) for _ in range(rank)]
        at = axis % rank
        shape[at] = rng.choice([1, 3, 4, 7])
        update_shape = list(shape)
        update_shape[at] = rng.choice([0, 1, shape[at], rng.randint(0, shape[at])])
        slack = shape[at] - update_shape[at]
        past, update = random_items(rng, type_name, shape), random_items(rng, type_name, update_shape)
        top = 3 * shape[at] if mode == "circular" else slack
        indices = np.array([0 if indices_kind == "missing" else rng.randint(0, top) for _ in range(shape[0])], np.int64)
        expected = tensor_scatter(past, update, indices, axis, mode)

        folder = os.path.join(self.folder, f"case_{number}")
        os.makedirs(folder)
        element = getattr(TensorProto, type_name)
        symbolic = indices_kind == "symbolic"
        dims = [f"d{i}" for i in range(rank)] if symbolic else shape
        update_dims = [*dims[:at], "s", *dims[at + 1:]] if symbolic else update_shape
        inputs = [helper.make_tensor_value_info("past_cache", element, dims), helper.make_tensor_value_info("update", element, update_dims)]
        names = ["past_cache", "update"]
        if indices_kind != "missing":
            inputs.append(helper.make_tensor_value_info("write_indices", TensorProto.INT64, dims[:1]))
            names.append("write_indices")
        attributes = {} if axis == -2 and number % 2 else {"axis": axis}
        if mode == "circular" or number % 3 == 0:
            attributes["mode"] = mode
        node = helper.make_node("TensorScatter", names, ["present_cache"], **attributes)
        graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("present_cache", element, dims)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        files = []
        for name, array in zip(names, (past, update, indices)):
            files.append(os.path.join(folder, f"{name}.npy"))
            np.save(files[-1], np.asfortranarray(array) if number % 4 == 3 else array)
        out = os.path.join(folder, "out.npy")
        what = f"case {number}: {type_name} {shape} <- {update_shape} axis {axis} {mode} {indices.tolist()} ({indices_kind}) on {backend}"
        failure = self.run(what, ["run", path, "--backend", backend, "--input", *files, "--output", out])
        if not failure:
            got = load(out)
            if as_text(expected) is not None:
                right = got.dtype.kind == "U" and as_text(got) == as_text(expected) and got.shape == expected.shape
            else:
                right = same(got, expected)
            if not right:
                failure = f"{what}: the output differs"
        self.count(failure)


def node_cases():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):  # collecting runs the generators of every operator
        warnings.simplefilter("ignore")
        found = collect_testcases("TensorScatter")
    cases = [c for c in found if c.model.graph.node[0].op_type == "TensorScatter"]
    if len(cases) < 3:
        raise SystemExit(f"onnx {onnx.__version__} has {len(cases)} TensorScatter node tests, expected at least 3")
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(arguments.strew, folder)
        for case in node_cases():
            for backend in ("reference", "auto"):
                oracle.node_test(case, backend)
        named = oracle.cases

        axes = [(2, -1), (2, 1), (3, -2), (3, 1), (3, 2), (4, -2), (4, 1), (4, 3), (5, -2), (5, -4)]
        jobs = []
        for repeat, type_name in itertools.product(range(arguments.repeat), TYPES):
            for mode, (rank, axis) in itertools.product(("linear", "circular"), axes):
                number = arguments.seed + len(jobs)
                kind = ("given", "symbolic", "given", "missing")[number % 4]
                jobs.append((number, type_name, rank, axis, mode, kind, "reference" if number % 3 == 0 else "auto"))
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(lambda job: oracle.generated(*job), jobs))

        for failure in oracle.failures[:20]:
            print(failure)
        print(f"onnx {onnx.__version__}: {named} runs of its node tests and {oracle.cases - named} generated, {len(oracle.failures)} failed")
        return 1 if oracle.failures else 0


if __name__ == "__main__":
    sys.exit(main())
