"""What the exporters of ONNX files share: onnxruntime as a second opinion, and the values at the indexed nodes of a graph."""

import re

import numpy as np
import onnx
import onnxruntime
import onnxruntime.capi.onnxruntime_pybind11_state

STATE = onnxruntime.capi.onnxruntime_pybind11_state
ERRORS = (STATE.NotImplemented, STATE.Fail, STATE.InvalidArgument, STATE.InvalidGraph, STATE.RuntimeException)
INDEXED = {"Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "TensorScatter", "GatherBlockQuantized"}

OPAQUE = {"MatMul", "Gemm", "Conv", "Softmax", "LogSoftmax", "LayerNormalization", "TopK", "If", "Loop", "Scan", "NonZero", "Einsum", "MatMulInteger",
          "DynamicQuantizeLinear", "ArgMax", "ArgMin", "Unique", "Attention"}


def graphs(graph):
    """A graph and those in its nodes' attributes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs):
                yield from graphs(inner)


def nodes(model):
    for graph in graphs(model.graph):
        yield from graph.node
    for function in model.functions:
        for node in function.node:
            yield node
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    for graph in graphs(attribute.g):
                        yield from graph.node


def count_indexed(model):
    return sum(node.op_type in INDEXED for node in nodes(model))


def without_folders(model):
    """Takes folder names of the machine out of the stack traces that exporters write."""
    def clean(text):
        return re.sub(r"(/[\w.+-]+)+/(?=[\w.+-]+\.py)", "", text)

    for node in [*nodes(model), *model.graph.input, *model.graph.output, *model.graph.value_info, *model.graph.initializer]:
        node.doc_string = clean(node.doc_string)
        for entry in node.metadata_props:
            entry.value = clean(entry.value)
    for entry in [*model.metadata_props, *model.graph.metadata_props]:
        entry.value = clean(entry.value)
    model.doc_string = clean(model.doc_string)
    return model


def run(model, inputs, extra=()):
    """The outputs of a model, then the values named in `extra`."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1  # its ScatterND may lose updates with several threads
    options.log_severity_level = 4
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    names = [o.name for o in model.graph.output]
    extra = [e for e in extra if e not in names]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in extra)
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(names + extra, dict(inputs))
    return results[:len(names)], dict(zip(names + extra, results))


def kernels(model, inputs):
    """([{"node", "name", "op", "inputs", "result"}], {name: value}): the indexed nodes of the main graph, and where there are opaque nodes
    between them every value of the main graph, by onnxruntime."""
    indexed = [node for node in model.graph.node if node.op_type in INDEXED]
    functions = {(f.domain, f.name) for f in model.functions}
    whole = any(node.op_type in OPAQUE or node.domain not in ("", "ai.onnx") or (node.domain, node.op_type) in functions for node in model.graph.node)
    known = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    known.update(inputs)
    constants = {value for node in model.graph.node if node.op_type == "Constant" for value in node.output}
    needed = [value for node in indexed for value in [*node.input, *node.output]]
    everything = [value for node in model.graph.node for value in node.output] if whole else []
    made = run(model, inputs, sorted({value for value in needed + everything if value and value not in known}))[1]
    found = [{"node": node.output[0], "name": node.name, "op": node.op_type,
              "inputs": {value: np.asarray(known[value] if value in known else made[value]) for value in node.input if value},
              "result": np.asarray(made[node.output[0]])} for node in indexed]
    return found, {value: np.asarray(made[value]) for value in dict.fromkeys(everything) if value and value not in constants}


def near(got, want, tolerance):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if got.dtype.kind in "fc":
        same = np.allclose(got, want, rtol=tolerance or 0, atol=tolerance or 0, equal_nan=True)
    else:
        same = np.array_equal(got, want)
    return None if same else f"{got.tolist()}, expected {want.tolist()}"


def compare(results, outputs, tolerance):
    """What onnxruntime's results are beside the framework's: None, or the first difference."""
    for (name, want), got in zip(outputs, results):
        problem = near(np.asarray(got), np.asarray(want), tolerance)
        if problem:
            return f"{name}: {problem}"
    return None
