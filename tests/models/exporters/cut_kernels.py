"""Cuts every indexed operation that case.json records out of its model, runs strew on the cut alone and compares with the recorded result.

    python3 tests/models/exporters/cut_kernels.py --strew build/bin/strew [PATTERN...]

A PATTERN is a glob over FRAMEWORK/NAME. Needs onnx for .onnx files, jax for .mlir files and tensorflow for .tflite files, and leaves out the
kernels whose package is missing. An integer NaN-free tensor must agree bit for bit; floats within the case's tolerance.
"""

import argparse
import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import numpy as np
import run_models


def cut_onnx(model, kernel, values, path):
    """The node alone; returns the tensors that are inputs of the cut."""
    import onnx
    import onnx_values
    whole = onnx.load(model)
    node = next(n for n in whole.graph.node if n.op_type in onnx_values.INDEXED and n.output[0] == kernel["node"])
    types = {np.dtype(k): v for k, v in ((np.float32, 1), (np.uint8, 2), (np.int8, 3), (np.uint16, 4), (np.int16, 5), (np.int32, 6), (np.int64, 7),
                                         (np.bool_, 9), (np.float16, 10), (np.float64, 11), (np.uint32, 12), (np.uint64, 13), (np.complex64, 14))}
    info = lambda name, array: onnx.helper.make_tensor_value_info(name, types[array.dtype], array.shape)
    names = list(dict.fromkeys(i for i in node.input if i))
    graph = onnx.helper.make_graph([node], "cut", [info(i, values[i]) for i in names], [info(node.output[0], values[None])])
    onnx.save(onnx.helper.make_model(graph, opset_imports=whole.opset_import, ir_version=whole.ir_version), path)
    return [values[i] for i in names]


def cut_stablehlo(model, kernel, values, path):
    import stablehlo
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    with open(model) as file:
        text = file.read()
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        function = next(op for op in module.body.operations if op.operation.name == "func.func" and op.name.value == kernel["function"])
        op = next(o for o in function.regions[0].blocks[0].operations
                  if o.operation.name in stablehlo.INDEXED and kernel["node"] in [r.get_name() for r in o.operation.results])
        names = list(dict.fromkeys(v.get_name() for v in op.operands))
        kinds = {v.get_name(): v.type for v in op.operands}
        place = [r.get_name() for r in op.operation.results].index(kernel["node"])
        results = [r.type for r in op.operation.results]
        head = ", ".join(f"%a{k}: {kinds[n]}" for k, n in enumerate(names))
        alone = ir.Module.parse(f"module {{ func.func public @main({head}) -> ({', '.join(map(str, results))}) {{ {filler(results)} }} }}")
        block = alone.body.operations[0].regions[0].blocks[0]
        final = block.operations[len(block.operations) - 1]
        with ir.InsertionPoint(final):
            copy = op.operation.clone()
        for k, v in enumerate(list(op.operands)):
            copy.operands[k] = block.arguments[names.index(v.get_name())]
        for k in range(len(results)):
            final.operands[k] = copy.results[k]
        for filled in list(block.operations)[:len(results)]:
            filled.operation.erase()
        called = [o.attributes["callee"].value for o in stablehlo.walk(op.operation) if o.name == "func.call"]
        with ir.InsertionPoint(alone.body):
            for other in module.body.operations:
                if other.operation.name == "func.func" and other.name.value in called:
                    other.operation.clone()
        alone.operation.verify()
        with open(path, "w") as file:
            file.write(str(alone))
    return [values[n] for n in names], place, len(results)


def filler(results):
    """Constants that are returned until the operation stands there."""
    def zero(kind):
        element = kind[:-1].split("<", 1)[1].split("x")[-1]
        return "false" if element == "i1" else "(0.0, 0.0)" if "complex" in kind else "0.0" if "f" in element else "0"

    kinds = list(map(str, results))
    constants = " ".join(f"%r{k} = stablehlo.constant dense<{zero(kind)}> : {kind}" for k, kind in enumerate(kinds))
    return f"{constants} return {', '.join(f'%r{k}' for k in range(len(kinds)))} : {', '.join(kinds)}"


