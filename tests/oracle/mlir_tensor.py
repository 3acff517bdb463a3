"""Generated tensor.gather and tensor.scatter operations, right and broken: `strew check` against the verifier of mlir-opt.

Each case is one operation with random shapes, open dims, index types, rank-reduced or not; in two of three cases one piece is then
changed at random, which may or may not break it. Both have to accept the file or both to refuse it. Upstream's spelling only: mlir-opt
does not know the RFC's. Kept out, because strew stores or promises less or more than the text (docs/sources.md): i1 and odd-width
indices, indexed dims of extent 0, scatters whose result is not of the destination's type.

Exit status 77 when there is no mlir-opt of MLIR 22.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ELEMENTS = ["f32", "bf16", "f64", "i8", "i4", "i64", "i1", "complex<f32>", "f8E4M3FN"]
INDICES = ["index", "i64", "i32", "i16", "i8"]


def tensor(dims, element):
    return "tensor<" + "".join(("?" if d is None else str(d)) + "x" for d in dims) + element + ">"


class Case:
    def __init__(self, rng):
        self.rng = rng
        self.scatter = rng.random() < 0.5
        rank = rng.randint(1, 5)
        self.indexed = [rng.choice([None, 1, 2, 3, 7, 16]) for _ in range(rank)]
        self.dims = sorted(rng.sample(range(rank), rng.randint(1, rank)))
        self.positions = [rng.choice([None, 0, 1, 2, 5]) for _ in range(rng.randint(0, 3))]
        self.indices = self.positions + [len(self.dims)]
        reduced = rng.random() < 0.5
        window = [1 if d in self.dims else e for d, e in enumerate(self.indexed) if not (reduced and d in self.dims)]
        self.small = self.positions + window
        self.element, self.small_element, self.index = rng.choice(ELEMENTS), None, rng.choice(INDICES)
        self.unique = self.scatter or rng.random() < 0.5
        if rng.random() < 0.67:
            self.mutate()

    def mutate(self):
        rng, lists = self.rng, [self.indexed, self.indices, self.small, self.dims]
        change = rng.randint(0, 6)
        target = rng.choice(lists)
        if change == 0 and target:
            target.pop(rng.randrange(len(target)))
        elif change == 1:
            target.insert(rng.randint(0, len(target)), rng.choice([0, 1, 2, 3]))
        elif change == 2 and target:
            target[rng.randrange(len(target))] = rng.choice([1, 2, 3, 4, 9])
        elif change == 3:
            rng.shuffle(target)
        elif change == 4:
            self.small_element = rng.choice(ELEMENTS)
        elif change == 5:
            self.index = rng.choice(["f32", "ui32", "si64", "i16"])
        else:
            self.unique = not self.unique

    def excluded(self):
        return any(e == 0 for e in self.indexed)

    def text(self):
        big, small = tensor(self.indexed, self.element), tensor(self.small, self.small_element or self.element)
        indices = tensor(self.indices, self.index)
        dims, unique = ", ".join(map(str, self.dims)), " unique" if self.unique else ""
        if self.scatter:
            return (f"func.func @main(%u: {small}, %d: {big}, %i: {indices}) -> {big} {{\n"
                    f"  %r = tensor.scatter %u into %d[%i] scatter_dims([{dims}]){unique} : ({small}, {big}, {indices}) -> {big}\n"
                    f"  return %r : {big}\n}}\n")
        return (f"func.func @main(%s: {big}, %i: {indices}) -> {small} {{\n"
                f"  %r = tensor.gather %s[%i] gather_dims([{dims}]){unique} : ({big}, {indices}) -> {small}\n"
                f"  return %r : {small}\n}}\n")


def find_mlir_opt():
    for name in ("mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt"):
        found = shutil.which(name)
        if found:
            return found
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strew", required=True)
    parser.add_argument("--mlir-opt", default=find_mlir_opt())
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not arguments.mlir_opt:
        print("skipped: no mlir-opt-22")
        return 77
    rng = random.Random(arguments.seed)
    cases = []
    while len(cases) < arguments.cases:
        case = Case(rng)
        if not case.excluded():
            cases.append(case)

    with tempfile.TemporaryDirectory() as folder:
        def verdicts(numbered):
            number, case = numbered
            path = os.path.join(folder, f"{number}.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(case.text())
            ours = subprocess.run([arguments.strew, "check", path], capture_output=True, text=True)
            theirs = subprocess.run([arguments.mlir_opt, path], capture_output=True, text=True)
            return case, ours, theirs

        wrong = accepted = 0
        with ThreadPoolExecutor(max_workers=2) as pool:
            for case, ours, theirs in pool.map(verdicts, enumerate(cases)):
                accepted += theirs.returncode == 0
                if theirs.returncode not in (0, 1) or ours.returncode not in (0, 1) or ours.returncode != theirs.returncode:
                    wrong += 1
                    print(f"strew {ours.returncode}: {ours.stderr.strip()}\nmlir-opt {theirs.returncode}: "
                          f"{theirs.stderr.strip().splitlines()[:1]}\n{case.text()}")
    print(f"{len(cases)} cases, {accepted} accepted and {len(cases) - accepted} refused by mlir-opt, {wrong} disagreements")
    if not len(cases) // 5 <= accepted <= len(cases) * 4 // 5:
        print("too few of one kind to mean anything")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
