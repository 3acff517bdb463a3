"""Generated .tflite models through `strew run` against LiteRT's interpreter, bit for bit.

Each case is one model of one operator with random shapes, element types, data and indices; inputs are graph inputs or constants of the
file. LiteRT has fewer element types per operator than strew; TYPES lists what its kernels take. Kept out of the comparison, because
LiteRT differs from the operators' definitions (docs/sources.md):
  - SCATTER_ND with an index outside: LiteRT checks the linear position only, strew each component. Cases outside are outside linearly too;
  - NaN under STABLEHLO_SCATTER's maximum and minimum: LiteRT uses std::max. The data has no NaN there;
  - the order of updates of STABLEHLO_SCATTER, which StableHLO leaves open: LiteRT goes through the elements of updates, strew through the
    index vectors. Where the combiner assigns, window dims are the last ones of updates, and the two orders are the same;
  - empty results of STABLEHLO_GATHER, which LiteRT does not expect;
  - INT4 in GATHER: LiteRT 2.3 gives values that are not in the operand.

Exit status 77 when ai_edge_litert, flatbuffers, numpy or ml_dtypes is absent.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

try:
    import flatbuffers
    import ml_dtypes
    import numpy as np
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    from _npy import load
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# TensorType -> NumPy item type of the data
ITEMS = {
    "FLOAT32": "<f4", "FLOAT16": "<f2", "BFLOAT16": BFLOAT16, "FLOAT64": "<f8", "INT4": "|i1", "INT8": "|i1", "INT16": "<i2", "INT32": "<i4",
    "INT64": "<i8", "UINT8": "|u1", "UINT16": "<u2", "UINT32": "<u4", "UINT64": "<u8", "BOOL": "|b1",
}
# What LiteRT's kernels take.
TYPES = {
    "DYNAMIC_UPDATE_SLICE": [
        "FLOAT32", "FLOAT16", "BFLOAT16", "FLOAT64", "INT4", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "BOOL"],
    "GATHER": ["FLOAT32", "FLOAT16", "BFLOAT16", "INT8", "UINT8", "INT16", "INT32", "INT64", "BOOL"],
    "GATHER_ND": ["FLOAT32", "FLOAT16", "BFLOAT16", "INT8", "UINT8", "INT16", "INT32", "INT64", "BOOL"],
    "SCATTER_ND": ["FLOAT32", "INT8", "UINT8", "INT32", "INT64", "BOOL"],
    "SEGMENT_SUM": ["FLOAT32", "INT32"],
    "UNSORTED_SEGMENT_SUM": ["FLOAT32", "INT32"],
    "UNSORTED_SEGMENT_PROD": ["FLOAT32", "INT32"],
    "UNSORTED_SEGMENT_MAX": ["FLOAT32", "INT32"],
    "UNSORTED_SEGMENT_MIN": ["FLOAT32", "INT32"],
    "SPARSE_TO_DENSE": ["FLOAT32", "INT32", "INT64", "INT8", "UINT8"],
    "EMBEDDING_LOOKUP": ["FLOAT32"],
    "STABLEHLO_SCATTER": ["FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "BOOL"],
    "STABLEHLO_GATHER": [
        "FLOAT32", "FLOAT16", "BFLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "BOOL"],
}


class Case:
    """One operator: its inputs as arrays, which of them are constants, its options, the type and shape of its output."""

    def __init__(self, op, inputs, out_shape, out_type):
        self.op, self.inputs, self.out_shape, self.out_type = op, inputs, list(out_shape), out_type
        self.constant = [False] * len(inputs)
        self.gather, self.options2, self.region, self.fails = None, None, None, False
        self.open_result = False  # the shape of the output is computed
        self.dynamic, self.known = False, None  # `known`: the dim of input 1 that holds index vectors, whose length has to be known


def type_of(array, nibbles=False):
    return "INT4" if nibbles else next(n for n, item in ITEMS.items() if n != "INT4" and np.dtype(item) == array.dtype)


def packed(array, type_name):
    """The bytes of a buffer."""
    if type_name != "INT4":
        return array.tobytes()
    flat = (array.reshape(-1).astype(np.int8) & 15).astype(np.uint8)
    if flat.size % 2:
        flat = np.append(flat, np.uint8(0))
    return (flat[0::2] | flat[1::2] << 4).tobytes()


def items(rng, type_name, shape, tame=False):
    """Random bits; `tame`: numbers whose folds stay exact or at least finite, without NaN."""
    count = int(np.prod(shape, dtype=np.int64))
    item = np.dtype(ITEMS[type_name])
    if type_name == "BOOL":
        return (np.frombuffer(rng.randbytes(count), np.uint8) % 2 == 1).reshape(shape)
    if type_name == "INT4":
        return ((np.frombuffer(rng.randbytes(count), np.uint8).astype(np.int16) & 15) - 8).astype(np.int8).reshape(shape)
    if tame and item.kind == "f":
        return np.array([rng.uniform(-4, 4) for _ in range(count)], dtype=item).reshape(shape)
    return np.frombuffer(rng.randbytes(count * item.itemsize), item).reshape(shape)


def indices(rng, shape, low, high, wide):
    """Integers from low to high, both possible."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.array([rng.randint(low, high) for _ in range(count)], np.int64 if wide else np.int32).reshape(shape)


