#!/usr/bin/env python3
"""Passes arrays of NumPy and JAX to strew's C interface, and results back, as DLPack tensors: the capsules that those libraries make and
take, without a copy, for every dtype that they and strew share.

    dlpack.py --strew STREW     the built program; libstrew.so lies in ../lib
"""
import argparse
import ctypes
import pathlib
import sys

try:
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROWS = ("strew1.scatter(operand={0}[5,4] indices=i32[3] updates={0}[3,4] update_window_dims=[1] inserted_window_dims=[0] "
        "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=error init=in_place)")
NUMPY = {"bool": np.bool_, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
         "i64": np.int64, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "complex64": np.complex64,
         "complex128": np.complex128}
JAX = {"bool": jnp.bool_, "i8": jnp.int8, "u8": jnp.uint8, "i32": jnp.int32, "f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32,
       "complex64": jnp.complex64, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
       "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
       "f8e8m0": ml_dtypes.float8_e8m0fnu, "f8e3m4": ml_dtypes.float8_e3m4, "f8e4m3": ml_dtypes.float8_e4m3}


class Tensor(ctypes.Structure):  # strew_tensor
    _fields_ = [("data", ctypes.c_void_p), ("dims", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("rank", ctypes.c_int32), ("dtype", ctypes.c_uint8), ("read_only", ctypes.c_uint8), ("reserved", ctypes.c_uint8 * 2)]


class Strew:
    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        self.lib.strew_status_message.restype = ctypes.c_char_p
        self.lib.strew_status_message.argtypes = [ctypes.c_void_p]
        self.lib.strew_runtime_process.restype = ctypes.c_void_p
        for name in ("strew_op_parse", "strew_prepare", "strew_get", "strew_kernel_run", "strew_tensor_from_dlpack",
                     "strew_tensor_from_dltensor", "strew_tensor_to_dlpack"):
            getattr(self.lib, name).restype = ctypes.c_void_p

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status:
            message = self.lib.strew_status_message(status).decode()
            self.lib.strew_status_free(ctypes.c_void_p(status))
            raise RuntimeError(message)

    def kernel(self, text):
        op, prepared, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("strew_op_parse", text.encode(), ctypes.byref(op))
        self.call("strew_prepare", op, None, ctypes.byref(prepared))
        self.call("strew_get", ctypes.c_void_p(self.lib.strew_runtime_process()), prepared, ctypes.c_int64(2**63 - 1), ctypes.byref(kernel))
        return kernel

    def run(self, kernel, tensors):
        self.call("strew_kernel_run", kernel, (Tensor * len(tensors))(*tensors), ctypes.c_size_t(len(tensors)), None)

    def from_array(self, array):
        """A strew_tensor on an array's memory, through the capsule that its library makes; keeps the capsule alive."""
        try:
            capsule = array.__dlpack__(max_version=(1, 1))
        except TypeError:  # a producer from before version 1
            capsule = array.__dlpack__()
        tensor = Tensor()
        name, take = (b"dltensor_versioned", "strew_tensor_from_dlpack") if is_named(capsule, b"dltensor_versioned") else (
            b"dltensor", "strew_tensor_from_dltensor")  # of a DLManagedTensor the DLTensor comes first
        self.call(take, ctypes.c_void_p(PyCapsule_GetPointer(capsule, name)), ctypes.byref(tensor))
        tensor.capsule = capsule
        return tensor


PyCapsule_IsValid = ctypes.pythonapi.PyCapsule_IsValid
PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
PyCapsule_GetPointer = ctypes.pythonapi.PyCapsule_GetPointer
PyCapsule_GetPointer.restype = ctypes.c_void_p
PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
PyCapsule_New = ctypes.pythonapi.PyCapsule_New
PyCapsule_New.restype = ctypes.py_object
PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def is_named(capsule, name):
    return bool(PyCapsule_IsValid(capsule, name))


class Passed:
    """What strew passes on, as an object that np.from_dlpack takes."""

    def __init__(self, strew, tensor, releases):
        self.strew, self.tensor, self.releases = strew, tensor, releases
        self.callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: releases.append(1))

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        managed = ctypes.c_void_p()
        self.strew.call("strew_tensor_to_dlpack", ctypes.byref(self.tensor), self.callback, None, ctypes.byref(managed))
        return PyCapsule_New(managed, b"dltensor_versioned", None)


