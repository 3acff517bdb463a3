#!/usr/bin/env python3
"""strew's functions against NumPy's on drawn arguments: the same results, bit for bit, and the same refusals.

    numpy_test.py [--seed N] [--cases N]

Each case draws a function, arrays of any dtype, shape, strides and byte order, and arguments that are mostly legal; a case is replayed by its seed and number.
Where strew differs from NumPy by intent (docs/python.md has the list), `allowed` says so.
"""
import argparse
import os
import random
import sys
import time
import warnings

import numpy as np
from fused_oracles import dots, winners

import strew

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
NARROW = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2] if ml_dtypes else []
COMPLEX = [np.complex64, np.complex128]
UFUNCS = {"add_at": np.add, "sub_at": np.subtract, "mul_at": np.multiply, "max_at": np.maximum, "min_at": np.minimum}

ALL_AT = (*UFUNCS, "put_rows")


class Draw:
    """Random arguments."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(self.random.getrandbits(64))

    def chance(self, p):
        return self.random.random() < p

    def shape(self, rank=None, most=5):
        rank = self.random.choice([0, 1, 1, 1, 2, 2, 2, 3, 4]) if rank is None else rank
        return tuple(0 if self.chance(0.04) else self.random.randint(1, most) for _ in range(rank))

    def dtype(self, kinds="bifc"):
        choices = []
        if "b" in kinds:
            choices += [np.bool_]
        if "i" in kinds:
            choices += INTEGERS
        if "f" in kinds:
            choices += FLOATS * 3
        if "n" in kinds:
            choices += NARROW
        if "c" in kinds:
            choices += COMPLEX
        return np.dtype(self.random.choice(choices))

    def values(self, shape, dtype):
        count = int(np.prod(shape))
        if dtype == bool:
            flat = self.numpy.integers(0, 2, count).astype(bool)
        elif dtype.kind in "iu":
            flat = self.numpy.integers(0, 256, count).astype(np.int64).astype(dtype)
            if self.chance(0.3):
                flat = self.numpy.integers(0, 2**63, count).astype(dtype)
        elif dtype.kind == "c":
            flat = (self.numpy.normal(size=count) + 1j * self.numpy.normal(size=count)).astype(dtype)
        else:
            flat = self.numpy.normal(size=count).astype(dtype)
            if count and self.chance(0.1):
                flat[self.random.randrange(count)] = np.nan
            if count and self.chance(0.1):
                flat[self.random.randrange(count)] = np.inf
        return flat.reshape(shape)

    def laid_out(self, array, is_index=False):
        """The same elements with other strides, order of bytes or alignment."""
        choice = self.random.random()
        if choice < 0.6:
            return array
        if choice < 0.7 and array.ndim:
            wide = np.empty(array.shape[:-1] + (array.shape[-1] * 2,), array.dtype)
            wide[..., ::2] = array
            return wide[..., ::2]
        if choice < 0.8:
            return array if is_index else np.asfortranarray(array)
        if choice < 0.88 and array.ndim and not is_index:
            back = np.ascontiguousarray(array[::-1])
            return back[::-1]
        if choice < 0.92 and array.dtype.kind != "V":
            return array.astype(array.dtype.newbyteorder(">"))
        if choice < 0.96 and array.dtype.itemsize > 1:
            raw = np.empty(array.nbytes + 1, np.uint8)
            odd = raw[1:].view(array.dtype).reshape(array.shape)
            odd[...] = array
            return odd
        return array

    def index(self, shape, extent, bad=0.04):
        """Indices into an extent, some of them negative; sometimes one out of bounds."""
        dtype = np.dtype(self.random.choice([np.int64, np.int64, np.int32, np.int8, np.uint8, np.uint16, np.uint32, np.uint64]))
        low = 0 if dtype.kind == "u" or self.chance(0.5) else -extent
        if extent == 0:
            low, extent = 0, 1
        index = self.numpy.integers(low, extent, shape).astype(dtype)
        if index.size and self.chance(bad):
            wrong = extent + self.random.randint(0, 3)
            index.reshape(-1)[self.random.randrange(index.size)] = min(wrong, np.iinfo(dtype).max)
        # NumPy visits indices in the order of their memory, strew in row-major order: layouts here keep the two the same.
        return self.laid_out(index, is_index=True) if self.chance(0.3) else index

    def listed(self, array):
        """Sometimes a list in place of the array."""
        if self.chance(0.15) and array.size and array.dtype.kind in "iufb":
            return array.tolist()
        return array


def indices_of(draw, shape):
    """What stands between the brackets of an array of this shape, and what NumPy makes of it."""
    if not shape or draw.chance(0.55):
        if not shape:
            return ()
        return draw.listed(draw.index(draw.shape(draw.random.choice([0, 1, 1, 1, 2])), shape[0]))
    if draw.chance(0.15):
        rank = draw.random.randint(1, len(shape))
        return draw.numpy.integers(0, 2, shape[:rank]).astype(bool)
    items, own, d = [], draw.shape(draw.random.choice([0, 1, 1, 2]), 3), 0
    ellipsis = draw.chance(0.3)
    while d < len(shape) and len(items) < 6:
        what = draw.random.random()
        if what < 0.5:
            part = tuple(1 if draw.chance(0.2) else extent for extent in own)[draw.random.randint(0, len(own)) if draw.chance(0.2) else 0 :]
            items.append(draw.listed(draw.index(part, shape[d])))
            d += 1
        elif what < 0.7:
            items.append(slice(*draw.random.choice([(None,), (1, None), (None, None, -1), (0, 1), (None, None, 2)])))
            d += 1
        elif what < 0.78:
            items.append(None)
        elif what < 0.85:
            items.append(draw.random.randint(-shape[d], max(shape[d] - 1, 0)))
            d += 1
        elif what < 0.93 and ellipsis:
            items.append(Ellipsis)
            ellipsis = False
            d += draw.random.randint(0, len(shape) - d)
        else:
            break
    return tuple(items)


def case_at(draw):
    name = draw.random.choice(ALL_AT)
    dtype = draw.dtype("bifn" if name in ("max_at", "min_at") else "bifnc")
    shape = draw.shape()
    a = draw.laid_out(draw.values(shape, dtype))
    indices = indices_of(draw, shape)
    try:
        target = a[indices].shape
    except Exception:  # noqa: BLE001
        target = draw.shape()
    cut = tuple(1 if draw.chance(0.15) else extent for extent in target)[draw.random.randint(0, len(target)) if draw.chance(0.25) else 0 :]
    if draw.chance(0.03):
        cut += (2,)
    other = dtype if draw.chance(0.7) else draw.dtype("bif" if name in ("max_at", "min_at") else "bifc")
    b = draw.laid_out(draw.values(cut, other))
    if draw.chance(0.1):
        b = draw.random.choice([1, 2, 0.5]) if dtype.kind == "f" else draw.random.choice([1, 2])
    try:
        fits = np.broadcast_shapes(np.shape(b), target) == target
    except ValueError:
        fits = False
    def expected(a):
        if name == "put_rows":
            a[indices] = b
        else:
            # NumPy 2.4 reads past the end of b where it broadcasts b over several dims of indices; so that is done for it.
            UFUNCS[name].at(a, indices, np.broadcast_to(b, target) if fits else b)
        return a
    def got(a):
        getattr(strew, name)(a, indices, b)
        return a
    return f"{name}({describe(a)}, {describe(indices)}, {describe(b)})", expected, got, a, (a, b)


def case_take(draw):
    dtype = draw.dtype("bifnc")
    shape = draw.shape()
    a = draw.laid_out(draw.values(shape, dtype))
    axis = None if draw.chance(0.25) else draw.random.randint(-len(shape), max(len(shape) - 1, 0)) if not draw.chance(0.03) else 7
    mode = draw.random.choice(["raise", "raise", "wrap", "clip"])
    extent = a.size if axis is None else shape[axis] if -len(shape) <= axis < len(shape) else 1
    if extent == 0 and mode == "wrap":
        mode = "raise"  # NumPy 2.4 never returns where the other dims are empty, too
    index = draw.listed(draw.index(draw.shape(draw.random.choice([0, 1, 1, 2])), extent, 0.04 if mode == "raise" else 0.5))
    return (f"take({describe(a)}, {describe(index)}, {axis}, mode={mode})", lambda a: np.take(a, index, axis, mode=mode),
            lambda a: strew.take(a, index, axis, mode=mode), a, (a,))


def case_put(draw):
    a = draw.laid_out(draw.values(draw.shape(), draw.dtype("bif")))
    mode = draw.random.choice(["raise", "raise", "wrap", "clip"])
    index = draw.listed(draw.index(draw.shape(draw.random.choice([0, 1, 1, 2])), a.size, 0.04 if mode == "raise" else 0.5))
    v = draw.listed(draw.values(draw.shape(draw.random.choice([0, 1, 1, 2])), a.dtype.newbyteorder("=") if draw.chance(0.7) else draw.dtype("bi")))
    def expected(a):
        np.put(a, index, v, mode)
        return a
    def got(a):
        strew.put(a, index, v, mode)
        return a
    return f"put({describe(a)}, {describe(index)}, {describe(v)}, {mode})", expected, got, a, (a, v)


def along(draw):
    shape = draw.shape(draw.random.choice([1, 2, 2, 3]))
    axis = draw.random.randint(-len(shape), len(shape) - 1)
    own = list(shape)
    own[axis] = draw.random.randint(0, 6)
    for d in range(len(shape)):
        if d != axis % len(shape) and draw.chance(0.2):
            own[d] = draw.random.choice([1, 1, own[d], 3])
    return shape, axis, tuple(own)


def case_take_along_axis(draw):
    shape, axis, own = along(draw)
    a = draw.laid_out(draw.values(shape, draw.dtype("bifnc")))
    index = draw.index(own, shape[axis])
    if draw.chance(0.1):
        axis, index = None, draw.index(draw.shape(1), a.size)
    return (f"take_along_axis({describe(a)}, {describe(index)}, {axis})", lambda a: np.take_along_axis(a, index, axis),
            lambda a: strew.take_along_axis(a, index, axis), a, (a,))


def case_put_along_axis(draw):
    shape, axis, own = along(draw)
    a = draw.laid_out(draw.values(shape, draw.dtype("bif")))
    index = draw.index(own, shape[axis])
    if draw.chance(0.1):
        axis, index = None, draw.index(draw.shape(1), a.size)
    v = draw.values(index.shape if draw.chance(0.6) else draw.random.choice([(), (1,), index.shape[-1:]]), a.dtype.newbyteorder("="))
    def expected(a):
        np.put_along_axis(a, index, v, axis)
        return a
    def got(a):
        strew.put_along_axis(a, index, v, axis)
        return a
    return f"put_along_axis({describe(a)}, {describe(index)}, {describe(v)}, {axis})", expected, got, a, (a, v)


def case_bincount(draw):
    x = draw.index(draw.shape(draw.random.choice([1, 1, 1, 1, 1, 1, 2])), draw.random.randint(1, 30), 0)
    if draw.chance(0.8):
        x = np.abs(x)
    x = draw.listed(x)
    weights = None
    if draw.chance(0.5):
        weights = draw.values(np.shape(x) if draw.chance(0.95) else draw.shape(1), draw.dtype("bif"))
    minlength = draw.random.choice([0, 0, 5, 40, -1])
    return (f"bincount({describe(x)}, {describe(weights)}, {minlength})", lambda _: np.bincount(x, weights, minlength),
            lambda _: strew.bincount(x, weights, minlength), None, (weights,))


def case_csr(draw):
    count = draw.random.choice([None, 0, 1, 30])
    x = draw.index(draw.shape(draw.random.choice([1, 1, 1, 1, 1, 1, 2])), count or 30, 0 if count is None else 0.04)
    if draw.chance(0.8):
        x = np.abs(x)
    x = draw.listed(x)
    def expected(_):
        counts = np.bincount(x, minlength=count or 0)  # refuses negative ones and two dims
        if count is not None and counts.size > count:
            raise IndexError(f"{counts.size - 1} is out of bounds")
        return np.concatenate([[0], np.cumsum(counts), np.argsort(x, kind="stable")]).astype(np.int64)
    return f"csr({describe(x)}, {count})", expected, lambda _: np.concatenate(strew.csr(x, count)), None, ()


def case_histogram(draw):
    a = draw.values(draw.shape(draw.random.choice([1, 1, 2])), draw.dtype("bif"))
    if a.dtype.kind == "f":
        a = np.nan_to_num(a, posinf=1, neginf=-1)
    bins = draw.random.choice([1, 3, 10, 17, [0, 0.5, 1], "auto"])
    bounds = draw.random.choice([None, None, (0, 1), (-2, 200)])
    weights = draw.values(a.shape, np.dtype(np.float64)) if draw.chance(0.3) and bins != "auto" else None
    if weights is not None:
        weights = np.round(np.nan_to_num(weights, posinf=1, neginf=-1) * 8) / 8  # NumPy adds them in blocks: sums must be exact
    density = draw.chance(0.2)
    def joined(result):
        counts, edges = result
        return np.concatenate([np.asarray(counts, np.float64), edges])
    return (f"histogram({describe(a)}, {bins}, {bounds}, {density}, {describe(weights)})",
            lambda _: joined(np.histogram(a, bins, bounds, density, weights)), lambda _: joined(strew.histogram(a, bins, bounds, density, weights)), None, ())


REDUCTIONS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
STARTS = {"sum": 0, "mean": 0, "prod": 1, "max": None, "min": None}


def products(a, b):
    """NumPy's own of complex arrays are rounded once per two operations on some processors."""
    if a.dtype.kind != "c":
        return a * b
    result = np.empty(a.shape, a.dtype)
    result.real, result.imag = a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real
    return result


