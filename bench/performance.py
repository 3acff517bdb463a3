#!/usr/bin/env python3
"""docs/performance.md, generated from runs: `./dev bench suite --json RUN.json`, then

  bench/performance.py RUN.json [--peers RECORDS.jsonl] [--backends BACKENDS.json] [--portable PORTABLE.json] --explain bench/suite/misses.md [--profiles PROFILES.txt] [--policies POLICIES.json] [--programs PROGRAMS.json] [--onnxruntime ORT.json] [--jax JAX.json] >docs/performance.md

BACKENDS: `./dev bench backends --json BACKENDS.json`. PORTABLE: `./dev bench portable --json PORTABLE.json`; PROGRAMS: `./dev bench programs --json
PROGRAMS.json`; ORT: `./dev bench onnxruntime --json ORT.json`; JAX: `./dev bench jax --json JAX.json`; of these four, the sections alone are printed without RUN.json. POLICIES: `./dev bench policies --json POLICIES.json`.
RECORDS: bench/peers/peers_bench.py --out. NOTES: what explains the
misses, written by whoever looked; put below the table as it is. PROFILES: what bench/profile.py printed for the misses.
"""
import argparse
import json

NATIVE = ("strew", "hand")
INTRO = """# Performance

Written by bench/performance.py from one run{peers}; do not edit. Again: `./dev bench suite --json RUN.json`.

| machine | |
|---|---|
| processor | {cpu}, {cores} cores, caches {caches} |
| date | {date} |
| load while it ran | {load} (1, 5, 15 minutes before it) |

Times are medians of {rounds} rounds in which strew, the hand-written kernels and plain streaming took turns; ratios are medians over rounds
of the ratio within a round, with their 10th and 90th percentile. strew runs through `Kernel::run` with the kernel already built, and called for
two seconds before if its calls have a choice, so that it has learned (docs/tuning.md). The limit
is the fastest hand-written kernel for that shape on that machine (bench/suite/hand_*.cc) with at most as many threads. Every result was
checked bit for bit before anything was timed. Target: 1.1 times the limit; below a microsecond, the limit plus 60 ns.

What it costs to ask for a kernel, to call it and to build it: docs/service.md, "Figures".
"""

OTHER_SIZES = """## Other sizes

The schedule that is chosen by default over the best candidate, for rows of 4 B to 16 KiB, tables from the first-level cache to main memory,
10 to 10^7 positions, random and sorted, on one thread and two: white is the best, yellow 1.2 times its time, red 1.5 times. What is
missing needs more memory than the sweep uses. `./dev bench sweep` measures it, docs/costs.md says how schedules are chosen.

![the time of the chosen schedule over the best candidate's](costs.svg)"""


def show(ns):
    return f"{ns:.0f} ns" if ns < 1e4 else f"{ns / 1e3:.1f} us" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def size(number):
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number >> 10} KiB"


