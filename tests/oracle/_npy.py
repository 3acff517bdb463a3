"""np.load for threads. NumPy parses the header of a file by ast.literal_eval, which CPython before 3.12 fails in now and then where two threads are
in it at once (https://github.com/python/cpython/issues/106905: "AST constructor recursion depth mismatch")."""
import threading

import numpy as np

_lock = threading.Lock()


def load(path):
    with _lock:
        return np.load(path)
