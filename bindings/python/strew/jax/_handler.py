"""The function that XLA calls where a module has a call of strew: the custom call target "strew", in libstrew_jax.so."""

from __future__ import annotations

import ctypes
import pathlib
import threading
from typing import Any

import jax.ffi

__all__ = ["TARGET", "library_path", "register"]

TARGET = "strew"
"""The name of the custom call target. Its attributes are identity (i64, a hash of the program), name (string, for messages) and program (string, the text of a module)."""

_lock = threading.Lock()
_library: ctypes.CDLL | None = None


def library_path() -> str:
    """The path of the library with the handler.

    >>> library_path().endswith("libstrew_jax.so")
    True
    """
    return str((pathlib.Path(__file__).parent.parent / "jax_handler" / "libstrew_jax.so").absolute())


def register() -> None:
    """Registers the target with XLA, once in a process. JAX's backends are not initialised by it, so it comes before `jax.distributed.initialize`, too.

    Raises:
        OSError: this installation of strew has no handler, because it was built without jaxlib.
        Exception: of jaxlib's, if the handler was built for another version of XLA's foreign function interface; it names both.

    >>> register()
    """
    global _library
    with _lock:
        if _library is None:
            library = ctypes.CDLL(library_path())
            capsule: Any = jax.ffi.pycapsule
            jax.ffi.register_ffi_target(TARGET, capsule(library.strew_jax_call), platform="cpu")
            _library = library
