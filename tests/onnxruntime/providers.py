"""What the tests of strew's execution provider share: models from a few words, sessions with and without strew, comparisons.

Importing this module exits with status 77 when onnx or onnxruntime is absent.
"""
import sys

try:
    import numpy as np
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import strew.ort

__all__ = ["Failures", "TensorProto", "differs", "helper", "make_model", "np", "onnx", "ort", "runs", "session", "strew", "value"]


def value(name, dtype, dims):
    return helper.make_tensor_value_info(name, dtype, dims)


def make_model(nodes, inputs, outputs, opset=18, initializers=(), domains=()):
    """A model of these nodes. Its IR version is one that ONNX Runtime of two years ago reads."""
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(helper.make_graph(nodes, "graph", inputs, outputs, list(initializers)), opset_imports=opsets, ir_version=13 if opset > 23 else 10)


def session(model, with_strew=True, threads=1, optimise=True, **options):
    """A session of a model or of its bytes; `options`: of strew.ort.session_options()."""
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.log_severity_level = 4
    if not optimise:
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if with_strew:
        strew.ort.session_options(settings, **options)
    return ort.InferenceSession(model if isinstance(model, bytes) else model.SerializeToString(), settings)


def runs(with_strew):
    """Per operator of a session's report, who runs it."""
    return {(each.node, each.operator): each.runs for each in strew.ort.report(with_strew).nodes}


def differs(got, expected):
    """None, or how two lists of arrays differ, bit for bit; NaNs are equal to each other."""
    for number, (a, b) in enumerate(zip(got, expected, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"output {number} is {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        if a.tobytes() == b.tobytes() or (a.dtype.kind in "OSU" and a.tolist() == b.tolist()):
            continue
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else a == b
        if not same.all():
            place = tuple(int(i) for i in np.argwhere(~same)[0])
            return f"output {number} differs in {np.count_nonzero(~same)} of {a.size} elements, first at {list(place)}: {a[place]}, expected {b[place]}"
    return None


class Failures(list):
    """What went wrong, printed at the end."""

    def check(self, is_right, message):
        if not is_right:
            self.append(message)

    def report(self, cases):
        for each in self:
            print("FAILED", each)
        print(f"{cases} cases, {len(self)} failures")
        return 1 if self else 0
