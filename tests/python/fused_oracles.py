"""What functions that read rows through indices have to give, in plain NumPy and loops: for numpy_test.py."""

import math

import numpy as np


def dots(left, right):
    """The dot products of rows, which are added in eight lanes."""
    dtype = left.dtype.newbyteorder("=")
    is_narrow = dtype.itemsize < 4 and dtype.kind not in "biu"
    wide = np.dtype(np.float32) if is_narrow else dtype
    count = len(left)
    shape = count, math.prod(left.shape[1:])
    products = left.reshape(shape).astype(wide) * right.reshape(shape).astype(dtype).astype(wide)
    lanes = np.full((count, 8), False if wide.kind == "b" else 0 if wide.kind in "iu" else -0.0, wide)
    for column in range(products.shape[1]):
        lanes[:, column % 8] += products[:, column]
    while lanes.shape[1] > 1:
        lanes = lanes[:, 0::2] + lanes[:, 1::2]
    return lanes[:, 0].astype(dtype) if products.shape[1] else np.zeros(count, dtype)


def winners(ids, rows, count, is_max, start=None):
    """Per element of the result, which row it is from: a plain loop."""
    rows = rows.astype(np.float32) if rows.dtype.kind in "fV" and rows.dtype.itemsize < 4 else rows
    result = np.full((count, *rows.shape[1:]), -1)
    best = np.zeros(result.shape, rows.dtype) if start is None else np.full(result.shape, start, rows.dtype)
    has = np.full(result.shape, start is not None)
    for number, (to, row) in enumerate(zip(ids, rows)):
        for at in np.ndindex(row.shape):
            old, new, is_float = best[(to, *at)], row[at], rows.dtype.kind == "f"
            wins = bool(new > old if is_max else new < old)
            if is_float and (np.isnan(old) or np.isnan(new)):
                wins = not np.isnan(old)
            elif is_float and old == new:
                wins = bool(np.signbit(old) != np.signbit(new) and np.signbit(old) == is_max)
            if wins or not has[(to, *at)]:
                best[(to, *at)], result[(to, *at)], has[(to, *at)] = new, number, True
    return result
