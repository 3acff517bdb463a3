"""The general way of the functions: with NumPy's views for whatever arrays and arguments, and ``Function.run``, which says what is wrong.

It computes no result itself: it brings arguments into the form that an op of strew has, and gives the result back as an array of the caller's library."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _hosts as hosts
from ._arguments import (
    Written, apart, as_input, check_among, combiner_on, fill_text, given_back, in_dtype, index_input, is_usable, result_array, strew_name,
)
from ._indices import Indexed
from ._native import Function

_WRITE_MODES = {
    "raise": {"oob": "error", "normalize_negative": "true"},
    "wrap": {"oob": "wrap", "normalize_negative": "false"},
    "clip": {"oob": "clamp", "normalize_negative": "false"},
    "drop": {"oob": "skip_window", "normalize_negative": "true"},
}
_READ_MODES = {
    "raise": _WRITE_MODES["raise"],
    "wrap": _WRITE_MODES["wrap"],
    "clip": _WRITE_MODES["clip"],
    "fill": {"oob": "fill_window", "normalize_negative": "true"},
}
_UFUNCS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
NODES = {"add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum", "min": "minimum"}
_KINDS = ("assign", *_UFUNCS)


class _Modes(dict):
    """Functions by mode; another mode is an error."""

    def __missing__(self, mode):
        raise ValueError(f"mode: {mode!r}, expected one of {', '.join(map(repr, self))}")


def _in_place(form, kind, mode, **more):
    return Function(form, {"combiner": kind, "init": "in_place", **_WRITE_MODES[mode]}, **more)


AT = {kind: _Modes({mode: _in_place("scatter_rows", kind, mode, same_dtype=True, broadcasts=True) for mode in _WRITE_MODES}) for kind in _KINDS}
INDEX = {
    "in_place": _in_place("scatter_rows", "add", "raise", same_dtype=True),
    "copy": Function("scatter_rows", {"combiner": "add", **_WRITE_MODES["raise"]}, same_dtype=True),
}
# By (axis, mode); filled as they are asked for.
TAKE: dict[Any, Function] = {}
TAKE_RAISING: dict[Any, Function] = {}  # those of mode "raise", by axis
ALONG: dict[str, dict[Any, Function]] = {"take": {}, "assign": {}}
_ELEMENTS: dict[Any, Function] = {}
_COUNTED: dict[Any, Function] = {}  # by the arguments of _counted
_MIXED: dict[Any, Function] = {}


def normal_axis(axis, ndim, name="axis"):
    """The axis, counted from 0."""
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim, name)
    return number % ndim


def _loop_dtype(kind, a, b):
    """The dtype in which NumPy computes `kind` of the two dtypes."""
    if a == b and a.kind == "V":
        return a
    try:
        return _UFUNCS[kind].resolve_dtypes((a, b, None))[2]
    except TypeError as error:
        if "V" in (a.kind, b.kind):
            return np.result_type(a, b)
        raise TypeError(f"{kind}: {error}") from None


_MOST_INDEX_TENSORS = 7  # that a function takes; more indices are put into vectors


def _at_function(count, kind, mode, dtype, loop):
    """The function that combines in the dtype `loop` and rounds to `dtype`. `count`: of the index tensors; 0: indices are vectors."""
    combiner = combiner_on(kind, loop)
    if count == 1 and loop == dtype and combiner == kind:
        return AT[kind][mode]
    form = {0: "scatter_nd", 1: "scatter_rows"}.get(count, "scatter_at")
    more = {"index_tensors": count} if count > 1 else {}
    key = (count, combiner, mode) if loop == dtype else (count, kind, mode, dtype, loop)
    if key not in _MIXED:
        if loop == dtype:
            _MIXED[key] = _in_place(form, combiner, mode, **more)
        else:
            own, wide = strew_name(dtype, "a"), strew_name(loop, "b")
            node = NODES[combiner]
            graph = f"{{%0=update(0):{wide};%1=current(0):{own};%2=convert(%1):{wide};%3={node}(%2,%0):{wide};%4=convert(%3):{own};return %4}}"
            _MIXED[key] = Function(form, {"combiner": "expr", "expr": graph, "init": "in_place", **_WRITE_MODES[mode]}, **more)
    return _MIXED[key]


def _host_indices(indices):
    """The indices, with arrays of other libraries as NumPy's."""
    if isinstance(indices, tuple):
        return tuple(map(_host_indices, indices))
    return hosts.to_numpy(indices, "indices") if hosts.is_array(indices) else indices


