"""Generated models through onnxruntime and through strew: operators x element types x shapes x reductions, a few hundred by default.

onnxruntime runs on one thread with its optimiser off: with several, its ScatterND(add) loses updates (onnxruntime#18048, #23396). Indices
are any that are legal, negative ones and duplicates too; with reduction none duplicates are avoided, because ONNX leaves the winner open.
Dims are static or symbolic, data, indices and updates are graph inputs, initializers, Constant nodes or external data, and about a
fifth of the models have two nodes, the second reading the first's result.

What is compared: shapes and every element, bit for bit, NaN equal to NaN, -0 apart from 0. Both sides fold each destination's updates in
row-major order of indices, so that holds for float sums and products too.

Left out, because onnxruntime 1.31 does not run it: complex types; strings, bf16 and most f16 in a reduction; max and min of bool (strew's
own reference and onnx's node tests cover those). max and min of floats are fed no NaN and no zeros: onnxruntime keeps the current value only
if it is strictly greater (less), which drops a NaN there and takes the later zero, where strew follows IEEE 754-2019 maximum and minimum.

onnxruntime is wrong once: its Gather of strings copies the first element of each slice only and leaves the others empty (1.31). There
NumPy's take is the expectation.

Exit status 77 when onnx, onnxruntime, numpy or ml_dtypes is absent.
"""

import argparse
import collections
import ctypes
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from _onnx import TYPES, Oracle, TensorProto, as_stored, helper, np, numpy_helper, onnx, save_array

try:
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

DATA_TYPES = [t for t in TYPES if not t.startswith("COMPLEX")]
REDUCED_TYPES = ["FLOAT", "DOUBLE", "INT32", "INT64", "INT8", "UINT8", "INT16", "UINT16", "UINT32", "UINT64"]
OPERATORS = ["ScatterND", "ScatterElements", "Scatter", "Gather", "GatherND", "GatherElements"]
SOURCES = ["input", "input", "input", "symbolic", "initializer", "constant", "external"]


def elements(rng, type_name, shape, ordered):
    """Random items; `ordered`: nothing two implementations of max may disagree about."""
    count = int(np.prod(shape))
    if type_name == "STRING":
        return np.array([rng.choice(["", "a", "zz", "h\u00e9", "\u6f22", "abcde"]) for _ in range(count)], dtype=object).reshape(shape)
    if type_name == "BOOL":
        return np.array([rng.random() < 0.5 for _ in range(count)], dtype=bool).reshape(shape)
    dtype = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, type_name))
    if np.dtype(dtype).kind in "iu":
        return np.frombuffer(rng.randbytes(count * dtype.itemsize), dtype).reshape(shape)
    values = np.array([rng.uniform(-4, 4) * 10.0 ** rng.randint(-6, 6) for _ in range(count)])
    if ordered:
        values[np.abs(values) < 1e-4] = 1  # f16 would round it to a zero
    if not ordered and count and rng.random() < 0.3:
        values[rng.randrange(count)] = rng.choice([np.inf, -np.inf, np.nan, -0.0])
    with np.errstate(all="ignore"):  # f16 overflows to infinity
        return values.astype(dtype).reshape(shape)


def extents(rng, rank, least=0):
    return [rng.choice([least, 1, 2, 3, 3, 4, 5, 7, 9]) for _ in range(rank)]


def signed(rng, index, extent):
    """The same place, sometimes counted from the end."""
    return index - extent if rng.random() < 0.3 else index


def element_indices(rng, data, shape, axis, unique):
    """Indices of ScatterElements and its kin: `unique` ones do not meet in a line along axis."""
    out = np.zeros(shape, np.int64)
    lines = [range(d) if a != axis else range(1) for a, d in enumerate(shape)]
    for line in np.ndindex(*[len(r) for r in lines]):
        where = list(line)
        picks = rng.sample(range(data[axis]), shape[axis]) if unique else [rng.randrange(data[axis]) for _ in range(shape[axis])]
        for i, pick in enumerate(picks):
            where[axis] = i
            out[tuple(where)] = signed(rng, pick, data[axis])
    return out


def vector_indices(rng, extents_, shape, unique):
    count = int(np.prod(shape))
    total = int(np.prod(extents_))
    places = rng.sample(range(total), count) if unique else [rng.randrange(total) for _ in range(count)]
    vectors = [[signed(rng, int(c), e) for c, e in zip(np.unravel_index(p, extents_), extents_)] for p in places]
    return np.array(vectors, np.int64).reshape([*shape, len(extents_)])


