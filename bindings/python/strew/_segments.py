"""Rows that are reduced into those with the same number: segments and their means, and the counts of numbers: bincount, histogram. _fused.py has what
reads the rows from a table."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from . import _hosts as hosts
from . import _native
from ._arguments import apart, as_input, check_among, combiner_on, fill_text, given_back, index_input, result_array, strew_name
from ._general import NODES, normal_axis
from ._native import Function

_SEGMENTS: dict[Any, Function] = {}  # by (kind, dtype, whether the ids are sorted, whether it says which rows won)
_REDUCTIONS: dict[Any, Function] = {}  # by the arguments of _reduction
_ROUNDED = Function("gather", {"oob": "error"})  # of all rows: each converted to the dtype of the result
_KINDS = {"sum": "add", "mean": "add", "prod": "mul", "max": "max", "min": "min"}
BOUNDS = {"lengths": 0, "starts": 1, "offsets": 2}  # the numbers of strew_segment_bounds
_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}  # of kinds of dtypes: numbers of one convert to those of a higher one


def _identity(kind, dtype):
    """What a segment without rows holds."""
    if kind == "add":
        return fill_text(0, dtype)
    if kind == "mul":
        return fill_text(1, dtype)
    if dtype == bool:
        return "false" if kind == "max" else "true"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return str(limits.min if kind == "max" else limits.max)
    if np.isinf(np.asarray(np.inf).astype(dtype).astype(np.float32)):
        return "-inf" if kind == "max" else "inf"
    import ml_dtypes

    limits = ml_dtypes.finfo(dtype)
    return fill_text(limits.min if kind == "max" else limits.max, dtype)


def _segment_arguments(data, segment_ids, num_segments):
    """The rows, their ids, and how many segments there are."""
    values = as_input(data, "data")
    ids = index_input(segment_ids, "segment_ids")
    if ids.shape != values.shape[: ids.ndim] or ids.ndim == 0:
        raise ValueError(f"segment_ids: shape {list(ids.shape)}, expected the first dims of data, {list(values.shape)}")
    return values, ids, count_of(num_segments, ids, "num_segments")


def count_of(given, ids, name):
    """The number that was given, or what the largest id needs."""
    if given is None:
        given = max(int(ids.max()) + 1, 0) if ids.size else 0
    count = operator.index(given)
    if count < 0:
        raise ValueError(f"{name}: {count}, expected 0 or more")
    return count


def segment(kind, data, segment_ids, num_segments, out, return_arg=False):
    values, ids, count = _segment_arguments(data, segment_ids, num_segments)
    result, written = result_array(out, (count, *values.shape[ids.ndim :]), values.dtype)
    if written is not None:
        ids, values = apart(ids, result), apart(values, result)
    is_sorted = values.ndim > ids.ndim and _is_sorted(ids)  # of single elements, looking takes as long as what it saves
    key = (kind, values.dtype, is_sorted, return_arg)
    if key not in _SEGMENTS:
        combiner = kind if return_arg else combiner_on(kind, values.dtype)
        fields = {"combiner": combiner, "oob": "skip_window", "indices_are_sorted": "true" if is_sorted else "false"}
        more = {"second": "arg"} if return_arg else {}
        _SEGMENTS[key] = Function("scatter_rows", fields, fill=_identity(kind, values.dtype), **more)
    if not return_arg:
        _SEGMENTS[key].run(result, ids, values)
        return given_back(result, written, out, data)
    arg = np.empty(result.shape, np.int64)
    _SEGMENTS[key].run(result, arg, ids, values, numbers_of(ids.shape, values.shape))
    return given_back(result, written, out, data), given_back(arg, None, None, data)


def numbers_of(positions, shape, numbers=None):
    """The numbers of the positions, 0 on, or `numbers`, one per position, repeated along windows of updates of the shape."""
    numbers = np.arange(math.prod(positions)) if numbers is None else numbers
    return np.broadcast_to(numbers.reshape(*positions, *[1] * (len(shape) - len(positions))), shape)


def wide_dtype(reduce, dtype, is_weighted):
    """In which dtype rows of the dtype are multiplied and reduced."""
    if reduce == "mean" and dtype.kind in "biu":
        return np.dtype(np.float64)
    is_narrow = dtype.itemsize < np.dtype(np.float32).itemsize and dtype.kind not in "biu"
    return np.dtype(np.float32) if is_narrow and (is_weighted or reduce in ("sum", "mean", "prod")) else dtype


def result_dtype(reduce, dtype):
    return np.dtype(np.float64) if reduce == "mean" and dtype.kind in "biu" else dtype


def _reduction(reduce, dtype, fill, is_weighted, looks_up, oob, is_sorted, fuses, return_arg, in_place):
    """The function that makes sums and the like of rows of the dtype, in the dtype that it returns, too: narrow sums without weights are rounded there."""
    wide = wide_dtype(reduce, dtype, is_weighted)
    is_rounded = reduce == "sum" and not is_weighted
    made = dtype if is_rounded else wide
    fuses = fuses and wide == np.float32
    key = (reduce, dtype, fill, is_weighted, looks_up, oob, is_sorted, fuses, return_arg, in_place)
    if key not in _REDUCTIONS:
        combiner = _KINDS[reduce] if return_arg else combiner_on(_KINDS[reduce], wide)
        fields = {"combiner": combiner, "oob": oob}
        if is_rounded and wide != dtype:
            fields["accumulate"] = "wide"
        if is_sorted:
            fields["indices_are_sorted"] = "true"
        if is_weighted:
            own, name = strew_name(dtype, "table"), strew_name(wide, "table")
            fields["combiner"] = "expr"
            node = NODES.get(combiner, combiner)
            fold = f"%4=fma(%1,%2,%3):{name};return %4" if fuses else f"%4=multiply(%1,%2):{name};%5={node}(%3,%4):{name};return %5"
            fields["expr"] = f"{{%0=update(0):{own};%1=convert(%0):{name};%2=extra(0):{name};%3=current(0):{name};{fold}}}"
        text = _identity(_KINDS[reduce], made) if fill is None else fill
        more = {"extras": ("per_position",)} if is_weighted else {}
        if return_arg:
            more["second"] = "arg"
        if in_place:
            fields["init"] = "in_place"
        else:
            more["fill"] = text
        _REDUCTIONS[key] = Function("scatter_rows", fields, look_up="error" if looks_up else "", **more)
    return _REDUCTIONS[key], made


def reduced(reduce, ids, rows, count, out, like, *, picks=None, weights=None, initial=None, empty=None, oob="skip_window", is_sorted=None,
            fuses=False, numbers=None):
    """The reduction of the rows with each id, in their order.

    Args:
        rows: what is reduced: one row per id; with `picks`, row ``picks[e]`` goes where ``ids[e]`` says.
        weights: None, or one per id, in wide_dtype().
        initial: what reductions begin with, a number in the dtype of the result; None: what changes nothing.
        empty: what a row of the result holds that nothing went into; None: what reductions begin with.
        oob: the policy for ids; that for `picks` is "error".
        is_sorted: whether the ids are; None: not known.
        fuses: sums in float32 round a product and the addition of it once.
        numbers: of a maximum or minimum, one number per id: then it returns (result, arg), where arg has the number of the row that each element is from.
    """
    dtype = result_dtype(reduce, rows.dtype)
    shape = (count, *rows.shape[ids.ndim if picks is None else 1 :])
    result, written = result_array(out, shape, dtype)
    if is_sorted is None:
        is_sorted = _is_sorted(ids)
    return_arg = numbers is not None
    in_place = return_arg and initial is not None
    fill = None if initial is None or in_place else fill_text(initial, dtype)
    function, made_dtype = _reduction(reduce, rows.dtype, fill, weights is not None, picks is not None, oob, is_sorted, fuses, return_arg, in_place)
    made = result if made_dtype == dtype else np.empty(shape, made_dtype)
    if in_place:
        made[...] = initial
    arg = np.full(shape, -1) if return_arg else None
    repeated = numbers_of(ids.shape, ids.shape + shape[1:], numbers) if return_arg else None
    inputs = [each for each in (ids, rows, repeated, weights, picks) if each is not None]
    if written is not None:
        inputs = [apart(each, result) for each in inputs]
    function.run(made, *([arg] if return_arg else []), *inputs)
    if reduce == "mean" or empty is not None:
        counts = counts_of(inputs[0], None, count)
        if reduce == "mean":
            _divide(made, np.maximum(counts, 1))
        if empty is not None:
            made[counts == 0] = empty
    if made is not result:
        _ROUNDED.run(result, made, np.arange(count))
    values = given_back(result, written, out, like)
    return (values, given_back(arg, None, None, like)) if return_arg else values


def _is_sorted(ids):
    """Whether the ids never fall. Most that are not sorted fall soon."""
    ids = ids.reshape(-1)
    return all(bool((part[1:] >= part[:-1]).all()) for part in ((ids,) if ids.size <= 64 else (ids[:64], ids)))


def _divide(sums, counts):
    """Divides rows by their counts, in place and in their dtype."""
    for part in (sums.real, sums.imag) if sums.dtype.kind == "c" else (sums,):
        divisors = counts.astype(part.dtype).reshape(-1, *[1] * (part.ndim - 1))
        with np.errstate(under="ignore", invalid="ignore"):
            np.divide(part, divisors, out=part)


def segment_mean(data, segment_ids, num_segments, out):
    values, ids, count = _segment_arguments(data, segment_ids, num_segments)
    return reduced("mean", ids, values, count, out, data)


def segment_reduce(data, reduce, lengths, offsets, axis, initial, return_arg):
    check_among("reduce", reduce, _KINDS)
    check_return_arg(return_arg, "reduce", reduce)
    values = as_input(data, "data")
    at = normal_axis(axis, values.ndim)
    if (lengths is None) == (offsets is None):
        raise ValueError(f"lengths and offsets: {'none' if lengths is None else 'both'} given, expected one of them")
    batch, extent = values.shape[:at], values.shape[at]
    name, where = ("lengths", lengths) if offsets is None else ("offsets", offsets)
    bounds = index_input(where, name)
    if bounds.ndim != at + 1 or bounds.shape[:at] != batch:
        raise ValueError(f"{name}: shape {list(bounds.shape)}, expected {list(batch)} and one dim more, from data and axis {at}")
    ids = ids_of(bounds, name, (*batch, extent)).reshape(-1)
    segments = bounds.shape[at] - (offsets is not None)
    dtype = result_dtype(reduce, values.dtype)
    first = None if initial is None else _initial(initial, dtype)
    empty = np.nan if reduce == "mean" and initial is None else None
    rows = values.reshape(math.prod(batch) * extent, *values.shape[at + 1 :])
    numbers = np.tile(np.arange(extent), math.prod(batch)) if return_arg else None
    made = reduced(reduce, ids, rows, math.prod(batch) * segments, None, None, initial=first, empty=empty, is_sorted=True, numbers=numbers)
    shape = (*batch, segments, *values.shape[at + 1 :])
    results = [given_back(each.reshape(shape), None, None, data) for each in (made if return_arg else (made,))]
    return tuple(results) if return_arg else results[0]


def check_return_arg(return_arg, name, reduce):
    if return_arg and reduce not in ("max", "min"):
        raise ValueError(f"return_arg: given with {name} {reduce!r}, expected {name} 'max' or 'min', where one row wins")


def ids_of(bounds, kind, shape):
    """The numbers of the segments of rows of the shape, of which `bounds` are the lengths, the starts or the offsets (BOUNDS)."""
    ids = np.empty(shape, np.intp)
    _native.segment_ids(bounds if bounds.ndim == 1 else np.ascontiguousarray(bounds), BOUNDS[kind], ids)
    return ids


def _initial(initial, dtype):
    value = np.asarray(initial)
    if value.ndim != 0:
        raise ValueError(f"initial: shape {list(value.shape)}, expected a number")
    if _RANKS.get(value.dtype.kind, 4) > _RANKS[dtype.kind]:
        raise TypeError(f"initial: {initial!r}, expected a number that {dtype} has")
    return np.asarray(initial, dtype)[()]


def counts_of(numbers, weights, count):
    """The sums of `weights`, or how many there are, of each number below `count`."""
    values = np.broadcast_to(np.ones((), np.intp), numbers.shape) if weights is None else weights
    return segment("add", values, numbers, count, None)


def bincount(x, weights, minlength):
    numbers = hosts.to_numpy(x, "x")
    if numbers.ndim != 1:
        raise ValueError(f"x: {numbers.ndim} dims, expected 1")
    if numbers.size and numbers.dtype.kind not in "iub":
        raise TypeError(f"x: elements of {numbers.dtype}, expected integers")
    minlength = operator.index(minlength)
    if minlength < 0:
        raise ValueError(f"minlength: {minlength}, expected 0 or more")
    if weights is not None:
        weights = as_input(weights, "weights")
        if weights.dtype.kind == "c":
            raise TypeError(f"weights: elements of {weights.dtype}, expected real numbers")
        weights = weights.astype(np.float64, copy=False) if numbers.size else np.empty(numbers.shape)
        if weights.shape != numbers.shape:
            raise ValueError(f"weights: shape {list(weights.shape)}, expected that of x, {list(numbers.shape)}")
    numbers = as_input(numbers.astype(np.intp, copy=False) if numbers.dtype == bool or not numbers.size else numbers, "x")
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"x: {int(numbers.min())} among the elements, expected 0 or more")
    count = max(int(numbers.max()) + 1 if numbers.size else 0, minlength)
    result = counts_of(numbers, weights if numbers.size else None, count)
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
    counts = counts_of(numbers, None if weights is None else weights[kept], len(edges) - 1)
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
