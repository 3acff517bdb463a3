"""Rows and edges on their way between devices: how many fit, who gets what in which order, and the rows that come back. Everything here runs on each device of a mesh, with its own part of the arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ._edges import Run

__all__ = ["Along", "Axes", "LookUp", "bits_of", "from_bits", "integers", "move", "no_mesh", "room", "rows_by_sums", "sum_bits", "take"]

Axes = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Along:
    """Rows or edges, divided in order among the devices along axes of the mesh."""

    axes: Axes
    parts: int
    extent: int  # of all devices together

    @property
    def here(self) -> int:
        """How many a device has."""
        return self.extent // self.parts

    def rank(self) -> Any:
        return lax.axis_index(self.axes) if self.axes else 0

    def first(self) -> Any:
        """The number of this device's first one."""
        return self.rank() * self.here

    def owner(self, number: jax.Array) -> jax.Array:
        """The rank of the device that has it; as many as there are parts for the extent, which stands for none."""
        return jnp.minimum(lax.div(number, np.array(self.here, number.dtype)), np.array(self.parts, number.dtype))

    def exchange(self, array: jax.Array) -> jax.Array:
        """From [parts, ...], a part for each device, the parts that each device has for this one."""
        exchanged: jax.Array = lax.all_to_all(array, self.axes, 0, 0)
        return exchanged


def no_mesh() -> Any:
    """A context in which types have no shardings, whatever mesh the caller has set."""
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ()))