def at(kind, a, indices, b, mode):
    check_among("mode", mode, _WRITE_MODES)
    written = Written(a, "a")
    indexed = Indexed(written.array, _host_indices(indices), mode == "raise")
    dtype = written.array.dtype
    values = _values(b, dtype, "b") if kind == "assign" else hosts.to_numpy(b, "b")
    if values.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"b: elements of {values.dtype}, expected real ones for an array of {dtype}; pass b.real if that is meant")
    loop = dtype if kind == "assign" else _loop_dtype(kind, dtype, values.dtype)
    values = apart(as_input(values.astype(loop, casting="unsafe", copy=False), "b"), indexed.view)
    index = [apart(each if is_usable(each) else each.copy(), indexed.view) for each in indexed.indices]
    count = indexed.count
    if not 1 <= count <= _MOST_INDEX_TENSORS:
        index = [np.stack([each.astype(np.int64, copy=False) for each in index], -1) if index else np.empty((0,), np.int64)]
        count = 0
    updates = indexed.updates(values, kind == "assign")
    first, *more = index
    _at_function(count, kind, mode, dtype, loop).run(indexed.view, first, updates, *more)
    written.finish()


def _values(values, dtype, name):
    """What is assigned to elements of the dtype: lists and numbers have to fit it, as in NumPy."""
    return hosts.to_numpy(values, name) if hosts.is_array(values) else np.asarray(values, dtype)


def _reader(table, form, axis, mode, dtype, fill_value, **more):
    """The function of a read along an axis."""
    if mode == "fill":
        fill = fill_text(fill_value, dtype)
        key = (axis, mode, dtype, fill)
        if key not in table:
            table[key] = Function(form, _READ_MODES[mode], axis=axis or 0, fill=fill, **more)
        return table[key]
    if (axis, mode) not in table:
        table[axis, mode] = Function(form, _READ_MODES[mode], axis=axis or 0, flat=axis is None, **more)
        if table is TAKE and mode == "raise":
            TAKE_RAISING[axis] = table[axis, mode]
    return table[axis, mode]


def _no_elements(mode, extent, count):
    """Where nothing can be taken from. Under "raise", the kernel says so."""
    if extent == 0 and count != 0 and mode in ("wrap", "clip"):
        raise IndexError("take: there is no element to take from an axis without elements")


def take(a, indices, axis, out, mode, fill_value):
    check_among("mode", mode, _READ_MODES)
    operand = as_input(a, "a")
    if axis is None:
        operand = operand.reshape(-1)
    elif operand.ndim == 0:
        operand = operand.reshape(1)
    at_axis = 0 if axis is None else normal_axis(axis, operand.ndim)
    index = index_input(indices)
    shape = operand.shape[:at_axis] + index.shape + operand.shape[at_axis + 1 :]
    _no_elements(mode, operand.shape[at_axis], np.prod(shape))
    result, written = result_array(out, shape, operand.dtype)
    if written is not None:
        operand, index = apart(operand, result), apart(index, result)
    _reader(TAKE, "gather", axis, mode, operand.dtype, fill_value).run(result, operand, index)
    if written is None and not shape and not hosts.is_torch(a) and not hosts.is_jax(a):
        return result[()]
    return given_back(result, written, out, a)


def put(a, ind, v, mode):
    check_among("mode", mode, _WRITE_MODES)
    if not hosts.is_array(a):
        raise TypeError(f"a: a {type(a).__name__}, expected an array that can be written into")
    written = Written(a, "a")
    array = written.array
    index = index_input(ind, "ind").ravel()
    values = _values(v, array.dtype, "v").astype(array.dtype, casting="unsafe", copy=False).ravel()
    if index.size == 0:
        return
    if array.size == 0 and mode != "drop":
        raise IndexError("a: no elements, expected some that indices can be of")
    if values.size == 0:
        return
    if values.size == 1:
        values = np.broadcast_to(values, index.shape)
    elif values.size != index.size:
        values = np.resize(values, index.shape)
    values, index = apart(values, array), apart(index, array)
    if array.flags.c_contiguous or array.ndim == 1:
        AT["assign"][mode].run(array.reshape(-1), index, values)
    else:
        flat = np.ascontiguousarray(array).reshape(-1)
        AT["assign"][mode].run(flat, index, values)
        array[...] = flat.reshape(array.shape)
    written.finish()


def _along(arr, indices, axis):
    """The array, the indices and the axis of a function along an axis."""
    index = hosts.to_numpy(indices, "indices") if hosts.is_array(indices) else np.asarray(indices)
    if index.dtype.kind not in "iu":
        raise IndexError(f"indices: elements of {index.dtype}, expected integers")
    index = index_input(index)
    if axis is None:
        if index.ndim != 1:
            raise ValueError(f"indices: {index.ndim} dims, expected 1 for axis None")
        return None, index, 0
    if arr.ndim != index.ndim:
        raise ValueError(f"indices: {index.ndim} dims, expected the {arr.ndim} of the array")
    return arr, index, normal_axis(axis, arr.ndim)


