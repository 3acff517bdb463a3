#!/usr/bin/env python3
"""strew's provider as a guest of ONNX Runtime: in place where nothing else reads, never where something does; many threads in one session, sessions that come and go; loops and branches; options
and their errors; reports; kernels on disk; a runtime that is too old or another; examples of the documents.

    host_test.py [--runs N]

Exit status 0: right, 1: wrong.
"""
import argparse
import ctypes
import doctest
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types

import onnxruntime_ep_strew

from providers import Failures, TensorProto, differs, helper, make_model, np, ort, runs, session, strew, value

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def chain(length, outputs=("y",)):
    """A table whose negative is written to, row by row."""
    nodes = [helper.make_node("Neg", ["x"], ["t0"])]
    nodes += [helper.make_node("ScatterND", [f"t{i}", "i", "u"], [f"t{i + 1}"], name=f"write{i}", reduction="add") for i in range(length)]
    nodes.append(helper.make_node("Neg", [f"t{length}"], ["y"]))
    return make_model(nodes, [value("x", FLOAT, (64, 64)), value("i", INT64, (1, 1)), value("u", FLOAT, (1, 64))], [value(name, FLOAT, (64, 64)) for name in outputs])


def feeds_of(seed=1):
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((64, 64), np.float32), "i": rng.integers(0, 64, (1, 1)), "u": rng.standard_normal((1, 64), np.float32)}


def check_in_place(failures):
    feeds = feeds_of()
    expected = session(chain(8), with_strew=False).run(None, feeds)
    with_strew = session(chain(8))
    failures.check(differs(with_strew.run(None, feeds), expected) is None, "a chain of writes: the result differs")
    report = strew.ort.report(with_strew)
    failures.check((report.in_place, report.copied) == (8, 0), f"a chain of writes: {report.in_place} in place, {report.copied} copied, expected 8 and 0")
    # Values that something else reads, too: as an output, and as what another node reads.
    for outputs in (("y", "t0"), ("y", "t3"), ("y", "t0", "t3", "t8")):
        expected = session(chain(8, outputs), with_strew=False).run(None, feeds)
        with_strew = session(chain(8, outputs))
        for _ in range(2):
            if difference := differs(with_strew.run(None, feeds), expected):
                failures.append(f"a chain of writes with outputs {outputs}: {difference}")
        copies = 2 * sum({"y": 0, "t0": 1, "t3": 2, "t8": 1}[name] for name in outputs)  # an output has memory of its own, and what writes to its elements afterwards copies it
        failures.check(strew.ort.report(with_strew).copied == copies, f"a chain of writes with outputs {outputs}: {strew.ort.report(with_strew).copied} copied, expected {copies}")
    # An input of the graph and an initialiser are never written.
    node = helper.make_node("ScatterND", ["table", "i", "u"], ["y"], name="write", reduction="add")
    table = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    for initializers in ([], [helper.make_tensor("table", FLOAT, (64, 64), table.ravel())]):
        inputs = [value("i", INT64, (1, 1)), value("u", FLOAT, (1, 64))] + ([] if initializers else [value("table", FLOAT, (64, 64))])
        given = {"i": feeds["i"], "u": feeds["u"]} | ({} if initializers else {"table": table.copy()})
        with_strew = session(make_model([node], inputs, [value("y", FLOAT, (64, 64))], initializers=initializers))
        results = [with_strew.run(None, given)[0] for _ in range(3)]
        failures.check(all(differs([each], results[:1]) is None for each in results), "a write to an input or an initialiser adds up from run to run")
        failures.check(initializers or differs([given["table"]], [table]) is None, "a write to an input: the input was written")
    # The caller's own cache, bound as input and output.
    cache = ort.OrtValue.ortvalue_from_numpy(table.copy())
    with_strew = session(make_model([node], [value("table", FLOAT, (64, 64)), value("i", INT64, (1, 1)), value("u", FLOAT, (1, 64))], [value("y", FLOAT, (64, 64))]))
    binding = with_strew.io_binding()
    binding.bind_ortvalue_input("table", cache)
    binding.bind_cpu_input("i", feeds["i"])
    binding.bind_cpu_input("u", feeds["u"])
    binding.bind_ortvalue_output("y", cache)
    with_strew.run_with_iobinding(binding)
    expected = table.copy()
    expected[feeds["i"][0, 0]] += feeds["u"][0]
    failures.check(differs([cache.numpy()], [expected]) is None and strew.ort.report(with_strew).in_place == 1, "a cache that is bound as input and output was not updated in place")


