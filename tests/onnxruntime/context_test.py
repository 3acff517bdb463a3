#!/usr/bin/env python3
"""Compiled models: EPContext nodes, which ONNX Runtime writes in the place of the nodes that strew runs as one, give the bits of the model that they were compiled from: graphs of layers, the files
of tests/models, drawn graphs. A context that is damaged, of another format, or in a node that it does not fit is an error of one sentence: contexts are cut, and bits are flipped, with
the checksum as it was and with one that fits.

    context_test.py [--seed N] [--graphs N] [--iterations N] [--only REGEX]

Exit status 0: right, 1: wrong.
"""
import argparse
import os
import random
import re
import struct
import sys
import tempfile

import graphs_test
import host_test
import models_test
from providers import Failures, TensorProto, differs, helper, make_model, np, onnx, ort, session, strew, value

MAGIC = b"strew context "
REFUSALS = ("InvalidGraph", "Fail", "InvalidArgument", "NotImplemented")


def compiled(model, by_option=False, embed_mode=None, **options):
    """What ONNX Runtime makes of a model with strew's provider, by its class ModelCompiler or by the option of a session."""
    settings = ort.SessionOptions()
    settings.log_severity_level = 4
    strew.ort.session_options(settings, **options)
    content = model if isinstance(model, bytes) else model.SerializeToString()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compiled.onnx")
        if by_option:
            settings.add_session_config_entry("ep.context_enable", "1")
            settings.add_session_config_entry("ep.context_file_path", path)
            if embed_mode is not None:
                settings.add_session_config_entry("ep.context_embed_mode", embed_mode)
            ort.InferenceSession(content, settings)
        else:
            ort.ModelCompiler(settings, content).compile_to_file(path)
        return onnx.load(path)


def contexts_of(model):
    return [node for node in model.graph.node if node.op_type == "EPContext"]


def attribute(node, name):
    return next(each for each in node.attribute if each.name == name)


def edges_feeds(edges=400):
    feeds = host_test.layer_feeds(1, edges)
    return {name: feeds[name] for name in ("x", "source", "target")}


def check_layers(failures):
    """A group, and groups with an expansion that both read; compiled in each way, and compiled again."""
    layer, sums = host_test.layer(), host_test.two_sums(16)
    cases = [("a layer", layer, host_test.layer_feeds(1), ["Gather, Shape, Expand, Mul, ScatterElements"]),
             ("two sums", sums, edges_feeds() | {"shape": np.array([400, 16])}, ["Expand", "Gather, ScatterElements", "Gather, ScatterElements"]),
             ("two sums of known extents", host_test.two_sums(16, edges=400), edges_feeds(), ["Expand", "Gather, ScatterElements", "Gather, ScatterElements"])]
    for name, model, feeds, notes in cases:
        expected = session(model, with_strew=False).run(None, feeds)
        made = {"by ModelCompiler": compiled(model), "by the option": compiled(model, by_option=True), "embedded": compiled(model, by_option=True, embed_mode="1"),
                "in files": compiled(model, by_option=True, embed_mode="0")}
        made["again"] = compiled(made["by ModelCompiler"])
        for how, each in made.items():
            nodes = contexts_of(each)
            found = sorted(attribute(node, "notes").s.decode() for node in nodes)
            failures.check(found == notes, f"{name}, {how}: EPContext nodes for {found}, expected {notes}")
            for node in nodes:
                given = {a.name: a.i if a.type == onnx.AttributeProto.INT else a.s.decode(errors="replace") for a in node.attribute}
                failures.check(given["source"] == strew.ort.PROVIDER and given["main_context"] == 1 and given["embed_mode"] == 1 and given["partition_name"] == node.name and
                               re.fullmatch(r"\d+\.\d+\.\d+", given["ep_sdk_version"]), f"{name}, {how}: attributes {given}")
            for threads in (1, 2):
                loaded = session(each, threads=threads)
                reported = sorted(node.why for node in strew.ort.report(loaded).nodes if node.operator == "EPContext" and node.runs == "strew")
                failures.check(reported == [f"the model was compiled, and it stands for: {each}" for each in notes], f"{name}, {how}: {strew.ort.report(loaded)}")
                for _ in range(2):
                    if difference := differs(loaded.run(None, feeds), expected):
                        failures.append(f"{name}, {how}, {threads} threads: {difference}")
    loaded = session(compiled(layer))
    for edges, rows in ((0, 3), (1, 1), (3000, 20)):  # extents that the model leaves open
        feeds = host_test.layer_feeds(3, edges, rows)
        if difference := differs(loaded.run(None, feeds), session(layer, with_strew=False).run(None, feeds)):
            failures.append(f"a layer of {edges} edges: {difference}")
    wrong = host_test.layer_feeds(1)
    wrong["source"][7] = 50
    host_test.expect(failures, "a bad index", "value 50", loaded.run, None, wrong)
    host_test.expect(failures, "without strew", f"EPContext node generated by '{strew.ort.PROVIDER}' is not compatible with any execution provider added to the session", session, compiled(layer),
                     with_strew=False)
    failures.check(not contexts_of(compiled(host_test.chain(3))), "a chain of writes has no groups, but EPContext nodes")


