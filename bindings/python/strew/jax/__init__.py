"""strew in JAX: its kernels in the place of XLA's gathers, scatters and dynamic slices on the CPU.

    import jax, strew.jax
    strew.jax.enable()

Programs stay as they are: jit, grad, vmap, scan, while, cond, remat, donated buffers, ahead-of-time compilation, the persistent cache. Results have XLA's own bits, on any number
of threads; what strew cannot do with these bits, or not faster, stays with XLA, and `report` says what and why. `jit` is `jax.jit` for functions of which strew also runs, in one
pass, what lies around their indexed operations: arithmetic, look-ups, segments. `segment_sum`, `spmm`, `embedding_bag` and `kv_append` are functions with gradients for what programs
want in one pass by name. docs/jax.md has what is replaced, the bits and the limits.

The environment variable STREW_JAX=1 does what `enable` does, when this module is imported. The import initialises no backend of JAX.
"""

from __future__ import annotations

import os
import warnings

from ._hook import disable, enable, is_enabled
from ._jit import jit
from ._report import Kept, ModuleReport, Replaced, Report, report
from .functions import embedding_bag, kv_append, segment_sum, spmm

__all__ = ["Kept", "ModuleReport", "Replaced", "Report", "disable", "embedding_bag", "enable", "is_enabled", "jit", "kv_append", "report", "segment_sum", "spmm"]


def _read_environment() -> None:
    value = os.environ.get("STREW_JAX", "")
    if value == "1":
        enable()
    elif value not in ("", "0"):
        warnings.warn(f"environment variable STREW_JAX: it is {value!r}, expected 0 or 1; it counts as 0", stacklevel=3)


_read_environment()
