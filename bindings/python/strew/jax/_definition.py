"""A function in plain jax.numpy that strew runs as one program: with gradients, under vmap, and on arrays that several devices hold."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.experimental.xla_metadata import set_xla_metadata

from . import _handler, _partition, _routes
from ._edges import Edges

__all__ = ["Arrays", "call"]

Arrays = tuple[jax.Array, ...]
_ArrayType: Any = jax.ShapeDtypeStruct  # which has no annotations


@dataclasses.dataclass(frozen=True)
class _Definition:
    """A function in plain jax.numpy, of arrays of these types, that strew runs as one program. Two that are equal have the same program."""

    function: Callable[..., Any]
    static: tuple[Any, ...]  # further arguments of the function, after the arrays
    types: tuple[jax.ShapeDtypeStruct, ...]
    edges: Edges | None  # None: devices gather the arrays
    linear: bool = True  # in all floats together: gradients need none of them
    by_xla: tuple[int, ...] = ()  # arguments whose gradients have sums in an order of XLA's own
    is_strew: bool = True  # else the function itself is run

    def __call__(self, *arrays: jax.Array) -> jax.Array:
        result: jax.Array = self.function(*arrays, *self.static)
        return result

    def with_types(self, arrays: tuple[Any, ...]) -> _Definition:
        return dataclasses.replace(self, types=tuple(_ArrayType(a.shape, a.dtype) for a in arrays))

    def on_shards(self, parts: Callable[[str], int]) -> _Definition:
        """The definition of what one of several devices has: each factor of its dims is divided into as many parts."""
        assert self.edges is not None
        types = tuple(_ArrayType(_partition.shard_shape(t.shape, dims, parts), t.dtype) for t, dims in zip(self.types, self.edges.dims[:-1], strict=True))
        static: tuple[Any, ...] = tuple(value.on_shards(parts) if isinstance(value, _Definition) else value for value in self.static)
        if self.function is _batched:
            of, axes, size = static
            static = (of, axes, size // parts(self.edges.batches[0]))
        return dataclasses.replace(self, types=types, static=static)


def _gradient(*arguments: Any) -> jax.Array:
    """Of the definition with respect to argument `number`, from the cotangent and those arguments that it needs."""
    *arrays, of, number = arguments
    cotangent, *needed = arrays
    given = iter(needed)
    whole = [jnp.zeros(t.shape, t.dtype) if of.linear and _is_float(t) else next(given) for t in of.types]
    _, transposed = jax.vjp(lambda argument: of(*whole[:number], argument, *whole[number + 1 :]), whole[number])
    result: jax.Array = transposed(cotangent)[0]
    return result


def _batched(*arguments: Any) -> jax.Array:
    """The definition on arrays of which some have a batch in front."""
    *arrays, of, axes, size = arguments
    result: jax.Array = jax.vmap(of, axes, axis_size=size)(*arrays)
    return result


def _is_float(array: Any) -> bool:
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


@functools.lru_cache(maxsize=1024)
def _program(of: _Definition, bytes_of_float: int) -> tuple[str, int, jax.ShapeDtypeStruct]:
    """The text of the module, its identity, and the type of the result. It depends on `jax_enable_x64`, and so on the bytes of a Python float."""
    with _routes.no_mesh():
        lowered = jax.jit(of, keep_unused=True).lower(*of.types)
    text = lowered.as_text()
    identity = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)
    result = lowered.out_info
    return text, identity, _ArrayType(result.shape, result.dtype)


def _varying(array: jax.Array) -> frozenset[str]:
    """The axes of shard_map's mesh along which the array differs."""
    kind = jax.typeof(array)
    axes: frozenset[str] = kind.manual_axis_type.varying if hasattr(kind, "manual_axis_type") else getattr(kind, "vma", frozenset())
    return axes


def _by_strew(of: _Definition, *arrays: jax.Array) -> jax.Array:
    text, identity, result = _program(of, jnp.result_type(float).itemsize)
    first = of.types[0]
    # What is written to is updated where it lies, if nothing else needs it.
    aliases = {0: 0} if (result.shape, result.dtype) == (first.shape, first.dtype) else {}
    call = jax.ffi.ffi_call(_handler.TARGET, result, input_output_aliases=aliases)
    name = getattr(of.function, "__name__", "function").strip("_")
    made: jax.Array = call(*arrays, identity=np.int64(identity), name=name, program=text)
    axes = frozenset().union(*(_varying(array) for array in arrays)) - _varying(made)
    varying: jax.Array = lax.pcast(made, tuple(sorted(axes)), to="varying") if axes else made
    return varying