def fused_sums(result, ids, rows, weights):
    """Adds products to the rows, with one rounding of both. The product of two float32 is exact in what has 53 bits, and sums of longdouble are nearly always."""
    for row, values, weight in zip(ids, rows.astype(np.longdouble), weights.astype(np.longdouble)):
        result[row] = values * weight + result[row]


def reduced(reduce, ids, rows, count, weights=None, start=None, empty=None, fuses=False):
    """The rows with each id, reduced in their order: narrow floats in float32 and rounded once, means of integers in float64."""
    own = rows.dtype.newbyteorder("=")
    is_mean_of_integers = reduce == "mean" and own.kind in "biu"
    is_narrow = own.itemsize < 4 and own.kind not in "biu"
    wide = np.dtype(np.float64) if is_mean_of_integers else np.dtype(np.float32) if is_narrow else own
    rows = rows.astype(wide)
    fuses = fuses and weights is not None and wide == np.float32
    if weights is not None and not fuses:
        rows = products(rows, weights.astype(wide).reshape(-1, *[1] * (rows.ndim - 1)))
    start = STARTS[reduce] if start is None else start
    result = np.full((count, *rows.shape[1:]), 0 if start is None else start, wide)
    if start is None:
        result[ids[::-1]] = rows[::-1]  # the first row with an id stays
    if fuses:
        fused_sums(result, ids, rows, weights.astype(wide))
    else:
        REDUCTIONS[reduce].at(result, ids, rows)
    counts = np.bincount(ids, minlength=count).reshape(-1, *[1] * (rows.ndim - 1))
    if reduce == "mean":
        for part in (result.real, result.imag) if wide.kind == "c" else (result,):
            part /= np.maximum(counts, 1).astype(part.dtype)
    if empty is not None:
        result = np.where(counts == 0, np.asarray(empty, wide), result)
    return result.astype(np.float64 if is_mean_of_integers else own)