def _broadcast_along(arr, index, axis):
    """The dims of both, but for the axis, as NumPy broadcasts them."""
    others = [extent for d, extent in enumerate(arr.shape) if d != axis]
    wanted = [extent for d, extent in enumerate(index.shape) if d != axis]
    try:
        common = list(np.broadcast_shapes(tuple(others), tuple(wanted)))
    except ValueError:
        raise IndexError(
            f"indices: shape {list(index.shape)}, expected one that broadcasts against {list(arr.shape)} but for axis {axis}"
        ) from None
    return tuple(common[:axis]), tuple(common[axis:])


def take_along_axis(arr, indices, axis, mode, fill_value):
    check_among("mode", mode, _READ_MODES)
    operand = as_input(arr, "arr")
    same, index, at_axis = _along(operand, indices, axis)
    if same is None:
        operand = operand.reshape(-1)
    before, after = _broadcast_along(operand, index, at_axis)
    operand = np.broadcast_to(operand, before + (operand.shape[at_axis],) + after)
    index = np.broadcast_to(index, before + (index.shape[at_axis],) + after)
    _no_elements(mode, operand.shape[at_axis], index.size)
    result = np.empty(index.shape, operand.dtype)
    _reader(ALONG["take"], "gather_elements", at_axis if axis is None else axis, mode, operand.dtype, fill_value, along=True).run(result, operand, index)
    return given_back(result, None, None, arr)


def put_along_axis(arr, indices, values, axis, mode):
    check_among("mode", mode, _WRITE_MODES)
    written = Written(arr, "arr")
    array = written.array
    same, index, at_axis = _along(array, indices, axis)
    if same is None:
        flat = np.ascontiguousarray(array).reshape(-1)
        _put_along(flat, index, values, 0, mode)
        if not np.shares_memory(flat, array):
            array[...] = flat.reshape(array.shape)
    else:
        _put_along(array, index, values, at_axis, mode)
    written.finish()


def _put_along(array, index, values, axis, mode):
    before, after = _broadcast_along(array, index, axis)
    index = apart(np.broadcast_to(index, before + (index.shape[axis],) + after), array)
    values = _values(values, array.dtype, "values").astype(array.dtype, casting="unsafe", copy=False)
    try:
        values = np.broadcast_to(apart(as_input(values, "values"), array), index.shape)
    except ValueError:
        raise ValueError(f"values: shape {list(values.shape)}, expected one that can be broadcast to {list(index.shape)}") from None
    if any(index.shape[d] > array.shape[d] for d in range(array.ndim) if d != axis):
        # Several slices of the indices meet one of the array: index vectors say so.
        coordinates = np.indices(index.shape, sparse=True)
        vectors = [index if d == axis else np.minimum(coordinates[d], array.shape[d] - 1) for d in range(array.ndim)]
        at("assign", array, tuple(vectors), values, mode)
        return
    key = (axis, mode)
    if key not in ALONG["assign"]:
        ALONG["assign"][key] = _in_place("scatter_elements", "assign", mode, axis=axis, same_dtype=True, broadcasts=True, along=True)
    ALONG["assign"][key].run(array, index, values)


_REDUCTIONS = {"sum": "add", "prod": "mul", "mean": "add", "amax": "max", "amin": "min"}


def _counted(kind, axis, dtype, include_self):
    """The function that reduces in place and counts the updates of each element, in the second result. Without include_self, the first one takes the place
    of what was there."""
    key = (kind, axis, dtype, include_self)
    if key not in _COUNTED:
        name, combiner = strew_name(dtype, "input"), combiner_on(kind, dtype)
        node = NODES.get(combiner, combiner)
        first = f"%4=constant(0):i64;%5=eq(%3,%4):bool;%6=select(%5,%0,%2):{name};%7=update(1):i64;%8=add(%3,%7):i64;return %6,%8"
        later = "%4=update(1):i64;%5=add(%3,%4):i64;return %2,%5"
        graph = f"{{%0=update(0):{name};%1=current(0):{name};%2={node}(%1,%0):{name};%3=current(1):i64;{later if include_self else first}}}"
        fields = {"combiner": "expr", "expr": graph, "init": "in_place", **_WRITE_MODES["raise"]}
        _COUNTED[key] = Function("scatter_elements", fields, axis=axis, second="other")
    return _COUNTED[key]


def _divide_counted(sums, counts, include_self):
    """Divides the elements that have updates by how many terms they have: integers rounded down."""
    divisors = np.where(counts == 0, 1, counts + include_self)
    if sums.dtype.kind in "iu":
        sums[...] = np.floor_divide(sums, divisors.astype(np.uint64 if sums.dtype.kind == "u" else np.int64))
        return
    for part in (sums.real, sums.imag) if sums.dtype.kind == "c" else (sums,):
        with np.errstate(under="ignore", invalid="ignore"):
            np.divide(part, divisors.astype(part.dtype), out=part, where=counts != 0)


