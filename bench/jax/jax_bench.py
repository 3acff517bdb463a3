#!/usr/bin/env python3
"""JAX alone, with strew.jax.enable(), and with strew.jax.jit, in one process by turns.

    jax_bench.py [--only REGEX] [--rounds N] [--threads 1,2] [--malloc default,kept] [--json OUT]

Functions (workloads.py) are unmodified. Each is compiled ahead of time once per column. Before a case is timed, its results are compared bit for bit with those of JAX alone; if they differ, its line
says so, and the program ends with 1. Then N rounds (at least 15): in each, all columns are timed, and the order turns from round to round. A figure is the median of the rounds, with its quartiles; a ratio is the median, with its
quartiles, over the rounds of JAX's time over the column's, so that what disturbs a round disturbs both. "parts" are the calls of strew in the module, "copies" the copies of arrays as large as the first
argument, as XLA's own text of the compiled module has them.

Each number of threads is a process of its own, which may use so many cores: XLA's pool has as many threads. So is each way of glibc's malloc: "default" gives large blocks back to the system as soon as they
are free, so that every new array is made of new pages; "kept" keeps them (environment variables MALLOC_...).

The last rows are about compiling: the time until a function with 16 indexed operations, each another kernel, has run for the first time, each sample in a process of its own, with strew's cache of kernels
empty and full; and how much longer than JAX's this is for each kernel.
"""
import argparse
import importlib.metadata
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
from machine import machine  # noqa: E402
from malloc import MALLOC  # noqa: E402

COLUMNS = ("JAX", "enable", "strew.jax.jit")
KERNELS = 16


def compiled(column, workload):
    """An executable, how many calls of strew it has, and how many copies of the first argument."""
    import jax

    import strew.jax
    (strew.jax.enable if column == "enable" else strew.jax.disable)()
    strew.jax._hook.any_size = workload.any_size
    strew.jax.report(clear=True)
    jit = strew.jax.jit if column == "strew.jax.jit" else jax.jit
    executable = jit(workload.function, donate_argnums=0 if workload.donated else None).lower(*workload.arguments).compile()
    text = executable.as_text()
    dims = ",".join(map(str, getattr(jax.tree.leaves(workload.arguments)[0], "shape", ())))
    return executable, sum(len(each.replaced) for each in strew.jax.report().modules), len(re.findall(rf"= \w+\[{dims}\]\S* copy\(", text))


def call_of(executable, workload):
    """A call that waits for its results."""
    import jax
    if not workload.donated:
        return lambda: jax.block_until_ready(executable(*workload.arguments))
    state = [jax.numpy.array(workload.arguments[0])]

    def call():
        result = jax.block_until_ready(executable(state[0], *workload.arguments[1:]))
        state[0] = result[0] if isinstance(result, (list, tuple)) else result
        return result
    return call


def result_of(executable, workload):
    import jax
    import numpy as np
    first, *others = workload.arguments
    given = jax.tree.map(jax.numpy.array, first) if workload.donated else first
    return [np.asarray(each).tobytes() for each in jax.tree.leaves(executable(given, *others))]


def measure(name, workload, options):
    from python_bench import seconds_of
    made = {column: compiled(column, workload) for column in COLUMNS}
    results = {column: result_of(each[0], workload) for column, each in made.items()}
    calls = {column: call_of(each[0], workload) for column, each in made.items()}
    seconds = {column: [] for column in COLUMNS}
    for number in range(options.rounds):
        for column in (*COLUMNS[number % 3:], *COLUMNS[:number % 3]):
            seconds[column].append(seconds_of(calls[column], options.least) / workload.inside)
    return record_of(name, options.threads, options.malloc, seconds, {column: {"parts": each[1], "copies": each[2], "same_bits": results[column] == results["JAX"]} for column, each in made.items()})


def record_of(name, threads, malloc, seconds, more):
    columns = {column: {"quartiles": statistics.quantiles(values, n=4), "ratio": statistics.quantiles([a / b for a, b in zip(seconds["JAX"], values, strict=True)], n=4), **more.get(column, {})}
               for column, values in seconds.items()}
    return {"case": name, "threads": threads, "malloc": malloc, "rounds": len(seconds["JAX"]), "columns": columns}


def in_child(options):
    """One process: a record per line."""
    from workloads import ADVERSE, OPERATORS, STEPS
    for name, make in {**OPERATORS, **STEPS, **{f"adverse: {name}": make for name, make in ADVERSE.items()}}.items():
        if re.search(options.only, name):
            print(json.dumps(measure(name, make(), options)), flush=True)