def numbers(draw, shape, extent, bad=0.06):
    """Numbers of rows, of any integer dtype; sometimes one that is out of bounds."""
    made = draw.numpy.integers(0, max(extent, 1), shape).astype(draw.random.choice(INTEGERS))
    if made.size and draw.chance(bad):
        made.reshape(-1)[draw.random.randrange(made.size)] = -1 if made.dtype.kind == "i" and draw.chance(0.5) else extent + draw.random.randint(0, 3)
    return draw.laid_out(made) if draw.chance(0.3) else made


def looked_up(table, picks):
    """The rows; numbers do not count from the end."""
    picks = picks.astype(np.intp)
    if ((picks < 0) | (picks >= len(table))).any():
        raise IndexError("a number of no row")
    return table[picks]


def fused_arguments(draw, reductions):
    """A reduction and a table that it takes, and what makes weights for its rows."""
    reduce = draw.random.choice(reductions)
    dtype = draw.dtype("bifn" if reduce in ("max", "min") else "bifnc")
    table = draw.laid_out(draw.values(draw.shape(1, 9) + draw.shape(draw.random.choice([0, 1, 1, 2]), 20), dtype))
    others = {"f": FLOATS, "V": [np.float32, dtype], "c": COMPLEX, "b": [np.bool_]}.get(dtype.kind, [dtype, np.int8 if dtype.kind == "i" else np.uint8])
    weights = lambda shape: draw.laid_out(draw.values(shape, np.dtype(draw.random.choice(others)))) if draw.chance(0.5) else None  # noqa: E731
    return reduce, table, weights


