"""Chains in a graph of torch.fx: a gather of rows, elementwise operators, a scatter that adds rows or finds their extrema. One operator of strew takes the place of each (docs/fusion.md), and the rows between are never in
memory. Nothing is folded whose values something else reads, too: they are in memory anyway.

The operators that are folded have PyTorch's bits for every element: one rounding each, by IEEE 754. Others, `exp` for example, stay, and a chain begins with what they return.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import struct
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.fx import Graph, Node

from ._rows import INDEX_DTYPES, NARROW, Gather, Scatter, dtype_of, gather_of, identity_of, is_zeros, same_shape, scatter_of, shape_of

__all__ = ["fold_chains"]

aten, prims = torch.ops.aten, torch.ops.prims

_DTYPES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool",
    torch.int32: "i32", torch.int64: "i64",
}  # fmt: skip
_FLOATS = (torch.float32, torch.float64, *NARROW)
_MOST_LOOKUPS = 2  # of an op that fills, on every backend (docs/fusion.md)
_MOST_TENSORS = 12
_MOST_NODES = 200  # of a chain: what comes before is read
_MOST_INTEGER = 1 << 53  # that float64 has exactly, and so has each less than it


class _Unfit(Exception):
    """What cannot be folded."""


class _Graph:
    """The combiner of an op, as its text has it: nodes in order, without two that are equal."""

    def __init__(self) -> None:
        self._nodes: dict[str, int] = {}

    def is_only(self, text: str) -> bool:
        """Whether this is all of it."""
        return list(self._nodes) == [text]

    def add(self, text: str) -> int:
        return self._nodes.setdefault(text, len(self._nodes))

    def apply(self, name: str, dtype: torch.dtype, *of: int) -> int:
        return self.add(f"{name}({','.join(f'%{each}' for each in of)}):{_DTYPES[dtype]}")

    def constant(self, value: float, dtype: torch.dtype) -> int:
        value = torch.tensor(value, dtype=torch.float64).to(dtype).item()  # what float32 has not is infinite
        bits = struct.pack(">d" if dtype is torch.float64 else ">f", value).hex()
        return self.add(f"constant(0x{bits}):{_DTYPES[dtype]}")

    def returns(self, value: int) -> str:
        return "{" + "; ".join(f"%{number}={text}" for text, number in self._nodes.items()) + f"; return %{value}}}"


# ---- The elementwise operators. Each takes the nodes that it reads, as numbers of the op's graph, and Python's numbers. ------------------------------------------------------


@dataclasses.dataclass
class _Operand:
    """What an elementwise operator reads: a value of the op's graph, or a number."""

    number: int = -1
    constant: float | None = None


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in NARROW else dtype


def _in(graph: _Graph, operand: _Operand, dtype: torch.dtype, wide: torch.dtype) -> int:
    """The operand in `wide`."""
    if operand.constant is not None:
        return graph.constant(operand.constant, wide)
    return operand.number if dtype is wide else graph.apply("convert", wide, operand.number)


def _rounded(operand: _Operand, dtype: torch.dtype) -> _Operand:
    return operand if operand.constant is None else _Operand(constant=torch.tensor(operand.constant, dtype=torch.float64).to(dtype).item())


def _arithmetic(name: str) -> Callable[[_Graph, torch.dtype, list[_Operand]], int]:
    """One rounding of the exact result: of 16 bits, that of float32's, which is the same (double rounding does no harm there). PyTorch rounds numbers that are added to 16 bits first, and
    those that are factors to float32."""

    def apply(graph: _Graph, dtype: torch.dtype, of: list[_Operand]) -> int:
        wide = _wide(dtype)
        if name in ("add", "subtract"):
            of = [_rounded(each, dtype) for each in of]
        result = graph.apply(name, wide, *(_in(graph, each, dtype, wide) for each in of))
        return result if wide is dtype else graph.apply("convert", dtype, result)

    return apply


def _compare(graph: _Graph, name: str, dtype: torch.dtype, of: list[_Operand]) -> int:
    wide = _wide(dtype)
    return graph.apply(name, torch.bool, *(_in(graph, _rounded(each, dtype), dtype, wide) for each in of))


def _choose(graph: _Graph, dtype: torch.dtype, condition: int, yes: int, no: int) -> int:
    return graph.apply("select", dtype, condition, yes, no)


