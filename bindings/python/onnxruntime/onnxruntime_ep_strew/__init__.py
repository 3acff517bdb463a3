"""strew's execution provider as the packages of ONNX Runtime's plugin providers offer theirs: where its library lies, and what its provider is called.

    import onnxruntime as ort, onnxruntime_ep_strew as ep
    ort.register_execution_provider_library(ep.get_ep_name(), ep.get_library_path())
    devices = [device for device in ort.get_ep_devices() if device.ep_name == ep.get_ep_name()]
    options = ort.SessionOptions()
    options.add_provider_for_devices(devices, {})
    session = ort.InferenceSession("model.onnx", options)

ONNX Runtime 1.24 or later is to be installed; this package does not install it, because it comes in several packages. `strew.ort`, which does these steps as one, has a report of
what runs where, too.
"""

from __future__ import annotations

import strew.ort

__all__ = ["get_ep_name", "get_ep_names", "get_library_path"]


def get_library_path() -> str:
    """The path of the library that ONNX Runtime opens.

    >>> get_library_path() == strew.ort.library_path()
    True
    """
    return strew.ort.library_path()


def get_ep_names() -> list[str]:
    """The names of the providers in the library; there is one.

    >>> get_ep_names()
    ['StrewExecutionProvider']
    """
    return [strew.ort.PROVIDER]


def get_ep_name() -> str:
    """The name of the provider, for libraries that have one.

    >>> get_ep_name()
    'StrewExecutionProvider'
    """
    return strew.ort.PROVIDER