def layer(rows="n", edges="e"):
    """Rows that are looked up, weighted and added up by an index: nodes that run as one."""
    nodes = [helper.make_node("Gather", ["x", "source"], ["rows"], name="look_up"), helper.make_node("Mul", ["rows", "weight"], ["weighted"], name="weigh"),
             helper.make_node("Unsqueeze", ["target", "one"], ["column"], name="column"), helper.make_node("Shape", ["rows"], ["shape"], name="shape"),
             helper.make_node("Expand", ["column", "shape"], ["index"], name="expand"), helper.make_node("ScatterElements", ["zeros", "index", "weighted"], ["y"], name="add", reduction="add")]
    zeros = helper.make_tensor("zeros", FLOAT, (50, 16), np.zeros(800, np.float32))
    inputs = [value("x", FLOAT, (rows, 16)), value("source", INT64, (edges,)), value("target", INT64, (edges,)), value("weight", FLOAT, (edges, 1))]
    return make_model(nodes, inputs, [value("y", FLOAT, (50, 16))], initializers=[zeros, helper.make_tensor("one", INT64, (1,), [1])])


def layer_feeds(seed, edges=400, rows=50):
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((rows, 16), np.float32), "source": rng.integers(0, rows, edges), "target": rng.integers(0, 50, edges), "weight": rng.random((edges, 1), np.float32)}


def check_groups(failures):
    alone, with_strew = session(layer(), with_strew=False), session(layer())
    failures.check({name for (name, _), who in runs(with_strew).items() if who == "strew"} >= {"look_up", "weigh", "expand", "add"}, f"a layer: {strew.ort.report(with_strew)}")
    for number, (edges, rows) in enumerate(((400, 50), (1, 1), (0, 3), (3000, 20), (400, 50))):
        feeds = layer_feeds(number, edges, rows)
        if difference := differs(with_strew.run(None, feeds), alone.run(None, feeds)):
            failures.append(f"a layer of {edges} edges and {rows} rows: {difference}")
    feeds = layer_feeds(9)
    for name, bad in (("source", 50), ("target", -51)):
        wrong = feeds | {name: feeds[name].copy()}
        wrong[name][7] = bad
        try:
            with_strew.run(None, wrong)
            failures.append(f"a layer with {name} {bad}: no error")
        except Exception as error:  # noqa: BLE001
            failures.check(f"value {bad}" in str(error) and type(error).__name__ == "InvalidArgument", f"a layer with {name} {bad}: {type(error).__name__}: {error}")
    failures.check(differs(with_strew.run(None, feeds), alone.run(None, feeds)) is None, "a layer after an error: the result differs")


def check_static_calls(failures):
    """Calls of a group whose extents are all known, of which later ones find out nothing but where the tensors lie."""
    for threads in (1, 2):
        alone, with_strew = session(layer(50, 400), with_strew=False), session(layer(50, 400), threads=threads)
        for number in range(50):
            feeds = layer_feeds(number)
            if difference := differs(with_strew.run(None, feeds), alone.run(None, feeds)):
                failures.append(f"call {number} of a layer with known extents, {threads} threads: {difference}")
        wrong = feeds | {"target": feeds["target"].copy()}
        wrong["target"][3] = 50
        expect(failures, "a bad index in a call of a layer with known extents", "value 50", with_strew.run, None, wrong)
        # The result in the memory of an input.
        for _ in range(2):
            table, binding = ort.OrtValue.ortvalue_from_numpy(feeds["x"].copy()), with_strew.io_binding()
            binding.bind_ortvalue_input("x", table)
            for name in ("source", "target", "weight"):
                binding.bind_cpu_input(name, feeds[name])
            binding.bind_ortvalue_output("y", table)
            with_strew.run_with_iobinding(binding)
            difference = differs([table.numpy()], alone.run(None, feeds))
            failures.check(difference is None, f"a layer with known extents whose result lies in its table: {difference}")


