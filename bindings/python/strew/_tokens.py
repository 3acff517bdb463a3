"""Tokens of language models: appends to caches, and the order of experts."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import _hosts as hosts
from ._arguments import Written, apart, as_input, fill_text, given_back, in_dtype, index_input, result_array, strew_name
from ._general import take
from ._native import Function
from ._segments import counts_of

_APPENDS: dict[Any, Function] = {}  # by (axis, mode)
_SUMS: dict[Any, Function] = {}  # by dtype, as _WEIGHTED
_WEIGHTED: dict[Any, Function] = {}


def _append_function(axis, mode):
    key = (operator.index(axis), mode)
    if key not in _APPENDS:
        if mode not in ("raise", "wrap"):
            raise ValueError(f"mode: {mode!r}, expected 'raise' or 'wrap'")
        _APPENDS[key] = Function("tensor_scatter", {"init": "in_place"}, axis=key[0], circular=mode == "wrap")
    return _APPENDS[key]


def kv_append(cache, positions, token, axis, mode):
    caches = list(cache) if isinstance(cache, (list, tuple)) else [cache]
    tokens = list(token) if isinstance(token, (list, tuple)) else [token]
    if len(caches) != len(tokens):
        raise ValueError(f"token: {len(tokens)} arrays, expected one per cache, {len(caches)}")
    if not caches:
        return
    function = _append_function(axis, mode)
    positions = index_input(positions, "positions") if not isinstance(positions, np.ndarray) else positions
    if len(caches) == 1:
        done = function(caches[0], positions, tokens[0])
        if done is NotImplemented:
            _append_generally(function, caches[0], positions, tokens[0])
        return
    if not function.run_many(caches, positions, tokens):
        for one, new in zip(caches, tokens):
            _append_generally(function, one, positions, new)


def _append_generally(function, cache, positions, token):
    written = Written(cache, "cache")
    values = apart(in_dtype(token, written.array.dtype, "token"), written.array)
    function.run(written.array, apart(index_input(positions, "positions"), written.array), values)
    written.finish()


def moe_permute(tokens, experts, num_experts):
    values = as_input(tokens, "tokens")
    experts_array = index_input(experts, "experts")
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
    counts = counts_of(flat, None, num_experts)
    return tuple(hosts.from_numpy(each, tokens) if hosts.is_array(tokens) else each for each in (permuted, rows, counts))


def _weighted(dtype):
    if dtype not in _WEIGHTED:
        own = strew_name(dtype, "permuted")
        graph = f"{{%0=update(0):{own};%1=extra(0):{own};%2=multiply(%0,%1):{own};%3=current(0):{own};%4=add(%3,%2):{own};return %4}}"
        fields = {"combiner": "expr", "expr": graph, "oob": "error"}
        _WEIGHTED[dtype] = Function("scatter_rows", fields, fill=fill_text(0, dtype), extras=("per_position",))
    return _WEIGHTED[dtype]


def moe_unpermute(permuted, rows, k, weights, out):
    values = as_input(permuted, "permuted")
    rows_array = index_input(rows, "rows")
    k = operator.index(k)
    if rows_array.ndim != 1 or values.ndim < 1 or rows_array.shape[0] != values.shape[0]:
        raise ValueError(f"rows: shape {list(rows_array.shape)}, expected one per row of permuted, {list(values.shape[:1])}")
    if k < 1 or rows_array.size % k:
        raise ValueError(f"k: {k}, expected a divisor of the {rows_array.size} rows")
    result, written = result_array(out, (rows_array.size // k, *values.shape[1:]), values.dtype)
    if written is not None:
        values, rows_array = apart(values, result), apart(rows_array, result)
    where = rows_array // k if k != 1 else rows_array
    if weights is None:
        if values.dtype not in _SUMS:
            _SUMS[values.dtype] = Function("scatter_rows", {"combiner": "add", "oob": "error"}, fill=fill_text(0, values.dtype))
        _SUMS[values.dtype].run(result, where, values)
    else:
        factors = as_input(weights, "weights").astype(values.dtype, copy=False).reshape(-1)
        if factors.size != rows_array.size:
            raise ValueError(f"weights: {factors.size} elements, expected {rows_array.size}")
        _weighted(values.dtype).run(result, where, values, take(factors, rows_array, 0, None, "raise", 0))
    return given_back(result, written, out, permuted)
