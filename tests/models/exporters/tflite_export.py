"""Writes tests/models/tflite: models of tf.lite.TFLiteConverter, with the results of the TensorFlow Lite interpreter.

    python3 tests/models/exporters/tflite_export.py [PATTERN...]
"""

import warnings

import numpy as np
import tf_cases
import tensorflow as tf

import corpus

warnings.simplefilter("ignore")
INDEXED = {"GATHER", "GATHER_ND", "SCATTER_ND", "DYNAMIC_UPDATE_SLICE", "SEGMENT_SUM", "UNSORTED_SEGMENT_SUM", "UNSORTED_SEGMENT_PROD",
           "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "EMBEDDING_LOOKUP", "SPARSE_TO_DENSE", "STABLEHLO_SCATTER", "STABLEHLO_GATHER",
           "STABLEHLO_DYNAMIC_UPDATE_SLICE"}

OPAQUE = {"FULLY_CONNECTED", "BATCH_MATMUL", "SOFTMAX", "TOPK_V2", "WHILE", "IF", "ARG_MAX", "WHERE", "QUANTIZE", "DEQUANTIZE"}


def convert(f, arguments, options):
    specs = []
    for k, a in enumerate(arguments):
        open_dims = options.get("dynamic", {}).get(k, ())
        specs.append(tf.TensorSpec([None if d in open_dims else n for d, n in enumerate(np.shape(a))], np.asarray(a).dtype, name=f"arg{k}"))
    if options.get("jax"):
        from jax.experimental import jax2tf
        f = jax2tf.convert(f)
    concrete = tf.function(f, autograph=False).get_concrete_function(*specs)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], options.get("trackable", concrete))
    if options.get("stablehlo"):
        converter.target_spec.supported_ops = [tf.lite.OpsSet.EXPERIMENTAL_STABLEHLO_OPS]
    kind = options.get("quantize")
    if kind:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if kind == "int8":
        converter.representative_dataset = lambda: ([np.asarray(a) for a in arguments] for _ in range(4))
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    return converter.convert()


def interpret(model, arguments):
    """(inputs in the file's order, outputs in the file's order, kernels, number of indexed ops, every value where there are opaque operators)"""
    interpreter = tf.lite.Interpreter(model_content=model, experimental_preserve_all_tensors=True,
                                      experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    inputs = []
    for detail in interpreter.get_input_details():
        value = np.asarray(arguments[int("".join(c for c in detail["name"].split(":")[0].split("arg")[-1] if c.isdigit()))])
        inputs.append((detail["name"], value))
        interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, (_, value) in zip(interpreter.get_input_details(), inputs):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    outputs = [(d["name"], interpreter.get_tensor(d["index"]).copy()) for d in interpreter.get_output_details()]
    names = {d["index"]: d["name"] for d in interpreter.get_tensor_details()}
    given = {d["index"]: value for d, (_, value) in zip(interpreter.get_input_details(), inputs)}
    kernels = []
    for op in interpreter._get_ops_details():
        if op["op_name"] not in INDEXED:
            continue
        try:
            value = lambda k: np.asarray(given[k] if k in given else interpreter.get_tensor(k)).copy()
            kernels.append({"node": names[op["outputs"][0]], "place": op["index"], "op": op["op_name"],
                            "inputs": {names[k]: value(k) for k in op["inputs"] if k >= 0}, "result": value(op["outputs"][0])})
        except ValueError:  # a tensor that has no data after the run
            pass
    ops = interpreter._get_ops_details()
    values = {}
    for op in ops if any(op["op_name"] in OPAQUE for op in ops) else ():
        for k in op["outputs"]:
            try:
                values[names[k]] = interpreter.get_tensor(k).copy()
            except ValueError:
                pass
    return inputs, outputs, kernels, sum(op["op_name"] in INDEXED for op in ops), values


def main():
    out = corpus.Corpus(f"tensorflow {tf.__version__}, tf.lite.TFLiteConverter; results of tf.lite.Interpreter, built-in kernels without delegates",
                        "tflite", "tflite")
    for name, make, note, tolerance, exporters, options in tf_cases.cases():
        if "tflite" not in exporters or not out.wants(name):
            continue
        try:
            f, arguments = tf_cases.made(name, make)
            model = convert(f, arguments, options)
            try:
                inputs, outputs, kernels, count, values = interpret(model, arguments)
                problem = None
            except RuntimeError as error:
                if not options.get("jax"):
                    raise
                problem = f"does not run it: {error}; the results are JAX's"
                interpreter = tf.lite.Interpreter(model_content=model)
                inputs = [(d["name"], np.asarray(arguments[int(d["name"].split("arg")[-1].split(":")[0])])) for d in interpreter.get_input_details()]
                values, kernels, count = {}, [], sum(op["op_name"] in INDEXED for op in interpreter._get_ops_details())
                outputs = [(interpreter.get_output_details()[0]["name"], None)]
            if options.get("jax"):
                import jax
                f = jax.jit(f)
                want = tf_cases.flat(tf.nest.map_structure(np.asarray, f(*arguments)))
            else:
                want = tf_cases.flat(tf.function(f)(*[tf.constant(a) for a in arguments]))
            more = {}
            if problem:
                more["interpreter"] = problem
                outputs = [(outputs[0][0], want[0])]
            unmatched = [w for w in want if not any(w.shape == o.shape and np.allclose(w, o, 1e-4, 1e-4, equal_nan=True) for _, o in outputs)]
            if unmatched and "quantize" not in options:
                more["differs"] = "the framework computes something else: " + " ".join(str(unmatched[0].ravel().tolist())[:200].split())
            out.write(name, model, inputs, outputs, note, count, tolerance, kernels, values=values, **more)
        except Exception as error:
            out.fail(name, f"{type(error).__name__}: {error}")
    out.finish()


if __name__ == "__main__":
    main()
