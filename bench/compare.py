#!/usr/bin/env python3
"""Two runs of the suite, before and after: what got faster, what slower, and what that means against the limit.

  compare.py OLD.json[,OLD.json...] NEW.json[,NEW.json...]

Times of different runs differ by more than code: the machine does. What counts is the ratio to the hand-written limit of the same run;
its change is called a change only where the two runs' p10..p90 do not overlap. Several files are rounds of the same program, best made in
turns with the other's: the median of their ratios counts, and their noise reaches from the lowest p10 to the highest p90.
"""
import json
import statistics
import sys


def rows_of(path):
    """{(case, threads): row} of a --benchmark_out file."""
    with open(path, encoding="utf-8") as f:
        runs = json.load(f)["benchmarks"]
    return {(r["name"].split("/")[0], int(r["threads"])): r for r in runs if "x_limit" in r}


def merged_rows(paths):
    """rows_of() each file, as one row per case that all of them have."""
    rounds = [rows_of(path) for path in paths.split(",")]
    rows = {}
    for key in rounds[0]:
        if all(key in one for one in rounds):
            column = {name: [one[key][name] for one in rounds] for name in ("x_limit", "x_limit_p10", "x_limit_p90", "strew_ns")}
            rows[key] = {"x_limit": statistics.median(column["x_limit"]), "strew_ns": statistics.median(column["strew_ns"]),
                         "x_limit_p10": min(column["x_limit_p10"]), "x_limit_p90": max(column["x_limit_p90"])}
    return rows


def show(ns):
    return f"{ns:.0f} ns" if ns < 1e4 else f"{ns / 1e3:.1f} us" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def verdict(old, new):
    if new["x_limit_p90"] < old["x_limit_p10"]:
        return "better"
    return "worse" if new["x_limit_p10"] > old["x_limit_p90"] else "same"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: compare.py OLD.json[,OLD.json...] NEW.json[,NEW.json...]")
    old, new = merged_rows(sys.argv[1]), merged_rows(sys.argv[2])
    both = [key for key in new if key in old]
    print(f"{'case':36s}{'T':>2}{'before':>11s}{'after':>11s}{'after/before':>14s}{'x limit before':>16s}{'after':>8s}  verdict")
    counts = {}
    for key in both:
        a, b = old[key], new[key]
        said = verdict(a, b)
        counts[said] = counts.get(said, 0) + 1
        print(f"{key[0]:36s}{key[1]:>2}{show(a['strew_ns']):>11s}{show(b['strew_ns']):>11s}{b['strew_ns'] / a['strew_ns']:>14.2f}"
              f"{a['x_limit']:>16.2f}{b['x_limit']:>8.2f}  {'' if said == 'same' else said}")
    print(f"{len(both)} rows: " + ", ".join(f"{n} {said}" for said, n in sorted(counts.items())))
    missing = sorted(f"{name}/T{t}" for name, t in set(new) - set(old))
    if missing:
        print("not in the earlier run: " + ", ".join(missing))


if __name__ == "__main__":
    main()
