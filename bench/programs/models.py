"""The models of bench_programs: each as exporters write it (ONNX as torch.onnx does, StableHLO as jax.jit does), its inputs, what it computes in NumPy, and
the function that it was written as, in PyTorch and in JAX.

A model is a function that returns a Model. Sums of floats are in another order than NumPy's in some peers, so results are compared with a tolerance; elements that are only moved
must be equal, which such results are within any tolerance.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Model:
    file: str  # its ending: ".onnx", ".mlir"
    inputs: dict  # name: array, in the order of the file
    outputs: list  # names
    write: object  # write() returns the bytes of the file
    expected: object  # expected(inputs) returns the results, by NumPy
    torch: object = None  # torch(th, inputs...) returns the results
    jax: object = None  # jax(jnp, inputs...)
    kernel: object = None  # kernel(inputs) returns the text of the op of the kernel in it, the arrays that it reads by name, and its result


@dataclass
class Graph:
    """An ONNX graph in the making."""
    nodes: list = field(default_factory=list)
    constants: list = field(default_factory=list)

    def node(self, op, inputs, **attributes):
        from onnx import helper
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def constant(self, array):
        from onnx import numpy_helper
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def expand(self, value, dims):
        return self.node("Expand", [value, self.constant(np.array(dims, np.int64))])

    def unsqueeze(self, value, *axes):
        return self.node("Unsqueeze", [value, self.constant(np.array(axes, np.int64))])

    def bytes(self, inputs, outputs, arrays):
        """`outputs`: the values that they are. `arrays`: what they are like, for their types."""
        from onnx import helper
        named = [f"out{n}" for n in range(len(outputs))]
        for value, name in zip(outputs, named):
            self.nodes.append(helper.make_node("Identity", [value], [name]))

        def port(name, array):
            return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        graph = helper.make_graph(self.nodes, "main", [port(*pair) for pair in inputs.items()], [port(*pair) for pair in zip(named, arrays)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return model.SerializeToString()


def onnx_model(inputs, build, expected, **functions):
    """`build(graph)` returns the values that are outputs."""
    count = len(expected(inputs))

    def write():
        graph = Graph()
        return graph.bytes(inputs, build(graph), expected(inputs))
    return Model(".onnx", inputs, [f"out{n}" for n in range(count)], write, expected, **functions)


def normal(random, *dims):
    return random.normal(size=dims).astype(np.float32)


def kv_transpose(random):
    """kc[b, :, pos] = k, a position per sample."""
    B, H, T, D = 4, 8, 256, 64
    inputs = {"kc": normal(random, B, H, T, D), "k": normal(random, B, H, D), "pos": random.integers(0, T, B)}

    def build(g):
        moved = g.node("Transpose", ["kc"], perm=[0, 2, 1, 3])
        batch = g.unsqueeze(g.constant(np.arange(B)), 1)
        at = g.node("Concat", [batch, g.unsqueeze("pos", 1)], axis=-1)
        return [g.node("Transpose", [g.node("ScatterND", [moved, at, "k"])], perm=[0, 2, 1, 3])]

    def expected(i):
        kc = i["kc"].copy()
        kc[np.arange(B), :, i["pos"]] = i["k"]
        return [kc]

    def torch(th, kc, k, pos):
        kc = kc.clone()
        kc[th.arange(B), :, pos] = k
        return [kc]
    return onnx_model(inputs, build, expected, torch=torch, jax=lambda jnp, kc, k, pos: [kc.at[jnp.arange(B), :, pos].set(k)])


def kv_index_copy(random):
    """kc.index_copy(2, pos, k), as a cache of fixed length of HuggingFace does: one position for all samples."""
    B, H, T, D = 4, 8, 256, 64
    inputs = {"kc": normal(random, B, H, T, D), "k": normal(random, B, H, 1, D), "pos": np.array([7])}

    def build(g):
        perm = [2, 1, 0, 3]
        moved, updates = (g.node("Transpose", [name], perm=perm) for name in ("kc", "k"))
        return [g.node("Transpose", [g.node("ScatterND", [moved, g.unsqueeze("pos", 1), updates])], perm=perm)]

    def expected(i):
        kc = i["kc"].copy()
        kc[:, :, i["pos"]] = i["k"]
        return [kc]
    return onnx_model(inputs, build, expected, torch=lambda th, kc, k, pos: [kc.index_copy(2, pos, k)],
                      jax=lambda jnp, kc, k, pos: [kc.at[:, :, pos].set(k)])


def scatter_add(random):
    """out.scatter_add(0, index[:, None].expand(-1, F), source)."""
    rows, n, F = 500, 3000, 64
    inputs = {"out": np.zeros((rows, F), np.float32), "source": normal(random, n, F), "index": random.integers(0, rows, n)}

    def build(g):
        return [g.node("ScatterElements", ["out", g.expand(g.unsqueeze("index", 1), [n, F]), "source"], axis=0, reduction="add")]

    def expected(i):
        out = i["out"].copy()
        np.add.at(out, i["index"], i["source"])
        return [out]
    return onnx_model(inputs, build, expected, torch=lambda th, out, source, index: [out.scatter_add(0, index[:, None].expand(-1, F), source)],
                      jax=lambda jnp, out, source, index: [out.at[index].add(source)])


def gather_rows(random):
    """torch.gather(x, 0, index[:, None].expand(-1, F))."""
    rows, n, F = 500, 3000, 64
    inputs = {"x": normal(random, rows, F), "index": random.integers(0, rows, n)}

    def build(g):
        return [g.node("GatherElements", ["x", g.expand(g.unsqueeze("index", 1), [n, F])], axis=0)]
    return onnx_model(inputs, build, lambda i: [i["x"][i["index"]]], torch=lambda th, x, index: [th.gather(x, 0, index[:, None].expand(-1, F))],
                      jax=lambda jnp, x, index: [x[index]])


def gnn(random):
    """A layer that adds messages, and one that takes their maxima: index_add and scatter_reduce."""
    nodes, edges, F = 500, 3000, 64
    inputs = {"x": normal(random, nodes, F), "edge_index": random.integers(0, nodes, (2, edges)), "edge_weight": random.random(edges).astype(np.float32)}

    def build(g):
        source, to = (g.node("Gather", ["edge_index", g.constant(np.int64(n))], axis=0) for n in (0, 1))
        messages = g.node("Mul", [g.node("Gather", ["x", source], axis=0), g.unsqueeze("edge_weight", 1)])
        zeros = g.expand(g.constant(np.float32(0)), [nodes, F])
        hidden = g.node("Relu", [g.node("ScatterND", [zeros, g.unsqueeze(to, 1), messages], reduction="add")])
        lowest = g.expand(g.constant(np.float32(-np.inf)), [nodes, F])
        at = g.expand(g.unsqueeze(to, 1), [edges, F])
        most = g.node("ScatterElements", [lowest, at, g.node("Gather", [hidden, source], axis=0)], axis=0, reduction="max")
        return [g.node("Where", [g.node("Equal", [most, g.constant(np.float32(-np.inf))]), g.constant(np.float32(0)), most])]

    def expected(i):
        (source, to), hidden = i["edge_index"], np.zeros_like(i["x"])
        np.add.at(hidden, to, i["x"][source] * i["edge_weight"][:, None])
        hidden, most = np.maximum(hidden, 0), np.full_like(i["x"], -np.inf)
        np.maximum.at(most, to, hidden[source])
        return [np.where(most == -np.inf, np.float32(0), most)]

    def torch(th, x, edge_index, weight):
        source, to = edge_index[0], edge_index[1]
        hidden = th.relu(th.zeros_like(x).index_add(0, to, x[source] * weight[:, None]))
        most = th.full_like(x, float("-inf")).scatter_reduce(0, to[:, None].expand(-1, F), hidden[source], "amax", include_self=True)
        return [th.where(most == float("-inf"), th.zeros_like(most), most)]

    def jax(jnp, x, edge_index, weight):
        source, to = edge_index[0], edge_index[1]
        hidden = jnp.maximum(jnp.zeros_like(x).at[to].add(x[source] * weight[:, None]), 0)
        most = jnp.full_like(x, -jnp.inf).at[to].max(hidden[source])
        return [jnp.where(most == -jnp.inf, 0, most)]
    return onnx_model(inputs, build, expected, torch=torch, jax=jax)


def decoder_step(random):
    """What a step of a decoder does around its matrix products: the token's embedding, an append to the keys and values of four layers, and the mask."""
    layers, B, T, H, D = 4, 4, 256, 8, 64
    inputs = {"table": normal(random, 1000, H * D), "token": random.integers(0, 1000, B), "pos": random.integers(0, T, B)}
    for n in range(2 * layers):
        inputs[f"cache{n}"] = normal(random, B, T, H, D)
        inputs[f"new{n}"] = normal(random, B, H, D)

    def build(g):
        at = g.node("Concat", [g.unsqueeze(g.constant(np.arange(B)), 1), g.unsqueeze("pos", 1)], axis=-1)
        caches = [g.node("ScatterND", [f"cache{n}", at, f"new{n}"]) for n in range(2 * layers)]
        mask = g.node("LessOrEqual", [g.unsqueeze(g.constant(np.arange(T)), 0), g.unsqueeze("pos", 1)])
        added = g.node("Where", [mask, g.constant(np.float32(0)), g.constant(np.float32(-1e9))])
        return [g.node("Gather", ["table", "token"], axis=0), added, *caches]

    def expected(i):
        out = [i["table"][i["token"]], np.where(np.arange(T)[None] <= i["pos"][:, None], np.float32(0), np.float32(-1e9))]
        for n in range(2 * layers):
            cache = i[f"cache{n}"].copy()
            cache[np.arange(B), i["pos"]] = i[f"new{n}"]
            out.append(cache)
        return out

    def torch(th, table, token, pos, *caches):
        batch = th.arange(B)
        mask = th.arange(T)[None] <= pos[:, None]
        appended = [cache.index_put((batch, pos), new) for cache, new in zip(caches[::2], caches[1::2])]
        return [th.nn.functional.embedding(token, table), th.where(mask, 0.0, -1e9), *appended]

    def jax(jnp, table, token, pos, *caches):
        batch = jnp.arange(B)
        appended = [cache.at[batch, pos].set(new) for cache, new in zip(caches[::2], caches[1::2])]
        return [table[token], jnp.where(jnp.arange(T)[None] <= pos[:, None], jnp.float32(0), jnp.float32(-1e9)), *appended]
    return onnx_model(inputs, build, expected, torch=torch, jax=jax)


