"""Operations along edges (`_edges`) on arrays that several devices hold: the bits of one device, and no device ever has all rows of a table whose rows are divided, unless it asks for as many.

XLA's partitioner asks how the arrays should lie, and what each device does with its own parts (`partitioner`):

- Dims that pass through stay divided as they are; nothing moves.
- Where the result's rows are divided, the device that owns a row adds up its edges, in the order of all edges. Edges (a few integers and the weight) go to the owner of the row that they lead to; the number of
  edges that a device sends another is limited, and what arrives is put into the order of the devices that it came from, which is the order of all edges, because edges are divided in order.
- Rows of a table are asked for at their owner, each once by a device, and come back to the edges that need them (`_routes`). They move as integers of their bits.
- If there are more edges for a device than was planned for, which all devices find out before any row moves, they go the slow way: the edges of one device after another, whose rows all devices get.

tests/jax/sharding_test.py tests it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.custom_partitioning import ArrayMapping, CompoundFactor, SdyShardingRule
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from . import _routes
from ._edges import Edges, Factor, Kind, Run, weighted
from ._routes import Along, Axes

__all__ = ["partitioner", "shard_shape", "sharding_rule"]


def _names(factor: Factor) -> tuple[str, ...]:
    return (factor,) if isinstance(factor, str) else factor


def _is_whole(name: str) -> bool:
    return name.startswith("whole")


def shard_shape(shape: Sequence[int], dims: Sequence[Factor], parts: Callable[[str], int]) -> tuple[int, ...]:
    """What a device has of an array whose dims' factors are divided into so many parts.

    >>> shard_shape((8, 6), ("s", "f1"), {"s": 4, "f1": 1}.__getitem__)
    (2, 6)
    """
    return tuple(extent // math.prod(parts(name) for name in _names(factor)) for extent, factor in zip(shape, dims, strict=True))


def sharding_rule(edges: Edges) -> SdyShardingRule:
    """What Shardy may carry from array to array: how dims of equal names are divided. Edges and rows are different factors, so both may be divided along the same axes of the mesh."""
    mappings = [ArrayMapping(*(factor if isinstance(factor, str) else CompoundFactor(*factor) for factor in dims)) for dims in edges.dims]
    names = {name for dims in edges.dims for factor in dims for name in _names(factor)}
    whole = tuple(sorted(filter(_is_whole, names)))
    extents: dict[str, Any] = dict(edges.extents)
    return SdyShardingRule(tuple(mappings[:-1]), tuple(mappings[-1:]), need_replication_factors=whole, **extents)


# ---- How the arrays lie ----------------------------------------------------------------------------------------------------------------------------


def _axes_of(sharding: NamedSharding, rank: int) -> list[Axes]:
    entries = (*sharding.spec, *((None,) * (rank - len(sharding.spec))))
    return [() if entry is None else (entry,) if isinstance(entry, str) else tuple(entry) for entry in entries]


class _Layout:
    """Along which axes of the mesh each factor is divided. The largest arrays keep theirs; what does not go with them, or does not divide an extent, is not divided."""

    def __init__(self, edges: Edges, mesh: Mesh, types: Sequence[Any]):
        self.edges, self.mesh = edges, mesh
        self.extents = dict(edges.extents)
        self.types = types
        beside: dict[str, set[str]] = {}
        for dims, of in zip(edges.dims, types, strict=True):
            names = [name for factor in dims for name in _names(factor)]
            for name in names:
                beside.setdefault(name, set()).update(other for other in names if other != name)
            self.extents.update({factor: extent for factor, extent in zip(dims, of.shape, strict=True) if isinstance(factor, str)})
        if edges.kind is Kind.DOT:  # devices that add up parts of a sum have the same edges
            summed = {name for rows in edges.rows for factor in edges.dims[rows.operand] if factor != edges.first(rows.operand) for name in _names(factor)}
            left = {name for factor in edges.dims[-1] for name in _names(factor)}
            for each, others in ((summed, left), (left, summed)):
                for name in each:
                    beside[name] |= others - {name}
        self.axes: dict[str, Axes] = {}
        # The bits of complex numbers are no integers: rows of these do not move.
        self.only_passing = edges.kind is not Kind.EACH and any(jnp.issubdtype(of.dtype, jnp.complexfloating) for of in types)
        for number in sorted(range(len(types)), key=lambda number: -math.prod(types[number].shape) * types[number].dtype.itemsize):
            operand = number if number + 1 < len(types) else -1
            for factor, axes in zip(edges.dims[number], _axes_of(types[number].sharding, types[number].ndim), strict=True):
                name = _names(factor)[0]
                if self._may_divide(operand, factor, axes) and not any(set(axes) & set(self.axes.get(other, ())) for other in beside[name]):
                    self.axes[name] = axes

    def _may_divide(self, operand: int, factor: Factor, axes: Axes) -> bool:
        name = _names(factor)[0]
        is_first = factor == self.edges.first(operand)
        if not axes or name in self.axes or _is_whole(name) or self.extents[name] % self.count(axes) or (self.only_passing and is_first):
            return False
        # Edges are brought to the rows that they lead to.
        return self.edges.kind in (Kind.TAKE, Kind.DOT, Kind.EACH) or self.are_home or operand not in self.along_edges or not is_first

    def count(self, axes: Axes) -> int:
        return math.prod(self.mesh.shape[axis] for axis in axes)

    def parts(self, name: str) -> int:
        return self.count(self.axes.get(name, ()))

    @functools.cached_property
    def along_edges(self) -> tuple[int, ...]:
        """The operands that have a row, or a number, for each edge; -1 is the result."""
        edges = self.edges
        if edges.kind is Kind.EACH:
            return ()
        if edges.kind is Kind.OWN:
            return tuple(k for k in (*range(len(edges.dims) - 1), -1) if edges.first(k) == "e")
        indices = [edges.to, *(rows.index for rows in edges.rows)]
        operands = {index.operand for index in indices if index is not None} | {rows.operand for rows in edges.rows if rows.index is None}
        return tuple(sorted(operands | ({edges.weight} if edges.weight is not None else set()) | (set() if edges.kind is Kind.ADD else {-1})))

    @property
    def are_home(self) -> bool:
        """Whether edges are numbered by the rows that they lead to, so that they are where the row is."""
        edges = self.edges
        if edges.kind is not Kind.ADD or edges.to is None:
            return False
        factor = edges.first(edges.to.operand)
        return not isinstance(factor, str) and factor[0] == edges.first(-1)

    def of_edges(self) -> Axes:
        """The axes along which edges are divided: those of the result's rows, be they edges or rows that edges lead to."""
        if self.edges.kind in (Kind.OWN, Kind.EACH):
            return ()
        axes = self.axes.get(_names(self.edges.first(-1))[0], ())
        return axes if self.number_of_edges % self.count(axes) == 0 else ()

    @property
    def number_of_edges(self) -> int:
        operand = self.along_edges[0]
        dims, shape = self.edges.dims[operand], self.types[operand].shape
        return int(shape[dims.index(self.edges.first(operand))])

    def along(self, operand: int) -> Along:
        """The rows of a table, or of the result."""
        factor = self.edges.first(operand)
        if operand in self.along_edges:
            return Along(self.of_edges(), self.count(self.of_edges()), self.number_of_edges)
        name = _names(factor)[0]
        return Along(self.axes.get(name, ()), self.parts(name), self.extents[name])

    def sharding(self, operand: int) -> NamedSharding:
        entries = []
        for factor in self.edges.dims[operand]:
            is_edge = operand in self.along_edges and factor == self.edges.first(operand)
            axes = self.of_edges() if is_edge else self.axes.get(_names(factor)[0], ())
            entries.append(axes or None)
        return NamedSharding(self.mesh, PartitionSpec(*entries))

    def summed(self, result: jax.Array) -> jax.Array:
        """The products of two rows are sums over dims that may be divided: the sums of all devices, in an order of XLA's."""
        if self.edges.kind is not Kind.DOT:
            return result
        names = {name for factor in self.edges.dims[self.edges.rows[0].operand] if factor != self.edges.first(self.edges.rows[0].operand) for name in _names(factor)}
        axes = tuple(sorted({axis for name in names if name not in self.edges.dims[-1] for axis in self.axes.get(name, ())}))
        total: jax.Array = lax.psum(result, axes) if axes else result
        return total

    @property
    def is_plain(self) -> bool:
        """Whether each device runs the definition on its parts of the arrays, and that is it."""
        edges = self.edges
        match edges.kind:
            case Kind.EACH:
                return True
            case Kind.OWN:
                return not self.axes.get("s")
            case Kind.TAKE | Kind.DOT:
                return not any(self.along(rows.operand).axes for rows in edges.rows)
            case Kind.ADD:
                return not self.along(-1).axes and not any(self.along(rows.operand).axes for rows in edges.rows)


