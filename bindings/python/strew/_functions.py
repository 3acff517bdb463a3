"""The functions that people know from NumPy, PyTorch and JAX, run by strew's kernels.

Each one first calls a ``_native.Function``, which takes arrays as they are. That answers NotImplemented for arguments that need something first (lists,
other dtypes, slices among the indices, memory that overlaps), and the function goes the general way: with NumPy's views, in ``_general.py``, ``_segments.py``,
``_fused.py`` and ``_tokens.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _csr, _fused, _general, _native, _segments, _tokens
from ._general import ALONG, AT, INDEX, TAKE, TAKE_RAISING

__all__ = [
    "add_at", "sub_at", "mul_at", "max_at", "min_at", "put_rows", "take", "put", "take_along_axis", "put_along_axis", "gather", "scatter",
    "scatter_add", "scatter_mul", "scatter_max", "scatter_min", "scatter_reduce", "index_add", "segment_sum", "segment_prod", "segment_max", "segment_min",
    "segment_mean", "segment_reduce", "spmm", "sddmm", "embedding_bag", "bincount", "histogram", "csr", "kv_append", "moe_permute", "moe_unpermute",
]


def add_at(a: Any, indices: Any, b: Any, *, mode: str = "raise") -> None:
    """Adds `b` to ``a[indices]``, in place, once for every time that an index is there: ``numpy.add.at``.

    Args:
        a: the array that is written, of any shape and strides.
        indices: as in ``a[indices]``: integers of any shape, a mask, or a tuple of these and slices.
        b: broadcast to the shape of ``a[indices]``. Sums are in the order of the indices, rounded once per addition, on any number of threads.
        mode: what an index that is out of bounds does. "raise": `OutOfBoundsError`, and nothing is written. "wrap": it counts modulo
            the extent. "clip": it becomes the nearest in bounds, 0 for negative ones. "drop": it is left out. Negative indices count from the
            end under "raise" and "drop".

    >>> table = np.zeros((3, 2))
    >>> strew.add_at(table, [0, 2, 0], [[1, 2], [3, 4], [5, 6]])
    >>> table
    array([[6., 8.],
           [0., 0.],
           [3., 4.]])
    """
    if AT["add"][mode](a, indices, b) is NotImplemented:
        _general.at("add", a, indices, b, mode)


def sub_at(a: Any, indices: Any, b: Any, *, mode: str = "raise") -> None:
    """Subtracts `b` from ``a[indices]``, in place: ``numpy.subtract.at``. Arguments as of `add_at`.

    >>> count = np.array([5, 5, 5])
    >>> strew.sub_at(count, [0, 0, 1], 1)
    >>> count
    array([3, 4, 5])
    """
    if AT["sub"][mode](a, indices, b) is NotImplemented:
        _general.at("sub", a, indices, b, mode)


def mul_at(a: Any, indices: Any, b: Any, *, mode: str = "raise") -> None:
    """Multiplies ``a[indices]`` by `b`, in place: ``numpy.multiply.at``. Arguments as of `add_at`.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> strew.mul_at(x, [1, 1, 2], 10)
    >>> x
    array([  1., 200.,  30.])
    """
    if AT["mul"][mode](a, indices, b) is NotImplemented:
        _general.at("mul", a, indices, b, mode)


def max_at(a: Any, indices: Any, b: Any, *, mode: str = "raise") -> None:
    """Sets ``a[indices]`` to the maximum of itself and `b`, in place: ``numpy.maximum.at``. A NaN stays one. Arguments as of `add_at`.

    >>> x = np.array([1, 2, 3])
    >>> strew.max_at(x, [0, 0, 2], [7, 5, 1])
    >>> x
    array([7, 2, 3])
    """
    if AT["max"][mode](a, indices, b) is NotImplemented:
        _general.at("max", a, indices, b, mode)


def min_at(a: Any, indices: Any, b: Any, *, mode: str = "raise") -> None:
    """Sets ``a[indices]`` to the minimum of itself and `b`, in place: ``numpy.minimum.at``. A NaN stays one. Arguments as of `add_at`.

    >>> x = np.array([1, 2, 3])
    >>> strew.min_at(x, [0, 0, 2], [7, -5, 1])
    >>> x
    array([-5,  2,  1])
    """
    if AT["min"][mode](a, indices, b) is NotImplemented:
        _general.at("min", a, indices, b, mode)


def put_rows(a: Any, indices: Any, b: Any, *, mode: str = "raise") -> None:
    """Sets ``a[indices] = b``, in place. Of several values for one element the last one stays. Arguments as of `add_at`; `b` is converted to the
    dtype of `a`.

    >>> table = np.zeros((3, 2), np.float32)
    >>> strew.put_rows(table, [2, 0], [[1, 2], [3, 4]])
    >>> table
    array([[3., 4.],
           [0., 0.],
           [1., 2.]], dtype=float32)
    """
    if AT["assign"][mode](a, indices, b) is NotImplemented:
        _general.at("assign", a, indices, b, mode)


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise", *, fill_value: Any = 0) -> Any:
    """The elements of `a` at `indices` along `axis`: ``numpy.take``.

    Args:
        a: any array.
        indices: integers of any shape.
        axis: None: of ``a`` flattened.
        out: an array for the result, of its shape and dtype; returned.
        mode: as of `add_at`, and "fill": an index out of bounds gives `fill_value`. Negative indices count from the end under "raise" and "fill".

    Returns:
        A new array, of the library that `a` is of, with the dims of `indices` in place of the axis.

    >>> strew.take(np.array([[1, 2], [3, 4], [5, 6]]), [2, 0], axis=0)
    array([[5, 6],
           [1, 2]])
    >>> strew.take(np.array([1.5, 2.5]), [1, 7], mode="fill", fill_value=-1)
    array([ 2.5, -1. ])
    """
    quick = None if axis is not None and type(axis) is not int else TAKE_RAISING.get(axis) if mode == "raise" else TAKE.get((axis, mode))
    if quick is not None:
        done = quick(out, a, indices)
        if done is not NotImplemented:
            return done
    return _general.take(a, indices, axis, out, mode, fill_value)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Sets ``a.flat[ind] = v``, in place: ``numpy.put``. `v` is repeated if it is shorter.

    Unlike NumPy's, nothing is written if an index is out of bounds. Other modes as of `add_at`.

    >>> x = np.arange(5)
    >>> strew.put(x, [0, -1], [10, 20])
    >>> x
    array([10,  1,  2,  3, 20])
    """
    _general.put(a, ind, v, mode)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1, *, mode: str = "raise", fill_value: Any = 0) -> Any:
    """Matches 1-d slices of `indices` and of `arr` along `axis`, and takes the elements: ``numpy.take_along_axis``.

    Args:
        arr: any array.
        indices: integers, of the rank of `arr`; other dims than the axis are broadcast against those of `arr`.
        axis: None: of ``arr`` flattened.
        mode: as of `take`.

    >>> x = np.array([[3, 1, 2], [6, 5, 4]])
    >>> strew.take_along_axis(x, np.argsort(x, axis=1), axis=1)
    array([[1, 2, 3],
           [4, 5, 6]])
    """
    quick = None if axis is not None and type(axis) is not int else ALONG["take"].get((axis, mode))
    if quick is not None:
        done = quick(None, arr, indices)
        if done is not NotImplemented:
            return done
    return _general.take_along_axis(arr, indices, axis, mode, fill_value)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None, *, mode: str = "raise") -> None:
    """Matches 1-d slices of `indices` and of `arr` along `axis`, and sets the elements to `values`, in place: ``numpy.put_along_axis``.

    Unlike NumPy's, nothing is written if an index is out of bounds. Arguments as of `take_along_axis`.

    >>> x = np.array([[10, 30, 20], [60, 40, 50]])
    >>> strew.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 99, axis=1)
    >>> x
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    quick = None if axis is not None and type(axis) is not int else ALONG["assign"].get((axis, mode))
    if quick is None or quick(arr, indices, values) is NotImplemented:
        _general.put_along_axis(arr, indices, values, axis, mode)


def gather(input: Any, dim: int, index: Any, *, out: Any = None) -> Any:
    """``out[i][j] = input[index[i][j]][j]`` for `dim` 0: ``torch.gather``, for arrays of any library. Negative indices count from the end.

    Args:
        index: integers, of the rank of `input`. Its other dims than `dim` may be smaller than those of `input`.

    >>> strew.gather(np.array([[1, 2], [3, 4]]), 1, np.array([[0, 0], [1, 0]]))
    array([[1, 1],
           [4, 3]])
    """
    return _general.elements("gather", input, dim, index, None, out)


def scatter(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """A copy of `input` with ``result[index[i][j]][j] = src[i][j]`` for `dim` 0: ``torch.scatter``. Of several values the last one stays.

    Args:
        index: integers, of the rank of `input`; negative ones count from the end.
        src: an array whose dims are those of `index` or larger, or a number.
        out: an array for the result, which may be `input` itself; None: a new one.

    >>> strew.scatter(np.zeros((2, 3)), 1, np.array([[0], [2]]), 1.5)
    array([[1.5, 0. , 0. ],
           [0. , 0. , 1.5]])
    """
    return _general.elements("assign", input, dim, index, src, out)


def scatter_add(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """As `scatter`, but adds: ``torch.scatter_add``, in the order of the indices on any number of threads.

    >>> strew.scatter_add(np.zeros(3), 0, np.array([0, 0, 2]), np.array([1.0, 2.0, 3.0]))
    array([3., 0., 3.])
    """
    return _general.elements("add", input, dim, index, src, out)


def scatter_mul(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """As `scatter`, but multiplies: ``torch.scatter_reduce(reduce="prod")``.

    >>> strew.scatter_mul(np.ones(3), 0, np.array([0, 0, 2]), np.array([2.0, 3.0, 4.0]))
    array([6., 1., 4.])
    """
    return _general.elements("mul", input, dim, index, src, out)


def scatter_max(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """As `scatter`, but takes the maximum: ``torch.scatter_reduce(reduce="amax")``.

    >>> strew.scatter_max(np.zeros(3), 0, np.array([0, 0, 2]), np.array([2.0, 3.0, -4.0]))
    array([3., 0., 0.])
    """
    return _general.elements("max", input, dim, index, src, out)


def scatter_min(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Any:
    """As `scatter`, but takes the minimum: ``torch.scatter_reduce(reduce="amin")``.

    >>> strew.scatter_min(np.zeros(3), 0, np.array([0, 0, 2]), np.array([2.0, 3.0, -4.0]))
    array([ 0.,  0., -4.])
    """
    return _general.elements("min", input, dim, index, src, out)


def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True, out: Any = None,
) -> Any:
    """As `scatter`, but reduces the values of each element, in the order of the indices: ``torch.scatter_reduce``. One pass over `src`.

    Args:
        input: an array. Elements that no index names keep their values.
        dim, index, src: as of `scatter`.
        reduce: "sum", "prod", "mean", "amax" or "amin". A mean is the sum, divided once by the number of its terms; of integers it is rounded down, as in
            PyTorch; of floats of 8 and 16 bits it is formed in float32 and rounded once.
        include_self: whether the element of `input` is a term, too, which the mean then counts.
        out: an array for the result, which may be `input` itself; None: a new one.

    Raises:
        OutOfBoundsError: an index is out of bounds; nothing is written.
        ValueError, TypeError: an argument has another shape or dtype, or `reduce` is another word.

    >>> x, at = np.array([10.0, 20.0, 30.0]), np.array([0, 0, 2])
    >>> strew.scatter_reduce(x, 0, at, np.array([1.0, 2.0, 3.0]), "sum", include_self=False)
    array([ 3., 20.,  3.])
    >>> strew.scatter_reduce(x, 0, at, np.array([1.0, 4.0, 6.0]), "mean")
    array([ 5., 20., 18.])
    """
    return _general.scatter_reduce(input, dim, index, src, reduce, bool(include_self), out)


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """A copy of `input` whose slices ``index[i]`` of `dim` have ``alpha * source``'s slice i added: ``torch.index_add``.

    Args:
        index: integers of one dim; negative ones count from the end.
        source: an array with the dims of `input`, but in `dim` those of `index`.
        out: an array for the result, which may be `input` itself: then it is added in place.

    >>> strew.index_add(np.zeros((3, 2)), 0, [0, 2, 0], np.ones((3, 2)))
    array([[2., 2.],
           [0., 0.],
           [1., 1.]])
    """
    if dim == 0 and type(dim) is int and alpha == 1:
        done = INDEX["in_place" if out is input else "copy"](*((out,) if out is input else (out, input)), index, source)
        if done is not NotImplemented:
            return done
    return _general.index_add(input, dim, index, source, alpha, out)


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None, *, out: Any = None) -> Any:
    """The sums of the rows of `data` that have the same id: ``jax.ops.segment_sum``. Ids need not be sorted.

    Args:
        data: an array whose first dims are those of `segment_ids`.
        segment_ids: integers; those that are negative, or `num_segments` and more, are left out.
        num_segments: the extent of the first dim of the result; None: the largest id and one.
        out: an array for the result.

    >>> strew.segment_sum(np.array([1.0, 2.0, 3.0, 4.0]), [0, 0, 1, 3])
    array([3., 3., 0., 4.])
    """
    return _segments.segment("add", data, segment_ids, num_segments, out)


def segment_prod(data: Any, segment_ids: Any, num_segments: int | None = None, *, out: Any = None) -> Any:
    """As `segment_sum`, but the product; 1 for a segment without rows: ``jax.ops.segment_prod``.

    >>> strew.segment_prod(np.array([1.0, 2.0, 3.0, 4.0]), [0, 0, 1, 3])
    array([2., 3., 1., 4.])
    """
    return _segments.segment("mul", data, segment_ids, num_segments, out)


def segment_max(
    data: Any, segment_ids: Any, num_segments: int | None = None, *, return_arg: bool = False, out: Any = None,
) -> Any:
    """As `segment_sum`, but the maximum; the least value of the dtype for a segment without rows: ``jax.ops.segment_max``.

    Args:
        data, segment_ids, num_segments, out: as of `segment_sum`.
        return_arg: return (values, arg), where arg, int64, has the number of the row that each element is from: the first among equals (-0 is less than 0), the
            first NaN if there is one, and -1 for a segment without rows. Rows are counted over all of `segment_ids`, as in ``segment_ids.ravel()``.

    >>> strew.segment_max(np.array([1.0, 2.0, 3.0]), [0, 0, 2])
    array([  2., -inf,   3.])

    Its gradient goes to the rows that won, element by element:

    >>> data, ids = np.array([[1.0, 6.0], [5.0, 2.0], [3.0, 4.0]]), [0, 0, 2]
    >>> values, arg = strew.segment_max(data, ids, return_arg=True)
    >>> arg
    array([[ 1,  0],
           [-1, -1],
           [ 2,  2]])
    >>> gradient = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])  # with respect to values
    >>> strew.scatter_add(np.zeros_like(data), 0, np.maximum(arg, 0), np.where(arg < 0, 0, gradient))
    array([[ 0., 20.],
           [10.,  0.],
           [50., 60.]])
    """
    return _segments.segment("max", data, segment_ids, num_segments, out, bool(return_arg))


def segment_min(
    data: Any, segment_ids: Any, num_segments: int | None = None, *, return_arg: bool = False, out: Any = None,
) -> Any:
    """As `segment_sum`, but the minimum; the greatest value of the dtype for a segment without rows: ``jax.ops.segment_min``.

    Args:
        data, segment_ids, num_segments, out: as of `segment_sum`.
        return_arg: return (values, arg), where arg, int64, has the number of the row that each element is from: the first among equals (-0 is less than 0), the
            first NaN if there is one, and -1 for a segment without rows. Rows are counted over all of `segment_ids`, as in ``segment_ids.ravel()``.

    >>> strew.segment_min(np.array([1.0, 2.0, 3.0]), [0, 0, 2])
    array([ 1., inf,  3.])
    """
    return _segments.segment("min", data, segment_ids, num_segments, out, bool(return_arg))


def segment_mean(data: Any, segment_ids: Any, num_segments: int | None = None, *, out: Any = None) -> Any:
    """As `segment_sum`, but the mean: the sum, divided once by the number of rows; 0 for a segment without rows.

    Args:
        data: as of `segment_sum`. Sums of floats of 8 and 16 bits are formed and divided in float32 and rounded once, when they are divided. Means of integers
            and bools are float64, as NumPy's are, and so are their sums.
        segment_ids, num_segments, out: as of `segment_sum`.

    Returns:
        An array of the library that `data` is of, with the dtype of `data`, or float64.

    >>> strew.segment_mean(np.array([1.0, 2.0, 3.0, 4.0]), [0, 0, 1, 3])
    array([1.5, 3. , 0. , 4. ])
    """
    return _segments.segment_mean(data, segment_ids, num_segments, out)


def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, offsets: Any = None, axis: int = 0, initial: Any = None, return_arg: bool = False,
) -> Any:
    """The sums, or the like, of segments of consecutive rows of `data`: ``torch.segment_reduce``.

    Args:
        data: any array.
        reduce: "sum", "mean", "prod", "max" or "min". Rows are taken in their order. Sums, means and products of floats of 8 and 16 bits are formed in float32
            and rounded once; means of integers are float64.
        lengths: integers ``[*data.shape[:axis], segments]``: how many rows each segment has. They add up to the extent of `axis`.
        offsets: in place of lengths, where each segment begins, and at the end where the last one ends: integers
            ``[*data.shape[:axis], segments + 1]``, the first 0 and the last the extent of `axis`.
        axis: the dim of the rows.
        initial: what a segment begins with, a number. A mean is divided after that was added. None: a segment without rows has the sum 0, the product 1,
            the maximum -inf, the minimum inf (of integers: the least and the greatest value) and the mean NaN.
        return_arg: with "max" and "min", return (values, arg), where arg, int64, has the place along `axis` of the row that each element is from, as of
            `segment_max`; -1, too, where `initial` wins, which is before all rows.

    Returns:
        A new array, of the library that `data` is of, with the segments in place of `axis`; with `return_arg` two of them.

    Raises:
        ValueError: lengths are negative or do not add up to the extent, or offsets fall, leave it or do not begin with 0 or end with the extent; the message
            has the first that does.

    >>> strew.segment_reduce(np.array([1.0, 2.0, 3.0, 4.0]), "mean", lengths=[3, 0, 1])
    array([ 2., nan,  4.])
    >>> strew.segment_reduce(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "max", offsets=[[0, 1, 3], [0, 3, 3]], axis=1, initial=0)
    array([[1., 3.],
           [6., 0.]])
    """
    return _segments.segment_reduce(data, reduce, lengths, offsets, axis, initial, bool(return_arg))


def spmm(
    dst: Any, src: Any, table: Any, weights: Any = None, reduce: str = "sum", *, num_rows: int | None = None,
    return_arg: bool = False, out: Any = None,
) -> Any:
    """Adds ``weights[e] * table[src[e]]`` to row ``dst[e]`` of the result, for each e in order: a sparse matrix, given by the coordinates and values of its elements, times
    the table; or messages along the edges of a graph. One pass: the rows ``table[src]`` are never written to memory.

    Args:
        dst: integers of one dim: the rows of the matrix, or where edges go. They need not be sorted. An index out of bounds, of `src` too, is an
            `OutOfBoundsError`, and nothing is written; negative ones do not count from the end.
        src: as many integers: the columns of the matrix, or where edges come from.
        table: an array ``[rows, ...]``.
        weights: as many numbers as `dst`, which are converted to the dtype of the table, or to float32 if that is a float of 8 or 16 bits, or to float64 for
            means of integers; None: 1.
        reduce: "sum", "mean", "max" or "min": the words of ``torch_sparse.matmul``. A mean is the sum, divided once by the number of elements. Rows without
            any are 0 under each of them. A NaN stays one under "max" and "min".
        num_rows: the extent of the first dim of the result; None: the largest of `dst` and one.
        return_arg: with "max" and "min", return (result, arg), where arg, int64, has the e that each element is from, as of `segment_max`; -1 where none is.
        out: an array for the result.

    Each product is rounded, then it is added, and the sum is rounded, in the dtype of the table. Floats of 8 and 16 bits are multiplied, added and divided in
    float32, and the result is rounded once. Means of integers are float64.

    Returns:
        An array ``[num_rows, *table.shape[1:]]`` of the library that `table` is of.

    >>> table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> strew.spmm([0, 0, 2], [1, 2, 0], table, [0.5, 1.0, 2.0])
    array([[6.5, 8. ],
           [0. , 0. ],
           [2. , 4. ]])
    >>> strew.spmm([0, 0, 2], [1, 2, 0], table, reduce="mean")
    array([[4., 5.],
           [0., 0.],
           [1., 2.]])
    """
    return _fused.spmm(dst, src, table, weights, reduce, num_rows, bool(return_arg), out)


def sddmm(dst: Any, src: Any, lhs: Any, rhs: Any, *, out: Any = None) -> Any:
    """The dot product of the rows ``lhs[dst[e]]`` and ``rhs[src[e]]`` for each e: the elements of a product of two matrices at the places that a sparse matrix has
    (sampled dense-dense matrix product), or a score per edge of a graph. It is also the gradient of the weights of `spmm`: with ``out = spmm(dst, src, table,
    weights)`` and the gradient g of `out`, that of the weights is ``sddmm(dst, src, g, table)``. One pass: no rows are copied, and no products are written.

    Args:
        dst: integers, which say the rows of `lhs`. An index out of bounds, of `src` too, is an `OutOfBoundsError`, and nothing is written; negative ones do not
            count from the end.
        src: integers of the same shape, which say the rows of `rhs`.
        lhs: real numbers ``[rows, ...]``. Heads of attention are rows of their own: ``lhs.reshape(rows * heads, width)``.
        rhs: numbers ``[any, ...]`` with rows of the same shape, which are converted to the dtype of `lhs`.
        out: an array for the result.

    Of the products of a row, each of which is rounded, eight sums are added from the left: sum l has the products l, l + 8, l + 16, ... Then neighbours are
    added: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). All that is in the dtype of `lhs`, of which the floats of 8 and 16 bits are multiplied and added in float32 and
    rounded once. So the bits are the same on every machine and any number of threads.

    Returns:
        An array with the shape of `dst` and the dtype of `lhs`, of the library that `lhs` is of.

    >>> g, table = np.array([[1.0, 2.0], [0.5, 0.25]]), np.array([[3.0, 4.0], [5.0, 6.0], [8.0, 4.0]])
    >>> strew.sddmm([0, 0, 1], [0, 1, 2], g, table)
    array([11., 17.,  5.])
    """
    return _fused.sddmm(dst, src, lhs, rhs, out)


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, *, mode: str = "mean", per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int | None = None, return_arg: bool = False, out: Any = None,
) -> Any:
    """The sums, means or maxima of bags of rows of `weight`: ``torch.nn.functional.embedding_bag``. One pass: the rows are never written to memory.

    Args:
        input: integers: the numbers of the rows. With 2 dims, each row is a bag; with 1 dim, `offsets` says where bags begin. One that is out of bounds is
            an `OutOfBoundsError`, and nothing is written; negative ones do not count from the end.
        weight: an array ``[rows, ...]``.
        offsets: integers of one dim, the first 0, none less than the one before.
        mode: "sum", "mean" or "max". A bag without rows is 0.
        per_sample_weights: numbers with the shape of `input`, by which rows are multiplied, for mode "sum"; converted as the weights of `spmm`.
        include_last_offset: whether `offsets` has one more element at the end, which is the length of `input`.
        padding_idx: a number of a row, which counts from the end if it is negative: where the input has it, it is left out, and not counted.
        return_arg: with mode "max", return (result, arg), where arg, int64, has the place in ``input.ravel()`` that each element is from, as of `segment_max`.
        out: an array for the result.

    Rows are added in the order of `input`, floats of 8 and 16 bits in float32 with one rounding of the result. As in PyTorch, float32 rounds a product and the
    addition of it once (a fused multiply-add, on every machine); float64 and the others round each. A mean is the sum, divided once by the number of rows
    before that is rounded; PyTorch rounds the sum of 16 bits before it divides, too.

    Returns:
        An array ``[bags, *weight.shape[1:]]`` of the library that `weight` is of.

    >>> weight = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> strew.embedding_bag([[0, 2], [1, 1]], weight)
    array([[3., 4.],
           [3., 4.]])
    >>> strew.embedding_bag([0, 2, 1], weight, [0, 2, 2], mode="sum", padding_idx=0)
    array([[5., 6.],
           [0., 0.],
           [3., 4.]])
    """
    return _fused.embedding_bag(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx, bool(return_arg), out)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number from 0 to the largest is in `x`: ``numpy.bincount``.

    Args:
        x: non-negative integers, of one dim.
        weights: numbers that are added in place of 1, as float64; in the order of `x`.
        minlength: the least extent of the result.

    >>> strew.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    if weights is None and type(minlength) is int and minlength >= 0:
        count = _native.count_below(x)
        if count is not None:
            counts = np.zeros(max(count, minlength), np.intp)
            if AT["add"]["raise"](counts, x, 1) is not NotImplemented:
                return counts
    return _segments.bincount(x, weights, minlength)


def histogram(a: Any, bins: Any = 10, range: tuple[float, float] | None = None, density: bool | None = None, weights: Any = None) -> tuple[Any, Any]:
    """How many values fall into each bin: ``numpy.histogram``, whose arguments and results it has. NumPy finds the edges.

    >>> strew.histogram([1, 2, 1], bins=[0, 1, 2, 3])
    (array([0, 2, 1]), array([0, 1, 2, 3]))
    """
    return _segments.histogram(a, bins, range, density, weights)


def csr(indices: Any, num_segments: int | None = None) -> tuple[Any, Any]:
    """Sorts positions by their index, stably: compressed sparse rows. A program that scatters along the same edges many times sorts them once, because
    scatters of sorted edges take less time.

    Args:
        indices: integers in ``[0, num_segments)``, of one dim.
        num_segments: how many segments there are; None: the largest index and one.

    Returns:
        (offsets, permutation), int64: how many indices are less than 0, 1, ..., `num_segments`; and the positions in order of their index, those of one
        index in their own order: ``np.argsort(indices, kind="stable")``. Segment `s` has the positions ``permutation[offsets[s]:offsets[s + 1]]``.

    Raises:
        OutOfBoundsError: an index is negative or not less than `num_segments`.

    >>> target, weight = np.array([2, 0, 2, 1, 0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> offsets, permutation = strew.csr(target, 3)
    >>> offsets, permutation
    (array([0, 2, 3, 5]), array([1, 4, 3, 0, 2]))
    >>> target, weight = target[permutation], weight[permutation]  # once
    >>> strew.segment_sum(weight, target, 3)
    array([7., 4., 4.])
    """
    return _csr.csr(indices, num_segments)


def kv_append(cache: Any, positions: Any, token: Any, axis: int = -2, *, mode: str = "raise") -> None:
    """Writes each sequence's new tokens into its cache, in place, from ``positions[b]`` of `axis` on.

    Args:
        cache: an array ``[batch, ..., length, ...]``, or a list of as many as there are layers, all of one shape: then one call writes all of them.
        positions: integers ``[batch]``. The batch may be less than that of the cache, whose first sequences are then meant.
        token: the new elements, with the dims of the cache but for `axis`; a list with one array per cache.
        axis: the dim of the length.
        mode: "raise": tokens that do not fit are an error and nothing is written. "wrap": the cache is circular.

    >>> cache = np.zeros((2, 4, 1))
    >>> strew.kv_append(cache, [0, 3], np.array([[[1.0]], [[2.0]]]))
    >>> cache[:, :, 0]
    array([[1., 0., 0., 0.],
           [0., 0., 0., 2.]])
    """
    _tokens.kv_append(cache, positions, token, axis, mode)


def moe_permute(tokens: Any, experts: Any, num_experts: int | None = None) -> tuple[Any, Any, Any]:
    """Puts tokens into the order of their experts, for one product of matrices per expert.

    Args:
        tokens: an array ``[tokens, width]``.
        experts: integers ``[tokens, k]`` or ``[tokens]``: the experts that each token goes to.
        num_experts: None: the largest and one.

    Returns:
        (permuted, rows, counts): the tokens ``[tokens * k, width]`` sorted by expert, and within one in their order; which of ``experts.ravel()`` each
        row came from, int64; and how many rows each expert has, int64.

    >>> permuted, rows, counts = strew.moe_permute(np.array([[1.0], [2.0]]), [[1, 0], [1, 2]])
    >>> permuted.ravel(), rows, counts
    (array([1., 1., 2., 2.]), array([1, 0, 2, 3]), array([1, 2, 1]))
    """
    return _tokens.moe_permute(tokens, experts, num_experts)


def moe_unpermute(permuted: Any, rows: Any, k: int, weights: Any = None, *, out: Any = None) -> Any:
    """The inverse of `moe_permute`: each token's rows, times their weights, added up in the order of `rows`.

    Args:
        permuted: an array ``[tokens * k, width]``.
        rows: what `moe_permute` returned.
        k: how many experts a token went to.
        weights: an array ``[tokens, k]``; None: 1.
        out: an array ``[tokens, width]`` for the result.

    >>> strew.moe_unpermute(np.array([[1.0], [1.0], [2.0], [2.0]]), [1, 0, 2, 3], 2, [[0.5, 0.5], [0.25, 0.75]])
    array([[1.],
           [2.]])
    """
    return _tokens.moe_unpermute(permuted, rows, k, weights, out)