def shape_of(rng, rank, most=5):
    return [rng.randint(1, most) for _ in range(rank)]


# ---- one function per operator: random number generator, element type -> Case ----


def dynamic_update_slice(rng, type_name):
    shape = shape_of(rng, rng.randint(1, 4))
    update = [rng.randint(0 if rng.random() < 0.1 else 1, extent) for extent in shape]
    start = np.array([rng.randint(-2, extent + 2) for extent in shape], np.int64 if rng.random() < 0.5 else np.int32)
    case = Case("DYNAMIC_UPDATE_SLICE", [items(rng, type_name, shape), items(rng, type_name, update), start], shape, type_name)
    case.constant[rng.choice([0, 1, 2])] = rng.random() < 0.3 and np.prod(update) > 0
    case.dynamic = not any(case.constant) and rng.random() < 0.2
    return case


def gather(rng, type_name):
    shape = shape_of(rng, rng.randint(1, 4))
    axis = rng.randrange(len(shape))
    batch = rng.randint(0, axis)
    positions = shape[:batch] + shape_of(rng, rng.randint(0, 2), 4)
    extent = shape[axis]
    bad = rng.random() < 0.1
    at = indices(rng, positions, 0, extent - 1, rng.random() < 0.5)
    if bad:
        at.reshape(-1)[rng.randrange(at.size)] = rng.choice([-1, extent])
    case = Case("GATHER", [items(rng, type_name, shape), at], shape[:axis] + positions[batch:] + shape[axis + 1:], type_name)
    case.gather = (axis - len(shape) if rng.random() < 0.3 else axis, batch)
    case.fails = bad
    case.dynamic = rng.random() < 0.2
    return case


def gather_nd(rng, type_name):
    shape = shape_of(rng, rng.randint(1, 4))
    depth = rng.randint(1, len(shape))
    positions = shape_of(rng, rng.randint(0, 2), 4)
    columns = [indices(rng, positions, 0, shape[d] - 1, False) for d in range(depth)]
    at = np.stack(columns, axis=-1).astype(np.int64 if rng.random() < 0.5 else np.int32)
    case = Case("GATHER_ND", [items(rng, type_name, shape), at], positions + shape[depth:], type_name)
    if rng.random() < 0.1:
        at.reshape(-1, depth)[0, 0] = rng.choice([-1, shape[0]])
        case.fails = True
    case.dynamic, case.known = rng.random() < 0.2, len(positions)
    return case


def scatter_nd(rng, type_name):
    shape = shape_of(rng, rng.randint(1, 4))
    depth = rng.randint(1, len(shape))
    positions = shape_of(rng, rng.randint(1, 2), 6)
    at = np.stack([indices(rng, positions, 0, shape[d] - 1, False) for d in range(depth)], axis=-1)
    update = items(rng, type_name, positions + shape[depth:], tame=True)
    case = Case("SCATTER_ND", [at, update, np.array(shape, np.int32)], shape, type_name)
    case.constant[2] = rng.random() < 0.7
    if not case.constant[2]:
        case.open_result = True
    if rng.random() < 0.1:
        at.reshape(-1, depth)[0] = [extent if d == 0 else 0 for d, extent in enumerate(shape[:depth])]
        case.fails = True
    return case


