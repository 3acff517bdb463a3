#!/usr/bin/env python3
"""The ONNX files of tests/models, which exporters wrote, through ONNX Runtime with strew's provider and without: the same outputs, bit for bit, on one thread and on two. Where ONNX Runtime does
not run a file, neither is it run here. `--list` prints what strew runs of each.

    models_test.py [--only REGEX] [--list]

Exit status 0: right, 1: wrong.
"""
import argparse
import json
import pathlib
import re
import sys

from providers import Failures, differs, np, onnx, session, strew

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models"


def feeds_of(folder):
    case = json.loads((folder / "case.json").read_text())
    arrays = np.load(folder / "tensors.npz", allow_pickle=False)
    return {each["name"]: arrays[each["array"]] for each in case["inputs"] if each.get("array") in arrays}


def check(path, failures, counts, lists):
    folder = path.parent
    name = f"{folder.parent.name}/{folder.name}"
    model = onnx.load(path)
    model.ir_version = min(model.ir_version, 13)
    content = model.SerializeToString()
    try:
        feeds = feeds_of(folder)
        alone = session(content, with_strew=False)
        expected = alone.run(None, feeds)
    except Exception as error:  # noqa: BLE001
        counts["ONNX Runtime does not run it"] = counts.get("ONNX Runtime does not run it", 0) + 1
        if lists:
            print(f"{name}: not run: {str(error)[:150]}")
        return
    counts["models"] = counts.get("models", 0) + 1
    for threads in (1, 2):
        try:
            with_strew = session(content, threads=threads)
            for _ in range(3):
                if difference := differs(with_strew.run(None, feeds), expected):
                    failures.append(f"{name}, {threads} threads: {difference}\n{strew.ort.report(with_strew)}")
                    break
        except Exception as error:  # noqa: BLE001
            failures.append(f"{name}, {threads} threads: {str(error)[:500]}")
            return
    report = strew.ort.report(with_strew)
    for each in report.nodes:
        key = (each.operator, each.runs)
        counts[key] = counts.get(key, 0) + 1
        failures.check(each.operator != "(the graph)", f"{name}: {each.why}")
    if lists:
        print(f"{name}:\n{report}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--only", default=".")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    failures, counts = Failures(), {}
    for path in sorted(MODELS.glob("*/*/model.onnx")):
        if re.search(arguments.only, str(path.parent.relative_to(MODELS))):
            check(path, failures, counts, arguments.list)
    print(counts)
    failures.check(arguments.only != "." or counts.get("models", 0) > 150, f"only {counts.get('models', 0)} models were run")
    return failures.report(counts.get("models", 0))


if __name__ == "__main__":
    sys.exit(main())
