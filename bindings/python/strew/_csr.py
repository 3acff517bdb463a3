"""Positions sorted by their index, and how many there are of each: csr."""

from __future__ import annotations

import numpy as np

from . import _hosts as hosts
from . import _native
from ._arguments import index_input
from ._segments import count_of


def csr(indices, num_segments):
    numbers = index_input(indices)
    if numbers.ndim != 1:
        raise ValueError(f"indices: {numbers.ndim} dims, expected 1")
    count = count_of(num_segments, numbers, "num_segments")
    offsets, permutation = np.empty(count + 1, np.int64), np.empty(numbers.size, np.int64)
    _native.csr(numbers, offsets, permutation)
    if not hosts.is_array(indices):
        return offsets, permutation
    return hosts.from_numpy(offsets, indices), hosts.from_numpy(permutation, indices)