def check_group_rules(failures):
    """An output that lies where an input does, names that strew's own might collide with, operators that round otherwise, the option `ops`, and one name for two extents."""
    nodes = [helper.make_node("Gather", ["x", "source"], ["r0"]), helper.make_node("ScatterElements", ["z", "index", "r0"], ["s0"], reduction="add", name="first"),
             helper.make_node("Gather", ["x", "target"], ["r1"]), helper.make_node("ScatterElements", ["s0", "index2", "r1"], ["y"], reduction="add", name="second"),
             helper.make_node("Unsqueeze", ["target", "one"], ["c0"]), helper.make_node("Expand", ["c0", "wide"], ["index"]),
             helper.make_node("Unsqueeze", ["source", "one"], ["c1"]), helper.make_node("Expand", ["c1", "wide"], ["index2"])]
    constants = [helper.make_tensor("z", FLOAT, (50, 16), np.zeros(800, np.float32)), helper.make_tensor("one", INT64, (1,), [1]), helper.make_tensor("wide", INT64, (2,), [400, 16])]
    order = [0, 4, 5, 1, 2, 6, 7, 3]
    model = make_model([nodes[i] for i in order], [value("x", FLOAT, (50, 16)), value("source", INT64, (400,)), value("target", INT64, (400,))], [value("y", FLOAT, (50, 16))], initializers=constants)
    feeds = {name: each for name, each in layer_feeds(3).items() if name != "weight"}
    expected = session(model, with_strew=False).run(None, feeds)
    with_strew = session(model)
    for _ in range(40):  # the later runs are steps that are known
        shared = ort.OrtValue.ortvalue_from_numpy(feeds["x"].copy())
        binding = with_strew.io_binding()
        binding.bind_ortvalue_input("x", shared)
        binding.bind_cpu_input("source", feeds["source"])
        binding.bind_cpu_input("target", feeds["target"])
        binding.bind_ortvalue_output("y", shared)
        with_strew.run_with_iobinding(binding)
        if difference := differs([shared.numpy()], expected):
            failures.append(f"a group whose output lies where an input does: {difference}")
            break

    for name in ("zeros/shape", "index/narrow", "index/shape", "index/shape/0"):  # what suffixes would give
        model = two_sums(16)
        for each in model.graph.input:
            each.name = each.name.replace("source", name)
        for each in model.graph.node:
            each.input[:] = [name if given == "source" else given for given in each.input]
        feeds = {n.replace("source", name): each for n, each in layer_feeds(4).items() if n != "weight"} | {"shape": np.array([400, 16])}
        with_strew = session(model)
        failures.check(("expand", "Expand") in runs(with_strew), f"an input called {name}: {strew.ort.report(with_strew)}")
        if difference := differs(with_strew.run(None, feeds), session(model, with_strew=False).run(None, feeds)):
            failures.append(f"an input called {name}: {difference}")

    table = np.random.default_rng(5).standard_normal((50, 128), np.float32) * 300
    for to in (TensorProto.UINT8, TensorProto.INT32, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BOOL):
        for source in (np.float32, np.float64, np.float16):
            cast = [helper.make_node("Gather", ["x", "i"], ["rows"]), helper.make_node("Cast", ["rows"], ["y"], to=to)]
            model = make_model(cast, [value("x", helper.np_dtype_to_tensor_dtype(np.dtype(source)), (50, 128)), value("i", INT64, (70,))], [value("y", to, (70, 128))])
            feeds = {"x": table.astype(source), "i": np.random.default_rng(6).integers(0, 50, 70)}
            if difference := differs(session(model).run(None, feeds), session(model, with_strew=False).run(None, feeds)):
                failures.append(f"a gather and a Cast of {np.dtype(source)} to {to}: {difference}")
    half = [helper.make_node("Gather", ["x", "i"], ["rows"]), helper.make_node("Mul", ["rows", "w"], ["m"]), helper.make_node("Add", ["m", "w"], ["y"])]
    model = make_model(half, [value("x", TensorProto.FLOAT16, (50, 128)), value("i", INT64, (70,)), value("w", TensorProto.FLOAT16, (70, 128))], [value("y", TensorProto.FLOAT16, (70, 128))])
    feeds = {"x": (table / 300).astype(np.float16), "i": np.random.default_rng(6).integers(0, 50, 70), "w": np.random.default_rng(7).standard_normal((70, 128)).astype(np.float16)}
    if difference := differs(session(model).run(None, feeds), session(model, with_strew=False).run(None, feeds)):
        failures.append(f"f16 around a gather: {difference}")

    only = session(layer(), ops="GatherND")
    failures.check("strew" not in runs(only).values(), f"ops of a layer: {strew.ort.report(only)}")
    one_name = layer()
    for each in one_name.graph.input:
        for dim in each.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = "n"
    feeds = layer_feeds(8)
    if difference := differs(session(one_name).run(None, feeds), session(one_name, with_strew=False).run(None, feeds)):
        failures.append(f"one name for two extents: {difference}")