def native(array):
    return None if array is None else array.astype(array.dtype.newbyteorder("="))


def as_table(table):
    """The weights in the table's dtype, which is where strew converts them to unless that is narrow."""
    is_narrow = table.dtype.itemsize < 4 and table.dtype.kind not in "biu"
    return lambda weights: weights if weights is None or is_narrow else weights.astype(table.dtype.newbyteorder("="))


def into_out(draw, wanted):
    """Sometimes an array for a result like this one, with other strides; None: none."""
    if wanted is None or draw.chance(0.7):
        return None
    out = np.ones(wanted.shape, wanted.dtype)
    return np.asfortranarray(out) if draw.chance(0.5) else out


def fused(draw, text, expected, function, *arguments, **named):
    """A case of a function that may be given `out`."""
    wanted, _ = outcome(lambda _: expected(), None)
    out, threads = into_out(draw, wanted), draw.random.choice([1, 2])
    def got(out):
        with strew.threads(threads):
            return function(*arguments, **named) if out is None else function(*arguments, **named, out=out)
    return text, lambda _: expected(), got, out, ()


def case_spmm(draw):
    reduce, table, weights = fused_arguments(draw, ["sum", "mean", "max", "min"])
    edges, count = draw.random.randint(0, 30), draw.random.randint(0, 8)
    dst, src, weights = numbers(draw, edges, count), numbers(draw, edges, len(table)), weights(edges)
    if draw.chance(0.3):
        dst = np.sort(dst)
    num_rows = count if draw.chance(0.7) else None
    def expected():
        rows = looked_up(table, src)
        count = (int(dst.max()) + 1 if len(dst) else 0) if num_rows is None else num_rows
        if len(dst) and (int(dst.min()) < 0 or int(dst.max()) >= count):
            raise IndexError("a number of no row")
        return reduced(reduce, dst.astype(np.intp), rows, count, as_table(table)(native(weights)), empty=0)
    text = f"{reduce}: spmm({describe(dst)}, {describe(src)}, {describe(table)}, {describe(weights)}, {num_rows})"
    return fused(draw, text, expected, strew.spmm, draw.listed(dst), draw.listed(src), table, weights, reduce, num_rows=num_rows)


