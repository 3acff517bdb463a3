"""Writes tests/models/onnxscript (functions written with onnxscript) and tests/models/onnxruntime (models of torch.onnx after onnxruntime's
optimizer and quantizers).

    python3 tests/models/exporters/onnx_tools_export.py [PATTERN...]
"""

import io
import logging
import os
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
import onnxscript
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxscript import opset18 as op
from onnxscript import script

import corpus
import onnx_values
import torch_cases
import torch_models
from corpus import FLOAT_MATH, MOVES, real, small

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
LOCAL = onnxscript.values.Opset("strew.tests", 1)


@script(LOCAL)
def rows_of(table, ids):
    zero = op.Constant(value_int=0)
    safe = op.Where(op.Less(ids, zero), op.Sub(ids, ids), ids)
    return op.Gather(table, safe, axis=0)


@script(LOCAL)
def write_rows(cache, at, rows):
    return op.ScatterND(cache, op.Unsqueeze(at, op.Constant(value_ints=[-1])), rows)


@script(LOCAL)
def step(cache, table, ids, at):
    return write_rows(cache, at, rows_of(table, ids))


@script(default_opset=op)
def local_functions(cache: onnxscript.FLOAT[6, 3], table: onnxscript.FLOAT[8, 3], ids: onnxscript.INT64[4], at: onnxscript.INT64[4]):
    """Two functions of another domain, one of which calls the others."""
    once = step(cache, table, ids, at)
    return step(once, table, ids, op.Sub(op.Constant(value_int=5), at))


@script(default_opset=op)
def loop_rows(x: onnxscript.FLOAT[5, 3], i: onnxscript.INT64[4], u: onnxscript.FLOAT[4, 3]):
    """A Loop whose body reads an index and adds to a row."""
    result = x
    zero = op.Constant(value_ints=[0])
    for k in range(4):
        at = op.Reshape(op.Gather(i, k), op.Constant(value_ints=[1, 1]))
        row = op.Unsqueeze(op.Gather(u, k), zero)
        result = op.ScatterND(result, at, row, reduction="add")
    return result


@script(default_opset=op)
def if_rows(x: onnxscript.FLOAT[5, 3], i: onnxscript.INT64[4], u: onnxscript.FLOAT[4, 3], p: onnxscript.BOOL):
    """An If with a scatter in one branch and a gather in the other, which read values of the outer graph."""
    at = op.Unsqueeze(i, op.Constant(value_ints=[-1]))
    if p:
        result = op.ScatterND(x, at, u)
    else:
        result = op.ScatterND(x, at, op.Gather(x, i))
    return result


@script(default_opset=op)
def compress_rows(x: onnxscript.FLOAT[6, 3], m: onnxscript.BOOL[6]):
    """Compress, and the same rows by NonZero and Gather."""
    a = op.Compress(x, m, axis=0)
    b = op.Gather(x, op.Squeeze(op.NonZero(m), op.Constant(value_ints=[0])))
    return op.Concat(a, b, axis=1)


@script(default_opset=op)
def one_hot_reverse(i: onnxscript.INT64[4], x: onnxscript.FLOAT[4, 2], n: onnxscript.INT64[2]):
    """OneHot and ReverseSequence."""
    hot = op.OneHot(i, op.Constant(value_int=5), op.Constant(value_floats=[0.0, 2.0]))
    back = op.ReverseSequence(x, n, batch_axis=1, time_axis=0)
    return op.Concat(hot, back, axis=1)


@script(default_opset=op)
def scatter_elements_all(x: onnxscript.FLOAT[4, 3], i: onnxscript.INT64[5, 3], u: onnxscript.FLOAT[5, 3]):
    """ScatterElements with all reductions, one after another."""
    a = op.ScatterElements(x, i, u, axis=0, reduction="add")
    b = op.ScatterElements(a, i, u, axis=0, reduction="max")
    c = op.ScatterElements(b, i, u, axis=0, reduction="min")
    return op.ScatterElements(c, i, u, axis=0, reduction="mul")


