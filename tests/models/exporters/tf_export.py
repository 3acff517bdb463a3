"""Writes tests/models/tensorflow: the StableHLO of tf.function(jit_compile=True).experimental_get_compiler_ir(...)(stage="stablehlo").

    python3 tests/models/exporters/tf_export.py [PATTERN...]
"""

import re

import numpy as np
import tf_cases
import tensorflow as tf

import corpus
import stablehlo


def main():
    out = corpus.Corpus(f"tensorflow {tf.__version__}, experimental_get_compiler_ir(stage=\"stablehlo\"); results of the function compiled by XLA for the CPU",
                        "tensorflow", "mlir")
    for name, make, note, tolerance, exporters, _ in tf_cases.cases():
        if "tensorflow" not in exporters or not out.wants(name):
            continue
        try:
            f, arguments = tf_cases.made(name, make)
            function = tf.function(f, jit_compile=True)
            tensors = [tf.constant(a) for a in arguments]
            text = str(function.experimental_get_compiler_ir(*tensors)(stage="stablehlo"))
            text = re.sub(r'"(/[\w.+-]+)+/(?=[\w.+-]+\.py")', '"', text)
            results = tf_cases.flat(function(*tensors))
            arguments = [*map(np.asarray, arguments), *(v.numpy() for v in function.get_concrete_function(*tensors).variables)]
            try:
                kernels, values = stablehlo.kernels(text, arguments)
            except Exception as error:
                print(f"{name}: no kernels: {str(error)[:300]}")
                kernels, values = [], {}
            names = [f"arg{k}" for k in range(len(arguments))]
            out.write(name, text.encode(), list(zip(names, arguments)), [(f"result{k}", x) for k, x in enumerate(results)], note,
                      stablehlo.count_indexed(text), tolerance, kernels, values=values)
        except Exception as error:
            out.fail(name, f"{type(error).__name__}: {error}")
    out.finish()


if __name__ == "__main__":
    main()