def _leaky(graph: _Graph, dtype: torch.dtype, gradient: _Operand, tested: _Operand, slope: float) -> int:
    scaled = _arithmetic("multiply")(graph, dtype, [gradient, _Operand(constant=slope)])
    return _choose(graph, dtype, _compare(graph, "gt", dtype, [tested, _Operand(constant=0.0)]), gradient.number, scaled)


def _leaky_relu(graph: _Graph, dtype: torch.dtype, of: list[_Operand]) -> int:
    slope = of[1].constant if len(of) > 1 else 0.01
    if slope is None:
        raise _Unfit
    return _leaky(graph, dtype, of[0], of[0], slope)


def _leaky_relu_backward(graph: _Graph, dtype: torch.dtype, of: list[_Operand]) -> int:
    gradient, tested, slope, is_result = of
    if slope.constant is None or is_result.constant or gradient.constant is not None:
        raise _Unfit
    return _leaky(graph, dtype, gradient, tested, slope.constant)


def _threshold_backward(graph: _Graph, dtype: torch.dtype, of: list[_Operand]) -> int:
    gradient, tested, threshold = of
    wide = _wide(dtype)
    zero = graph.constant(0.0, wide)
    if wide is not dtype:
        zero = graph.apply("convert", dtype, zero)
    is_below = graph.apply("le", torch.bool, _in(graph, tested, dtype, wide), _in(graph, threshold, dtype, wide))  # the threshold is not rounded to 16 bits
    return _choose(graph, dtype, is_below, zero, gradient.number)


_ELEMENTWISE: dict[Any, Callable[[_Graph, torch.dtype, list[_Operand]], int]] = {
    aten.mul.Tensor: _arithmetic("multiply"),
    aten.mul.Scalar: _arithmetic("multiply"),
    aten.div.Tensor: _arithmetic("divide"),
    aten.add.Tensor: _arithmetic("add"),
    aten.sub.Tensor: _arithmetic("subtract"),
    aten.neg.default: _arithmetic("negate"),
    aten.leaky_relu.default: _leaky_relu,
    aten.leaky_relu_backward.default: _leaky_relu_backward,
    aten.threshold_backward.default: _threshold_backward,
}
_COMPARISONS = {
    getattr(getattr(aten, name), form): name for name in ("eq", "ne", "lt", "le", "gt", "ge") for form in ("Scalar", "Tensor")
}  # fmt: skip
_CONVERSIONS = (prims.convert_element_type.default, aten._to_copy.default)


# ---- Chains ----------------------------------------------------------------------------------------------------------------------------------------------------------------


def _is_elementwise(node: Node) -> bool:
    """Whether the node is an elementwise operator that an op's graph can have, by its name and dtypes alone."""
    if node.op != "call_function" or shape_of(node) is None:
        return False
    dtype, tensors = dtype_of(node), [each for each in node.args if shape_of(each) is not None]
    if node.target in _CONVERSIONS:
        only_dtype = node.target is not aten._to_copy.default or set(node.kwargs) <= {"dtype"}
        return only_dtype and dtype in _FLOATS and bool(tensors) and dtype_of(tensors[0]) in _FLOATS
    if node.target is aten.where.self:
        return dtype in _FLOATS and len(tensors) == 3 and all(dtype_of(each) is dtype for each in tensors[1:])
    if node.target in _COMPARISONS:
        return dtype_of(tensors[0]) in _FLOATS and all(dtype_of(each) is dtype_of(tensors[0]) for each in tensors)
    if node.target in (aten.add.Tensor, aten.sub.Tensor) and (len(node.args) > 2 or node.kwargs.get("alpha", 1) != 1):
        return False
    if node.target is not aten.add.Tensor and node.target is not aten.sub.Tensor and node.kwargs:
        return False
    return node.target in _ELEMENTWISE and dtype in _FLOATS and all(dtype_of(each) is dtype for each in tensors)


