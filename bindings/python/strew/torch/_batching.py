"""Rules of torch.vmap for strew's own operators: a batch of tables or weights is one more dim of the rows, and one call. A batch of indices is one call
each; these operators have no common bounds for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import _override  # noqa: F401  has opened the library

__all__: list[str] = []


def _behind_rows(tensor: torch.Tensor, dim: int | None, size: int) -> torch.Tensor:
    """With the batch as dim 1; without copies."""
    return tensor.unsqueeze(1).expand(-1, size, *tensor.shape[1:]) if dim is None else tensor.movedim(dim, 1)


def _one_by_one(op: Callable[..., Any], size: int, in_dims: tuple[Any, ...], args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The results of one call for each of the batch, stacked, and where the batch is in them."""
    results = [op(*(arg if dim is None else arg.select(dim, number) for arg, dim in zip(args, in_dims, strict=True))) for number in range(size)]
    if isinstance(results[0], torch.Tensor):
        return torch.stack(results), 0
    return tuple(torch.stack(each) for each in zip(*results, strict=True)), (0,) * len(results[0])


def _of_messages(op: Callable[..., Any], out_dims: Any) -> Callable[..., tuple[Any, Any]]:
    def rule(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
        dst, src, table, weight, *rest = args
        if in_dims[0] is not None or in_dims[1] is not None:
            return _one_by_one(op, info.batch_size, in_dims, args)
        if weight is not None and (weight.dim() > 1 or in_dims[3] is not None):
            weight = _behind_rows(weight, in_dims[3], info.batch_size)
        return op(dst, src, _behind_rows(table, in_dims[2], info.batch_size), weight, *rest), out_dims

    return rule


def _sddmm(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
    dst, src, lhs, rhs, *rest = args
    if in_dims[0] is not None or in_dims[1] is not None:
        return _one_by_one(torch.ops.strew.sddmm, info.batch_size, in_dims, args)
    head_dims = rest[0] if rest else 0
    left, right = _behind_rows(lhs, in_dims[2], info.batch_size), _behind_rows(rhs, in_dims[3], info.batch_size)
    return torch.ops.strew.sddmm(dst, src, left, right, head_dims + 1), 1


def _moe_permute(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
    hidden_states, topk_ids, num_experts = args
    if in_dims[1] is not None:
        return _one_by_one(torch.ops.strew.moe_permute, info.batch_size, in_dims, args)
    return torch.ops.strew.moe_permute(hidden_states.movedim(in_dims[0], 1), topk_ids, num_experts), (1, None, None, None)


torch.library.register_vmap("strew::spmm", _of_messages(torch.ops.strew.spmm, 1))
torch.library.register_vmap("strew::spmm_extremum", _of_messages(torch.ops.strew.spmm_extremum, (1, 1)))
torch.library.register_vmap("strew::sddmm", _sddmm)
torch.library.register_vmap("strew::moe_permute", _moe_permute)
