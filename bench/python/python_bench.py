#!/usr/bin/env python3
"""Calls of the Python package beside NumPy and whatever of numba, JAX and PyTorch is installed: what a small call costs, and large ones at the speed
of memory.

    python_bench.py [--json OUT] [--only REGEX] [--rounds N] [--threads T]

Before a case is timed, what strew's row makes is compared with what NumPy's makes, on data of their own. Rows of one case are timed in turn, N rounds of them. A figure is the median of the rounds, with half of the distance between the quartiles; a ratio is the median
over the rounds of the row's time over strew's, so that what disturbs a round disturbs both.
"""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import strew


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


torch, numba, jax = optional("torch"), optional("numba"), optional("jax")


def seconds_of(function, least):
    """Of one call, from as many calls as take `least` seconds. Before these, it is called for a while: the threads of the row before spin on the cores
    for some milliseconds (those of OpenMP), and cores that idled are slow at first."""
    settled = time.perf_counter() + 0.03
    while time.perf_counter() < settled:
        function()
    count = 1
    while True:
        started = time.perf_counter()
        for _ in range(count):
            function()
        taken = time.perf_counter() - started
        if taken >= least:
            return taken / count
        count = max(count * 2, int(count * least / max(taken, 1e-9) * 1.1))


def in_turn(rows, rounds, least):
    for function in rows.values():
        function()
        function()
    time.sleep(0.3)  # kernels that were asked for are compiled now
    times = {name: [] for name in rows}
    for _ in range(rounds):
        for name, function in rows.items():
            times[name].append(seconds_of(function, least))
    return times


def check_against_numpy(random):
    """What the cases call does what NumPy does, bit for bit: sums are in the order of the indices in both."""
    table, rows = random.normal(size=(500, 64)).astype(np.float32), random.integers(0, 500, 3000)
    updates = random.normal(size=(3000, 64)).astype(np.float32)
    mine, theirs = table.copy(), table.copy()
    strew.add_at(mine, rows, updates)
    np.add.at(theirs, rows, updates)
    sums = np.zeros((500, 64), np.float32)
    np.add.at(sums, np.sort(rows), updates)
    cache, token = np.zeros((8, 2, 16, 4), np.float16), np.ones((8, 2, 1, 4), np.float16)
    appended, positions = cache.copy(), random.integers(0, 16, 8)
    appended[np.arange(8), :, positions] = token[:, :, 0]
    strew.kv_append([cache], positions, [token])
    pairs = {"add_at": (mine, theirs), "take": (strew.take(table, rows, 0), table[rows]), "bincount": (strew.bincount(rows), np.bincount(rows)),
             "segment_sum": (strew.segment_sum(updates, np.sort(rows), 500), sums), "kv_append": (cache, appended)}
    to, weights = random.integers(0, 500, 3000), random.normal(size=3000).astype(np.float32)
    sums, bags = np.zeros_like(table), np.zeros((150, 64), np.float32)
    np.add.at(sums, to, table[rows] * weights[:, None])
    np.add.at(bags, np.repeat(np.arange(150), 20), table[rows])
    pairs["spmm"] = (strew.spmm(to, rows, table, weights, num_rows=500), sums)
    pairs["embedding_bag"] = (strew.embedding_bag(rows.reshape(150, 20), table), bags / np.float32(20))
    for name, (own, numpy) in pairs.items():
        if own.tobytes() != numpy.tobytes():
            sys.exit(f"{name}: other bits than NumPy's")


def first_answer(folder):
    """Seconds that `import strew` takes after NumPy's import, and that the first call takes then, in a process of their own. `folder` is for compiled
    bytecode, which pip makes where it installs."""
    program = ("import time, numpy as np; a = time.perf_counter(); import strew; b = time.perf_counter(); "
               "strew.add_at(np.zeros((1000, 64), np.float32), np.array([3, 5, 3]), np.ones((3, 64), np.float32)); print(b - a, time.perf_counter() - b)")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment).stdout
    return [float(each) for each in output.split()]


