"""Runs strew on the models of this folder and compares with the frameworks' results.

    python3 tests/models/run_models.py --strew build/bin/strew [--verbose] [PATTERN...]

A PATTERN is a glob over FRAMEWORK/NAME. Every case is right, wrong or refused (exit status 1 or 2 with a message); a crash counts as wrong.
Where the whole file is refused but `strew check` lists its kernels, each kernel is run on the values that the framework computed at its
inputs; the file counts as "kernels" if one is right and none is wrong or refused, and as "unseen" if none could be compared, because no
framework shows the values in loops and branches. A refused file without indexed operations counts as "no op". A case that case.json calls
whole has no values for single kernels and must run whole. The last lines count files and kernels per framework, after the messages of what was
refused by frequency. --jax-rule gives --oob skip_window to files of JAX
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


def strew_run(strew, folder, arguments, outputs):
    """(exit status, stderr) of a run in the folder of the case; the files `outputs` are written."""
    command = [strew, "run", next(f for f in os.listdir(folder) if f.startswith("model.")), *arguments, "--output", *outputs]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return None, "no end within 120 s"
    return done.returncode, done.stderr.strip()


def judge(status, said, files, wanted, tolerance):
    """("right" | "wrong" | "refused", what was said). wanted: (name, expected array or None) per file."""
    if status in (1, 2):
        return "refused", said
    if status != 0:
        return "wrong", f"exit status {status}: {said}"
    for file, (name, want) in zip(files, wanted):
        if not os.path.exists(file):
            return "wrong", f"output {name} was not written"
        problem = None if want is None else differs(np.load(file), want, tolerance)
        if problem:
            return "wrong", f"output {name}: {problem}"
    return "right", ""


def tensors_of(folder):
    """The arrays of a case by name; each is read when it is asked for."""
    return np.load(os.path.join(folder, "tensors.npz"))


def written(work, tensors, name):
    """The path of a file in the folder `work` that holds the array `name`."""
    path = os.path.join(work, f"{name}.npy")
    np.save(path, tensors[name])
    return path


def run_whole(strew, folder, case, options):
    with tempfile.TemporaryDirectory() as work, tensors_of(folder) as tensors:
        files = [os.path.join(work, f"{k}.npy") for k in range(len(case["outputs"]))]
        inputs = ["--input", *(written(work, tensors, t["array"]) for t in case["inputs"])] if case["inputs"] else []
        status, said = strew_run(strew, folder, [*inputs, *options], files)
        return judge(status, said, files, [(t["name"], tensors[t["array"]]) for t in case["outputs"]], case["tolerance"])


def known_values(case):
    """The array of each value of the model that case.json records, by name and by (function, name)."""
    known = {}
    for function, values in case.get("values", {}).items():
        known.update({(function, name): array for name, array in values.items()} if isinstance(values, dict) else {function: values})
    for kernel in case.get("kernels", ()):
        for name, array in [*kernel["inputs"].items(), (kernel["node"], kernel["result"])]:
            known.setdefault((kernel["function"], name) if "function" in kernel else name, array)
    for tensor in [*case["inputs"], *case["outputs"]]:
        known.setdefault(tensor["name"], tensor["array"])
    for place, tensor in enumerate(case["inputs"]):
        known.setdefault(f"arg{place}", tensor["array"])
    for (function, name), array in [(key, array) for key, array in known.items() if isinstance(key, tuple)]:
        value = name.replace("#", "_")  # what strew calls %1#0: %1_0, and in another function FUNCTION.%1_0
        known[value if function == "main" else f"{function}.{value}"] = array
        if function == "main" and not value[1:2].isdigit():
            known[value[1:]] = array  # %arg0 and %indices are arg0 and indices
    return known


def run_kernels(strew, folder, case, options):
    """[(kernel's name, "right" | "wrong" | "refused" | "unchecked", what was said)], or None where strew lists no kernels of the file."""
    model = next(f for f in os.listdir(folder) if f.startswith("model."))
    done = subprocess.run([strew, "check", "--json", model, *[o for o in options if "oob" in o or "skip" in o]], capture_output=True, text=True,
                          cwd=folder, check=False)
    if done.returncode != 0:
        return None
    known, verdicts = known_values(case), []
    for kernel in json.loads(done.stdout)["kernels"]:
        if "inputs" not in kernel:
            return None
        label = kernel["name"]
        missing = [t["name"] for t in kernel["inputs"] if t["name"] not in known]
        results = [t["name"] for t in kernel["outputs"]]
        if missing or not any(name in known for name in results):
            verdicts.append((label, "unchecked", f"no value is recorded for {missing or results}"))
            continue
        with tempfile.TemporaryDirectory() as work, tensors_of(folder) as tensors:
            wanted = [(name, tensors[known[name]] if name in known else None) for name in results]
            files = [os.path.join(work, f"{k}.npy") for k in range(len(wanted))]
            inputs = [f"{t['name']}={written(work, tensors, known[t['name']])}" for t in kernel["inputs"]]
            status, said = strew_run(strew, folder, ["--kernel", label, *(["--input", *inputs] if inputs else []), *options], files)
            verdicts.append((label, *judge(status, said, files, wanted, case["tolerance"])))
    return verdicts


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


def unexpected(arguments, verdicts):
    """The cases that --refused does not expect to be refused, or expects to be, each with what happened."""
    if not arguments.refused:
        return []
    with open(arguments.refused) as file:
        listed = {line.split()[0] for line in file if line.strip() and not line.startswith("#")}
    out = [f"REFUSED {name}: {said}" for name, (verdict, said, _) in verdicts.items() if verdict == "refused" and name not in listed]
    if not arguments.patterns:
        out += [f"{name} is in {arguments.refused}, and is not refused" for name in sorted(listed) if verdicts.get(name, [""])[0] != "refused"]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strew", required=True, help="the program")
    parser.add_argument("--jax-rule", action="store_true", help="give --oob skip_window to files of JAX and TensorFlow that have a scatter")
    parser.add_argument("--options", default="", help="more options of strew run, in one word, such as '--backend halide --verify'")
    parser.add_argument("--verbose", action="store_true", help="a line per case")
    parser.add_argument("--refused", help="a file with the cases that may be refused, one FRAMEWORK/NAME a line: any other that is refused fails the run, and so does one of these that is not")
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
        verdict, said = run_whole(strew, path, case, options)
        kernels = run_kernels(strew, path, case, options) if verdict == "refused" and not case.get("whole") else None
        for label, result, what in kernels or ():
            counts[framework][f"kernel {result}"] += 1
            if result == "wrong":
                wrong.append(f"{framework}/{name} kernel {label}: {what}")
            if result == "refused":
                refused[f"(kernel) {kind_of(what)}"] += 1
            if arguments.verbose:
                print(f"{framework}/{name} kernel {label}: {result}{': ' + what[:200] if what else ''}", flush=True)
        if kernels is not None:
            results = {result for _, result, _ in kernels}
            verdict = next((v for v in ("wrong", "refused", "right") if v in results), "unseen").replace("right", "kernels")
        if verdict == "refused" and not kernels and not case.get("whole") and case["indexed_ops"] == 0:
            verdict = "no op"
        counts[framework][verdict] += 1
        verdicts[f"{framework}/{name}"] = [verdict, said, kernels]
        if verdict == "refused":
            refused[kind_of(said)] += 1
        if verdict == "wrong" and kernels is None:
            wrong.append(f"{framework}/{name}: {said}")
        if arguments.verbose:
            print(f"{framework}/{name}: {verdict}{': ' + said[:200] if said else ''}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(verdicts, file, indent=1)
    if refused:
        print("\nrefused, by message:")
    for message, count in refused.most_common():
        print(f"{count:4} {message}")
    columns = ("right", "kernels", "unseen", "no op", "refused", "wrong")
    inner = ("right", "unchecked", "refused", "wrong")
    print(f"\n{'':14}{'files':>7}{''.join(f'{c:>9}' for c in columns)} | kernels{''.join(f'{c:>11}' for c in inner)}")
    total = collections.Counter()
    for framework, count in [*sorted(counts.items()), ("all", total)]:
        total.update(count if count is not total else {})
        files = sum(count[c] for c in columns)
        kernels = "".join(f"{count['kernel ' + c]:11}" for c in inner)
        print(f"{framework:14}{files:7}{''.join(f'{count[c]:9}' for c in columns)} |        {kernels}")
    for line in wrong:
        print(f"WRONG {line}")
    surprises = unexpected(arguments, verdicts)
    for line in surprises:
        print(line)
    return 1 if wrong or surprises else 0


if __name__ == "__main__":
    sys.exit(main())
