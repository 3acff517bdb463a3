#!/usr/bin/env python3
"""Plants bugs in strew, one at a time, and checks that strew_differential, or the program that the bug names, fails on each within the bug's budget.

    run_planted.py [--build DIR] [--only REGEX] [--sample N] [--seed S] [--seconds S] [--jobs J]
    run_planted.py --check       only see that every bug's anchor stands in the sources exactly once (no build needed)
    run_planted.py --self-test   see that lost, repeated and re-wrapped anchors are told apart

The sources are not touched and nothing is configured: the one changed file is compiled by its command in DIR/compile_commands.json, the
program or library it belongs to is linked again, and a copy of the program runs beside copies of the libraries in DIR/planted/. DIR must be
built (targets strew_differential, strew_program_differential, strew_npu_differential and strew_npu_compiled, generator Ninja). --seconds is every bug's budget, in processor time. --seed is the differential test's,
whose default is fixed, and the one by which --sample draws its bugs, whose default is a fresh one; how to repeat a draw is printed.
Exit: 0 all caught, 1 one was missed, 2 an anchor is lost or a changed file does not build.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent / "planted"))
from bugs import BUGS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("compiler", "runtime", "schedules", "backends")
SECONDS = 60  # the budget of a bug that names none, in processor time: other work on the machine does not count
SEED = 20250101
HANGS = 120  # seconds on the clock in which a run that has hung used no processor time


class Trouble(Exception):
    """The bugs cannot be tried: exit 2."""


@dataclasses.dataclass
class Bug:
    name: str
    old: str
    new: str
    seconds: float = SECONDS
    arguments: tuple = ()  # further ones for the program
    program: str = "strew_differential"

    @property
    def folder(self):
        return re.sub(r"\W+", "_", self.name)


def squeezed(text):
    """The text without white space: formatting may wrap an anchor anew."""
    return "".join(text.split())


class Sources:
    """The .cc files of the library, and where anchors stand in them."""

    def __init__(self, texts):
        self.texts = texts
        self.short = {file: squeezed(text) for file, text in texts.items()}

    def changed(self, bug):
        """(file, its text with the bug) for the one place where the bug's anchor stands."""
        anchor = squeezed(bug.old)
        found = [file for file, short in self.short.items() for _ in range(short.count(anchor))]
        if len(found) != 1:
            where = ": " + ", ".join(sorted(set(found))) if found else ""
            raise Trouble(f"planted bug '{bug.name}': its anchor stands {len(found)} times in the sources{where}, expected once:\n{bug.old}")
        text = self.texts[found[0]]
        places = [i for i, character in enumerate(text) if not character.isspace()]
        at = self.short[found[0]].index(anchor)
        return found[0], text[:places[at]] + bug.new + text[places[at + len(anchor) - 1] + 1:]


def read_sources():
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.cc"))
    return Sources({str(file.relative_to(ROOT)): file.read_text() for file in files})


def check_anchors(sources, bugs):
    wrong = [f"planted bug '{bug.name}' stands twice in the list" for i, bug in enumerate(bugs) if bug.folder in {b.folder for b in bugs[:i]}]
    for bug in bugs:
        try:
            sources.changed(bug)
        except Trouble as trouble:
            wrong.append(str(trouble))
    return wrong


def self_test():
    sources = Sources({"a.cc": "int f() {\n  return first(1,\n               2);\n}\n", "b.cc": "g(); h(); g();\n"})
    file, text = sources.changed(Bug("wrapped", "return first(1, 2);", "return 0;"))
    assert (file, text) == ("a.cc", "int f() {\n  return 0;\n}\n"), text
    for old, count in (("return second;", 0), ("g();", 2)):
        try:
            sources.changed(Bug("x", old, ""))
        except Trouble as trouble:
            assert f"stands {count} times" in str(trouble), trouble
        else:
            raise AssertionError(f"'{old}' was taken for an anchor")
    assert united_files('/* generated */\n#include "/a/b.cc"\n\n#include "/a/c.cc"\n') == ["/a/b.cc", "/a/c.cc"]
    assert len(check_anchors(sources, [Bug("x", "h();", ""), Bug("x", "h();", "g();")])) == 1


def united_files(text):
    """The files that a unit of CMake's unity build includes."""
    return re.findall(r'^#include "([^"]+)"$', text, re.MULTILINE)


