#!/usr/bin/env python3
"""strew beside its peers on the cases of the suite, or of bench_fused: same data, same threads, same cores, in turns.

  peers_bench.py [--bench suite|fused] [--cases REGEX] [--peers a,b] [--threads 1,2] [--rounds N] [--budget SECONDS] [--out FILE] [--list]

Any subset of numpy, numba, torch, torch_scatter, onnxruntime, JAX, TensorFlow, LiteRT, IREE and OpenVINO may be installed, for bench_fused of NumPy, SciPy,
numba, JAX, torch, torch_scatter and FBGEMM; the rest is left out, and said so. PEERS_TF_PYTHON names the interpreter of an environment of its own for TensorFlow and LiteRT.

How it measures
  * bench_fused: every right variant counts; what peers sum in an order of their own may differ by rounding. Sorting edges is not part of a call,
    and its time is in the note. Where the data of all workers would not fit into memory, peers are measured in groups, each beside strew.
  * One worker process per (peer, T), pinned to T cores, so that thread pools sized from the affinity mask cannot use more. strew and the
    hand-written kernels are workers too (bench_suite --worker); their call path is C++, a peer's is what its users call.
  * bench_suite writes a case's inputs and the right result to /dev/shm; each worker copies what it changes.
  * All workers of one T prepare a case; then rounds: each visits the workers in rotated order, so all see the same noise, and only one is
    awake at a time. Every variant of a peer is tried, checked after exactly one call, and the fastest right one counts. Medians over all
    samples.
  * In place wherever the peer can: donated buffers (JAX), the same buffer bound as input and output (onnxruntime), resource variables
    (TensorFlow), trailing-underscore ops (torch). Else the note says so. Index tensors exist beforehand in the peer's preferred type.
"""
import argparse
import gc
import importlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../programs")]
import fused_report  # noqa: E402
from fused_report import show  # noqa: E402
NATIVE = ["strew", "hand"]
CLASSES = {"numpy": "numpy_peer.NumpyPeer", "numba": "numba_peer.NumbaPeer", "torch": "torch_peer.TorchPeer",
           "torch_scatter": "torch_peer.TorchScatterPeer", "ort": "ort_peer.OrtPeer", "jax": "jax_peer.JaxPeer", "tf": "tf_peer.TfPeer",
           "litert": "tf_peer.LitertPeer", "iree": "jax_peer.IreePeer", "openvino": "openvino_peer.OpenvinoPeer"}
FUSED_CLASSES = {"strew_python": "fused_peers.StrewPythonPeer", "numpy": "fused_peers.NumpyPeer", "scipy": "fused_peers.ScipyPeer",
                 "numba": "fused_peers.NumbaPeer", "jax": "fused_peers.JaxPeer", "torch": "fused_torch_peers.TorchPeer",
                 "torch_compile": "fused_torch_peers.TorchCompilePeer", "torch_sparse": "fused_torch_peers.TorchSparsePeer",
                 "torch_scatter": "fused_torch_peers.TorchScatterPeer", "fbgemm": "fused_torch_peers.FbgemmPeer"}
PROGRAM_CLASSES = {"strew": "program_peers.StrewPeer", "kernel": "program_peers.KernelPeer", "torch": "program_peers.TorchPeer",
                   "ort": "program_peers.OrtPeer", "jax": "program_peers.JaxPeer"}  # ../programs, which drives them itself
BENCHES = {"suite": CLASSES, "fused": FUSED_CLASSES, "programs": PROGRAM_CLASSES}
NEEDS_TF_PYTHON = {"tf", "litert"}
SINGLE = {"numpy", "scipy"}  # have no threads of their own


# ------------------------------------------------------------------------------------------------ worker


def data_of(case, folder):
    """A case's data, and what counts the elements of a result that are wrong."""
    if "program" in case:
        from program_peers import ProgramData
        D = ProgramData(case, folder)
        return D, D.differs
    if "kind" in case:
        from fused_data import FusedData
        D = FusedData(case, folder)
        return D, D.differs
    from data import Data, as_peers_see
    from sampling import check_against
    D = Data(as_peers_see(case), folder)
    return D, check_against(D)