def case_sddmm(draw):
    dtype = draw.dtype("bifn")
    row = draw.shape(draw.random.choice([0, 1, 1, 2]), 20)
    left, right = (draw.laid_out(draw.values(draw.shape(1, 9) + row, dtype)) for _ in range(2))
    shape = draw.shape(draw.random.choice([1, 1, 2]), 12)
    dst, src = numbers(draw, shape, len(left)), numbers(draw, shape, len(right))
    def expected():
        return dots(looked_up(left, dst.reshape(-1)), looked_up(right, src.reshape(-1))).reshape(shape)
    text = f"sddmm({describe(dst)}, {describe(src)}, {describe(left)}, {describe(right)})"
    return fused(draw, text, expected, strew.sddmm, draw.listed(dst), draw.listed(src), left, right)


def case_embedding_bag(draw):
    mode, weight, factors = fused_arguments(draw, ["sum", "sum", "mean", "max"])
    is_flat, has_end, bad = draw.chance(0.6), draw.chance(0.4), draw.chance(0.06)
    input = numbers(draw, (draw.random.randint(0, 20),) if is_flat else draw.shape(2), len(weight))
    factors = factors(input.shape) if mode == "sum" else None
    padding = draw.random.randint(-len(weight), len(weight) - 1) if len(weight) and draw.chance(0.4) else None
    bounds = np.sort(draw.numpy.integers(0, input.size + 1, draw.random.randint(2, 7)))
    bounds[[0, -1]] = 0, input.size
    if bad:
        bounds[draw.random.randrange(len(bounds))] += draw.random.choice([-1, 1, 3])
    is_legal = bounds[0] == 0 and bounds[-1] == input.size and (np.diff(bounds) >= 0).all()
    offsets = bounds if has_end else bounds[:-1]
    def expected():
        ends = bounds
        if is_flat and not (is_legal if has_end else offsets[0] == 0 and (np.diff(offsets, append=input.size) >= 0).all()):
            raise ValueError("offsets")
        if is_flat and not has_end:
            ends = np.append(offsets, input.size)
        lengths = np.diff(ends) if is_flat else np.full(input.shape[0], input.shape[1])
        ids, rows = np.repeat(np.arange(len(lengths)), lengths), looked_up(weight, input.reshape(-1))
        kept = np.ones(input.size, bool) if padding is None else input.reshape(-1) != padding % len(weight)
        own = as_table(weight)(native(factors))
        return reduced(mode, ids[kept], rows[kept], len(lengths), None if own is None else own.reshape(-1)[kept], empty=0, fuses=True)
    text = f"{mode}: embedding_bag({describe(input)}, {describe(weight)}, {describe(offsets) if is_flat else None}, {describe(factors)}, {has_end}, {padding})"
    return fused(draw, text, expected, strew.embedding_bag, input, weight, draw.listed(offsets) if is_flat else None, mode=mode, per_sample_weights=factors,
                 include_last_offset=has_end, padding_idx=padding)