def stablehlo_scatter(rng, type_name):
    rank = rng.randint(1, 3)
    shape = shape_of(rng, rank)
    depth = rng.randint(1, rank)
    mapped = rng.sample(range(rank), depth)
    inserted = sorted(d for d in range(rank) if rng.random() < 0.5)
    window = [1 if rng.random() < 0.4 else rng.randint(1, shape[d]) for d in range(rank)]
    window_shape = [window[d] for d in range(rank) if d not in inserted]
    positions = shape_of(rng, rng.randint(0, 2), 4)
    update_rank = len(positions) + len(window_shape)
    combiner = rng.choice([None, "STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"])
    window_dims = sorted(rng.sample(range(update_rank), len(window_shape)))
    if combiner is None:  # assigns: the order of updates decides
        window_dims = list(range(len(positions), update_rank))
    rest, inner = iter(positions), iter(window_shape)
    update_shape = [next(inner) if d in window_dims else next(rest) for d in range(update_rank)]
    columns = [indices(rng, positions, -2, shape[d] + 1, False) for d in mapped]
    vector_dim = rng.randint(0, len(positions))
    at = np.stack(columns, axis=vector_dim).astype(np.int64 if rng.random() < 0.5 else np.int32)
    case = Case("STABLEHLO_SCATTER", [items(rng, type_name, shape, True), at, items(rng, type_name, update_shape, True)], shape, type_name)
    case.region = combiner
    options = schema.StablehloScatterOptionsT()
    options.updateWindowDims, options.insertedWindowDims = window_dims, inserted
    options.scatterDimsToOperandDims, options.indexVectorDim = mapped, vector_dim
    options.updateComputationSubgraphIndex = 1
    case.options2 = options
    case.dynamic, case.known = rng.random() < 0.1, vector_dim
    return case


def stablehlo_gather(rng, type_name):
    rank = rng.randint(1, 3)
    shape = shape_of(rng, rank)
    mapped = rng.sample(range(rank), rng.randint(1, rank))
    collapsed = sorted(d for d in range(rank) if rng.random() < 0.5)
    sizes = [1 if d in collapsed else rng.randint(1, shape[d]) for d in range(rank)]
    window_shape = [sizes[d] for d in range(rank) if d not in collapsed]
    positions = shape_of(rng, rng.randint(0, 2), 4)
    result_rank = len(positions) + len(window_shape)
    offset_dims = sorted(rng.sample(range(result_rank), len(window_shape)))
    rest, inner = iter(positions), iter(window_shape)
    out = [next(inner) if d in offset_dims else next(rest) for d in range(result_rank)]
    vector_dim = rng.randint(0, len(positions))
    at = np.stack([indices(rng, positions, -2, shape[d] + 1, False) for d in mapped], axis=vector_dim)
    case = Case("STABLEHLO_GATHER", [items(rng, type_name, shape), at.astype(np.int64 if rng.random() < 0.5 else np.int32)], out, type_name)
    options = schema.StablehloGatherOptionsT()
    options.offsetDims, options.collapsedSliceDims, options.startIndexMap = offset_dims, collapsed, mapped
    options.indexVectorDim, options.sliceSizes = vector_dim, sizes
    case.options2 = options
    return case


def segment_sum(rng, type_name):
    """Ids from 0 on, each the one before or 1 more; one in five cases breaks that. No ids at all are possible."""
    count = rng.choice([0, 1, rng.randint(2, 9)])
    rest = shape_of(rng, rng.randint(0, 2), 3)
    at = np.cumsum([0] + [rng.randint(0, 1) for _ in range(count - 1)], dtype=np.int64)[:count].astype(np.int32)
    case = Case("SEGMENT_SUM", [items(rng, type_name, [count] + rest, tame=True), at], [1] + rest, type_name)
    if count > 0 and rng.random() < 0.2:
        at[rng.randrange(count)] += rng.choice([-1, 2])
        case.fails = bool(at[0] != 0 or (np.diff(at) < 0).any() or (np.diff(at) > 1).any())
    case.out_shape[0] = int(at[-1]) + 1 if count and not case.fails else 0
    case.open_result = True
    return case


def unsorted_segment(op):
    def generate(rng, type_name):
        segments = rng.randint(1, 5)
        outer, rest = shape_of(rng, rng.randint(1, 2), 6), shape_of(rng, rng.randint(0, 2), 3)
        at = indices(rng, outer, -1 if rng.random() < 0.5 else 0, segments - 1, False)
        data = items(rng, type_name, outer + rest, tame=True)
        case = Case(op, [data, at, np.array(segments, np.int32)], [segments] + rest, type_name)
        case.constant[2] = rng.random() < 0.5
        case.open_result = not case.constant[2]
        if rng.random() < 0.1:
            at.reshape(-1)[rng.randrange(at.size)] = segments
            case.fails = True
        return case
    return generate


