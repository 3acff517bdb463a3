"""The exceptions of strew that Python has no class for. Wrong arguments are ValueError or TypeError, what a build lacks is
NotImplementedError, no memory is MemoryError, files are OSError."""

from __future__ import annotations

from typing import Any


class OutOfBoundsError(IndexError):
    """An index is out of bounds; nothing was written.

    Attributes:
        position: row-major number of the index position (the row of the indices), counted from 0.
        component: which entry of the index vector at that position.
        value: the index as it was given.
        bound: the largest legal value.
        source: which tensor of the call held the index, counted as the kernel binds them: results, then inputs.
    """

    def __init__(
        self, message: str, position: int | None = None, component: int | None = None, value: int | None = None, bound: int | None = None,
        source: int | None = None,
    ) -> None:
        super().__init__(message)
        self.position = position
        self.component = component
        self.value = value
        self.bound = bound
        self.source = source

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.position, self.component, self.value, self.bound, self.source)


class CompileError(RuntimeError):
    """A kernel could not be compiled although its op is legal: a bug in strew, or a machine without what the backend needs."""


class CancelledError(RuntimeError):
    """What was asked for was given up."""