def check_unread(failures):
    """An output that nobody reads any more: the node that runs does not have it."""
    layer = host_test.layer()
    layer.graph.output.append(value("weighted", TensorProto.FLOAT, ("e", 16)))
    made = compiled(layer)
    node = contexts_of(made)[0]
    failures.check(sorted(node.output) == ["weighted", "y"], f"a layer with two outputs: an EPContext node with outputs {list(node.output)}")
    feeds = host_test.layer_feeds(4)
    expected = session(layer, with_strew=False).run(None, feeds)
    for kept in (0, 1):
        fewer = onnx.ModelProto()
        fewer.CopyFrom(made)
        fewer.graph.value_info.append(fewer.graph.output.pop(1 - kept))
        failures.check(differs(session(fewer).run(None, feeds), [expected[kept]]) is None, f"a layer of whose outputs only {layer.graph.output[kept].name} is read: the result differs")


def check_bodies(failures):
    """Bodies of loops have no EPContext nodes: ONNX Runtime puts them only into the graph of the model."""
    layer = host_test.layer()
    bool_type = TensorProto.BOOL
    body = helper.make_graph([*layer.graph.node, helper.make_node("Identity", ["going"], ["goes"])], "body", [value("number", TensorProto.INT64, ()), value("going", bool_type, ()), value("x", TensorProto.FLOAT, (50, 16))],
                             [value("goes", bool_type, ()), value("y", TensorProto.FLOAT, (50, 16))])
    inputs = [value("times", TensorProto.INT64, ()), value("first", TensorProto.FLOAT, (50, 16)), *list(layer.graph.input)[1:]]
    model = make_model([helper.make_node("Loop", ["times", "", "first"], ["out"], body=body)], inputs, [value("out", TensorProto.FLOAT, (50, 16))], initializers=layer.graph.initializer)
    feeds = host_test.layer_feeds(1)
    feeds = {name: array for name, array in feeds.items() if name != "x"} | {"times": np.array(2), "first": feeds["x"]}
    expected = session(model, with_strew=False).run(None, feeds)
    failures.check(differs(session(compiled(model)).run(None, feeds), expected) is None, "a loop, compiled: the result differs")