def sparse_to_dense(rng, type_name):
    shape = shape_of(rng, rng.randint(1, 4))
    count = rng.randint(1, 6)
    at = np.stack([indices(rng, [count], 0, extent - 1, False) for extent in shape], axis=-1)
    if len(shape) == 1 and rng.random() < 0.5:
        at = at.reshape(-1)
    values = items(rng, type_name, [count] if rng.random() < 0.7 else [], tame=True)
    case = Case("SPARSE_TO_DENSE", [at, np.array(shape, np.int32), values, items(rng, type_name, [], tame=True)], shape, type_name)
    case.constant[1] = rng.random() < 0.7
    case.constant[3] = rng.random() < 0.5
    case.open_result = not case.constant[1]
    return case


def embedding_lookup(rng, type_name):
    table = shape_of(rng, rng.randint(2, 3), 6)
    at = indices(rng, [rng.randint(1, 6)], 0, table[0] - 1, False)
    case = Case("EMBEDDING_LOOKUP", [at, items(rng, type_name, table)], [at.size] + table[1:], type_name)
    if rng.random() < 0.1:
        at[rng.randrange(at.size)] = rng.choice([-1, table[0]])
        case.fails = True
    return case


GENERATORS = {
    "SEGMENT_SUM": segment_sum, "SPARSE_TO_DENSE": sparse_to_dense, "EMBEDDING_LOOKUP": embedding_lookup,
    **{name: unsorted_segment(name) for name in TYPES if name.startswith("UNSORTED")},
    "DYNAMIC_UPDATE_SLICE": dynamic_update_slice, "GATHER": gather, "GATHER_ND": gather_nd, "SCATTER_ND": scatter_nd,
    "STABLEHLO_SCATTER": stablehlo_scatter, "STABLEHLO_GATHER": stablehlo_gather,
}


# ---- the model's bytes ----


def tensor(name, type_name, shape, buffer=0, open_dims=False, known=None):
    t = schema.TensorT()
    t.name, t.type, t.shape, t.buffer = name, getattr(schema.TensorType, type_name), list(shape), buffer
    if open_dims:
        t.shapeSignature = [extent if d == known else -1 for d, extent in enumerate(t.shape)]
    return t


def operator_code(model, name):
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, name)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.version = 1
    model.operatorCodes.append(code)
    return len(model.operatorCodes) - 1


def operator(opcode, inputs, outputs):
    op = schema.OperatorT()
    op.opcodeIndex, op.inputs, op.outputs = opcode, inputs, outputs
    return op


def region(model, name, type_name):
    """The combiner: tensors current, update, and a result when there is an operator."""
    graph = schema.SubGraphT()
    graph.name = "region"
    graph.tensors = [tensor("current", type_name, []), tensor("update", type_name, [])]
    graph.inputs, graph.outputs, graph.operators = [0, 1], [1], []
    if name:
        graph.tensors.append(tensor("combined", type_name, []))
        graph.outputs = [2]
        graph.operators = [operator(operator_code(model, name), [0, 1], [2])]
    return graph


def model_bytes(case):
    model = schema.ModelT()
    model.version, model.description = 3, "generated"
    model.operatorCodes, model.buffers = [], [schema.BufferT()]
    graph = schema.SubGraphT()
    graph.name, graph.tensors, graph.inputs = "main", [], []
    for i, array in enumerate(case.inputs):
        type_name = type_of(array, case.out_type == "INT4" and array.dtype == np.int8)
        buffer = 0
        if case.constant[i]:
            data = schema.BufferT()
            data.data = np.frombuffer(packed(array, type_name), np.uint8)
            model.buffers.append(data)
            buffer = len(model.buffers) - 1
        else:
            graph.inputs.append(i)
        graph.tensors.append(tensor(f"in{i}", type_name, array.shape, buffer, case.dynamic, case.known if i == 1 else None))
    graph.tensors.append(tensor("out", case.out_type, case.out_shape, open_dims=case.dynamic or case.open_result))
    op = operator(operator_code(model, case.op), list(range(len(case.inputs))), [len(case.inputs)])
    if case.gather:
        op.builtinOptionsType, op.builtinOptions = schema.BuiltinOptions.GatherOptions, schema.GatherOptionsT()
        op.builtinOptions.axis, op.builtinOptions.batchDims = case.gather
    if case.options2:
        kind = type(case.options2).__name__[:-1]
        op.builtinOptions2Type, op.builtinOptions2 = getattr(schema.BuiltinOptions2, kind), case.options2
    graph.operators, graph.outputs = [op], [len(case.inputs)]
    model.subgraphs = [graph]
    if case.op == "STABLEHLO_SCATTER":
        model.subgraphs.append(region(model, case.region, case.out_type))
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


