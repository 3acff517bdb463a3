"""The general way of the functions: with NumPy's views for whatever arrays and arguments, and ``Function.run``, which says what is wrong.

It computes no result itself: it brings arguments into the form that an op of strew has, and gives the result back as an array of the caller's library."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _hosts as hosts
from . import _native
from ._indices import Indexed, as_index
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
_NODES = {"add": "add", "sub": "subtract", "mul": "multiply", "max": "maximum", "min": "minimum"}
_KINDS = ("assign", *_UFUNCS)


class _Modes(dict):
    """Functions by mode; another mode is an error."""

    def __missing__(self, mode):
        raise ValueError(f"mode: {mode!r}, expected one of {', '.join(map(repr, self))}")


def _in_place(form, kind, mode, **more):
    return Function(form, {"combiner": kind, "init": "in_place", **_WRITE_MODES[mode]}, **more)


AT = {kind: _Modes({mode: _in_place("scatter_rows", kind, mode, same_dtype=True, broadcasts=True) for mode in _WRITE_MODES}) for kind in _KINDS}
_AT_VECTORS = {kind: _Modes({mode: _in_place("scatter_nd", kind, mode) for mode in _WRITE_MODES}) for kind in _KINDS}
_TAKE_VECTORS = {mode: Function("gather_nd", fields) for mode, fields in _READ_MODES.items() if mode != "fill"}
INDEX = {
    "in_place": _in_place("scatter_rows", "add", "raise", same_dtype=True),
    "copy": Function("scatter_rows", {"combiner": "add", **_WRITE_MODES["raise"]}, same_dtype=True),
}
# By (axis, mode); filled as they are asked for.
TAKE: dict[Any, Function] = {}
TAKE_RAISING: dict[Any, Function] = {}  # those of mode "raise", by axis
ALONG: dict[str, dict[Any, Function]] = {"take": {}, "assign": {}}
_ELEMENTS: dict[Any, Function] = {}
_SEGMENTS: dict[Any, Function] = {}
_MIXED: dict[Any, Function] = {}
_WEIGHTED: dict[Any, Function] = {}
_APPENDS: dict[Any, Function] = {}


def _check_mode(mode, modes):
    if mode not in modes:
        raise ValueError(f"mode: {mode!r}, expected one of {', '.join(map(repr, modes))}")


def normal_axis(axis, ndim, name="axis"):
    """The axis, counted from 0."""
    number = axis.__index__()
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim, name)
    return number % ndim


def _is_usable(array):
    return array.dtype.isnative and array.flags.aligned and all(
        stride % array.dtype.itemsize == 0 for stride, extent in zip(array.strides, array.shape) if extent > 1
    )


def _input(array, name="operand"):
    """The array, or a copy in native byte order if the elements are not aligned or not native."""
    array = hosts.to_numpy(array, name)
    if array.dtype.kind in "OSUMm" or (array.dtype.kind == "V" and array.dtype.name not in _native.dtypes):
        raise TypeError(f"{name}: elements of {array.dtype}, of which strew has no dtype")
    return array if _is_usable(array) else array.astype(array.dtype.newbyteorder("="), order="C", copy=True)


def _apart(array, out):
    """The array, or a copy if it may share memory with `out`."""
    return array.copy() if np.may_share_memory(array, out) else array


def _index(index, name="indices"):
    index = hosts.to_numpy(index, name) if hosts.is_array(index) else index
    index = as_index(index, name)
    if index.dtype == bool:
        index = index.astype(np.intp)
    return index if _is_usable(index) else index.copy()


class _Written:
    """The array that a call writes, as NumPy's: itself, or a copy in native order that `finish` writes back."""

    def __init__(self, array, name):
        self.given = array
        self._whole = hosts.result_to_numpy(array, name)
        self.array = _input(self._whole, name)

    def finish(self):
        if self.array is not self._whole:
            self._whole[...] = self.array
        hosts.was_written(self.given)


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


def _strew_name(dtype, name):
    try:
        return _native.dtypes[dtype.name]
    except KeyError:
        raise TypeError(f"{name}: elements of {dtype}, of which strew has no dtype") from None


def _combiner(kind, dtype):
    """The combiner on the dtype. On bools, NumPy's maximum is or, and its minimum is and."""
    if dtype == bool:
        if kind == "sub":
            raise TypeError("sub: elements of bool; NumPy has no subtraction of them either")
        return {"max": "or", "min": "and"}.get(kind, kind)
    return kind