def case_segment_mean(draw):
    _, data, _ = fused_arguments(draw, ["mean"])
    ids, count = draw.numpy.integers(-1, 6, len(data)), draw.random.randint(0, 6)
    def expected():
        kept = (ids >= 0) & (ids < count)
        return reduced("mean", ids[kept], data[kept], count)
    return fused(draw, f"segment_mean({describe(data)}, {describe(ids)}, {count})", expected, strew.segment_mean, data, draw.listed(ids), count)


def least_and_greatest(dtype):
    if dtype == bool:
        return False, True
    if dtype.kind in "iu":
        return np.iinfo(dtype).min, np.iinfo(dtype).max
    if ml_dtypes is not None and dtype == ml_dtypes.float8_e4m3fn:
        return float(ml_dtypes.finfo(dtype).min), float(ml_dtypes.finfo(dtype).max)
    return -np.inf, np.inf


def case_segment_reduce(draw):
    reduce, data, _ = fused_arguments(draw, list(REDUCTIONS))
    axis = draw.random.randint(0, data.ndim - 1)
    batch, extent, segments = data.shape[:axis], data.shape[axis], draw.random.randint(1, 4)
    bounds = np.sort(draw.numpy.integers(0, extent + 1, (*batch, segments + 1)))
    bounds[..., 0], bounds[..., -1] = 0, extent
    if bounds.size and draw.chance(0.06):
        bounds.reshape(-1)[draw.random.randrange(bounds.size)] += draw.random.choice([-2, 3])
    initial = draw.random.choice([None, True] if data.dtype == bool else [None, None, 0, 1, 7 if data.dtype.kind in "iu" else -2.5])
    limits = least_and_greatest(data.dtype)
    def expected():
        if bounds.size and ((bounds[..., 0] != 0).any() or (bounds[..., -1] != extent).any() or (np.diff(bounds) < 0).any()):
            raise ValueError("bounds")
        lengths = np.diff(bounds).reshape(-1)
        ids, rows = np.repeat(np.arange(len(lengths)), lengths), data.reshape(-1 if data.size else int(np.prod(batch)) * extent, *data.shape[axis + 1 :])
        empties = {"mean": np.nan, "max": limits[0], "min": limits[1]}
        result = reduced(reduce, ids, rows, len(lengths), None, initial, empties.get(reduce) if initial is None else None)
        return result.reshape(*batch, segments, *data.shape[axis + 1 :])
    named = {"offsets": bounds} if draw.chance(0.5) else {"lengths": np.diff(bounds)}
    return (f"{reduce}: segment_reduce({describe(data)}, {next(iter(named))} of {bounds.tolist()}, {axis}, {initial})", lambda _: expected(),
            lambda _: strew.segment_reduce(data, reduce, **named, axis=axis, initial=initial), None, ())


def case_arg(draw):
    data = draw.values(draw.shape(1, 9) + draw.shape(draw.random.choice([0, 1, 1, 2]), 5), draw.dtype("bifn"))
    if data.size and draw.chance(0.7):  # many equal ones
        data = draw.numpy.choice(data.reshape(-1)[: draw.random.randint(1, 4)], data.shape)
    data = draw.laid_out(data)
    is_max, count, own, start = draw.chance(0.5), draw.random.randint(1, 5), native(data), None
    reduce, form = "max" if is_max else "min", draw.random.choice(["ids", "lengths", "initial", "spmm", "bag"])
    def both(call, **named):
        values, arg = call(**named, return_arg=True)
        as_numbers = lambda each: each.astype(np.float32) if each.dtype.kind in "fV" and each.dtype.itemsize < 4 else each  # noqa: E731
        np.testing.assert_array_equal(as_numbers(values), as_numbers(call(**named)))
        return arg
    if form == "ids":
        ids = draw.numpy.integers(-1, count + 1, len(data))
        kept = np.flatnonzero((ids >= 0) & (ids < count))
        expected = lambda: np.append(kept, -1)[winners(ids[kept], own[kept], count, is_max)]  # noqa: E731
        call = lambda: both(strew.segment_max if is_max else strew.segment_min, data=data, segment_ids=ids, num_segments=count)  # noqa: E731
    elif form in ("lengths", "initial"):
        ids = np.sort(draw.numpy.integers(0, count, len(data)))
        start = None if form == "lengths" else True if data.dtype == bool else draw.random.choice([0, 1])
        expected = lambda: winners(ids, own, count, is_max, start)  # noqa: E731
        call = lambda: both(strew.segment_reduce, data=data, reduce=reduce, lengths=np.bincount(ids, minlength=count), initial=start)  # noqa: E731
    else:
        picks = draw.numpy.integers(0, len(data), draw.random.randint(0, 20)) if len(data) else np.zeros(0, int)
        ids = draw.numpy.integers(0, count, len(picks))
        call = lambda: both(strew.spmm, dst=ids, src=picks, table=data, reduce=reduce, num_rows=count)  # noqa: E731
        if form == "bag":
            is_max, ids = True, np.sort(ids)
            call = lambda: both(strew.embedding_bag, input=picks, weight=data, offsets=np.searchsorted(ids, np.arange(count)), mode="max")  # noqa: E731
        expected = lambda: winners(ids, own[picks], count, is_max)  # noqa: E731
    return f"arg of {reduce}: {form}, {describe(data)}, {count}, {ids.tolist()}, {start}", lambda _: expected(), lambda _: call(), None, ()