def read(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    rows = [r for r in run["benchmarks"] if "x_limit" in r]
    for r in rows:
        r["case"], r["T"] = r["name"].split("/")[0], int(r["threads"])
        r["limit_is"], r["schedule"] = (r["label"].split(" | ") + [""])[:2]
    return run["context"], rows


def intro(context, rows, peers):
    levels = {}
    for cache in context["caches"]:
        if cache["type"] != "Instruction":
            levels.setdefault(cache["level"], size(cache["size"]))
    return INTRO.format(peers=" and one of the peers" if peers else "", cpu=context["cpu"], cores=context["num_cpus"],
                        caches=", ".join(f"L{k} {v}" for k, v in sorted(levels.items())), date=context["date"],
                        load=" ".join(f"{x:.1f}" for x in context["load_avg"]), rounds=rows[0]["iterations"])


def table(rows):
    yield "| case | T | strew | limit | strew / limit | p10..p90 | / streaming | GB/s | the limit is | strategy, streaming stores |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        knobs = dict(k.split("=") for k in r["schedule"].split(",") if "=" in k)
        how = knobs.get("strategy", "") + (", streaming" if knobs.get("nontemporal") == "true" else "")
        ratio = f"{r['x_limit']:.2f}" if r["met"] else f"**{r['x_limit']:.2f}**"
        gain = f"; {r['gain_over_strides']:.1f} times run-time strides" if "gain_over_strides" in r else ""
        yield (f"| {r['case']} | {r['T']} | {show(r['strew_ns'])} | {show(r['limit_ns'])} | {ratio} | "
               f"{r['x_limit_p10']:.2f}..{r['x_limit_p90']:.2f} | {r['x_stream']:.2f} | {r['bytes'] / r['strew_ns']:.1f} | "
               f"{r['limit_is']}{gain} | {how} |")


def worst(rows):
    missed = sorted((r for r in rows if not r["met"]), key=lambda r: -r["x_limit"])
    yield f"{len(rows) - len(missed)} of {len(rows)} rows are within their target (bold: beyond it)."
    if missed:
        yield "Beyond it, worst first: " + ", ".join(f"{r['case']} T={r['T']} {r['x_limit']:.2f}" for r in missed) + "."


def peer_table(path):
    with open(path, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    versions = sorted({f"{r['peer']} {r['version']}" for r in records if r["peer"] not in NATIVE})
    yield "## Peers\n"
    yield f"Against {', '.join(versions)} on the same data, threads and cores, in turns; a peer's time is the best of its variants at up to T threads.\n"
    yield "| case | T | strew | best peer | its time / strew's |"
    yield "|---|---|---|---|---|"
    for name, T in dict.fromkeys((r["case"], r["threads"]) for r in records):
        ours = [r for r in records if (r["case"], r["threads"], r["peer"]) == (name, T, "strew")]
        theirs = [r for r in records if r["case"] == name and r["threads"] <= T and r["peer"] not in NATIVE and not r["mismatch"]]
        if ours and theirs:
            best = min(theirs, key=lambda r: r["ns_per_call"])
            ratio = best["ns_per_call"] / ours[0]["ns_per_call"]
            yield (f"| {name} | {T} | {show(ours[0]['ns_per_call'])} | {best['peer']}, {best['variant']}: {show(best['ns_per_call'])} | "
                   f"{f'{ratio:.2f}' if ratio >= 1 else f'**{ratio:.2f}**'} |")


def backends_table(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    rows = [r for r in run["benchmarks"] if "x_llvm" in r]
    yield "## Halide beside LLVM\n"
    yield f"Every kernel of the suite from both backends with the same schedule, in turns ({run['context']['date'][:10]}, load " + \
        " ".join(f"{x:.1f}" for x in run["context"]["load_avg"]) + "). Both gave the same bits. `auto` takes LLVM."
    within = sum(r["x_llvm"] <= halide_target(r) for r in rows)
    yield f"{within} of {len(rows)} rows are within Halide's target: 1.1 times LLVM's time for rows of 256 bytes and more, 1.4 for shorter ones. " \
        f"Median compile time in the same run: LLVM {median(rows, 'compile_llvm_ms'):.0f} ms, " \
        f"Halide (with its entries, which LLVM makes) {median(rows, 'compile_halide_ms'):.0f} ms.\n"
    yield "| case | T | row bytes | llvm | halide | halide / llvm | p10..p90 | strategy, streaming stores |"
    yield "|---|---|---|---|---|---|---|---|"
    for r in rows:
        knobs = dict(k.split("=") for k in r["label"].split(",") if "=" in k)
        how = knobs.get("strategy", "") + (", streaming" if knobs.get("nontemporal") == "true" else "")
        ratio = f"{r['x_llvm']:.2f}" if r["x_llvm"] <= halide_target(r) else f"**{r['x_llvm']:.2f}**"
        yield (f"| {r['name'].split('/')[0]} | {int(r['threads'])} | {int(r['row_bytes'])} | {show(r['llvm_ns'])} | {show(r['halide_ns'])} | "
               f"{ratio} | {r['x_llvm_p10']:.2f}..{r['x_llvm_p90']:.2f} | {how} |")


def portable_target(row):
    return 4 if row["row_bytes"] >= 64 else 10


def portable_table(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    rows = [r for r in run["benchmarks"] if "portable_ns" in r]
    alone = [r for r in rows if r["threads"] == 1]
    within = sum(r["x_llvm"] <= portable_target(r) for r in alone)
    yield "## Portable beside LLVM\n"
    yield f"Every kernel of the suite from backend portable, which generates no code, and from llvm, with the same schedule, in turns " \
        f"({run['context']['date'][:10]}, load " + " ".join(f"{x:.1f}" for x in run["context"]["load_avg"]) + "). Both gave the same bits. " \
        "Target on one thread: 4 times LLVM's time for rows of 64 bytes and more, 10 times for shorter ones and single elements."
    yield f"{within} of {len(alone)} cases meet it. Median time to make a kernel whose op is new, in the same run: LLVM " \
        f"{median(rows, 'compile_llvm_ms'):.1f} ms, portable {1000 * median(rows, 'compile_portable_ms'):.0f} us.\n"
    yield "| case | T | row bytes | llvm | portable | portable / llvm | p10..p90 |"
    yield "|---|---|---|---|---|---|---|"
    for r in rows:
        ratio = f"{r['x_llvm']:.2f}" if r["x_llvm"] <= portable_target(r) or r["threads"] != 1 else f"**{r['x_llvm']:.2f}**"
        yield (f"| {r['name'].split('/')[0]} | {int(r['threads'])} | {int(r['row_bytes'])} | {show(r['llvm_ns'])} | {show(r['portable_ns'])} | "
               f"{ratio} | {r['x_llvm_p10']:.2f}..{r['x_llvm_p90']:.2f} |")


def policies_table(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    yield "## What policies cost\n"
    yield "Single elements in a table of 4000 floats (first-level cache), 65536 indices of which none, a tenth or half are out of range at random, on " \
        "one thread; nanoseconds per element, and the ratio to the same kernel under policy `undefined` in the same round (`./dev bench policies`, " \
        f"{run['context']['date'][:10]}, load " + " ".join(f"{x:.1f}" for x in run["context"]["load_avg"]) + ").\n"
    yield "| form | policy | 0 % | 10 % | 50 % |"
    yield "|---|---|---|---|---|"
    cells = {}
    for r in run["benchmarks"]:
        form, policy, bad = r["name"].split("/")[:3]
        cells.setdefault((form, policy), {})[bad] = f"{r['ns_each']:.2f} ns, {r['x_trusted']:.2f}"
    for (form, policy), row in cells.items():
        yield f"| {form} | {policy} | " + " | ".join(row.get(bad, "") for bad in ("0%", "10%", "50%")) + " |"


def programs_table(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    context, cases = run["context"], run["cases"]
    peers = [peer for peer in context["peers"] if peer not in ("strew", "kernel")]
    yield "## Whole files\n"
    yield "Models as exporters write them (bench/programs/models.py), run by `strew.open(file).run(inputs)`, beside the function that they were written as in eager " \
        "PyTorch and compiled by JAX, and beside ONNX Runtime on the same file, as far as it reads it (`./dev bench programs`, " \
        f"{context['date'][:10]}, {context['cpu']}, load {context['load']}; " + ", ".join(f"{peer} {context['peers'][peer]}" for peer in peers) + "). One thread, peers in turns, medians, and the " \
        "distance between the quartiles of strew's; behind a peer's time, strew's time over it. Faults are the pages that the system provides during a call, of strew and of " \
        f"{peers[0] if peers else 'a peer'}. Every result was compared with NumPy's before it was timed. In `chain` twelve operations stand around one kernel, which takes " \
        f"{show(cases['chain']['kernel']['ns_per_call'])} alone.\n"
    yield "| case | strew | quartiles | " + " | ".join(peers) + " | faults |"
    yield "|---|---|---|" + "---|" * (len(peers) + 1)
    for name, rows in cases.items():
        ours = rows["strew"]
        cells = [f"{show(rows[peer]['ns_per_call'])} ({ours['ns_per_call'] / rows[peer]['ns_per_call']:.3g})" if peer in rows else "" for peer in peers]
        faults = f"{ours['faults']:.0f}" + (f", {rows[peers[0]]['faults']:.0f}" if peers and peers[0] in rows else "")
        yield f"| {name} | {show(ours['ns_per_call'])} | {100 * ours['spread'] / ours['ns_per_call']:.0f} % | " + " | ".join(cells) + f" | {faults} |"
    if "whole_models" in run:
        models = run["whole_models"]
        yield f"\nThe {len(models['models'])} models of tests/models that strew runs whole, in one process (`RunnableProgram`, one thread): {show(models['total_ns'])} for a run of each; " \
            "the slowest are " + ", ".join(f"{name} {show(ns)}" for name, ns in sorted(models["models"].items(), key=lambda row: -row[1])[:3]) + "."


def with_quartiles(ratios):
    low, median_ratio, high = ratios
    digits = 1 if median_ratio >= 9.95 else 2
    return f"{median_ratio:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def host_intro(context, command, name):
    return f"`{command}`, {context['date'][:10]}, {context['cpu']}, {context['cores']} cores, load {context['load']}; {name} {context['version']}. Medians of {context['rounds']} rounds by turns, and ratios of the " \
        f"host's time over that with strew, with their quartiles over the rounds."


def onnxruntime_table(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    yield "## In ONNX Runtime\n"
    yield host_intro(run["context"], "./dev bench onnxruntime", "ONNX Runtime") + " With one thread, every result had ONNX Runtime's bits; with two, strew's were the same in every run. \"differ\" " \
        "counts the elements of ONNX Runtime's own result with two threads that were not those that it has with one. docs/onnxruntime.md says what is behind the figures.\n"
    yield "| case | ONNX Runtime, T=1 | strew, T=1 | ratio, T=1 | ratio, T=2 |"
    yield "|---|---|---|---|---|"
    cases = {}
    for record in run["cases"]:
        cases.setdefault(record["case"], {})[record["threads"]] = record
    for name, records in cases.items():
        one, two = records[1], records.get(2)
        theirs, ours = (show(one["quartiles"][column][1] * 1e9) for column in ("ONNX Runtime", "strew"))
        wrong = two["wrong"]["ONNX Runtime"] if two else 0
        yield f"| {name} | {theirs} | {ours} | {with_quartiles(one['ratio'])} | {with_quartiles(two['ratio']) if two else 'one thread only'}" + \
            (f"; ONNX Runtime: {wrong} of {two['elements']} elements differ |" if wrong else " |")


JAX_COLUMNS = (("enable", 1, "default"), ("strew.jax.jit", 1, "default"), ("enable", 2, "default"), ("strew.jax.jit", 2, "default"), ("strew.jax.jit", 1, "kept"))


def jax_table(path):
    with open(path, encoding="utf-8") as f:
        run = json.load(f)
    yield "## In JAX\n"
    yield host_intro(run["context"], "./dev bench jax", "JAX") + " All results have JAX's bits. \"XLA's\": strew left everything to XLA, and the ratio is that of two equal programs. Memory kept: glibc's malloc is told " \
        "to keep what is freed, so that new arrays are not made of new pages, which the system has to clear (bench/jax).\n"
    yield "| case | JAX, T=1 | " + " | ".join(f"`{'enable()' if column == 'enable' else column}`, T={threads}{', memory kept' if malloc == 'kept' else ''}" for column, threads, malloc in JAX_COLUMNS) + " |"
    yield "|---|---|" + "---|" * len(JAX_COLUMNS)
    cases = {}
    for record in run["cases"]:
        cases.setdefault(record["case"], {})[record["threads"], record["malloc"]] = record["columns"]
    starts = {name: record for name, records in cases.items() for record in records.values() if "per_kernel" in record["enable"]}
    for name, records in cases.items():
        if name in starts:
            continue
        cells = [records[threads, malloc][column] if (threads, malloc) in records else None for column, threads, malloc in JAX_COLUMNS]
        yield f"| {name} | {show(records[1, 'default']['JAX']['quartiles'][1] * 1e9)} | " + \
            " | ".join("" if cell is None else with_quartiles(cell["ratio"]) + ("" if cell["parts"] else ", XLA's") for cell in cells) + " |"
    for name, columns in starts.items():
        yield f"\n{name[0].upper()}{name[1:]}: " + ", ".join(f"{column} {show(row['quartiles'][1] * 1e9)}" + (f" ({row['per_kernel'] * 1e3:+.2f} ms per kernel)" if column != "JAX" else "") for column, row in columns.items()) + "."


def halide_target(row):
    return 1.1 if row["row_bytes"] >= 256 else 1.4


def median(rows, key):
    return sorted(r[key] for r in rows)[len(rows) // 2]


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("run", nargs="?")
    ap.add_argument("--portable")
    ap.add_argument("--peers")
    ap.add_argument("--backends")
    ap.add_argument("--policies")
    ap.add_argument("--programs")
    ap.add_argument("--onnxruntime")
    ap.add_argument("--jax")
    ap.add_argument("--explain")
    ap.add_argument("--profiles")
    args = ap.parse_args()
    if args.run is None:
        sections = ((programs_table, args.programs), (onnxruntime_table, args.onnxruntime), (jax_table, args.jax), (portable_table, args.portable))
        for section, path in sections:
            if path:
                print("\n".join(section(path)))
        return
    context, rows = read(args.run)
    print(intro(context, rows, args.peers))
    print("## The suite\n")
    print("\n".join(worst(rows)) + "\n")
    print("\n".join(table(rows)))
    print("\n" + OTHER_SIZES)
    if args.explain:
        with open(args.explain, encoding="utf-8") as f:
            print("\n## What explains the misses\n\n" + f.read().strip())
    if args.profiles:
        with open(args.profiles, encoding="utf-8") as f:
            print("\n## Profiles of the misses\n\n`./dev bench CASE --profile`, each way alone; samples by the processor's clock.\n")
            print("```\n" + f.read().strip() + "\n```")
    if args.policies:
        print("\n" + "\n".join(policies_table(args.policies)))
    if args.programs:
        print("\n" + "\n".join(programs_table(args.programs)))
    if args.onnxruntime:
        print("\n" + "\n".join(onnxruntime_table(args.onnxruntime)))
    if args.jax:
        print("\n" + "\n".join(jax_table(args.jax)))
    if args.peers:
        print("\n" + "\n".join(peer_table(args.peers)))
    if args.backends:
        print("\n" + "\n".join(backends_table(args.backends)))
    if args.portable:
        print("\n" + "\n".join(portable_table(args.portable)))


if __name__ == "__main__":
    main()