def jitted(function):
    return numba.njit(function) if numba else None


def add_rows(table, rows, updates):
    for i in range(rows.shape[0]):
        for j in range(updates.shape[1]):
            table[rows[i], j] += updates[i, j]


def count_numbers(numbers, counts):
    counts[:] = 0
    for i in range(numbers.shape[0]):
        counts[numbers[i]] += 1


def small(random):
    table, rows, updates = np.zeros((8, 16), np.float32), np.array([1, 2, 3, 1]), np.ones((4, 16), np.float32)
    out = np.empty((4, 16), np.float32)
    text = ("strew1.scatter(operand=f32[?,16] indices=i64[?] updates=f32[?,16] update_window_dims=[1] inserted_window_dims=[0] "
            "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)")
    kernel = strew.kernel(text, compile="blocking")
    add = {"strew": lambda: strew.add_at(table, rows, updates), "strew, a handle with out=": lambda: kernel(rows, updates, out=table),
           "numpy": lambda: np.add.at(table, rows, updates)}
    take = {"strew": lambda: strew.take(table, rows, 0), "strew, out=": lambda: strew.take(table, rows, 0, out), "numpy": lambda: np.take(table, rows, 0),
            "numpy, out= clip": lambda: np.take(table, rows, 0, out, "clip")}
    one, scalar = np.zeros(8, np.float32), {}
    scalar["strew"] = lambda: strew.add_at(one, rows, 1.0)
    scalar["numpy"] = lambda: np.add.at(one, rows, 1.0)
    if torch:
        t, r, u = torch.zeros(8, 16), torch.tensor([1, 2, 3, 1]), torch.ones(4, 16)
        add["strew, torch tensors"] = lambda: strew.add_at(t, r, u)
        add["torch"] = lambda: t.index_add_(0, r, u)
        to = torch.empty(4, 16)
        take["strew, torch tensors"] = lambda: strew.take(t, r, 0)
        take["strew, torch tensors, out="] = lambda: strew.take(t, r, 0, to)
        take["torch"] = lambda: torch.index_select(t, 0, r)
    yield "add_at 4 of 8 rows of 64 B", add
    yield "take 4 of 8 rows of 64 B", take
    yield "add_at 4 numbers, a scalar", scalar


def large_add(random):
    for name, table_rows, count, width in (("embed_grad 32k of 50k rows of 256 B", 50000, 32768, 64), ("gnn 300k into 10k rows of 256 B", 10000, 300000, 64),
                                           ("elements 1M into 100k", 100000, 1000000, 0)):
        shape = (table_rows, width) if width else (table_rows,)
        table, rows = np.zeros(shape, np.float32), random.integers(0, table_rows, count)
        updates = random.normal(size=(count, width) if width else count).astype(np.float32)
        case = {"strew": lambda: strew.add_at(table, rows, updates), "numpy": lambda: np.add.at(table, rows, updates)}
        if width and numba:
            loop = jitted(add_rows)
            case["numba"] = lambda: loop(table, rows, updates)
        if torch:
            t, r, u = torch.from_numpy(table.copy()), torch.from_numpy(rows), torch.from_numpy(updates)
            case["torch"] = lambda: t.index_add_(0, r, u)
        if jax:
            add = jax.jit(lambda x, i, y: x.at[i].add(y), donate_argnums=0)
            state, index, values = [jax.numpy.asarray(table)], jax.numpy.asarray(rows), jax.numpy.asarray(updates)

            def by_jax():
                state[0] = add(state[0], index, values).block_until_ready()

            case["jax"] = by_jax
        yield f"add_at {name}", case


