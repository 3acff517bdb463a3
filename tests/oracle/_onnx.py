"""What the oracles about ONNX files share: elements of every type, running strew on a model, comparing results, counting cases.

Importing this module exits with status 77 when onnx, numpy or ml_dtypes is absent.
"""

import os
import subprocess
import sys
import threading

try:
    import ml_dtypes  # noqa: F401  (onnx's helpers need it for the narrow types)
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

__all__ = ["Oracle", "TYPES", "as_stored", "helper", "np", "numpy_helper", "onnx", "save_array", "TensorProto"]

# ONNX type -> item type of the .npy file strew writes. The items of types NumPy lacks are raw.
TYPES = {
    "FLOAT": "<f4", "UINT8": "|u1", "INT8": "|i1", "UINT16": "<u2", "INT16": "<i2", "INT32": "<i4", "INT64": "<i8", "STRING": "<U5",
    "BOOL": "|b1", "FLOAT16": "<f2", "DOUBLE": "<f8", "UINT32": "<u4", "UINT64": "<u8", "COMPLEX64": "<c8", "COMPLEX128": "<c16",
    "BFLOAT16": "|V2",
}


def as_stored(array):
    """The array as .npy files of strew hold it: types of ml_dtypes as raw items, strings as <U."""
    array = np.asarray(array)
    if array.dtype.kind in "OST":
        return np.array([v.decode() if isinstance(v, bytes) else str(v) for v in array.ravel().tolist()], dtype="<U64").reshape(array.shape)
    if array.dtype.kind == "V" or array.dtype.name == "bfloat16":
        return np.frombuffer(array.tobytes(), f"|V{array.dtype.itemsize}").reshape(array.shape)
    return array


def save_array(path, array):
    np.save(path, as_stored(array))


class Oracle:
    """Runs strew in `folder` and remembers what went wrong."""

    def __init__(self, strew, folder):
        self.strew, self.folder = strew, folder
        self.failures, self.cases = [], 0
        self.lock = threading.Lock()

    def count(self, failure):
        with self.lock:
            self.cases += 1
            if failure:
                self.failures.append(failure)

    def run(self, model, inputs, backend, folder):
        """(arrays, None) of one run, or (None, message). `inputs`: files. One array per output of the model."""
        path = os.path.join(folder, "model.onnx")
        if not os.path.exists(path):
            onnx.save(model, path)
        outs = [os.path.join(folder, f"out_{backend}_{i}.npy") for i in range(len(model.graph.output))]
        command = [self.strew, "run", path, "--backend", backend]
        for flag, files in (("--input", inputs), ("--output", outs)):
            command += [flag, *files] if files else []
        result = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if result.returncode != 0:
            return None, f"exit {result.returncode}: {result.stderr.strip()}"
        return [np.load(out) for out in outs], None

    def report(self, what):
        for failure in self.failures[:20]:
            print(failure)
        print(f"{what}, {len(self.failures)} failed")
        return 1 if self.failures else 0
