"""Operators of strew's own, as functions."""

from __future__ import annotations

import torch

from . import _override  # noqa: F401  has opened the library

__all__ = ["kv_append", "kv_append_", "moe_permute", "moe_unpermute", "sddmm", "spmm", "spmm_csr"]


def spmm(
    dst: torch.Tensor, src: torch.Tensor, table: torch.Tensor, weight: torch.Tensor | None = None, *, num_rows: int, reduce: str = "sum",
) -> torch.Tensor:
    """Messages along edges: ``result[dst[e]] += weight[e] * table[src[e]]``, in one pass. The messages, one row per edge, are never in memory.

    It is `torch.ops.strew.spmm`, with gradients (also of gradients, and in forward mode) for `table` and `weight`, under `torch.compile` and `torch.func`, and whether `enable` was
    called or not. Sums are in the order of the edges, on any number of threads, and have the bits of
    ``torch.zeros(num_rows, ...).index_add_(0, dst, table[src] * weight[:, None])``. Edges that are sorted by `dst` take less time.

    Args:
        dst: int32 or int64 [E], the row of the result that each edge leads to, in [0, num_rows).
        src: int32 or int64 [E], the row of the table that it comes from.
        table: floating point [R, ...].
        weight: [E], or [E, H, ...] with the first dims of a row: one number per head of a table [R, H, C]; None: 1. Of the table's dtype, or float32 with a table of 16
            bits: then products are not rounded before they are added.
        num_rows: the extent of the result's first dim; its others are the table's.
        reduce: "sum"; "mean", sums divided by the number of edges that lead to the row; "amax" or "amin" (docs/semantics.md: a NaN wins, and -0 is less than 0), whose gradient
            goes to the first of the edges that have the value, and which have no derivatives in forward mode. Rows that no edge leads to are 0.

    Raises:
        RuntimeError: an index is out of bounds, or the shapes or dtypes do not fit.
        ValueError: `reduce` has no such value.

    >>> table = torch.arange(6.0).reshape(3, 2)
    >>> dst, src = torch.tensor([1, 0, 1]), torch.tensor([0, 2, 2])
    >>> strew.torch.spmm(dst, src, table, num_rows=2)
    tensor([[4., 5.],
            [4., 6.]])
    >>> strew.torch.spmm(dst, src, table, num_rows=2, reduce="amax")
    tensor([[4., 5.],
            [4., 5.]])
    """
    if reduce in ("amax", "amin"):
        result: torch.Tensor = torch.ops.strew.spmm_extremum(dst, src, table, weight, num_rows, reduce)[0]
        return result
    if reduce not in ("sum", "mean"):
        raise ValueError(f"reduce: {reduce!r}, expected 'sum', 'mean', 'amax' or 'amin'")
    result = torch.ops.strew.spmm(dst, src, table, weight, num_rows, reduce)
    return result


def spmm_csr(
    crow_indices: torch.Tensor, col_indices: torch.Tensor, table: torch.Tensor, values: torch.Tensor | None = None, *, reduce: str = "sum",
) -> torch.Tensor:
    """`spmm` of edges that are sorted by their destinations, in compressed form, as `torch.sparse_csr_tensor` has them: a sparse matrix times the table.

    Args:
        crow_indices: int32 or int64 [N + 1]: row r of the result has the edges ``crow_indices[r]`` to ``crow_indices[r + 1]``.
        col_indices: int32 or int64 [E], the row of the table that each edge comes from.
        table, values, reduce: the table, weights and reduction of `spmm`.

    Returns:
        [N, ...].

    Raises:
        RuntimeError: `crow_indices` do not begin with 0, fall, or do not end with E; and as `spmm`.

    >>> matrix = torch.tensor([[0.0, 2.0], [0.0, 0.0], [1.0, 3.0]]).to_sparse_csr()
    >>> strew.torch.spmm_csr(matrix.crow_indices(), matrix.col_indices(), torch.tensor([[1.0, 10.0], [2.0, 20.0]]), matrix.values())
    tensor([[ 4., 40.],
            [ 0.,  0.],
            [ 7., 70.]])
    """
    dst = torch.ops.strew.csr_rows(crow_indices, col_indices.numel())
    return spmm(dst, col_indices, table, values, num_rows=crow_indices.numel() - 1, reduce=reduce)


