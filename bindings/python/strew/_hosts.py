"""Arrays of other libraries as NumPy's and back, for whatever the quick way (``_native.Function``) leaves to NumPy. Nothing is copied, except
where the docstrings say so."""

import sys

import numpy as np


def _torch_to_numpy(tensor, name):
    if tensor.device.type != "cpu":
        raise ValueError(f"{name}: a tensor on {tensor.device}, expected one on the CPU: strew's kernels run there (tensor.cpu() copies)")
    if tensor.is_conj() or tensor.is_neg():
        raise ValueError(f"{name}: a view that is conjugated or negated lazily; pass tensor.resolve_conj().resolve_neg()")
    tensor = tensor.detach()
    names = {"bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"}
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype in names:
        import ml_dtypes
        import torch

        bits = tensor.view(torch.int16 if dtype == "bfloat16" else torch.uint8)
        return bits.numpy().view(getattr(ml_dtypes, dtype))
    return tensor.numpy()


def is_torch(array):
    """Whether it is a tensor of PyTorch; without importing that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_jax(array):
    """Whether it is an array of JAX; without importing that."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(array, jax.Array)


def is_array(array):
    """Whether it is an array already, and not a list or a number that becomes one."""
    return isinstance(array, np.ndarray) or is_torch(array) or is_jax(array) or hasattr(array, "__dlpack__")


def to_numpy(array, name):
    """A NumPy array on the same memory; lists and numbers become new ones."""
    if isinstance(array, np.ndarray):
        return array
    if is_torch(array):
        return _torch_to_numpy(array, name)
    if is_jax(array):
        if any(device.platform != "cpu" for device in array.devices()):
            raise ValueError(f"{name}: a jax array on {array.devices()}, expected one on the CPU: strew's kernels run there")
        return np.asarray(array)
    if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def result_to_numpy(array, name):
    """As ``to_numpy``, for an array that is written. It refuses what must not be."""
    if is_jax(array):
        raise ValueError(f"{name}: a jax array, which never changes; use the function that returns a new array")
    if is_torch(array) and array.requires_grad:
        raise ValueError(f"{name}: a tensor that requires grad, and autograd would not see the write; write into {name}.detach() if that is meant")
    if not is_array(array):
        raise TypeError(f"{name}: a {type(array).__name__}, expected an array that can be written into")
    out = to_numpy(array, name)
    if not out.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    return out


def was_written(array):
    """Tells PyTorch that its tensor has changed, so that autograd notices."""
    if is_torch(array):
        import torch

        torch.autograd.graph.increment_version(array)


def from_numpy(array, like):
    """The NumPy array as the library's whose array `like` is: PyTorch shares its memory, JAX may copy."""
    if is_torch(like):
        import torch

        if array.dtype.kind == "V":  # of ml_dtypes
            bits = array.view(np.int16 if array.dtype.itemsize == 2 else np.uint8)
            return torch.from_numpy(bits).view(getattr(torch, array.dtype.name))
        return torch.from_numpy(array)
    if is_jax(like):
        import jax.numpy

        return jax.numpy.asarray(array)
    return array