def _at_function(form, kind, mode, dtype, loop):
    """The function that combines in the dtype `loop` and rounds to `dtype`."""
    combiner = _combiner(kind, loop)
    if loop == dtype and combiner == kind:
        return (AT if form == "scatter_rows" else _AT_VECTORS)[kind][mode]
    key = (form, kind, mode, dtype, loop)
    if key not in _MIXED:
        if loop == dtype:
            _MIXED[key] = _in_place(form, combiner, mode)
        else:
            own, wide = _strew_name(dtype, "a"), _strew_name(loop, "b")
            node = _NODES[combiner]
            graph = f"{{%0=update(0):{wide};%1=current(0):{own};%2=convert(%1):{wide};%3={node}(%2,%0):{wide};%4=convert(%3):{own};return %4}}"
            _MIXED[key] = Function(form, {"combiner": "expr", "expr": graph, "init": "in_place", **_WRITE_MODES[mode]})
    return _MIXED[key]


def _host_indices(indices):
    """The indices, with arrays of other libraries as NumPy's."""
    if isinstance(indices, tuple):
        return tuple(map(_host_indices, indices))
    return hosts.to_numpy(indices, "indices") if hosts.is_array(indices) else indices


def at(kind, a, indices, b, mode):
    _check_mode(mode, _WRITE_MODES)
    written = _Written(a, "a")
    indexed = Indexed(written.array, _host_indices(indices), mode == "raise")
    dtype = written.array.dtype
    values = _values(b, dtype, "b") if kind == "assign" else hosts.to_numpy(b, "b")
    if values.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"b: elements of {values.dtype}, expected real ones for an array of {dtype}; pass b.real if that is meant")
    loop = dtype if kind == "assign" else _loop_dtype(kind, dtype, values.dtype)
    values = _apart(_input(values.astype(loop, casting="unsafe", copy=False), "b"), indexed.view)
    index = _apart(indexed.indices if _is_usable(indexed.indices) else indexed.indices.copy(), indexed.view)
    updates = indexed.updates(values, kind == "assign")
    function = _at_function("scatter_rows" if indexed.count == 1 else "scatter_nd", kind, mode, dtype, loop)
    function.run(indexed.view, index, updates)
    written.finish()


def _values(values, dtype, name):
    """What is assigned to elements of the dtype: lists and numbers have to fit it, as in NumPy."""
    return hosts.to_numpy(values, name) if hosts.is_array(values) else np.asarray(values, dtype)


def _fill_text(value, dtype):
    """A value of the dtype as ops write it."""
    value = np.asarray(value).astype(dtype)[()]
    if dtype == bool:
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(value))
    if dtype.kind == "c":
        return f"({_float_text(value.real)},{_float_text(value.imag)})"
    return _float_text(value)


def _float_text(value):
    return repr(float(value)).removesuffix(".0") if np.isfinite(float(value)) else str(float(value))


def _result(out, shape, dtype, name="out"):
    """An array for a result: the caller's, or a new one."""
    if out is None:
        return np.empty(shape, dtype), None
    written = _Written(out, name)
    if written.array.shape != tuple(shape) or written.array.dtype != dtype:
        raise ValueError(f"{name}: {written.array.dtype}{list(written.array.shape)}, expected {dtype}{list(shape)}")
    return written.array, written


def _given(result, written, out, like):
    """The result as the caller's: `out`, or an array of the library of `like`."""
    if written is not None:
        written.finish()
        return out
    return hosts.from_numpy(result, like) if hosts.is_array(like) else result


def _reader(table, form, axis, mode, dtype, fill_value, **more):
    """The function of a read along an axis."""
    if mode == "fill":
        fill = _fill_text(fill_value, dtype)
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
    _check_mode(mode, _READ_MODES)
    operand = _input(a, "a")
    key = axis
    if axis is None:
        operand, key = operand.reshape(-1), None
    elif operand.ndim == 0:
        normal_axis(axis, 1)
        operand, key = operand.reshape(1), 0
    else:
        key = normal_axis(axis, operand.ndim)
    index = _index(indices)
    at_axis = key or 0
    shape = operand.shape[:at_axis] + index.shape + operand.shape[at_axis + 1 :]
    _no_elements(mode, operand.shape[at_axis], np.prod(shape))
    result, written = _result(out, shape, operand.dtype)
    if written is not None:
        operand, index = _apart(operand, result), _apart(index, result)
    _reader(TAKE, "gather", key, mode, operand.dtype, fill_value).run(result, operand, index)
    if written is None and not shape and not hosts.is_torch(a) and not hosts.is_jax(a):
        return result[()]
    return _given(result, written, out, a)