def mean_of_neighbours(random):
    """A layer of GraphSAGE: sums of the neighbours' rows over how many there are."""
    nodes, edges, F = 2000, 20000, 64
    inputs = {"x": normal(random, nodes, F), "source": random.integers(0, nodes, edges), "to": random.integers(0, nodes, edges)}

    def build(g):
        at = g.unsqueeze("to", 1)
        sums = g.node("ScatterND", [g.expand(g.constant(np.float32(0)), [nodes, F]), at, g.node("Gather", ["x", "source"], axis=0)], reduction="add")
        ones, zeros = g.expand(g.constant(np.float32(1)), [edges]), g.expand(g.constant(np.float32(0)), [nodes])
        counts = g.node("Max", [g.node("ScatterND", [zeros, at, ones], reduction="add"), g.constant(np.float32(1))])
        return [g.node("Div", [sums, g.unsqueeze(counts, 1)])]

    def expected(i):
        sums = np.zeros_like(i["x"])
        np.add.at(sums, i["to"], i["x"][i["source"]])
        return [sums / np.maximum(np.bincount(i["to"], minlength=nodes), 1).astype(np.float32)[:, None]]

    def torch(th, x, source, to):
        counts = th.zeros(nodes).index_add(0, to, th.ones(edges)).clamp(min=1)
        return [th.zeros_like(x).index_add(0, to, x[source]) / counts[:, None]]

    def jax(jnp, x, source, to):
        counts = jnp.maximum(jnp.zeros(nodes).at[to].add(1.0), 1)
        return [jnp.zeros_like(x).at[to].add(x[source]) / counts[:, None]]
    return onnx_model(inputs, build, expected, torch=torch, jax=jax)


