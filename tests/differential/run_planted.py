#!/usr/bin/env python3
"""Plants bugs in a copy of the sources, one at a time, and checks that strew_differential fails on each.

    python3 tests/differential/run_planted.py [--build DIR] [--only REGEX] [--seconds S] [--jobs J]

The copy and its build live in build-planted/ (or DIR) and are kept, so a second run is incremental. Ends with a table of caught and
missed bugs; exit 1 if one was missed, 2 if a bug's anchor text no longer stands in its file or a patched tree does not build.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "planted"))
from bugs import BUGS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def copy_tree(target: pathlib.Path) -> None:
    """Brings the copy up to date, touching only files that differ (so that builds stay incremental)."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    wanted = {n for n in names if n and (ROOT / n).is_file()}
    for name in wanted:
        source, copy = ROOT / name, target / name
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
        copy.chmod(source.stat().st_mode)
    for copy in target.rglob("*"):
        name = str(copy.relative_to(target))
        if copy.is_file() and name not in wanted and not name.startswith("build/"):
            copy.unlink()


def build(tree: pathlib.Path, jobs: int) -> None:
    out = tree / "build"
    venv = tree / ".venv"
    if (ROOT / ".venv").exists() and not venv.is_symlink():
        venv.symlink_to(ROOT / ".venv")  # has Halide
    if not (out / "build.ninja").exists():
        subprocess.run(["cmake", "-S", tree, "-B", out, "-G", "Ninja", "-DSTREW_BUILD_BENCH=OFF"], check=True,
                       stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", out, f"-j{jobs}", "strew_differential"], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(2)


def run(tree: pathlib.Path, seconds: float) -> tuple[int, str]:
    command = [tree / "build/bin/strew_differential", "--seed", "20250101", "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 10 + 300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    after = done.stdout.split("FAIL", 1)[-1].splitlines()
    why = next((line.strip() for line in after if "expected" in line or "SIG" in line or "changed" in line or "fault" in line), "")
    return done.returncode, why or (lines[0] if lines else f"exit {done.returncode}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-planted")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tree = options.build
    tree.mkdir(parents=True, exist_ok=True)
    copy_tree(tree)
    chosen = [bug for bug in BUGS if re.search(options.only, bug[0])]
    for name, file, old, _ in chosen:
        if (tree / file).read_text().count(old) != 1:
            print(f"{name}: its anchor stands {(tree / file).read_text().count(old)} times in {file}, expected once:\n{old}")
            return 2
    build(tree, options.jobs)
    code, why = run(tree, 10)
    if code != 0:
        print(f"the tree fails without any planted bug: {why}")
        return 2
    missed = 0
    for name, file, old, new in chosen:
        path = tree / file
        clean = path.read_text()
        path.write_text(clean.replace(old, new))
        try:
            build(tree, options.jobs)
            start = time.monotonic()
            code, why = run(tree, options.seconds)
        finally:
            path.write_text(clean)
        missed += code == 0
        print(f"{'MISSED' if code == 0 else 'caught'}  {time.monotonic() - start:6.1f} s  {name}: {why[:150]}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
