#!/usr/bin/env python3
"""ONNX Runtime's CPU provider alone, and the same model with strew's provider, in one process by turns.

    onnxruntime_bench.py [--only REGEX] [--rounds N] [--threads 1,2] [--json OUT]

Models (models.py) are unmodified. Inputs and outputs are bound before the calls are timed; caches are bound as input and output, as decoders do. Before a case is timed, its results are compared with those
that ONNX Runtime alone gives on one thread: with one thread strew has to have the same bits, else the program ends with 1. With several threads, both run five times, and "wrong" is the most elements that
differed from these in a run: ONNX Runtime's ScatterND adds in an order that changes from run to run. Elements of products of matrices may differ, too, where the number of threads decides how sums are
split.

Then N rounds (at least 15): in each, both are timed, and the order turns from round to round. A figure is the median of the rounds, with its quartiles; the ratio is the median, with its quartiles, over
the rounds of ONNX Runtime's time over strew's, so that what disturbs a round disturbs both.

The last rows are about making a session with 64 kernels, each sample in a process of its own: how long it takes to make it, and until its first run is done, with strew's kernels on disk.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "peers")]
os.environ.setdefault("STREW_COMPILE", "blocking")  # the first call waits for the compiler, so that no later one runs the portable kernel
import numpy as np  # noqa: E402
import onnxruntime as ort  # noqa: E402
from fused_report import show  # noqa: E402
from machine import machine  # noqa: E402
from models import CASES, many_kernels  # noqa: E402
from python_bench import seconds_of  # noqa: E402

import strew.ort  # noqa: E402

COLUMNS = ("ONNX Runtime", "strew")
STARTS = ("making a session with 64 kernels", "making a session with 64 kernels, and its first run")


def session(model, column, threads, **options):
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.log_severity_level = 3
    if column == "strew":
        strew.ort.session_options(settings, **options)
    return ort.InferenceSession(model, settings)


def bound(made, case):
    """A call of the session with bound tensors. The caches are its own."""
    io, given = made.io_binding(), {name: ort.OrtValue.ortvalue_from_numpy(array.copy()) for name, array in case.feeds.items()}
    for name, each in given.items():
        io.bind_ortvalue_input(name, each)
    caches = {output: given[name] for name, output in case.caches.items()}
    results = dict(zip((each.name for each in made.get_outputs()), made.run(None, case.feeds), strict=True))
    for name, array in results.items():
        io.bind_ortvalue_output(name, caches.get(name) or ort.OrtValue.ortvalue_from_numpy(np.asarray(array)))
    return lambda: made.run_with_iobinding(io)


def seconds(call, least):
    """Of a call. One that takes long is its own warm-up."""
    started = time.perf_counter()
    call()
    taken = time.perf_counter() - started
    return taken if taken > 0.2 else seconds_of(call, least)


def call_of(case, column, threads):
    """The session, and a function that gives the seconds of a call, from calls that take `least` seconds."""
    made = session(case.model, column, threads)
    call = bound(made, case)
    if case.less is None:
        return made, lambda least: seconds(call, least)
    less = bound(session(case.less, column, threads), case)
    return made, lambda least: (seconds(call, least) - seconds(less, least)) / case.nodes


def bytes_of(array):
    """[elements, bytes]"""
    return np.frombuffer(np.asarray(array).tobytes(), np.uint8).reshape(np.size(array), -1)


def wrong_elements(made, case, expected, runs):
    """The most elements that differ from these, bit for bit, in one of some runs."""
    def wrong(got):
        return sum(int((bytes_of(a) != bytes_of(b)).any(axis=1).sum()) for a, b in zip(got, expected, strict=True))
    return max(wrong(made.run(None, case.feeds)) for _ in range(runs))


def quartiles(values):
    return statistics.quantiles(values, n=4)


def record_of(name, threads, samples, **more):
    theirs, ours = (samples[column] for column in COLUMNS)
    return {"case": name, "threads": threads, "rounds": len(ours), "quartiles": {column: quartiles(values) for column, values in samples.items()},
            "ratio": quartiles([a / b for a, b in zip(theirs, ours, strict=True)]), **more}


def measure(name, case, threads, options):
    expected = session(case.model, "ONNX Runtime", 1).run(None, case.feeds)
    made = {column: call_of(case, column, threads) for column in COLUMNS}
    wrong = {column: wrong_elements(each[0], case, expected, 2 if threads == 1 else 5) for column, each in made.items()}
    if threads == 1 and wrong["strew"]:
        sys.exit(f"{name}: {wrong['strew']} elements have other bits than ONNX Runtime's")
    samples = {column: [] for column in COLUMNS}
    for number in range(options.rounds):
        for column in COLUMNS if number % 2 else reversed(COLUMNS):
            samples[column].append(made[column][1](options.least))
    report = strew.ort.report(made["strew"][0])
    return record_of(name, threads, samples, wrong=wrong, elements=sum(int(np.size(each)) for each in expected), nodes=sum(each.runs == "strew" for each in report.nodes))


def start_once(column, folder):
    """In a process of its own: the seconds until a session is made, and until its first run is done."""
    case = many_kernels()
    session(case.model, "ONNX Runtime", 1)  # what the first session of a process does for all
    if column == "strew":
        strew.ort.register()
    started = time.perf_counter()
    made = session(case.model, column, 1, **({"cache_dir": folder} if column == "strew" else {}))
    is_made = time.perf_counter()
    made.run(None, case.feeds)
    print(json.dumps([is_made - started, time.perf_counter() - started]))


def measure_starts(options):
    with tempfile.TemporaryDirectory() as folder:
        def once(column):
            command = [sys.executable, __file__, "--start", column, "--cache", folder]
            return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        once("strew")  # compiles the kernels
        samples = {column: [] for column in COLUMNS}
        for number in range(options.rounds):
            for column in COLUMNS if number % 2 else reversed(COLUMNS):
                samples[column].append(once(column))
    return [record_of(name, 1, {column: [each[part] for each in values] for column, values in samples.items()}) for part, name in enumerate(STARTS)]


def line_of(record):
    def cells(column):
        low, median, high = (show(each * 1e9) for each in record["quartiles"][column])
        return f"{median:>9} [{low}, {high}]"
    low, median, high = record["ratio"]
    line = f"{record['case']:<56} T={record['threads']} " + "".join(cells(column).ljust(34) for column in COLUMNS) + f"{median:6.2f} [{low:.2f}, {high:.2f}]"
    if "wrong" not in record:
        return line
    wrong = [f"{column}: {count} of {record['elements']} wrong" for column, count in record["wrong"].items() if count]
    return f"{line}  {record['nodes']} by strew; {', '.join(wrong) or 'the same bits'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--least", type=float, default=0.02, help="seconds of calls in a figure, at least")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--json")
    parser.add_argument("--start", choices=COLUMNS, help=argparse.SUPPRESS)
    parser.add_argument("--cache", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        return start_once(options.start, options.cache)
    records, context = [], machine(version=ort.__version__, rounds=options.rounds)

    def add(record):
        records.append(record)
        print(line_of(record), flush=True)
    print(f"onnxruntime {ort.__version__}, load {context['load']}, {options.rounds} rounds; medians [quartiles]; ratios: ONNX Runtime over strew")
    print(f"{'case':<56}     " + "".join(f"{column:<34}" for column in COLUMNS))
    for name, make in CASES.items():
        if re.search(options.only, name):
            case = make()
            for threads in map(int, options.threads.split(",")):
                add(measure(name, case, threads, options))
    if any(re.search(options.only, name) for name in STARTS):
        for record in measure_starts(options):
            add(record)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"context": context, "cases": records}, file, indent=1)


if __name__ == "__main__":
    main()