def bags(random):
    """1,024 bags of 32 rows of an embedding table: gather, reshape, sum."""
    rows, count, each, F = 50000, 1024, 32, 64
    inputs = {"table": normal(random, rows, F), "index": random.integers(0, rows, count * each)}

    def build(g):
        split = g.node("Reshape", [g.node("Gather", ["table", "index"], axis=0), g.constant(np.array([count, each, F], np.int64))])
        return [g.node("ReduceSum", [split, g.constant(np.array([1], np.int64))], keepdims=0)]
    return onnx_model(inputs, build, lambda i: [i["table"][i["index"]].reshape(count, each, F).sum(1)],
                      torch=lambda th, table, index: [table[index].reshape(count, each, F).sum(1)],
                      jax=lambda jnp, table, index: [table[index].reshape(count, each, F).sum(1)])


def gnn_step(random):
    """Messages along 300k edges of 10k nodes, times a weight, added up: rows of 64 f32."""
    nodes, edges, F = 10000, 300000, 64
    inputs = {"x": normal(random, nodes, F), "source": random.integers(0, nodes, edges), "to": random.integers(0, nodes, edges),
              "weight": random.random(edges).astype(np.float32)}

    def build(g):
        messages = g.node("Mul", [g.node("Gather", ["x", "source"], axis=0), g.unsqueeze("weight", 1)])
        return [g.node("ScatterND", [g.expand(g.constant(np.float32(0)), [nodes, F]), g.unsqueeze("to", 1), messages], reduction="add")]

    def expected(i):
        sums = np.zeros_like(i["x"])
        np.add.at(sums, i["to"], i["x"][i["source"]] * i["weight"][:, None])
        return [sums]
    return onnx_model(inputs, build, expected, torch=lambda th, x, source, to, w: [th.zeros_like(x).index_add(0, to, x[source] * w[:, None])],
                      jax=lambda jnp, x, source, to, w: [jnp.zeros_like(x).at[to].add(x[source] * w[:, None])])