def check_files(failures, only):
    """The files of tests/models for which there are groups."""
    count = 0
    for path in sorted(models_test.MODELS.glob("*/*/model.onnx")):
        name = f"{path.parent.parent.name}/{path.parent.name}"
        if not re.search(only, name):
            continue
        model = onnx.load(path)
        model.ir_version = min(model.ir_version, 13)
        content = model.SerializeToString()
        try:
            feeds = models_test.feeds_of(path.parent)
            expected = session(content, with_strew=False).run(None, feeds)
        except Exception:  # noqa: BLE001, S112  what ONNX Runtime does not run is no case
            continue
        try:
            made = compiled(content)
            if not contexts_of(made):
                continue
            count += 1
            loaded = session(made, threads=2)
            if difference := differs(loaded.run(None, feeds), expected):
                failures.append(f"{name}, compiled: {difference}")
        except Exception as error:  # noqa: BLE001
            has_bodies = any(a.type == onnx.AttributeProto.GRAPH for node in model.graph.node for a in node.attribute)
            if not has_bodies or "strew" in str(error):  # ONNX Runtime does not write every model with bodies that read what is around them
                failures.append(f"{name}, compiled: {str(error)[:400]}")
    failures.check(only != "." or count >= 20, f"only {count} files of tests/models have groups")
    return count


def check_drawn(failures, seed, count):
    made_of = 0
    for number in range(count):
        drawn, model = graphs_test.draw(f"{seed} {number}")
        where = f"drawn graph {number} (--seed {seed} --graphs {number + 1})"
        if model is None:
            continue
        try:
            expected = session(model, with_strew=False).run(None, drawn.feeds)
        except Exception:  # noqa: BLE001, S112
            continue
        try:
            made = compiled(model)
            if not contexts_of(made):
                continue
            made_of += 1
            loaded = session(made, threads=drawn.random.choice((1, 2)))
            for _ in range(2):
                if difference := differs(loaded.run(None, drawn.feeds), expected):
                    failures.append(f"{where}, compiled: {difference}")
                    break
        except Exception as error:  # noqa: BLE001
            failures.append(f"{where}, compiled: {str(error)[:400]}")
    failures.check(made_of > 0 or count < 100, f"none of {count} drawn graphs has groups")
    return made_of


def with_checksum(content):
    """A context of these bytes, with the checksum that it ends with: FNV-1a of 64 bits, in digits."""
    total = 0xcbf29ce484222325
    for byte in content:
        total = (total ^ byte) * 0x100000001b3 % 2**64
    return content + b"%016x" % total


