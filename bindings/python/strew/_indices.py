"""NumPy's advanced indexing as a scatter's or a gather's: a view of the array whose indexed dims come first, and a tensor of indices for each of these."""

import numpy as np

from ._native import Function

_LOOK = Function("gather", {"oob": "error", "normalize_negative": "true"})


def as_index(index, name="indices"):
    """An integer (or boolean) array. An empty list counts as one, as in NumPy."""
    array = np.asarray(index)
    if array.size == 0 and not isinstance(index, np.ndarray):
        array = array.astype(np.intp)
    if array.dtype.kind not in "iub":
        raise IndexError(f"{name}: elements of {array.dtype}, expected integers (or booleans, where NumPy takes a mask)")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


class Indexed:
    """What ``array[indices]`` means.

    Attributes:
        view: the array, with the dims that arrays of indices stand for first.
        indices: the arrays of indices of the first dims of `view`, in order and of one shape.
        count: how many of them there are.
        shape: the shape of ``array[indices]``.
    """

    def __init__(self, array, indices, raises=True):
        items = list(indices) if isinstance(indices, tuple) else [indices]
        items = self._expand(array, items)
        basic, coordinates, places, axis, out_axis = [], [], [], 0, 0
        for number, item in enumerate(items):
            if item is Ellipsis:
                continue
            if item is None:
                basic.append(None)
                out_axis += 1
            elif isinstance(item, slice):
                basic.append(item)
                axis += 1
                out_axis += 1
            else:
                for coordinate in item:
                    basic.append(slice(None))
                    coordinates.append((coordinate, array.shape[axis]))
                    places.append((number, out_axis))
                    axis += 1
                    out_axis += 1
        view = array[(*basic, Ellipsis)]  # a view even of an array without dims
        self.count = len(coordinates)
        arrays = np.broadcast_arrays(*[each for each, _ in coordinates]) if coordinates else []
        own = arrays[0].shape if arrays else ()
        if raises and arrays and arrays[0].size == 0:
            self._check_what_meets_nothing(coordinates)
        self.view = np.moveaxis(view, [place for _, place in places], range(self.count))
        rest = self.view.shape[self.count:]
        together = all(b[0] - a[0] <= 1 for a, b in zip(places, places[1:]))
        self._before = places[0][1] if places and together else 0
        self.shape = rest[: self._before] + own + rest[self._before :]
        self._positions = len(own)
        self.indices = list(arrays)

    @staticmethod
    def _check_what_meets_nothing(coordinates):
        """Indices that are broadcast against none are in no index vector, so that the scatter does not see them; a gather of nothing else does."""
        for index, extent in coordinates:
            if extent != 0:
                element = np.zeros((), np.int8)
                index = np.array(index, index.dtype.newbyteorder("="))  # aligned and native
                _LOOK.run(np.empty(index.shape, np.int8), np.broadcast_to(element, (extent,)), index)

    @staticmethod
    def _expand(array, items):
        """Slices, None and, per array of indices, a list of the coordinates it gives; an Ellipsis is replaced by slices."""
        read = [item if item is None or item is Ellipsis or isinstance(item, slice) else as_index(item) for item in items]
        if sum(item is Ellipsis for item in read) > 1:
            raise IndexError("indices: an index can only have a single ellipsis ('...')")
        dims = [Indexed._dims(item) for item in read]
        left = array.ndim - sum(dims)
        if left < 0:
            raise IndexError(f"indices: too many: {sum(dims)} for an array of {array.ndim} dims")
        if not any(item is Ellipsis for item in read):
            read.append(Ellipsis)
            dims.append(0)
        expanded, axis = [], 0
        for item, count in zip(read, dims):
            if item is Ellipsis:
                expanded += [slice(None)] * left or [Ellipsis]  # even without dims it stands between arrays of indices
                axis += left
                continue
            if isinstance(item, np.ndarray) and item.dtype == bool:
                if array.shape[axis : axis + count] != item.shape:
                    raise IndexError(f"indices: a boolean mask of shape {item.shape}, expected {array.shape[axis : axis + count]}")
                expanded.append(list(np.nonzero(item)))
            else:
                expanded.append([item] if isinstance(item, np.ndarray) else item)
            axis += count
        return expanded

    @staticmethod
    def _dims(item):
        """How many dims of the array the item stands for."""
        if item is None or item is Ellipsis:
            return 0
        if isinstance(item, np.ndarray) and item.dtype == bool:
            if item.ndim == 0:
                raise IndexError("indices: a boolean without dims, expected a mask with those of the array")
            return item.ndim
        return 1

    def updates(self, values, assigns=False):
        """`values`, broadcast to ``array[indices]``, in the order of dims of `view` and `indices`. Assignments leave out leading dims of 1."""
        while values.ndim > len(self.shape) and values.shape[0] == 1 and assigns:
            values = values[0]
        try:
            values = np.broadcast_to(values, self.shape)
        except ValueError:
            raise ValueError(f"updates: shape {np.shape(values)}, expected one that can be broadcast to {self.shape}") from None
        before, count = self._before, self._positions
        return np.moveaxis(values, range(before, before + count), range(count))
