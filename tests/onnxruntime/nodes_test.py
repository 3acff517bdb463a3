#!/usr/bin/env python3
"""ONNX's own node tests of the indexed operators through ONNX Runtime with strew's provider, one model for each operator, version and element type, which strew must run, and what happens at the
edges: bad indices, other errors, tensors without elements, inputs that are left out.

    nodes_test.py

Exit status 0: right, 1: wrong.
"""
import importlib
import sys
import warnings

from providers import Failures, TensorProto, differs, helper, make_model, np, onnx, ort, runs, session, strew, value

OPERATORS = {"Gather": 4, "GatherElements": 3, "GatherND": 3, "Scatter": 2, "ScatterElements": 7, "ScatterND": 7, "TensorScatter": 3}
# What ONNX Runtime has no kernels for stays with it, which refuses the model: nothing in it has strings but Gather, whose elements are objects there.
TYPES = ("FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "BOOL", "FLOAT16", "DOUBLE", "UINT32", "UINT64", "BFLOAT16")
VERSIONS = {"Gather": (10, 11, 13), "GatherElements": (11, 13), "GatherND": (11, 12, 13), "Scatter": (9, 10), "ScatterElements": (11, 13, 16, 18), "ScatterND": (11, 13, 16, 18),
            "TensorScatter": (24,)}


def check_node_tests(failures):
    """The values and the expectations are those of the installed onnx package."""
    from onnx.backend.test.case import node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for operator in OPERATORS:
            importlib.import_module(f"{node.__name__}.{operator.lower()}")
    cases = [case for case in node._NodeTestCases if case.model.graph.node[0].op_type in OPERATORS]
    for operator, least in OPERATORS.items():
        failures.check(sum(case.model.graph.node[0].op_type == operator for case in cases) >= least, f"onnx has fewer than {least} node tests of {operator}")
    for case in cases:
        case.model.ir_version = min(case.model.ir_version, 13)
        names = [each.name for each in case.model.graph.input]
        for inputs, expected in case.data_sets:
            feeds = dict(zip(names, (each if isinstance(each, np.ndarray) else onnx.numpy_helper.to_array(each) for each in inputs), strict=True))
            try:
                got = session(case.model).run(None, feeds)
            except Exception as error:  # noqa: BLE001
                failures.append(f"{case.name}: {error}")
                continue
            if difference := differs(got, expected):
                failures.append(f"{case.name}: {difference}")
    return len(cases)


def model_of(operator, dtype, opset, index_type="INT64"):
    """A model with one node and constants of a size that strew takes, with its results as ONNX Runtime's own kernel, or NumPy, has them."""
    element = getattr(TensorProto, dtype)
    data, indices = value("data", element, (64, 128)), value("indices", getattr(TensorProto, index_type), None)
    result = value("result", element, None)
    writes = "Scatter" in operator
    inputs = [data, value("update", element, (64, 8)), value("indices", TensorProto.INT64, (64,))] if operator == "TensorScatter" else [data, indices, *([value("updates", element, None)] if writes else [])]
    attributes = {"axis": 1} if operator == "TensorScatter" else {}
    node = helper.make_node(operator, [each.name for each in inputs], ["result"], name="node", **attributes)
    return make_model([node], inputs, [result], opset)


def elements_of(dtype, dims, rng):
    if dtype == "BFLOAT16":
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(rng.integers(0, 2**16, dims, dtype=np.uint16), TensorProto.BFLOAT16)
    return rng.integers(0, 2 if dtype == "BOOL" else 90, dims).astype(onnx.helper.tensor_dtype_to_np_dtype(getattr(TensorProto, dtype)))


def arguments_of(operator, dtype, index_type, rng):
    index = onnx.helper.tensor_dtype_to_np_dtype(getattr(TensorProto, index_type))
    feeds = {"data": elements_of(dtype, (64, 128), rng)}
    if operator == "TensorScatter":
        return feeds | {"update": elements_of(dtype, (64, 8), rng), "indices": rng.integers(0, 121, (64,))}
    if operator == "Gather":
        return feeds | {"indices": rng.integers(-64, 64, (40,)).astype(index)}
    if operator.endswith("ND"):
        return feeds | {"indices": rng.permutation(64)[:40].reshape(40, 1)} | ({"updates": elements_of(dtype, (40, 128), rng)} if operator == "ScatterND" else {})
    places = np.argsort(rng.random((64, 128)), axis=0)[:40].astype(index)  # each once in its column
    return feeds | {"indices": places} | ({"updates": elements_of(dtype, (40, 128), rng)} if "Scatter" in operator else {})


def expected_of(operator, feeds):
    data, indices = feeds["data"], feeds["indices"]
    if operator == "Gather":
        return data[indices]
    if operator == "GatherND":
        return data[indices[:, 0]]
    if operator == "GatherElements":
        return np.take_along_axis(data, indices.astype(np.int64), 0)
    out = data.copy()
    if operator == "ScatterND":
        out[indices[:, 0]] = feeds["updates"]
    elif operator == "TensorScatter":
        for row, start in enumerate(indices):
            out[row, start:start + 8] = feeds["update"][row]
    else:
        np.put_along_axis(out, indices.astype(np.int64), feeds["updates"], 0)
    return out


def check_who_runs(failures):
    """A constraint or a version that no schema has would silently match nothing."""
    rng, cases = np.random.default_rng(5), 0
    for operator, versions in VERSIONS.items():
        for opset in versions:
            for dtype in TYPES:
                for index_type in ("INT64", "INT32") if operator not in ("GatherND", "ScatterND", "TensorScatter") else ("INT64",):
                    if dtype == "BFLOAT16" and opset < 13:
                        continue
                    where = f"{operator}-{opset} of {dtype} and {index_type}"
                    cases += 1
                    with_strew = session(model_of(operator, dtype, opset, index_type))
                    failures.check(runs(with_strew) == {("node", operator): "strew"}, f"{where}: {strew.ort.report(with_strew)}")
                    feeds = arguments_of(operator, dtype, index_type, rng)
                    got = with_strew.run_with_ort_values(None, {n: v if isinstance(v, ort.OrtValue) else ort.OrtValue.ortvalue_from_numpy(v) for n, v in feeds.items()})[0]
                    if dtype == "BFLOAT16":
                        failures.check(got.element_type() == TensorProto.BFLOAT16, f"{where}: the result has element type {got.element_type()}")
                    elif difference := differs([got.numpy()], [expected_of(operator, feeds)]):
                        failures.append(f"{where}: {difference}")
    return cases


def expect_error(failures, where, model, feeds, code, words):
    with_strew = session(model)
    failures.check("strew" in runs(with_strew).values(), f"{where}: strew does not run it: {strew.ort.report(with_strew)}")
    try:
        with_strew.run(None, feeds)
        failures.append(f"{where}: no error, expected one with: {words}")
    except Exception as error:  # noqa: BLE001
        name = type(error).__name__
        failures.check(name == code and all(word in str(error) for word in words), f"{where}: {name}: {error}, expected {code} with {words}")
        return
    return


def check_errors(failures):
    rng = np.random.default_rng(6)
    for operator in VERSIONS:
        if operator == "Scatter":
            continue
        feeds = arguments_of(operator, "FLOAT", "INT64", rng)
        feeds["indices"] = feeds["indices"].copy()
        feeds["indices"].flat[3] = 200
        code = "Fail" if operator == "GatherElements" else "InvalidArgument"
        expect_error(failures, operator, model_of(operator, "FLOAT", VERSIONS[operator][-1]), feeds, code, ["node 'node'", operator, "value 200"])
    # Nothing is written: a cache that the caller has bound as input and as output is as it was.
    model = model_of("TensorScatter", "FLOAT", 24)
    feeds = arguments_of("TensorScatter", "FLOAT", "INT64", rng)
    feeds["indices"] = feeds["indices"].copy()
    feeds["indices"][63] = 125  # ONNX Runtime's own kernel has written 63 rows by then
    cache = ort.OrtValue.ortvalue_from_numpy(feeds["data"].copy())
    with_strew = session(model)
    binding = with_strew.io_binding()
    binding.bind_ortvalue_input("data", cache)
    binding.bind_cpu_input("update", feeds["update"])
    binding.bind_cpu_input("indices", feeds["indices"])
    binding.bind_ortvalue_output("result", cache)
    try:
        with_strew.run_with_iobinding(binding)
        failures.append("TensorScatter into its cache: no error for an update that does not fit")
    except Exception as error:  # noqa: BLE001
        failures.check("value 125" in str(error), f"TensorScatter into its cache: {error}")
    failures.check(differs([cache.numpy()], [feeds["data"]]) is None, "TensorScatter into its cache: the cache was written before the error")
    circular = model_of("TensorScatter", "FLOAT", 24)
    circular.graph.node[0].attribute.append(helper.make_attribute("mode", "circular"))
    feeds["indices"][63] = -1
    expect_error(failures, "circular TensorScatter", circular, feeds, "InvalidArgument", ["write_indices[63] is -1, expected 0 or more"])
    shapes = model_of("ScatterElements", "FLOAT", 18)
    feeds = arguments_of("ScatterElements", "FLOAT", "INT64", rng)
    feeds["updates"] = feeds["updates"][:39]
    expect_error(failures, "updates of other dims", shapes, feeds, "InvalidArgument", ["dim 0 of updates is 39, expected that of indices, 40"])
    nd = model_of("ScatterND", "FLOAT", 18)
    feeds = arguments_of("ScatterND", "FLOAT", "INT64", rng)
    feeds["updates"] = feeds["updates"][:, :100]
    expect_error(failures, "ScatterND with a smaller window", nd, feeds, "InvalidArgument", ["dim 1 of updates is 100, expected that of what the indices select of data, 128"])
    nd = model_of("GatherND", "FLOAT", 13)
    feeds = {"data": feeds["data"], "indices": np.zeros((40, 3), np.int64)}
    expect_error(failures, "GatherND with long vectors", nd, feeds, "InvalidArgument", ["the last dim of indices is 3, expected at most 2"])


def check_edges(failures):
    """Sums that ONNX Runtime has no kernel for, or that are wrong there; caches without write indices; circular ones; tensors without elements; com.microsoft's GatherND."""
    rng = np.random.default_rng(7)
    node = helper.make_node("ScatterND", ["data", "indices", "updates"], ["result"], name="node", reduction="add")
    half = make_model([node], [value("data", TensorProto.FLOAT16, (64, 128)), value("indices", TensorProto.INT64, (300, 1)), value("updates", TensorProto.FLOAT16, (300, 128))],
                      [value("result", TensorProto.FLOAT16, (64, 128))])
    feeds = {"data": np.zeros((64, 128), np.float16), "indices": rng.integers(0, 64, (300, 1)), "updates": rng.integers(-3, 4, (300, 128)).astype(np.float16)}
    exact = np.zeros((64, 128), np.float32)
    np.add.at(exact, feeds["indices"][:, 0], feeds["updates"].astype(np.float32))
    if difference := differs(session(half).run(None, feeds), [exact.astype(np.float16)]):
        failures.append(f"sums of f16: {difference}")

    cache = value("data", TensorProto.FLOAT, (4, 40, 64))
    for mode in ("linear", "circular"):
        node = helper.make_node("TensorScatter", ["data", "update"], ["result"], name="node", mode=mode)
        feeds = {"data": rng.standard_normal((4, 40, 64), np.float32), "update": rng.standard_normal((4, 2, 64), np.float32)}
        expected = feeds["data"].copy()
        expected[:, :2] = feeds["update"]
        model = make_model([node], [cache, value("update", TensorProto.FLOAT, (4, 2, 64))], [value("result", TensorProto.FLOAT, (4, 40, 64))], 24)
        if difference := differs(session(model).run(None, feeds), [expected]):
            failures.append(f"TensorScatter without write indices, {mode}: {difference}")
    node = helper.make_node("TensorScatter", ["data", "update", "indices"], ["result"], name="node", mode="circular")
    model = make_model([node], [cache, value("update", TensorProto.FLOAT, (4, 2, 64)), value("indices", TensorProto.INT64, (4,))], [value("result", TensorProto.FLOAT, (4, 40, 64))], 24)
    starts = np.array([0, 39, 38, 5])
    expected = feeds["data"].copy()
    for row, start in enumerate(starts):
        for step in range(2):
            expected[row, (start + step) % 40] = feeds["update"][row, step]
    if difference := differs(session(model).run(None, feeds | {"indices": starts}), [expected]):
        failures.append(f"circular TensorScatter: {difference}")

    for operator in ("Gather", "GatherElements", "ScatterElements", "GatherND", "ScatterND"):
        feeds = arguments_of(operator, "FLOAT", "INT64", rng)
        for name in ("indices", "updates"):
            if name in feeds:
                feeds[name] = feeds[name][:0]
        model = model_of(operator, "FLOAT", VERSIONS[operator][-1])
        if difference := differs(session(model).run(None, feeds), session(model, with_strew=False).run(None, feeds)):
            failures.append(f"{operator} without indices: {difference}")

    node = helper.make_node("GatherND", ["data", "indices"], ["result"], name="node", domain="com.microsoft")
    for index_type in ("INT32", "INT64"):
        model = make_model([node], [value("data", TensorProto.FLOAT, (64, 128)), value("indices", getattr(TensorProto, index_type), (40, 1))], [value("result", TensorProto.FLOAT, (40, 128))], domains=["com.microsoft"])
        feeds = arguments_of("GatherND", "FLOAT", "INT64", rng)
        feeds["indices"] = feeds["indices"].astype(np.int32 if index_type == "INT32" else np.int64)
        with_strew = session(model)
        failures.check(runs(with_strew) == {("node", "GatherND"): "strew"}, f"com.microsoft.GatherND: {strew.ort.report(with_strew)}")
        if difference := differs(with_strew.run(None, feeds), [expected_of("GatherND", feeds)]):
            failures.append(f"com.microsoft.GatherND of {index_type}: {difference}")


def main():
    failures = Failures()
    cases = check_node_tests(failures) + check_who_runs(failures)
    check_errors(failures)
    check_edges(failures)
    return failures.report(cases)


if __name__ == "__main__":
    sys.exit(main())
