"""What a graph of torch.fx reads and writes by rows: the gathers `table[index]` and the scatters that add rows `result[index[e]] += updates[e]`, in whatever form of PyTorch's they are."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

__all__ = ["INDEX_DTYPES", "NARROW", "Gather", "Scatter", "dtype_of", "gather_of", "identity_of", "is_zeros", "scatter_of", "shape_of", "same_shape"]

aten = torch.ops.aten
INDEX_DTYPES = (torch.int32, torch.int64)
NARROW = (torch.float16, torch.bfloat16)


@dataclasses.dataclass
class Gather:
    """The node's rows are `table[index]`, with index of one dim. `takes_negative`: indices may count from the end."""

    table: Node
    index: Node
    takes_negative: bool = False


@dataclasses.dataclass
class Scatter:
    """The node is `operand`, or of `size` and `fill` everywhere, to whose rows `index` the rows of `updates` are added. `rounds_once`: sums of 16 bits are those of float32, rounded in the end."""

    index: Node
    updates: Node
    size: list[Any]  # extents, or nodes that have them
    operand: Node | None = None  # None: `fill`
    fill: float = 0.0
    takes_negative: bool = False
    rounds_once: bool = False
    skips_bad: bool = False  # indices out of bounds are passed over
    reduce: str = "sum"  # or the extrema "amax" and "amin"
    takes_update: bool = False  # of a zero and an update that is the other zero, an extremum is the update


