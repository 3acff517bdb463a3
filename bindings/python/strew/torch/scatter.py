"""The functions of the package torch_scatter, under their names and with their arguments, on PyTorch's own indexed operators.

    from strew.torch.scatter import scatter, scatter_max, segment_csr      # instead of: from torch_scatter import ...

A program that imports torch_scatter in other places, too, can be given this module under that name before its first import:
``sys.modules["torch_scatter"] = strew.torch.scatter``.

Everything here is made of operators of PyTorch (`scatter_add_`, `scatter_reduce_`, `gather`, `index_select`). So gradients, also of gradients, `torch.compile` and other devices work
as they do there; `torch.jit.trace` takes them, and `torch.jit.script`, which torch_scatter's are made for, does not. strew runs these operators while `strew.torch.enable` is in force; otherwise PyTorch's kernels do, with the same bits on one thread.

What the functions have in common:

- `src` is reduced along `dim`, the last one if it is not given; `index`, int64, says to which place of the result each of its elements goes. An index of one dim is that of `dim`. One
  of several has its first dims in common with `src`, where they may be 1; it is repeated along those of `src` that it lacks. The functions for segments use the last dim of
  `index`, or of `indptr`.
- The result has `dim_size` places along `dim`; None: the largest index and one more. Places that no index names are 0, in products 1.
- With `out` the result is written there and returned; `dim_size` is not used then. The functions whose names begin with scatter_, and the segments of COO, go on from what `out`
  holds; those of CSR write over it.
- A result has the dtype of `src`. Sums and products of float16 and bfloat16 are those of float32, rounded once.

Errors, before anything is written: TypeError for what is no tensor or has another dtype, ValueError for shapes, sizes and names, IndexError for a dim that `src` lacks. An index that
is out of bounds is PyTorch's RuntimeError; strew has written nothing then.

Where this differs from torch_scatter: a NaN is the least and the greatest element of its place, as it is in PyTorch (torch_scatter passes over it), and an infinite element counts as
any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

__all__ = [
    "gather_coo", "gather_csr", "scatter", "scatter_add", "scatter_log_softmax", "scatter_logsumexp", "scatter_max", "scatter_mean", "scatter_min", "scatter_mul",
    "scatter_softmax", "scatter_std", "scatter_sum", "segment_add_coo", "segment_add_csr", "segment_coo", "segment_csr", "segment_max_coo", "segment_max_csr", "segment_mean_coo",
    "segment_mean_csr", "segment_min_coo", "segment_min_csr", "segment_sum_coo", "segment_sum_csr",
]


class _Places:
    """Where the elements of `src` go: `index` as it was given, `column` with the dims of `src`, `full` repeated to its shape, and the shape of the result."""

    def __init__(self, src: torch.Tensor, index: torch.Tensor, dim: int, out: torch.Tensor | None, dim_size: int | None) -> None:
        _check_tensors(src, index, "index")
        if not -src.dim() <= dim < src.dim():
            raise IndexError(f"dim: {dim}, expected one of the {src.dim()} dims of src")
        self.dim = dim % src.dim()
        self.index = index
        column = index[(None,) * self.dim] if index.dim() == 1 else index
        column = column[(...,) + (None,) * (src.dim() - column.dim())]
        fits = column.dim() == src.dim() and column.size(self.dim) == src.size(self.dim)
        if not fits or any(size not in (1, whole) for size, whole in zip(column.shape, src.shape)):
            raise ValueError(f"index: shape {list(index.shape)}, expected one that can be repeated to that of src, {list(src.shape)}, with each element of dim {self.dim}")
        if index.numel() == src.size(self.dim):
            self.index = index.flatten()
        self.column, self.full = column, column.expand(src.shape)
        self.shape = list(src.shape)
        if out is not None:
            _check_out(out, src, self.dim)
            dim_size = out.size(self.dim)
        elif dim_size is None:
            dim_size = int(index.max()) + 1 if index.numel() else 0
        elif dim_size < 0:
            raise ValueError(f"dim_size: {dim_size}, expected 0 or more")
        self.shape[self.dim] = dim_size

    def add(self, src: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """The sums of the elements of each place."""
        result = src.new_zeros(self.shape) if out is None else out
        return result.scatter_add_(self.dim, self.full, src)

    def read(self, table: torch.Tensor) -> torch.Tensor:
        """What a tensor of the result's shape has at the place of each element."""
        return table.index_select(self.dim, self.index) if self.index.dim() == 1 else table.gather(self.dim, self.full)

    def counts(self) -> torch.Tensor:
        """How many elements there are of each place, at least 1: int64, of a shape that is repeated to the result's."""
        shape = list(self.column.shape)
        shape[self.dim] = self.shape[self.dim]
        ones = torch.ones((), dtype=torch.int64, device=self.index.device).expand(self.column.shape)
        return torch.zeros(shape, dtype=torch.int64, device=self.index.device).scatter_add_(self.dim, self.column, ones).clamp_(min=1)

    def greatest(self, src: torch.Tensor) -> torch.Tensor:
        """The greatest element of each place, -inf where there is none; without gradients: what is made of it does not depend on it but for rounding."""
        src = src.detach()
        return src.new_full(self.shape, float("-inf")).scatter_reduce_(self.dim, self.full, src, "amax")


