"""strew: gathers and scatters at the speed of memory, with the same bits on any number of threads.

    import numpy as np, strew
    table, rows, updates = np.zeros((1000, 64), np.float32), np.array([3, 5, 3]), np.ones((3, 64), np.float32)
    strew.add_at(table, rows, updates)        # numpy.add.at

Functions take arrays of NumPy, PyTorch (CPU) and JAX (CPU) without a copy, and return what they are given.
"""

from . import _native  # first: it says why it cannot be loaded, where it cannot
from . import _functions, _kernels, _tuning
from ._errors import CancelledError, CompileError, OutOfBoundsError
from ._functions import *  # noqa: F403
from ._kernels import *  # noqa: F403
from ._tuning import *  # noqa: F403

__all__ = ["CancelledError", "CompileError", "OutOfBoundsError", *_functions.__all__, *_kernels.__all__, *_tuning.__all__]
