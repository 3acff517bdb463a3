#!/usr/bin/env python3
"""Whole files through strew, beside eager PyTorch, ONNX Runtime and JAX as far as they are installed, with one thread.

    programs_bench.py [--cases REGEX] [--peers a,b] [--rounds N] [--budget SECONDS] [--threads T] [--json OUT] [--models] [--no-cases] [--list]

The cases are in models.py: models as exporters write them, which this script writes. strew runs them as users do, by `strew.open(file).run(inputs)` with NumPy arrays; PyTorch and JAX run the
function that the file was exported from. A row `kernel` is the kernel in the file alone, on arrays that are ready for it.

Each peer is a process of its own, pinned to T cores and checked against NumPy before it is timed; rounds visit the peers in rotated order, and only one is awake at a
time (../peers). A figure is the median of all samples of a call; the spread is the distance between their quartiles; `faults` are the pages that the system had to provide
during a call (minor page faults).

Besides, all models of tests/models that strew runs whole, in one process; --models lists each, --models-only leaves out the rest.
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../peers")]
import peers_bench  # noqa: E402
from fused_report import show  # noqa: E402
from machine import machine  # noqa: E402
from models import MODELS, model  # noqa: E402

ROWS = list(peers_bench.BENCHES["programs"])


def cell(row, ours):
    """Time, spread, and, of a peer, strew's time over its own."""
    wrong = "!" if row["mismatch"] else ""
    times = f" ({ours / row['ns_per_call']:.3g})" if ours and row["peer"] != "strew" else ""
    return f"{show(row['ns_per_call'])}{wrong} +-{100 * row['spread'] / row['ns_per_call']:.0f}%{times}"


def print_case(name, rows, missing):
    ours = rows["strew"]["ns_per_call"] if "strew" in rows else None
    cells = [f"{cell(rows[peer], ours):>24s}" if peer in rows else f"{'-':>24s}" for peer in ROWS if peer not in missing]
    faults = " ".join(f"{peer} {rows[peer]['faults']:.0f}" for peer in ROWS if peer in rows)
    print(f"{name:20s}" + "".join(cells) + f"  faults: {faults}", flush=True)


def run_cases(args):
    """{case: {peer: record}}."""
    tables, missing = {}, {}
    with open(os.devnull, "w") as log, tempfile.TemporaryDirectory(prefix="strew_programs_") as args.scratch:
        workers = peers_bench.start_workers(args, log)
        missing = args.missing
        args.versions = {w.peer: w.version for w in workers}
        print("peers: " + ", ".join(f"{w.peer} {w.version}" for w in workers) + f"; T={args.threads[0]}")
        print(f"{'case':20s}" + "".join(f"{peer:>24s}" for peer in ROWS if peer not in missing))
        for name in args.names:
            folder = tempfile.mkdtemp(dir=args.scratch)
            made = model(name)
            with open(os.path.join(folder, "model" + made.file), "wb") as out:
                out.write(made.write())
            tables[name] = peers_bench.run_case({"name": name, "program": True}, workers, folder, args)
            print_case(name, tables[name], missing)
            shutil.rmtree(folder)
        for w in workers:
            w.process.kill()
    for name, rows in tables.items():
        for peer, row in rows.items():
            if row["mismatch"]:
                print(f"{name}: {peer} is wrong in {row['mismatch']} elements")
    return tables


def run_models(args):
    import whole_models
    start = time.perf_counter()
    done, failed = whole_models.run(0.05, min(os.sched_getaffinity(0)))
    if args.models:
        for name, ns in sorted(done.items(), key=lambda row: -row[1]):
            print(f"  {name:60s}{show(ns):>10s}")
    for name, why in failed.items():
        print(f"  {name}: not run: {why}")
    total = sum(done.values())
    print(f"whole models of tests/models in one process, T=1: {len(done)}, {show(total)} for a run of each ({time.perf_counter() - start:.0f} s with reading and compiling)")
    return {"total_ns": total, "models": done}


def arguments():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--cases", default=".", help="regular expression over the names of cases")
    ap.add_argument("--peers", help="names, separated by commas (default: all)")
    ap.add_argument("--threads", type=lambda text: [int(text)], default=[1])
    ap.add_argument("--rounds", type=int, default=9)
    ap.add_argument("--budget", type=float, default=0.05, help="seconds per peer and round")
    ap.add_argument("--slow", type=float, default=1, help="peers slower than this many seconds per call get one round")
    ap.add_argument("--json", help="records of all cases")
    ap.add_argument("--models", action="store_true", help="list the models of tests/models with their times")
    ap.add_argument("--models-only", action="store_true", help="run only these")
    ap.add_argument("--list", action="store_true")
    args = ap.parse_args()
    args.bench, args.suite = "programs", None
    args.peers = args.peers.split(",") if args.peers else ROWS
    args.names = [name for name in MODELS if re.search(args.cases, name)]
    return args


def main():
    args = arguments()
    if args.list:
        return print("\n".join(args.names))
    result = {}
    if not args.models_only:
        result["cases"] = run_cases(args)
        result["context"] = machine(threads=args.threads[0], peers=args.versions)
    if args.models or args.models_only or args.cases == ".":
        result["whole_models"] = run_models(args)
    if args.json:
        with open(args.json, "w") as out:
            json.dump(result, out, indent=1)


if __name__ == "__main__":
    main()