def large_take(random):
    for name, table_rows, count, width in (("32k of 50k rows of 256 B", 50000, 32768, 64), ("1M of 100k elements", 100000, 1000000, 0)):
        table = random.normal(size=(table_rows, width) if width else table_rows).astype(np.float32)
        rows = random.integers(0, table_rows, count)
        out = np.empty((count, width) if width else count, np.float32)
        case = {"strew": lambda: strew.take(table, rows, 0, out), "numpy": lambda: np.take(table, rows, 0, out, "clip")}
        if torch:
            t, r, o = torch.from_numpy(table), torch.from_numpy(rows), torch.from_numpy(out)
            case["torch"] = lambda: torch.index_select(t, 0, r, out=o)
        yield f"take {name}, out=", case


def large_count(random):
    numbers = random.integers(0, 1000, 1000000)
    case = {"strew": lambda: strew.bincount(numbers), "numpy": lambda: np.bincount(numbers)}
    if numba:
        counts, loop = np.zeros(1000, np.int64), jitted(count_numbers)
        case["numba"] = lambda: loop(numbers, counts)
    if torch:
        t = torch.from_numpy(numbers)
        case["torch"] = lambda: torch.bincount(t)
    yield "bincount 1M numbers below 1000", case
    data, ids = random.normal(size=(300000, 64)).astype(np.float32), np.sort(random.integers(0, 10000, 300000))
    out = np.empty((10000, 64), np.float32)

    def by_numpy():
        out[...] = 0
        np.add.at(out, ids, data)

    def by_reduceat():
        starts = np.flatnonzero(np.diff(ids, prepend=-1))
        out[ids[starts]] = np.add.reduceat(data, starts)

    case = {"strew": lambda: strew.segment_sum(data, ids, 10000, out=out), "numpy add.at": by_numpy, "numpy add.reduceat": by_reduceat}
    if jax:
        sums = jax.jit(lambda d, i: jax.ops.segment_sum(d, i, 10000, indices_are_sorted=True))
        jd, ji = jax.numpy.asarray(data), jax.numpy.asarray(ids)
        case["jax"] = lambda: sums(jd, ji).block_until_ready()
    yield "segment_sum 300k sorted into 10k rows of 256 B", case


def add_messages(result, to, rows, table, weights):
    result[:] = 0
    for e in range(to.shape[0]):
        for j in range(table.shape[1]):
            result[to[e], j] += table[rows[e], j] * weights[e]


def mean_bags(result, numbers, table):
    result[:] = 0
    for i in range(numbers.shape[0]):
        for each in numbers[i]:
            for j in range(table.shape[1]):
                result[i, j] += table[each, j]
        for j in range(table.shape[1]):
            result[i, j] /= np.float32(numbers.shape[1])


def messages(random):
    """One pass beside two: along the edges of a graph."""
    for name, nodes, edges, is_sorted in (("300k edges of 10k rows of 256 B", 10000, 300000, False), ("1.2M edges of 170k rows of 256 B", 170000, 1200000, False),
                                          ("1.2M sorted edges of 170k rows of 256 B", 170000, 1200000, True)):
        table, weights = random.normal(size=(nodes, 64)).astype(np.float32), random.normal(size=edges).astype(np.float32)
        to, rows = random.integers(0, nodes, edges), random.integers(0, nodes, edges)
        to = np.sort(to) if is_sorted else to
        out = np.empty_like(table)

        def by_steps(take, add):
            between = take(table, rows, 0)
            between *= weights[:, None]
            add(between)

        def by_numpy(between):
            out[...] = 0
            np.add.at(out, to, between)

        case = {"strew": lambda: strew.spmm(to, rows, table, weights, num_rows=nodes, out=out),
                "strew, take and segment_sum": lambda: by_steps(strew.take, lambda between: strew.segment_sum(between, to, nodes, out=out)),
                "numpy": lambda: by_steps(np.take, by_numpy)}
        if numba:
            loop = jitted(add_messages)
            case["numba"] = lambda: loop(out, to, rows, table, weights)
        if torch:
            matrix = torch.sparse_coo_tensor(torch.from_numpy(np.stack([to, rows])), torch.from_numpy(weights), (nodes, nodes)).coalesce().to_sparse_csr()
            dense = torch.from_numpy(table)
            case["torch, CSR"] = lambda: torch.sparse.mm(matrix, dense)
        yield f"spmm {name}", case


