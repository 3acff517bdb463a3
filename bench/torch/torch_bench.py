#!/usr/bin/env python3
"""PyTorch's indexed operators and steps of whole models, with strew.torch and without, in one process by turns.

    torch_bench.py [--only REGEX] [--columns REGEX] [--rounds N] [--threads 1,2] [--malloc default,kept] [--json OUT]

Columns: "eager"; "torch.compile" by inductor; "torch.sparse.mm", where that has the sums; "strew eager", the same calls as eager with strew.torch enabled; "strew.torch", its own operators where PyTorch has
none; "backend strew" and "inductor, strew", torch.compile with strew's backend and with strew's pass inside inductor. Operators have two of them, steps (steps.py) all that apply.

Before a case is timed, its results are compared with eager's: of an operator, bit for bit. Of a step, strew eager has to have eager's bits with one thread; the others, and all with several threads,
where products of matrices and PyTorch's own sums depend on the threads, have to be close, and "=" behind a figure says that the bits are the same, "~" that they are not. Then N rounds (at least 15): in
each, all columns are timed, and the order turns from round to round. A figure is the median of the rounds, with its quartiles; the ratio is the median, with its quartiles, over the rounds of the first
column's time over another's, so that what disturbs a round disturbs both. "faults" are the pages that the system had to provide per call.

Each number of threads, and each way of glibc's malloc, is a process of its own: "default" gives large blocks back to the system as soon as they are free, so that every new tensor is made of new
pages; "kept" keeps them (environment variables MALLOC_...).
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "peers")]
from fused_report import show  # noqa: E402
from malloc import MALLOC  # noqa: E402
from python_bench import seconds_of  # noqa: E402

import torch  # noqa: E402
from steps import STEPS  # noqa: E402

import strew.torch  # noqa: E402

NODES, EDGES, WIDTH = 10_000, 300_000, 64


class Case:
    """`call` is timed. `result` gives what is compared: that of a call on fresh data, where `call` updates its table again and again."""

    def __init__(self, call, result):
        self.call, self.result = call, result


def updating(table, call):
    """Of a call that writes into a table."""
    return Case(lambda: call(table), lambda: call(table.clone()))


def making(call):
    return Case(call, call)


def graph(dtype=torch.float32):
    draw = torch.Generator().manual_seed(1)
    return (torch.zeros(NODES, WIDTH, dtype=dtype), torch.randint(0, NODES, (EDGES,), generator=draw), torch.randn(EDGES, WIDTH, generator=draw).to(dtype))


def large_index_add():
    table, index, updates = graph()
    return updating(table, lambda t: t.index_add_(0, index, updates))


def narrow_index_add():
    table, index, updates = graph(torch.bfloat16)
    return updating(table, lambda t: t.index_add_(0, index, updates))


def new_index_add():
    table, index, updates = graph()
    return making(lambda: table.index_add(0, index, updates))


def expanded_scatter_add():
    table, index, updates = graph()
    index = index[:, None].expand_as(updates)
    return updating(table, lambda t: t.scatter_add_(0, index, updates))


def sorted_scatter_add():
    table, index, updates = graph()
    index = index.sort().values[:, None].expand_as(updates)
    return updating(table, lambda t: t.scatter_add_(0, index, updates))


def full_scatter_add():
    table, index, updates = graph()
    index = index[:, None].expand_as(updates).contiguous()
    return updating(table, lambda t: t.scatter_add_(0, index, updates))


def second_scatter_add():
    draw = torch.Generator().manual_seed(1)
    index, updates = torch.randint(0, WIDTH, (80_000, WIDTH), generator=draw), torch.randn(80_000, WIDTH, generator=draw)
    return updating(torch.zeros(80_000, WIDTH), lambda t: t.scatter_add_(1, index, updates))


def large_index_put():
    table, index, updates = graph()
    return updating(table, lambda t: t.index_put_((index,), updates, accumulate=True))


def large_index_select():
    _, index, updates = graph()
    table = updates[:NODES].contiguous()
    return making(lambda: table.index_select(0, index))


def given_index_select():
    _, index, updates = graph()
    table, out = updates[:NODES].contiguous(), torch.empty(EDGES, WIDTH)
    return making(lambda: torch.index_select(table, 0, index, out=out))


def second_index_select():
    draw = torch.Generator().manual_seed(1)
    table, index, out = torch.randn(64, 5000, generator=draw), torch.randint(0, 5000, (200_000,), generator=draw), torch.empty(64, 200_000)
    return making(lambda: torch.index_select(table, 1, index, out=out))


def embedding_backward():
    draw = torch.Generator().manual_seed(1)
    weight = torch.randn(50_000, WIDTH, generator=draw).requires_grad_()
    rows, outer = torch.randint(0, 50_000, (32_768,), generator=draw), torch.randn(32_768, WIDTH, generator=draw)
    result = torch.nn.functional.embedding(rows, weight)
    return making(lambda: torch.autograd.grad(result, weight, outer, retain_graph=True)[0])


def pages():
    """Slots of a paged cache of 4096 tokens with 8 heads of 128 numbers, and a token for 32 of them."""
    draw = torch.Generator().manual_seed(1)
    return torch.zeros(4096, 8, 128, dtype=torch.bfloat16), torch.randperm(4096, generator=draw)[:32], torch.randn(32, 8, 128, generator=draw).to(torch.bfloat16)


def paged_index_copy():
    cache, slots, tokens = pages()
    return updating(cache, lambda c: c.index_copy_(0, slots, tokens))


def paged_index_put():
    cache, slots, tokens = pages()
    return updating(cache, lambda c: c.index_put_((slots,), tokens))


def few():
    return torch.zeros(8, 16), torch.tensor([1, 2, 3, 1, 0, 7, 6, 1]), torch.ones(8, 16)


def tiny_index_add():
    table, index, updates = few()
    return updating(table, lambda t: t.index_add_(0, index, updates))


def tiny_scatter_add():
    table, index, updates = few()
    index = index[:, None].expand_as(updates)
    return updating(table, lambda t: t.scatter_add_(0, index, updates))


def tiny_index_put():
    table, index, updates = few()
    return updating(table, lambda t: t.index_put_((index,), updates, accumulate=True))


def tiny_index_select():
    table, index, _ = few()
    return making(lambda: table.index_select(0, index))


def masked_index_put():
    table, _, _ = few()
    mask, value = torch.arange(8) < 4, torch.ones(16)
    return updating(table, lambda t: t.index_put_((mask,), value))


def masked_select():
    """Half of a million elements, at random."""
    table = torch.randn(1000, 1000)
    mask = torch.rand(1000, 1000) < 0.5
    return making(lambda: table[mask])


def masked_rows():
    """Rows of images are put between those of text."""
    table, rows = torch.randn(2048, 1024), torch.randn(512, 1024)
    mask = torch.zeros(2048, dtype=torch.bool)
    mask[100:612] = True
    return updating(table, lambda t: t.masked_scatter_(mask[:, None].expand_as(t), rows))


def scaled_index_add():
    table, index, updates = graph()
    return updating(table, lambda t: t.index_add_(0, index, updates, alpha=-0.1))


def segment_sum():
    data, lengths = torch.randn(EDGES, WIDTH), torch.full((NODES,), EDGES // NODES)
    return making(lambda: torch.segment_reduce(data, "sum", lengths=lengths))


def sparse_step():
    """What SGD does with the gradient of an embedding with `sparse=True`."""
    table, index, gradient = torch.randn(500000, 64), torch.randint(0, 500000, (32768,)), torch.randn(32768, 64)
    sparse = torch.sparse_coo_tensor(index[None], gradient, table.size(), check_invariants=False)
    return updating(table, lambda t: t.add_(sparse, alpha=-0.01))


def bag_backward(mode):
    """Of 2048 bags of 16."""
    index, sizes = torch.randint(0, 50000, (32768,)), torch.full((2048,), 16)
    bags, gradient = torch.arange(32768) // 16, torch.randn(2048, 64)
    return making(lambda: torch.ops.aten._embedding_bag_dense_backward(gradient, index, bags, sizes, sizes, 50000, False, mode, None))


def handed_over_index_reduce():
    """strew leaves maxima of such rows to PyTorch, whose vectors, at which ends which of two zeros is the larger one changes, end within a row."""
    index, updates = torch.tensor([1, 2, 3, 1, 0, 7, 6, 1]), torch.ones(8, 17)
    return updating(torch.zeros(8, 17), lambda t: t.index_reduce_(0, index, updates, "amax"))


def bags(mode, dtype=torch.float32, padding=None):
    """2048 bags of 16."""
    index, offsets, table = torch.randint(0, 50000, (32768,)), torch.arange(0, 32768, 16), torch.randn(50000, 64).to(dtype)
    return making(lambda: torch.nn.functional.embedding_bag(index, table, offsets, mode=mode, padding_idx=padding))


def rows_reduced(reduce):
    table, index, updates = graph()
    return updating(table, lambda t: t.index_reduce_(0, index, updates, reduce))


CASES = {
    "index_add_ 300k x 64 -> 10k": large_index_add,
    "index_add_ 300k x 64 -> 10k, bfloat16": narrow_index_add,
    "index_add 300k x 64 -> 10k, new tensor": new_index_add,
    "scatter_add_ 300k x 64 -> 10k, expanded index": expanded_scatter_add,
    "scatter_add_ 300k x 64 -> 10k, expanded and sorted": sorted_scatter_add,
    "scatter_add_ 300k x 64 -> 10k, full index": full_scatter_add,
    "scatter_add_ 80k x 64, dim 1": second_scatter_add,
    "index_put_ accumulate 300k x 64 -> 10k": large_index_put,
    "index_select 10k -> 300k x 64, new tensor": large_index_select,
    "index_select 10k -> 300k x 64, out=": given_index_select,
    "index_select 64 x 5k -> 64 x 200k, dim 1, out=": second_index_select,
    "embedding backward, 32k of 50k rows of 64": embedding_backward,
    "paged cache, index_copy_ 32 x 2 KiB": paged_index_copy,
    "paged cache, index_put_ 32 x 2 KiB": paged_index_put,
    "index_add_ 8 x 64 B": tiny_index_add,
    "scatter_add_ 8 x 64 B": tiny_scatter_add,
    "index_put_ accumulate 8 x 64 B": tiny_index_put,
    "index_select 8 x 64 B": tiny_index_select,
    "index_add_ 300k x 64 -> 10k, alpha -0.1": scaled_index_add,
    "segment_reduce sum, 10k of 30 x 64": segment_sum,
    "w += sparse gradient, 32k of 500k rows of 64": sparse_step,
    "embedding_bag backward, sum, 2048 bags of 16 x 64": lambda: bag_backward(0),
    "embedding_bag, sum of float64, 2048 bags of 16 x 64": lambda: bags("sum", torch.float64),
    "embedding_bag, sum with padding, 2048 bags of 16 x 64": lambda: bags("sum", padding=0),
    "embedding_bag, max, 2048 bags of 16 x 64": lambda: bags("max"),
    "index_reduce_ amax 300k x 64 -> 10k": lambda: rows_reduced("amax"),
    "embedding_bag backward, mean, 2048 bags of 16 x 64": lambda: bag_backward(1),
    "index_put_ 8 x 64 B, a mask": masked_index_put,
    "x[mask], half of 1M": masked_select,
    "masked_scatter_, 512 of 2048 rows of 4 KiB": masked_rows,
    "handed over: index_reduce_ amax, 8 x 68 B": handed_over_index_reduce,
}


def columns_of(made):
    """Each column's call, and whether strew is enabled."""
    if isinstance(made, Case):
        return {"eager": (made.call, False), "strew eager": (made.call, True)}
    columns = {"eager": (made.plain, False), "torch.compile": (torch.compile(made.plain), False), "torch.sparse.mm": (made.sparse, False), "strew eager": (made.plain, True),
               "strew.torch": (made.operators, True), "backend strew": (torch.compile(made.plain, backend=strew.torch.backend), True),
               "inductor, strew": (torch.compile(made.plain, options=strew.torch.inductor_options()), True)}
    return {column: way for column, way in columns.items() if way[0] is not None}


