"""`strew.jax.jit`: `jax.jit` of a function whose name says what strew may do with its modules."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import jax

from . import _hook

__all__ = ["jit"]

_MARKS = {"xla": _hook.FUSED, "strew": _hook.OWN_NUMERICS}
# A function's copies, by mark: `jit` of the same function twice is the same function to JAX's caches, which would compile it again otherwise.
_copies: weakref.WeakKeyDictionary[Callable[..., Any], dict[str, Callable[..., Any]]] = weakref.WeakKeyDictionary()


def jit(function: Callable[..., Any] | None = None, /, *, numerics: str = "xla", **options: Any) -> Any:
    """`jax.jit`, for a function of which strew runs indexed operations and, in one pass with them, what lies around them: index arithmetic, look-ups, segments, elementwise work.

    It works with and without `enable`. What counts is the outermost jit: a function that another `jax.jit` calls is compiled as part of that one.

    Args:
        function: as for jax.jit; without it, the result is a decorator.
        numerics: "xla": results have XLA's bits, so functions such as exp and tanh, and products that XLA adds without rounding them, stay with XLA. "strew": strew's kernels may
            do these, too, correctly rounded, and each operation is rounded by itself.
        options: those of jax.jit: static_argnums, donate_argnums and others.

    Returns:
        What jax.jit returns, with `lower`, `trace`, `eval_shape` and `clear_cache`.

    Raises:
        ValueError: numerics is another word.
        TypeError: function cannot be called; or jax.jit does not have an option.
        RuntimeError: as for `enable`.

    >>> import jax.numpy as jnp, strew.jax
    >>> @strew.jax.jit
    ... def messages(table, source, target):
    ...     return jnp.zeros_like(table).at[target].add(2 * table[source])
    >>> messages(jnp.arange(3.0), jnp.array([2, 1, 2]), jnp.array([0, 0, 1]))
    Array([6., 4., 0.], dtype=float32)
    """
    if numerics not in _MARKS:
        raise ValueError(f"numerics: it is {numerics!r}, expected 'xla' or 'strew'")
    if function is None:
        return functools.partial(jit, numerics=numerics, **options)
    if not callable(function):
        raise TypeError(f"function: it is {function!r}, expected something that can be called")
    _hook.install()
    jitted = jax.jit(_marked(function, _MARKS[numerics]), **options)
    for name in ("__name__", "__wrapped__"):  # what users see is their function
        setattr(jitted, name, function if name == "__wrapped__" else _name_of(function))
    return jitted


def _name_of(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__name__", "function")


def _marked(function: Callable[..., Any], mark: str) -> Callable[..., Any]:
    """The same function with a mark in its name."""
    if not isinstance(function, types.FunctionType):

        @functools.wraps(function, updated=())
        def marked(*arguments: Any, **keywords: Any) -> Any:
            return function(*arguments, **keywords)

        marked.__name__ = _name_of(function) + mark
        return marked
    copies = _copies.setdefault(function, {})
    if mark not in copies:
        copy = types.FunctionType(function.__code__, function.__globals__, function.__name__ + mark, function.__defaults__, function.__closure__)
        copy.__dict__.update(function.__dict__)
        for name in ("__kwdefaults__", "__annotations__", "__doc__", "__module__", "__qualname__"):
            setattr(copy, name, getattr(function, name))
        copies[mark] = copy
    return copies[mark]
