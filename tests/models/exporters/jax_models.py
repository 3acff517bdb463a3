"""JAX functions with their inputs: whole small models, and functions for jax.export."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corpus import FLOAT_MATH, HALF_MATH, MOVES, collector, real, small
from jax_cases import BF16, index


def models():
    """As jax_cases.cases."""
    out, case = collector()

    @case("one message-passing layer: gather by source, matmul, segment_sum by target, divide by degree", FLOAT_MATH)
    def gnn_layer(r):
        def f(h, w, b, source, target):
            messages = jax.nn.relu(h[source] @ w + b)
            total = jax.ops.segment_sum(messages, target, num_segments=h.shape[0])
            degree = jax.ops.segment_sum(jnp.ones(source.shape[0]), target, num_segments=h.shape[0])
            return h + total / jnp.maximum(degree, 1)[:, None]
        return f, (real(r, 6, 4), real(r, 4, 4), real(r, 4), index(r, 10, low=0, high=6), index(r, 10, low=0, high=6))

    @case("graph attention: segment_max and segment_sum make the softmax", FLOAT_MATH)
    def gnn_attention(r):
        def f(h, w, a, source, target):
            n, z = h.shape[0], h @ w
            score = jax.nn.leaky_relu((jnp.concatenate([z[source], z[target]], -1) @ a)[:, 0])
            top = jax.ops.segment_max(score, target, num_segments=n)
            e = jnp.exp(score - top[target])
            weight = e / jax.ops.segment_sum(e, target, num_segments=n)[target]
            return jax.ops.segment_sum(weight[:, None] * z[source], target, num_segments=n)
        return f, (real(r, 6, 4), real(r, 4, 4), real(r, 8, 1), index(r, 10, low=0, high=6), np.array([0, 1, 2, 3, 4, 5, 0, 1, 2, 2], np.int32))

    @case("mixture of experts: top-2 routing, tokens sorted by expert, back by scatter-add", FLOAT_MATH)
    def moe_layer(r):
        def f(x, gate, w):
            weight, expert = lax.top_k(jax.nn.softmax(x @ gate), 2)
            flat = expert.reshape(-1)
            order = jnp.argsort(flat)
            token = order // 2
            y = jnp.einsum("td,tdh->th", x[token], w[flat[order]])
            return jnp.zeros_like(x).at[token].add(y * weight.reshape(-1)[order][:, None])
        return f, (real(r, 6, 4), real(r, 4, 3), real(r, 3, 4, 4))

    @case("mixture of experts with capacity: places by cumsum of a one-hot, dispatch by a scatter that drops", MOVES)
    def moe_dispatch_capacity(r):
        def f(x, expert):
            one = jax.nn.one_hot(expert, 3, dtype=jnp.int32)
            place = (jnp.cumsum(one, axis=0) * one).sum(-1) - 1
            return jnp.zeros((3, 2, x.shape[1]), x.dtype).at[expert, place].set(x, mode="drop")
        return f, (small(r, 8, 3), index(r, 8, low=0, high=3))

    @case("DLRM: embedding bags and their gradient, updated in place by SGD", FLOAT_MATH)
    def dlrm_step(r):
        def loss(table, w, ids, bags, y):
            pooled = jax.ops.segment_sum(table[ids], bags, num_segments=3)
            return jnp.mean((jax.nn.sigmoid(pooled @ w)[:, 0] - y) ** 2)

        def f(table, w, ids, bags, y):
            value, grad = jax.value_and_grad(loss)(table, w, ids, bags, y)
            return value, table - 0.5 * grad
        return f, (real(r, 8, 4), real(r, 4, 1), index(r, 7, low=0, high=8), np.array([0, 0, 1, 1, 1, 2, 2], np.int32), np.array([1, 0, 1], np.float32))

    @case("sparse SGD: rows of the table are updated by a scatter-add of scaled gradients", FLOAT_MATH)
    def sparse_sgd(r):
        return (lambda t, i, g: t.at[i].add(-0.1 * g)), (real(r, 8, 4), np.array([1, 5, 1, 7], np.int32), real(r, 4, 4))

    @case("PointPillars: features go to a canvas by (y, x)", MOVES)
    def pointpillars_scatter(r):
        def f(features, coordinates):
            canvas = jnp.zeros((1, features.shape[1], 5, 6))
            return canvas.at[coordinates[:, 0], :, coordinates[:, 2], coordinates[:, 3]].set(features, mode="drop")
        cells = r.permutation(30)[:7]
        return f, (real(r, 7, 3), np.stack([np.zeros(7), np.zeros(7), cells // 6, cells % 6], 1).astype(np.int32))

    @case("rotary embedding with cos and sin gathered by position", FLOAT_MATH)
    def rotary(r):
        def f(x, cos, sin, position):
            c, s = cos[position][:, :, None], sin[position][:, :, None]
            a, b = jnp.split(x, 2, -1)
            return jnp.concatenate([a * c - b * s, b * c + a * s], -1)
        return f, (real(r, 2, 3, 2, 4), real(r, 8, 2), real(r, 8, 2), index(r, 2, 3, low=0, high=8))

    @case("a decoder layer with KV cache: embedding, rotary, two dynamic_update_slice, attention, MLP, logits of one token", FLOAT_MATH)
    def decoder(r):
        return decoder_model(r, per_sequence=False)

    @case("the decoder layer where each sequence has its own position: the caches are written by scatters", FLOAT_MATH)
    def decoder_positions(r):
        return decoder_model(r, per_sequence=True)

    @case("the decoder layer in bf16", HALF_MATH)
    def decoder_bf16(r):
        f, arguments = decoder_model(r, per_sequence=True)
        return f, jax.tree.map(lambda a: a.astype(BF16) if a.dtype == np.float32 else a, arguments)

    @case("two decoder layers under lax.scan over stacked weights and caches", FLOAT_MATH)
    def decoder_scan_layers(r):
        d, heads, length = 8, 2, 6
        def f(table, weights, keys, values, token, place):
            h = table[token]
            def layer(h, state):
                (q, k, v, o), kc, vc = state
                kc = lax.dynamic_update_slice(kc, (h @ k).reshape(-1, 1, heads, d // heads), (0, place, 0, 0))
                vc = lax.dynamic_update_slice(vc, (h @ v).reshape(-1, 1, heads, d // heads), (0, place, 0, 0))
                score = jnp.einsum("bhd,blhd->bhl", (h @ q).reshape(-1, heads, d // heads), kc)
                score = jnp.where(jnp.arange(length) <= place, score, -1e9)
                h = h + jnp.einsum("bhl,blhd->bhd", jax.nn.softmax(score), vc).reshape(h.shape) @ o
                return h, (kc, vc)
            h, (keys, values) = lax.scan(layer, h, (weights, keys, values))
            return h @ table.T, keys, values
        weights = tuple(real(r, 2, d, d) * np.float32(0.3) for _ in range(4))
        cache = lambda: real(r, 2, 2, length, heads, d // heads)
        return f, (real(r, 10, d), weights, cache(), cache(), np.array([3, 9], np.int32), np.int32(4))

    @case("beam search: the caches of the beams are reordered by a gather", FLOAT_MATH)
    def beam_reorder(r):
        def f(scores, logits, cache):
            beams, vocabulary = logits.shape
            total = scores[:, None] + jax.nn.log_softmax(logits)
            best, flat = lax.top_k(total.reshape(-1), beams)
            parent, token = flat // vocabulary, flat % vocabulary
            return best, token, cache[parent]
        return f, (real(r, 3), real(r, 3, 5), real(r, 3, 4, 2))

    @case("bilinear grid sampling with border fill", FLOAT_MATH)
    def grid_sample(r):
        def f(image, y, x):
            return jax.scipy.ndimage.map_coordinates(image, [y, x], order=1, mode="constant")
        return f, (real(r, 5, 6), (r.random(8) * 6 - 0.5).astype(np.float32), (r.random(8) * 7 - 0.5).astype(np.float32))

    @case("an RNG shuffle of rows: the permutation is made in the file")
    def permuted_rows(r):
        return (lambda x, k: x[jnp.argsort(k)]), (real(r, 7, 3), real(r, 7))

    @case("sparse matrix times vector from triplets")
    def coo_matvec(r):
        return (lambda v, row, column, x: jax.ops.segment_sum(v * x[column], row, num_segments=5)), \
            (small(r, 9), index(r, 9, low=0, high=5), index(r, 9, low=0, high=6), small(r, 6))

    @case("cross entropy picks the target's logit, with its gradient", FLOAT_MATH)
    def cross_entropy_grad(r):
        def loss(logits, target):
            return -jnp.take_along_axis(jax.nn.log_softmax(logits), target[:, None], axis=1).mean()
        return jax.value_and_grad(loss), (real(r, 4, 6), index(r, 4, low=0, high=6))

    return out


def decoder_model(r, per_sequence):
    d, heads, length, vocabulary, batch = 8, 2, 6, 10, 2
    h_d = d // heads

    def norm(x, g, b):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

    def f(params, keys, values, token, place):
        table, cos, sin, (g1, b1, g2, b2), (q, k, v, o), (up, down) = params
        x = table[token]
        h = norm(x, g1, b1)
        position = jnp.broadcast_to(place, token.shape)
        c, s = cos[position][:, None], sin[position][:, None]
        rotate = lambda t: jnp.concatenate([t[..., :h_d // 2] * c - t[..., h_d // 2:] * s, t[..., h_d // 2:] * c + t[..., :h_d // 2] * s], -1)
        query, key, value = (rotate((h @ q).reshape(batch, heads, h_d)), rotate((h @ k).reshape(batch, heads, h_d)),
                             (h @ v).reshape(batch, heads, h_d))
        if per_sequence:
            rows = jnp.arange(batch)
            keys, values = keys.at[rows, place].set(key), values.at[rows, place].set(value)
        else:
            keys = lax.dynamic_update_slice(keys, key[:, None], (0, place, 0, 0))
            values = lax.dynamic_update_slice(values, value[:, None], (0, place, 0, 0))
        score = jnp.einsum("bhd,blhd->bhl", query, keys) / np.float32(h_d ** 0.5).astype(x.dtype)
        score = jnp.where(jnp.arange(length)[None, None] <= position[:, None, None], score, jnp.asarray(-1e9, x.dtype))
        x = x + jnp.einsum("bhl,blhd->bhd", jax.nn.softmax(score), values).reshape(batch, d) @ o
        x = x + jax.nn.gelu(norm(x, g2, b2) @ up) @ down
        return x @ table.T, keys, values

    w = lambda *shape: real(r, *shape) * np.float32(0.3)
    angle = np.arange(length)[:, None] / 100.0 ** (np.arange(h_d // 2)[None] / (h_d // 2))
    params = (w(vocabulary, d), np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32),
              (np.ones(d, np.float32), w(d), np.ones(d, np.float32), w(d)), tuple(w(d, d) for _ in range(4)), (w(d, 2 * d), w(2 * d, d)))
    cache = lambda: w(batch, length, heads, h_d)
    place = np.array([4, 1], np.int32) if per_sequence else np.int32(4)
    return f, (params, cache(), cache(), np.array([3, 9], np.int32), place)


def exported():
    """(name, make, note, tolerance, options): make returns (f, arguments, shapes of the arguments as texts, or None)."""
    out, case = collector()

    @case("the row count and the number of updates are symbols")
    def scatter_add_symbolic(r):
        return (lambda x, i, u: x.at[i].add(u)), (small(r, 7, 4), index(r, 5, low=-9, high=9), small(r, 5, 4)), ("n, 4", "b", "b, 4")

    @case("x[i] with a symbolic number of rows: the bound is get_dimension_size")
    def gather_symbolic(r):
        return (lambda x, i: x[i]), (real(r, 7, 4), index(r, 5, low=-7, high=7)), ("n, 4", "b")

    @case("jnp.take with mode fill, symbolic")
    def take_fill_symbolic(r):
        return (lambda x, i: jnp.take(x, i, axis=0)), (real(r, 7, 4), index(r, 5, low=-9, high=9)), ("n, 4", "b")

    @case("take_along_axis, symbolic")
    def take_along_axis_symbolic(r):
        return (lambda x, i: jnp.take_along_axis(x, i, axis=1)), (real(r, 3, 6), index(r, 3, 2)), ("b, n", "b, k")

    @case("a KV cache whose length and batch are symbols; one place for the batch")
    def kv_cache_symbolic(r):
        return (lambda c, t, p: lax.dynamic_update_slice(c, t, (0, p, 0))), (real(r, 2, 9, 4), real(r, 2, 1, 4), np.int32(8)), ("b, s, 4", "b, 1, 4", "")

    @case("a KV cache with a place per sequence, symbolic: iota of the batch is an index component")
    def kv_cache_positions_symbolic(r):
        return (lambda c, t, p: c.at[jnp.arange(c.shape[0]), p].set(t)), (real(r, 3, 6, 4), real(r, 3, 4), np.array([0, 5, 2], np.int32)), ("b, s, 4", "b, 4", "b")

    @case("segment_sum with a symbolic number of items and a fixed number of segments")
    def segment_sum_symbolic(r):
        return (lambda u, i: jax.ops.segment_sum(u, i, num_segments=4)), (small(r, 9, 3), index(r, 9, low=-2, high=6)), ("n, 3", "n")

    @case("segment_sum into as many segments as another tensor has rows")
    def segment_sum_symbolic_rows(r):
        return (lambda u, i, like: jax.ops.segment_sum(u, i, num_segments=like.shape[0])), \
            (small(r, 9, 3), index(r, 9, low=0, high=5), small(r, 5)), ("e, 3", "e", "n")

    @case("dims that are terms: 2*n rows, n indices")
    def terms_symbolic(r):
        return (lambda x, i: x[i + x.shape[0] // 2]), (real(r, 8, 3), index(r, 4, low=0, high=4)), ("2*n, 3", "n")

    @case("the gradient of an embedding with symbolic vocabulary and tokens")
    def embedding_grad_symbolic(r):
        return jax.grad(lambda t, i, w: jnp.sum(t[i] * w)), (small(r, 6, 4), index(r, 5, low=0, high=6), small(r, 5, 4)), ("v, 4", "t", "t, 4")

    @case("dynamic_slice of a symbolic extent")
    def dynamic_slice_symbolic(r):
        return (lambda x, s: lax.dynamic_slice_in_dim(x, s, 2)), (real(r, 6, 3), np.int32(5)), ("n, 3", "")

    @case("a GNN layer with symbolic nodes and edges", FLOAT_MATH)
    def gnn_symbolic(r):
        def f(h, w, source, target):
            return h + jax.ops.segment_sum(jax.nn.relu(h[source] @ w), target, num_segments=h.shape[0])
        return f, (real(r, 6, 4), real(r, 4, 4), index(r, 9, low=0, high=6), index(r, 9, low=0, high=6)), ("n, 4", "4, 4", "e", "e")

    @case("a paged cache write with symbolic pages and tokens")
    def paged_write_symbolic(r):
        def f(flat, keys, slots):
            return flat.at[jnp.where(slots < 0, flat.shape[0], slots)].set(keys, mode="drop")
        return f, (real(r, 12, 3), real(r, 5, 3), np.array([3, -1, 11, 0, 7], np.int32)), ("p, 3", "t, 3", "t")

    @case("static shapes through jax.export")
    def scatter_static(r):
        return (lambda x, i, u: x.at[i].max(u)), (small(r, 5, 4), index(r, 6, low=-8, high=9), small(r, 6, 4)), None

    @case("static shapes, a dict of inputs and outputs: names in the file are paths")
    def dict_static(r):
        return (lambda d: {"rows": d["table"][d["ids"]], "sum": d["table"].sum(0)}), ({"ids": index(r, 4), "table": small(r, 5, 3)},), None

    @case("cumsum and argsort with symbolic extents")
    def moe_sort_symbolic(r):
        def f(x, expert):
            order = jnp.argsort(expert)
            return x[order], jnp.cumsum(jnp.zeros(4, jnp.int32).at[expert].add(1))
        return f, (small(r, 8, 3), index(r, 8, low=0, high=4)), ("t, 3", "t")

    @case("jax.checkpoint and gradient with symbolic tokens", FLOAT_MATH)
    def checkpoint_symbolic(r):
        block = jax.checkpoint(lambda t, i: jnp.sin(t[i]))
        return jax.grad(lambda t, i: jnp.sum(block(t, i))), (real(r, 6, 4), index(r, 5)), ("v, 4", "n")

    @case("a vmapped scatter with a symbolic batch: batching dims of unknown extent")
    def vmap_scatter_symbolic(r):
        return jax.vmap(lambda x, i, u: x.at[i].add(u)), (small(r, 3, 5, 2), index(r, 3, 4), small(r, 3, 4, 2)), ("b, 5, 2", "b, 4", "b, 4, 2")

    return out