def two_sums(width, extra_reader=False, **dims):
    """Two sums of rows by one index, which is expanded once, with a matrix product between them."""
    nodes, rows = [helper.make_node("Unsqueeze", ["target", "one"], ["column"]), helper.make_node("Expand", ["column", "shape"], ["index"], name="expand")], "x"
    for number in range(2):
        nodes += [helper.make_node("MatMul", [rows, "weights"], [f"mixed{number}"]), helper.make_node("Gather", [f"mixed{number}", "source"], [f"rows{number}"], name=f"look_up{number}"),
                  helper.make_node("ScatterElements", ["zeros", "index", f"rows{number}"], [f"sums{number}"], name=f"add{number}", reduction="add")]
        rows = f"sums{number}"
    outputs = [value("sums1", FLOAT, (50, width))]
    if extra_reader:
        nodes.append(helper.make_node("Neg", ["index"], ["negative"]))
        outputs.append(value("negative", INT64, None))
    edges = dims.get("edges", "e")
    inputs = [value("x", FLOAT, (50, width)), value("source", INT64, (edges,)), value("target", INT64, (dims.get("targets", edges),)), value("shape", INT64, (2,))]
    initializers = [helper.make_tensor("zeros", FLOAT, (50, width), np.zeros(50 * width, np.float32)), helper.make_tensor("one", INT64, (1,), [1]),
                    helper.make_tensor("weights", FLOAT, (width, width), np.eye(width, dtype=np.float32).ravel())]
    if "edges" in dims:
        inputs.pop()
        initializers.append(helper.make_tensor("shape", INT64, (2,), [edges, width]))
    return make_model(nodes, inputs, outputs, initializers=initializers)


