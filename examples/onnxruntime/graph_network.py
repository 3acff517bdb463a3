#!/usr/bin/env python3
"""A graph network as torch.onnx writes it, through ONNX Runtime alone and with strew's provider. The model is not changed.

    graph_network.py [BUILD] [--full] [--threads T]

Prints who runs each node, how long a run takes, and whether the results are the same bits as those of ONNX Runtime on one thread, with one thread and with T, run after run. The program exits with 1 if they
are not, or if strew does not run a layer as one kernel.

Run by ctest as example_onnxruntime, with a small graph. `--full`: 10,000 nodes, 300,000 edges.
"""
import argparse
import sys
import time

try:
    import numpy as np
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import strew.ort

WIDTH, LAYERS = 64, 2


def model():
    """x [nodes, 64], and the two ends of each edge. A layer: rows times a matrix, the rows of the sources summed by target, and what is positive of them."""
    nodes, constants = [], [numpy_helper.from_array(np.array([1]), "axis")]

    def node(operator, inputs, output, **attributes):
        nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
    node("Unsqueeze", ["target", "axis"], "column")
    for layer in range(LAYERS):
        weight = np.random.default_rng(layer).standard_normal((WIDTH, WIDTH), np.float32) * np.float32(0.1)
        constants.append(numpy_helper.from_array(weight, f"weight{layer}"))
        node("MatMul", [f"positive{layer - 1}" if layer else "x", f"weight{layer}"], f"hidden{layer}")
        node("Gather", [f"hidden{layer}", "source"], f"messages{layer}", axis=0)
        node("Shape", [f"messages{layer}"], f"edges{layer}")
        node("Expand", ["column", f"edges{layer}"], f"index{layer}")
        node("Shape", [f"hidden{layer}"], f"nodes{layer}")
        node("ConstantOfShape", [f"nodes{layer}"], f"zeros{layer}")
        node("ScatterElements", [f"zeros{layer}", f"index{layer}", f"messages{layer}"], f"sums{layer}", axis=0, reduction="add")
        node("Relu", [f"sums{layer}"], f"positive{layer}")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["nodes", WIDTH])]
    inputs += [helper.make_tensor_value_info(name, TensorProto.INT64, ["edges"]) for name in ("source", "target")]
    graph = helper.make_graph(nodes, "graph_network", inputs, [helper.make_tensor_value_info(f"positive{LAYERS - 1}", TensorProto.FLOAT, ["nodes", WIDTH])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10).SerializeToString()


def open_session(threads, with_strew):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(model(), strew.ort.session_options(options) if with_strew else options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    count, edges = (10_000, 300_000) if arguments.full else (200, 3_000)
    rng = np.random.default_rng(0)
    feeds = {"x": rng.standard_normal((count, WIDTH), np.float32), "source": rng.integers(0, count, edges), "target": rng.integers(0, count, edges)}
    expected, right = open_session(1, with_strew=False).run(None, feeds)[0], True
    for threads in (1, arguments.threads):
        for way in ("ONNX Runtime", "strew"):
            session, same = open_session(threads, way == "strew"), True
            for _ in range(3):
                begin = time.perf_counter()
                same &= session.run(None, feeds)[0].tobytes() == expected.tobytes()
                taken = time.perf_counter() - begin
            print(f"{way}, {threads} thread{'s' * (threads > 1)}: {taken * 1e3:.2f} ms, " + ("the same bits" if same else "OTHER BITS"), flush=True)
            right &= same or way == "ONNX Runtime"
    report = strew.ort.report(session)
    print(report)
    as_one = {each.node for each in report.nodes if "run as one" in each.why}
    return 0 if right and {f"{name}{layer}" for layer in range(LAYERS) for name in ("messages", "sums")} <= as_one else 1


if __name__ == "__main__":
    sys.exit(main())