def partitioner(edges: Edges, on_shards: Callable[[Callable[[str], int]], Callable[..., Any]], run: Run) -> Callable[..., Any]:
    """The callback of `custom_partitioning`.

    Args:
        edges: what the definition is.
        on_shards: gives the definition of a device's parts, if each factor is divided into so many.
        run: runs a function on this device.
    """

    def partition(mesh: Mesh, given: Sequence[Any], wanted: Any) -> tuple[Mesh, Callable[..., Any], NamedSharding, tuple[NamedSharding, ...]]:
        layout = _Layout(edges, mesh, [*given, wanted])
        if layout.is_plain:
            function: Callable[..., Any] = functools.partial(_plain, layout, on_shards(layout.parts))
        elif edges.kind is Kind.OWN:
            function = functools.partial(_own, layout, on_shards(layout.parts))
        else:
            function = Routed(layout, run)

        def on_a_device(*arrays: jax.Array) -> jax.Array:
            with _routes.no_mesh():
                return cast(jax.Array, function(*arrays))

        return mesh, on_a_device, layout.sharding(-1), tuple(layout.sharding(k) for k in range(len(given)))

    return partition


# ---- What a device does ----------------------------------------------------------------------------------------------------------------------------


def _plain(layout: _Layout, definition: Callable[..., Any], *arrays: jax.Array) -> jax.Array:
    return layout.summed(definition(*arrays))