class Case:
    """One generated node: arrays by input name, attributes, opset."""

    def __init__(self, rng, number):
        self.operator = OPERATORS[number % len(OPERATORS)]
        self.attributes = {}
        self.arrays = {}
        self.scatters = self.operator.startswith("Scatter")
        reductions = ["none"] if self.operator == "Scatter" else ["none", "add", "mul", "max", "min"]
        self.reduction = rng.choice(reductions) if self.scatters else "none"
        self.type_name = rng.choice(DATA_TYPES if self.reduction == "none" else self.reduced_types())
        least = {"none": 11, "add": 16, "mul": 16, "max": 18, "min": 18}[self.reduction]
        if self.operator == "Scatter":
            self.opset = rng.choice([9, 10])
        elif self.type_name == "BFLOAT16":
            self.opset = max(least, 13)
        else:
            self.opset = rng.choice([v for v in (11, 13, 16, 18, 21, 24) if v >= least])
        if self.operator == "Scatter" and self.type_name == "BFLOAT16":
            self.type_name = "FLOAT"
        if self.reduction != "none" or rng.random() < 0.3 and self.opset >= 16 and self.operator in ("ScatterND", "ScatterElements"):
            self.attributes["reduction"] = self.reduction
        getattr(self, {"ScatterND": "scatter_nd", "Gather": "gather", "GatherND": "gather_nd"}.get(self.operator, "elementwise"))(rng)

    def reduced_types(self):
        if self.reduction in ("add", "mul"):
            return [*REDUCED_TYPES, "BOOL"]
        return [*REDUCED_TYPES, "FLOAT16"] if self.operator == "ScatterElements" else REDUCED_TYPES

    def data(self, rng, shape):
        self.arrays["data"] = elements(rng, self.type_name, shape, self.reduction in ("max", "min"))

    def indices(self, rng, values, i32=True):
        self.arrays["indices"] = values.astype(np.int32 if i32 and rng.random() < 0.4 else np.int64)

    def updates(self, rng, shape):
        self.arrays["updates"] = elements(rng, self.type_name, shape, self.reduction in ("max", "min"))

    def axis(self, rng, rank):
        axis = rng.randrange(rank)
        if axis or rng.random() < 0.5:
            self.attributes["axis"] = axis - rank if rng.random() < 0.4 else axis
        return axis

    def elementwise(self, rng):
        shape = extents(rng, rng.randint(1, 4), 1)
        axis = self.axis(rng, len(shape))
        unique = self.scatters and self.reduction == "none"
        counts = [rng.randint(0 if rng.random() < 0.1 else 1, e) for e in shape]
        if not unique:
            counts[axis] = rng.randint(1, 2 * shape[axis])
        self.data(rng, shape)
        self.indices(rng, element_indices(rng, shape, counts, axis, unique))
        if self.scatters:
            self.updates(rng, counts)

    def scatter_nd(self, rng):
        shape = extents(rng, rng.randint(1, 4), 1)
        k = rng.randint(1, len(shape))
        total = int(np.prod(shape[:k]))
        unique = self.reduction == "none"
        positions = [rng.randint(0 if rng.random() < 0.1 else 1, min(total, 12))] if rng.random() < 0.7 else [1, rng.randint(1, min(total, 6))]
        self.data(rng, shape)
        self.indices(rng, vector_indices(rng, shape[:k], positions, unique), i32=False)
        self.updates(rng, [*positions, *shape[k:]])

    def gather(self, rng):
        shape = extents(rng, rng.randint(1, 4), 1)
        axis = self.axis(rng, len(shape))
        places = extents(rng, rng.randint(0, 3))
        self.data(rng, shape)
        self.indices(rng, np.array([signed(rng, rng.randrange(shape[axis]), shape[axis]) for _ in range(int(np.prod(places)))],
                                   np.int64).reshape(places))

    def gather_nd(self, rng):
        batch = extents(rng, rng.choice([0, 0, 1, 2]), 1) if self.opset >= 12 else []
        indexed = extents(rng, rng.randint(1, 2), 1)
        shape = [*batch, *indexed, *extents(rng, rng.randint(0, 2), 1)]
        places = [*batch, *extents(rng, rng.randint(0, 2))]
        if batch:
            self.attributes["batch_dims"] = len(batch)
        self.data(rng, shape)
        self.indices(rng, vector_indices(rng, indexed, places, False), i32=False)


def tensor_of(case, name, array):
    if name == "data" or name == "updates":
        element = getattr(TensorProto, case.type_name)
        if case.type_name == "STRING":
            return helper.make_tensor(name, element, array.shape, [s.encode() for s in array.ravel().tolist()])
        return helper.make_tensor(name, element, array.shape, array.tobytes(), raw=True)
    return numpy_helper.from_array(array, name)


def externalise(tensor, folder):
    """Moves raw_data into a file beside the model, at an offset."""
    location, offset = f"{tensor.name}.bin", 64
    with open(os.path.join(folder, location), "wb") as f:
        f.write(b"\xff" * offset + tensor.raw_data + b"tail")
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(len(tensor.raw_data)))):
        tensor.external_data.add(key=key, value=value)
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")