def sddmm(dst: torch.Tensor, src: torch.Tensor, lhs: torch.Tensor, rhs: torch.Tensor, *, head_dims: int = 0) -> torch.Tensor:
    """The dot product of the rows ``lhs[dst[e]]`` and ``rhs[src[e]]`` for each edge e: scores of attention, and the gradient of the weights of `spmm`.

    It is `torch.ops.strew.sddmm`, with gradients for `lhs` and `rhs`, in forward mode, too. Products are added in eight sums side by side (docs/semantics.md), those of 16 bits in
    float32 with one rounding at the end, so the last bits are not those of ``(lhs[dst] * rhs[src]).sum(-1)``, but the same on any number of threads.

    Args:
        dst, src: int32 or int64 [E].
        lhs, rhs: floating point [N, ...] and [M, ...], with rows of one shape.
        head_dims: how many of the first dims of a row have a product of their own: 1 for rows [H, C] of H heads.

    Returns:
        [E], or with `head_dims` [E, H, ...].

    Raises:
        RuntimeError: an index is out of bounds, or the shapes or dtypes do not fit.

    >>> dst, src = torch.tensor([0, 1]), torch.tensor([1, 1])
    >>> strew.torch.sddmm(dst, src, torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([3., 4.])
    >>> strew.torch.sddmm(dst, src, torch.ones(2, 2, 3), torch.arange(12.0).reshape(2, 2, 3), head_dims=1)
    tensor([[21., 30.],
            [21., 30.]])
    """
    result: torch.Tensor = torch.ops.strew.sddmm(dst, src, lhs, rhs, head_dims)
    return result


