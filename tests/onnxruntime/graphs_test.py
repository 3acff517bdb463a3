#!/usr/bin/env python3
"""Drawn graphs of indexed operators with movement, conversions and arithmetic around them: ONNX Runtime with strew's provider gives the bits that it gives alone on one thread, in the first
run and in later ones, on one thread and on two. Values that two nodes read, inputs that are outputs, and initialisers keep what they hold.

    graphs_test.py [--seed N] [--graphs N] [--only N] [--save FILE]

Exit status 0: right, 1: wrong.
"""
import argparse
import random
import re
import sys

from providers import Failures, TensorProto, differs, helper, make_model, np, onnx, runs, session, value

FLOATS, INTEGERS = ("FLOAT", "DOUBLE", "FLOAT16"), ("INT32", "INT64", "UINT8", "INT8")
NUMPY = {"FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16, "INT32": np.int32, "INT64": np.int64, "UINT8": np.uint8, "INT8": np.int8, "BOOL": np.bool_}


class Drawn:
    """A graph under construction: its values by name, with their types and dims."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(abs(hash(seed)) % 2**32 if isinstance(seed, int) else [ord(c) for c in seed])
        self.nodes, self.inputs, self.initializers, self.feeds, self.types = [], [], [], {}, {}
        self.is_open = self.random.random() < 0.3
        self.opset = self.random.choice((18, 18, 21, 24))

    def array(self, dtype, dims, least=None, most=None):
        if least is not None:
            return np.asarray(self.numpy.integers(least, max(most, least + 1), dims)).astype(NUMPY[dtype])
        if dtype == "BOOL":
            return np.asarray(self.numpy.integers(0, 2, dims)).astype(np.bool_)
        if dtype in FLOATS:
            return np.asarray(self.numpy.standard_normal(dims) + 3).astype(NUMPY[dtype])  # sums and products are neither NaNs nor zeros
        return np.asarray(self.numpy.integers(1, 7, dims)).astype(NUMPY[dtype])

    def add_value(self, array, dtype):
        """A new input of the graph, or an initialiser, with these elements."""
        name = f"v{len(self.types)}"
        self.types[name] = (dtype, array.shape)
        if self.random.random() < 0.3:
            self.initializers.append(onnx.numpy_helper.from_array(array, name))
        else:
            self.feeds[name] = array
            dims = [f"{name}_{d}" if self.is_open and self.random.random() < 0.7 else n for d, n in enumerate(array.shape)]
            self.inputs.append(value(name, getattr(TensorProto, dtype), dims))
        return name

    def tensor(self, dtype=None, rank=None):
        """A value of the graph, of this type and at least this rank if these are given, or a new one."""
        fitting = [n for n, (d, s) in self.types.items() if (dtype is None or d == dtype) and len(s) >= (rank or 1) and d != "BOOL" and 0 not in s]
        if fitting and self.random.random() < 0.75:
            return self.random.choice(fitting[-6:])
        dims = [self.random.choice((1, 2, 3, 5)) for _ in range(max(rank or 0, self.random.randint(1, 3)))]
        dtype = dtype or self.random.choice(FLOATS + INTEGERS + ("FLOAT",) * 4)
        return self.add_value(self.array(dtype, dims), dtype)

    def fresh(self, dtype, dims):
        return self.add_value(self.array(dtype, dims), dtype)

    def index(self, dims, extent, dtype=None):
        dtype = dtype or self.random.choice(("INT64", "INT32"))
        return self.add_value(self.array(dtype, dims, -extent, extent), dtype)

    def node(self, operator, inputs, dtype, dims, **attributes):
        name = f"v{len(self.types)}"
        self.types[name] = (dtype, tuple(dims))
        self.nodes.append(helper.make_node(operator, inputs, [name], name=f"{operator}_{len(self.nodes)}", **attributes))
        return name

    def reduction(self, dtype):
        return self.random.choice(("none", "add", "mul", "add") if dtype != "FLOAT16" else ("none",))

    def add_node(self):
        getattr(self, self.random.choice(KINDS))()

    def gather(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        axis = self.random.randrange(len(shape))
        dims = [self.random.choice((1, 2, 3)) for _ in range(self.random.randint(0, 2))]
        self.node("Gather", [data, self.index(dims, shape[axis])], dtype, (*shape[:axis], *dims, *shape[axis + 1:]), axis=self.random.choice((axis, axis - len(shape))))

    def gather_elements(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        axis = self.random.randrange(len(shape))
        dims = [self.random.randint(1, 4) if d == axis else self.random.randint(1, n) for d, n in enumerate(shape)]
        self.node("GatherElements", [data, self.index(dims, shape[axis])], dtype, dims, axis=axis)

    def vectors(self, shape, batch=0):
        """Index vectors into dims of a tensor, all in bounds, and what each selects."""
        count = self.random.randint(1, len(shape) - batch)
        positions = [self.random.choice((1, 2, 4)) for _ in range(self.random.randint(0, 2))]
        columns = [self.numpy.integers(-shape[batch + c], shape[batch + c], (*shape[:batch], *positions)) for c in range(count)]
        return self.add_value(np.stack(columns, axis=-1).astype(np.int64), "INT64"), (*shape[:batch], *positions, *shape[batch + count:])

    def gather_nd(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        batch = self.random.randrange(len(shape)) if self.random.random() < 0.3 else 0
        indices, dims = self.vectors(shape, batch)
        self.node("GatherND", [data, indices], dtype, dims, batch_dims=batch)

    def scatter_nd(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        indices, dims = self.vectors(shape)
        self.node("ScatterND", [data, indices, self.fresh(dtype, dims)], dtype, shape, reduction=self.reduction(dtype))

    def scatter_elements(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        axis = self.random.randrange(len(shape))
        dims = [self.random.randint(1, 4) if d == axis else self.random.randint(1, n) for d, n in enumerate(shape)]
        self.node("ScatterElements", [data, self.index(dims, shape[axis]), self.fresh(dtype, dims)], dtype, shape, axis=axis, reduction=self.reduction(dtype))

    def rows(self):
        """What exporters write of a sum by index: rows that are looked up, an index that is expanded, and a scatter into zeros."""
        data = self.tensor(rank=2)
        dtype, shape = self.types[data]
        if len(shape) != 2 or dtype in ("FLOAT16", "UINT8", "INT8"):
            return
        edges, rows = self.random.choice((1, 4, 9)), self.random.choice((2, 5))
        gathered = self.node("Gather", [data, self.index((edges,), shape[0], "INT64")], dtype, (edges, shape[1]), axis=0)
        if self.random.random() < 0.5:
            gathered = self.node("Mul", [gathered, self.fresh(dtype, (edges, 1))], dtype, (edges, shape[1]))
        places = self.index((edges,), rows, "INT64")
        column = self.node("Unsqueeze", [places, self.constant([1])], "INT64", (edges, 1))
        shape_of = self.node("Shape", [gathered], "INT64", (2,))
        wide = self.node("Expand", [column, shape_of], "INT64", (edges, shape[1]))
        zeros = self.node("ConstantOfShape", [self.constant([rows, shape[1]])], dtype, (rows, shape[1]), value=onnx.numpy_helper.from_array(np.zeros(1, NUMPY[dtype])))
        self.node("ScatterElements", [zeros, wide, gathered], dtype, (rows, shape[1]), axis=0, reduction="add")

    def constant(self, elements):
        name = f"c{len(self.initializers)}_{len(self.types)}"
        self.initializers.append(onnx.numpy_helper.from_array(np.array(elements, np.int64), name))
        return name

    def tensor_scatter(self):
        if self.opset < 24:
            return
        cache = self.tensor(dtype=self.random.choice(("FLOAT", "FLOAT16")), rank=2)
        dtype, shape = self.types[cache]
        axis = self.random.randrange(1, len(shape))
        length = self.random.randint(1, shape[axis])
        dims = [length if d == axis else n for d, n in enumerate(shape)]
        starts = self.add_value(self.array("INT64", (shape[0],), 0, shape[axis] - length + 1), "INT64")
        self.node("TensorScatter", [cache, self.fresh(dtype, dims), starts], dtype, shape, axis=axis, mode=self.random.choice(("linear", "circular")))

    def reshape(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        dims = (int(np.prod(shape)),) if self.random.random() < 0.5 else (1, *shape)
        if len(dims) < 5:
            self.node("Reshape", [data, self.constant(dims)], dtype, dims)

    def transpose(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        order = self.random.sample(range(len(shape)), len(shape))
        self.node("Transpose", [data], dtype, [shape[d] for d in order], perm=order)

    def cast(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        to = self.random.choice(("FLOAT", "DOUBLE") if dtype in FLOATS else ("INT32", "INT64", "FLOAT"))
        self.node("Cast", [data], to, shape, to=getattr(TensorProto, to))

    def arithmetic(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        if dtype in ("UINT8", "INT8", "FLOAT16"):
            return
        other = self.random.choice([n for n, t in self.types.items() if t == (dtype, shape)] + [self.fresh(dtype, shape)])
        self.node(self.random.choice(("Add", "Mul", "Sub")), [data, other], dtype, shape)

    def where(self):
        data = self.tensor()
        dtype, shape = self.types[data]
        if dtype in ("INT8", "FLOAT16"):
            return
        mask = self.fresh("BOOL", shape)
        self.node("Where", [mask, data, self.fresh(dtype, shape)], dtype, shape)

    def finish(self):
        read = {name for node in self.nodes for name in node.input}
        results = [node.output[0] for node in self.nodes]
        wanted = [name for name in results if name not in read or self.random.random() < 0.15]
        outputs = [value(name, getattr(TensorProto, self.types[name][0]), None) for name in wanted]
        for graph_input in self.inputs:
            if self.random.random() < 0.05:  # an input that is an output
                outputs.append(graph_input)
        return make_model(self.nodes, self.inputs, outputs, self.opset, self.initializers)


KINDS = ("gather", "gather", "gather_elements", "gather_nd", "scatter_nd", "scatter_nd", "scatter_elements", "scatter_elements", "rows", "tensor_scatter", "reshape", "transpose", "cast",
         "arithmetic", "where")


def draw(seed):
    drawn = Drawn(seed)
    for _ in range(drawn.random.choice((2, 3, 5, 8, 13, 30))):
        drawn.add_node()
    return drawn, (drawn.finish() if drawn.nodes else None)


def check(number, seed, failures, counts, save):
    drawn, model = draw(f"{seed} {number}")
    if model is None:
        return
    if save:
        onnx.save(model, save)
    where = f"graph {number} (--seed {seed} --only {number})"
    before = {name: array.copy() for name, array in drawn.feeds.items()}
    try:
        expected = session(model, with_strew=False).run(None, drawn.feeds)
    except Exception as error:  # noqa: BLE001  what ONNX Runtime does not run is no case
        counts["refused"] = counts.get("refused", 0) + 1
        counts.setdefault("why", str(error)[:200])
        counts.setdefault("lacking", set()).update(re.findall(r"implementation for (\w+)\(", str(error)))
        return
    counts["graphs"] = counts.get("graphs", 0) + 1
    threads = drawn.random.choice((1, 2))
    try:
        ours = session(model, threads=threads, optimise=drawn.random.random() < 0.8, verify=1 if drawn.random.random() < 0.2 else 0)
        for run in range(3):
            got = ours.run(None, drawn.feeds)
            if difference := differs(got, expected):
                failures.append(f"{where}, run {run}: {difference}")
                return
    except Exception as error:  # noqa: BLE001
        failures.append(f"{where}: {str(error)[:400]}")
        return
    for (_, operator), who in runs(ours).items():
        counts[operator, who] = counts.get((operator, who), 0) + 1
    for name, array in before.items():
        if array.tobytes() != drawn.feeds[name].tobytes():
            failures.append(f"{where}: input {name} was written")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--graphs", type=int, default=2000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--save")
    arguments = parser.parse_args()
    failures, counts = Failures(), {}
    for number in range(arguments.graphs) if arguments.only is None else (arguments.only,):
        check(number, arguments.seed, failures, counts, arguments.save)
    print(f"seed {arguments.seed}:", counts)
    if arguments.only is None:
        failures.check(counts.get("graphs", 0) >= arguments.graphs * 0.9, f"of {arguments.graphs} graphs ONNX Runtime runs {counts.get('graphs', 0)}")
        for operator in ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "TensorScatter", "Expand"):
            failures.check(counts.get((operator, "strew"), 0) > 0 or arguments.graphs < 500 or operator in counts.get("lacking", ()), f"strew ran no {operator}")
    return failures.report(counts.get("graphs", 0))


if __name__ == "__main__":
    sys.exit(main())