def build(case, rng, folder):
    """(model, {graph input: array})"""
    nodes, inputs, initializers, fed = [], [], [], {}
    for name, array in case.arrays.items():
        source = rng.choice(SOURCES)
        tensor = tensor_of(case, name, array)
        if source == "external" and (array.size == 0 or case.type_name == "STRING" and name != "indices"):
            source = "initializer"
        if source == "constant":
            nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        elif source in ("initializer", "external"):
            if source == "external":
                externalise(tensor, folder)
            initializers.append(tensor)
        else:
            last = array.ndim - 1 if name == "indices" and case.operator.endswith("ND") else -1
            dims = [f"{name}_{d}" if source == "symbolic" and d != last else e for d, e in enumerate(array.shape)]
            inputs.append(helper.make_tensor_value_info(name, tensor.data_type, dims))
            fed[name] = array
    nodes.append(helper.make_node(case.operator, list(case.arrays), ["output"], name="first", **case.attributes))
    result = "output"
    if case.scatters and rng.random() < 0.4:
        nodes.append(helper.make_node(case.operator, ["output", *list(case.arrays)[1:]], ["again"], name="second", **case.attributes))
        result = "again"
    outputs = [helper.make_tensor_value_info(result, getattr(TensorProto, case.type_name), None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10)
    return model, fed


def expected_of(path, fed):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    if session.get_outputs()[0].type != "tensor(bfloat16)":
        return session.run(None, fed)[0]
    values = {}  # session.run has no NumPy type for bf16
    for name, array in fed.items():
        if array.dtype.name == "bfloat16":
            values[name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), TensorProto.BFLOAT16)
        else:
            values[name] = onnxruntime.OrtValue.ortvalue_from_numpy(array)
    out = session.run_with_ort_values(None, values)[0]
    raw = ctypes.string_at(out.data_ptr(), out.tensor_size_in_bytes()) if np.prod(out.shape()) else b""
    return np.frombuffer(raw, "|V2").reshape(out.shape())


def same(got, expected):
    if got.shape != expected.shape:
        return False
    if expected.dtype.kind == "U":
        return got.tolist() == expected.tolist()
    if got.dtype.itemsize != expected.dtype.itemsize:
        return False
    if got.tobytes() == expected.tobytes():
        return True
    if got.dtype.kind != "f":
        return False
    bits = f"u{got.dtype.itemsize}"
    return bool(np.all((got.view(bits) == expected.view(bits)) | (np.isnan(got) & np.isnan(expected))))


def check(oracle, tally, number):
    rng = random.Random(number)
    case = Case(rng, number)
    folder = os.path.join(oracle.folder, f"case_{number}")
    os.makedirs(folder)
    model, fed = build(case, rng, folder)
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    what = f"case {number}: {case.operator}-{case.opset} {case.type_name} {case.attributes} " + " ".join(
        f"{n}{list(a.shape)}" for n, a in case.arrays.items())
    try:
        expected = as_stored(expected_of(path, fed))
    except Exception as error:  # onnxruntime's classes have no common base but this
        with oracle.lock:
            tally[f"not run by onnxruntime: {case.operator} {case.type_name} {case.reduction}: {str(error).splitlines()[0][:110]}"] += 1
        return
    if case.operator == "Gather" and case.type_name == "STRING":
        expected = as_stored(np.take(case.arrays["data"], case.arrays["indices"], axis=case.attributes.get("axis", 0)))
    files = []
    for name, array in fed.items():
        files.append(os.path.join(folder, f"{name}.npy"))
        save_array(files[-1], array)
    got, failure = oracle.run(model, files, "reference" if number % 3 == 0 else "auto", folder)
    if not failure and not same(got[0], expected):
        failure = f"the output differs: got {got[0].ravel()[:8]}, onnxruntime has {expected.ravel()[:8]}"
    oracle.count(failure and f"{what}: {failure}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=480)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    tally = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(arguments.strew, folder)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(lambda n: check(oracle, tally, n), range(arguments.seed, arguments.seed + arguments.cases)))
        if arguments.verbose or oracle.cases < 0.8 * arguments.cases:
            for text, times in sorted(tally.items()):
                print(f"{times}x {text}")
        if oracle.cases < 0.8 * arguments.cases:
            oracle.failures.append(f"onnxruntime ran {oracle.cases} of {arguments.cases} models, expected at least 80 in 100")
        return oracle.report(f"onnxruntime {onnxruntime.__version__}: {oracle.cases} generated models compared, "
                             f"{sum(tally.values())} it does not run")


if __name__ == "__main__":
    raise SystemExit(main())