def prepare(peer, case, folder, T):
    """[Runner] of a peer for a case, those far behind the best left out, and what to tell the driver."""
    from sampling import Runner
    runners, errors = [], []
    D, check = data_of(case, folder)
    variants = peer.variants(D)
    while len(errors) <= 4:
        try:
            runners.append(Runner(*next(variants), D, check))
        except StopIteration:
            break
        except Exception as e:
            errors.append(f"{type(e).__name__}: {(str(e).strip().splitlines() or [''])[0]}"[:160])
    right = [r for r in runners if not r.mismatch] or runners
    best = min((r.est for r in right), default=0)
    info = [dict(variant=r.name, ns=r.est, mismatch=r.mismatch) for r in runners]
    return [r for r in right if r.est <= 2.5 * best], dict(variants=info, errors=errors)


def worker(name, T, classes):
    """Answers the driver's JSON lines; what libraries print goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer):
        out.write(json.dumps(answer) + "\n")
        out.flush()
    gc.disable()
    try:
        module, cls = classes[name].split(".")
        peer = getattr(importlib.import_module(module), cls)(T)
    except Exception as e:
        return say(dict(error=f"{type(e).__name__}: {e}"[:200]))
    say(dict(version=peer.version))
    live = []
    for line in sys.stdin:
        q = json.loads(line)
        if q["cmd"] == "prepare":
            live = []
            live, answer = prepare(peer, q["case"], q["dir"], T)
            say(answer)
        elif q["cmd"] == "measure":
            for r in list(live):
                try:
                    r.measure(q["budget"] / len(live))
                except Exception as e:
                    print(f"{name} {r.name}: {e}", file=sys.stderr, flush=True)
                    live.remove(r)
            say(dict(ok=1))
        else:
            say(dict(results=[r.report() for r in live if r.samples or r.disturbed]))
            live = []
            gc.collect()


# ------------------------------------------------------------------------------------------------ driver


class Worker:
    def __init__(self, peer, T, args, log):
        self.peer, self.T, self.suite, self.bench, self.scratch, self.log = peer, T, args.suite, args.bench, args.scratch, log
        self.start()

    def start(self):
        T = self.T
        python = os.environ.get("PEERS_TF_PYTHON", sys.executable) if self.peer in NEEDS_TF_PYTHON else sys.executable
        env = dict(os.environ, OMP_NUM_THREADS=str(T), JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="",
                   TORCHINDUCTOR_CACHE_DIR=self.scratch, TORCHINDUCTOR_COMPILE_THREADS="1",
                   STREW_COMPILE="blocking")  # a thread that compiles would stand still with the worker
        if T == 1:
            env["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        command = [self.suite, f"--worker={self.peer}", f"--threads={T}"] if self.peer not in BENCHES[self.bench] else \
            [python, os.path.abspath(__file__), "--bench", self.bench, "--worker", self.peer, "--threads", str(T)]
        cores = sorted(os.sched_getaffinity(0))[:T]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=env, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, cores))
        greeting = self.ask()
        self.version, self.error = greeting.get("version"), greeting.get("error")

    def ask(self, **q):
        """The worker runs from the question to its answer only: some peers' threads spin for milliseconds after their work."""
        line = ""
        try:
            self.process.send_signal(signal.SIGCONT)
            if q:
                self.process.stdin.write(json.dumps(q) + "\n")
                self.process.stdin.flush()
            line = self.process.stdout.readline()
            self.process.send_signal(signal.SIGSTOP)
        except BrokenPipeError:
            pass
        return json.loads(line) if line else dict(error=f"worker died (status {self.process.wait()})")


def start_workers(args, log):
    workers = [Worker(p, T, args, log) for p in args.peers for T in args.threads if T == 1 or p not in SINGLE]
    args.missing = {}
    for w in workers:
        if w.version is None:
            kind = "not installed" if "ModuleNotFoundError" in w.error else "installed, but it does not load"
            args.missing[w.peer] = f"{kind} ({w.error})"
            print(f"# {w.peer} T={w.T} left out: {w.error}", flush=True)
            w.process.kill()  # it is stopped, and would stay
    return [w for w in workers if w.version is not None]


