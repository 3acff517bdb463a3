"""Rows of a table that are read through indices and reduced in one pass, without a tensor of them in between: the op's look-ups (docs/semantics.md)."""

from __future__ import annotations

import operator

import numpy as np

from ._arguments import apart, as_input, check_among, given_back, in_dtype, index_input, result_array
from ._errors import OutOfBoundsError
from ._native import Function
from ._segments import check_return_arg, count_of, ids_of, reduced, wide_dtype

_SPMM = ("sum", "mean", "max", "min")
_MODES = ("sum", "mean", "max")
_SDDMM = Function("sddmm", {})


def _table(table, name):
    rows = as_input(table, name)
    if rows.ndim == 0:
        raise ValueError(f"{name}: 0 dims, expected 1 or more, the first of which has the rows")
    return rows


def _vector(index, name):
    array = index_input(index, name)
    if array.ndim != 1:
        raise ValueError(f"{name}: {array.ndim} dims, expected 1")
    return array


def _factors(weights, shape, dtype, name, of):
    factors = in_dtype(weights, dtype, name)
    if factors.shape != shape:
        raise ValueError(f"{name}: shape {list(factors.shape)}, expected that of {of}, {list(shape)}")
    return factors.reshape(-1)


def _of_argument(error, name, array):
    """The error about an index, in terms of the argument that has it."""
    at = tuple(map(int, np.unravel_index(error.position, array.shape)))
    expected = "none: there are no rows" if error.bound < 0 else f"0 to {error.bound}"
    message = f"{name}[{', '.join(map(str, at))}]: {array[at]}, expected {expected}"
    return OutOfBoundsError(message, error.position, error.component, error.value, error.bound, error.source)


def spmm(dst, src, table, weights, reduce, num_rows, return_arg, out):
    check_among("reduce", reduce, _SPMM)
    check_return_arg(return_arg, "reduce", reduce)
    rows = _table(table, "table")
    ids, picks = _vector(dst, "dst"), _vector(src, "src")
    if ids.shape != picks.shape:
        raise ValueError(f"src: {picks.size} elements, expected one per element of dst, {ids.size}")
    factors = None if weights is None else _factors(weights, ids.shape, wide_dtype(reduce, rows.dtype, True), "weights", "dst")
    count = count_of(num_rows, ids, "num_rows")
    empty = 0 if reduce in ("max", "min") else None
    numbers = np.arange(ids.size) if return_arg else None
    try:
        return reduced(reduce, ids, rows, count, out, table, picks=picks, weights=factors, empty=empty, oob="error", numbers=numbers)
    except OutOfBoundsError as error:
        raise _of_argument(error, *(("dst", ids) if error.source == 1 else ("src", picks))) from None


def sddmm(dst, src, lhs, rhs, out):
    left = _table(lhs, "lhs")
    right = in_dtype(_table(rhs, "rhs"), left.dtype, "rhs")
    if left.dtype.kind == "c":
        raise TypeError(f"lhs: elements of {left.dtype}, expected real ones")
    if left.shape[1:] != right.shape[1:]:
        raise ValueError(f"rhs: rows of shape {list(right.shape[1:])}, expected those of lhs, {list(left.shape[1:])}")
    ids, picks = index_input(dst, "dst"), index_input(src, "src")
    if ids.shape != picks.shape:
        raise ValueError(f"src: shape {list(picks.shape)}, expected that of dst, {list(ids.shape)}")
    result, written = result_array(out, ids.shape, left.dtype)
    made = result if result.flags.c_contiguous else np.empty(ids.shape, left.dtype)
    inputs = (np.empty((*ids.shape, 0), np.int32), left, right, ids, picks)
    if written is not None:
        inputs = tuple(apart(each, made) for each in inputs)
    rows = left.shape[1:]
    memory = made.reshape(-1).view(np.uint8)
    values = np.ndarray((*ids.shape, *rows), made.dtype, memory, strides=(*made.strides, *(0 for _ in rows)))
    try:
        _SDDMM.run(values, *inputs)
    except OutOfBoundsError as error:
        raise _of_argument(error, *(("dst", ids) if error.source == 4 else ("src", picks))) from None
    if 0 in rows:
        made.fill(0)
    if made is not result:
        result[...] = made
    return given_back(result, written, out, lhs)


def _bags(numbers, offsets, include_last_offset):
    """Which bag each element of the input is in, and how many bags there are."""
    if numbers.ndim == 2:
        if offsets is not None:
            raise ValueError("offsets: given, expected None with an input of 2 dims, whose rows are the bags")
        return np.repeat(np.arange(numbers.shape[0]), numbers.shape[1]), numbers.shape[0]
    if numbers.ndim != 1:
        raise ValueError(f"input: {numbers.ndim} dims, expected 1 or 2")
    if offsets is None:
        raise ValueError("offsets: None, expected where each bag begins in an input of 1 dim")
    bounds = _vector(offsets, "offsets")
    ids = ids_of(bounds, "offsets" if include_last_offset else "starts", numbers.shape)
    return ids, bounds.size - include_last_offset


def embedding_bag(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx, return_arg, out):
    check_among("mode", mode, _MODES)
    check_return_arg(return_arg, "mode", mode)
    rows = _table(weight, "weight")
    numbers = index_input(input, "input")
    ids, bags = _bags(numbers, offsets, include_last_offset)
    factors = None
    if per_sample_weights is not None:
        if mode != "sum":
            raise ValueError(f"per_sample_weights: given with mode {mode!r}, expected mode 'sum'")
        factors = _factors(per_sample_weights, numbers.shape, wide_dtype(mode, rows.dtype, True), "per_sample_weights", "input")
    picks = numbers.reshape(-1)
    is_sorted = True
    if padding_idx is not None:
        padding, extent = operator.index(padding_idx), rows.shape[0]
        if not -extent <= padding < extent:
            raise ValueError(f"padding_idx: {padding}, expected {-extent} to {extent - 1}, a row of weight")
        is_padding = picks == padding % extent
        if is_padding.any():
            ids, is_sorted = np.where(is_padding, -1, ids), False
    empty = 0 if mode == "max" else None
    places = np.arange(picks.size) if return_arg else None
    try:
        return reduced(mode, ids, rows, bags, out, weight, picks=picks, weights=factors, empty=empty, is_sorted=is_sorted, fuses=True, numbers=places)
    except OutOfBoundsError as error:
        raise _of_argument(error, "input", numbers) from None