def check_expansions(failures):
    """An index that several groups read is not written out, unless something else reads it, too."""
    for width, options in ((16, {"edges": 400}), (16, {}), (16, {"targets": "t"}), (1, {})):
        model = two_sums(width, **options)
        alone, with_strew = session(model, with_strew=False), session(model)
        if width == 16:
            failures.check(("expand", "Expand") in runs(with_strew), f"two sums, {options}: {strew.ort.report(with_strew)}")
        for edges, targets in ((400, 400), (400, 400)) if "edges" in options else ((400, 400), (1, 1), (0, 0), (30, 30), *(((30, 1),) if "targets" in options else ())):
            feeds = layer_feeds(edges, edges)
            feeds = {"x": np.random.default_rng(2).standard_normal((50, width)).astype(np.float32), "source": feeds["source"], "target": feeds["target"][:targets]}
            if "edges" not in options:
                feeds["shape"] = np.array([edges, width])
            for _ in range(2):
                if difference := differs(with_strew.run(None, feeds), alone.run(None, feeds)):
                    failures.append(f"two sums of {edges} edges, {targets} targets, width {width}, {options}: {difference}")
    model = two_sums(16, extra_reader=True, edges=400)
    alone, with_strew = session(model, with_strew=False), session(model)
    failures.check(("expand", "Expand") not in runs(with_strew), f"an index that is read elsewhere: {strew.ort.report(with_strew)}")
    feeds = {name: each for name, each in layer_feeds(1).items() if name != "weight"}
    failures.check(differs(with_strew.run(None, feeds), alone.run(None, feeds)) is None, "an index that is read elsewhere: the result differs")
    bad = session(two_sums(16))
    try:
        bad.run(None, feeds | {"shape": np.array([399, 16])})
        failures.append("an Expand to another extent: no error")
    except Exception as error:  # noqa: BLE001
        failures.check("dim 0 of the shape is 399, expected 1 or the extent of the input there, 400" in str(error), f"an Expand to another extent: {error}")


