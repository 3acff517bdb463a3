"""The library of C++ for each version of PyTorch (bindings/torch), which has strew's kernels, and the switch for those in the place of PyTorch's own."""

from __future__ import annotations

import contextlib
import ctypes
import json
import pathlib
import re
from collections.abc import Iterator

import torch

from .. import _native  # noqa: F401  loads libstrew, which the library needs

__all__ = ["Report", "disable", "enable", "is_enabled", "report"]

_LIBRARIES = pathlib.Path(__file__).parent.parent / "torch_kernels"
_enabled = False


def _load() -> ctypes.CDLL:
    version = ".".join(re.split(r"[.+a-z]", torch.__version__)[:2])
    path = _LIBRARIES / f"libstrew_torch-{version}.so"
    if not path.exists():
        built = sorted(each.stem.split("-")[1] for each in _LIBRARIES.glob("libstrew_torch-*.so"))
        raise ImportError(
            f"strew.torch has no kernels for torch {torch.__version__}, only for {', '.join(built) or 'no version'}; "
            "install one of these, or build strew with -DSTREW_TORCH=SITE_PACKAGES/torch"
        )
    kernels = ctypes.CDLL(str(path))
    kernels.strew_torch_enable.restype = kernels.strew_torch_enable_here.restype = kernels.strew_torch_report.restype = ctypes.c_size_t
    built_for = "{}.{}".format(*divmod(kernels.strew_torch_built_for(), 1000))
    if built_for != version:
        raise ImportError(f"{path} was built for torch {built_for}, and torch is {torch.__version__}")
    return kernels


# When the package is imported: functions that torch.compile traces cannot open a library.
_kernels = _load()


def enable() -> None:
    """From now on, strew's kernels run PyTorch's indexed operators on the CPU, in the whole process.

    The first call puts the kernels in their place, and belongs at the beginning of a program, before other threads use PyTorch. Later calls of `enable` and
    `disable` may come at any time, also while other threads run operators.

    Raises:
        RuntimeError: PyTorch refused them.

    >>> import torch, strew.torch
    >>> strew.torch.enable()
    >>> torch.zeros(3).index_add_(0, torch.tensor([2, 0, 2]), torch.ones(3))
    tensor([1., 0., 2.])
    >>> strew.torch.disable()
    """
    _switch(True)


def disable() -> None:
    """Calls go to PyTorch's own kernels again."""
    if _enabled:
        _switch(False)


def is_enabled() -> bool:
    """Whether `enable` was called, and `disable` was not since."""
    return _enabled


@contextlib.contextmanager
def here() -> Iterator[None]:
    """Strew's kernels run PyTorch's operators in this thread, whether `enable` was called or not."""
    text = ctypes.create_string_buffer(1000)
    if _kernels.strew_torch_enable_here(1, text, ctypes.c_size_t(len(text))) != 0:
        raise RuntimeError(f"strew.torch: {text.value.decode()}")
    try:
        yield
    finally:
        _kernels.strew_torch_enable_here(0, text, ctypes.c_size_t(len(text)))


def _switch(on: bool) -> None:
    global _enabled
    text = ctypes.create_string_buffer(1000)
    if _kernels.strew_torch_enable(int(on), text, ctypes.c_size_t(len(text))) != 0:
        raise RuntimeError(f"strew.torch: {text.value.decode()}")
    _enabled = on


class Report(dict):  # type: ignore[type-arg]
    """What became of the calls of each operator, by its name ("aten::index_add_", "aten::index_add.out"): a dict with "replaced", the number of calls that strew ran, and
    "handed over", a dict from the reason to the number of calls that went to PyTorch's kernel.

    >>> strew.torch.Report({"aten::index_add_": {"replaced": 2, "handed over": {"a tensor has no elements or no dims": 1}}})
    aten::index_add_: strew ran 2
        1 went to PyTorch: a tensor has no elements or no dims
    """

    def __repr__(self) -> str:
        lines = []
        for name, counts in self.items():
            if not counts["replaced"] and not counts["handed over"]:
                continue
            lines.append(f"{name}: strew ran {counts['replaced']}")
            lines += [f"    {count} went to PyTorch: {reason}" for reason, count in counts["handed over"].items()]
        return "\n".join(lines) or "no calls"


def report(clear: bool = False) -> Report:
    """What became of the calls of the operators since `enable`.

    Args:
        clear: count from zero again.
    """
    text = ctypes.create_string_buffer(_kernels.strew_torch_report(None, ctypes.c_size_t(0)) + 10_000)  # counts may grow meanwhile
    _kernels.strew_torch_report(text, ctypes.c_size_t(len(text)))
    counts = Report(json.loads(text.value))
    if clear:
        _kernels.strew_torch_clear_report()
    return counts