def values(dtype, shape, seed):
    raw = np.random.default_rng(seed).integers(0, 2, shape) if np.dtype(dtype) == np.bool_ else \
        np.random.default_rng(seed).integers(1, 8, shape)
    return raw.astype(dtype)


def expected(table, indices, updates):
    table = table.copy()
    for row, index in enumerate(indices):
        table[index] = updates[row]
    return table


def check(name, got, wanted, failures):
    if np.asarray(got).tobytes() != np.asarray(wanted).tobytes():
        failures.append(f"{name}: got {got}, expected {wanted}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    strew = Strew(pathlib.Path(parser.parse_args().strew).resolve().parents[1] / "lib/libstrew.so")
    failures, cases = [], 0
    indices = np.array([3, 0, 3], np.int32)
    for name, dtype in NUMPY.items():
        kernel = strew.kernel(ROWS.format(name))
        table, updates = values(dtype, (5, 4), 1), values(dtype, (3, 4), 2)
        wanted = expected(table, indices, updates)
        strew.run(kernel, [strew.from_array(each) for each in (table, indices, updates)])
        check(f"numpy {name}", table, wanted, failures)
        cases += 1
    # Strides: the updates are every second column of the transpose of something larger.
    strided = ROWS.format("f32").replace("updates=f32[3,4]", "updates=f32[3,4]{?,?}")
    larger = values(np.float32, (8, 3), 3)
    table, updates = values(np.float32, (5, 4), 1), larger.T[:, ::2]
    wanted = expected(table, indices, updates)
    strew.run(strew.kernel(strided), [strew.from_array(each) for each in (table, indices, updates)])
    check("numpy strides", table, wanted, failures)
    # A read-only array can be an input, and no result.
    updates = np.ascontiguousarray(updates)
    updates.flags.writeable = False
    strew.run(strew.kernel(ROWS.format("f32")), [strew.from_array(each) for each in (table, indices, updates)])
    table.flags.writeable = False
    try:
        strew.run(strew.kernel(ROWS.format("f32")), [strew.from_array(each) for each in (table, indices, updates)])
        failures.append("numpy: a read-only table was written")
    except RuntimeError as refused:
        if "read" not in str(refused):
            failures.append(f"numpy: a read-only table: {refused}")
    cases += 3
    # JAX's arrays are read-only inputs.
    jax.config.update("jax_enable_x64", False)
    for name, dtype in JAX.items():
        updates = jnp.asarray(values(dtype, (3, 4), 2))
        table = values(dtype, (5, 4), 1)
        wanted = expected(table, indices, np.asarray(updates))
        kernel = strew.kernel(ROWS.format(name))
        codes = table.view(np.uint8) if table.dtype.kind == "V" or table.dtype.name in ("bfloat16",) or "float8" in table.dtype.name else table
        result = strew.from_array(codes)
        taken = strew.from_array(updates)
        result.dtype, result.dims, result.strides = taken.dtype, (ctypes.c_int64 * 2)(5, 4), None
        strew.run(kernel, [result, strew.from_array(jnp.asarray(indices)), taken])
        check(f"jax {name}", table, wanted, failures)
        cases += 1
    # Back: NumPy takes what strew passes on, sees the same memory, and lets go of it.
    for name, dtype in NUMPY.items():
        array, releases = values(dtype, (5, 4), 1), []
        passed = Passed(strew, strew.from_array(array), releases)  # has the function that is called when NumPy lets go
        back = np.from_dlpack(passed)
        if back.ctypes.data != array.ctypes.data or back.dtype != array.dtype or back.shape != array.shape:
            failures.append(f"to numpy {name}: {back.dtype} {back.shape}, expected {array.dtype} {array.shape} at the same address")
        del back
        if releases != [1]:
            failures.append(f"to numpy {name}: released {len(releases)} times, expected once")
        cases += 1
    print("\n".join(failures[:20]) or f"{cases} cases")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
