"""What an operation along edges is: which dims of its arrays are edges, rows that edges lead to, rows that they come from, and what passes through.

All functions of strew.jax and their gradients are of one shape: row `to[e]` of the result is added to (or replaced by) row `from[e]` of a table, times `weight[e]`, for the edges e in order. A definition says so
beside its text, and `_partition` does every definition that says so on arrays that several devices hold.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["Edges", "Factor", "Index", "Kind", "Rows", "Run", "rest", "weighted"]

Factor = str | tuple[str, ...]
"""What a dim stands for. Equal names are one and the same: "e" edges, "s" rows written, "r" rows looked up, "batch0" a dim of vmap. A name that begins with "whole" is never divided; others pass through. A tuple is
of numbers that count through several, the first slowest."""


class Kind(enum.Enum):
    """What comes of the edges."""

    ADD = "rows are added to those that edges lead to"
    TAKE = "an edge has its row"
    DOT = "an edge has the products of its two rows, summed over the dims that its weight lacks"
    OWN = "the definition itself, which leaves edges out whose index is below 0, and whose result for these is 0: an edge counts where its row is"
    EACH = "no edges: all dims pass through, or are whole"


@dataclasses.dataclass(frozen=True)
class Index:
    """An operand of integers, a row's number for each edge."""

    operand: int
    is_wrapped: bool = True  # those below 0 count from the end
    is_clipped: bool = False  # those of no row are the nearest row's; else they stand for no row: it is not written, and zeros are looked up

    def resolve(self, index: jax.Array, extent: int, dtype: Any) -> jax.Array:
        """Numbers from 0 to `extent`, which stands for no row."""
        limits = jnp.iinfo(index.dtype)
        if self.is_wrapped and limits.min < 0:
            index = jnp.where(index < 0, index + np.array(extent).astype(index.dtype), index)
        last = np.array(min(extent - 1, int(limits.max)), index.dtype)
        if self.is_clipped:
            return jnp.clip(index, np.array(0, index.dtype), last).astype(dtype)
        return jnp.where((index >= 0) & (index <= last), index.astype(dtype), np.array(extent, dtype))


@dataclasses.dataclass(frozen=True)
class Rows:
    """An operand of rows. Without an index it has a row for each edge."""

    operand: int
    index: Index | None


@dataclasses.dataclass(frozen=True)
class Edges:
    """A definition as an operation along edges."""

    kind: Kind
    dims: tuple[tuple[Factor, ...], ...]  # of each operand, then of the result
    rows: tuple[Rows, ...] = ()
    to: Index | None = None
    weight: int | None = None
    extents: tuple[tuple[str, int], ...] = ()  # of names that only occur beside others

    def gradient(self, number: int, kept: tuple[int, ...]) -> Edges | None:
        """Of the definition that has the cotangent and the kept operands, and gives the gradient of operand `number`: the same edges, backwards. None: it is no such operation."""
        place = {operand: 1 + k for k, operand in enumerate(kept)}

        def moved(index: Index | None) -> Index | None:
            return None if index is None else dataclasses.replace(index, operand=place[index.operand])

        dims = (self.dims[-1], *(self.dims[operand] for operand in kept), self.dims[number])
        to, weight = moved(self.to), None if self.weight is None else place.get(self.weight)
        match self.kind:
            case Kind.OWN | Kind.EACH:
                return Edges(self.kind, dims, to=to)
            case Kind.DOT:
                return None
            case Kind.TAKE:
                return Edges(Kind.ADD, dims, (Rows(0, None),), moved(self.rows[0].index))
            case Kind.ADD:
                index = moved(self.rows[0].index)
                if number == self.weight:
                    return Edges(Kind.DOT, dims, (Rows(0, to), Rows(place[self.rows[0].operand], index)), extents=self.extents)
                if index is None:
                    return Edges(Kind.TAKE, dims, (Rows(0, to),))
                return Edges(Kind.ADD, dims, (Rows(0, to),), index, weight, self.extents)

    def batched(self, axes: tuple[int | None, ...]) -> Edges:
        """Of the definition under vmap: operands with an axis, and the result, have a batch in front."""
        name = f"batch{len(self.batches)}"
        dims = tuple(dims if axis is None else (name, *dims) for dims, axis in zip(self.dims, (*axes, 0), strict=True))
        return dataclasses.replace(self, dims=dims)

    @property
    def batches(self) -> tuple[str, ...]:
        """The factors of vmap, the outermost first."""
        return tuple(factor for factor in self.dims[-1] if isinstance(factor, str) and factor.startswith("batch"))

    def first(self, operand: int) -> Factor:
        """What the first dim after the batches of an operand, or -1, the result, stands for: edges, or rows."""
        return next(factor for factor in self.dims[operand] if factor not in self.batches)


def rest(rank: int, first: int) -> tuple[str, ...]:
    """Factors that pass through, of the dims of a row from `first` up to `rank`.

    >>> rest(3, 1)
    ('f1', 'f2')
    """
    return tuple(f"f{dim}" for dim in range(first, rank))


def weighted(rows: jax.Array, weight: jax.Array | None) -> jax.Array:
    """Rows times a number each, or one for each entry of their first dims."""
    return rows if weight is None else rows * weight.reshape(weight.shape + (1,) * (rows.ndim - weight.ndim))


Run = Callable[[Callable[..., Any], tuple[Any, ...], tuple[jax.Array, ...]], jax.Array]
"""Runs a function of arrays and further arguments as one program of strew."""
