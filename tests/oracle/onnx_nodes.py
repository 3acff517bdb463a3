"""ONNX's own node tests of Gather, GatherElements, GatherND, Scatter, ScatterElements, ScatterND and TensorScatter.

The installed onnx package generates its node tests on the fly; every case of the seven operators is run through `strew run` on the
reference and on the backend strew chooses, inputs given as .pb, outputs compared with the case's expectation: bit for bit, NaN equal to
NaN. The sums of these cases are exact, so float reductions are compared the same way.

Two conversions are tried too, so that the cases cover the older forms: opset 18 cases that do not reduce are run again at opset 11
(Gather: 1), and the inputs turned into initializers, which strew reads from the model.

Exit status 77 when onnx, numpy or ml_dtypes is absent.
"""

import argparse
import copy
import importlib
import os
import tempfile
import warnings

from _onnx import Oracle, TensorProto, as_stored, np, numpy_helper, onnx

OPERATORS = {"Gather": 4, "GatherElements": 3, "GatherND": 3, "Scatter": 2, "ScatterElements": 7, "ScatterND": 7, "TensorScatter": 3}


def collect():
    """The cases, from the generators of these operators alone: collect_testcases() would run every operator's, which takes a minute."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in OPERATORS:
            importlib.import_module(f"{node.__name__}.{operator.lower()}")
    cases = {c.name: c for c in node._NodeTestCases if c.model.graph.node[0].op_type in OPERATORS}
    for operator, least in OPERATORS.items():
        found = sum(c.model.graph.node[0].op_type == operator for c in cases.values())
        if found < least:
            raise SystemExit(f"onnx {onnx.__version__} has {found} node tests of {operator}, expected at least {least}")
    return list(cases.values())


def to_proto(value, name):
    tensor = copy.deepcopy(value) if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value))
    tensor.name = name
    return tensor


def to_array(value):
    return as_stored(numpy_helper.to_array(value) if isinstance(value, TensorProto) else value)


def differs(got, expected):
    if got.shape != expected.shape:
        return f"the shape is {got.shape}, expected {expected.shape}"
    if expected.dtype.kind == "U":
        return None if got.tolist() == expected.tolist() else "the strings differ"
    if got.dtype != expected.dtype:
        return f"the type is {got.dtype}, expected {expected.dtype}"
    if got.tobytes() == expected.tobytes():
        return None
    if got.dtype.kind in "fc" and np.array_equal(got, expected, equal_nan=True):
        return None
    return "elements differ"


def variants(case):
    """(name, model, inputs inside the model?)"""
    yield case.name, case.model, False
    node = case.model.graph.node[0]
    with_initializers = copy.deepcopy(case.model)
    yield f"{case.name}, initializers", with_initializers, True
    if node.op_type in ("TensorScatter", "Scatter") or any(a.name == "reduction" and a.s != b"none" for a in node.attribute):
        return
    older = copy.deepcopy(case.model)
    opset = {"Gather": 1, "GatherND": 12}.get(node.op_type, 11)
    for item in older.opset_import:
        item.version = opset
    yield f"{case.name}, opset {opset}", older, False


def check(oracle, case, name, model, inside, number):
    names = [i.name for i in model.graph.input]
    for inputs, outputs in case.data_sets:
        tensors = [to_proto(value, name) for value, name in zip(inputs, names)]
        folder = os.path.join(oracle.folder, f"case_{number}_{id(inputs)}")
        os.makedirs(folder)
        files = []
        if inside:
            model.graph.initializer.extend(tensors)
            del model.graph.input[:]
        for tensor in [] if inside else tensors:
            files.append(os.path.join(folder, f"{tensor.name}.pb"))
            with open(files[-1], "wb") as f:
                f.write(tensor.SerializeToString())
        for backend in ("reference", "auto"):
            got, failure = oracle.run(model, files, backend, folder)
            for index, output in enumerate(outputs if not failure else []):
                failure = failure or differs(got[index], to_array(output))
            oracle.count(failure and f"{name} on {backend}: {failure}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(arguments.strew, folder)
        cases = collect()
        number = 0
        for case in cases:
            for name, model, inside in variants(case):
                check(oracle, case, name, model, inside, number)
                number += 1
        return oracle.report(f"onnx {onnx.__version__}: {len(cases)} node tests, {oracle.cases} runs")


if __name__ == "__main__":
    raise SystemExit(main())