# ---- the two runs ----


def interpreter_of(content):
    """With the reference kernels, or, of operators that have none (SEGMENT_SUM), with the optimized ones."""
    try:
        return Interpreter(model_content=content, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1)
    except ValueError as error:
        if "Didn't find op for builtin opcode" not in str(error):
            raise
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    return Interpreter(model_content=content, experimental_op_resolver_type=kind, num_threads=1)


def litert(content, case):
    """The output's bytes, or None when LiteRT refuses."""
    interpreter = interpreter_of(content)
    details = interpreter.get_input_details()
    given = [a for a, constant in zip(case.inputs, case.constant) if not constant]
    try:
        interpreter.allocate_tensors()
        for detail, array in zip(details, given):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
    except RuntimeError:
        return None
    output = interpreter.get_output_details()[0]
    if 0 in output["shape"]:  # LiteRT 2.3's get_tensor() refuses some tensors without elements
        return np.zeros(output["shape"], output["dtype"])
    return interpreter.get_tensor(output["index"])


class Oracle:
    def __init__(self, strew, folder):
        self.strew, self.folder = strew, folder
        self.failures, self.ran, self.refused, self.per_op = [], 0, 0, {}

    def run(self, number, op, type_name, backend):
        rng = random.Random(number * 1000003 + sum(map(ord, op + type_name)))
        case = GENERATORS[op](rng, type_name)
        what = f"case {number}: {op} {type_name} {[list(a.shape) for a in case.inputs]} on {backend}"
        content = model_bytes(case)
        path = os.path.join(self.folder, f"{number}.tflite")
        with open(path, "wb") as f:
            f.write(content)
        files = []
        for i, (array, constant) in enumerate(zip(case.inputs, case.constant)):
            if constant:
                continue
            files.append(os.path.join(self.folder, f"{number}_{i}.npy"))
            np.save(files[-1], array.view("V2") if array.dtype == BFLOAT16 else array)
        out = os.path.join(self.folder, f"{number}_out.npy")
        expected = litert(content, case)
        result = subprocess.run([self.strew, "run", path, "--backend", backend, "--input", *files, "--output", out],
                                capture_output=True, text=True, timeout=120)
        self.per_op[op] = self.per_op.get(op, 0) + 1
        self.ran += 1
        failure = self.judge(case, expected, result, out)
        if failure:
            self.failures.append(f"{what}: {failure}")

    def judge(self, case, expected, result, out):
        if case.fails:
            self.refused += 1
            if expected is not None:
                return "LiteRT accepts an index outside"
            # Segment ids are checked before the kernel runs, indices within it.
            exits = (1, 2, 3) if "SEGMENT" in case.op else (3,)
            return None if result.returncode in exits else f"exit {result.returncode}, expected one of {exits}: {result.stderr.strip()}"
        if expected is None:
            return f"LiteRT refuses the model (strew: exit {result.returncode} {result.stderr.strip()})"
        if result.returncode != 0:
            return f"exit {result.returncode}: {result.stderr.strip()}"
        got = load(out)
        if list(got.shape) != list(expected.shape):
            return f"shape {got.shape}, expected {expected.shape}"
        return None if got.tobytes() == expected.tobytes() else "the output differs"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=420)
    arguments = parser.parse_args()
    pairs = [(op, type_name) for op, types in TYPES.items() for type_name in types]
    jobs = []
    for i in range(arguments.cases):
        op, type_name = pairs[i % len(pairs)]
        jobs.append((arguments.seed + i, op, type_name, "reference" if i % 3 == 0 else "auto"))
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(arguments.strew, folder)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(lambda job: oracle.run(*job), jobs))
    for failure in oracle.failures[:20]:
        print(failure)
    counts = ", ".join(f"{n} {op}" for op, n in sorted(oracle.per_op.items()))
    print(f"ai_edge_litert: {oracle.ran} models ({counts}), {oracle.refused} with an index outside, {len(oracle.failures)} failed")
    return 1 if oracle.failures else 0


if __name__ == "__main__":
    sys.exit(main())