def start_once(column):
    """In a process of its own: the seconds until a function with KERNELS different kernels has run."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    import strew.jax
    (strew.jax.enable if column == "enable" else strew.jax.disable)()
    jit = strew.jax.jit if column == "strew.jax.jit" else jax.jit
    tables = [jnp.asarray(np.ones((1000 + 8 * n, 16 + n), np.float32)) for n in range(KERNELS)]
    rows, updates = jnp.asarray(np.arange(500) % 77), [jnp.asarray(np.ones((500, 16 + n), np.float32)) for n in range(KERNELS)]
    jax.block_until_ready(jit(lambda x, i, u: x.at[i].add(u))(jnp.ones((30, 3)), jnp.arange(9), jnp.ones((9, 3))))  # what the first function of a process does for all
    started = time.perf_counter()
    jax.block_until_ready(jit(lambda t, i, u: [each.at[i].add(other) for each, other in zip(t, u, strict=True)])(tables, rows, updates))
    print(time.perf_counter() - started)


def measure_starts(options):
    with tempfile.TemporaryDirectory() as folder:
        def once(column, cache):
            command = [sys.executable, __file__, "--start", column]
            ran = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "STREW_CACHE": cache})
            return float(ran.stdout)
        once("enable", folder)  # compiles the kernels
        once("strew.jax.jit", folder)
        for name, cache in (("compiling 16 kernels, and their first run", "off"), ("the same, kernels on disk", folder)):
            seconds = {column: [] for column in COLUMNS}
            for number in range(options.rounds):
                for column in (*COLUMNS[number % 3:], *COLUMNS[:number % 3]):
                    seconds[column].append(once(column, cache))
            more = {column: {"per_kernel": statistics.median((ours - theirs) / KERNELS for ours, theirs in zip(values, seconds["JAX"], strict=True))} for column, values in seconds.items()}
            yield record_of(name, len(os.sched_getaffinity(0)), "default", seconds, more)


def line_of(record):
    from fused_report import show
    cells = []
    for column, row in record["columns"].items():
        low, median, high = (show(each * 1e9) for each in row["quartiles"])
        cell = f"{median:>9} [{low}, {high}]"
        if column != "JAX":
            cell += " {1:.2f} [{0:.2f}, {2:.2f}]".format(*row["ratio"])
        if "per_kernel" in row:
            cell += f" {row['per_kernel'] * 1e3:+.1f} ms per kernel" if column != "JAX" else ""
        elif column != "JAX":
            cell += f" {row['parts']} parts" if row["parts"] else " XLA's"
            cell += "" if row["same_bits"] else ", OTHER BITS"
            cell += f", {row['copies']} copies" if row["copies"] > record["columns"]["JAX"]["copies"] else ""
        cells.append(cell)
    return f"{record['case']:<46} T={record['threads']} {record['malloc']:<8}{cells[0]:<32}" + "".join(f"{cell:<64}" for cell in cells[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--least", type=float, default=0.02, help="seconds of calls in a figure, at least")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--malloc", default="default,kept")
    parser.add_argument("--json")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--start", choices=COLUMNS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        return start_once(options.start)
    if options.child:
        options.threads = int(options.threads)
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])  # before JAX makes its pool
        return in_child(options)
    version = importlib.metadata.version("jax")
    records, context = [], machine(version=version, rounds=options.rounds)

    def add(record):
        records.append(record)
        print(line_of(record), flush=True)
    print(f"jax {version}, load {context['load']}, {options.rounds} rounds; medians [quartiles]; ratios: JAX over the column")
    print(f"{'case':<46}             " + f"{COLUMNS[0]:<32}" + "".join(f"{column:<64}" for column in COLUMNS[1:]))
    for threads in options.threads.split(","):
        for malloc in options.malloc.split(","):
            command = [sys.executable, __file__, "--child", "--only", options.only, "--rounds", str(options.rounds), "--least", str(options.least), "--threads", threads, "--malloc", malloc]
            with subprocess.Popen(command, env={**os.environ, **MALLOC[malloc]}, stdout=subprocess.PIPE, text=True) as child:
                for line in child.stdout:
                    add(json.loads(line))
            if child.returncode:
                sys.exit(f"jax_bench.py: the process with {threads} threads and malloc {malloc} failed")
    if re.search(options.only, "compiling"):
        for record in measure_starts(options):
            add(record)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"context": context, "cases": records}, file, indent=1)
    return 0 if all(row.get("same_bits", True) for record in records for row in record["columns"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