def chain(random):
    """Twelve operations around one kernel: transposes, expands, adds, a cast and a where."""
    rows, n, F = 2000, 4000, 64
    inputs = {"table": normal(random, F, rows), "x": normal(random, F, n), "index": random.integers(-rows, rows, n).astype(np.int32), "bias": normal(random, F),
              "weight": normal(random, n)}

    def build(g):
        updates = g.node("Add", [g.node("Transpose", ["x"], perm=[1, 0]), "bias"])  # 1, 2
        updates = g.node("Mul", [updates, g.expand(g.unsqueeze("weight", 1), [n, F])])  # 3, 4
        wide = g.node("Cast", ["index"], to=7)  # 5
        at = g.node("Where", [g.node("Less", [wide, g.constant(np.int64(0))]), g.node("Add", [wide, g.constant(np.int64(rows))]), wide])  # 6, 7, 8
        sums = g.node("ScatterND", [g.node("Transpose", ["table"], perm=[1, 0]), g.unsqueeze(at, 1), updates], reduction="add")  # 9
        shifted = g.node("Relu", [g.node("Add", [sums, "bias"])])  # 10, 11
        return [g.node("Transpose", [shifted], perm=[1, 0])]  # 12

    def messages(i):
        return (i["x"].T + i["bias"]) * i["weight"][:, None]

    def expected(i):
        sums = np.ascontiguousarray(i["table"].T)
        np.add.at(sums, i["index"].astype(np.int64), messages(i))
        return [np.maximum(sums + i["bias"], 0).T]

    def torch(th, table, x, index, bias, weight):
        at = th.where(index < 0, index.long() + rows, index.long())
        sums = table.T.index_add(0, at, (x.T + bias) * weight[:, None])
        return [th.relu(sums + bias).T.contiguous()]

    def jax(jnp, table, x, index, bias, weight):
        at = jnp.where(index < 0, index + rows, index)
        return [jnp.maximum(table.T.at[at].add((x.T + bias) * weight[:, None]) + bias, 0).T]

    def kernel(i):
        op = (f"strew1.scatter(operand=f32[{rows},{F}] indices=i64[{n}] updates=f32[{n},{F}] update_window_dims=[1] inserted_window_dims=[0] "
              "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error normalize_negative=true)")
        arrays = {"operand": np.ascontiguousarray(i["table"].T), "indices": i["index"].astype(np.int64), "updates": np.ascontiguousarray(messages(i))}
        sums = arrays["operand"].copy()
        np.add.at(sums, arrays["indices"], arrays["updates"])
        return op, arrays, sums
    return onnx_model(inputs, build, expected, torch=torch, jax=jax, kernel=kernel)