def changed(model, context=None, **attributes):
    """A copy of a compiled model, whose first EPContext node has this context and these attributes; None: it lacks the attribute."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    node = contexts_of(copy)[0]
    if context is not None:
        attributes["ep_cache_context"] = context
    for name, given in attributes.items():
        node.attribute.remove(attribute(node, name))
        if given is not None:
            node.attribute.append(helper.make_attribute(name, given))
    return copy


def check_errors(failures):
    model = compiled(host_test.layer())
    sums = compiled(host_test.two_sums(16))
    context = attribute(contexts_of(model)[0], "ep_cache_context").s
    failures.check(with_checksum(context[:-16]) == context, "a context does not end with its checksum")
    version = attribute(contexts_of(model)[0], "ep_sdk_version").s.decode()
    rest = context[len(MAGIC) + 8 + 8 + len(version):-16]  # what follows the format and the version of strew
    other = MAGIC + struct.pack("<QQ", 2, 5) + b"9.8.7" + rest
    name = contexts_of(model)[0].name
    cases = [("another format", {"context": with_checksum(other)}, f"node '{name}' (EPContext): ep_cache_context has format 2, which strew 9.8.7 has written, expected format 1: compile the model again "
              f"with strew {version}"),
             ("something else", {"context": b"a path/of.bin"}, "ep_cache_context is not one that strew has written: compile the model again"), ("nothing", {"context": b""}, "not one that strew has written"),
             ("another byte", {"context": context[:100] + bytes([context[100] ^ 1]) + context[101:]}, "ep_cache_context is damaged: compile the model again"),
             ("a byte more", {"context": with_checksum(context[:-16] + b"x")}, "damaged"), ("no context", {"ep_cache_context": None}, "it has no ep_cache_context"),
             ("a file", {"embed_mode": 0}, "embed_mode is 0, expected 1: contexts of strew lie in the model"), ("another provider's", {"source": "SomeExecutionProvider"}, "is not compatible with any execution provider added to the session")]
    for what, change, words in cases:
        host_test.expect(failures, f"a context: {what}", words, session, changed(model, **change))
    # Nodes that are not what their contexts are of.
    group = next(attribute(node, "ep_cache_context").s for node in contexts_of(sums) if attribute(node, "notes").s != b"Expand")
    host_test.expect(failures, "an expansion with a group's context", "(EPContext): it has no input 3, which its context reads", session, changed(sums, group))
    few = changed(model)
    del contexts_of(few)[0].input[1:]
    host_test.expect(failures, "a node with one input", "it has no input 1, which its context reads", session, few)
    double = changed(model)
    double.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    host_test.expect(failures, "a node with another output", "is not the one of its context", session, double)
    # What another strew of the same format has written is read.
    same = MAGIC + struct.pack("<QQ", 1, 5) + b"9.8.7" + rest
    feeds = host_test.layer_feeds(2)
    failures.check(differs(session(changed(model, with_checksum(same))).run(None, feeds), session(host_test.layer(), with_strew=False).run(None, feeds)) is None, "a context of another strew: the result differs")


def check_damage(failures, seed, iterations):
    """Contexts that are cut, or whose bits are flipped: an error, or a node that runs, but nothing else. The first half keeps its checksum, and is refused."""
    models = [(compiled(host_test.layer()), host_test.layer_feeds(1)), (compiled(host_test.two_sums(16)), edges_feeds() | {"shape": np.array([400, 16])})]
    draw = random.Random(f"{seed} damage")
    refused = 0
    for number in range(iterations):
        model, feeds = draw.choice(models)
        context = attribute(contexts_of(model)[0], "ep_cache_context").s
        content = bytearray(context[:-16])
        kind = draw.choice(("cut", "flip", "flip", "number"))
        if kind == "cut":
            del content[draw.randrange(len(content)):]
        elif kind == "flip":
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        else:
            at = draw.choice((draw.randrange(len(content) - 8), len(content) - 8 * draw.randint(1, 20)))
            content[at:at + 8] = struct.pack("<Q", draw.choice((0, 1, 2, 7, 33, 2**31, 2**63, 2**64 - 1)))
        keeps = number < iterations // 2
        if bytes(content) == context[:-16]:
            continue
        damaged = bytes(content) + context[-16:] if keeps else with_checksum(bytes(content))
        where = f"damage {number} (--seed {seed} --iterations {iterations}): {kind}"
        print(where, file=sys.stderr, flush=True) if os.environ.get("STREW_TEST_VERBOSE") else None
        try:
            loaded = session(changed(model, damaged))
            failures.check(not keeps, f"{where}: a damaged context is no error")
            loaded.run(None, feeds)
        except Exception as error:  # noqa: BLE001
            refused += 1
            failures.check(type(error).__name__ in REFUSALS and "strew: " in str(error), f"{where}: {type(error).__name__}: {error}")
    failures.check(refused >= iterations // 2, f"of {iterations} damaged contexts {refused} are refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--graphs", type=int, default=300, help="drawn graphs")
    parser.add_argument("--iterations", type=int, default=600, help="damaged contexts")
    parser.add_argument("--only", default=".", help="files of tests/models")
    arguments = parser.parse_args()
    failures = Failures()
    print("seed", arguments.seed, flush=True)
    check_layers(failures)
    check_unread(failures)
    check_bodies(failures)
    check_errors(failures)
    files, graphs = check_files(failures, arguments.only), check_drawn(failures, arguments.seed, arguments.graphs)
    check_damage(failures, arguments.seed, arguments.iterations)
    print(f"{files} files of tests/models and {graphs} drawn graphs with groups")
    return failures.report(files + graphs + arguments.iterations)


if __name__ == "__main__":
    sys.exit(main())