def put(a, ind, v, mode):
    _check_mode(mode, _WRITE_MODES)
    if not hosts.is_array(a):
        raise TypeError(f"a: a {type(a).__name__}, expected an array that can be written into")
    written = _Written(a, "a")
    array = written.array
    index = _index(ind, "ind").ravel()
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
    values, index = _apart(values, array), _apart(index, array)
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
    index = _index(index)
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
    _check_mode(mode, _READ_MODES)
    operand = _input(arr, "arr")
    same, index, at_axis = _along(operand, indices, axis)
    if same is None:
        operand = operand.reshape(-1)
    before, after = _broadcast_along(operand, index, at_axis)
    operand = np.broadcast_to(operand, before + (operand.shape[at_axis],) + after)
    index = np.broadcast_to(index, before + (index.shape[at_axis],) + after)
    _no_elements(mode, operand.shape[at_axis], index.size)
    result = np.empty(index.shape, operand.dtype)
    key = at_axis if axis is None else axis
    _reader(ALONG["take"], "gather_elements", key, mode, operand.dtype, fill_value, along=True).run(result, operand, index)
    return _given(result, None, None, arr)


def put_along_axis(arr, indices, values, axis, mode):
    _check_mode(mode, _WRITE_MODES)
    written = _Written(arr, "arr")
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
    index = _apart(np.broadcast_to(index, before + (index.shape[axis],) + after), array)
    values = _values(values, array.dtype, "values").astype(array.dtype, casting="unsafe", copy=False)
    try:
        values = np.broadcast_to(_apart(_input(values, "values"), array), index.shape)
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


def _like_operand(source, operand, name):
    """The source in the operand's dtype; a number as it is, an array if nothing of another kind is lost."""
    if not hosts.is_array(source) and np.ndim(source) == 0:
        return np.asarray(source, operand.dtype)
    values = _input(source, name)
    if values.dtype == operand.dtype:
        return values
    if not np.can_cast(values.dtype, operand.dtype, "same_kind"):
        raise TypeError(f"{name}: elements of {values.dtype}, expected {operand.dtype} or what converts to it")
    return values.astype(operand.dtype)


def elements(kind, input, dim, index, src, out):
    operand = _input(input, "input")
    index = _index(index, "index")
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
    key = (kind, axis, operand.dtype == bool)
    if key not in _ELEMENTS:
        form = "gather_elements" if kind == "gather" else "scatter_elements"
        fields = {} if kind == "gather" else {"combiner": _combiner(kind, operand.dtype)}
        _ELEMENTS[key] = Function(form, {**fields, **_WRITE_MODES["raise"]}, axis=axis)
    shape = index.shape if kind == "gather" else operand.shape
    result, written = _result(out, (() if is_scalar and kind != "gather" else shape), operand.dtype)
    target = result.reshape(shape)
    inputs = [operand, index]
    if kind != "gather":
        inputs.append(_updates_of_elements(_like_operand(src, operand, "src"), index))
    if written is not None:
        inputs = [each if each is operand and each is target else _apart(each, target) for each in inputs]
        if out is input:
            inputs[0] = target
    _ELEMENTS[key].run(target, *inputs)
    return _given(result, written, out, input)


def _updates_of_elements(values, index):
    if values.ndim == 0:
        return np.broadcast_to(values, index.shape)
    if values.ndim != index.ndim or any(own < extent for own, extent in zip(values.shape, index.shape)):
        raise ValueError(f"src: shape {list(values.shape)}, expected at least that of index, {list(index.shape)}")
    return values[tuple(slice(0, extent) for extent in index.shape)]


def index_add(input, dim, index, source, alpha, out):
    operand = _input(input, "input")
    axis = normal_axis(dim, operand.ndim, "dim")
    index = _index(index, "index")
    if index.ndim != 1:
        raise ValueError(f"index: {index.ndim} dims, expected 1")
    values = _like_operand(source, operand, "source")
    expected = operand.shape[:axis] + index.shape + operand.shape[axis + 1 :]
    if values.shape != expected:
        raise ValueError(f"source: shape {list(values.shape)}, expected {list(expected)}")
    if alpha != 1:
        values = (values * np.asarray(alpha, operand.dtype)).astype(operand.dtype, copy=False)
    result, written = _result(out, operand.shape, operand.dtype)
    if written is not None:
        index, values = _apart(index, result), _apart(values, result)
    if out is not input:
        result[...] = operand
    INDEX["in_place"].run(np.moveaxis(result, axis, 0), index, np.moveaxis(values, axis, 0))
    return _given(result, written, out, input)


