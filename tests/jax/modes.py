"""What the tests of strew.jax share: functions compiled by JAX alone, with strew's kernels for single operators, and by strew.jax.jit; comparisons, bit for bit.

Importing this module exits with status 77 when jax is absent, or strew was built without jaxlib.
"""
import os
import sys
import warnings

try:
    import jax
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import strew.jax

if not os.path.exists(strew.jax._handler.library_path()):
    print("skipped: strew was built without jaxlib")
    sys.exit(77)
strew.jax._hook.any_size = True  # the arrays of tests are small
# strew says so where it meets something in a module that it did not expect.
warnings.filterwarnings("error", message="strew.jax: module", category=RuntimeWarning)

__all__ = ["MODES", "Failures", "differs", "leaves_of", "results_of"]

MODES = ("off", "operators", "fused")


class Failures(list):
    """Messages of what was wrong, printed as they come."""

    def append(self, message):
        print(f"FAILED: {message}", flush=True)
        super().append(message)

    def check(self, condition, message):
        if not condition:
            self.append(message)


def results_of(mode, functions, **options):
    """What each of some (function, arguments) gives, compiled in that mode with these options of jax.jit: a list of lists of NumPy arrays."""
    jit = strew.jax.jit if mode == "fused" else jax.jit
    (strew.jax.enable if mode == "operators" else strew.jax.disable)()
    try:
        return [leaves_of(jit(function, **options)(*arguments)) for function, arguments in functions]
    finally:
        strew.jax.disable()


def leaves_of(tree):
    return [np.asarray(each) for each in jax.tree.leaves(tree)]


def differs(got, expected):
    """None, or how two lists of arrays differ, bit for bit; NaNs are equal to each other."""
    for number, (a, b) in enumerate(zip(got, expected, strict=True)):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"result {number} is {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        if a.tobytes() == b.tobytes():
            continue
        wrong = (bytes_of(a) != bytes_of(b)).any(axis=-1).reshape(a.shape) & ~(is_nan(a) & is_nan(b))
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"result {number}, {a.dtype}{list(a.shape)}, differs in {np.count_nonzero(wrong)} elements, first at {list(place)}: {a[place]}, expected {b[place]}"
    return None


def bytes_of(array):
    return np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, array.dtype.itemsize)


def is_nan(array):
    """Where an element is a NaN, or one of the parts of a complex number."""
    if jax.dtypes.issubdtype(array.dtype, np.complexfloating):
        return np.isnan(array)
    return np.isnan(array.astype(np.float64)) if jax.dtypes.issubdtype(array.dtype, np.floating) else np.zeros(array.shape, bool)