def _broadcasts_to(shape: tuple[Any, ...] | None, dims: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The shape with ones in front, if it can be broadcast to these dims."""
    if shape is None or len(shape) > len(dims):
        return None
    full = (1,) * (len(dims) - len(shape)) + shape
    return full if all(same_shape((extent,), (1,)) or same_shape((extent,), (dim,)) for extent, dim in zip(full, dims, strict=True)) else None


class _Chain:
    """A scatter and what its updates are computed from: `inside`, the nodes that the op may compute itself."""

    def __init__(self, node: Node, scatter: Scatter) -> None:
        self.node, self.scatter = node, scatter
        self.dims = shape_of(scatter.updates) or ()
        self.inside: set[Node] = set()
        self._visit(scatter.updates)

    def _visit(self, node: Node) -> None:
        if node in self.inside or len(self.inside) >= _MOST_NODES or not same_shape(shape_of(node), self.dims):
            return
        source = identity_of(node)
        if source is not None:
            self.inside.add(node)
            self._visit(source)
        elif self.scatter.operand is None and gather_of(node) is not None:
            self.inside.add(node)
        elif _is_elementwise(node):
            self.inside.add(node)
            for each in node.all_input_nodes:
                self._visit(each)


def _passing(chains: Iterable[_Chain]) -> set[Node]:
    """The nodes that only these chains read: with the chains folded, nobody computes them."""
    ends = {(chain.scatter.updates, chain.node) for chain in chains if chain.scatter.updates is not chain.scatter.operand}
    inside = set().union(*(chain.inside for chain in chains))
    passing: set[Node] = set()
    for node in sorted(inside, reverse=True):
        if all(user in passing or (node, user) in ends for user in node.users):
            passing.add(node)
    return passing


@dataclasses.dataclass
class _Tensor:
    """One that the op reads: its type in the op's text, the node, and the look-up by which it is found in a table."""

    kind: str
    type: str
    node: Node
    shape: list[Any] | None = None  # what the node is viewed as
    gather: Gather | None = None


def _type(dtype: torch.dtype, dims: Iterable[Any], strides: Iterable[Any] | None = None) -> str:
    text = f"{_DTYPES[dtype]}[{','.join(str(dim) if isinstance(dim, int) else '?' for dim in dims)}]"
    return text if strides is None else text + "{" + ",".join(map(str, strides)) + "}"


class _Op:
    """The op of a chain, while it is put together."""

    def __init__(self, chain: _Chain, passing: set[Node]) -> None:
        self.chain, self._passing, self.graph = chain, passing & chain.inside, _Graph()
        self.updates: _Tensor | None = None
        self.extras: list[_Tensor] = []
        self._numbers: dict[Node, int] = {}
        for node in sorted(self._looked_up(chain.scatter.updates, set())):  # the op's text has look-ups of updates first
            self._value(node)
        self.value = self._value(chain.scatter.updates)
        if self.updates is None:
            raise _Unfit  # one number per row, or none at all
        if len(self.lookups) > _MOST_LOOKUPS or len(self.extras) + len(self.lookups) > _MOST_TENSORS:
            raise _Unfit

    @property
    def inputs(self) -> int:
        """How many tensors of the updates' extents it reads."""
        return sum(each.kind == "per_element" for each in (self.updates, *self.extras) if each is not None)

    @property
    def lookups(self) -> list[_Tensor]:
        found = [self.updates, *self.extras] if self.updates is not None else []
        return [each for each in found if each.gather is not None]

    def _looked_up(self, node: Node, seen: set[Node]) -> set[Node]:
        """The gathers that the op makes itself."""
        if node in seen or node not in self._passing:
            return set()
        seen.add(node)
        if self.chain.scatter.operand is None and gather_of(node) is not None:
            return {node}
        return set().union(*(self._looked_up(each, seen) for each in node.all_input_nodes))

    def _value(self, node: Node) -> int:
        if node not in self._numbers:
            self._numbers[node] = self._computed(node) if node in self._passing else self._read(node)
        return self._numbers[node]

    def _computed(self, node: Node) -> int:
        source = identity_of(node)
        if source is not None:
            return self._value(source)
        gather = gather_of(node)
        if gather is not None and self.chain.scatter.operand is None:
            return self._read(node, gather)
        dtype = dtype_of(node)
        if node.target in _CONVERSIONS:
            value, given = self._value(node.args[0]), dtype_of(node.args[0])  # type: ignore[arg-type]
            if given is torch.float64 and dtype in NARROW:  # PyTorch goes by float32
                value = self.graph.apply("convert", torch.float32, value)
            return value if given is dtype else self.graph.apply("convert", dtype, value)
        operands = [_Operand(self._value(each)) if isinstance(each, Node) else self._constant(each) for each in node.args]
        if node.target is aten.where.self:
            return _choose(self.graph, dtype, *(each.number for each in operands))
        if node.target in _COMPARISONS:
            return _compare(self.graph, _COMPARISONS[node.target], dtype_of(node.args[0]), operands)  # type: ignore[arg-type]
        return _ELEMENTWISE[node.target](self.graph, dtype, operands)

    def _constant(self, value: Any) -> _Operand:
        if not isinstance(value, (bool, int, float)) or (isinstance(value, int) and abs(value) > _MOST_INTEGER):
            raise _Unfit
        return _Operand(constant=float(value))

    def _read(self, node: Node, gather: Gather | None = None) -> int:
        """A tensor that the op reads."""
        if dtype_of(node) not in _DTYPES:
            raise _Unfit
        while node.target is aten.expand.default:  # the op repeats what it reads
            node = node.args[0]  # type: ignore[assignment]
        full = _broadcasts_to(shape_of(node), self.chain.dims)
        if full is None:
            raise _Unfit
        made = self._tensor(node, full, gather)
        dtype = _DTYPES[dtype_of(node)]
        # The updates are of the result's dtype, which is what decides how they are added.
        if made.kind == "per_element" and self.updates is None and dtype_of(node) in _FLOATS:
            self.updates = made
            return self.graph.add(f"update(0):{dtype}")
        self.extras.append(made)
        return self.graph.add(f"extra({len(self.extras) - 1}):{dtype}")

    def _tensor(self, node: Node, full: tuple[Any, ...], gather: Gather | None) -> _Tensor:
        dims, dtype = self.chain.dims, dtype_of(node)
        is_one = [not same_shape((dim,), (extent,)) for dim, extent in zip(dims, full, strict=True)]
        if gather is not None or not any(is_one):
            is_short = len(shape_of(node) or ()) < len(dims)
            return _Tensor("per_element", _type(dtype, dims), node, list(full) if is_short else None, gather)
        if all(is_one):
            return _Tensor("scalar", _type(dtype, ()), node, [])
        if is_one[0] and not any(is_one[1:]):
            return _Tensor("per_window", _type(dtype, dims[1:]), node, list(full[1:]))
        if not is_one[0] and all(one or same_shape((dim,), (1,)) for one, dim in zip(is_one[1:], dims[1:], strict=True)):
            return _Tensor("per_position", _type(dtype, dims[:1]), node, [-1])
        if is_one[0] or not all(isinstance(dim, int) for dim in dims[1:]):
            raise _Unfit
        strides, stride = [], 1
        for one, extent in reversed(list(zip(is_one, full, strict=True))):
            strides.append(0 if one else stride)
            stride *= extent if isinstance(extent, int) else 1
        return _Tensor("per_element", _type(dtype, dims, reversed(strides)), node, [-1, *full[1:]])


def _gather_text(made: _Tensor, what: str) -> str:
    table = shape_of(made.gather.table)  # type: ignore[union-attr]
    window = table[1:]  # type: ignore[index]
    index = made.gather.index  # type: ignore[union-attr]
    type_of = made.type.split("[")[0]
    window_text = "".join(f",{dim}" if isinstance(dim, int) else ",?" for dim in window)
    if "?" in window_text:
        raise _Unfit
    offsets = f" offset_dims=[{','.join(map(str, range(1, len(window) + 1)))}]" if window else ""
    negative = " normalize_negative=true" if made.gather.takes_negative else ""  # type: ignore[union-attr]
    return (
        f"{what}=gather(operand={type_of}[?{window_text}] indices={_type(dtype_of(index), shape_of(index) or ())} result={made.type}{offsets} "
        f"collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1{window_text}] oob=error{negative})"
    )


def _extremum(graph: _Graph, scatter: Scatter, dtype: torch.dtype, current: int, value: int) -> int:
    """PyTorch's, which keeps NaN: the current value unless the update is beyond it, or the update unless the current value is beyond that. They differ in zeros."""
    is_beyond = "gt" if scatter.reduce == "amax" else "lt"
    taken, other = (current, value) if scatter.takes_update else (value, current)
    is_taken = graph.apply("or", torch.bool, graph.apply(is_beyond, torch.bool, taken, other), graph.apply("ne", torch.bool, taken, taken))
    return _choose(graph, dtype, is_taken, taken, other)


def _text(op: _Op, result: torch.dtype, adds_plainly: bool, is_wide: bool, value: int) -> str:
    scatter, updates = op.chain.scatter, op.updates
    if updates is None:
        raise _Unfit
    rank = len(op.chain.dims)
    size = scatter.size if scatter.operand is None else list(shape_of(scatter.operand) or ())
    lookups = [_gather_text(updates, "updates(0)")] if updates.gather is not None else []
    lookups += [_gather_text(each, f"extra({number})") for number, each in enumerate(op.extras) if each.gather is not None]
    fields = [f"operand={_type(result, size)}", f"indices={_type(dtype_of(scatter.index), shape_of(scatter.index) or ())}", f"updates={updates.type}"]
    if op.extras:
        fields.append(f"extras=[{','.join(f'{each.kind}:{each.type}' for each in op.extras)}]")
    if lookups:
        fields.append(f"lookups=[{','.join(lookups)}]")
    if rank > 1:
        fields.append(f"update_window_dims=[{','.join(map(str, range(1, rank)))}]")
    fields += ["inserted_window_dims=[0]", "scatter_dims_to_operand_dims=[0]", "index_vector_dim=1"]
    if adds_plainly:
        fields.append("combiner=add")
    else:
        current = op.graph.add(f"current(0):{_DTYPES[result]}")  # what is combined is of the result's dtype
        combined = op.graph.apply("add", result, current, value) if scatter.reduce == "sum" else _extremum(op.graph, scatter, result, current, value)
        fields += ["combiner=expr", f"expr={op.graph.returns(combined)}"]
    fields += ["init=in_place"] if scatter.operand is not None else ["init=fill", f"fill={scatter.fill:g}:{_DTYPES[result]}"]
    fields.append(f"oob={'skip_window' if scatter.skips_bad else 'error'}")
    if scatter.takes_negative:
        fields.append("normalize_negative=true")
    if adds_plainly and is_wide:
        fields.append("accumulate=wide")
    return f"strew1.scatter({' '.join(fields)})"


def _replace(graph: Graph, op: _Op, replaced: dict[Node, Node]) -> None:
    """Puts the operator in the place of the chain's last node. `replaced`: what took the places of other chains."""
    chain, scatter = op.chain, op.chain.scatter
    dtype = dtype_of(chain.node)
    adds_plainly = scatter.reduce == "sum" and op.graph.is_only(f"update(0):{_DTYPES[dtype]}")
    # Sums of 16 bits that are rounded once are sums of float32; of an op with a graph, strew makes these as a result of their own.
    is_apart = scatter.rounds_once and not adds_plainly
    if is_apart and scatter.operand is not None:
        raise _Unfit
    result = torch.float32 if is_apart else dtype
    value = op.graph.apply("convert", result, op.value) if is_apart else op.value
    text = _text(op, result, adds_plainly, scatter.rounds_once, value)
    tensors = [op.updates, *op.extras]
    with graph.inserting_before(chain.node):
        inputs: list[Node] = [scatter.index]
        for each in tensors:
            node = each.gather.table if each is not None and each.gather is not None else each.node  # type: ignore[union-attr]
            if each.shape is not None:  # type: ignore[union-attr]
                node = _viewed(graph, replaced.get(node, node), each.shape)  # type: ignore[union-attr]
            inputs.append(node)
        inputs += [each.gather.index for each in op.lookups]  # type: ignore[union-attr]
        inputs = [replaced.get(each, each) for each in inputs]
        if scatter.operand is not None:
            operand = replaced.get(scatter.operand, scatter.operand)
            made = graph.call_function(torch.ops.strew.update.default, (operand, text, inputs))
        else:
            made = graph.call_function(torch.ops.strew.op.default, (text, inputs, scatter.size))
        value_of = chain.node.meta["val"]
        made.meta = {**chain.node.meta, "val": value_of.new_empty(value_of.shape, dtype=result)}
        if is_apart:
            made = graph.call_function(prims.convert_element_type.default, (made, dtype))
            made.meta = dict(chain.node.meta)
    chain.node.replace_all_uses_with(made)
    replaced[chain.node] = made
    graph.erase_node(chain.node)


def _viewed(graph: Graph, node: Node, shape: list[Any]) -> Node:
    if not all(isinstance(each, int) and each != 0 for each in shape):  # of no elements, -1 says nothing
        raise _Unfit
    view = graph.call_function(aten.reshape.default, (node, shape))
    view.meta = {**node.meta, "val": node.meta["val"].reshape(shape)}
    return view


def _say_zeros(graph: Graph) -> None:
    """Tensors of zeros and ones that were made like another tensor say their extents themselves, so that they do not read it."""
    values = {aten.new_zeros.default: 0, aten.new_ones.default: 1, aten.zeros_like.default: 0, aten.ones_like.default: 1}
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in values:
            continue
        value = node.meta["val"]
        size = node.args[1] if len(node.args) > 1 else list(value.shape)
        if len(value.shape) != len(size) or not value.is_contiguous() or any(not isinstance(each, (int, Node)) for each in size):
            continue
        with graph.inserting_before(node):
            made = graph.call_function(aten.full.default, (size, values[node.target]), {"dtype": value.dtype, "device": value.device, "pin_memory": False})
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def _op_of(chain: _Chain, passing: set[Node], readers: int, recomputes: bool) -> _Op | None:
    """The chain as one op, or the sum alone as an op, or None. `readers`: how many chains end with the same updates."""
    updates = chain.scatter.updates
    if updates in passing and any(identity_of(node) is None for node in chain.inside & passing):
        with contextlib.suppress(_Unfit):
            op = _Op(chain, passing)
            # Each reads all inputs; else they are read once, and the updates are written once and read by each. Writing counts for three.
            if (readers - 1) * op.inputs <= readers + 3:
                return op
    if recomputes and chain.scatter.reduce == "sum" and not _is_same_everywhere(updates):
        with contextlib.suppress(_Unfit):
            return _Op(chain, set())
    return None


def _is_same_everywhere(node: Node) -> bool:
    """Whether all elements are equal, so that the order of sums does not matter."""
    return node.target is aten.full.default


def _flatten_indices(graph: Graph) -> None:
    """Updates of rows that indices of several dims name become updates that an index of one dim names, and so do those of which a mask leaves out rows."""
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if node.target is aten._unsafe_masked_index_put_accumulate.default and is_zeros(node.args[0]):
            operand, mask, indices, updates = node.args
        elif node.target in (aten.index_put.default, aten._unsafe_index_put.default):
            operand, indices, updates = node.args[:3]
            mask = None
        else:
            continue
        shape, window = shape_of(indices[0]), (shape_of(operand) or ())[1:]
        if len(indices) != 1 or not shape or dtype_of(indices[0]) not in INDEX_DTYPES or not all(isinstance(dim, int) and dim > 0 for dim in window):
            continue
        if not dtype_of(operand).is_floating_point or operand.meta["val"].device.type != "cpu":
            continue
        if (mask is None and len(shape) < 2) or not same_shape(shape_of(updates), (*shape, *window)):
            continue
        if mask is not None and not same_shape(shape_of(mask), (*shape, *(1,) * len(window))):
            continue
        with graph.inserting_before(node):
            index, rows = _viewed(graph, indices[0], [-1]), _viewed(graph, updates, [-1, *window])
            if mask is None:
                node.args = (operand, [index], rows, *node.args[3:])
                continue
            extent = operand.args[0][0]
            from_end, is_negative = (graph.call_function(target, (index, other)) for target, other in ((aten.add.Tensor, extent), (aten.lt.Scalar, 0)))
            counted = graph.call_function(aten.where.self, (is_negative, from_end, index))
            chosen = graph.call_function(aten.where.ScalarOther, (_viewed(graph, mask, [-1]), counted, -1))
            for each in (from_end, counted, chosen):
                each.meta = dict(index.meta)
            is_negative.meta = {**index.meta, "val": index.meta["val"].lt(0)}
            made = graph.call_function(aten.embedding_dense_backward.default, (rows, chosen, extent, -1, False))
            made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def fold_chains(graph: Graph, *, recomputes: bool = False) -> int:
    """Puts operators of strew in the place of the graph's chains, and says of how many.

    Args:
        recomputes: whoever runs the graph computes elementwise operators and gathers again for each reader, so that what others read, too, is not in memory either, and its own sums along
            rows depend on the threads: inductor. Sums of rows that nothing is folded into are strew's then, too.
    """
    _say_zeros(graph)
    if recomputes:
        _flatten_indices(graph)
    chains = []
    for node in graph.nodes:
        scatter = scatter_of(node)
        if scatter is not None and node.meta["val"].device.type == "cpu":
            chains.append(_Chain(node, scatter))
    ops: list[_Op] = []
    while chains:  # a chain that stays reads what others would have left out
        passing = set().union(*(chain.inside for chain in chains)) if recomputes else _passing(chains)
        readers = collections.Counter(chain.scatter.updates for chain in chains)
        ops, unfit = [], []
        for chain in chains:
            op = _op_of(chain, passing, readers[chain.scatter.updates], recomputes)
            if op is not None:
                ops.append(op)
            else:
                unfit.append(chain)
        if not unfit:
            break
        chains = [chain for chain in chains if chain not in unfit]
    replaced: dict[Node, Node] = {}
    for op in ops:
        with contextlib.suppress(_Unfit):
            _replace(graph, op, replaced)
    if replaced:
        graph.eliminate_dead_code()
    return len(replaced)