def _check_tensors(src: object, other: object, name: str) -> None:
    for value, called in ((src, "src"), (other, name)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{called}: {type(value).__name__}, expected a tensor")
        if value.dim() == 0:
            raise ValueError(f"{called}: no dims, expected at least one")
    assert isinstance(other, torch.Tensor)
    if other.dtype != torch.int64:
        raise TypeError(f"{name}: {other.dtype}, expected torch.int64")


def _check_out(out: object, src: torch.Tensor, dim: int, size: int | None = None) -> None:
    """`size`: that of `dim`, None: any."""
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"out: {type(out).__name__}, expected a tensor or None")
    if out.dtype != src.dtype:
        raise TypeError(f"out: {out.dtype}, expected {src.dtype}, that of src")
    expected = list(src.shape)
    expected[dim] = out.size(dim) if size is None and out.dim() == src.dim() else size or 0
    if list(out.shape) != expected:
        raise ValueError(f"out: shape {list(out.shape)}, expected that of src, {list(src.shape)}, " + ("but for" if size is None else f"with {size} in") + f" dim {dim}")


def _check_floats(src: torch.Tensor) -> None:
    if not (isinstance(src, torch.Tensor) and src.is_floating_point()):
        raise TypeError(f"src: {getattr(src, 'dtype', type(src).__name__)}, expected a floating point tensor")


def _named(reduce: str, functions: dict[str, Callable[..., Any]], *arguments: object) -> torch.Tensor:
    """What the function called `reduce` has, without the places."""
    if reduce not in functions:
        *names, last = map(repr, functions)
        raise ValueError(f"reduce: {reduce!r}, expected {', '.join(names)} or {last}")
    result = functions[reduce](*arguments)
    return result[0] if isinstance(result, tuple) else result


def scatter_sum(src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None) -> torch.Tensor:
    """Sums of the elements of each place, in the order of `src`. `scatter_add` is the same. Arguments and errors: those of the module.

    >>> scatter_sum(torch.tensor([10, 20, 30]), torch.tensor([2, 0, 2]), dim_size=4)
    tensor([20,  0, 40,  0])
    """
    return _Places(src, index, dim, out, dim_size).add(src, out)


scatter_add = scatter_sum


def scatter_mul(src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None) -> torch.Tensor:
    """Products of the elements of each place; 1 where there is none. Arguments and errors: those of the module.

    >>> scatter_mul(torch.tensor([2, 3, 4]), torch.tensor([2, 0, 2]))
    tensor([3, 1, 8])
    """
    places = _Places(src, index, dim, out, dim_size)
    result = src.new_ones(places.shape) if out is None else out
    return result.scatter_reduce_(places.dim, places.full, src, "prod")


def scatter_mean(src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None) -> torch.Tensor:
    """Sums divided by the number of elements of their place, 0 where there is none; of integers rounded down. What `out` holds is part of the sum, and not counted. Arguments and
    errors: those of the module.

    >>> scatter_mean(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([2, 0, 2]))
    tensor([2.0000, 0.0000, 2.5000])
    """
    return _mean(src, index, dim, out, dim_size, "floor")


def _mean(src: torch.Tensor, index: torch.Tensor, dim: int, out: torch.Tensor | None, dim_size: int | None, rounding: str) -> torch.Tensor:
    places = _Places(src, index, dim, out, dim_size)
    counts = places.counts().to(src.dtype)
    return places.add(src, out).div_(counts, rounding_mode=None if src.is_floating_point() else rounding)


