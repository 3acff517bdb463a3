#!/usr/bin/env python3
"""Runs fuzz targets that are built with libFuzzer, and says what they found. `./dev fuzz` builds them and calls this.

    fuzz.py BUILD [NAME...] [--seconds N] [--jobs J]

Each target starts from its seeds (targets.txt), from every input that ever broke something (crashes/NAME), and from the inputs that earlier
runs kept in BUILD/corpus/NAME. An input that breaks something stays in BUILD/findings/NAME; the exit status is then 1.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
TIMEOUT = 20  # seconds that one input may take: about 10 times what an ordinary build takes, on a machine that does other things too
RSS_MIB = 3072  # of the whole process, MLIR and the sanitizers' shadow included
ALLOCATION_MIB = 1024  # of one allocation


def read_targets():
    """{name: (longest input in bytes, globs of seeds)}"""
    targets = {}
    for line in (FOLDER / "targets.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, longest, *globs = line.split()
            targets[name] = (int(longest), globs)
    return targets


def gather_seeds(build, name, longest, globs):
    """Folders of seeds; those that lie among other files are copied into one of their own."""
    copied = build / "seeds" / name
    shutil.rmtree(copied, ignore_errors=True)
    copied.mkdir(parents=True)
    for pattern in globs:
        for path in sorted(ROOT.glob(pattern)):
            place = path.relative_to(ROOT).parts
            if place[:2] != ("tests", "models") or path.stat().st_size <= longest:
                shutil.copyfile(path, copied / "_".join(place))
    folders = [copied, build / "written_seeds" / name, FOLDER / "seeds" / name, FOLDER / "crashes" / name]
    return [str(f) for f in folders if f.is_dir()]


def statistics(log):
    """What libFuzzer counted, from its log."""
    stats = {key: int(value) for key, value in re.findall(r"^stat::(\w+):\s+(\d+)", log, re.M)}
    coverage = re.findall(r"\bcov: (\d+) ft: (\d+)", log)
    stats["coverage"], stats["features"] = map(int, coverage[-1]) if coverage else (0, 0)
    return stats


def run(build, name, longest, globs, seconds):
    corpus, findings = build / "corpus" / name, build / "findings" / name
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    command = [str(build / "bin" / f"fuzz_{name}"), f"-max_total_time={seconds}", f"-max_len={longest}", f"-timeout={TIMEOUT}",
               f"-rss_limit_mb={RSS_MIB}", f"-malloc_limit_mb={ALLOCATION_MIB}", "-print_final_stats=1", f"-artifact_prefix={findings}/"]
    dictionary = FOLDER / "dictionaries" / f"{name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1")
    symbolizer = shutil.which("llvm-symbolizer-22")
    if symbolizer:
        environment["ASAN_SYMBOLIZER_PATH"] = environment["UBSAN_SYMBOLIZER_PATH"] = symbolizer
    done = subprocess.run(command + [str(corpus)] + gather_seeds(build, name, longest, globs), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment, cwd=build, check=False)
    log = done.stdout.decode(errors="replace")
    (build / f"fuzz_{name}.log").write_text(log)
    new = sorted(set(findings.iterdir()) - before)
    return done.returncode, statistics(log), new


def report(build, name, returncode, stats, new):
    print(f"{name:<10} {stats.get('number_of_executed_units', 0):>9} runs {stats.get('average_exec_per_sec', 0):>6}/s  "
          f"coverage {stats['coverage']:>6}  features {stats['features']:>6}  new inputs {stats.get('new_units_added', 0):>5}  "
          f"{stats.get('peak_rss_mb', 0):>5} MiB  {'clean' if returncode == 0 else 'FAILED, see ' + str(build / f'fuzz_{name}.log')}", flush=True)
    for path in new:
        print(f"           found {path}; replay: {build}/bin/fuzz_{name} {path}", flush=True)


def main():
    targets = read_targets()
    parser = argparse.ArgumentParser(description="runs fuzz targets")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_intermixed_args()
    unknown = [name for name in arguments.names if name not in targets]
    if unknown or arguments.seconds < 1 or arguments.jobs < 1:
        parser.error(f"unknown target {', '.join(unknown)}; known: {', '.join(targets)}" if unknown else "--seconds and --jobs: expected 1 or more")
    build = arguments.build.resolve()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = {pool.submit(run, build, name, *targets[name], arguments.seconds): name for name in arguments.names or targets}
        for future in concurrent.futures.as_completed(runs):
            returncode, stats, new = future.result()
            failed += returncode != 0
            report(build, runs[future], returncode, stats, new)
    print(f"{len(runs) - failed} of {len(runs)} targets clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