def _identity(kind, dtype):
    """What a segment without rows holds."""
    if kind == "add":
        return _fill_text(0, dtype)
    if kind == "mul":
        return _fill_text(1, dtype)
    if dtype == bool:
        return "false" if kind == "max" else "true"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return str(limits.min if kind == "max" else limits.max)
    return "-inf" if kind == "max" else "inf"


def segment(kind, data, segment_ids, num_segments, out):
    values = _input(data, "data")
    ids = _index(segment_ids, "segment_ids")
    if ids.shape != values.shape[: ids.ndim] or ids.ndim == 0:
        raise ValueError(f"segment_ids: shape {list(ids.shape)}, expected the first dims of data, {list(values.shape)}")
    if num_segments is None:
        num_segments = int(ids.max()) + 1 if ids.size else 0
    count = num_segments.__index__()
    if count < 0:
        raise ValueError(f"num_segments: {count}, expected 0 or more")
    result, written = _result(out, (count, *values.shape[ids.ndim :]), values.dtype)
    if written is not None:
        ids, values = _apart(ids, result), _apart(values, result)
    key = (kind, values.dtype)
    if key not in _SEGMENTS:
        fields = {"combiner": _combiner(kind, values.dtype), "oob": "skip_window"}
        _SEGMENTS[key] = Function("scatter_rows", fields, fill=_identity(kind, values.dtype))
    _SEGMENTS[key].run(result, ids, values)
    return _given(result, written, out, data)


def _counts(numbers, weights, count):
    """The sums of `weights`, or how many there are, of each number below `count`."""
    values = np.broadcast_to(np.ones((), np.intp), numbers.shape) if weights is None else weights
    return segment("add", values, numbers, count, None)


def bincount(x, weights, minlength):
    numbers = hosts.to_numpy(x, "x")
    if numbers.ndim != 1:
        raise ValueError(f"x: {numbers.ndim} dims, expected 1")
    if numbers.size and numbers.dtype.kind not in "iub":
        raise TypeError(f"x: elements of {numbers.dtype}, expected integers")
    minlength = minlength.__index__()
    if minlength < 0:
        raise ValueError(f"minlength: {minlength}, expected 0 or more")
    if weights is not None:
        weights = _input(weights, "weights")
        if weights.dtype.kind == "c":
            raise TypeError(f"weights: elements of {weights.dtype}, expected real numbers")
        weights = weights.astype(np.float64, copy=False) if numbers.size else np.empty(numbers.shape)
        if weights.shape != numbers.shape:
            raise ValueError(f"weights: shape {list(weights.shape)}, expected that of x, {list(numbers.shape)}")
    numbers = _input(numbers.astype(np.intp, copy=False) if numbers.dtype == bool or not numbers.size else numbers, "x")
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"x: {int(numbers.min())} among the elements, expected 0 or more")
    count = max(int(numbers.max()) + 1 if numbers.size else 0, minlength)
    result = _counts(numbers, weights if numbers.size else None, count)
    return hosts.from_numpy(result, x) if hosts.is_array(x) else result


def histogram(a, bins, range, density, weights):
    values = hosts.to_numpy(a, "a").ravel()
    if values.dtype == bool:
        values = values.astype(np.uint8)
    if weights is not None:
        weights = np.asarray(hosts.to_numpy(weights, "weights"))
        if weights.shape != np.shape(hosts.to_numpy(a, "a")):
            raise ValueError("weights: expected the shape of a")
        weights = weights.ravel()
    edges = np.histogram_bin_edges(values, bins, range, weights)
    simple = weights is None or weights.dtype == np.float64
    if not simple or np.ndim(bins) == 1 and not isinstance(bins, str):
        return np.histogram(values, edges, density=density, weights=weights)
    numbers, kept = _bin_numbers(values, edges)
    counts = _counts(numbers, None if weights is None else weights[kept], len(edges) - 1)
    if density:
        widths = np.array(np.diff(edges), float)
        return counts / widths / counts.sum(), edges
    return counts, edges


def _bin_numbers(values, edges):
    """The bins of equal width that values fall into, and which values fall into one: in NumPy's arithmetic, so that values at edges go the same way."""
    first, last, count = edges[0], edges[-1], len(edges) - 1
    kept = (values >= first) & (values <= last)
    inside = values[kept].astype(edges.dtype, copy=False)
    spread = np.subtract(last, first, dtype=np.result_type(first, last, values, np.float16) if values.dtype.kind in "iu" else None)
    numbers = (((inside - first) / spread) * count).astype(np.intp)
    numbers[numbers == count] -= 1
    numbers[inside < edges[numbers]] -= 1
    numbers[(inside >= edges[numbers + 1]) & (numbers != count - 1)] += 1
    return numbers, kept