def bags(random):
    table, numbers = random.normal(size=(50000, 64)).astype(np.float32), random.integers(0, 50000, (4096, 20))
    out = np.empty((4096, 64), np.float32)
    case = {"strew": lambda: strew.embedding_bag(numbers, table, out=out),
            "strew, take": lambda: strew.take(table, numbers, 0).mean(1, out=out), "numpy": lambda: table[numbers].mean(1, out=out)}
    if numba:
        loop = jitted(mean_bags)
        case["numba"] = lambda: loop(out, numbers, table)
    if torch:
        t, n = torch.from_numpy(table), torch.from_numpy(numbers)
        case["torch"] = lambda: torch.nn.functional.embedding_bag(n, t)
    yield "embedding_bag 4096 bags of 20 of 50k rows of 256 B", case


def caches(random):
    layers, batch, heads, length, width = 32, 8, 8, 1024, 128
    cache = [np.zeros((batch, heads, length, width), np.float16) for _ in range(layers)]
    token = [np.ones((batch, heads, 1, width), np.float16) for _ in range(layers)]
    positions = random.integers(0, length, batch)
    every = np.arange(batch)

    def by_numpy():
        for one, new in zip(cache, token):
            one[every, :, positions] = new[:, :, 0]

    case = {"strew": lambda: strew.kv_append(cache, positions, token), "numpy": by_numpy}
    if torch:
        tc, tt = [torch.from_numpy(each) for each in cache], [torch.from_numpy(each) for each in token]
        tp, te = torch.from_numpy(positions), torch.from_numpy(every)

        def by_torch():
            for one, new in zip(tc, tt):
                one[te, :, tp] = new[:, :, 0]

        case["torch"] = by_torch
        case["strew, torch tensors"] = lambda: strew.kv_append(tc, positions, tt)
    yield "kv_append, 32 caches [8,8,1024,128] f16", case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--only", default=".")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    strew.set_threads(options.threads)
    if torch and options.threads:
        torch.set_num_threads(options.threads)
    versions = [f"{module.__name__} {module.__version__}" for module in (np, torch, numba, jax) if module]
    print(f"Python {platform.python_version()}, {', '.join(versions)}, threads {options.threads or 'all'}")
    print(f"{'case':<52} {'row':<28} {'time':>11} {'+-':>6} {'over strew':>11}")
    records = []
    check_against_numpy(np.random.default_rng(2))
    if re.search(options.only, "import strew"):
        with tempfile.TemporaryDirectory() as folder:
            runs = [first_answer(folder) for _ in range(options.rounds + 1)][1:]
        for name, values in zip(("import strew, after NumPy", "the first add_at then"), zip(*runs)):
            print(f"{name:<52} {'strew':<28} {statistics.median(values) * 1e6:8.0f} us", flush=True)
    for cases in (small, large_add, large_take, large_count, messages, bags, caches):
        for case, rows in cases(np.random.default_rng(1)):
            if not re.search(options.only, case):
                continue
            times = in_turn(rows, options.rounds, 0.02)
            for name, values in times.items():
                quartiles = statistics.quantiles(values, n=4)
                ratio = statistics.median(value / own for value, own in zip(values, times["strew"]))
                median = statistics.median(values)
                shown = f"{median * 1e9:.0f} ns" if median < 1e-5 else f"{median * 1e6:.1f} us"
                print(f"{case:<52} {name:<28} {shown:>11} {100 * (quartiles[2] - quartiles[0]) / 2 / median:5.0f}% {ratio:11.2f}", flush=True)
                records.append({"case": case, "row": name, "seconds": median, "quartiles": quartiles, "over_strew": ratio})
    if options.json:
        with open(options.json, "w") as file:
            json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