def check_threads(failures, count):
    """Eight threads call one session, and sessions end while others run."""
    wrong = []

    def call(with_strew, feeds, expected):
        for _ in range(count // 8):
            if difference := differs(with_strew.run(None, feeds), expected):
                wrong.append(difference)

    for model, make in ((chain(4), feeds_of), (layer(), layer_feeds), (layer(50, 400), layer_feeds)):
        alone, with_strew = session(model, with_strew=False), session(model, threads=2)
        threads = []
        for seed in range(8):
            feeds = make(seed)
            threads.append(threading.Thread(target=call, args=(with_strew, feeds, alone.run(None, feeds))))
        for each in threads:
            each.start()
        for _ in range(20):
            session(model).run(None, make(3))
            gc.collect()
        for each in threads:
            each.join()
    failures.check(not wrong, f"eight threads: {len(wrong)} results differ: {wrong[:1]}")


def check_bodies(failures):
    """The bodies of If and of Loop, which read values of the graph around them."""
    body = helper.make_graph([helper.make_node("ScatterND", ["table", "i", "u"], ["written"], name="inside", reduction="add"), helper.make_node("Identity", ["going"], ["goes"])], "body",
                             [value("number", INT64, ()), value("going", TensorProto.BOOL, ()), value("table", FLOAT, (64, 64))], [value("goes", TensorProto.BOOL, ()), value("written", FLOAT, (64, 64))])
    loop = helper.make_node("Loop", ["times", "", "x"], ["y"], body=body, name="loop")
    branches = {f"{name}_branch": helper.make_graph([helper.make_node("ScatterND", ["x", "i", "u"], [f"{name}_out"], name=f"in_{name}", reduction=reduction)], name, [], [value(f"{name}_out", FLOAT, (64, 64))])
                for name, reduction in (("then", "add"), ("else", "mul"))}
    branch = helper.make_node("If", ["condition"], ["z"], name="if", **branches)
    inputs = [value("times", INT64, ()), value("condition", TensorProto.BOOL, ()), value("x", FLOAT, (64, 64)), value("i", INT64, (1, 1)), value("u", FLOAT, (1, 64))]
    model = make_model([loop, branch], inputs, [value("y", FLOAT, (64, 64)), value("z", FLOAT, (64, 64))])
    alone, with_strew = session(model, with_strew=False), session(model)
    failures.check({name for (name, _), who in runs(with_strew).items() if who == "strew"} == {"inside", "in_then", "in_else"}, f"bodies: {strew.ort.report(with_strew)}")
    for times, condition in ((0, True), (5, False)):
        feeds = feeds_of() | {"times": np.array(times), "condition": np.array(condition)}
        for _ in range(2):
            if difference := differs(with_strew.run(None, feeds), alone.run(None, feeds)):
                failures.append(f"bodies, {times} times, {condition}: {difference}")


def expect(failures, where, words, function, *arguments, **options):
    try:
        function(*arguments, **options)
        failures.append(f"{where}: no error, expected: {words}")
    except Exception as error:  # noqa: BLE001
        failures.check(words in str(error), f"{where}: {error}, expected: {words}")


def check_constant(failures):
    """A scatter into a large constant whose elements are all the same, which ONNX Runtime makes of what exporters write as ConstantOfShape, does not copy it."""
    nodes = [helper.make_node("ConstantOfShape", ["shape"], ["table"], value=helper.make_tensor("v", FLOAT, [1], [-0.5])), helper.make_node("ScatterND", ["table", "i", "u"], ["y"], name="write")]
    shape = helper.make_tensor("shape", INT64, (2,), [400, 64])
    model = make_model(nodes, [value("i", INT64, ("n", 1)), value("u", FLOAT, ("n", 64))], [value("y", FLOAT, (400, 64))], initializers=[shape])
    with_strew, rng = session(model), np.random.default_rng(3)
    for count in (9, 0, 300):
        feeds = {"i": rng.integers(-400, 400, (count, 1)), "u": rng.standard_normal((count, 64), np.float32)}
        difference = differs(with_strew.run(None, feeds), session(model, with_strew=False).run(None, feeds))
        failures.check(difference is None, f"{count} rows into a constant: {difference}")
    report = strew.ort.report(with_strew)
    failures.check(report.copied == 0 and ["fills its result" in each.why for each in report.nodes] == [True], f"a scatter into a constant: {report}")
    feeds["i"][8] = 400
    expect(failures, "a bad index into a constant", "value 400", with_strew.run, None, feeds)


def check_options(failures):
    for name, bad, words in (("threads", -1, "threads is '-1', expected a number from 0 to 1024"), ("threads", 1025, "threads is '1025'"), ("verify", -3, "verify is '-3'"),
                             ("ops", ["ScatterND", "Scatterer"], "ops names 'Scatterer', expected operators with commas between them, of: Gather, "), ("wisdom", "/no/such/file", "/no/such/file")):
        options = ort.SessionOptions()
        options.log_severity_level = 4
        strew.ort.session_options(options, **{name: bad})
        expect(failures, f"option {name} {bad!r}", words, ort.InferenceSession, chain(1).SerializeToString(), options, enable_fallback=0)
    only = session(chain(2), ops="ScatterElements")
    failures.check(set(runs(only).values()) == {"ONNX Runtime"} and "ops does not name" in strew.ort.report(only).nodes[0].why, f"ops: {strew.ort.report(only)}")
    feeds = feeds_of()
    expected = session(chain(2), with_strew=False).run(None, feeds)
    failures.check(differs(only.run(None, feeds), expected) is None, "ops: the result differs")
    verified = session(chain(2), verify=1)
    failures.check(all(differs(verified.run(None, feeds), expected) is None for _ in range(3)), "verify: the result differs")
    expect(failures, "report", "it was not made with strew.ort.session_options()", strew.ort.report, session(chain(1), with_strew=False))
    expect(failures, "ops of none", "ops: [] names no operator", strew.ort.session_options, ops=[])
    shared = ort.SessionOptions()
    shared.log_severity_level = 4
    strew.ort.session_options(shared)
    first = ort.InferenceSession(chain(1).SerializeToString(), shared)
    second = ort.InferenceSession(chain(2).SerializeToString(), shared)
    failures.check(len(strew.ort.report(first).nodes) == 2, "options of two sessions: the report is not the youngest one's")
    del second
    gc.collect()
    failures.check(len(strew.ort.report(first).nodes) == 1, "options of two sessions: the report of the one that is left")
    text = str(strew.ort.report(only))
    failures.check("ONNX Runtime" in text and "write0" in text and "in place: 0" in text, f"the report's text: {text}")
    strew.ort.register()
    strew.ort.register()
    failures.check(sum(device.ep_name == strew.ort.PROVIDER for device in ort.get_ep_devices()) == 1, "the library was registered twice")
    small = helper.make_node("Gather", ["shape", "one"], ["y"], name="extent")
    model = make_model([helper.make_node("Shape", ["x"], ["shape"]), small], [value("x", FLOAT, ("n", "m")), value("one", INT64, (1,))], [value("y", INT64, (1,))])
    failures.check(runs(session(model)) == {("extent", "Gather"): "ONNX Runtime"}, f"a gather of a shape: {runs(session(model))}")


def refusal(version, get_api):
    """What the library says to an ONNX Runtime of that version, whose GetApi is `get_api`. A table of the interface is an array of functions."""
    get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(get_api)
    text = ctypes.create_string_buffer(version.encode())
    get_version = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: ctypes.addressof(text))
    base = (ctypes.c_void_p * 2)(*(ctypes.cast(each, ctypes.c_void_p) for each in (get, get_version)))
    out, count = ctypes.c_void_p(), ctypes.c_size_t(7)
    create = ctypes.CDLL(strew.ort.library_path()).CreateEpFactories
    create.restype = ctypes.c_void_p
    status = create(None, base, None, ctypes.byref(out), ctypes.c_size_t(1), ctypes.byref(count))
    return status, out.value, count.value