def _own(layout: _Layout, definition: Callable[..., Any], *arrays: jax.Array) -> jax.Array:
    """All devices get all edges, and each has the definition on those of its own rows."""
    edges = layout.edges
    assert edges.to is not None
    axes = layout.axes["s"]
    slots = layout.extents["s"] * layout.extents.get("whole_block", 1)
    rows = Along(axes, layout.count(axes), slots)
    row = edges.to.resolve(arrays[edges.to.operand], slots, _routes.integers(slots))
    here = row - rows.first()
    is_here = (here >= 0) & (here < rows.here)
    given = list(arrays)
    given[edges.to.operand] = jnp.where(is_here, here, -1)
    result: jax.Array = definition(*given)
    if edges.first(-1) != "e":
        return result
    batches = [name for name in edges.batches if name not in edges.dims[edges.to.operand]]
    is_here = is_here.reshape(*(1 if name in batches else n for name, n in zip(edges.batches, result.shape, strict=False)), result.shape[len(edges.batches)])
    bits = _routes.bits_of(result)
    bits = jnp.where(is_here.reshape(is_here.shape + (1,) * (bits.ndim - is_here.ndim)), bits, 0)
    return _routes.from_bits(_routes.sum_bits(bits, axes), result.dtype)


def _fold(*arguments: Any) -> jax.Array:
    """The sums of rows, which are looked up as `take` does; `tables` is how many arrays say where, and a weight may follow them."""
    to, *arrays, num_rows, tables = arguments
    rows = _routes.take(*arrays[:tables])
    return jnp.zeros((num_rows, *rows.shape[1:]), rows.dtype).at[to].add(weighted(rows, *arrays[tables:]) if arrays[tables:] else rows)


def _fold_into(result: jax.Array, to: jax.Array, rows: jax.Array, *weight: jax.Array) -> jax.Array:
    return result.at[to].add(weighted(rows, *weight) if weight else rows)


