"""Sums of rows that have the same number, and counts of numbers: segments, bincount, histogram."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _hosts as hosts
from ._arguments import apart, as_input, combiner_on, fill_text, given_back, index_input, result_array
from ._native import Function

_SEGMENTS: dict[Any, Function] = {}  # by (kind, dtype)


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
    return "-inf" if kind == "max" else "inf"


def segment(kind, data, segment_ids, num_segments, out):
    values = as_input(data, "data")
    ids = index_input(segment_ids, "segment_ids")
    if ids.shape != values.shape[: ids.ndim] or ids.ndim == 0:
        raise ValueError(f"segment_ids: shape {list(ids.shape)}, expected the first dims of data, {list(values.shape)}")
    if num_segments is None:
        num_segments = int(ids.max()) + 1 if ids.size else 0
    count = operator.index(num_segments)
    if count < 0:
        raise ValueError(f"num_segments: {count}, expected 0 or more")
    result, written = result_array(out, (count, *values.shape[ids.ndim :]), values.dtype)
    if written is not None:
        ids, values = apart(ids, result), apart(values, result)
    key = (kind, values.dtype)
    if key not in _SEGMENTS:
        fields = {"combiner": combiner_on(kind, values.dtype), "oob": "skip_window"}
        _SEGMENTS[key] = Function("scatter_rows", fields, fill=_identity(kind, values.dtype))
    _SEGMENTS[key].run(result, ids, values)
    return given_back(result, written, out, data)


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
