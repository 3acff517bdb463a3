"""What jax_bench.py measures: unmodified functions of JAX. OPERATORS are single indexed operations, STEPS whole steps of models, ADVERSE what a rewriter could make slower."""
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

NODES, EDGES, WIDTH = 10_000, 300_000, 64
INSIDE = 10_000  # repetitions of what is too short to be called


@dataclasses.dataclass(frozen=True)
class Workload:
    function: object
    arguments: tuple
    donated: bool = False
    """The first argument is updated where it lies, and the first result is the first argument of the next call."""
    inside: int = 1
    """How often the function does it."""
    any_size: bool = False
    """strew takes what it otherwise leaves to XLA because it is so small: how long a call takes."""


def draw(seed=1):
    return np.random.default_rng(seed)


def floats(*dims, seed=1, dtype="float32"):
    return jnp.asarray(draw(seed).standard_normal(dims).astype(np.float32)).astype(dtype)


def ids(extent, *dims, seed=2):
    return jnp.asarray(draw(seed).integers(0, extent, dims).astype(np.int32))


def add_rows(x, i, u):
    return x.at[i].add(u)


def tiny_loop(update):
    """Of a function of the array and the number of the repetition."""
    return lambda x, i, u: lax.fori_loop(0, INSIDE, lambda n, c: update(c, i, u), x)


def lookup_gradient(table, rows, outer):
    return jax.vjp(lambda t: t[rows], table)[1](outer)[0]


def normalised(edges, nodes):
    """The weight of each edge: one over the root of the product of the degrees of its ends."""
    source, target = edges
    degree = jnp.zeros(nodes, jnp.float32).at[target].add(1)
    scale = jnp.where(degree > 0, lax.rsqrt(degree), 0)
    return scale[source] * scale[target]


def layer(x, weight, source, target, per_edge):
    hidden = x @ weight
    return jnp.zeros_like(hidden).at[target].add(hidden[source] * per_edge[:, None])


def gnn(x, weights, source, target, per_edge):
    for weight in weights:
        x = jnp.maximum(layer(x, weight, source, target, per_edge), 0)
    return x


def gnn_step(weights, x, source, target, per_edge):
    loss, gradients = jax.value_and_grad(lambda w: jnp.mean(gnn(x, w, source, target, per_edge) ** 2))(weights)
    return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients, strict=True)], loss


def bag_step(table, bags, outer):
    """Embedding bags, their gradient, and one step of SGD, where the table lies."""
    sums, backward = jax.vjp(lambda t: t[bags].sum(1), table)
    return table - 0.01 * backward(outer)[0], sums.sum(0)


def ragged_step(table, rows, bags, outer):
    """The same with bags of any sizes, whose rows follow one another, as PyTorch's EmbeddingBag has them."""
    sums, backward = jax.vjp(lambda t: jax.ops.segment_sum(t[rows], bags, num_segments=outer.shape[0]), table)
    return table - 0.01 * backward(outer)[0], sums