def room(expected: int, most: int, quarters: int = 1) -> int:
    """The places for what is expected to be so many: a quarter more, which even small numbers of draws rarely exceed with 32 on top. Edges, which are a few integers, get four quarters.

    >>> room(1000, 5000), room(1000, 5000, quarters=4), room(10, 20)
    (1282, 2032, 20)
    """
    return min(most, expected + -(-expected * quarters // 4) + 32)


def integers(extent: int) -> Any:
    """The dtype of row numbers."""
    return jnp.int32 if extent < 2**31 - 1 else jnp.int64


def bits_of(array: jax.Array) -> jax.Array:
    """Integers that move and add up with zeros without a change: XLA would flush, or move as another dtype, what are floats."""
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        return array
    bits: jax.Array = lax.bitcast_convert_type(array, jnp.dtype(f"uint{8 * array.dtype.itemsize}"))
    return bits


def from_bits(bits: jax.Array, dtype: Any) -> jax.Array:
    array: jax.Array = bits if bits.dtype == dtype else lax.bitcast_convert_type(bits, dtype)
    return array


def sum_bits(bits: jax.Array, axes: Axes) -> jax.Array:
    """Of devices of which at most one has something else than zeros. Not all collectives have integers of 8 and 16 bits."""
    wide = bits.dtype if bits.dtype.itemsize >= 4 else jnp.dtype(jnp.uint32)
    summed: jax.Array = lax.psum(bits.astype(wide), axes).astype(bits.dtype)
    return summed


def take(*pairs: jax.Array) -> jax.Array:
    """Rows of a table, [rows] and the table, and zeros for rows that it does not have, or those of a second table, which has rows and a table of its own."""
    row, table, *second = pairs
    rows: jax.Array = table.at[row].get(mode="fill", fill_value=0)
    return jnp.where((row < table.shape[0]).reshape(-1, *(1,) * (table.ndim - 1)), rows, take(*second)) if second else rows


@dataclasses.dataclass(frozen=True)
class _Buckets:
    """Elements in the order of their owners, those of one owner in their own order; the last bucket is of those that nobody owns."""

    order: jax.Array
    starts: jax.Array  # [parts + 1]

    def slots(self, size: int, besides: Any) -> tuple[jax.Array, jax.Array]:
        """The elements [parts, size] of each bucket, and which of them there are; not those of the bucket `besides`."""
        slot = self.starts[:-1, None] + jnp.arange(size)
        is_filled = (slot < self.starts[1:, None]) & (jnp.arange(self.starts.size - 1) != besides)[:, None]
        return self.order[jnp.minimum(slot, self.order.size - 1)], is_filled

    def is_crowded(self, size: int, besides: Any) -> jax.Array:
        counts = self.starts[1:] - self.starts[:-1]
        return jnp.any((counts > size) & (jnp.arange(counts.size) != besides))


jax.tree_util.register_dataclass(_Buckets, ["order", "starts"], [])


def _buckets(owner: jax.Array, parts: int) -> _Buckets:
    count = owner.size
    place = jnp.arange(count, dtype=owner.dtype)
    if (parts + 1) * count < 2**31:
        order = lax.rem(jnp.sort(owner * count + place), np.array(count, owner.dtype))
    else:
        _, order = lax.sort((owner, place), num_keys=1, is_stable=True)
    counts = jnp.zeros(parts + 1, owner.dtype).at[owner].add(1)
    return _Buckets(order, jnp.cumsum(counts) - counts)


def move(edges: Sequence[jax.Array], empty: Sequence[int], weight: jax.Array | None, along: Along, slots: int) -> tuple[list[jax.Array], jax.Array | None, jax.Array | None]:
    """Brings edges to the devices that own the rows they lead to, in the order of all edges.

    Args:
        edges: integers [edges here] each, of which the first is the row that the edge leads to.
        empty: what each has in places without an edge; of the first, the number of rows, which stands for no row.
        weight: [edges here, ...].
        along: the edges; rows are divided among the same devices.
        slots: the places for edges that arrive.

    Returns:
        The edges that arrived, [slots] each, their weights, [slots, ...], and whether some had no place; None: all have.
    """
    rows = Along(along.axes, along.parts, empty[0])
    me, buckets = along.rank(), _buckets(rows.owner(edges[0]), along.parts)
    size = room(-(-along.here // along.parts), along.here, quarters=4)
    sent, is_filled = buckets.slots(size, me)
    packed = jnp.stack([jnp.where(is_filled, each[sent], nothing) for each, nothing in zip(edges, empty, strict=True)], axis=-1)
    arrived = along.exchange(packed)
    counts = jnp.where(jnp.arange(along.parts) == me, buckets.starts[me + 1] - buckets.starts[me], (arrived[..., 0] < empty[0]).sum(1))
    ends = jnp.cumsum(counts)
    slot = jnp.arange(slots)
    sender = jnp.minimum(jnp.searchsorted(ends, slot, side="right"), along.parts - 1)
    place = slot - (ends - counts)[sender]
    own = buckets.order[jnp.clip(buckets.starts[me] + place, 0, along.here - 1)]

    def placed(here: jax.Array, there: jax.Array) -> jax.Array:
        is_own = (sender == me).reshape(-1, *(1,) * (here.ndim - 1))
        return jnp.where(is_own, here[own], there[sender, jnp.clip(place, 0, size - 1)])

    is_there = slot < ends[-1]
    moved = [jnp.where(is_there, placed(each, arrived[..., k]), nothing) for k, (each, nothing) in enumerate(zip(edges, empty, strict=True))]
    is_crowded = None if size == along.here and slots == along.extent else buckets.is_crowded(size, me) | (ends[-1] > slots)
    if weight is None:
        return moved, None, is_crowded
    bits = bits_of(weight)
    return moved, from_bits(placed(bits, along.exchange(bits[sent])), weight.dtype), is_crowded


class LookUp:
    """The rows that edges of this device ask for, of a table whose rows are divided.

    Args:
        table: its rows.
        differs: the axes along which devices have different edges. Devices along others share the work, and all have all rows afterwards.
        slots: the places for edges here.
        expected: how many of them are expected to need a row, if each needs another one.
        mesh: the number of devices along each axis.
        run: runs a function on this device.
    """

    def __init__(self, table: Along, differs: Collection[str], slots: int, expected: int, mesh: Mapping[str, int], run: Run):
        self.table, self.slots, self.mesh, self.run = table, slots, mesh, run
        # Each device gets the whole table where it asks for as many rows: then less moves, and less is in memory.
        self.is_whole = table.extent <= expected
        self.sharing = tuple(axis for axis in table.axes if axis not in differs)
        self.expected = expected

    @property
    def asks(self) -> bool:
        return bool(self.table.axes) and not self.is_whole

    def _in_mesh(self) -> tuple[Axes, list[int]]:
        """The axes in the order of the mesh, and each rank's number in that order, by which `ppermute` of JAX before 0.12 counts whatever the order of the axes."""
        axes = tuple(axis for axis in self.mesh if axis in self.table.axes)
        places = np.unravel_index(range(self.table.parts), [self.mesh[axis] for axis in self.table.axes])
        number = np.ravel_multi_index([places[self.table.axes.index(axis)] for axis in axes], [self.mesh[axis] for axis in axes])
        return axes, [int(each) for each in number]

    def _share(self) -> Along:
        parts = lax.axis_size(self.sharing) if self.sharing else 1
        return Along(self.sharing, parts, -(-self.slots // parts) * parts)

    def _size(self, share: Along) -> int:
        return room(-(-self.expected // (share.parts * self.table.parts)), share.here)

    def ask(self, row: jax.Array) -> tuple[Any, jax.Array | None]:
        """What is asked of each owner, from the rows of the edges, and whether that is too much for the way of `answer`."""
        if not self.asks:
            return None, None
        share, table = self._share(), self.table
        own = lax.dynamic_slice_in_dim(jnp.pad(row, (0, share.extent - self.slots), constant_values=self.table.extent), share.first(), share.here) if self.sharing else row
        # Each row is asked for once, however many edges it has.
        in_order, order = lax.sort((own, jnp.arange(share.here, dtype=own.dtype)), num_keys=1)
        is_new = jnp.concatenate([jnp.ones(1, bool), in_order[1:] != in_order[:-1]])
        number = jnp.cumsum(is_new, dtype=own.dtype) - 1
        distinct = jnp.full_like(own, table.extent).at[number].set(in_order)
        counts = jnp.zeros(table.parts + 1, own.dtype).at[table.owner(in_order)].add(is_new.astype(own.dtype))
        buckets = _Buckets(distinct, jnp.cumsum(counts) - counts)
        size = self._size(share)
        return (own, jnp.zeros_like(own).at[order].set(number, unique_indices=True), buckets), buckets.is_crowded(size, self.table.rank()) if size < share.here else None

    def answer(self, row: jax.Array, asked: Any, table: jax.Array) -> list[tuple[jax.Array, jax.Array]]:
        """Where the row of each edge is: rows of the edges, and a table with these. If there are two, the row is in the second where the first table has none."""
        if not self.table.axes:
            return [(row, table)]
        if self.is_whole:
            return [(row, lax.all_gather(table, self.table.axes, tiled=True))]
        share, (own, number, buckets) = self._share(), asked
        size, here = self._size(share), self.table.here
        rows, is_filled = buckets.slots(size, self.table.rank())
        wanted = self.table.exchange(jnp.where(is_filled, rows - (jnp.arange(self.table.parts, dtype=own.dtype) * here)[:, None], 0))
        # To the next device, the one after it, and so on: rows are gathered where they are sent from, and lie where they arrive.
        parts, me = self.table.parts, self.table.rank()
        axes, ranks = self._in_mesh()
        answers = [
            lax.ppermute(self.run(take, (), (wanted[(me + step) % parts], table)), axes, [(ranks[k], ranks[(k + step) % parts]) for k in range(parts)]) for step in range(1, parts)
        ]
        owner = self.table.owner(own)
        place = number - buckets.starts[owner]
        is_near = owner == me
        near = jnp.where(is_near, own - self.table.first(), here)
        far = jnp.where(is_near | (owner == parts), (parts - 1) * size, lax.rem(me - owner + parts - 1, np.array(parts, own.dtype)) * size + place)
        found = [(near, table), (far, jnp.concatenate(answers))]
        if not self.sharing:
            return found
        shared = self.run(take, (), tuple(array for pair in found for array in pair))
        return [(jnp.arange(self.slots, dtype=own.dtype), lax.all_gather(shared, self.sharing, tiled=True))]


def rows_by_sums(table: jax.Array, row: jax.Array, along: Along, asking: Axes) -> jax.Array:
    """The rows of all edges, whoever has them: each device puts zeros for those that it does not own, and the sums of the bits are the rows.

    Args:
        table: its rows here.
        row: [edges], the same on all devices that have parts of the table, but along `asking`.
        along: the table's rows.
        asking: axes along which devices ask for different rows. They take turns.
    """
    if not along.axes:
        return take(row, table)
    turns = lax.axis_size(asking) if asking else 1
    asked = lax.all_gather(row, asking) if asking else row[None]
    me = lax.axis_index(asking) if asking else 0

    def turn(k: Any, kept: jax.Array) -> jax.Array:
        here = asked[k] - along.first()
        found = take(jnp.where(here < 0, along.here, here), table)
        return jnp.where(k == me, sum_bits(found, along.axes), kept)

    rows: jax.Array = lax.fori_loop(0, turns, turn, jnp.zeros((row.size, *table.shape[1:]), table.dtype))
    return rows