def stablehlo(text):
    return lambda: text.encode()


def jax_append(random):
    """vmap(dynamic_update_slice) as jax.jit lowers it: the index arithmetic of JAX around one scatter."""
    B, H, T, D = 4, 8, 256, 64
    inputs = {"arg0": normal(random, B, H, T, D), "arg1": normal(random, B, H, 1, D), "arg2": np.array([0, 5, T - 1, 17], np.int32)}
    cache, token = f"tensor<{B}x{H}x{T}x{D}xf32>", f"tensor<{B}x{H}x1x{D}xf32>"
    text = f"""module @jit_append {{
  func.func public @main(%arg0: {cache}, %arg1: {token}, %arg2: tensor<{B}xi32>) -> ({cache} {{jax.result_info = "result"}}) {{
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<{B}xi32>
    %1 = stablehlo.compare LT, %arg2, %0, SIGNED : (tensor<{B}xi32>, tensor<{B}xi32>) -> tensor<{B}xi1>
    %c_0 = stablehlo.constant dense<{T}> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<{B}xi32>
    %3 = stablehlo.add %arg2, %2 : tensor<{B}xi32>
    %4 = stablehlo.select %1, %3, %arg2 : tensor<{B}xi1>, tensor<{B}xi32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<{B}x1xi32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<{B}xi32>) -> tensor<{B}x1xi32>
    %7 = stablehlo.concatenate %5, %6, %5, dim = 1 : (tensor<{B}x1xi32>, tensor<{B}x1xi32>, tensor<{B}x1xi32>) -> tensor<{B}x3xi32>
    %c_3 = stablehlo.constant dense<[0, {T - 1}, 0]> : tensor<3xi32>
    %8 = stablehlo.broadcast_in_dim %c_3, dims = [1] : (tensor<3xi32>) -> tensor<{B}x3xi32>
    %9 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<{B}x3xi32>
    %10 = stablehlo.clamp %9, %7, %8 : tensor<{B}x3xi32>
    %11 = "stablehlo.scatter"(%arg0, %10, %arg1) <{{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2, 3],
        input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2, 3], index_vector_dim = 1>,
        unique_indices = true}}> ({{
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      stablehlo.return %new : tensor<f32>
    }}) : ({cache}, tensor<{B}x3xi32>, {token}) -> {cache}
    return %11 : {cache}
  }}
}}
"""

    def expected(i):
        out = i["arg0"].copy()
        out[np.arange(B), :, i["arg2"]] = i["arg1"][:, :, 0]
        return [out]

    def torch(th, kc, k, pos):
        kc = kc.clone()
        kc[th.arange(B), :, pos] = k[:, :, 0]
        return [kc]

    def jax(jnp, kc, k, pos):
        from jax import lax, vmap
        return [vmap(lambda c, u, p: lax.dynamic_update_slice(c, u, (0, p, 0)))(kc, k, pos)]
    return Model(".mlir", inputs, ["result"], stablehlo(text), expected, torch=torch, jax=jax)


