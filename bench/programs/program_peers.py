"""The peers of bench_programs: whole files through strew and ONNX Runtime, and the functions that they were written from in eager PyTorch and compiled by JAX.

A peer yields (variant, function that prepares it, note); preparing returns the call and what reads its results: see ../peers/sampling.py.
"""
import os

import numpy as np

from models import model


class ProgramData:
    """A case, for Runner. Its inputs are the same in each call."""
    K = 1

    def __init__(self, case, folder):
        self.case, self.model = case, model(case["name"])
        self.path = os.path.join(folder, "model" + self.model.file)
        self.expected = self.model.expected(self.model.inputs)
        self.tolerance = 1e-4

    def differs(self, got):
        """Elements of the results that are wrong."""
        wrong = 0
        for want, have in zip(self.expected, got, strict=True):
            have = np.asarray(have)
            if have.shape != want.shape or have.dtype != want.dtype:
                return max(1, want.size)
            scale = np.maximum(1, np.abs(np.where(np.isfinite(want), want, 0)))
            with np.errstate(invalid="ignore"):
                near = (have == want) | (np.abs(have - want) <= self.tolerance * scale)
            wrong += int(np.count_nonzero(~near))
        return wrong


def kept(call):
    """A call that keeps its results until the next one, and what returns them."""
    last = [None]

    def run(_):
        last[0] = call()
    return run, lambda: last[0]


class StrewPeer:
    """strew.open(file).run(inputs), as users call it."""

    def __init__(self, T):
        import strew
        strew.set_threads(T)
        self.strew, self.version = strew, "this"

    def variants(self, D):
        def prepare():
            program = self.strew.open(D.path)
            names = [port.name for port in program.inputs]
            inputs = dict(zip(names, D.model.inputs.values(), strict=True))
            return kept(lambda: list(program.run(inputs, compile="blocking").values()))
        yield "open().run()", prepare, ""


class KernelPeer(StrewPeer):
    """The kernel in the file alone, on arrays that are ready."""

    def variants(self, D):
        if D.model.kernel is None:
            return
        op, arrays, result = D.model.kernel(D.model.inputs)
        D.expected = [result]

        def prepare():
            kernel = self.strew.kernel(op, compile="blocking")
            given = [arrays[name] for name in kernel.inputs]
            return kept(lambda: [kernel(*given)])
        yield "the kernel alone", prepare, ""


class OrtPeer:
    def __init__(self, T):
        import onnxruntime
        self.ort, self.T, self.version = onnxruntime, T, onnxruntime.__version__

    def variants(self, D):
        if D.model.file != ".onnx":
            return

        def prepare():
            options = self.ort.SessionOptions()
            options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = self.T, 1, 4
            session = self.ort.InferenceSession(D.path, options, ["CPUExecutionProvider"])
            return kept(lambda: session.run(None, D.model.inputs))
        yield "session.run", prepare, ""


class TorchPeer:
    """Eager, without gradients."""

    def __init__(self, T):
        import torch
        torch.set_num_threads(T)
        torch.set_grad_enabled(False)
        self.th, self.version = torch, torch.__version__

    def variants(self, D):
        def prepare():
            given = [self.th.from_numpy(array) for array in D.model.inputs.values()]
            run, last = kept(lambda: D.model.torch(self.th, *given))
            return run, lambda: [each.numpy() for each in last()]
        yield "eager", prepare, ""


class JaxPeer:
    """Compiled by jax.jit; integers are those of 32 bits that JAX has by default."""

    def __init__(self, T):
        import jax
        self.jax, self.version = jax, jax.__version__

    def variants(self, D):
        def prepare():
            compiled = self.jax.jit(lambda *arrays: D.model.jax(self.jax.numpy, *arrays))
            given = [self.jax.numpy.asarray(array) for array in D.model.inputs.values()]
            run, last = kept(lambda: self.jax.block_until_ready(compiled(*given)))
            return run, lambda: [np.asarray(each) for each in last()]
        yield "jit", prepare, ""