def _on_this_device(of: _Definition, *arrays: jax.Array) -> jax.Array:
    return _by_strew(of, *arrays) if of.is_strew else of(*arrays)


def _run_local(function: Callable[..., Any], static: tuple[Any, ...], arrays: Arrays) -> jax.Array:
    """On what one of several devices has."""
    return _batchable(_Definition(function, static, (), None).with_types(arrays), arrays)


@functools.lru_cache(maxsize=1024)
def _on_all_devices(of: _Definition, bytes_of_float: int) -> Callable[..., Any]:
    """The definition as a call that XLA's partitioner asks `_partition` about where arrays are divided; on one device, and where shard_map has divided them, it is the call of strew itself."""
    function: Any = custom_partitioning(functools.partial(_on_this_device, of))
    edges = of.edges
    assert edges is not None

    def of_shards(parts: Callable[[str], int]) -> Callable[..., Any]:
        return lambda *arrays: _on_this_device(of.on_shards(parts).with_types(arrays), *arrays)

    function.def_partition(_partition.partitioner(edges, of_shards, _run_local), sharding_rule=_partition.sharding_rule(edges))
    _, identity, _ = _program(of, bytes_of_float)

    def call(*arrays: jax.Array) -> Any:
        # JAX's persistent cache sees the module, where the function is an address. Calls of equal types that do different things have to differ there.
        with set_xla_metadata(strew=str(identity)):
            return function(*arrays)

    return call


def _is_divisible(of: _Definition) -> bool:
    """Whether devices may divide the arrays. Not so inside of a shard_map that leaves axes to XLA, where JAX has no custom partitioning, nor by XLA's old partitioner."""
    if of.edges is None or not getattr(jax.config, "jax_use_shardy_partitioner", True) or any(0 in t.shape for t in of.types):
        return False
    mesh = jax.sharding.get_abstract_mesh()
    return not mesh.manual_axes or set(mesh.manual_axes) == set(mesh.axis_names)


def _batchable(of: _Definition, arrays: Arrays) -> jax.Array:
    @jax.custom_batching.custom_vmap
    def call(*given: jax.Array) -> jax.Array:
        _handler.register()
        on_cpu = _on_all_devices(of, jnp.result_type(float).itemsize) if _is_divisible(of) else functools.partial(_on_this_device, of)
        chosen: jax.Array = lax.platform_dependent(*given, cpu=on_cpu, default=of)
        return chosen

    @call.def_vmap
    def batch(size: int, is_batched: list[bool], *given: jax.Array) -> tuple[jax.Array, bool]:
        axes = tuple(0 if each else None for each in is_batched)
        edges = None if of.edges is None else of.edges.batched(axes)
        return _batchable(_Definition(_batched, (of, axes, size), (), edges, is_strew=of.is_strew).with_types(given), given), True

    result: jax.Array = call(*arrays)
    return result


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(of: _Definition, *arrays: jax.Array) -> jax.Array:
    return _batchable(of, arrays)


def _forward(of: _Definition, *arrays: jax.Array) -> tuple[jax.Array, Arrays]:
    return _run(of, *arrays), tuple(array for array in arrays if not (of.linear and _is_float(array)))


def _backward(of: _Definition, kept: Arrays, cotangent: jax.Array) -> tuple[jax.Array | None, ...]:
    gradients: list[jax.Array | None] = []
    numbers = tuple(number for number, t in enumerate(of.types) if not (of.linear and _is_float(t)))
    for number, of_argument in enumerate(of.types):
        if not _is_float(of_argument):
            gradients.append(None)
            continue
        given = (cotangent, *kept)
        edges = None if of.edges is None else of.edges.gradient(number, numbers)
        is_strew = number not in of.by_xla
        if edges is None and not is_strew:
            gradients.append(_gradient(*given, of, number))
            continue
        # A gradient of a product is linear in the cotangent, but not in all floats together.
        definition = _Definition(_gradient, (of, number), (), edges, linear=of.linear, by_xla=() if of.linear else tuple(range(1 + len(kept))), is_strew=is_strew)
        gradients.append(_run(definition.with_types(given), *given))
    return tuple(gradients)


_run.defvjp(_forward, _backward)


def call(function: Callable[..., Any], static: tuple[Any, ...], arrays: Arrays, edges: Edges, linear: bool = True, by_xla: tuple[int, ...] = ()) -> jax.Array:
    """The function of the arrays and of further arguments."""
    result: jax.Array = _run(_Definition(function, static, (), edges, linear, by_xla).with_types(arrays), *arrays)
    return result
