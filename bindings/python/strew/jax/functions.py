"""Functions of JAX arrays that are one pass of strew's kernels each: sums of segments, pooled look-ups, writes to caches, messages along edges.

They work inside and outside of `jax.jit`, whether `enable` was called or not, with gradients (also of gradients) and under `jax.vmap`, `lax.scan` and `shard_map`. Each has a definition in
plain jax.numpy, in its docstring, and has its bits and its handling of indices that are out of bounds; on devices other than the CPU it is that definition. Gradients have the bits of the
definition's gradients, too, but for the gradient of weights: that is a sum of products along rows, which XLA computes, in its own order.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from ._definition import call
from ._edges import Edges, Factor, Index, Kind, Rows, rest, weighted

__all__ = ["embedding_bag", "kv_append", "segment_sum", "spmm"]

def _require(is_so: bool, function: str, argument: str, given: Any, expected: str) -> None:
    if not is_so:
        text = f"{given.dtype}{list(given.shape)}" if hasattr(given, "dtype") and hasattr(given, "shape") else repr(given)
        raise TypeError(f"strew.jax.{function}: {argument} is {text}, expected {expected}")


def _require_indices(function: str, argument: str, given: Any, rank: int | None) -> None:
    dims = "" if rank is None else f" of {rank} dim" + ("" if rank == 1 else "s")
    _require(bool(jnp.issubdtype(given.dtype, jnp.integer)) and rank in (None, given.ndim), function, argument, given, f"integers{dims}")


def _require_auto(function: str, **arrays: Any) -> None:
    """On meshes with explicit axes, JAX asks who calls how the result lies, as it does for its own scatters."""
    for argument, given in arrays.items():
        kind = jax.typeof(given)
        if any(axes is not None for axes in kind.sharding.spec):
            raise TypeError(
                f"strew.jax.{function}: {argument} is {kind}, divided along explicit axes, expected a mesh with axes of type Auto, or a call inside of "
                f"jax.sharding.auto_axes, whose out_sharding says how the result lies"
            )


# ---- Segments --------------------------------------------------------------------------------------------------------------------------------------


def _segment_sum(data: jax.Array, segment_ids: jax.Array, num_segments: int, is_sorted: bool) -> jax.Array:
    result: jax.Array = jax.ops.segment_sum(data, segment_ids, num_segments, indices_are_sorted=is_sorted)
    return result


def segment_sum(data: jax.typing.ArrayLike, segment_ids: jax.typing.ArrayLike, num_segments: int, *, indices_are_sorted: bool = False) -> jax.Array:
    """The sum of the rows of each segment: ``jax.ops.segment_sum(data, segment_ids, num_segments)``.

    Args:
        data: [E, ...], any dtype that jnp adds.
        segment_ids: integers [E]. A row whose id is no segment is dropped, also if the id is below 0.
        num_segments: S, the extent of the result's first dim.
        indices_are_sorted: the ids do not decrease.

    Returns:
        [S, ...], of the dtype of `data`.

    Raises TypeError if the shapes or dtypes do not fit.

    >>> import jax.numpy as jnp, strew.jax
    >>> strew.jax.segment_sum(jnp.array([1.0, 2.0, 4.0]), jnp.array([1, 0, 1]), 3)
    Array([2., 5., 0.], dtype=float32)
    """
    data, segment_ids = jnp.asarray(data), jnp.asarray(segment_ids)
    _require_indices("segment_sum", "segment_ids", segment_ids, 1)
    _require(data.shape[:1] == segment_ids.shape, "segment_sum", "data", data, f"[{segment_ids.shape[0]}, ...], a row per id")
    _require_auto("segment_sum", data=data, segment_ids=segment_ids)
    row = rest(data.ndim, 1)
    edges = Edges(Kind.ADD, (("e", *row), ("e",), ("s", *row)), (Rows(0, None),), Index(1, is_wrapped=False))
    return call(_segment_sum, (int(num_segments), bool(indices_are_sorted)), (data, segment_ids), edges)


# ---- Messages along edges --------------------------------------------------------------------------------------------------------------------------


def _spmm(dst: jax.Array, src: jax.Array, table: jax.Array, num_rows: int) -> jax.Array:
    return jnp.zeros((num_rows, *table.shape[1:]), table.dtype).at[dst].add(table.at[src].get(mode="clip"))


def _spmm_weighted(dst: jax.Array, src: jax.Array, table: jax.Array, weight: jax.Array, num_rows: int) -> jax.Array:
    return jnp.zeros((num_rows, *table.shape[1:]), table.dtype).at[dst].add(weighted(table.at[src].get(mode="clip"), weight))


def _messages(dst: jax.Array, src: jax.Array, table: jax.Array, weight: jax.Array | None, num_rows: int, edge: Factor) -> jax.Array:
    row = rest(table.ndim, 1)
    extents = () if isinstance(edge, str) else ((edge[1], dst.shape[0] // max(num_rows, 1)),)
    if weight is None:
        edges = Edges(Kind.ADD, ((edge,), (edge,), ("r", *row), ("s", *row)), (Rows(2, Index(1, is_clipped=True)),), Index(0), extents=extents)
        return call(_spmm, (num_rows,), (dst, src, table), edges)
    edges = Edges(Kind.ADD, ((edge,), (edge,), ("r", *row), (edge, *rest(weight.ndim, 1)), ("s", *row)), (Rows(2, Index(1, is_clipped=True)),), Index(0), 3, extents)
    return call(_spmm_weighted, (num_rows,), (dst, src, table, weight), edges, linear=False, by_xla=(3,))


def spmm(dst: jax.typing.ArrayLike, src: jax.typing.ArrayLike, table: jax.typing.ArrayLike, weight: jax.typing.ArrayLike | None = None, *, num_rows: int) -> jax.Array:
    """Messages along edges, a sparse matrix times a table: ``jnp.zeros((num_rows, ...)).at[dst].add(weight[:, None] * table.at[src].get(mode="clip"))``. The messages, one row per edge,
    are never in memory; nor are those of the table's gradient, which goes along the same edges.

    Args:
        dst: integers [E], the row of the result that each edge leads to; edges to no row are dropped.
        src: integers [E], the row of the table that it comes from; rows that the table does not have are its nearest.
        table: [R, ...].
        weight: [E], or [E, H, ...] with the first dims of a row; of the table's dtype. None: 1.
        num_rows: the extent of the result's first dim; its others are the table's.

    Indices below 0 count from the end, as jnp has it. Raises TypeError if the shapes or dtypes do not fit.

    >>> import jax.numpy as jnp, strew.jax
    >>> strew.jax.spmm(jnp.array([1, 0, 1]), jnp.array([0, 2, 2]), jnp.arange(6.0).reshape(3, 2), num_rows=2)
    Array([[4., 5.],
           [4., 6.]], dtype=float32)
    """
    dst, src, table = jnp.asarray(dst), jnp.asarray(src), jnp.asarray(table)
    _require_indices("spmm", "dst", dst, 1)
    _require_indices("spmm", "src", src, 1)
    _require(dst.shape == src.shape, "spmm", "src", src, f"[{dst.shape[0]}], as dst has")
    _require(table.ndim > 0, "spmm", "table", table, "[R, ...]")
    _require_auto("spmm", dst=dst, src=src, table=table)
    if weight is None:
        return _messages(dst, src, table, None, int(num_rows), "e")
    weight = jnp.asarray(weight)
    row = (*src.shape, *table.shape[1:])
    _require(weight.dtype == table.dtype and weight.ndim > 0 and weight.shape == row[: weight.ndim], "spmm", "weight", weight, f"{table.dtype}, {list(row)} or its first dims")
    _require_auto("spmm", weight=weight)
    return _messages(dst, src, table, weight, int(num_rows), "e")


# ---- Pooled look-ups -------------------------------------------------------------------------------------------------------------------------------


def embedding_bag(
    table: jax.typing.ArrayLike, indices: jax.typing.ArrayLike, *, weights: jax.typing.ArrayLike | None = None, mode: str = "sum", padding_idx: int | None = None
) -> jax.Array:
    """Rows of a table, summed per bag: ``table.at[indices].get(mode="clip").sum(1)``, in the order of the indices and in one pass: the rows are never in memory.

    Args:
        table: [R, D].
        indices: integers [B, L], the rows of each bag; rows that the table does not have are its nearest, and those below 0 count from the end.
        weights: [B, L] of the table's dtype, factors of the rows. None: 1.
        mode: "sum", or "mean": sums times the reciprocal of the number of rows.
        padding_idx: this index stands for no row, and a bag of no rows has the sum and the mean 0. None: no index does.

    Returns:
        [B, D].

    Raises:
        TypeError: the shapes or dtypes do not fit.
        ValueError: `mode` has no such value.

    >>> import jax.numpy as jnp, strew.jax
    >>> strew.jax.embedding_bag(jnp.arange(6.0).reshape(3, 2), jnp.array([[0, 2], [1, 1]]))
    Array([[4., 6.],
           [4., 6.]], dtype=float32)
    """
    table, indices = jnp.asarray(table), jnp.asarray(indices)
    if mode not in ("sum", "mean"):
        raise ValueError(f"strew.jax.embedding_bag: mode is {mode!r}, expected 'sum' or 'mean'")
    _require(table.ndim == 2, "embedding_bag", "table", table, "[R, D]")
    _require_indices("embedding_bag", "indices", indices, 2)
    _require_auto("embedding_bag", table=table, indices=indices)
    bags, length = indices.shape
    dst = jnp.broadcast_to(jnp.arange(bags, dtype=jnp.int32)[:, None], indices.shape)
    if padding_idx is not None:
        dst = jnp.where(indices == padding_idx, bags, dst)
    flat = None
    if weights is not None:
        weights = jnp.asarray(weights)
        _require(weights.shape == indices.shape and weights.dtype == table.dtype, "embedding_bag", "weights", weights, f"{table.dtype}{list(indices.shape)}, as table and indices have")
        _require_auto("embedding_bag", weights=weights)
        flat = weights.reshape(-1)
    sums = _messages(dst.reshape(-1), indices.reshape(-1), table, flat, bags, ("s", "whole_length"))
    if mode == "sum":
        return sums
    counts = length if padding_idx is None else jnp.maximum((indices != padding_idx).sum(1, keepdims=True), 1)
    return sums * (1 / jnp.asarray(counts, table.dtype))  # what XLA mostly makes of a quotient of broadcast counts; a quotient has other bits where it does not


# ---- Caches ----------------------------------------------------------------------------------------------------------------------------------------


def _kv_slots(cache: jax.Array, index: jax.Array, values: jax.Array, blocks: int) -> jax.Array:
    slots = cache.reshape(-1, *cache.shape[blocks:])
    return slots.at[jnp.where(index < 0, slots.shape[0], index)].set(values).reshape(cache.shape)


def _kv_sequences(cache: jax.Array, index: jax.Array, values: jax.Array, dim: int) -> jax.Array:
    def of_sequence(sequence: jax.Array, start: jax.Array, tokens: jax.Array) -> jax.Array:
        result: jax.Array = lax.dynamic_update_slice_in_dim(sequence, tokens, start, dim - 1)
        return result

    result: jax.Array = jax.vmap(of_sequence)(cache, index, values)
    return result


def kv_append(cache: jax.typing.ArrayLike, index: jax.typing.ArrayLike, values: jax.typing.ArrayLike, *, dim: int | None = None) -> jax.Array:
    """Writes the keys or values of new tokens into a cache: in place, if the cache is donated or a loop carries it.

    Args:
        cache: any dtype. Without `dim` it has slots, [slots, ...], or blocks of them, [blocks, block size, ...] (a paged cache); with `dim` it has sequences, [batch, ...].
        index: integers of one dim. Without `dim`, the slot of each token, counted through all blocks; tokens with other indices, such as -1 for padding, are left out, and of equal slots the
            last one counts. With `dim`, the position of each sequence at which its tokens begin; where they would not fit, they are moved back (`lax.dynamic_update_slice`).
        values: [tokens, ...], or with `dim` the cache's dims with the number of new tokens in that dim; of the cache's dtype.
        dim: the dim of the positions, as 2 of [batch, heads, length, width]; None: slots.

    Returns:
        The cache with the tokens.

    Raises TypeError if the shapes or dtypes do not fit.

    >>> import jax.numpy as jnp, strew.jax
    >>> cache = jnp.zeros((2, 2, 1))  # two blocks of two slots
    >>> strew.jax.kv_append(cache, jnp.array([3, -1, 0]), jnp.array([[5.0], [6.0], [7.0]])).ravel()
    Array([7., 0., 0., 5.], dtype=float32)
    >>> strew.jax.kv_append(jnp.zeros((2, 4)), jnp.array([0, 2]), jnp.ones((2, 1)), dim=1)
    Array([[1., 0., 0., 0.],
           [0., 0., 1., 0.]], dtype=float32)
    """
    cache, index, values = jnp.asarray(cache), jnp.asarray(index), jnp.asarray(values)
    _require_indices("kv_append", "index", index, 1)
    _require(values.dtype == cache.dtype, "kv_append", "values", values, f"{cache.dtype}, as the cache has")
    _require_auto("kv_append", cache=cache, index=index, values=values)
    if dim is None:
        row = values.shape[1:]
        blocks = cache.ndim - len(row)
        fits = blocks in (1, 2) and cache.shape[blocks:] == row and values.shape[:1] == index.shape
        _require(fits, "kv_append", "values", values, f"[{index.shape[0]}, ...], a row of the cache {list(cache.shape)} per index")
        slots = ("s", "whole_block")[:blocks] + rest(values.ndim, 1)
        edges = Edges(Kind.OWN, (slots, ("e",), ("e", *rest(values.ndim, 1)), slots), to=Index(1, is_wrapped=False))
        return call(_kv_slots, (blocks,), (cache, index, values), edges)
    _require(isinstance(dim, int) and 0 < dim < cache.ndim, "kv_append", "dim", dim, f"one of 1 to {cache.ndim - 1}, the dims of the cache but the first")
    expected = (*cache.shape[:dim], values.shape[dim] if dim < values.ndim else 0, *cache.shape[dim + 1 :])
    _require(values.shape == expected and values.shape[dim] <= cache.shape[dim], "kv_append", "values", values, f"the dims of the cache {list(cache.shape)}, with at most its extent in dim {dim}")
    _require(index.shape == cache.shape[:1], "kv_append", "index", index, f"[{cache.shape[0]}], one per sequence")
    passing = rest(cache.ndim, 0)
    of_cache, of_values = ((*passing[:dim], f"whole_{what}", *passing[dim + 1 :]) for what in ("positions", "tokens"))
    return call(_kv_sequences, (dim,), (cache, index, values), Edges(Kind.EACH, (of_cache, passing[:1], of_values, of_cache)))