def session(model, level, name):
    """A model as onnxruntime writes it after its optimizer."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.optimized_model_filepath = os.path.join(folder, "model.onnx")
        options.log_severity_level = 4
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def in_files(model, work):
    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before.onnx"), os.path.join(folder, "after.onnx")
        onnx.save(model, before)
        work(before, after)
        return onnx.load(after)


class Reader(CalibrationDataReader):
    def __init__(self, inputs):
        self.left = [inputs] * 2

    def get_next(self):
        return self.left.pop() if self.left else None


def torch_model(module, arguments, opset=17):
    file = io.BytesIO()
    names = [f"arg{k}" for k in range(len(arguments))]
    torch.onnx.export(module.eval(), tuple(torch.from_numpy(np.array(a)) for a in arguments), file, dynamo=False, opset_version=opset, input_names=names)
    return onnx.load_from_string(file.getvalue()), list(zip(names, arguments))


class Classifier(torch.nn.Module):
    """An embedding, a layer norm and a linear layer of one text model."""

    def __init__(self):
        super().__init__()
        self.table, self.place = torch.nn.Embedding(32, 16), torch.nn.Embedding(8, 16)
        self.norm, self.out = torch.nn.LayerNorm(16), torch.nn.Linear(16, 16)

    def forward(self, ids):
        x = self.norm(self.table(ids) + self.place(torch.arange(ids.shape[1])))
        return torch.nn.functional.gelu(self.out(x))


def main():
    out = corpus.Corpus("", "onnxscript", "onnx")
    r = corpus.rng("onnxscript")
    index = lambda *shape, low=0, high=5: r.integers(low, high, shape).astype(np.int64)
    distinct = lambda count, extent: r.permutation(extent)[:count].astype(np.int64)
    versions = f"onnxscript {onnxscript.__version__}"
    for function, inputs in (
            (local_functions, [small(r, 6, 3), small(r, 8, 3), np.array([3, -1, 7, 0]), distinct(4, 6)]),
            (loop_rows, [small(r, 5, 3), index(4), small(r, 4, 3)]),
            (if_rows, [small(r, 5, 3), distinct(4, 5), small(r, 4, 3), np.array(True)]),
            (compress_rows, [real(r, 6, 3), np.array([1, 0, 1, 1, 0, 1], bool)]),
            (one_hot_reverse, [np.array([0, -1, 3, 9]), real(r, 4, 2), np.array([3, 2])]),
            (scatter_elements_all, [small(r, 4, 3), index(5, 3, high=4), small(r, 5, 3)])):
        name = function.name
        if not out.wants(name):
            continue
        model = onnx_values.without_folders(function.to_model_proto())
        pairs = [(i.name, np.asarray(a)) for i, a in zip(model.graph.input, inputs)]
        results = onnx_values.run(model, dict(pairs))[0]
        kernels, values = onnx_values.kernels(model, dict(pairs))
        out.source = f"{versions}, to_model_proto(); results of onnxruntime {onnxruntime.__version__}"
        out.write(name, model.SerializeToString(), pairs, [(o.name, x) for o, x in zip(model.graph.output, results)],
                  " ".join((function.function_ir.doc_string or name).split()), onnx_values.count_indexed(model), MOVES, kernels, values=values)

    versions = f"torch {torch.__version__.split('+')[0]}, onnxruntime {onnxruntime.__version__}"
    level = onnxruntime.GraphOptimizationLevel
    r = corpus.rng("onnxruntime")
    classifier, ids = torch_cases.weights(Classifier(), r), [index(2, 5, high=32)]
    text, text_inputs = torch_model(classifier, ids)
    decoder, decoder_inputs = torch_model(torch_cases.weights(torch_models.Decoder(static=True), r),
                                          [np.array([[3], [7]]), np.array([4]), real(r, 2, 2, 6, 4), real(r, 2, 2, 6, 4)])

    class Rows(torch.nn.Module):
        def forward(self, x, i, u):
            return torch.relu(x.index_put((i,), u * 2) + 1)[i]
    rows, rows_inputs = torch_model(Rows(), [small(r, 6, 4), distinct(3, 6), small(r, 3, 4)])

    def dynamic(before, after):
        quantize_dynamic(before, after, weight_type=QuantType.QInt8, op_types_to_quantize=["Gather", "MatMul", "Gemm"])

    def static(before, after):
        quantize_static(before, after, Reader(dict(text_inputs)), quant_format=QuantFormat.QDQ)

    def nbits(before, after):
        from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer, QuantFormat
        config = DefaultWeightOnlyQuantConfig(block_size=16, is_symmetric=False, quant_format=QuantFormat.QOperator, op_types_to_quantize=("Gather",),
                                              quant_axes=(("Gather", 1),))
        quantizer = MatMulNBitsQuantizer(onnx.load(before), algo_config=config)
        quantizer.process()
        onnx.save(quantizer.model.model if hasattr(quantizer.model, "model") else quantizer.model, after)

    for name, make, inputs, note, tolerance in (
            ("optimized_text", lambda: session(text, level.ORT_ENABLE_EXTENDED, "text"), text_inputs,
             "an embedding, layer norm and gelu after the extended optimizer: nodes of com.microsoft", FLOAT_MATH),
            ("optimized_decoder", lambda: session(decoder, level.ORT_ENABLE_EXTENDED, "decoder"), decoder_inputs,
             "a decoder layer with static cache after the extended optimizer: nodes of com.microsoft", FLOAT_MATH),
            ("optimized_rows", lambda: session(rows, level.ORT_ENABLE_BASIC, "rows"), rows_inputs,
             "index_put, relu and a gather after the basic optimizer", MOVES),
            ("quantized_dynamic", lambda: in_files(text, dynamic), text_inputs,
             "a u8 table behind Gather and DequantizeLinear, DynamicQuantizeLinear and MatMulInteger", (1e-3, "the file has float and i8 math of its own")),
            ("quantized_static", lambda: in_files(text, static), text_inputs,
             "QuantizeLinear and DequantizeLinear around Gather and Gemm", (0.05, "the file computes in i8, and a rounding may flip a step")),
            ("quantized_blocks", lambda: in_files(text, nbits), text_inputs,
             "com.microsoft's GatherBlockQuantized: a table in blocks of 4 bits", FLOAT_MATH)):
        if not out.wants(name, "onnxruntime"):
            continue
        try:
            model = onnx_values.without_folders(make())
            results = onnx_values.run(model, dict(inputs))[0]
            kernels, values = onnx_values.kernels(model, dict(inputs))
            out.source = f"{versions}; results of onnxruntime"
            out.write(name, model.SerializeToString(), inputs, [(o.name, x) for o, x in zip(model.graph.output, results)], note,
                      onnx_values.count_indexed(model), tolerance, kernels, folder="onnxruntime", values=values)
        except Exception as error:
            out.fail(name, f"{type(error).__name__}: {error}")
    out.finish()


if __name__ == "__main__":
    main()
