#!/usr/bin/env python3
"""Whether this tree makes the same as another revision of all that strew_replay makes (main.cc): texts, plans, schedules, descriptors, code.

    replay.py BUILD [BASE] [--quick] [--jobs N]     compares with the revision BASE; by default HEAD where files have changed, else the one before
    replay.py BUILD --self-test                     whether one build makes the same twice, in one process and in three

The hashes of a revision are kept in BUILD/replay, so that only the first comparison with a BASE builds it: in build-replay, a work tree of its own. The exit
status is 1 if something differs; the first differences are shown as texts.
"""
import argparse
import collections
import concurrent.futures
import difflib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build-replay/tree"
ENVIRONMENT = {**os.environ, "STREW_WISDOM": "off", "STREW_CACHE": "off", "STREW_LEARN": "off"}
SHOWN = 40  # lines of the list of differences
TEXTS = 3   # of which the texts are compared


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def run(program, *arguments):
    result = subprocess.run([program, *arguments], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if result.returncode:
        sys.exit(f"replay: {program} {' '.join(arguments)}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def hashes(program, options, jobs):
    """(case, kind) -> hash, by as many processes."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outputs = list(pool.map(lambda i: run(program, *options, "--shard", f"{i}/{jobs}"), range(jobs)))
    rows = [line.split("\t") for output in outputs for line in output.splitlines()]
    made = {(case, kind): value for case, kind, value in rows}
    if len(made) != len(rows):
        sys.exit("replay: a case has one kind twice")
    return made


def write(path, made):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{case}\t{kind}\t{value}\n" for (case, kind), value in sorted(made.items())))


def read(path):
    return {(case, kind): value for case, kind, value in (line.split("\t") for line in path.read_text().splitlines())}


def build_base(revision, jobs):
    """The program of another revision. Its folder is as deep as build, so that ccache knows most of it."""
    if TREE.exists():
        subprocess.run(["git", "-C", TREE, "checkout", "-q", "--detach", "--force", revision], check=True)
    else:
        subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "-q", "--detach", TREE, revision], check=True)
        if (ROOT / ".venv").exists():
            (TREE / ".venv").symlink_to(ROOT / ".venv")
    environment = {**os.environ, "CCACHE_BASEDIR": str(TREE), "CCACHE_NOHASHDIR": "1", "CCACHE_SLOPPINESS": "pch_defines,time_macros"}
    print(f"replay: building {revision[:12]} in {TREE.relative_to(ROOT)}", flush=True)
    for command in (["cmake", "--preset", "release"], ["ninja", "-C", "build", "-j", str(jobs), "bin/strew_replay"]):
        result = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
        if result.returncode:
            sys.exit(f"replay: {revision[:12]} cannot be built, or has no strew_replay yet:\n{(result.stdout + result.stderr)[-2000:]}")
    return TREE / "build/bin/strew_replay"


def show(base, mine, case, kind):
    texts = [run(program, "--show", case, kind).splitlines() for program in (base, mine)]
    for line in list(difflib.unified_diff(*texts, "base", "this tree", lineterm="", n=1))[:SHOWN]:
        print("    " + line)


def compare(base, mine):
    """(case, kind) of what differs."""
    return sorted(key for key in base.keys() | mine.keys() if base.get(key) != mine.get(key))


def self_test(program):
    options = ["--quick", "--drawn", "20"]
    once, again = hashes(program, options, 1), hashes(program, options, 3)
    different = compare(once, again)
    for case, kind in different[:SHOWN]:
        print(f"{case}: {kind} is not the same twice")
    texts = run(program, "--show", "drawn/0", "op")
    if not texts.startswith("strew1."):
        print(f"drawn/0 shows no op: {texts!r}")
        return 1
    print(f"replay: {len(once)} hashes of {len({case for case, _ in once})} cases")
    return 1 if different or not once else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("base", nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_intermixed_args()
    program = arguments.build.resolve() / "bin/strew_replay"
    if arguments.self_test:
        return self_test(program)
    options = ["--quick"] if arguments.quick else []
    revision = git("rev-parse", "--verify", (arguments.base or ("HEAD" if git("status", "--porcelain", "-uno") else "HEAD^")) + "^{commit}")
    kept = arguments.build / "replay" / f"{revision}{'-quick' if arguments.quick else ''}.tsv"
    base_program = None
    if not kept.exists():
        base_program = build_base(revision, arguments.jobs)
        write(kept, hashes(base_program, options, arguments.jobs))
    base, mine = read(kept), hashes(program, options, arguments.jobs)
    different = compare(base, mine)
    kinds = collections.Counter(kind for _, kind in different)
    print(f"replay: {len(mine)} hashes, {len(different)} differ from {revision[:12]}"
          + (": " if kinds else "") + ", ".join(f"{count} of kind {kind}" for kind, count in kinds.most_common()))
    for case, kind in different[:SHOWN]:
        how = "is new" if (case, kind) not in base else "is gone" if (case, kind) not in mine else "differs"
        print(f"  {case}: {kind} {how}")
    if len(different) > SHOWN:
        print(f"  and {len(different) - SHOWN} more")
    both = [key for key in different if key in base and key in mine][:TEXTS]
    if both:
        base_program = base_program or build_base(revision, arguments.jobs)
    for case, kind in both:
        print(f"  {case}: {kind}")
        show(base_program, program, case, kind)
    if not different and not git("status", "--porcelain", "-uno"):
        write(arguments.build / "replay" / f"{git('rev-parse', 'HEAD')}{'-quick' if arguments.quick else ''}.tsv", mine)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