def prepare_case(c, workers, folder, args):
    """Those of the workers that have the case."""
    ready = []
    for w in workers:
        answer = w.ask(cmd="prepare", case=c, dir=folder)
        if "error" in answer:
            print(f"# {c['name']} {w.peer}: {answer['error']}", flush=True)
            w.process.kill()
            w.start()  # it may have crashed: a fresh process for the next case
            continue
        for error in answer["errors"] if args.bench != "suite" else []:
            print(f"# {c['name']} {w.peer}: {error}", flush=True)
        w.info = answer["variants"]
        if w.info:
            ready.append(w)
    return ready


def take_turns(ready, args):
    for k in range(args.rounds):
        for w in ready[k % len(ready):] + ready[:k % len(ready)]:
            if k == 0 or min(v["ns"] for v in w.info) / 1e9 < args.slow:
                w.ask(cmd="measure", budget=args.budget)


def results_of(w):
    return w.ask(cmd="finish").get("results") or []


def record(c, w, result):
    return dict(case=c["name"], peer=w.peer, version=w.version, threads=w.T, ns_per_call=result["median"], variant=result["variant"],
                note=result["note"], mismatch=result["mismatch"], samples=result["samples"], spread=result.get("spread", 0), faults=result.get("faults", 0))


def run_case(c, workers, folder, args):
    """All workers of one T prepare, are measured in rotated rounds, report: {peer: record} of each peer's fastest right variant."""
    records, ready = {}, prepare_case(c, workers, folder, args)
    if ready:
        take_turns(ready, args)
    for w in ready:
        results = results_of(w)
        right = [r for r in results if not r["mismatch"]] or results
        if right:
            records[w.peer] = record(c, w, min(right, key=lambda r: r["median"]))
    return records