def moe_permute(hidden_states: torch.Tensor, topk_ids: torch.Tensor, *, num_experts: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Puts tokens into the order of their experts, for one product of matrices per expert.

    It is `torch.ops.strew.moe_permute`, with gradients for `hidden_states`. The names are vLLM's.

    Args:
        hidden_states: [T, ...], of any dtype.
        topk_ids: int32 or int64 [T, k], the experts that each token goes to, in [0, num_experts).
        num_experts: how many there are.

    Returns:
        (permuted, permuted_idx, inv_permuted_idx, tokens_per_expert), the last three int64: the rows [T * k, ...] sorted by expert, and of one expert in the order of the tokens;
        for each row which of ``topk_ids.flatten()`` it is for, so that ``topk_weights.flatten()[permuted_idx]`` are its weights; for each token and expert the
        row, [T, k]; and how many rows each expert has, whose ``cumsum(0)`` is where these end (the offsets of grouped products).

    Raises:
        IndexError: an expert's number is out of bounds.
        RuntimeError: the shapes or dtypes do not fit.

    >>> permuted, _, inverse, counts = strew.torch.moe_permute(torch.tensor([[1.0], [2.0]]), torch.tensor([[1, 0], [1, 2]]), num_experts=3)
    >>> permuted.flatten(), inverse, counts
    (tensor([1., 1., 2., 2.]), tensor([[1, 0],
            [2, 3]]), tensor([1, 2, 1]))
    """
    result: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor] = torch.ops.strew.moe_permute(hidden_states, topk_ids, num_experts)
    return result


def moe_unpermute(permuted: torch.Tensor, inv_permuted_idx: torch.Tensor, topk_weights: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of each token's rows, times their weights: the inverse of `moe_permute`, in one pass.

    It is `spmm`, with its derivatives: ``result[t] += topk_weights[t, j] * permuted[inv_permuted_idx[t, j]]`` in the order of j, from 0.

    Args:
        permuted: floating point [R, ...], what the experts gave for the rows of `moe_permute`.
        inv_permuted_idx: int32 or int64 [T, k], as from `moe_permute`; any numbers of rows will do.
        topk_weights: [T, k], of the dtype of `permuted`, or float32 if that has 16 bits: then products and sums are float32, and rounded once; None: 1.

    Returns:
        [T, ...].

    Raises:
        RuntimeError: a row is out of bounds, or the shapes or dtypes do not fit.

    >>> strew.torch.moe_unpermute(torch.tensor([[1.0], [1.0], [2.0], [2.0]]), torch.tensor([[1, 0], [2, 3]]), torch.tensor([[0.5, 0.5], [0.25, 0.75]]))
    tensor([[1.],
            [2.]])
    """
    result: torch.Tensor = torch.ops.strew.moe_unpermute(permuted, inv_permuted_idx, topk_weights)
    return result


def kv_append_(
    cache: torch.Tensor | list[torch.Tensor], index: torch.Tensor, values: torch.Tensor | list[torch.Tensor], *, dim: int | None = None,
) -> None:
    """Writes the keys and values of new tokens into caches, in place; all of a call, or nothing if an index is out of bounds.

    It is `torch.ops.strew.kv_append_`, with gradients; `torch.compile` and `torch.export` keep it in place.

    Args:
        cache: a tensor of any dtype, or a list of them, which is written at the same places: keys and values, or those of many layers. Without `dim` it has slots,
            [slots, ...], or blocks of them, [blocks, block size, ...] (vLLM's paged cache); with `dim` it has sequences, [batch, ...] (a static cache, ONNX's TensorScatter).
        index: int32 or int64 of one dim. Without `dim`, the slot of each token, counted through all blocks (vLLM's slot mapping); -1 stands for padding, which is left out,
            and of equal slots the last one counts. With `dim`, the position of each sequence from which on its tokens are written; there may be fewer than the cache has.
        values: [tokens, ...], or with `dim` the cache's dims with the number of new tokens in that dim; a list where `cache` is one.
        dim: the dim of the positions, as 2 of [batch, heads, length, width]; None: slots.

    Raises:
        IndexError: an index is out of bounds, or the tokens do not fit behind it.
        RuntimeError: the shapes or dtypes do not fit, elements of a cache share memory with each other or with the values, or a cache is a leaf that requires a gradient.

    >>> cache = torch.zeros(2, 2, 1)  # two blocks of two slots
    >>> strew.torch.kv_append_(cache, torch.tensor([3, -1, 0]), torch.tensor([[5.0], [6.0], [7.0]]))
    >>> cache.flatten()
    tensor([7., 0., 0., 5.])
    >>> keys, values = torch.zeros(2, 4), torch.zeros(2, 4)  # two sequences of up to four tokens
    >>> strew.torch.kv_append_([keys, values], torch.tensor([0, 2]), [torch.ones(2, 1), torch.full((2, 1), 2.0)], dim=1)
    >>> values
    tensor([[2., 0., 0., 0.],
            [0., 0., 2., 0.]])
    """
    torch.ops.strew.kv_append_(_listed(cache), index, _listed(values), dim)


def kv_append(
    cache: torch.Tensor | list[torch.Tensor], index: torch.Tensor, values: torch.Tensor | list[torch.Tensor], *, dim: int | None = None,
) -> torch.Tensor | list[torch.Tensor]:
    """As `kv_append_`, but into copies.

    Args:
        cache, index, values, dim: those of `kv_append_`.

    Returns:
        A new tensor, contiguous, or a list of them where `cache` is one.

    Raises:
        IndexError, RuntimeError: as `kv_append_`.

    >>> strew.torch.kv_append(torch.zeros(4), torch.tensor([3]), torch.tensor([5.0]))
    tensor([0., 0., 0., 5.])
    """
    made: list[torch.Tensor] = torch.ops.strew.kv_append(_listed(cache), index, _listed(values), dim)
    return made[0] if isinstance(cache, torch.Tensor) else made


def _listed(tensors: torch.Tensor | list[torch.Tensor]) -> list[torch.Tensor]:
    return [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