def cut_tflite(model, kernel, values, path):
    import flatbuffers
    from tensorflow.lite.python import schema_py_generated as schema
    with open(model, "rb") as file:
        whole = schema.ModelT.InitFromPackedBuf(file.read(), 0)
    graph = whole.subgraphs[0]
    op = graph.operators[kernel["place"]]
    has_data = lambda k: whole.buffers[graph.tensors[k].buffer].data is not None and len(whole.buffers[graph.tensors[k].buffer].data) > 0
    given = [k for k in dict.fromkeys(op.inputs) if k >= 0 and not has_data(k)]
    graph.operators, graph.inputs, graph.outputs = [op], given, list(op.outputs)
    for k in [*given, *op.outputs]:
        graph.tensors[k].shapeSignature = None
    arrays = [values[graph.tensors[k].name.decode()] for k in given]
    for k, array in zip(given, arrays):
        graph.tensors[k].shape = list(array.shape)
    for k in op.outputs:
        graph.tensors[k].shape = list(values[None].shape)
    whole.signatureDefs = None
    builder = flatbuffers.Builder(1024)
    builder.Finish(whole.Pack(builder), b"TFL3")
    with open(path, "wb") as file:
        file.write(builder.Output())
    return arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strew", required=True)
    parser.add_argument("--options", default="", help="more options of strew run, in one word, such as '--backend halide --verify'")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    counts, refused, wrong = collections.defaultdict(collections.Counter), collections.Counter(), []
    for framework, name, folder, case in run_models.cases(arguments.patterns):
        model = os.path.join(folder, next(f for f in os.listdir(folder) if f.startswith("model.")))
        ending = model.rsplit(".", 1)[1]
        for k, kernel in enumerate(case.get("kernels", ())):
            values = {label: np.load(os.path.join(folder, file)) for label, file in kernel["inputs"].items()}
            values[None] = np.load(os.path.join(folder, kernel["result"]))
            with tempfile.TemporaryDirectory() as work:
                path = os.path.join(work, f"cut.{ending}")
                place, results = 0, 1
                try:
                    if ending == "mlir":
                        inputs, place, results = cut_stablehlo(model, kernel, values, path)
                    else:
                        inputs = (cut_onnx if ending == "onnx" else cut_tflite)(model, kernel, values, path)
                except ImportError:
                    counts[framework]["left out"] += 1
                    continue
                files = [os.path.join(work, f"in{n}.npy") for n in range(len(inputs))]
                for file, array in zip(files, inputs):
                    np.save(file, array)
                outputs = [os.path.join(work, f"out{n}.npy") for n in range(results)]
                command = [os.path.abspath(arguments.strew), "run", path, "--input", *files, "--output", *outputs, *arguments.options.split()]
                if kernel["op"] == "stablehlo.scatter":
                    command += ["--oob", "skip_window"]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                label = f"{framework}/{name} {kernel['node']} ({kernel['op']})"
                if done.returncode in (1, 2):
                    counts[framework]["refused"] += 1
                    refused[run_models.kind_of(done.stderr.strip())] += 1
                    if arguments.verbose:
                        print(f"{label}: refused: {done.stderr.strip()[:300]}")
                    continue
                problem = f"exit status {done.returncode}: {done.stderr.strip()}" if done.returncode else \
                    run_models.differs(np.load(outputs[place]), values[None], 0)
                if problem and done.returncode == 0 and case["tolerance"]:
                    problem = run_models.differs(np.load(outputs[place]), values[None], case["tolerance"])
                    counts[framework]["within tolerance"] += problem is None
                counts[framework]["wrong" if problem else "right"] += 1
                if problem:
                    wrong.append(f"{label}: {problem}")
    for message, count in refused.most_common():
        print(f"{count:4} refused: {message}")
    for framework, count in sorted(counts.items()):
        print(f"{framework}: {dict(count)}")
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
