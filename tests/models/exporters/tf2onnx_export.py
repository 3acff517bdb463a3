"""Writes tests/models/tf2onnx: models of tf2onnx.convert.from_function.

    python3 tests/models/exporters/tf2onnx_export.py [PATTERN...]
"""

import logging

import numpy as np
import tf_cases
import tensorflow as tf
import tf2onnx

import corpus
import onnx_values
from corpus import MOVES

logging.disable(logging.WARNING)


def main():
    out = corpus.Corpus("", "tf2onnx", "onnx")
    for name, make, note, tolerance, exporters, options in tf_cases.cases():
        if "tf2onnx" not in exporters or not out.wants(name):
            continue
        try:
            f, arguments = tf_cases.made(name, make)
            specs = [tf.TensorSpec([None if d in options.get("dynamic", {}).get(k, ()) else n for d, n in enumerate(np.shape(a))],
                                   np.asarray(a).dtype, name=f"arg{k}") for k, a in enumerate(arguments)]
            opset = options.get("opset", 17)
            model = onnx_values.without_folders(tf2onnx.convert.from_function(tf.function(f), input_signature=specs, opset=opset)[0])
            want = tf_cases.flat(tf.function(f)(*[tf.constant(a) for a in arguments]))
            place = {f"arg{k}": np.asarray(a) for k, a in enumerate(arguments)}
            inputs = [(i.name, place[i.name.split(":")[0]]) for i in model.graph.input]
            outputs = [(o.name, w) for o, w in zip(model.graph.output, want)]
            assert len(model.graph.output) == len(want)
            more = {}
            try:
                results = onnx_values.run(model, dict(inputs))[0]
                problem = onnx_values.compare(results, outputs, tolerance if tolerance == MOVES else tolerance[0])
                if problem:
                    more["results"] = "of onnxruntime: the exporter's file means something else than TensorFlow computes"
                    outputs = [(label, np.asarray(result)) for (label, _), result in zip(outputs, results)]
                    print(f"{name}: differs: {problem[:300]}")
                kernels, values = onnx_values.kernels(model, dict(inputs))
            except onnx_values.ERRORS as error:
                if "INVALID_GRAPH" in str(error):  # an operator that tf2onnx did not convert
                    raise
                kernels, values, more["onnxruntime"] = [], {}, f"does not run it: {str(error)[:150]}"
            out.source = f"tf2onnx {tf2onnx.__version__}, tensorflow {tf.__version__}, opset {opset}; results of TensorFlow on the CPU"
            out.write(name, model.SerializeToString(), inputs, outputs, note, onnx_values.count_indexed(model), tolerance, kernels, values=values, **more)
        except Exception as error:
            out.fail(name, f"{type(error).__name__}: {error}")
    out.finish()


if __name__ == "__main__":
    main()