@dataclasses.dataclass(frozen=True)
class _Ends:
    """Edges: the row that each leads to, None where the result has a row for each edge; the rows that it comes from; its weight."""

    to: jax.Array | None
    rows: list[jax.Array]
    weight: jax.Array | None

    @property
    def weights(self) -> tuple[jax.Array, ...]:
        return () if self.weight is None else (self.weight,)


jax.tree_util.register_dataclass(_Ends, ["to", "rows", "weight"], [])


class Routed:
    """Sums, look-ups, and products of two rows along edges."""

    def __init__(self, layout: _Layout, run: Run):
        self.layout, self.edges, self.run = layout, layout.edges, run
        self.tables = tuple(layout.along(rows.operand) for rows in self.edges.rows)
        self.along = layout.along(layout.along_edges[0])
        self.is_sum = self.edges.kind is Kind.ADD
        self.written = layout.along(-1) if self.is_sum else self.along
        self.moves = self.is_sum and bool(self.along.axes) and not layout.are_home
        # The edges of this device, and as many as are expected to need a row.
        self.slots = _routes.room(self.along.here, self.along.extent, quarters=4) if self.moves else self.along.here
        self.expected = -(-self.along.extent // self.written.parts) if self.is_sum else self.along.here
        self.of_batches = {axis for name in self.edges.batches for axis in layout.axes.get(name, ())}
        self.integers = _routes.integers(max(along.extent for along in (*self.tables, self.along, self.written)))
        differs = self.of_batches | set(self.along.axes) | set(self.written.axes)
        self.look_ups = tuple(_routes.LookUp(table, differs, self.slots, self.expected, layout.mesh.shape, run) for table in self.tables)

    def over_batches(self, function: Callable[..., Any], operands: Sequence[int | None]) -> Callable[..., Any]:
        """Under vmap for each batch that an operand has; None stands for values that have all."""
        for name in reversed(self.edges.batches):
            axes = tuple(0 if operand is None or name in self.edges.dims[operand] else None for operand in operands)
            function = jax.vmap(function, axes, axis_size=self.layout.extents[name] // self.layout.parts(name))
        return function

    def __call__(self, *arrays: jax.Array) -> jax.Array:
        edges = self.edges
        indices = [edges.to, *(rows.index for rows in edges.rows)]
        of_edges = [None if index is None else index.operand for index in indices] + [edges.weight]
        present = [operand for operand in of_edges if operand is not None]
        of_tables = [rows.operand for rows in edges.rows]
        tables = [_routes.bits_of(arrays[operand]) for operand in of_tables]
        dtypes = [arrays[operand].dtype for operand in of_tables]

        def plan(*given: jax.Array) -> Any:
            values = iter(given)
            return self.plan([None if operand is None else next(values) for operand in of_edges])

        def branch(function: Callable[..., Any]) -> Callable[..., Any]:
            return self.over_batches(functools.partial(function, dtypes), [None, *of_tables])

        resolved, planned, is_crowded = self.over_batches(plan, present)(*(arrays[operand] for operand in present))
        fast, slow = branch(self.fast), branch(self.slow)
        if is_crowded is None:
            return cast(jax.Array, fast(planned, *tables))
        crowded = lax.pmax(jnp.any(is_crowded).astype(jnp.int32), tuple(self.layout.mesh.axis_names)) > 0
        return cast(jax.Array, lax.cond(crowded, lambda resolved, _, *tables: slow(resolved, *tables), lambda _, planned, *tables: fast(planned, *tables), resolved, planned, *tables))

    def plan(self, given: list[jax.Array | None]) -> tuple[_Ends, tuple[_Ends, list[Any]], jax.Array | None]:
        """The edges as they lie; those that this device adds up, or looks up, with what it asks for; and whether that is too much. Rows written count from this device's first in the second, and from 0 in the first."""
        to, *sources, weight = given
        number = (self.along.first() + jnp.arange(self.along.here)).astype(self.integers)
        rows = [
            number if rows.index is None or source is None else rows.index.resolve(source, table.extent, self.integers)
            for rows, table, source in zip(self.edges.rows, self.tables, sources, strict=True)
        ]
        resolved = here = _Ends(None if to is None or self.edges.to is None else self.edges.to.resolve(to, self.written.extent, self.integers), rows, weight)
        crowded: list[jax.Array | None] = []
        if self.moves and here.to is not None:
            empty = [self.written.extent, *(table.extent for table in self.tables)]
            (row, *rows), weight, is_crowded = _routes.move([here.to, *here.rows], empty, weight, self.along, self.slots)
            here = _Ends(row, rows, weight)
            crowded.append(is_crowded)
        if here.to is not None:
            row = self.of_this_device(here.to)
            # Nothing is asked for an edge of others.
            rows = [jnp.where(row < self.written.here, source, table.extent) if self.written.axes else source for source, table in zip(here.rows, self.tables, strict=True)]
            here = _Ends(row, rows, here.weight)
        asked = []
        for look_up, source in zip(self.look_ups, here.rows, strict=True):
            what, is_crowded_there = look_up.ask(source)
            asked.append(what)
            crowded.append(is_crowded_there)
        found = [each for each in crowded if each is not None]
        return resolved, (here, asked), functools.reduce(jnp.logical_or, found) if found else None

    def fast(self, dtypes: Sequence[Any], planned: tuple[_Ends, list[Any]], *tables: jax.Array) -> jax.Array:
        here, asked = planned
        found = [look_up.answer(source, what, table) for look_up, source, what, table in zip(self.look_ups, here.rows, asked, tables, strict=True)]
        if here.to is not None:
            arrays = [array for source, table in found[0] for array in (source, _routes.from_bits(table, dtypes[0]))]
            return self.run(_fold, (self.written.here, len(arrays)), (here.to, *arrays, *here.weights))
        rows = [self.run(_routes.take, (), tuple(array for pair in pairs for array in pair)) for pairs in found]
        return self.combined([_routes.from_bits(each, dtype) for each, dtype in zip(rows, dtypes, strict=True)])

    def slow(self, dtypes: Sequence[Any], resolved: _Ends, *tables: jax.Array) -> jax.Array:
        """No device knows how many edges need it. All get the rows of each others' edges."""

        def rows_of(ends: _Ends) -> list[jax.Array]:
            each = zip(tables, ends.rows, self.tables, dtypes, strict=True)
            return [_routes.from_bits(_routes.rows_by_sums(table, source, along, self.asking(along)), dtype) for table, source, along, dtype in each]

        def add(result: jax.Array, ends: _Ends) -> jax.Array:
            assert ends.to is not None
            return self.run(_fold_into, (), (result, self.of_this_device(ends.to), rows_of(ends)[0], *ends.weights))

        if not self.is_sum:
            return self.combined(rows_of(resolved))
        zeros = jnp.zeros((self.written.here, *tables[0].shape[1:]), dtypes[0])
        if not self.moves:
            return add(zeros, resolved)
        everywhere = jax.tree.map(lambda each: lax.all_gather(each, self.along.axes), resolved)
        return cast(jax.Array, lax.fori_loop(0, self.along.parts, lambda k, result: add(result, jax.tree.map(lambda each: each[k], everywhere)), zeros))

    def asking(self, table: Along) -> Axes:
        """The axes along which devices that have parts of a table ask for different rows, when each goes through the same edges."""
        differs = self.of_batches if self.moves or (self.is_sum and not self.layout.are_home) else self.of_batches | set(self.along.axes)
        return tuple(axis for axis in table.axes if axis in differs)

    def of_this_device(self, to: jax.Array) -> jax.Array:
        """Rows counted from this device's first one, and as many as it has for those that others have."""
        row = to - self.written.first()
        return jnp.where((row >= 0) & (row < self.written.here), row, self.written.here)

    def combined(self, rows: list[jax.Array]) -> jax.Array:
        if self.edges.kind is Kind.TAKE:
            return rows[0]
        first, second = rows
        rank = len(self.edges.dims[-1]) - len(self.edges.batches)
        total = (first * second).sum(tuple(range(rank, first.ndim)))
        return self.layout.summed(total)