def _extreme(
    src: torch.Tensor, index: torch.Tensor, dim: int, out: torch.Tensor | None, dim_size: int | None, reduce: str, needs_arg: bool = True,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """`reduce`: "amin" or "amax". The gradient goes to the element that `arg` names. The search for it costs most of the time: only gradients, `out` and a caller who `needs_arg` have it."""
    places = _Places(src, index, dim, out, dim_size)
    if not needs_arg and out is None and not (src.requires_grad and torch.is_grad_enabled()):
        return src.new_zeros(places.shape).scatter_reduce_(places.dim, places.full, src, reduce, include_self=False), None
    dim, count = places.dim, src.size(places.dim)
    with torch.no_grad():
        if out is None:
            best = src.new_zeros(places.shape).scatter_reduce_(dim, places.full, src, reduce, include_self=False)
        else:
            best = out.scatter_reduce(dim, places.full, src, reduce)
        is_best = src == places.read(best)
        if src.is_floating_point():
            is_best |= src != src
        if out is not None:
            is_best &= src != places.read(out)
        number = torch.int32 if count < 2**31 else torch.int64  # there is one for each element of src
        column = torch.arange(count, dtype=number, device=src.device)[(...,) + (None,) * (src.dim() - dim - 1)]
        arg = column.new_full(places.shape, count).scatter_reduce_(dim, places.full, torch.where(is_best, column, count), "amin").long()
        is_found = arg < count
    rest = src.new_zeros(()) if out is None else out
    if count:
        result = torch.where(is_found, src.gather(dim, arg.clamp(max=count - 1)), rest)
    else:  # nothing is added, but a gradient finds its way
        result = rest.expand(places.shape).scatter_add(dim, places.full, src)
    return (result if out is None else out.copy_(result)), arg


_LEAST, _GREATEST = (functools.partial(_extreme, reduce=reduce, needs_arg=False) for reduce in ("amin", "amax"))


def scatter_min(src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """The least element of each place, and where it is in `src` along `dim`: the first of equal ones; the size of that dim where there is none, or none less than what `out` holds.
    Arguments and errors: those of the module.

    >>> scatter_min(torch.tensor([5, 7, 4, 4]), torch.tensor([2, 0, 2, 2]))
    (tensor([7, 0, 4]), tensor([1, 4, 2]))
    """
    result, arg = _extreme(src, index, dim, out, dim_size, "amin")
    assert arg is not None
    return result, arg


def scatter_max(src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """The greatest element of each place, and where it is in `src`, as `scatter_min` has it.

    >>> src = torch.tensor([[2, 0, 1, 4, 3], [0, 2, 1, 3, 4]])
    >>> index = torch.tensor([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    >>> scatter_max(src, index)
    (tensor([[0, 0, 4, 3, 2, 0],
            [2, 4, 3, 0, 0, 0]]), tensor([[5, 5, 3, 4, 0, 1],
            [1, 4, 3, 5, 5, 5]]))
    """
    result, arg = _extreme(src, index, dim, out, dim_size, "amax")
    assert arg is not None
    return result, arg


def scatter(src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None, reduce: str = "sum") -> torch.Tensor:
    """The function that `reduce` names: "sum" or "add", "mul", "mean", "min", "max", the last two without the places.

    Raises:
        ValueError: `reduce` has no such value. Others: those of the module.

    >>> scatter(torch.randn(10, 6, 64), torch.tensor([0, 1, 0, 1, 2, 1]), dim=1, reduce="sum").shape
    torch.Size([10, 3, 64])
    """
    return _named(reduce, {"sum": scatter_sum, "add": scatter_sum, "mul": scatter_mul, "mean": scatter_mean, "min": _LEAST, "max": _GREATEST}, src, index, dim, out, dim_size)


def scatter_std(
    src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None, unbiased: bool = True,
) -> torch.Tensor:
    """The standard deviation of the elements of each place: squares of the distances from the mean are added, to what `out` holds, and divided by their number, less one if `unbiased`
    (but at least by 1). `src` is floating point. Arguments and errors: those of the module.

    >>> scatter_std(torch.tensor([1.0, 5.0, 3.0, 7.0]), torch.tensor([0, 1, 0, 1]))
    tensor([1.4142, 1.4142])
    """
    _check_floats(src)
    places = _Places(src, index, dim, out, dim_size)
    counts = places.counts()
    distances = src - places.read(places.add(src).div_(counts.to(src.dtype)))
    divisors = (counts - 1).clamp_(min=1) if unbiased else counts
    return places.add(distances * distances, out).div_(divisors.to(src.dtype)).sqrt_()


def scatter_logsumexp(
    src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: torch.Tensor | None = None, dim_size: int | None = None, eps: float = 1e-12,
) -> torch.Tensor:
    """Logarithms of the sums of the exponentials of each place's elements and of what `out` holds; where there is no element that is more than -inf, 0, or what `out` holds. `eps` is
    added to the sums, which are at least 1. `src` is floating point. Arguments and errors: those of the module.

    >>> scatter_logsumexp(torch.tensor([0.0, 0.0, 1000.0]), torch.tensor([0, 0, 2]))
    tensor([6.9315e-01, 0.0000e+00, 1.0000e+03])
    """
    _check_floats(src)
    places = _Places(src, index, dim, out, dim_size)
    greatest = places.greatest(src)
    most = greatest if out is None else torch.maximum(greatest, out.detach())
    centre = torch.where(most.isfinite(), most, 0)
    sums = places.add((src - places.read(centre)).exp_())
    if out is not None:
        sums = sums + (out - centre).exp_()
    result = torch.where(greatest.isneginf(), torch.zeros_like(centre) if out is None else out, sums.add(eps).log_().add_(centre))
    return result if out is None else out.copy_(result)


def scatter_softmax(src: torch.Tensor, index: torch.Tensor, dim: int = -1, dim_size: int | None = None) -> torch.Tensor:
    """The softmax over the elements of each place; the result has the shape of `src`, which is floating point. Arguments and errors: those of the module.

    >>> scatter_softmax(torch.tensor([0.0, 3.0, 0.0, 3.0]), torch.tensor([0, 1, 0, 1]))
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    _check_floats(src)
    places = _Places(src, index, dim, None, dim_size)
    powers = (src - places.read(places.greatest(src))).exp_()
    return powers / places.read(places.add(powers))


def scatter_log_softmax(src: torch.Tensor, index: torch.Tensor, dim: int = -1, eps: float = 1e-12, dim_size: int | None = None) -> torch.Tensor:
    """Logarithms of `scatter_softmax`; `eps` is added to the sums, which are at least 1. Arguments and errors: those of the module.

    >>> scatter_log_softmax(torch.tensor([0.0, 3.0, 0.0, 3.0]), torch.tensor([0, 1, 0, 1]))
    tensor([-0.6931, -0.6931, -0.6931, -0.6931])
    """
    _check_floats(src)
    places = _Places(src, index, dim, None, dim_size)
    distances = src - places.read(places.greatest(src))
    return distances - places.read(places.add(distances.exp()).add_(eps).log_())


def _coo(src: torch.Tensor, index: torch.Tensor) -> int:
    """The dim of a function for segments."""
    _check_tensors(src, index, "index")
    if index.dim() > src.dim():
        raise ValueError(f"index: shape {list(index.shape)}, expected at most the {src.dim()} dims of src")
    return index.dim() - 1


def segment_sum_coo(src: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None, dim_size: int | None = None) -> torch.Tensor:
    """`scatter_sum` along the last dim of `index`. An index that is sorted, as torch_scatter demands it, is faster, but need not be. `segment_add_coo` is the same.

    >>> segment_sum_coo(torch.tensor([1, 2, 3, 4]), torch.tensor([0, 0, 2, 2]))
    tensor([3, 0, 7])
    """
    return scatter_sum(src, index, _coo(src, index), out, dim_size)


segment_add_coo = segment_sum_coo


def segment_mean_coo(src: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None, dim_size: int | None = None) -> torch.Tensor:
    """`scatter_mean` along the last dim of `index`; of integers rounded towards 0.

    >>> segment_mean_coo(torch.tensor([1, 2, -3, -4]), torch.tensor([0, 0, 2, 2]))
    tensor([ 1,  0, -3])
    """
    return _mean(src, index, _coo(src, index), out, dim_size, "trunc")


def segment_min_coo(src: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None, dim_size: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """`scatter_min` along the last dim of `index`.

    >>> segment_min_coo(torch.tensor([1, 2, 4, 3]), torch.tensor([0, 0, 2, 2]))
    (tensor([1, 0, 3]), tensor([0, 4, 3]))
    """
    return scatter_min(src, index, _coo(src, index), out, dim_size)


def segment_max_coo(src: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None, dim_size: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """`scatter_max` along the last dim of `index`.

    >>> segment_max_coo(torch.tensor([1, 2, 4, 3]), torch.tensor([0, 0, 2, 2]))
    (tensor([2, 0, 4]), tensor([1, 4, 2]))
    """
    return scatter_max(src, index, _coo(src, index), out, dim_size)


def segment_coo(src: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None, dim_size: int | None = None, reduce: str = "sum") -> torch.Tensor:
    """The function that `reduce` names: "sum" or "add", "mean", "min", "max", the last two without the places.

    Raises:
        ValueError: `reduce` has no such value. Others: those of the module.

    >>> segment_coo(torch.randn(10, 6, 64), torch.tensor([0, 0, 1, 1, 1, 2]).view(1, -1), reduce="sum").shape
    torch.Size([10, 3, 64])
    """
    mean = functools.partial(_mean, rounding="trunc")
    functions: dict[str, Callable[..., Any]] = {"sum": scatter_sum, "add": scatter_sum, "mean": mean, "min": _LEAST, "max": _GREATEST}
    return _named(reduce, functions, src, index, _coo(src, index), out, dim_size)


def gather_coo(src: torch.Tensor, index: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """What `src` has at the places `index` of the last dim of `index`: the inverse of `segment_coo`. The dims of `index` before that are those of `src`.

    >>> gather_coo(torch.tensor([1, 2, 3]), torch.tensor([0, 0, 2]))
    tensor([1, 1, 3])
    """
    dim = _coo(src, index)
    if index.shape[:-1] != src.shape[:dim]:
        raise ValueError(f"index: shape {list(index.shape)}, expected its dims before the last to be those of src, {list(src.shape)}")
    if out is not None:
        _check_out(out, src, dim, index.size(-1))
    if index.dim() == 1:
        result = src.index_select(0, index)
    else:
        result = src.gather(dim, index[(...,) + (None,) * (src.dim() - index.dim())].expand(*index.shape, *src.shape[index.dim():]))
    return result if out is None else out.copy_(result)


def _pointers(src: torch.Tensor, indptr: torch.Tensor, most: int | None) -> torch.Tensor:
    """`indptr` with the first dims of `src`, or of one dim if it is the same for all of these. No pointer is no segment, as one is. `most`: what no pointer exceeds, None: anything."""
    _check_tensors(src, indptr, "indptr")
    dim = indptr.dim() - 1
    if indptr.dim() > src.dim() or any(size not in (1, whole) for size, whole in zip(indptr.shape[:-1], src.shape)):
        raise ValueError(f"indptr: shape {list(indptr.shape)}, expected pointers along dim {dim}, with the dims of src before that, {list(src.shape[:dim])}, or 1")
    if not indptr.size(-1):
        indptr = indptr.new_zeros(*indptr.shape[:-1], 1)
    if indptr.numel() and ((indptr[..., 1:] < indptr[..., :-1]).any() or indptr.min() < 0 or (most is not None and indptr.max() > most)):
        raise ValueError("indptr: expected pointers that do not decrease, from 0 to " + (f"{most}, the size of dim {dim} of src" if most is not None else "any size"))
    return indptr.flatten() if indptr.numel() == indptr.size(-1) else indptr.expand(*src.shape[:dim], indptr.size(-1))


def _segments(pointers: torch.Tensor, count: int) -> torch.Tensor:
    """The segment of each of `count` elements; as many as there are segments for elements that are in none."""
    ends = pointers[..., 1:].contiguous()
    elements = torch.arange(count, device=pointers.device).expand(*pointers.shape[:-1], count).contiguous()
    return torch.where(elements < pointers[..., :1], ends.size(-1), torch.searchsorted(ends, elements, right=True))


def _csr(src: torch.Tensor, indptr: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, int, int]:
    """The elements that are in a segment (others are left out, or in one behind the last), their index, its dim, and the number of segments."""
    dim = indptr.dim() - 1 if isinstance(indptr, torch.Tensor) else 0
    pointers = _pointers(src, indptr, src.size(dim) if isinstance(src, torch.Tensor) and src.dim() > dim else None)
    segments = pointers.size(-1) - 1
    if pointers.dim() == 1:
        first, last = int(pointers[0]), int(pointers[-1])
        index = torch.arange(segments, device=src.device).repeat_interleave(pointers.diff(), output_size=last - first)
        return src.narrow(dim, first, last - first), index, dim, segments
    return src, _segments(pointers, src.size(dim)), dim, segments


def _by_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None, reduce: str, needs_arg: bool = True) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The result, and of "amin" and "amax" the places, if it `needs_arg`."""
    given, count = src, src.size(indptr.dim() - 1) if isinstance(src, torch.Tensor) and isinstance(indptr, torch.Tensor) and src.dim() >= indptr.dim() else 0
    src, index, dim, segments = _csr(src, indptr)
    if out is not None:
        _check_out(out, given, dim, segments)
    size = segments if index.dim() == 1 else segments + 1
    arg = None
    if reduce == "sum":
        result = scatter_sum(src, index, dim, None, size)
    elif reduce == "mean":
        result = _mean(src, index, dim, None, size, "trunc")
    else:
        result, arg = _extreme(src, index, dim, None, size, reduce, needs_arg)
    if arg is not None:
        arg = arg.narrow(dim, 0, segments)
        if index.dim() == 1 and segments:
            arg = torch.where(arg < src.size(dim), arg + indptr.flatten()[0], count)
    result = result.narrow(dim, 0, segments)
    return (result if out is None else out.copy_(result)), arg


def segment_sum_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Sums of segments: of the elements `indptr[i]` to `indptr[i + 1]` of `src` along the last dim of `indptr`. `out` is written over. `segment_add_csr` is the same.

    >>> segment_sum_csr(torch.tensor([1, 2, 3, 4]), torch.tensor([0, 2, 2, 4]))
    tensor([3, 0, 7])
    """
    return _by_csr(src, indptr, out, "sum")[0]


segment_add_csr = segment_sum_csr


def segment_mean_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Means of segments, 0 of empty ones; of integers rounded towards 0. `out` is written over.

    >>> segment_mean_csr(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0, 2, 2, 4]))
    tensor([1.5000, 0.0000, 3.5000])
    """
    return _by_csr(src, indptr, out, "mean")[0]


def segment_min_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """The least element of each segment, 0 of empty ones, and where it is in `src`: the first of equal ones; the size of the dim for empty ones. `out` is written over.

    >>> segment_min_csr(torch.tensor([1, 2, 4, 3]), torch.tensor([0, 2, 2, 4]))
    (tensor([1, 0, 3]), tensor([0, 4, 3]))
    """
    result, arg = _by_csr(src, indptr, out, "amin")
    assert arg is not None
    return result, arg


def segment_max_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """The greatest element of each segment and where it is, as `segment_min_csr` has it.

    >>> segment_max_csr(torch.tensor([1, 2, 4, 3]), torch.tensor([0, 2, 2, 4]))
    (tensor([2, 0, 4]), tensor([1, 4, 2]))
    """
    result, arg = _by_csr(src, indptr, out, "amax")
    assert arg is not None
    return result, arg


def segment_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None, reduce: str = "sum") -> torch.Tensor:
    """The function that `reduce` names: "sum" or "add", "mean", "min", "max", the last two without the places.

    Raises:
        ValueError: `reduce` has no such value, or pointers decrease or lead out of `src`. Others: those of the module.

    >>> segment_csr(torch.randn(10, 6, 64), torch.tensor([0, 2, 5, 6]).view(1, -1), reduce="sum").shape
    torch.Size([10, 3, 64])
    """
    least, greatest = (functools.partial(_by_csr, reduce=each, needs_arg=False) for each in ("amin", "amax"))
    return _named(reduce, {"sum": segment_sum_csr, "add": segment_sum_csr, "mean": segment_mean_csr, "min": least, "max": greatest}, src, indptr, out)


def gather_csr(src: torch.Tensor, indptr: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Each element of `src` as often as its segment is long: the inverse of `segment_csr`. Pointers begin at 0, and the last is the size of the result.

    >>> gather_csr(torch.tensor([1, 2, 3]), torch.tensor([0, 2, 2, 4]))
    tensor([1, 1, 3, 3])
    """
    pointers = _pointers(src, indptr, None)
    dim, segments = indptr.dim() - 1, pointers.size(-1) - 1
    if src.size(dim) != segments:
        raise ValueError(f"indptr: {segments} segments, expected {src.size(dim)}, the size of dim {dim} of src")
    count = int(pointers.max()) if pointers.numel() else 0
    if (pointers[..., 0] != 0).any() or (pointers[..., -1] != count).any():
        raise ValueError(f"indptr: expected pointers from 0 to the same size everywhere, which is {count} at most")
    if out is not None:
        _check_out(out, src, dim, count)
    if pointers.dim() == 1:
        result = src.index_select(dim, torch.arange(segments, device=src.device).repeat_interleave(pointers.diff(), output_size=count))
    else:
        result = gather_coo(src, _segments(pointers, count))
    return result if out is None else out.copy_(result)
