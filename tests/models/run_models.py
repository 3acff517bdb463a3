"""Runs strew on the models of this folder and compares with the frameworks' results.

    python3 tests/models/run_models.py --strew build/bin/strew [--verbose] [PATTERN...]

A PATTERN is a glob over FRAMEWORK/NAME. Every case is right, wrong or refused (exit status 1 or 2 with a message); a crash counts as wrong.
The last lines count them per framework, with the messages of refused files by frequency. --jax-rule gives --oob skip_window to files of JAX
and TensorFlow that have a scatter, because that is XLA's rule. Needs NumPy only. Exit status 1 if anything is wrong.
"""

import argparse
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def as_float(array):
    """The values of a float tensor, bf16 included."""
    if array.dtype == np.dtype("V2"):
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def differs(got, want, tolerance):
    """None, or how two tensors differ. Any two NaNs are equal; 0 and -0 are when there is a tolerance."""
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, expected {list(want.shape)}"
    if got.dtype.kind != want.dtype.kind and got.dtype.kind != "V" or got.dtype.itemsize != want.dtype.itemsize and want.dtype.kind not in "US":
        return f"dtype {got.dtype}, expected {want.dtype}"
    if want.dtype.kind in "US":
        return None if (got == want).all() else "strings differ"
    if want.dtype.kind == "V" and want.dtype.itemsize != 2:
        return None if got.tobytes() == want.tobytes() else "bytes differ"
    got = got.view(want.dtype) if got.dtype != want.dtype else got
    if want.dtype.kind not in "fcV":
        wrong = got != want
    else:
        a, b = np.atleast_1d(as_float(got)), np.atleast_1d(as_float(want))
        with np.errstate(invalid="ignore"):
            near = np.abs(a - b) <= tolerance * np.maximum(1, np.abs(b)) if tolerance else a == b
        wrong = ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))
        if not tolerance:
            wrong |= (a == 0) & (b == 0) & (np.signbit(a.real) != np.signbit(b.real))
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    place = tuple(np.argwhere(np.atleast_1d(wrong))[0])
    return f"{count} of {want.size} elements, first at {list(map(int, place))}: {np.atleast_1d(got)[place]}, expected {np.atleast_1d(want)[place]}"


def run_case(strew, folder, case, options):
    """("right" | "wrong" | "refused", what was said)"""
    model = next(f for f in os.listdir(folder) if f.startswith("model."))
    with tempfile.TemporaryDirectory() as outputs:
        names = [os.path.join(outputs, f"{k}.npy") for k in range(len(case["outputs"]))]
        command = [strew, "run", model]
        if case["inputs"]:
            command += ["--input", *(t["file"] for t in case["inputs"])]
        try:
            done = subprocess.run([*command, "--output", *names, *options], capture_output=True, text=True, cwd=folder, timeout=120)
        except subprocess.TimeoutExpired:
            return "wrong", "no end within 120 s"
        said = done.stderr.strip()
        if done.returncode in (1, 2):
            return "refused", said
        if done.returncode != 0:
            return "wrong", f"exit status {done.returncode}: {said}"
        for name, tensor in zip(names, case["outputs"]):
            if not os.path.exists(name):
                return "wrong", f"output {tensor['name']} was not written"
            problem = differs(np.load(name), np.load(os.path.join(folder, tensor["file"])), case["tolerance"])
            if problem:
                return "wrong", f"output {tensor['name']}: {problem}"
    return "right", ""


def kind_of(message):
    """A message without what differs from file to file: places, names of nodes, lists."""
    message = re.sub(r"^error: \S+?:(\d+:)* ?", "", message.splitlines()[0] if message else "(no message)")
    message = re.sub(r"(,|:)? expected one of:? .*", "", message)
    message = re.sub(r"^node \S+ \((\S+)\)", r"node (\1)", message)
    return re.sub(r"\d+", "N", message)[:150]


def cases(patterns):
    for framework in sorted(os.listdir(HERE)):
        folder = os.path.join(HERE, framework)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            path = os.path.join(folder, name)
            if os.path.exists(os.path.join(path, "case.json")) and (
                    not patterns or any(fnmatch.fnmatch(f"{framework}/{name}", p) for p in patterns)):
                with open(os.path.join(path, "case.json")) as file:
                    yield framework, name, path, json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strew", required=True, help="the program")
    parser.add_argument("--jax-rule", action="store_true", help="give --oob skip_window to files of JAX and TensorFlow that have a scatter")
    parser.add_argument("--options", default="", help="more options of strew run, in one word, such as '--backend halide --verify'")
    parser.add_argument("--verbose", action="store_true", help="a line per case")
    parser.add_argument("--json", help="write the verdict of every case to this file")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    strew = os.path.abspath(arguments.strew)
    counts = collections.defaultdict(collections.Counter)
    refused, wrong, verdicts = collections.Counter(), [], {}
    for framework, name, path, case in cases(arguments.patterns):
        options = arguments.options.split()
        if arguments.jax_rule and framework in ("jax", "jax_export", "tensorflow"):
            with open(os.path.join(path, "model.mlir")) as file:
                if "stablehlo.scatter" in file.read():
                    options += ["--oob", "skip_window"]
        verdict, said = run_case(strew, path, case, options)
        counts[framework][verdict] += 1
        verdicts[f"{framework}/{name}"] = [verdict, said]
        if verdict == "refused":
            refused[kind_of(said)] += 1
        if verdict == "wrong":
            wrong.append(f"{framework}/{name}: {said}")
        if arguments.verbose:
            print(f"{framework}/{name}: {verdict}{': ' + said[:200] if said else ''}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(verdicts, file, indent=1)
    print("\nrefused, by message:")
    for message, count in refused.most_common():
        print(f"{count:4} {message}")
    print(f"\n{'':14}{'files':>7}{'right':>7}{'refused':>9}{'wrong':>7}")
    total = collections.Counter()
    for framework, count in sorted(counts.items()):
        total.update(count)
        print(f"{framework:14}{count.total():7}{count['right']:7}{count['refused']:9}{count['wrong']:7}")
    print(f"{'all':14}{total.total():7}{total['right']:7}{total['refused']:9}{total['wrong']:7}")
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