def run(way):
    call, enabled = way
    (strew.torch.enable if enabled else strew.torch.disable)()
    return call()


def compare_operator(name, case, threads):
    """PyTorch's own sums are those of one thread only there: index_put_ adds atomically on several."""
    torch.set_num_threads(1)
    want = run((case.result, False)).clone()
    torch.set_num_threads(threads)
    if not all(torch.equal(run((case.result, True)), want) for _ in range(2)):
        sys.exit(f"{name}: other bits than PyTorch's")
    return {"eager": True, "strew eager": True}


def compare_step(name, columns, written, threads):
    """Whether each column has eager's bits."""
    def results(way):
        for each in written:
            each.zero_()
        return [each.clone() for each in (*run(way), *written)]
    want, same = results(columns["eager"]), {}
    for column, way in columns.items():
        got = results(way)
        scales = [each.float().abs().max().clamp(min=1e-30) for each in want]
        far = [number for number, (one, other) in enumerate(zip(got, want, strict=True)) if (one.float() - other.float()).abs().max() / scales[number] > (0.05 if one.dtype == torch.bfloat16 else 1e-3)]
        if far:
            sys.exit(f"{name}, {column}: results {far} are far from eager's")
        same[column] = all(map(torch.equal, got, want))
    if threads == 1 and not same["strew eager"]:
        sys.exit(f"{name}: other bits than PyTorch's")
    return same


