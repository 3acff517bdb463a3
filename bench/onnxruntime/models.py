"""The models of onnxruntime_bench.py, as exporters write them and at the sizes of real ones, and the ONNX files of tests/models.

CASES has a function for each, which makes the model and its data: the same in every run.
"""
import json
import pathlib
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MODELS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "models"
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NODES, EDGES, WIDTH = 10_000, 300_000, 64


@dataclass
class Case:
    """`caches`: the inputs that are bound to the memory of an output, and which output that is. `less`: a model whose time is taken off, and `nodes` by how many nodes it is shorter."""

    model: bytes
    feeds: dict
    caches: dict = field(default_factory=dict)
    less: bytes | None = None
    nodes: int = 1


class Graph:
    """A model in the making. Values are names; what is given as an array is a constant."""

    def __init__(self, opset=18):
        self.nodes, self.inputs, self.constants, self.feeds, self.opset = [], [], [], {}, opset
        self.numpy = np.random.default_rng(0)

    def input(self, name, array, dims=None):
        self.feeds[name] = array
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape if dims is None else dims))
        return name

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def floats(self, *dims):
        return self.numpy.standard_normal(dims, dtype=np.float32)

    def node(self, operator, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}"] if outputs == 1 else [f"v{len(self.nodes)}_{n}" for n in range(outputs)]
        given = [each if isinstance(each, str) else self.constant(np.asarray(each)) for each in inputs]
        self.nodes.append(helper.make_node(operator, given, names, name=f"{operator}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def bytes(self, *outputs, dtype=FLOAT):
        graph = helper.make_graph(self.nodes, "graph", self.inputs, [helper.make_tensor_value_info(name, dtype, None) for name in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=13 if self.opset > 23 else 10)
        return onnx.shape_inference.infer_shapes(model).SerializeToString()


def chain(length):
    """Writes of one row, each into what the one before has written."""
    graph = Graph()
    table = graph.node("Neg", graph.input("x", graph.floats(64, 64)))
    index, row = graph.input("i", np.array([[3]])), graph.input("u", graph.floats(1, 64))
    for _ in range(length):
        table = graph.node("ScatterND", table, index, row)
    return graph, graph.bytes(graph.node("Neg", table))


def chained_writes():
    graph, long = chain(65)
    return Case(long, graph.feeds, less=chain(1)[1], nodes=64)


def scatter_elements_add():
    graph = Graph()
    rows = np.repeat(graph.numpy.integers(0, NODES, (EDGES, 1)), WIDTH, axis=1)
    data = (graph.input("data", graph.floats(NODES, WIDTH)), graph.input("indices", rows), graph.input("updates", graph.floats(EDGES, WIDTH)))
    return Case(graph.bytes(graph.node("ScatterElements", *data, axis=0, reduction="add")), graph.feeds)


def scatter_nd_add():
    graph = Graph()
    rows = graph.numpy.integers(0, NODES, (EDGES, 1))
    data = (graph.input("data", graph.floats(NODES, WIDTH)), graph.input("indices", rows), graph.input("updates", graph.floats(EDGES, WIDTH)))
    return Case(graph.bytes(graph.node("ScatterND", *data, reduction="add")), graph.feeds)


def graph_network(with_vectors=False, is_open=False):
    """Two layers: sums of the neighbours' rows. `with_vectors`: by ScatterND, else as torch.onnx writes scatter_add. `is_open`: extents are those of the call."""
    graph = Graph()
    ends = {name: graph.input(name, graph.numpy.integers(0, NODES, EDGES), ["edges"] if is_open else None) for name in ("source", "target")}
    x = graph.input("x", graph.floats(NODES, WIDTH), ["nodes", WIDTH] if is_open else None)
    column = graph.node("Unsqueeze", ends["target"], np.array([1]))
    for _ in range(2):
        hidden = graph.node("MatMul", x, graph.floats(WIDTH, WIDTH) * np.float32(0.1))
        messages = graph.node("Gather", hidden, ends["source"], axis=0)
        shape = graph.node("Shape", hidden) if is_open else np.array([NODES, WIDTH])
        zeros = graph.node("ConstantOfShape", shape, value=helper.make_tensor("zero", FLOAT, [1], [0.0]))
        if with_vectors:
            sums = graph.node("ScatterND", zeros, column, messages, reduction="add")
        else:
            wide = graph.node("Expand", column, graph.node("Shape", messages) if is_open else np.array([EDGES, WIDTH]))
            sums = graph.node("ScatterElements", zeros, wide, messages, axis=0, reduction="add")
        x = graph.node("Relu", sums)
    return Case(graph.bytes(x), graph.feeds)


def token(heads=8, length=1024, width=128, batch=8):
    """One token of each sequence into one cache that is bound as input and output."""
    graph = Graph(24)
    cache = graph.input("cache", graph.floats(batch, heads, length, width))
    update = graph.input("update", graph.floats(batch, heads, 1, width))
    starts = graph.input("starts", graph.numpy.integers(0, length, batch))
    made = graph.node("TensorScatter", cache, update, starts, axis=2)
    return Case(graph.bytes(made), graph.feeds, {"cache": made})


def decoder(layers=32, batch=4, heads=4, length=256, width=64):
    """A token of each sequence through the layers, each with a cache of keys and one of values, which are bound as inputs and outputs."""
    graph, hidden = Graph(24), heads * width
    x, starts, caches = graph.input("x", graph.floats(batch, hidden)), graph.input("starts", graph.numpy.integers(0, length, batch)), {}

    def weights():
        return graph.floats(hidden, hidden) * np.float32(hidden**-0.5)

    def head_rows(rows):
        return graph.node("Reshape", rows, np.array([batch, heads, 1, width]))
    for layer in range(layers):
        query = head_rows(graph.node("MatMul", x, weights()))
        filled = []
        for kind in ("keys", "values"):
            name = graph.input(f"{kind}{layer}", graph.floats(batch, heads, length, width))
            filled.append(graph.node("TensorScatter", name, head_rows(graph.node("MatMul", x, weights())), starts, axis=2))
            caches[name] = filled[-1]
        scores = graph.node("Softmax", graph.node("MatMul", query, graph.node("Transpose", filled[0], perm=[0, 1, 3, 2])), axis=-1)
        rows = graph.node("Reshape", graph.node("MatMul", scores, filled[1]), np.array([batch, hidden]))
        x = graph.node("LayerNormalization", graph.node("Add", x, graph.node("MatMul", rows, weights())), np.ones(hidden, np.float32), axis=-1)
    return Case(graph.bytes(x, *caches.values()), graph.feeds, caches)


def recommender(tables=8, rows=100_000, batch=2048, in_a_bag=4):
    """DLRM: rows of tables summed over bags, products of all pairs, layers. torch.onnx writes bags of one size so."""
    graph = Graph()
    numbers = graph.input("numbers", graph.floats(batch, 13))
    dense = graph.node("Relu", graph.node("MatMul", numbers, graph.floats(13, WIDTH)))
    vectors = [graph.node("Unsqueeze", dense, np.array([1]))]
    for table in range(tables):
        chosen = graph.input(f"rows{table}", graph.numpy.integers(0, rows, (batch, in_a_bag)))
        found = graph.node("Gather", graph.floats(rows, WIDTH), chosen, axis=0)
        vectors.append(graph.node("ReduceSum", found, np.array([1]), keepdims=1))
    all_vectors = graph.node("Concat", *vectors, axis=1)
    products = graph.node("MatMul", all_vectors, graph.node("Transpose", all_vectors, perm=[0, 2, 1]))
    flat = graph.node("Reshape", products, np.array([batch, (tables + 1) ** 2]))
    first, second = np.triu_indices(tables + 1, 1)
    pairs = graph.node("Gather", flat, first * (tables + 1) + second, axis=1)
    joined = graph.node("Concat", dense, pairs, axis=1)
    click = graph.node("MatMul", graph.node("Relu", graph.node("MatMul", joined, graph.floats(WIDTH + len(first), 64))), graph.floats(64, 1))
    return Case(graph.bytes(graph.node("Sigmoid", click)), graph.feeds)


def pillars(count=12_000, height=496, width=432):
    """PointPillars: features of the pillars onto the canvas, whose channels come first afterwards."""
    graph = Graph()
    features = graph.input("features", graph.floats(count, WIDTH))
    places = graph.input("places", graph.numpy.permutation(height * width)[:count, None])
    canvas = graph.node("ConstantOfShape", np.array([height * width, WIDTH]), value=helper.make_tensor("zero", FLOAT, [1], [0.0]))
    filled = graph.node("ScatterND", canvas, places, features)
    return Case(graph.bytes(graph.node("Reshape", graph.node("Transpose", filled, perm=[1, 0]), np.array([1, WIDTH, height, width]))), graph.feeds)


def gather(count=200_000):
    graph = Graph()
    table, rows = graph.input("table", graph.floats(100_000, WIDTH)), graph.input("rows", graph.numpy.integers(0, 100_000, count))
    return Case(graph.bytes(graph.node("Gather", table, rows, axis=0)), graph.feeds)


def gather_nd(count=200_000):
    graph = Graph()
    table, rows = graph.input("table", graph.floats(100_000, WIDTH)), graph.input("rows", graph.numpy.integers(0, 100_000, (count, 1)))
    return Case(graph.bytes(graph.node("GatherND", table, rows)), graph.feeds)


def gather_elements():
    graph = Graph()
    table, rows = graph.input("table", graph.floats(1000, 4096)), graph.input("rows", graph.numpy.integers(0, 1000, (1000, 4096)))
    return Case(graph.bytes(graph.node("GatherElements", table, rows, axis=0)), graph.feeds)


def small_gather():
    """A node that strew leaves to ONNX Runtime."""
    graph = Graph()
    table, rows = graph.input("table", graph.floats(64, 16)), graph.input("rows", np.array([1, 2, 3, 1, 0, 7, 6, 1]))
    return Case(graph.bytes(graph.node("Gather", table, rows, axis=0)), graph.feeds)


def stored(name):
    """A file of tests/models, small as it is."""
    folder = MODELS / name
    model = onnx.load(folder / "model.onnx")
    model.ir_version = min(model.ir_version, 13)
    arrays = np.load(folder / "tensors.npz", allow_pickle=False)
    feeds = {each["name"]: arrays[each["array"]] for each in json.loads((folder / "case.json").read_text())["inputs"] if each.get("array") in arrays}
    return Case(model.SerializeToString(), feeds)


def many_kernels(count=64):
    """As many kernels as nodes, for the time that a session takes to be made."""
    graph = Graph()
    index, results = graph.input("i", np.array([[3], [5]])), []
    for number in range(count):
        results.append(graph.node("ScatterND", graph.node("Neg", graph.input(f"x{number}", graph.floats(16, 16 + number))), index, graph.floats(2, 16 + number), reduction="add"))
    return Case(graph.bytes(*results), graph.feeds)


STORED = ("torch_dynamo/gnn_layer", "torch_dynamo/gnn_layer_scatter", "torch_dynamo/dlrm", "torch_dynamo/decoder_static", "torch_dynamo/opset_24", "torch_dynamo/pointpillars_scatter",
          "torch_dynamo/moe_layer")
CASES = {
    "a write of one row, of 64 in a chain": chained_writes,
    "ScatterElements add, [10k, 64] <- [300k, 64]": scatter_elements_add,
    "ScatterND add, [10k, 64] <- 300k rows": scatter_nd_add,
    "GNN, 2 layers, as torch.onnx writes it": graph_network,
    "GNN, 2 layers, open extents": lambda: graph_network(is_open=True),
    "GNN, 2 layers, with ScatterND": lambda: graph_network(with_vectors=True),
    "TensorScatter, a token of 8 sequences, bound cache": token,
    "decoder step, 32 layers, 64 bound caches": decoder,
    "DLRM, 8 tables of 100k rows, batch 2048": recommender,
    "PointPillars, 12k pillars onto 496 x 432": pillars,
    "Gather, 200k rows of [100k, 64]": gather,
    "GatherND, 200k rows of [100k, 64]": gather_nd,
    "GatherElements, [1000, 4096]": gather_elements,
    "Gather, 8 rows of 64 B (stays)": small_gather,
    **{f"tests/models/{name}": (lambda name=name: stored(name)) for name in STORED},
}
