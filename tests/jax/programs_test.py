#!/usr/bin/env python3
"""Drawn programs (draw_programs.py) with strew.jax, of each level by turns, and with JAX alone: the same results, bit for bit.

    programs_test.py [BUILD] [--seed N] [--iterations N] [--only N] [--text]

Thirty programs are one compiled function, since the compiler takes long for each. Of sixteen such functions, XLA compiles two as it does by default, one of each level, and the others as quickly as it can. A program
is drawn from the seed and its number; `--only N` runs one by itself, with both levels and both ways, and `--text` prints it and the module that JAX makes of it. Exit status 0: right, 1: wrong.
"""
import argparse
import sys

from modes import MODES, Failures, differs, jax, np, results_of, strew

from draw_programs import Program

TOGETHER = 30
QUICKLY = {"xla_backend_optimization_level": 0} | ({"xla_cpu_use_fusion_emitters": False} if jax.__version_info__ < (0, 11) else {})  # a quarter of the time


def check(failures, seed, numbers, counts, level, compiler_options):
    programs = [Program(np.random.default_rng([seed, number])) for number in numbers]

    def all_of(given):
        return [program(*each) for program, each in zip(programs, given, strict=True)]
    given = [program.arguments for program in programs]
    shapes = jax.eval_shape(all_of, given)
    sizes = [len(jax.tree.leaves(each)) for each in shapes]
    results = {}
    for mode in ("off", level):
        strew.jax.report(clear=True)
        try:
            results[mode] = results_of(mode, [(all_of, (given,))], compiler_options=compiler_options)[0]
        except Exception as error:  # noqa: BLE001  whatever it is, the program is to be named
            failures.append(f"--seed {seed}, one of {numbers[0]} to {numbers[-1]}, {mode}: {type(error).__name__}: {error}")
            return
        counts[mode] = counts.get(mode, 0) + sum(len(each.replaced) for each in strew.jax.report().modules)
    first = 0
    for number, program, size in zip(numbers, programs, sizes, strict=True):
        if difference := differs(results[level][first:first + size], results["off"][first:first + size]):
            failures.append(f"--seed {seed} --only {number}, {level}{', quickly' if compiler_options else ''}: {difference}: {program}")
        first += size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=3000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--text", action="store_true")
    options = parser.parse_args()
    print(f"programs_test: --seed {options.seed} --iterations {options.iterations}", flush=True)
    numbers = [options.only] if options.only is not None else range(options.iterations)
    failures, counts = Failures(), {}
    if options.text:
        for number in numbers:
            program = Program(np.random.default_rng([options.seed, number]))
            print(program, jax.jit(program).lower(*program.arguments).as_text(), sep="\n")
    for first in range(0, len(numbers), TOGETHER):
        turn = first // TOGETHER
        for number, level in enumerate(MODES[1:]):
            for compiler_options in ({}, QUICKLY):
                if options.only is not None or (turn % 2 == number and (turn % 16 < 2) == (not compiler_options)):
                    check(failures, options.seed, numbers[first:first + TOGETHER], counts, level, compiler_options)
                    jax.clear_caches()
    if options.only is None:
        for mode in MODES[1:]:
            failures.check(counts.get(mode, 0) >= len(numbers) // 8, f"{mode}: strew ran {counts.get(mode, 0)} parts of {len(numbers) // 2} programs, expected more")
        failures.check(counts.get("off") == 0, f"strew ran {counts.get('off')} parts where it was disabled")
    print(f"programs_test: {len(numbers)} programs, parts that strew ran: {counts}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