def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def measure(name, make, options):
    made = make()
    columns = {column: way for column, way in columns_of(made).items() if column in ("eager", "strew eager") or re.search(options.columns, column)}
    same = compare_operator(name, made, options.threads) if isinstance(made, Case) else compare_step(name, columns, made.written, options.threads)
    time.sleep(0.3)  # kernels that were asked for are compiled now
    strew.torch.report(clear=True)
    run(columns["strew eager"])
    by_strew = sum(counts["replaced"] for counts in strew.torch.report().values())
    seconds, pages_per_call = {column: [] for column in columns}, {}
    for number in range(options.rounds):
        order = list(columns)[number % len(columns):] + list(columns)[:number % len(columns)]
        for column in order:
            run(columns[column])
            seconds[column].append(seconds_of(columns[column][0], options.least))
    for column, way in columns.items():
        run(way)
        before = faults()
        for _ in range(5):
            way[0]()
        pages_per_call[column] = (faults() - before) / 5
    rows = {column: {"quartiles": statistics.quantiles(values, n=4), "faults": pages_per_call[column], "same_bits": same[column],
                     "ratio": statistics.quantiles([theirs / ours for theirs, ours in zip(seconds["eager"], values, strict=True)], n=4)} for column, values in seconds.items()}
    return {"case": name, "threads": options.threads, "malloc": options.malloc, "rounds": options.rounds, "by_strew": by_strew, "rows": rows, "ratio": rows["strew eager"]["ratio"]}