def check_versions(failures):
    """An ONNX Runtime that is too old, that does not have the interface after all, or whose interface is another one is refused in a sentence with both versions;
    and so is one without plugins, and a second one of another version in one process."""
    strew.ort.register()
    number = next(device.ep_metadata["version"] for device in ort.get_ep_devices() if device.ep_name == strew.ort.PROVIDER)
    said, asked, kept = [], [], []
    create_status = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)(lambda _, words: said.append(words.decode()) or 1)
    other = ctypes.create_string_buffer(b"something else")

    def table(answer):
        function = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: answer)
        functions = (ctypes.c_void_p * 1000)(*[ctypes.cast(function, ctypes.c_void_p)] * 1000)
        functions[0] = ctypes.cast(create_status, ctypes.c_void_p)
        kept.append(function)
        return functions

    def get_api(tables):
        def get(wanted):
            asked.append(wanted)
            return ctypes.addressof(tables[wanted]) if wanted in tables else None
        return get

    empty, filled = table(None), table(ctypes.addressof(other))
    for version, tables, wanted, words in (("1.23.2", {1: empty}, [1], ""), ("0.9.0", {1: empty}, [1], ""), ("1.24.0", {1: empty}, [24, 1], ", which does not have that interface"),
                                            ("1.99.1", {1: empty, 24: empty}, [24, 1], ", whose interface is not the one that strew knows"),
                                            ("2.0.0", {1: empty, 24: filled}, [24, 1], ", whose interface is not the one that strew knows"), ("1.99.1", {}, [24, 1], None)):
        said.clear()
        asked.clear()
        status, out, count = refusal(version, get_api(tables))
        separator = "; " if words else ", "
        expected = [] if words is None else [f"strew {number}: ONNX Runtime is {version}{words}{separator}expected ONNX Runtime 1.24 or later, whose interface has version 24"]
        last = said[-1:]  # before it, the table was tried with words of the library's own
        failures.check((last, asked) == (expected, wanted) and (out, count) == (None, 0) and (status == 1) == bool(expected), f"ONNX Runtime {version}: {status}, {out}, {count}, {said}, {asked}, expected {expected}")
    # Another runtime in this process: the package has one as a library of its own, for hosts in C++.
    libraries = list(pathlib.Path(ort.__file__).parent.glob("capi/libonnxruntime.so.*"))
    failures.check(len(libraries) == 1, f"two versions of ONNX Runtime: the package has {libraries}")
    for path in libraries:
        get_base = ctypes.CDLL(str(path)).OrtGetApiBase
        get_base.restype = ctypes.POINTER(ctypes.c_void_p)
        real = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(get_base()[0])
        status, out, count = refusal("1.99.1", lambda wanted, real=real: real(wanted))
        get_message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(ctypes.cast(real(1), ctypes.POINTER(ctypes.c_void_p))[2])
        message = get_message(status).decode() if status else "no error"
        expected = f"strew {number}: ONNX Runtime is 1.99.1, but {ort.__version__} has registered this library in this process; expected one version of ONNX Runtime"
        failures.check((message, out, count) == (expected, None, 0), f"two versions of ONNX Runtime: {message}, {out}, {count}")
    installed = sys.modules["onnxruntime"]
    sys.modules["onnxruntime"] = types.SimpleNamespace(__version__="1.19.2")
    try:
        expect(failures, "ONNX Runtime without plugins", f"strew {number}: ONNX Runtime is 1.19.2, expected ONNX Runtime 1.24 or later", strew.ort.session_options)
    finally:
        sys.modules["onnxruntime"] = installed


