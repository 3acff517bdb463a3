"""strew in PyTorch: its kernels in the place of PyTorch's own indexed operators on the CPU.

    import torch, strew.torch
    strew.torch.enable()
    x = torch.zeros(10_000, 64).index_add_(0, torch.randint(10_000, (300_000,)), torch.randn(300_000, 64))

Programs stay as they are: models, autograd, PyTorch Geometric. Results are the same bits on any number of threads. What strew does not run with PyTorch's own results goes to
PyTorch's kernel before anything is written; `report` says what and why. Operators that PyTorch lacks are functions here: `spmm`, `spmm_csr` and `sddmm`, what a layer of a
graph network does, in one pass; `kv_append_`, `moe_permute` and `moe_unpermute`, of language models. `scatter` is a module with the functions of torch_scatter. `backend` and
`inductor_options` are for `torch.compile`. docs/torch.md has the operators, the bits and the errors.

The import raises ImportError if strew was not built for the installed version of PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import (
    _batching,  # noqa: F401  registers rules
    scatter,
)
from ._operators import kv_append, kv_append_, moe_permute, moe_unpermute, sddmm, spmm, spmm_csr
from ._override import Report, disable, enable, is_enabled, report

if TYPE_CHECKING:
    from ._compile import backend, inductor_options

__all__ = [
    "Report", "backend", "disable", "enable", "inductor_options", "is_enabled", "kv_append", "kv_append_", "moe_permute", "moe_unpermute", "report", "scatter", "sddmm", "spmm", "spmm_csr",
]


def __getattr__(name: str) -> Any:
    """What needs the modules of torch.compile, which take a second to load."""
    if name in ("backend", "inductor_options"):
        from . import _compile

        return getattr(_compile, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