def case_scatter_reduce(draw):
    reduce = draw.random.choice(["sum", "prod", "mean", "amax", "amin"])
    dtype = draw.dtype({"mean": "ifn", "amax": "bifn", "amin": "bifn"}.get(reduce, "ifn"))
    input = draw.laid_out(draw.values(draw.shape(draw.random.randint(1, 3), 6), dtype))
    axis, include_self = draw.random.randint(0, input.ndim - 1), draw.chance(0.5)
    shape = tuple(draw.random.randint(0, extent) if d != axis else draw.random.randint(0, 9) for d, extent in enumerate(input.shape))
    index = numbers(draw, shape, input.shape[axis])
    src = draw.laid_out(draw.values(shape, dtype))
    own, combined, is_narrow = native(input), native(src), reduce == "mean" and dtype.kind in "fV" and dtype.itemsize < 4
    def expected():
        at = index.astype(np.intp)
        if ((at < -input.shape[axis]) | (at >= input.shape[axis])).any():
            raise IndexError("an index out of bounds")
        result = own.astype(np.float32) if is_narrow else own.copy()
        counts = np.zeros(input.shape, int)
        for place in np.ndindex(shape):
            to = tuple(at[place] % input.shape[axis] if d == axis else c for d, c in enumerate(place))
            new = combined[place].astype(result.dtype)
            result[to] = REDUCTIONS[reduce.removeprefix("a")](result[to], new) if include_self or counts[to] else new
            counts[to] += 1
        if reduce == "mean":
            terms = np.where(counts == 0, 1, counts + include_self)
            divided = result // terms.astype(np.uint64 if dtype.kind == "u" else np.int64) if dtype.kind in "iu" else result / terms.astype(result.dtype)
            result = np.where(counts == 0, result, divided)
        return result.astype(own.dtype)
    text = f"{reduce}: scatter_reduce({describe(input)}, {axis}, {describe(index)}, {describe(src)}, {include_self})"
    return fused(draw, text, expected, strew.scatter_reduce, input, axis, draw.listed(index) if index.size else index, src, reduce, include_self=include_self)


CASES = [case_at] * 8 + [case_take] * 3 + [case_put, case_take_along_axis, case_take_along_axis, case_put_along_axis, case_put_along_axis, case_bincount,
                                           case_histogram, case_csr, case_spmm, case_sddmm, case_embedding_bag, case_segment_mean, case_segment_reduce, case_arg, case_arg, case_scatter_reduce]


def describe(value):
    if isinstance(value, np.ndarray):
        text = f"{value.dtype}{list(value.shape)}"
        if value.size and value.dtype.kind in "iu" and value.size < 20:
            text += f"={value.tolist()}"
        if not value.flags.c_contiguous:
            text += f" strides {value.strides}"
        return text
    if isinstance(value, tuple):
        return "(" + ", ".join(map(describe, value)) + ")"
    return repr(value)


def outcome(function, a):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(a), None
        except (IndexError, ValueError, TypeError, NotImplementedError, OverflowError) as error:
            return None, error