def _append_function(axis, mode):
    key = (axis, mode)
    if key not in _APPENDS:
        if mode not in ("raise", "wrap"):
            raise ValueError(f"mode: {mode!r}, expected 'raise' or 'wrap'")
        _APPENDS[key] = Function("tensor_scatter", {"init": "in_place"}, axis=axis, circular=mode == "wrap")
    return _APPENDS[key]


def kv_append(cache, positions, token, axis, mode):
    caches = list(cache) if isinstance(cache, (list, tuple)) else [cache]
    tokens = list(token) if isinstance(token, (list, tuple)) else [token]
    if len(caches) != len(tokens):
        raise ValueError(f"token: {len(tokens)} arrays, expected one per cache, {len(caches)}")
    if not caches:
        return
    function = _append_function(axis, mode)
    positions = _index(positions, "positions") if not isinstance(positions, np.ndarray) else positions
    if len(caches) == 1:
        done = function(caches[0], positions, tokens[0])
        if done is NotImplemented:
            _append_generally(function, caches[0], positions, tokens[0])
        return
    if not function.run_many(caches, positions, tokens):
        for one, new in zip(caches, tokens):
            _append_generally(function, one, positions, new)


def _append_generally(function, cache, positions, token):
    written = _Written(cache, "cache")
    values = _apart(_like_operand(token, written.array, "token"), written.array)
    function.run(written.array, _apart(_index(positions, "positions"), written.array), values)
    written.finish()


def moe_permute(tokens, experts, num_experts):
    values = _input(tokens, "tokens")
    experts_array = _index(experts, "experts")
    if experts_array.ndim not in (1, 2) or values.ndim < 1 or experts_array.shape[0] != values.shape[0]:
        raise ValueError(f"experts: shape {list(experts_array.shape)}, expected [tokens, k] or [tokens] with the {values.shape[:1]} tokens")
    flat = experts_array.reshape(-1)
    k = experts_array.shape[1] if experts_array.ndim == 2 else 1
    if num_experts is None:
        num_experts = int(flat.max()) + 1 if flat.size else 0
    if flat.size and not (0 <= int(flat.min()) and int(flat.max()) < num_experts):
        raise IndexError(f"experts: from {int(flat.min())} to {int(flat.max())}, expected 0 to {num_experts - 1}")
    rows = np.argsort(flat, kind="stable").astype(np.int64, copy=False)
    permuted = take(values, rows // k if k != 1 else rows, 0, None, "raise", 0)
    counts = _counts(flat, None, num_experts)
    return tuple(hosts.from_numpy(each, tokens) if hosts.is_array(tokens) else each for each in (permuted, rows, counts))


def _weighted(dtype):
    if dtype not in _WEIGHTED:
        own = _strew_name(dtype, "permuted")
        graph = f"{{%0=update(0):{own};%1=extra(0):{own};%2=multiply(%0,%1):{own};%3=current(0):{own};%4=add(%3,%2):{own};return %4}}"
        fields = {"combiner": "expr", "expr": graph, "oob": "error"}
        _WEIGHTED[dtype] = Function("scatter_rows", fields, fill=_fill_text(0, dtype), extras=("per_position",))
    return _WEIGHTED[dtype]


def moe_unpermute(permuted, rows, k, weights, out):
    values = _input(permuted, "permuted")
    rows_array = _index(rows, "rows")
    k = k.__index__()
    if rows_array.ndim != 1 or values.ndim < 1 or rows_array.shape[0] != values.shape[0]:
        raise ValueError(f"rows: shape {list(rows_array.shape)}, expected one per row of permuted, {list(values.shape[:1])}")
    if k < 1 or rows_array.size % k:
        raise ValueError(f"k: {k}, expected a divisor of the {rows_array.size} rows")
    result, written = _result(out, (rows_array.size // k, *values.shape[1:]), values.dtype)
    if written is not None:
        values, rows_array = _apart(values, result), _apart(rows_array, result)
    where = rows_array // k if k != 1 else rows_array
    if weights is None:
        key = ("unpermute", values.dtype)
        if key not in _SEGMENTS:
            _SEGMENTS[key] = Function("scatter_rows", {"combiner": "add", "oob": "error"}, fill=_fill_text(0, values.dtype))
        _SEGMENTS[key].run(result, where, values)
    else:
        factors = _input(weights, "weights").astype(values.dtype, copy=False).reshape(-1)
        if factors.size != rows_array.size:
            raise ValueError(f"weights: {factors.size} elements, expected {rows_array.size}")
        _weighted(values.dtype).run(result, where, values, take(factors, rows_array, 0, None, "raise", 0))
    return _given(result, written, out, permuted)
