"""Texts about ops, tuning and kernel libraries."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, Callable, Iterator, Sequence

from . import _native
from ._kernels import Program
from ._native import Kernel

__all__ = ["Tuning", "explain", "library", "tune", "wisdom"]


def _is_op(what: Any) -> bool:
    return isinstance(what, str) and what.lstrip().startswith("strew1.")


def explain(what: str | Kernel | Program | os.PathLike[str], *, kernel: str | None = None, **options: Any) -> str:
    """What a request for an op would get: what it does, its schedule and where that comes from, the predicted time, which backends can build it.

    Args:
        what: the text of an op, a `Kernel`, a `Program`, or the path of a file that `open` reads.
        kernel: of a program or a file, the name of one kernel; None: all.
        options: as of `strew.kernel`.

    >>> print(strew.explain("strew1.gather(operand=f32[?,2] indices=i64[?] result=f32[?,2] offset_dims=[1] collapsed_slice_dims=[0] "
    ...                     "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,2] oob=error)").splitlines()[0])
    does        result[i, :] = operand[indices[i], :]
    """
    how = {name: value for name, value in options.items() if value}
    if isinstance(what, Kernel):
        return _native.explain(what.text, {**what.options, **how})
    if _is_op(what):
        return _native.explain(str(what), how)
    program = what if isinstance(what, Program) else Program(os.fspath(what), {})
    if kernel is not None and kernel not in program.kernels:
        raise ValueError(f"kernel: no '{kernel}', expected one of {', '.join(program.kernels)}")
    chosen = program.kernels if kernel is None else {kernel: program.kernels[kernel]}
    return "\n\n".join(f"{name}\n{_native.explain(op, how)}" for name, op in chosen.items())


class Tuning:
    """What a run of the tuner found.

    Attributes:
        text: what ``strew tune`` prints.
        report: what it prints with ``--json``, as a dict or a list.
        html: a page with the pictures of the report. Notebooks show it.
    """

    def __init__(self, text: str, report: str, html: str) -> None:
        self.text, self.report, self.html = text, json.loads(report), html

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        escaped = self.html.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{escaped}" width="100%" height="480" style="border:0"></iframe>'


@contextlib.contextmanager
def _bar(line: Callable[..., str], wanted: bool | None) -> Iterator[Callable[..., None] | None]:
    """A callback that keeps one line of the terminal up to date; None where stderr is not one."""
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield None
        return

    def show(*arguments: Any) -> None:
        sys.stderr.write("\r\x1b[K" + line(*arguments))
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _tuning_line(kernel: str, number: int, count: int, candidates: int, ratio: float, seconds: float, budget: float) -> str:
    part = min(seconds / budget, 1.0) if budget > 0 and budget != float("inf") else 0.0
    filled = "#" * int(30 * part)
    return f"tune [{filled:<30}] {seconds:.0f} s, {kernel or 'kernel'} ({number + 1} of {count}), {candidates} schedules, best {ratio:.2f} of the default"


def tune(
    what: str | Kernel | Program | os.PathLike[str], *, kernel: str | None = None, seconds: float | None = None, threads: int = 0,
    mode: str | None = None, dims: str | None = None, indices: str | None = None, temperature: str | None = None,
    wisdom_file: str | None = None, seed: int = 1, progress: bool | None = None,
) -> Tuning:
    """Measures schedules, and writes the fastest to a file of wisdom, which later requests find (docs/tuning.md).

    Ctrl-C ends the run and keeps what was measured.

    Args:
        what: the text of an op, a `Kernel`, a `Program`, or the path of a file that `open` reads.
        kernel: of a program or a file, the name of one kernel; None: all.
        seconds: the budget for all kernels; None: 4 for each.
        threads: of a call; 0: as many as there are cores.
        mode: "measure" (None), "estimate" or "exhaustive".
        dims: extents that ops leave open, "s0=1024,s1=8".
        indices: how indices are spread, "uniform", "zipf(1)".
        temperature: "hot" or "cold": whether calls find their data in the caches.
        wisdom_file: None: the process's (`wisdom`); "off": nothing is kept.
        seed: of the data that calls are measured with.
        progress: whether a line of stderr shows how far it is; None: if that is a terminal.
    """
    how = {"seconds": seconds, "threads": threads, "mode": mode, "dims": dims, "indices": indices, "temperature": temperature,
           "wisdom_file": wisdom_file, "seed": seed}
    with _bar(_tuning_line, progress) as callback:
        if isinstance(what, Kernel):
            return Tuning(*_native.tune_op(what.text, how, callback))
        if _is_op(what):
            return Tuning(*_native.tune_op(str(what), how, callback))
        path = what.path if isinstance(what, Program) else os.fspath(what)
        return Tuning(*_native.tune_file(path, kernel, how, callback))


def wisdom() -> str:
    """The file of measured schedules that this process reads, and that `tune` appends to; "" if there is none (docs/tuning.md).

    >>> strew.wisdom() == "" or strew.wisdom().startswith("/")
    True
    """
    return _native.wisdom_path()


def library(
    manifest: str | os.PathLike[str], folder: str | os.PathLike[str], *, jobs: int = 0, freestanding: bool = False, arch: str | None = None,
    targets: Sequence[str] = (), progress: bool | None = None,
) -> Any:
    """Builds a kernel library from a manifest, for C, C++ and TVM-FFI (docs/libraries.md): ``strew library MANIFEST -o FOLDER``.

    Args:
        manifest: the path of the manifest.
        folder: where the library is written. One of an earlier run is replaced when everything has been made.
        jobs: the most kernels that are compiled at a time; 0: the number of cores.
        freestanding: refuse kernels that need libstrew_rt or libm.
        arch: "x86_64" or "aarch64"; None: that of the targets.
        targets: in place of the manifest's.
        progress: whether a line of stderr shows how far it is; None: if that is a terminal.

    Returns:
        What was made, as ``strew library --json`` says.
    """
    with _bar(lambda done, all: f"library [{'#' * (30 * done // max(all, 1)):<30}] {done} of {all} variants", progress) as callback:
        return json.loads(
            _native.build_library(os.fspath(manifest), os.fspath(folder), jobs, freestanding, arch, list(targets), callback)
        )
