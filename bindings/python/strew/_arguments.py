"""Arguments and results of functions as NumPy's arrays: what is read, what is written, and in which dtype."""

from __future__ import annotations

import numpy as np

from . import _hosts as hosts
from . import _native
from ._indices import as_index


def is_usable(array):
    return array.dtype.isnative and array.flags.aligned and all(
        stride % array.dtype.itemsize == 0 for stride, extent in zip(array.strides, array.shape) if extent > 1
    )


def as_input(array, name="operand"):
    """The array, or a copy in native byte order if the elements are not aligned or not native."""
    array = hosts.to_numpy(array, name)
    if array.dtype.kind in "OSUMm" or (array.dtype.kind == "V" and array.dtype.name not in _native.dtypes):
        raise TypeError(f"{name}: elements of {array.dtype}, of which strew has no dtype")
    return array if is_usable(array) else array.astype(array.dtype.newbyteorder("="), order="C", copy=True)


def apart(array, out):
    """The array, or a copy if it may share memory with `out`."""
    return array.copy() if np.may_share_memory(array, out) else array


def index_input(index, name="indices"):
    index = hosts.to_numpy(index, name) if hosts.is_array(index) else index
    index = as_index(index, name)
    if index.dtype == bool:
        index = index.astype(np.intp)
    return index if is_usable(index) else index.copy()


class Written:
    """The array that a call writes, as NumPy's: itself, or a copy in native order that `finish` writes back."""

    def __init__(self, array, name):
        self.given = array
        self._whole = hosts.result_to_numpy(array, name)
        self.array = as_input(self._whole, name)

    def finish(self):
        if self.array is not self._whole:
            self._whole[...] = self.array
        hosts.was_written(self.given)


def strew_name(dtype, name):
    try:
        return _native.dtypes[dtype.name]
    except KeyError:
        raise TypeError(f"{name}: elements of {dtype}, of which strew has no dtype") from None


def fill_text(value, dtype):
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


def result_array(out, shape, dtype, name="out"):
    """An array for a result: the caller's, or a new one."""
    if out is None:
        return np.empty(shape, dtype), None
    written = Written(out, name)
    if written.array.shape != tuple(shape) or written.array.dtype != dtype:
        raise ValueError(f"{name}: {written.array.dtype}{list(written.array.shape)}, expected {dtype}{list(shape)}")
    return written.array, written


def given_back(result, written, out, like):
    """The result as the caller's: `out`, or an array of the library of `like`."""
    if written is not None:
        written.finish()
        return out
    return hosts.from_numpy(result, like) if hosts.is_array(like) else result


def in_dtype(source, dtype, name):
    """The source in the dtype; a number as it is, an array if nothing of another kind is lost."""
    if not hosts.is_array(source) and np.ndim(source) == 0:
        return np.asarray(source, dtype)
    values = as_input(source, name)
    if values.dtype == dtype:
        return values
    if not np.can_cast(values.dtype, dtype, "same_kind"):
        raise TypeError(f"{name}: elements of {values.dtype}, expected {dtype} or what converts to it")
    return values.astype(dtype)


def check_among(name, value, allowed):
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}: {value!r}, expected one of {', '.join(map(repr, allowed))}")


def combiner_on(kind, dtype):
    """The combiner on the dtype. On bools, NumPy's maximum is or, and its minimum is and."""
    if dtype == bool:
        if kind == "sub":
            raise TypeError("sub: elements of bool; NumPy has no subtraction of them either")
        return {"max": "or", "min": "and"}.get(kind, kind)
    return kind