def scatter_reduce(input, dim, index, src, reduce, include_self, out):
    check_among("reduce", reduce, _REDUCTIONS)
    kind = _REDUCTIONS[reduce]
    if include_self and reduce != "mean":
        return elements(kind, input, dim, index, src, out)
    operand, index, axis, is_scalar = _elements_arguments(input, dim, index)
    if reduce == "mean" and operand.dtype == bool:
        raise TypeError("input: elements of bool, expected numbers, of which there is a mean")
    result, written = result_array(out, () if is_scalar else operand.shape, operand.dtype)
    values = _updates_of_elements(in_dtype(src, operand.dtype, "src"), index)
    is_narrow = reduce == "mean" and operand.dtype.kind not in "iu" and operand.dtype.itemsize < np.dtype(np.float32).itemsize
    loop = np.dtype(np.float32) if is_narrow else operand.dtype
    made, counts = operand.astype(loop), np.zeros(operand.shape, np.int64)
    ones = np.broadcast_to(np.ones((), np.int64), index.shape)
    _counted(kind, axis, loop, include_self).run(made, counts, index, values.astype(loop, copy=False), ones)
    if reduce == "mean":
        _divide_counted(made, counts, include_self)
    result.reshape(operand.shape)[...] = made
    return given_back(result, written, out, input)


def _elements_arguments(input, dim, index):
    """The operand, the index and the axis of a function of elements, and whether the operand has no dims: then it becomes one with one."""
    operand = as_input(input, "input")
    index = index_input(index, "index")
    is_scalar = operand.ndim == 0 and index.ndim <= 1
    if is_scalar:
        operand, index = operand.reshape(1), index.reshape(-1)
        dim = normal_axis(dim, 1, "dim")
    if index.ndim != operand.ndim:
        raise ValueError(f"index: {index.ndim} dims, expected the {operand.ndim} of input")
    axis = normal_axis(dim, operand.ndim, "dim")
    for d in range(operand.ndim):
        if d != axis and index.shape[d] > operand.shape[d]:
            raise ValueError(f"index: extent {index.shape[d]} of dim {d}, expected at most the {operand.shape[d]} of input")
    return operand, index, axis, is_scalar


def elements(kind, input, dim, index, src, out):
    operand, index, axis, is_scalar = _elements_arguments(input, dim, index)
    key = (kind, axis, operand.dtype == bool)
    if key not in _ELEMENTS:
        form = "gather_elements" if kind == "gather" else "scatter_elements"
        fields = {} if kind == "gather" else {"combiner": combiner_on(kind, operand.dtype)}
        _ELEMENTS[key] = Function(form, {**fields, **_WRITE_MODES["raise"]}, axis=axis)
    shape = index.shape if kind == "gather" else operand.shape
    result, written = result_array(out, (() if is_scalar and kind != "gather" else shape), operand.dtype)
    target = result.reshape(shape)
    inputs = [operand, index]
    if kind != "gather":
        inputs.append(_updates_of_elements(in_dtype(src, operand.dtype, "src"), index))
    if written is not None:
        inputs = [each if each is operand and each is target else apart(each, target) for each in inputs]
        if out is input:
            inputs[0] = target
    _ELEMENTS[key].run(target, *inputs)
    return given_back(result, written, out, input)


def _updates_of_elements(values, index):
    if values.ndim == 0:
        return np.broadcast_to(values, index.shape)
    if values.ndim != index.ndim or any(own < extent for own, extent in zip(values.shape, index.shape)):
        raise ValueError(f"src: shape {list(values.shape)}, expected at least that of index, {list(index.shape)}")
    return values[tuple(slice(0, extent) for extent in index.shape)]


def index_add(input, dim, index, source, alpha, out):
    operand = as_input(input, "input")
    axis = normal_axis(dim, operand.ndim, "dim")
    index = index_input(index, "index")
    if index.ndim != 1:
        raise ValueError(f"index: {index.ndim} dims, expected 1")
    values = in_dtype(source, operand.dtype, "source")
    expected = operand.shape[:axis] + index.shape + operand.shape[axis + 1 :]
    if values.shape != expected:
        raise ValueError(f"source: shape {list(values.shape)}, expected {list(expected)}")
    if alpha != 1:
        values = (values * np.asarray(alpha, operand.dtype)).astype(operand.dtype, copy=False)
    result, written = result_array(out, operand.shape, operand.dtype)
    if written is not None:
        index, values = apart(index, result), apart(values, result)
    if out is not input:
        result[...] = operand
    INDEX["in_place"].run(np.moveaxis(result, axis, 0), index, np.moveaxis(values, axis, 0))
    return given_back(result, written, out, input)