def in_child(options):
    """One process: a record per line."""
    torch.set_num_threads(options.threads)
    for name, make in {**CASES, **STEPS}.items():
        if re.search(options.only, name):
            print(json.dumps(measure(name, make, options)), flush=True)
            torch._dynamo.reset()


def line_of(record):
    """Operators on one line; steps on a line for each column."""
    def cells(row):
        low, median, high = (show(each * 1e9) for each in row["quartiles"])
        return f"{median:>9} [{low}, {high}] {row['faults']:.0f} faults"

    def ratio(row):
        low, median, high = row["ratio"]
        return f"{median:6.2f} [{low:.2f}, {high:.2f}]"
    head, handed_over = f"{record['case']:<52} T={record['threads']} {record['malloc']:<8}", "" if record["by_strew"] else "  handed over"
    if record["case"] not in STEPS:
        return head + "".join(cells(row).ljust(44) for row in record["rows"].values()) + ratio(record["rows"]["strew eager"]) + handed_over
    lines = [f"    {column:<16} {cells(row):<50} {ratio(row):<22} {'=' if row['same_bits'] else '~'}" for column, row in record["rows"].items()]
    return "\n".join([head + handed_over, *lines])


def run_children(options):
    records = []
    for threads in options.threads.split(","):
        for malloc in options.malloc.split(","):
            command = [sys.executable, __file__, "--child", "--only", options.only, "--columns", options.columns, "--rounds", str(options.rounds), "--least", str(options.least), "--threads", threads, "--malloc", malloc]
            with subprocess.Popen(command, env={**os.environ, **MALLOC[malloc]}, stdout=subprocess.PIPE, text=True) as child:
                for line in child.stdout:
                    records.append(json.loads(line))
                    print(line_of(records[-1]), flush=True)
            if child.returncode:
                sys.exit(f"torch_bench.py: the process with {threads} threads and malloc {malloc} failed")
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--columns", default="", help="of steps, columns besides eager and strew eager whose names match")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--least", type=float, default=0.02, help="seconds of calls in a figure, at least")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--malloc", default="default,kept")
    parser.add_argument("--json")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        options.threads = int(options.threads)
        return in_child(options)
    print(f"torch {torch.__version__}, load {os.getloadavg()[0]:.1f}, {options.rounds} rounds; medians [quartiles]; ratios: eager over the column; of operators, eager over strew eager")
    print(f"{'case':<52} {'':<12} " + "".join(f"{column:<44}" for column in ("eager", "strew eager")))
    records = run_children(options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(records, file, indent=1)


if __name__ == "__main__":
    main()
