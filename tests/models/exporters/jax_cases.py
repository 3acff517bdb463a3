"""JAX functions with their inputs: indexed operations and what JAX puts around them."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from corpus import FLOAT_MATH, MOVES, collector, real, small

BF16 = ml_dtypes.bfloat16


def index(r, *shape, low=-5, high=5, dtype=np.int32):
    return r.integers(low, high, shape).astype(dtype)


def distinct(r, count, extent, dtype=np.int32):
    return r.permutation(extent)[:count].astype(dtype)


def cases():
    """(name, make, note, tolerance, options): make(r) takes a generator and returns (f, arguments), or these and options for jax.jit. Options: x64,
    debug_info, generic."""
    out, case = collector()

    # .at[]: every method and mode; the operand has 5 rows and the indices run from -8 to 8
    for method in ("set", "add", "max", "min", "mul"):
        for mode in ("drop", "clip", "promise_in_bounds"):
            inside = mode == "promise_in_bounds"

            def at(r, method=method, mode=mode, inside=inside):
                i = index(r, 6, low=-5 if inside else -8, high=5 if inside else 9)
                if method == "set" and inside:
                    i = distinct(r, 4, 5)
                return (lambda x, i, u: getattr(x.at[i], method)(u, mode=mode)), (small(r, 5, 4), i, small(r, len(i), 4))

            case(f"x.at[i].{method}, mode {mode}; " + ("indices in bounds, also negative" if inside else "indices out of bounds on both sides"),
                 name=f"at_{method}_{mode}")(at)
    for mode in ("fill", "clip", "promise_in_bounds"):
        inside = mode == "promise_in_bounds"

        def at_get(r, mode=mode, inside=inside):
            return (lambda x, i: x.at[i].get(mode=mode)), (real(r, 5, 4), index(r, 7, low=-5 if inside else -8, high=5 if inside else 9))

        case(f"x.at[i].get, mode {mode}", name=f"at_get_{mode}")(at_get)

    @case("get with fill_value and two index components")
    def at_get_fill_value(r):
        return (lambda x, i, j: x.at[i, j].get(mode="fill", fill_value=-7)), (small(r, 5, 4, dtype=np.int32), index(r, 6, low=-7, high=8), index(r, 6))

    @case("hints: unique and sorted indices")
    def at_add_unique_sorted(r):
        return (lambda x, i, u: x.at[i].add(u, unique_indices=True, indices_are_sorted=True)), \
            (small(r, 9, 3), np.array([0, 2, 3, 7], np.int32), small(r, 4, 3))

    @case("two index components, duplicates among them")
    def at_pairs_add(r):
        return (lambda x, i, j, u: x.at[i, j].add(u)), (small(r, 4, 5), index(r, 9, low=-4, high=4), index(r, 9, low=-5, high=5), small(r, 9))

    @case("columns are written: the index is not the first dim")
    def at_columns_set(r):
        return (lambda x, i, u: x.at[:, i].set(u)), (small(r, 4, 7), distinct(r, 3, 7), small(r, 4, 3))

    @case("a slice and indices together")
    def at_slice_and_indices(r):
        return (lambda x, i, u: x.at[1:3, i].add(u)), (small(r, 4, 5), index(r, 3), small(r, 2, 3))

    @case("a scalar is written to rows")
    def at_set_scalar(r):
        return (lambda x, i: x.at[i].set(1)), (small(r, 5, 4), index(r, 3))

    @case("at[].apply: the combiner is a function of the operand")
    def at_apply(r):
        return (lambda x, i: x.at[i].apply(lambda v: jnp.where(v > 1, v, v + v))), (small(r, 5, 4), distinct(r, 3, 5))

    @case("a boolean mask over a whole tensor: no scatter, a select")
    def at_mask(r):
        return (lambda x, m, i: jnp.where(m, 0, x).at[i].add(1)), (small(r, 6), r.integers(0, 2, 6).astype(bool), index(r, 4))

    @case("u8 data and i8 indices")
    def at_add_u8_i8(r):
        return (lambda x, i, u: x.at[i].add(u)), (r.integers(0, 250, (9,)).astype(np.uint8), index(r, 12, low=-9, high=9, dtype=np.int8),
                                                  r.integers(0, 99, 12).astype(np.uint8))

    @case("bf16 rows are added", MOVES)
    def at_add_bf16(r):
        return (lambda x, i, u: x.at[i].add(u)), (small(r, 6, 4, dtype=BF16), index(r, 8, low=-6, high=6), small(r, 8, 4, dtype=BF16))

    @case("i64 indices and f64 data, with jax_enable_x64", x64=True)
    def at_add_x64(r):
        return (lambda x, i, u: x.at[i].add(u)), (small(r, 6, 4, dtype=np.float64), index(r, 8, low=-8, high=8, dtype=np.int64), small(r, 8, 4, dtype=np.float64))

    @case("complex numbers are written")
    def at_set_complex(r):
        return (lambda x, i, u: x.at[i].set(u)), (real(r, 5, 2).astype(np.complex64), distinct(r, 3, 5), real(r, 3, 2).astype(np.complex64))

    # windows that do not fit
    def dimension_numbers(**k):
        return lax.ScatterDimensionNumbers(**k)

    @case("lax.scatter whose window of two rows crosses the edge: XLA drops the whole window")
    def scatter_window_crosses_edge(r):
        numbers = dimension_numbers(update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0,))
        return (lambda x, i, u: lax.scatter(x, i, u, numbers, mode=lax.GatherScatterMode.FILL_OR_DROP)), \
            (small(r, 6, 3), np.array([[4], [5], [-1], [1]], np.int32), small(r, 4, 2, 3))

    @case("lax.scatter_add, windows that cross the edge are moved inside by mode clip")
    def scatter_add_window_clip(r):
        numbers = dimension_numbers(update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1))
        return (lambda x, i, u: lax.scatter_add(x, i, u, numbers, mode=lax.GatherScatterMode.CLIP)), \
            (small(r, 6, 5), np.array([[4, 4], [5, 0], [-1, -3], [1, 2]], np.int32), small(r, 4, 2, 3))

    @case("lax.gather of windows of two rows, mode fill: a window that crosses the edge is filled whole")
    def gather_window_fill(r):
        numbers = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0,))
        return (lambda x, i: lax.gather(x, i, numbers, (2, 3), mode=lax.GatherScatterMode.FILL_OR_DROP)), \
            (real(r, 6, 3), np.array([[4], [5], [-1], [1]], np.int32))

    @case("lax.gather of windows, mode clip")
    def gather_window_clip(r):
        numbers = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0, 1))
        return (lambda x, i: lax.gather(x, i, numbers, (2, 2), mode=lax.GatherScatterMode.CLIP)), \
            (real(r, 6, 5), np.array([[4, 4], [5, 1], [-1, 9], [1, 2]], np.int32))

    @case("lax.scatter_mul")
    def scatter_mul(r):
        numbers = dimension_numbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
        return (lambda x, i, u: lax.scatter_mul(x, i, u, numbers)), (small(r, 5, 3), np.array([[0], [4], [0], [5]], np.int32), small(r, 4, 3))

    @case("lax.scatter_sub")
    def scatter_sub(r):
        numbers = dimension_numbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
        return (lambda x, i, u: lax.scatter_sub(x, i, u, numbers)), (small(r, 5, 3), np.array([[0], [4], [0], [5]], np.int32), small(r, 4, 3))

    # numpy-like reads
    @case("x[i] with negative indices")
    def index_rows(r):
        return (lambda x, i: x[i]), (real(r, 5, 4), index(r, 3, 2))

    @case("x[:, i, None]")
    def index_new_axis(r):
        return (lambda x, i: x[:, i, None]), (real(r, 3, 5), index(r, 4))

    @case("x[i[::2]].T: a strided index and a transposed result")
    def index_strided_transposed(r):
        return (lambda x, i: x[i[::2]].T), (real(r, 5, 4), index(r, 6))

    @case("x[0, i, :, j]: index components that are not neighbours")
    def index_not_neighbours(r):
        return (lambda x, i, j: x[0, i, :, j]), (real(r, 2, 5, 3, 4), index(r, 6), index(r, 6, low=-4, high=4))

    for mode in ("fill", "clip", "wrap"):
        @case(f"jnp.take along axis 1, mode {mode}", name=f"take_{mode}")
        def take(r, mode=mode):
            return (lambda x, i: jnp.take(x, i, axis=1, mode=mode)), (real(r, 3, 5, 2), index(r, 2, 3, low=-8, high=9))

        if mode != "wrap":
            @case(f"jnp.take_along_axis, mode {mode}", name=f"take_along_axis_{mode}")
            def take_along_axis(r, mode=mode):
                return (lambda x, i: jnp.take_along_axis(x, i, axis=0, mode=mode)), (real(r, 5, 4), index(r, 3, 4, low=-8, high=9))

    @case("argsort, then take_along_axis")
    def sort_by_key(r):
        return (lambda x: jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)), (real(r, 4, 6),)

    @case("top_k, then the rows that it chose")
    def top_k_rows(r):
        return (lambda s, x: x[lax.top_k(s, 3)[1]]), (real(r, 8), real(r, 8, 3))

    # segments
    for f in ("segment_sum", "segment_prod", "segment_min", "segment_max"):
        @case(f"jax.ops.{f}; some ids are outside", name=f)
        def segment(r, f=f):
            return (lambda u, i: getattr(jax.ops, f)(u, i, num_segments=4)), (small(r, 7, 2), index(r, 7, low=-2, high=6))

    @case("segment_sum of sorted ids")
    def segment_sum_sorted(r):
        return (lambda u, i: jax.ops.segment_sum(u, i, num_segments=5, indices_are_sorted=True)), (small(r, 8, 3), np.sort(index(r, 8, low=0, high=5)))

    @case("bincount")
    def bincount(r):
        return (lambda i, w: jnp.bincount(i, w, length=6)), (index(r, 12, low=0, high=6), small(r, 12))

    @case("a histogram by at[].add of 1 over a constant operand")
    def histogram(r):
        return (lambda i: jnp.zeros(8, jnp.int32).at[i].add(1)), (index(r, 30, low=-9, high=10),)

    @case("one-hot rows by a scatter over iota")
    def one_hot_scatter(r):
        return (lambda i: jnp.zeros((6, 5)).at[jnp.arange(6), i].set(1)), (index(r, 6),)

    @case("jnp.nonzero with a size, whose result indexes")
    def nonzero_rows(r):
        return (lambda m, x: x[jnp.nonzero(m, size=4, fill_value=0)[0]]), (r.integers(0, 2, 8).astype(bool), real(r, 8, 3))

    @case("jnp.repeat with run-time repeats: cumsum, scatter, gather")
    def repeat(r):
        return (lambda x, n: jnp.repeat(x, n, axis=0, total_repeat_length=9)), (real(r, 4, 2), np.array([2, 0, 3, 4], np.int32))

    @case("jnp.roll by a run-time shift")
    def roll(r):
        return (lambda x, s: jnp.roll(x, s, axis=1)), (real(r, 3, 7), np.int32(5))

    @case("jnp.searchsorted, then a gather of what lies there")
    def searchsorted(r):
        return (lambda t, x, v: v[jnp.searchsorted(t, x)]), (np.sort(real(r, 8)), real(r, 5), real(r, 9, 2))

    @case("linear interpolation between gathered neighbours", FLOAT_MATH)
    def interp(r):
        return (lambda x, xp, fp: jnp.interp(x, xp, fp)), (real(r, 6), np.sort(real(r, 5)), real(r, 5))

    @case("reverse before a gather")
    def reverse_then_take(r):
        return (lambda x, i: x[::-1][i]), (real(r, 6, 3), index(r, 4))

    @case("jnp.delete at a run-time place")
    def delete(r):
        return (lambda x, i: jnp.delete(x, i, axis=0, assume_unique_indices=True)), (real(r, 6, 3), np.array([1, 4], np.int32))

    @case("jnp.insert at run-time places")
    def insert(r):
        return (lambda x, i, v: jnp.insert(x, i, v, axis=0)), (real(r, 5, 3), np.array([1, 4], np.int32), real(r, 2, 3))

    @case("jnp.unique with a size, and the inverse as index")
    def unique_inverse(r):
        def f(i, w):
            values, inverse = jnp.unique(i, return_inverse=True, size=5, fill_value=99)
            return values, jnp.zeros(5).at[inverse].add(w)
        return f, (index(r, 9, low=0, high=5), small(r, 9))

    # dynamic slices
    @case("dynamic_slice with a start that is clamped")
    def dynamic_slice(r):
        return (lambda x, s, t: lax.dynamic_slice(x, (s, t), (2, 3))), (real(r, 5, 4), np.int32(4), np.int32(-3))

    @case("dynamic_update_slice with a start that is clamped")
    def dynamic_update_slice(r):
        return (lambda x, u, s, t: lax.dynamic_update_slice(x, u, (s, t))), (real(r, 5, 4), real(r, 2, 3), np.int32(4), np.int32(1))

    @case("vmap of dynamic_slice: a gather with batching dims")
    def vmap_dynamic_slice(r):
        return jax.vmap(lambda x, s: lax.dynamic_slice_in_dim(x, s, 2)), (real(r, 5, 4), index(r, 5, low=-6, high=8))

    @case("vmap of dynamic_update_slice: a scatter with batching dims")
    def vmap_dynamic_update_slice(r):
        return jax.vmap(lambda x, u, s: lax.dynamic_update_slice_in_dim(x, u, s, 0)), (real(r, 5, 4, 2), real(r, 5, 2, 2), index(r, 5, low=-6, high=8))

    for method in ("set", "add", "max"):
        @case(f"vmap of at[].{method}: batching dims", name=f"vmap_at_{method}")
        def vmap_at(r, method=method):
            i = np.stack([distinct(r, 2, 5) for _ in range(3)])
            return jax.vmap(lambda x, i, u: getattr(x.at[i], method)(u)), (small(r, 3, 5, 4), i, small(r, 3, 2, 4))

    @case("vmap over indices and updates only: one operand for all")
    def vmap_shared_operand(r):
        return jax.vmap(lambda x, i, u: x.at[:, i].add(u), in_axes=(None, 0, 0)), (small(r, 5, 4), index(r, 3, 2, low=-4, high=4), small(r, 3, 5, 2))

    @case("vmap of vmap of take_along_axis")
    def vmap_vmap_take(r):
        return jax.vmap(jax.vmap(lambda x, i: x[i])), (real(r, 2, 3, 5), index(r, 2, 3, 4))

    @case("vmap of at[].get with mode fill")
    def vmap_get_fill(r):
        return jax.vmap(lambda x, i: x.at[i].get(mode="fill", fill_value=0)), (real(r, 3, 5, 2), index(r, 3, 4, low=-8, high=9))

    # caches
    @case("a decode step into a bf16 KV cache, one place for the batch")
    def kv_cache_bf16(r):
        def f(cache, token, place):
            return lax.dynamic_update_slice_in_dim(cache, token, place, 1)
        return f, (real(r, 2, 8, 2, 4).astype(BF16), real(r, 2, 1, 2, 4).astype(BF16), np.int32(5))

    @case("a decode step into an int8 KV cache with its scales; each sequence has its own place", FLOAT_MATH)
    def kv_cache_int8(r):
        def f(cache, scales, token, places):
            scale = jnp.max(jnp.abs(token), axis=-1) / 127
            q = jnp.round(token / scale[..., None]).astype(jnp.int8)
            rows = jnp.arange(token.shape[0])
            return cache.at[rows, places].set(q), scales.at[rows, places].set(scale)
        return f, (r.integers(-128, 128, (3, 8, 2, 4)).astype(np.int8), real(r, 3, 8, 2), real(r, 3, 2, 4), np.array([0, 7, 3], np.int32))

    @case("a rolling cache: places modulo the window")
    def kv_cache_rolling(r):
        return (lambda cache, token, t: cache.at[:, t % cache.shape[1]].set(token)), (real(r, 2, 4, 3), real(r, 2, 3), np.int32(11))

    @case("a paged cache: slots of -1 are dropped")
    def paged_cache_write(r):
        def f(pages, keys, slots):
            flat = pages.reshape(-1, *pages.shape[2:])
            return flat.at[jnp.where(slots < 0, flat.shape[0], slots)].set(keys, mode="drop").reshape(pages.shape)
        return f, (real(r, 4, 4, 2, 3), real(r, 6, 2, 3), np.array([3, 7, -1, 12, 0, -1], np.int32))

    @case("a paged cache is read by a block table")
    def paged_cache_read(r):
        return (lambda pages, table: pages[table].reshape(table.shape[0], -1, 3)), (real(r, 6, 4, 3), index(r, 2, 3, low=0, high=6))

    @case("an int4 cache is written and read: the file has i4")
    def kv_cache_int4(r):
        def f(cache, token, place):
            cache = lax.dynamic_update_slice_in_dim(cache, token.astype(jnp.int4), place, 0)
            return cache.astype(jnp.int8)
        return lambda cache, token, place: f(cache.astype(jnp.int4), token, place), \
            (small(r, 6, 4, dtype=np.int8), small(r, 1, 4, dtype=np.int8), np.int32(2))

    # control flow
    @case("lax.scan that fills a KV cache token by token: the update stands inside while")
    def scan_kv_cache(r):
        def f(cache, tokens, start):
            def step(carry, token):
                cache, place = carry
                cache = lax.dynamic_update_slice(cache, token[None], (place, 0))
                return (cache, place + 1), cache.sum()
            (cache, place), sums = lax.scan(step, (cache, start), tokens)
            return cache, place, sums
        return f, (small(r, 8, 3), small(r, 4, 3), np.int32(2))

    @case("lax.while_loop that writes until a row is found")
    def while_scatter(r):
        def f(x, i, n):
            def body(state):
                k, x = state
                return k + 1, x.at[i[k]].add(1)
            return lax.while_loop(lambda s: s[0] < n, body, (0, x))[1]
        return f, (small(r, 5, 2), index(r, 6, low=0, high=5), np.int32(4))

    @case("lax.fori_loop over gathers")
    def fori_gather(r):
        return (lambda x, i: lax.fori_loop(0, 3, lambda k, s: s + x[i[k]], jnp.zeros(4))), (small(r, 5, 4), index(r, 3))

    @case("lax.cond with a scatter in one branch and a gather before")
    def cond_scatter(r):
        def f(x, i, u, p):
            rows = x[i]
            return lax.cond(p, lambda: x.at[i].add(u), lambda: x.at[i].set(rows * 2))
        return f, (small(r, 5, 3), distinct(r, 3, 5), small(r, 3, 3), np.bool_(True))

    @case("lax.switch over three updates")
    def switch_update(r):
        def f(x, i, u, k):
            return lax.switch(k, [lambda: x.at[i].set(u), lambda: x.at[i].add(u), lambda: x.at[i].max(u)])
        return f, (small(r, 5, 3), distinct(r, 3, 5), small(r, 3, 3), np.int32(1))

    @case("lax.map over gathers")
    def map_gather(r):
        return (lambda x, i: lax.map(lambda k: x[k] * 2, i)), (small(r, 5, 3), index(r, 4))

    @case("associative_scan, then the last of each segment")
    def associative_scan(r):
        return (lambda x, ends: lax.associative_scan(jnp.add, x)[ends]), (small(r, 8, 2), np.array([1, 4, 7], np.int32))

    # autodiff
    @case("the gradient of an embedding look-up")
    def embedding_grad(r):
        return jax.grad(lambda t, i, w: jnp.sum(t[i] * w)), (small(r, 6, 4), index(r, 5, low=-6, high=6), small(r, 5, 4))

    @case("the gradient of an embedding, in bf16")
    def embedding_grad_bf16(r):
        return jax.grad(lambda t, i, w: jnp.sum((t[i] * w).astype(jnp.float32))), \
            (small(r, 6, 4, dtype=BF16), index(r, 5, low=0, high=6), small(r, 5, 4, dtype=BF16))

    @case("value and gradient of a small embedding model", FLOAT_MATH)
    def embedding_model_grad(r):
        def loss(params, i, y):
            table, w = params
            return jnp.mean((jnp.tanh(table[i].mean(1)) @ w - y) ** 2)
        return jax.value_and_grad(loss), ((real(r, 8, 4), real(r, 4, 2)), index(r, 3, 5, low=0, high=8), real(r, 3, 2))

    @case("the gradient of dynamic_slice is dynamic_update_slice into zeros")
    def dynamic_slice_grad(r):
        return jax.grad(lambda x, s: jnp.sum(lax.dynamic_slice(x, (s, 1), (2, 2)) ** 2)), (small(r, 5, 4), np.int32(4))

    @case("the gradient of at[].set: zeros where it wrote")
    def scatter_set_grad(r):
        return jax.grad(lambda x, i, u: jnp.sum(x.at[i].set(u) ** 2), argnums=(0, 2)), (small(r, 5, 3), np.array([1, 3], np.int32), small(r, 2, 3))

    @case("the gradient of segment_max", FLOAT_MATH)
    def segment_max_grad(r):
        return jax.grad(lambda u, i: jnp.sum(jax.ops.segment_max(u, i, num_segments=3) ** 2)), (real(r, 6, 2), np.array([0, 2, 1, 0, 2, 1], np.int32))

    @case("jvp of a gather: tangents are gathered too")
    def gather_jvp(r):
        return (lambda x, t, i: jax.jvp(lambda x: x[i] * 2, (x,), (t,))), (small(r, 5, 3), small(r, 5, 3), index(r, 4))

    @case("jax.checkpoint around an embedding: optimization_barrier", FLOAT_MATH)
    def checkpoint_embedding(r):
        @jax.checkpoint
        def block(t, i):
            return jnp.sin(t[i]) * t[i]
        return jax.grad(lambda t, i: jnp.sum(block(t, i))), (real(r, 6, 4), index(r, 5))

    @case("jax.checkpoint of a whole step with a scatter inside")
    def checkpoint_scatter(r):
        @jax.checkpoint
        def block(x, i, u):
            return x.at[i].add(u * x[i])
        return jax.grad(lambda x, i, u: jnp.sum(block(x, i, u) ** 2)), (small(r, 5, 3), index(r, 4, low=0, high=5), small(r, 4, 3))

    @case("an optimization barrier with three operands between index arithmetic and scatter")
    def barrier(r):
        def f(x, i, u):
            x, i, u = lax.optimization_barrier((x, i + 1, u * 2))
            return x.at[i].add(u)
        return f, (small(r, 6, 3), index(r, 4, low=0, high=5), small(r, 4, 3))

    # shapes around
    @case("cumsum of counts gives the places: reduce_window")
    def cumsum_places(r):
        def f(x, group):
            counts = jnp.zeros(4, jnp.int32).at[group].add(1)
            starts = jnp.cumsum(counts) - counts
            order = jnp.argsort(group)
            return starts, jnp.zeros_like(x).at[jnp.arange(x.shape[0])].set(x[order])
        return f, (small(r, 9, 2), index(r, 9, low=0, high=4))

    @case("einsum before and after a gather", FLOAT_MATH)
    def einsum_gather(r):
        return (lambda x, w, i: jnp.einsum("bd,dh->bh", jnp.einsum("vd,de->ve", x, w)[i], w)), (real(r, 6, 4), real(r, 4, 4), index(r, 3))

    @case("concatenate of a tensor and its rows, reshaped")
    def concatenated(r):
        return (lambda x, i: jnp.concatenate([x, x[i]]).reshape(4, -1)), (real(r, 5, 4), index(r, 3))

    @case("a mask sends updates out of bounds")
    def masked_update(r):
        return (lambda x, i, u: x.at[jnp.where(i % 2 == 0, i, 100)].set(u, mode="drop")), (small(r, 6, 4), np.array([0, 1, 2, 3, 4, 5], np.int32), small(r, 6, 4))

    @case("pad before a scatter")
    def pad_then_scatter(r):
        return (lambda x, i, u: jnp.pad(x, ((1, 2), (0, 0))).at[i].add(u)), (small(r, 4, 3), index(r, 5, low=0, high=7), small(r, 5, 3))

    @case("a gather feeds a scatter of the same tensor, with scale and bias")
    def gather_scale_scatter(r):
        return (lambda x, i, j, s, b: x.at[j].add(x[i] * s + b)), (small(r, 6, 4), index(r, 5), distinct(r, 5, 6), small(r, 4), small(r, 4))

    @case("a transposed operand and a transposed result around a scatter")
    def transposed_scatter(r):
        return (lambda x, i, u: x.T.at[i].add(u.T).T), (small(r, 4, 6), index(r, 5), small(r, 4, 5))

    @case("a result of rank 0 that is read from a table")
    def scalar_read(r):
        return (lambda t, i: t[i, i + 1]), (real(r, 4, 5), np.int32(2))

    @case("a table that stands in the file as a constant")
    def constant_table(r):
        table = real(r, 12, 5)
        return (lambda i: jnp.asarray(table)[i]), (index(r, 4, low=-12, high=12),)

    @case("a constant index vector and a constant update")
    def constant_indices(r):
        i = np.array([3, 0, 4], np.int32)
        return (lambda x, u: x.at[i].add(u * 2).at[jnp.array([1, 2])].set(-1.0)), (small(r, 5, 4), small(r, 3, 4))

    @case("locations behind every operation (as_text with debug_info)", debug_info=True)
    def debug_info(r):
        def f(x, i, u):
            with jax.named_scope("update"):
                return jnp.take(x.at[i].add(u), i, axis=0)
        return f, (small(r, 5, 4), index(r, 6, low=-8, high=9), small(r, 6, 4))

    @case("the module in generic form", generic=True)
    def generic_form(r):
        return (lambda x, i, u: jax.nn.relu(x.at[i].add(u * 2))[i]), (small(r, 5, 4), index(r, 6, low=-8, high=9), small(r, 6, 4))

    # sharding on one device
    @case("jit with shardings on a mesh of one device: sdy.mesh and attributes")
    def sharded_embedding(r):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))
        spec = lambda *p: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*p))
        f = lambda t, i: lax.with_sharding_constraint(t[i], spec("data", None))
        return f, (real(r, 6, 4), index(r, 5)), {"in_shardings": (spec("model", None), spec("data")), "out_shardings": spec("data", None)}

    @case("a sharded scatter-add on one device")
    def sharded_scatter(r):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
        spec = lambda *p: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*p))
        f = lambda x, i, u: x.at[i].add(u)
        return f, (small(r, 6, 4), index(r, 5), small(r, 5, 4)), {"in_shardings": (spec("x", None), spec(), spec()), "out_shardings": spec("x", None)}

    @case("shard_map over one device: sdy.manual_computation around a scatter")
    def shard_map_scatter(r):
        mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
        p = jax.sharding.PartitionSpec
        f = jax.shard_map(lambda x, i, u: lax.psum(x.at[i].add(u), "x"), mesh=mesh, in_specs=(p(), p("x"), p("x")), out_specs=p())
        return f, (small(r, 6, 4), index(r, 5), small(r, 5, 4))

    return out