def shape_of(node: Any) -> tuple[Any, ...] | None:
    """The extents of a node that is a tensor, some of them symbolic."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def dims_of(node: Any) -> tuple[Any, ...]:
    """The same of a node that is known to be a tensor."""
    return tuple(node.meta["val"].shape)


def same_shape(one: Any, other: Any) -> bool:
    return one is not None and other is not None and len(one) == len(other) and all(statically_known_true(a == b) for a, b in zip(one, other, strict=True))


def dtype_of(node: Node) -> torch.dtype:
    dtype: torch.dtype = node.meta["val"].dtype
    return dtype


_VIEWS = (aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.unsqueeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.expand.default)
_SAME = (aten.detach.default, aten.alias.default, aten.lift_fresh_copy.default)


def identity_of(node: Node) -> Node | None:
    """The node whose elements these are, unchanged and in the same shape."""
    if node.target in _SAME or (node.target in _VIEWS and same_shape(shape_of(node), shape_of(node.args[0]))):
        return node.args[0]  # type: ignore[return-value]
    return None


def _along_rows(index: Any, shape: tuple[Any, ...]) -> Node | None:
    """The index of one dim of which `index` is an expansion to `shape`, in which each row has the same number."""
    if not isinstance(index, Node) or not same_shape(shape_of(index), shape):
        return None
    node = index
    while len(shape_of(node) or ()) != 1:
        if node.target not in _VIEWS:
            return None
        source = node.args[0]
        dims, extents = shape_of(node), shape_of(source)
        if dims is None or extents is None or not extents:
            return None
        # A view that keeps the first dim and else has extents of 1, or an expansion of these.
        if not statically_known_true(dims[0] == extents[0]) or any(not statically_known_true(extent == 1) for extent in extents[1:]):
            return None
        if node.target is not aten.expand.default and any(not statically_known_true(extent == 1) for extent in dims[1:]):
            return None
        node = source  # type: ignore[assignment]
    return node if _is_index(node) else None


def _is_index(node: Any) -> bool:
    shape = shape_of(node)
    return shape is not None and len(shape) == 1 and dtype_of(node) in INDEX_DTYPES


def _is_first(dim: Any, tensor: Node) -> bool:
    rank = len(shape_of(tensor) or ())
    return isinstance(dim, int) and rank > 0 and dim % rank == 0 and -rank <= dim < rank


def gather_of(node: Node) -> Gather | None:
    """The node as a gather of rows, or None."""
    if node.op != "call_function" or not node.args or not shape_of(node.args[0]):
        return None
    table = node.args[0]
    if node.target is aten.index_select.default and _is_first(node.args[1], table) and _is_index(node.args[2]):
        return Gather(table, node.args[2])
    if node.target in (aten.index.Tensor, aten._unsafe_index.Tensor) and len(node.args[1]) == 1 and _is_index(node.args[1][0]):
        return Gather(table, node.args[1][0], takes_negative=True)
    if node.target is aten.embedding.default and _is_index(node.args[1]):
        return Gather(table, node.args[1])
    if node.target is aten.gather.default and _is_first(node.args[1], table):
        shape, extents = dims_of(node), dims_of(table)
        index = _along_rows(node.args[2], shape)
        if index is not None and same_shape(shape[1:], extents[1:]):
            return Gather(table, index)
    return None


def _argument(node: Node, place: int, name: str, default: Any) -> Any:
    return node.args[place] if len(node.args) > place else node.kwargs.get(name, default)


def is_zeros(node: Any) -> bool:
    """Whether the node makes a tensor of zeros whose extents it says itself."""
    if not isinstance(node, Node):
        return False
    if node.target is aten.full.default and isinstance(node.args[1], (bool, int, float)):
        return node.args[1] == 0 and math.copysign(1, node.args[1]) == 1  # -0 is another one
    return node.target is aten.zeros.default


def _filled_with(node: Any) -> float | None:
    """The number that all elements of a tensor are that says its extents itself: 0, or the ends of the floats, which each dtype has."""
    if is_zeros(node):
        return 0.0
    is_full = isinstance(node, Node) and node.target is aten.full.default and isinstance(node.args[1], float)
    return node.args[1] if is_full and math.isinf(node.args[1]) else None


def _takes_update(operand: Node, index: Node, updates: Node) -> bool | None:
    """Which zero is an extremum of two: PyTorch has a loop over vectors of rows, which takes the update, and others, which keep the element (is_vectorised in
    bindings/torch/operators/scatter.cc). None: that is not known before the call."""
    values = [node.meta["val"] for node in (operand, index, updates)]
    if not all(isinstance(number, int) for each in values for number in (*each.shape, *each.stride())):
        return None
    sizes, strides = values[1].shape, values[1].stride()
    repeats = all(stride == 0 or (stride == 1 and size == 1) for size, stride in zip(sizes[1:], strides[1:], strict=True))
    return strides[0] == 1 and math.prod(sizes[1:]) >= 16 and repeats and values[0].is_contiguous() and values[2].is_contiguous()


def _rows_scatter(node: Node) -> Scatter | None:
    """The forms whose first argument is the operand."""
    operand = node.args[0]
    if node.target is aten.index_add.default:
        _, dim, index, updates = node.args[:4]
        if not _is_first(dim, operand) or not _is_index(index) or _argument(node, 4, "alpha", 1) != 1:
            return None
        return Scatter(index, updates, [], operand, rounds_once=len(dims_of(operand)) > 1 and dtype_of(index) is torch.int64)
    if node.target in (aten.index_put.default, aten._unsafe_index_put.default):
        _, indices, updates = node.args[:3]
        if len(indices) != 1 or not _is_index(indices[0]) or not _argument(node, 3, "accumulate", False):
            return None
        return Scatter(indices[0], updates, [], operand, takes_negative=True)
    reduce = "sum" if node.target is aten.scatter_add.default else None
    if node.target is aten.scatter_reduce.two and _argument(node, 5, "include_self", True):
        reduce = _argument(node, 4, "reduce", "")
    if reduce not in ("sum", "amax", "amin"):
        return None
    _, dim, index, updates = node.args[:4]
    along = _along_rows(index, dims_of(updates)) if _is_first(dim, operand) else None
    if along is None or reduce == "sum":
        return Scatter(along, updates, [], operand, rounds_once=True) if along is not None else None
    takes_update = _takes_update(operand, index, updates)
    is_known = takes_update is not None and dtype_of(along) is torch.int64
    return Scatter(along, updates, [], operand, reduce=reduce, takes_update=bool(takes_update)) if is_known else None


def scatter_of(node: Node) -> Scatter | None:
    """The node as a scatter that adds rows of floats or finds their extrema, or None."""
    if node.op != "call_function" or not shape_of(node) or not dtype_of(node).is_floating_point:
        return None
    if node.target is aten.embedding_dense_backward.default:
        updates, index, rows, padding, scales = node.args
        if not _is_index(index) or padding != -1 or scales:
            return None
        size = [rows, *dims_of(node)[1:]]
        is_known = all(isinstance(extent, (int, Node)) for extent in size)  # no node has an extent that is a symbol
        return Scatter(index, updates, size, skips_bad=True) if is_known and _fits(node, index, updates) else None
    found = _rows_scatter(node)
    if found is None or not _fits(node, found.index, found.updates):
        return None
    found.rounds_once = found.rounds_once and dtype_of(node) in NARROW
    fill = _filled_with(found.operand)
    if fill is None or (fill and found.reduce == "sum"):
        return found
    return dataclasses.replace(found, operand=None, fill=fill, size=list(found.operand.args[0]))  # type: ignore[union-attr]


def _fits(node: Node, index: Node, updates: Any) -> bool:
    """Whether updates are one row per index, each as large as the result's, and of its dtype."""
    extents = shape_of(updates)
    return extents is not None and dtype_of(updates) is dtype_of(node) and same_shape(extents, (*dims_of(index), *dims_of(node)[1:]))