def jax_gnn(random):
    """Messages of tanh(x), their sums and maxima, as jax.jit lowers them."""
    N, E, F = 500, 3000, 64
    inputs = {"arg0": normal(random, N, F), "arg1": random.integers(0, N, E).astype(np.int32), "arg2": random.integers(0, N, E).astype(np.int32),
              "arg3": random.random(E).astype(np.float32)}
    table, rows, ids, column = f"tensor<{N}x{F}xf32>", f"tensor<{E}x{F}xf32>", f"tensor<{E}xi32>", f"tensor<{E}x1xi32>"

    def wrapped(to, given):
        return f"""    %{to}0 = stablehlo.compare LT, {given}, %zeros, SIGNED : ({ids}, {ids}) -> tensor<{E}xi1>
    %{to}1 = stablehlo.add {given}, %counts : {ids}
    %{to}2 = stablehlo.select %{to}0, %{to}1, {given} : tensor<{E}xi1>, {ids}
    %{to} = stablehlo.broadcast_in_dim %{to}2, dims = [0] : ({ids}) -> {column}
"""

    def scatter(to, into, at, combine):
        return f"""    %{to} = "stablehlo.scatter"({into}, {at}, %msg) <{{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}}> ({{
    ^bb0(%old: tensor<f32>, %new: tensor<f32>):
      %both = stablehlo.{combine} %old, %new : tensor<f32>
      stablehlo.return %both : tensor<f32>
    }}) : ({table}, {column}, {rows}) -> {table}
"""
    text = f"""module @jit_gnn {{
  func.func public @main(%arg0: {table}, %arg1: {ids}, %arg2: {ids}, %arg3: tensor<{E}xf32>) -> ({table} {{jax.result_info = "result"}}) {{
    %h = stablehlo.tanh %arg0 : {table}
    %c = stablehlo.constant dense<0> : tensor<i32>
    %zeros = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> {ids}
    %n = stablehlo.constant dense<{N}> : tensor<i32>
    %counts = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> {ids}
{wrapped("src", "%arg1")}    %g = "stablehlo.gather"(%h, %src) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, {F}>}}> : ({table}, {column}) -> {rows}
    %w0 = stablehlo.broadcast_in_dim %arg3, dims = [0] : (tensor<{E}xf32>) -> tensor<{E}x1xf32>
    %w = stablehlo.broadcast_in_dim %w0, dims = [0, 1] : (tensor<{E}x1xf32>) -> {rows}
    %msg = stablehlo.multiply %g, %w : {rows}
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %none = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> {table}
{wrapped("dst", "%arg2")}{scatter("sum", "%none", "%dst", "add")}    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %lowest = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> {table}
    %at = stablehlo.broadcast_in_dim %arg2, dims = [0] : ({ids}) -> {column}
{scatter("most", "%lowest", "%at", "maximum")}    %finite = stablehlo.is_finite %most : ({table}) -> tensor<{N}x{F}xi1>
    %kept = stablehlo.select %finite, %most, %none : tensor<{N}x{F}xi1>, {table}
    %out = stablehlo.add %sum, %kept : {table}
    return %out : {table}
  }}
}}
"""

    def expected(i):
        h = np.tanh(i["arg0"])
        messages, sums, most = h[i["arg1"]] * i["arg3"][:, None], np.zeros_like(h), np.full_like(h, -np.inf)
        np.add.at(sums, i["arg2"], messages)
        np.maximum.at(most, i["arg2"], messages)
        return [sums + np.where(np.isfinite(most), most, 0)]

    def torch(th, x, source, to, weight):
        h = th.tanh(x)
        messages = h[source] * weight[:, None]
        sums = th.zeros_like(h).index_add(0, to, messages)
        most = th.full_like(h, float("-inf")).index_reduce(0, to, messages, "amax")
        return [sums + th.where(th.isfinite(most), most, 0.0)]

    def jax(jnp, x, source, to, weight):
        import jax as whole
        h = jnp.tanh(x)
        messages = h[source] * weight[:, None]
        most = whole.ops.segment_max(messages, to, num_segments=N)
        return [jnp.zeros_like(h).at[to].add(messages) + jnp.where(jnp.isfinite(most), most, 0.0)]
    return Model(".mlir", inputs, ["result"], stablehlo(text), expected, torch=torch, jax=jax)


MODELS = {model.__name__: model for model in
          (kv_transpose, kv_index_copy, scatter_add, gather_rows, gnn, decoder_step, mean_of_neighbours, bags, gnn_step, jax_append, jax_gnn, chain)}


def model(name):
    return MODELS[name](np.random.default_rng(1))
