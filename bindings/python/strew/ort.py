"""strew in ONNX Runtime: an execution provider that runs the indexed operators of unmodified models.

    import onnxruntime as ort, strew.ort
    session = ort.InferenceSession("model.onnx", strew.ort.session_options())

Scatter, ScatterElements, ScatterND, TensorScatter, Gather, GatherElements and GatherND run on strew's kernels, and what strew folds into them (the indices' arithmetic, the
rows that are looked up, elementwise work) runs with them as one; ONNX Runtime runs the rest. Results are the same bits on any number of threads; a bad index is an error before
anything is written. `report` says which node runs where, and why. docs/onnxruntime.md has the operators, the policy and the figures.
"""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnxruntime

__all__ = ["PROVIDER", "NodeReport", "Report", "library_path", "register", "report", "session_options"]

PROVIDER = "StrewExecutionProvider"
"""The name of the execution provider."""

_numbers = itertools.count()


def library_path() -> str:
    """The path of the library that ONNX Runtime opens, for `onnxruntime.register_execution_provider_library` and for hosts in other languages.

    >>> library_path().endswith("libstrew_ep.so")
    True
    """
    return str(pathlib.Path(__file__).parent / "onnxruntime_provider" / "libstrew_ep.so")


def register() -> None:
    """Registers the library with ONNX Runtime, once in a process; `session_options` does this by itself.

    Raises RuntimeError (onnxruntime's class `Fail`) if ONNX Runtime is older than 1.24, or if its interface is not the one that strew knows.
    """
    import onnxruntime

    if not any(device.ep_name == PROVIDER for device in onnxruntime.get_ep_devices()):
        onnxruntime.register_execution_provider_library(PROVIDER, library_path())


def session_options(
    options: onnxruntime.SessionOptions | None = None,
    *,
    ops: str | list[str] | None = None,
    threads: int = 0,
    cache_dir: str | os.PathLike[str] | None = None,
    verify: int = 0,
    wisdom: str | os.PathLike[str] | None = None,
) -> onnxruntime.SessionOptions:
    """Options of a session, with strew's provider added: `options`, which are changed, or new ones.

    ops: the operators that strew may run, such as ["ScatterND", "ScatterElements"]; None: all that it knows.
    threads: the most threads of a call, 0 to 1024; they are those of the session. 0: all of them.
    cache_dir: the folder in which compiled kernels are kept, so that the next process need not compile; None: as the variable STREW_CACHE says.
    verify: every so-manieth call of a kernel is run on the reference, too, and compared; 0: none is.
    wisdom: a file of measured schedules (`strew tune`); None: that of this user.

    An option with another value makes `onnxruntime.InferenceSession` raise, and the message names the option, its value and what was expected.
    """
    import onnxruntime

    register()
    options = onnxruntime.SessionOptions() if options is None else options
    given = {
        "session": f"{os.getpid()}.{next(_numbers)}",
        "ops": ",".join([ops] if isinstance(ops, str) else ops or []),
        "threads": str(threads),
        "cache_dir": os.fspath(cache_dir) if cache_dir is not None else "",
        "verify": str(verify),
        "wisdom": os.fspath(wisdom) if wisdom is not None else "",
    }
    devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == PROVIDER]
    options.add_provider_for_devices(devices, {name: value for name, value in given.items() if value})
    return options


@dataclasses.dataclass(frozen=True)
class NodeReport:
    """What became of a node of the model, as ONNX Runtime's own optimisations left it."""

    node: str
    """Its name; "" if it has none."""
    operator: str
    """The operator's name, "ScatterND"."""
    runs: str
    """Who runs it: "strew" or "ONNX Runtime"."""
    why: str
    """A few words: it has a kernel of its own; it is one of several nodes that run as one; or why it stays with ONNX Runtime."""


@dataclasses.dataclass(frozen=True)
class Report:
    """What strew does in a session."""

    nodes: tuple[NodeReport, ...]
    """The nodes with indexed operators, and those that run with them as one."""
    in_place: int
    """How often a scatter, as a kernel of its own, has updated a tensor where it lay."""
    copied: int
    """How often it had to copy the tensor first, because something else reads it or because it is an input of the model."""

    def __str__(self) -> str:
        lines = [f"{each.runs:<12}  {each.operator:<16}  {each.node:<24}  {each.why}" for each in self.nodes]
        return "\n".join([*lines, f"scatters in place: {self.in_place}, after a copy: {self.copied}"])


def report(session: onnxruntime.InferenceSession) -> Report:
    """Which nodes of the session's model strew runs, and why not the others.

    Raises ValueError if the session has not been made with options from `session_options`.
    """
    name = session.get_provider_options().get(PROVIDER, {}).get("session", "")
    library = ctypes.CDLL(library_path())
    library.strew_ep_report.restype = ctypes.c_int64
    library.strew_ep_report.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    size = library.strew_ep_report(name.encode(), None, 0)
    if size < 0:
        raise ValueError("session: it was not made with strew.ort.session_options(), expected one that was")
    text = ctypes.create_string_buffer(size + 1)
    library.strew_ep_report(name.encode(), text, size + 1)
    found: dict[str, Any] = json.loads(text.value)
    return Report(tuple(NodeReport(**each) for each in found["nodes"]), found["in_place"], found["copied"])
