#!/usr/bin/env python3
"""Where a case of the suite spends its time: strew and the fastest hand-written way, each alone under perf.

  profile.py [--threads 1,2] [--seconds S] [--schedule KNOBS] [--instructions N] [--build DIR] CASE...

Per way: nanoseconds per call, the share of samples per function over all threads (kernels by their entry, thanks to STREW_PERF_MAP), and
the hottest instructions of the kernel's hottest entry. Samples are taken by the processor's clock (cpu-clock), which every machine has:
a sample is charged to the instruction that was waited for or the one after it.
"""
import argparse
import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def record(bench, case, way, threads, seconds, schedule, folder):
    """(what the program said, [(sample's address, symbol)], {function: [(address, bytes)]}) of one run."""
    data, code = os.path.join(folder, "perf.data"), os.path.join(folder, "code")
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-k", "CLOCK_MONOTONIC", "-o", data, "--", bench, f"--profile={case}",
               f"--way={way}", f"--threads={threads}", f"--seconds={seconds}", f"--code={code}"]
    if schedule:
        command.append(f"--schedule={schedule}")
    run = subprocess.run(command, env=dict(os.environ, STREW_PERF_MAP="1"), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"profile.py: {case}: {run.stderr.strip() or run.stdout.strip()}")
    said = json.loads(next(line for line in run.stdout.splitlines() if line.startswith("{")))
    script = subprocess.run(["perf", "script", "-i", data, "-F", "time,ip,sym"], capture_output=True, text=True, check=True).stdout
    samples = []
    for line in script.splitlines():
        found = re.match(r"\s*([\d.]+):\s+([0-9a-f]+)\s+(.*)", line)
        if found and said["begin"] <= float(found[1]) <= said["end"]:
            samples.append((int(found[2], 16), found[3].strip()))
    functions = {}
    with open(code, encoding="utf-8") as f:
        for line in f:
            address, _, name, text = (line.split() + [""])[:4]
            functions.setdefault(name, []).append((int(address, 16), bytes.fromhex(text)))  # kernels of one op share names
    return said, samples, functions


def short(symbol):
    """The entry of a kernel, or a function's name without templates and namespaces."""
    if symbol.startswith("strew_"):
        return "kernel entry " + symbol.rsplit("_", 1)[1]
    symbol = re.sub(r"strew::bench::|strew::|\(anonymous namespace\)::|std::__cxx11::", "", symbol)
    return "hand-written way" if "_M_invoke" in symbol or "HandPool" in symbol else symbol[:70]


def disassemble(function):
    """[(address, text)] of the bytes, [] without objdump."""
    address, code = function
    with tempfile.NamedTemporaryFile() as raw:
        raw.write(code)
        raw.flush()
        machine = ["-m", "i386:x86-64"] if os.uname().machine == "x86_64" else ["-m", os.uname().machine]
        run = subprocess.run(["objdump", "-D", "-b", "binary", *machine, "-M", "intel", "--no-show-raw-insn", f"--adjust-vma={address:#x}", raw.name],
                             capture_output=True, text=True, check=False)
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", run.stdout, re.M)
    return [(int(at, 16), re.sub(r"\s+", " ", text.strip())) for at, text in lines]


def hottest(samples, functions, count):
    """Lines for the hottest instructions of the hottest kernel entry."""
    inside = collections.Counter(symbol for _, symbol in samples if symbol in functions)
    if not inside:
        return []
    name = inside.most_common(1)[0][0]
    function = max(functions[name], key=lambda f: sum(f[0] <= at < f[0] + len(f[1]) for at, _ in samples))
    code = disassemble(function)
    starts = [at for at, _ in code]
    hits = collections.Counter()
    for at, symbol in samples:
        if symbol == name and starts:
            hits[bisect.bisect_right(starts, at) - 1] += 1
    lines = [f"  hottest instructions of {short(name)} (share of its samples)"]
    for i in sorted(i for i, _ in hits.most_common(count)):
        lines.append(f"    {100 * hits[i] / inside[name]:5.1f} %  +{code[i][0] - function[0]:#x}  {code[i][1]}")
    return lines


def report(said, samples, functions, threads, instructions):
    total = max(1, len(samples))
    print(f"  {said['way']}: {said['ns']:.0f} ns per call, {total} samples{'; ' + said['schedule'] if said['schedule'] else ''}")
    shares = collections.Counter()
    for _, symbol in samples:
        shares[short(symbol)] += 1
    for name, hits in shares.most_common(9):
        if hits > 0.01 * total:
            print(f"    {100 * hits / total:5.1f} %  {name}")
    for line in hottest(samples, functions, instructions):
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--schedule", default="")
    parser.add_argument("--instructions", type=int, default=10)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    bench = os.path.join(options.build, "bin", "bench_suite")
    for case in options.cases:
        for threads in options.threads.split(","):
            print(f"{case}, T={threads}")
            for way in ("strew", "hand"):
                with tempfile.TemporaryDirectory() as folder:
                    said, samples, functions = record(bench, case, way, threads, options.seconds, options.schedule if way == "strew" else "", folder)
                    report(said, samples, functions, threads, options.instructions)


if __name__ == "__main__":
    main()
