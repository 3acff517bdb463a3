"""Operators of strew's own, as functions."""

from __future__ import annotations

import torch

from . import _override  # noqa: F401  has opened the library

__all__ = ["kv_append", "kv_append_", "sddmm", "spmm"]


def spmm(
    dst: torch.Tensor, src: torch.Tensor, table: torch.Tensor, weight: torch.Tensor | None = None, *, num_rows: int, reduce: str = "sum",
) -> torch.Tensor:
    """Messages along edges: ``result[dst[e]] += weight[e] * table[src[e]]``, in one pass. The messages, one row per edge, are never in memory.

    It is `torch.ops.strew.spmm`, with gradients (also of gradients) for `table` and `weight`, under `torch.compile`, and whether `enable` was called or not. Sums are in the order of
    the edges, on any number of threads, and have the bits of ``torch.zeros(num_rows, ...).index_add_(0, dst, table[src] * weight[:, None])``.

    Args:
        dst: int32 or int64 [E], the row of the result that each edge leads to, in [0, num_rows).
        src: int32 or int64 [E], the row of the table that it comes from.
        table: floating point [R, ...].
        weight: [E], of the table's dtype; None: 1.
        num_rows: the extent of the result's first dim; its others are the table's.
        reduce: "sum", or "mean": sums divided by the number of edges that lead to the row; 0 where none does.

    Raises:
        RuntimeError: an index is out of bounds, or the shapes or dtypes do not fit.
        ValueError: `reduce` has no such value.

    >>> table = torch.arange(6.0).reshape(3, 2)
    >>> strew.torch.spmm(torch.tensor([1, 0, 1]), torch.tensor([0, 2, 2]), table, num_rows=2)
    tensor([[4., 5.],
            [4., 6.]])
    """
    if reduce not in ("sum", "mean"):
        raise ValueError(f"reduce: {reduce!r}, expected 'sum' or 'mean'")
    result: torch.Tensor = torch.ops.strew.spmm(dst, src, table, weight, num_rows)
    if reduce == "mean":
        ones = torch.ones((), dtype=torch.int64, device=table.device).expand(dst.shape)
        counts = torch.zeros(num_rows, dtype=torch.int64, device=table.device).index_add_(0, dst, ones)
        result = result / counts.clamp_(min=1).to(table.dtype).view(-1, *[1] * (table.dim() - 1))
    return result


def sddmm(dst: torch.Tensor, src: torch.Tensor, lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    """The dot product of the rows ``lhs[dst[e]]`` and ``rhs[src[e]]`` for each edge e: scores of attention, and the gradient of the weights of `spmm`.

    It is `torch.ops.strew.sddmm`, with gradients for `lhs` and `rhs`. Products of float32 and float64 are added in eight sums side by side (docs/semantics.md), so the last bits
    are not those of ``(lhs[dst] * rhs[src]).sum(-1)``, but the same on any number of threads.

    Args:
        dst, src: int32 or int64 [E].
        lhs, rhs: floating point [N, ...] and [M, ...], with rows of one shape.

    Returns:
        [E].

    Raises:
        RuntimeError: an index is out of bounds, or the shapes or dtypes do not fit.

    >>> strew.torch.sddmm(torch.tensor([0, 1]), torch.tensor([1, 1]), torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([3., 4.])
    """
    result: torch.Tensor = torch.ops.strew.sddmm(dst, src, lhs, rhs)
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