class Workplace:
    """A built tree, and the folder in it where each bug gets programs of its own."""

    def __init__(self, build):
        self.build = build.resolve()
        self.folder = self.build / "planted"
        commands = self.build / "compile_commands.json"
        if not commands.exists():
            raise Trouble(f"{build} holds no built tree (./dev planted builds it)")
        self.commands = {}  # of each file: what the build compiles, the file or a text that includes it with others (STREW_UNITY), and how
        for entry in json.loads(commands.read_text()):
            compiled = pathlib.Path(entry["file"])
            files = united_files(compiled.read_text()) if compiled.parent.name == "Unity" else [str(compiled)]
            for file in files:
                if file.startswith(str(ROOT) + "/"):
                    self.commands[str(pathlib.Path(file).relative_to(ROOT))] = compiled, entry["command"]
        self.cache = "ccache " if shutil.which("ccache") else ""
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self, name, command, **changes):
        """Runs a command of the build with other files: `changes` are pairs (file, its replacement), each of which stands in it once."""
        for old, new in changes.values():
            command, count = re.subn(rf"(?<!\S){re.escape(str(old))}(?!\S)", lambda _: shlex.quote(str(new)), command)  # noqa: B023
            if count != 1:
                raise Trouble(f"planted bug '{name}': {old} stands {count} times, expected once, in: {command}")
        done = subprocess.run(command, shell=True, cwd=self.build, capture_output=True, text=True, check=False,
                              env={**os.environ, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"})
        if done.returncode != 0:
            raise Trouble(f"planted bug '{name}' does not build:\n{done.stderr[-3000:]}")

    def copy(self, name, program):
        """A folder with the program as it is. Copies, no links: strew opens its modules from where the program really lies."""
        home = self.folder / name
        (home / "bin").mkdir(parents=True)
        if not (self.build / "bin" / program).exists():
            raise Trouble(f"{self.build} holds no built {program} (./dev planted builds it)")
        shutil.copy2(self.build / "bin" / program, home / "bin")
        for library in (self.build / "lib").rglob("lib*.so*"):  # the modules lie in a folder below that of libstrew
            copy = home / library.relative_to(self.build)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, copy, follow_symlinks=False)
        return home

    def plant(self, bug, file, text):
        """The programs with that bug. None: this build leaves the file out."""
        if file not in self.commands:
            return None
        home = self.copy(bug.folder, bug.program)
        source, new_object = home / pathlib.Path(file).name, home / "changed.o"
        source.write_text(text)
        compiled, command = self.commands[file]
        if compiled != ROOT / file:
            united = compiled.read_text()
            source = home / "united.cc"
            source.write_text(united.replace(f'"{ROOT / file}"', f'"{home / pathlib.Path(file).name}"'))
        old_object = re.search(r" -o (\S+)", command).group(1)
        self.make(bug.name, self.cache + command, source=(compiled, source), object=(old_object, new_object))
        for product in self.products(bug, file, old_object):
            link = subprocess.run(["ninja", "-t", "commands", "-s", product], cwd=self.build, capture_output=True, text=True, check=True).stdout
            (home / product).unlink()  # the linker would write into it
            self.make(bug.name, link, object=(old_object, new_object), product=(product, home / product))
        return home

    def products(self, bug, file, object_file):
        """What contains the object and takes part in a test: the program has libstrew's own objects in it, and opens the modules."""
        target = re.fullmatch(r"CMakeFiles/(\w+)\.dir/.*", object_file)
        if not target:
            raise Trouble(f"planted bug '{bug.name}': {file} belongs to no library (its object is {object_file})")
        library = target.group(1).removesuffix("_objects")
        if library in ("strew_core", "strew_counting") or library.startswith("strew_rt_"):
            return [f"bin/{bug.program}"]
        module = max((self.build / "lib").rglob(f"lib{library}.so"), key=lambda file: file.stat().st_mtime).relative_to(self.build)  # not an older version's
        return [str(module)] + ([f"bin/{bug.program}"] if library == "strew_pto" else [])


def processor_seconds(pid):
    """What a process that has not been waited for has used, its threads included."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(process, ended):
    """Kills a run that uses no processor time any more."""
    used = -1.0
    while not ended.wait(HANGS):
        before, used = used, processor_seconds(process.pid)
        if used - before < 0.1:
            process.kill()
            return


def run(home, seconds, seed, program_name, arguments=()):
    """(processor seconds until it failed, why), or (None, what it did instead)."""
    program = [str(home / "bin" / program_name), "--seed", str(seed), "--seconds", "100000", *arguments]
    limited = ["sh", "-c", 'ulimit -S -t "$0" && exec "$@"', str(math.ceil(seconds)), *program]
    report, failed = [], 0.0
    environment = {**os.environ, "TMPDIR": str(home)}  # what a killed run leaves goes with the folder
    with subprocess.Popen(limited, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment) as process:
        ended = threading.Event()
        watcher = threading.Thread(target=watch, args=(process, ended))
        watcher.start()
        for line in process.stdout:
            if not report and line.startswith("FAIL"):
                failed = processor_seconds(process.pid)
            if report or line.startswith("FAIL"):
                report.append(line.strip())
            if line.startswith("replay"):
                os.kill(process.pid, signal.SIGKILL)  # it would shrink the op next; process.kill() would wait for it if it has ended
                break
        # Reading /proc needs the process, so nobody waits for it before the watcher has stopped.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        ended.set()
        watcher.join()
        process.wait()
    if any("could not be opened" in line for line in report):
        raise Trouble(f"{shlex.join(program)} cannot open its libraries: {' '.join(report)}")
    if report:
        return failed, report[-2] if report[-1].startswith("replay") else report[-1]
    if process.returncode in (0, -signal.SIGXCPU):
        return None, f"found nothing in {seconds:g} s"
    if process.returncode == -signal.SIGKILL:
        return None, f"hung for {HANGS} s"
    if process.returncode < 0:
        return seconds, f"died of {signal.Signals(-process.returncode).name}"
    raise Trouble(f"{shlex.join(program)} ended with status {process.returncode} and reported no failure")


def try_bug(workplace, bug, file, text, options):
    """One line of the table, and whether the bug was missed."""
    home = workplace.plant(bug, file, text)
    if home is None:
        return f"skipped            {bug.name}: this build has no {file}", False
    budget = options.seconds or bug.seconds
    seconds, why = run(home, budget, options.seed or SEED, bug.program, bug.arguments)
    shutil.rmtree(home)
    if seconds is None:
        return f"MISSED            {bug.name}: {why}", True
    return f"caught  {seconds:6.1f} s  {bug.name}: {why[:140]}", False


def parse(arguments):
    parser = argparse.ArgumentParser(prog="run_planted.py")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--only", default="", help="bugs whose name this regular expression finds")
    parser.add_argument("--sample", type=int, help="that many of them, at random")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, help="every bug's budget (default: the bug's own)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    return parser.parse_args(arguments)


def choose(bugs, options):
    try:
        chosen = [bug for bug in bugs if re.search(options.only, bug.name)]
    except re.error as error:
        raise Trouble(f"--only: '{options.only}' is no regular expression: {error}") from error
    if not chosen:
        raise Trouble(f"--only: no bug's name matches '{options.only}'; there are: " + "; ".join(bug.name for bug in bugs))
    if options.sample is not None:
        if options.sample < 1:
            raise Trouble(f"--sample: it is {options.sample}, expected at least 1")
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
        chosen = random.Random(seed).sample(chosen, min(options.sample, len(chosen)))
        names = "|".join(re.escape(bug.name).replace(r"\ ", " ") for bug in chosen)
        print(f"{len(chosen)} bugs drawn with seed {seed}; the same again: ./dev planted --only {shlex.quote(f'^({names})$')}", flush=True)
    return chosen


def main(arguments):
    options = parse(arguments)
    if options.self_test:
        self_test()
        return 0
    sources, bugs = read_sources(), [Bug(*bug) for bug in BUGS]
    wrong = check_anchors(sources, bugs)
    if wrong or options.check:
        print("\n".join(wrong) or f"the anchors of {len(bugs)} planted bugs stand once each")
        return 2 if wrong else 0
    chosen = choose(bugs, options)
    workplace = Workplace(options.build)
    for program in sorted({bug.program for bug in chosen}):
        seconds, why = run(workplace.copy(f"clean_{program}", program), 5, options.seed or SEED, program)
        if seconds is not None:
            raise Trouble(f"{program} fails without any planted bug: {why}")
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(try_bug, workplace, bug, *sources.changed(bug), options) for bug in chosen]
        for future in concurrent.futures.as_completed(futures):
            line, bad = future.result()
            missed += bad
            print(line, flush=True)
    shutil.rmtree(workplace.folder)
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs caught")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Trouble as trouble:
        print(f"run_planted: {trouble}")
        sys.exit(2)