def groups_of(c, peers):
    """Peers in groups whose data fit into half of the memory that strew and the hand-written kernels leave."""
    each = 4 * c.get("width", 1) * (3 * c.get("nodes", 0) + 2 * c.get("edges", 0))  # tables, and two tensors with a row per edge
    with open("/proc/meminfo") as f:
        available = int(re.search(r"MemAvailable: *(\d+)", f.read()).group(1)) * 1024
    size = max(1, available // 2 // max(1, each))
    return [peers[k:k + size] for k in range(0, max(1, len(peers)), size)]


def records_of(c, w):
    """Of all variants; those that were tried only, because they are far behind, have no samples."""
    results = results_of(w)
    measured = {r["variant"] for r in results}
    tried = [dict(v, median=v["ns"], note="", samples=0) for v in w.info if v["variant"] not in measured]
    return [record(c, w, r) for r in results + tried]


def run_fused_case(c, workers, folder, args):
    """{peer: [record]}. Each group of peers is measured beside strew and the hand-written kernels, which stay prepared."""
    ours, records = prepare_case(c, [w for w in workers if w.peer in NATIVE], folder, args), {}
    for group in groups_of(c, [w for w in workers if w.peer not in NATIVE]):
        ready = prepare_case(c, group, folder, args)
        if ours or ready:
            take_turns(ours + ready, args)
        records.update({w.peer: records_of(c, w) for w in ready})
    records.update({w.peer: records_of(c, w) for w in ours})
    return records


def best_peer(tables, name, T):
    """A peer's time at T threads is its best at up to T."""
    rows = [r for t in tables if t <= T for p, r in tables[t].get(name, {}).items() if p not in NATIVE and not r["mismatch"]]
    return min(rows, key=lambda r: r["ns_per_call"], default=None)


def print_table(tables, names, peers, T):
    print(f"\nT={T}: strew's time; every peer's as a multiple of it ( ! = wrong result, - = cannot )")
    print(f"{'case':28s}{'strew':>11s}" + "".join(f"{p[:9]:>10s}" for p in peers) + "  best peer")
    ahead = []
    for name in names:
        rows = tables[T].get(name, {})
        if "strew" not in rows:
            continue
        ours = rows["strew"]["ns_per_call"]
        cells = [f"{rows[p]['ns_per_call'] / ours:.2f}{'!' * bool(rows[p]['mismatch'])}" if p in rows else "-" for p in peers]
        best = best_peer(tables, name, T)
        ratio = best["ns_per_call"] / ours if best else float("nan")
        if best and ratio < 1:
            ahead.append(f"{name} ({best['peer']} {ratio:.2f})")
        text = f"  {best['peer']} {best['variant']} {ratio:.2f}" if best else "  -"
        print(f"{name:28s}{show(ours):>11s}" + "".join(f"{cell:>10s}" for cell in cells) + text)
    ratios = [best_peer(tables, n, T)["ns_per_call"] / tables[T][n]["strew"]["ns_per_call"] for n in names
              if "strew" in tables[T].get(n, {}) and best_peer(tables, n, T)]
    if ratios:
        print(f"best peer over strew: median {statistics.median(ratios):.2f}, worst {min(ratios):.2f}; ahead of strew: {', '.join(ahead) or 'none'}")


def arguments():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--bench", choices=list(BENCHES), default="suite", help="whose cases; those of programs are driven by ../programs/programs_bench.py")
    ap.add_argument("--suite", help="the benchmark program (default: build/bin/bench_BENCH)")
    ap.add_argument("--cases", default=".", help="regular expression over case names")
    ap.add_argument("--peers", help="names, separated by commas (default: all)")
    ap.add_argument("--threads", default="1,2")
    ap.add_argument("--rounds", type=int, default=9)
    ap.add_argument("--budget", type=float, default=0.01, help="seconds per peer and round")
    ap.add_argument("--slow", type=float, help="peers slower than this many seconds per call get one round (default: 0.05; fused: 2)")
    ap.add_argument("--out", help="records as JSON lines")
    ap.add_argument("--list", action="store_true")
    ap.add_argument("--worker", help=argparse.SUPPRESS)
    args = ap.parse_args()
    args.suite = args.suite or os.path.join(HERE, f"../../build/bin/bench_{args.bench}")
    args.threads = [int(t) for t in args.threads.split(",")]
    args.slow = args.slow or (2 if args.bench == "fused" else 0.05)
    args.peers = args.peers.split(",") if args.peers else NATIVE + list(BENCHES[args.bench])
    return args


def measure_all(cases, workers, tables, run, args):
    start = time.time()
    for c in cases:
        folder = tempfile.mkdtemp(prefix="strew_peers_", dir="/dev/shm")
        try:
            subprocess.run([args.suite, f"--write={c['name']}", f"--folder={folder}"], check=True)
            for T in args.threads:
                rows = tables[T][c["name"]] = run(c, [w for w in workers if w.T == T], folder, args)
                if args.bench == "fused":
                    fused_report.print_case(c["name"], T, rows, args.peers, args.missing)
                    sys.stdout.flush()
                    continue
                print(f"[{time.time() - start:4.0f} s] {c['name']:28s} T={T}  " + "  ".join(
                    f"{p} {show(r['ns_per_call'])}{'!' * bool(r['mismatch'])}" for p, r in rows.items()), flush=True)
        finally:
            shutil.rmtree(folder)


def write_records(path, tables):
    with open(path, "w") as out:
        for rows in [rows for cases in tables.values() for rows in cases.values()]:
            for found in rows.values():
                out.writelines(json.dumps(r) + "\n" for r in (found if isinstance(found, list) else [found]))


def main():
    args = arguments()
    if args.worker:
        return worker(args.worker, args.threads[0], BENCHES[args.bench])
    cases = json.loads(subprocess.run([args.suite, "--cases"], check=True, capture_output=True, text=True).stdout)
    cases = [c for c in cases if re.search(args.cases, c["name"]) and not c.get("beyond")]
    if args.list:
        return print("\n".join(c["name"] for c in cases))
    tables = {T: {} for T in args.threads}
    with open(os.devnull, "w") as log, tempfile.TemporaryDirectory(prefix="strew_peers_") as args.scratch:
        workers = start_workers(args, log)
        measure_all(cases, workers, tables, run_fused_case if args.bench == "fused" else run_case, args)
        for w in workers:
            w.process.stdin.close()
            w.process.send_signal(signal.SIGCONT)
    if args.out:
        write_records(args.out, tables)
    if args.bench == "fused":
        return fused_report.print_ahead(tables, args.missing)
    seen = {w.peer for w in workers if w.peer != "strew"}
    for T in args.threads:
        print_table(tables, [c["name"] for c in cases], [p for p in args.peers if p in seen], T)


if __name__ == "__main__":
    main()