def check_documents(failures):
    """The examples in docstrings, with a model."""
    for module in (strew.ort, onnxruntime_ep_strew):
        result = doctest.testmod(module, extraglobs={"model": chain(2).SerializeToString()})
        failures.check(result.attempted > 0 and result.failed == 0, f"{module.__name__}: {result.failed} of {result.attempted} examples are wrong")
    failures.check(onnxruntime_ep_strew.get_library_path() == strew.ort.library_path(), "onnxruntime_ep_strew has another library")


IN_ANOTHER_PROCESS = """
import sys
sys.path.insert(0, {folder!r})
import host_test as t
feeds = t.layer_feeds(1)
with_strew = t.session(t.layer(), cache_dir={cache!r})
expected = t.session(t.layer(), with_strew=False).run(None, feeds)
t.sys.exit(0 if all(t.differs(with_strew.run(None, feeds), expected) is None for _ in range(3)) else 1)
"""


def check_cache(failures):
    """Kernels on disk; neither a folder that cannot be written, nor a file in it that is no kernel, nor a variable with a bad value is an error; that there is no
    kernel is one where it must be there."""
    folder = os.path.dirname(os.path.abspath(__file__))

    def run(place, expected="", **variables):
        environment = {name: each for name, each in os.environ.items() if not name.startswith("STREW_")} | {"STREW_COMPILE": "blocking", "STREW_WISDOM": "off"} | variables
        done = subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS.format(folder=folder, cache=place)], capture_output=True, text=True, env=environment, check=False)
        failures.check((done.returncode == 0) == (expected == "") and expected in done.stderr, f"cache_dir {place}, {variables}: exit status {done.returncode}: {done.stderr[-500:]}")

    with tempfile.TemporaryDirectory() as cache:
        run(cache, "must_hit", STREW_COMPILE="must_hit")
        run(cache)
        kernels = [os.path.join(cache, name) for name in os.listdir(cache) if name.endswith(".kernel")]
        failures.check(len(kernels) > 0, "cache_dir: no kernel is there")
        run(cache, STREW_COMPILE="must_hit", STREW_VERIFY="1")
        sizes = [os.path.getsize(each) for each in kernels]
        for each in kernels:
            os.truncate(each, os.path.getsize(each) // 2)
        run(cache, STREW_THREADS="-4")
        failures.check(sizes == [os.path.getsize(each) for each in kernels], "cache_dir: half a kernel was not written again")
        run("/proc/no_such_folder")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--runs", type=int, default=1000, help="calls by eight threads")
    arguments = parser.parse_args()
    failures = Failures()
    checks = (check_in_place, check_groups, check_static_calls, check_group_rules, check_expansions, check_bodies, check_constant, check_options, check_versions, check_documents, check_cache)
    for check in checks:
        check(failures)
    check_threads(failures, arguments.runs)
    return failures.report(len(checks) + 1)


if __name__ == "__main__":
    sys.exit(main())