def same(a, b, computes):
    """Equal bits, but that any NaN equals any other; and 0 equals -0 where a maximum or minimum was taken."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype.newbyteorder("=") != b.dtype.newbyteorder("="):
        return False
    a, b = a.astype(a.dtype.newbyteorder("=")), b.astype(b.dtype.newbyteorder("="))
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind in "biu":
        return False
    if a.dtype.kind == "c":
        return same(a.real, b.real, computes) and same(a.imag, b.imag, computes)
    nan = np.isnan(a) & np.isnan(b)
    plain_a, plain_b = a[~nan], b[~nan]
    if computes:
        return bool(np.all(plain_a == plain_b))
    return plain_a.tobytes() == plain_b.tobytes()


def is_float_to_integer(arrays):
    """NumPy converts floats to integers as C does; strew saturates, and NaN becomes 0 (docs/python.md)."""
    dtypes = [np.asarray(each).dtype for each in arrays if each is not None]
    if len(dtypes) != 2 or dtypes[0].kind not in "iu":
        return False
    # NumPy computes a mixture of uint64 and signed integers in float64.
    return dtypes[1].kind in "fc" or np.result_type(*dtypes).kind == "f"


def copy_of(a):
    """The array in a copy of its memory, with its strides."""
    if a is None:
        return None
    base = a if a.base is None else a.base
    while base.base is not None:
        base = base.base
    if not base.flags.c_contiguous:
        return a.copy("K")
    offset = a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(a.shape, a.dtype, base.copy().reshape(-1).view(np.uint8).data, offset, a.strides)


def allowed(text, expected_error, got_error, arrays):
    """Differences by intent, which docs/python.md lists."""
    if got_error is not None and expected_error is None:
        message = str(got_error)
        if "boolean without dims" in message or "expected real ones" in message:
            return True
        if text.split("(")[0] in ALL_AT and "index position" in message:
            return True  # indices that are broadcast against none: NumPy looks at those without dims, and warns that it will look at all
        if isinstance(got_error, IndexError) and "expected integers" in message and "float" in message:
            return True  # NumPy's take and put cut floats of lists to integers
    if text.startswith("take(") and isinstance(got_error, IndexError) and expected_error is None and 0 in arrays[0].shape:
        return True  # NumPy's take does not look at indices where there is nothing to take
    if got_error is None and any(part in str(expected_error) for part in ("setting an array element", "expected number", "0-dimensional arrays", "boolean array indexing assignment")):
        return True  # an element is assigned an array of one element, of which NumPy takes some dtypes and refuses others
    if text.split("(")[0] in ALL_AT and 0 in arrays[0].shape and (isinstance(expected_error, IndexError) or isinstance(got_error, IndexError)):
        return True  # whether indices are looked at where there is nothing to write depends on NumPy's way through
    if expected_error is None and "updates: shape" in str(got_error) and np.shape(arrays[-1])[:1] == (1,):
        return True  # leading dims of 1 too many, which NumPy takes in assignments, as strew does, and in some ufunc.at
    if got_error is None and expected_error is not None and "destination is read-only" in str(expected_error):
        return True  # NumPy flattens arrays with other strides into a copy for put_along_axis
    if got_error is None and expected_error is not None and "Cannot cast" in str(expected_error):
        return True  # strew takes indices of any kind of integer
    return is_float_to_integer(arrays)


def run(seed, number):
    """One case. The text of what is wrong, or None."""
    draw = Draw(f"{seed}/{number}")
    text, expected, got, a, arrays = draw.random.choice(CASES)(draw)
    mine, theirs = (None, None) if a is None else (copy_of(a), copy_of(a))
    wanted, expected_error = outcome(expected, theirs)
    answer, got_error = outcome(got, mine)
    if allowed(text, expected_error, got_error, arrays):
        return None
    if (expected_error is None) != (got_error is None):
        return f"{text}: NumPy: {expected_error!r}, strew: {got_error!r}"
    if expected_error is not None:
        if a is not None and mine.tobytes() != a.tobytes():
            return f"{text}: strew wrote before {got_error!r}"
        return None
    if not same(wanted, answer, text.startswith(("max", "min"))):
        return f"{text}:\nNumPy\n{str(wanted)[:300]}\nstrew\n{str(answer)[:300]}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    print(f"numpy_test: NumPy {np.__version__}, --seed {options.seed} --cases {options.cases}", flush=True)
    started, failures = time.monotonic(), 0
    for number in range(options.cases) if options.only is None else [options.only]:
        problem = run(options.seed, number)
        if problem is not None:
            failures += 1
            print(f"--seed {options.seed} --only {number}: {problem}", flush=True)
            if failures == 20:
                break
    print(f"numpy_test: {failures} of {options.cases} cases failed, {time.monotonic() - started:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
