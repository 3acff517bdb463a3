"""What became of the indexed operations of the modules that JAX compiled."""

from __future__ import annotations

import collections
import dataclasses
import threading

__all__ = ["Kept", "ModuleReport", "Replaced", "Report", "record", "report"]

_MOST_MODULES = 1000  # of which a process remembers the youngest
_modules: collections.deque[ModuleReport] = collections.deque(maxlen=_MOST_MODULES)
_lock = threading.Lock()


@dataclasses.dataclass(frozen=True)
class Replaced:
    """A part of a module that one call of strew does now."""

    name: str
    """The name of its first kernel, "main.scatter"."""
    location: str
    """Where it stood, "module:5: stablehlo.scatter": the line of `lower().as_text()`, and what stood there."""
    operations: tuple[str, ...]
    """The indexed operations in it, ("stablehlo.scatter",)."""


@dataclasses.dataclass(frozen=True)
class Kept:
    """An indexed operation that XLA runs."""

    operation: str
    """Its name, "stablehlo.gather"."""
    location: str
    """Where it stands, as in `Replaced`; "" if it is about all operations of that name."""
    reason: str
    """Why strew leaves it to XLA: one sentence."""


def _place(location: str) -> str:
    """Without the operation's name."""
    return location.rpartition(": ")[0] or location or "module"


@dataclasses.dataclass(frozen=True)
class ModuleReport:
    """A module with indexed operations, as JAX gave it to the compiler."""

    module: str
    """Its name: "jit_" and the name of the function."""
    level: str
    """"operators": `enable` was called, so indexed operations were looked at one by one; "fused": the function is of `strew.jax.jit`, so also what lies around them."""
    replaced: tuple[Replaced, ...]
    """What strew runs."""
    kept: tuple[Kept, ...]
    """What stays with XLA."""

    def __str__(self) -> str:
        lines = [f"{self.module} ({self.level}): strew runs {len(self.replaced)}, XLA {len(self.kept)}"]
        lines += [f"    strew  {_place(each.location)}  {', '.join(each.operations)} ({each.name})" for each in self.replaced]
        lines += [f"    XLA    {_place(each.location)}  {each.operation}: {each.reason}" for each in self.kept]
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Report:
    """The modules with indexed operations that JAX compiled, the oldest first.

    >>> print(Report((ModuleReport("jit_f", "operators", (Replaced("main", "module:5: stablehlo.scatter", ("stablehlo.scatter",)),), ()),)))
    jit_f (operators): strew runs 1, XLA 0
        strew  module:5  stablehlo.scatter (main)
    """

    modules: tuple[ModuleReport, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.modules)) or "no modules"


def record(module: ModuleReport) -> None:
    with _lock:
        _modules.append(module)


def report(clear: bool = False) -> Report:
    """What strew replaced in the modules that JAX compiled since `enable` or `jit` was first called, and what not, and why. Modules without indexed operations are not among them; the
    youngest 1,000 are remembered.

    Args:
        clear: forget them.

    >>> import jax, strew.jax
    >>> _ = strew.jax.report(clear=True)
    >>> print(strew.jax.report())
    no modules
    """
    with _lock:
        found = Report(tuple(_modules))
        if clear:
            _modules.clear()
    return found