def decoder_step(cache, new, slots, pages, query):
    """Writes the keys of new tokens into a paged cache, and reads the pages of each sequence."""
    blocks, size, width = cache.shape
    cache = cache.at[slots // size, slots % size].set(new, mode="drop")
    keys = cache[pages].reshape(query.shape[0], -1, width)
    return cache, jnp.einsum("btw,bw->bt", keys, query)


def permute(x, experts, count, capacity):
    """Where each token goes: the place among those of its expert, without a sort."""
    before = jnp.cumsum(experts[:, None] == jnp.arange(count), axis=0)
    place = jnp.take_along_axis(before, experts[:, None], 1)[:, 0] - 1
    slot = jnp.where(place < capacity, experts * capacity + place, count * capacity)
    return slot, jnp.zeros((count * capacity, x.shape[1]), x.dtype).at[slot].set(x, mode="drop")


def moe_permute(x, experts):
    return permute(x, experts, 16, 1024)


def moe_unpermute(y, slot, weights):
    return y.at[slot].get(mode="fill", fill_value=0) * weights[:, None]


def histogram(x):
    return jnp.zeros(256, jnp.int32).at[jnp.clip((x * 32 + 128).astype(jnp.int32), 0, 255)].add(1)


def pillars(features, coordinates):
    """PointPillars: the features of each pillar to its place in the image."""
    canvas = jnp.zeros((496 * 432, features.shape[1]), features.dtype)
    canvas = canvas.at[coordinates[:, 0] * 432 + coordinates[:, 1]].set(features, mode="drop")
    return canvas.T.reshape(features.shape[1], 496, 432)


def graph():
    return ids(NODES, EDGES, seed=3), ids(NODES, EDGES, seed=4)


def gnn_arguments():
    source, target = graph()
    return floats(NODES, WIDTH), [floats(WIDTH, WIDTH, seed=n) * 0.1 for n in range(2)], source, target, normalised((source, target), NODES)


def order_of(arguments, *order):
    return tuple(arguments[n] for n in order)


OPERATORS = {
    "scatter-add, 300k rows of 64 into 10k": lambda: Workload(add_rows, (floats(NODES, WIDTH), ids(NODES, EDGES), floats(EDGES, WIDTH))),
    "scatter-add, donated": lambda: Workload(add_rows, (floats(NODES, WIDTH), ids(NODES, EDGES), floats(EDGES, WIDTH)), donated=True),
    "scatter-add, bf16": lambda: Workload(add_rows, (floats(NODES, WIDTH, dtype="bfloat16"), ids(NODES, EDGES), floats(EDGES, WIDTH, dtype="bfloat16"))),
    "scatter-max": lambda: Workload(lambda x, i, u: x.at[i].max(u), (floats(NODES, WIDTH), ids(NODES, EDGES), floats(EDGES, WIDTH))),
    "segment_sum, 300k rows of 64": lambda: Workload(lambda u, i: jax.ops.segment_sum(u, i, num_segments=NODES), (floats(EDGES, WIDTH), ids(NODES, EDGES))),
    "segment_sum, sorted": lambda: Workload(lambda u, i: jax.ops.segment_sum(u, i, num_segments=NODES, indices_are_sorted=True), (floats(EDGES, WIDTH), jnp.sort(ids(NODES, EDGES)))),
    "take_along_axis": lambda: Workload(lambda x, i: jnp.take_along_axis(x, i, 1, mode="promise_in_bounds"), (floats(1024, 1024), ids(1024, 1024, 64))),
    "paged write, 2048 tokens, donated": lambda: Workload(lambda c, s, t: c.at[s].set(t), (floats(8192, 8, 128), jnp.asarray(draw().permutation(8192)[:2048].astype(np.int32)), floats(2048, 8, 128)),
                                                         donated=True),
    "embedding gradient, 32k rows of 64": lambda: Workload(lookup_gradient, (floats(50_000, WIDTH), ids(50_000, 32_768), floats(32_768, WIDTH))),
    "tiny scatter, 4 rows of 16, in a small loop": lambda: Workload(tiny_loop(add_rows), (floats(100, 16), ids(100, 4), floats(4, 16)), inside=INSIDE),
    "tiny scatter, by strew all the same": lambda: Workload(tiny_loop(add_rows), (floats(8000, 16), ids(8000, 4), floats(4, 16)), inside=INSIDE, any_size=True),
    "gather, 300k rows of 64": lambda: Workload(lambda x, i: x.at[i].get(mode="promise_in_bounds"), (floats(NODES, WIDTH), ids(NODES, EDGES))),
    "points, 1M into 1000 x 1000": lambda: Workload(lambda x, i, j, u: x.at[i, j].add(u), (floats(1000, 1000), ids(1000, 1_000_000), ids(1000, 1_000_000, seed=5), floats(1_000_000))),
    "dynamic_update_slice, donated": lambda: Workload(lambda x, u, n: lax.dynamic_update_slice(x, u, (n, 0)), (floats(8192, 1024), floats(16, 1024), jnp.int32(77)), donated=True),
    "scatter of windows": lambda: Workload(lambda x, i, u: jax.vmap(lambda t, n, v: lax.dynamic_update_slice(t, v, (n, 0)))(x, i, u), (floats(64, 512, 64), ids(500, 64), floats(64, 8, 64))),
}

STEPS = {
    "GNN forward, 2 layers": lambda: Workload(gnn, gnn_arguments()),
    "GNN train step, 2 layers": lambda: Workload(gnn_step, order_of(gnn_arguments(), 1, 0, 2, 3, 4)),
    "embedding-bag step, 1024 bags of 32": lambda: Workload(bag_step, (floats(50_000, WIDTH), ids(50_000, 1024, 32), floats(1024, WIDTH)), donated=True),
    "embedding-bag step, 1024 ragged bags": lambda: Workload(ragged_step, (floats(50_000, WIDTH), ids(50_000, 32_768), jnp.sort(ids(1024, 32_768, seed=7)), floats(1024, WIDTH)), donated=True),
    "paged decoder step, 24 sequences": lambda: Workload(decoder_step, (floats(1024, 16, 1024), floats(24, 1024), ids(1024 * 16, 24), ids(1024, 24, 16), floats(24, 1024)), donated=True),
    "MoE permute, 8192 tokens of 512": lambda: Workload(moe_permute, (floats(8192, 512), ids(16, 8192))),
    "MoE unpermute, 8192 tokens of 512": lambda: Workload(moe_unpermute, (floats(16 * 1024, 512), jnp.asarray(draw().permutation(16 * 1024)[:8192].astype(np.int32)), floats(8192))),
    "histogram of 4M": lambda: Workload(histogram, (floats(4_000_000),)),
    "PointPillars, 12k pillars of 64": lambda: Workload(pillars, (floats(12_000, 64), jnp.stack([ids(496, 12_000), ids(432, 12_000, seed=6)], 1))),
    "take_along_axis, fill": lambda: Workload(lambda x, i: jnp.take_along_axis(x, i, 1), (floats(1024, 1024), ids(1024, 1024, 64))),
}

ADVERSE = {
    "dequantised table, one look-up": lambda: Workload(lambda q, s, i: (q.astype(jnp.float32) * s)[i], (ids(100, 50_000, 64).astype(jnp.int8), floats(64), ids(50_000, 512))),
    "rows of a sum of tables": lambda: Workload(lambda x, y, i: (x + y)[i], (floats(50_000, 64), floats(50_000, 64, seed=9), ids(50_000, 512))),
    "rows of a transposed table": lambda: Workload(lambda x, i: x.T[i], (floats(64, 50_000), ids(50_000, 512))),
    "tiny gather": lambda: Workload(tiny_loop(lambda c, i, u: c + c[i].sum() * 1e-9), (floats(16), ids(16, 4), floats(4)), inside=INSIDE),
    "tiny scatter of one number": lambda: Workload(tiny_loop(lambda c, i, u: c.at[i[0]].add(u[0])), (floats(16), ids(16, 4), floats(4)), inside=INSIDE),
    "tiny dynamic_slice": lambda: Workload(tiny_loop(lambda c, i, u: c + lax.dynamic_slice(c, (i[0],), (4,)).sum() * 1e-9), (floats(16), ids(12, 4), floats(4)), inside=INSIDE),
    "gather inside a fusion": lambda: Workload(lambda x, i, w: jnp.tanh(x[i] * w[:, None]).sum(), (floats(NODES, WIDTH), ids(NODES, 30_000), floats(30_000))),
    "gather, then a mean": lambda: Workload(lambda x, i: x[i].mean(1), (floats(NODES, WIDTH), ids(NODES, 30_000))),
    "gather by an index that is computed": lambda: Workload(lambda x, i: x[(i * 7 + 3) % NODES].sum(), (floats(NODES, WIDTH), ids(NODES, 30_000))),
    "scatter into a sum": lambda: Workload(lambda x, y, i, u: (x + y).at[i].add(u), (floats(50_000, 64), floats(50_000, 64, seed=9), ids(50_000, 16), floats(16, 64))),
    "scatter, then elementwise": lambda: Workload(lambda x, i, u: jnp.exp(x.at[i].add(u)), (floats(50_000, 64), ids(50_000, 16), floats(16, 64))),
    "updates that are computed": lambda: Workload(lambda x, i, u: x.at[i].add(jnp.tanh(u)), (floats(NODES, WIDTH), ids(NODES, 30_000), floats(30_000, WIDTH))),
    "dynamic_update_slice in a loop": lambda: Workload(lambda x, u: lax.fori_loop(0, 1000, lambda n, c: lax.dynamic_update_slice(c, u, (n, 0)), x), (floats(1000, 256), floats(1, 256)), inside=1000),
    "loop that writes twice": lambda: Workload(lambda x, i, u: lax.fori_loop(0, 100, lambda n, c: lax.dynamic_update_slice(c.at[i + n].add(u), u[:1], (n, 0)), x),
                                               (floats(4000, 256), ids(3000, 8), floats(8, 256)), inside=100),
    "scan that reads rows": lambda: Workload(lambda x, s: lax.scan(lambda c, n: (c * 0.5 + x[n], None), x[0], s)[0], (floats(1000, 64), ids(1000, 2000)), inside=2000),
    "softmax of looked-up rows": lambda: Workload(lambda x, i: jax.nn.softmax(x[i]), (floats(NODES, WIDTH), ids(NODES, 8192))),
    "one row of a table": lambda: Workload(lambda x, n: x[n] * 2, (floats(NODES, WIDTH), jnp.int32(77))),
    "one_hot times a matrix": lambda: Workload(lambda i, w: jax.nn.one_hot(i, 128) @ w, (ids(128, 2048), floats(128, 256))),
    "sort and take": lambda: Workload(lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), (floats(256, 1024),)),
    "matrix product without indices": lambda: Workload(lambda x, w: jnp.maximum(x @ w, 0), (floats(512, 512), floats(512, 512, seed=7))),
    "slices and concatenation": lambda: Workload(lambda x: jnp.concatenate([x[1:], x[:1]]) + x[::-1], (floats(20_000, 64),)),
}
