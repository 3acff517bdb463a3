#!/usr/bin/env python3
"""Ways to read and update arrays at indices (cases.py), with each level of strew.jax and without: bit for bit JAX's own results, and no more copies of what is updated in place than XLA makes.

    cases_test.py [BUILD] [--x64] [--per-base N] [--only REGEX] [--single N]

Some twelve cases are one compiled function, as they may be in programs; `--single N`: every Nth is also compiled by itself. Without --x64, the test runs itself once more with 64-bit types.
Exit status 0: right, 1: wrong.
"""
import argparse
import os
import re
import subprocess
import sys

from modes import MODES, Failures, differs, jax, results_of, strew

import jax.numpy as jnp

TOGETHER = 12


def check_cases(failures, options):
    from cases import make_cases
    cases = [case for case in make_cases(options.x64, options.per_base) if re.search(options.only, case.name)]
    groups = [cases[n:n + TOGETHER] for n in range(0, len(cases), TOGETHER)] + [[case] for number, case in enumerate(cases) if options.single and number % options.single == 0]
    functions = [(lambda given, group=group: [case.function(*each) for case, each in zip(group, given, strict=True)], ([case.arguments for case in group],)) for group in groups]
    results = {}
    for mode in MODES:
        strew.jax.report(clear=True)
        results[mode] = results_of(mode, functions)
        runs = sum(len(each.replaced) for each in strew.jax.report().modules)
        print(f"{mode}: strew runs {runs} parts of {len(functions)} modules", flush=True)
        failures.check(runs == 0 if mode == "off" else runs > len(groups) or options.only, f"{mode}: strew runs {runs} parts")
    for number, group in enumerate(groups):
        for mode in MODES[1:]:
            first = 0
            for case in group:
                count = len(jax.tree.leaves(jax.eval_shape(case.function, *case.arguments)))
                if difference := differs(results[mode][number][first:first + count], results["off"][number][first:first + count]):
                    failures.append(f"{mode}: {case.name}{' by itself' if len(group) == 1 else ''}: {difference}")
                first += count
    return len(cases)


def in_place_functions():
    """{name: (function, the arguments)}: the first argument, [400, 300], is updated."""
    x, i, u = jnp.zeros((400, 300)), jnp.arange(50) * 7, jnp.ones((50, 300))

    def loop(x, i, u):
        return jax.lax.fori_loop(0, 5, lambda n, c: c.at[i + n].add(u), x)

    def two_writes(x, i, u):
        return jax.lax.fori_loop(0, 5, lambda n, c: jax.lax.dynamic_update_slice(c.at[i + n].add(u), u[:1], (n, 0)), x)

    def two_arrays(x, i, u):
        return jax.lax.scan(lambda c, n: ((c[0].at[i + n].set(u), c[1].at[i].max(u)), None), (x, x + 1), jnp.arange(4))[0]
    return {"add": (lambda x, i, u: x.at[i].add(u), x, i, u), "set": (lambda x, i, u: x.at[i].set(u), x, i, u), "max": (lambda x, i, u: x.at[i].max(u), x, i, u),
            "add and read": (lambda x, i, u: (x.at[i].add(u), x[3]), x, i, u), "add twice": (lambda x, i, u: x.at[i].add(u).at[i + 1].add(u), x, i, u),
            "dynamic_update_slice": (lambda x, i, u: jax.lax.dynamic_update_slice(x, u, (i[1], 0)), x, i, u), "loop": (loop, x, i, u), "two writes of a loop": (two_writes, x, i, u),
            "two arrays of a loop": (two_arrays, x, i, u), "old and new": (lambda x, i, u: (x.at[i].add(u), x), x, i, u), "paged": (paged, x, i, u)}


def paged(x, i, u):
    return x.reshape(40, 10, 300).at[i // 10, i % 10].set(u, mode="drop").reshape(400, 300)


def copies_of(text):
    """How many copies of the array the program of an executable makes, as the text of its modules has them."""
    return len(re.findall(r"= f32\[(?:400,300|40,10,300)\]\S* copy\(", text))


def check_copies(failures):
    counts = {}
    for mode in MODES:
        (strew.jax.enable if mode == "operators" else strew.jax.disable)()
        for name, (function, *arguments) in in_place_functions().items():
            for donated in (False, True):
                jitted = (strew.jax.jit if mode == "fused" else jax.jit)(function, donate_argnums=0 if donated else None)
                counts[mode, name, donated] = copies_of(jitted.lower(*arguments).compile().as_text())
    strew.jax.disable()
    for (mode, name, donated), count in counts.items():
        most = counts["off", name, donated]
        failures.check(count <= most, f"{mode}: {name}{', donated' if donated else ''}: {count} copies of the array, XLA alone makes {most}")
    failures.check(counts["off", "old and new", True] > 0, "no copy was found where one has to be")
    return len(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("--x64", action="store_true", help="with 64-bit types, in this process alone")
    parser.add_argument("--per-base", type=int, default=2, help="drawn cases for each way of indexing")
    parser.add_argument("--only", default="", help="cases whose names match")
    parser.add_argument("--single", type=int, default=20)
    options = parser.parse_args()
    if options.x64:
        jax.config.update("jax_enable_x64", True)
        options.per_base = 1
    failures = Failures()
    cases = check_cases(failures, options)
    copies = 0 if options.x64 or options.only else check_copies(failures)
    print(f"cases_test{' with 64-bit types' if options.x64 else ''}: {cases} cases, {copies} counts of copies, {len(failures)} failures", flush=True)
    status = 1 if failures else 0
    if not options.x64:
        status |= subprocess.run([sys.executable, __file__, "--x64", *sys.argv[1:]], env=os.environ, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
