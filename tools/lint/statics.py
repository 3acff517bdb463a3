#!/usr/bin/env python3
"""Checks that the library has no static object with a destructor: threads may plan, build and call kernels while exit() runs destructors.

    tools/lint/statics.py TREE     check the library's object files in a build folder; one line per finding, exit 1 if there is any, 2 if there
                                   are none
    tools/lint/statics.py --self-test

A static object with a destructor registers that at run time with __cxa_atexit, so its object file refers to that function. A table is made
`static const auto& table = *new const std::vector<Row>{...}` instead: it is never destroyed, and leak checkers see the reference. Files that include
headers of others, which have such statics of their own, are checked by their text alone, and so are those that are compiled as one with such a file
(STREW_UNITY). Used by ./dev lint and by ctest (`statics`).
"""
import os
import re
import subprocess
import sys

# Their headers have statics with destructors: protobuf's, Halide's and MLIR's.
FOREIGN = ("compiler/import/onnx/", "compiler/import/mlir/", "compiler/import/stablehlo/", "compiler/import/tensor/", "backends/halide/",
           "generated/")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# A table, text or the like as a static object; references to one that `new` made do not match.
OWNS = re.compile(r"^\s*static\s+(?:const\s+)?(?:std::)?(?:vector|map|set|unordered_map|unordered_set|string|deque|list|regex|function|shared_ptr"
                  r"|unique_ptr|optional)\b(?:<.*>)?\s+\w+\s*(?:[={;]|\((?=[\"R0-9]))")


def united_sources(text, root):
    """The sources that a unit of CMake's unity build includes."""
    return [os.path.relpath(path, root) for path in re.findall(r'^#include "([^"]+)"$', text, re.M)]


def library_objects(tree):
    """The object files of the library's targets, each with the paths of its sources."""
    root = os.path.abspath(ROOT)
    for target in sorted(os.listdir(os.path.join(tree, "CMakeFiles"))):
        folder = os.path.join(tree, "CMakeFiles", target)
        if not re.fullmatch(r"strew(_\w+)?\.dir", target) or target == "strew_cli.dir":
            continue
        for path, _, files in os.walk(folder):
            for name in sorted(files):
                if name.endswith(".cc.o"):
                    yield os.path.join(path, name), [os.path.relpath(os.path.join(path, name[:-2]), folder)]
                elif name.endswith(".cxx.o") and os.path.basename(path) == "Unity" and os.path.exists(os.path.join(path, name[:-2])):
                    with open(os.path.join(path, name[:-2]), encoding="utf-8") as file:
                        yield os.path.join(path, name), united_sources(file.read(), root)


def registers_destructor(symbols):
    """`symbols`: what `nm -u` prints of an object file."""
    return re.search(r"\b__cxa_atexit$", symbols, re.M) is not None


def statics_in(text):
    return [number for number, line in enumerate(text.split("\n"), 1) if OWNS.match(line)]


def check(tree):
    objects, findings = list(library_objects(tree)), []
    own = [(path, sources) for path, sources in objects if not any(source.startswith(FOREIGN) for source in sources)]
    texts = {source for _, sources in objects if any(source.startswith(FOREIGN) for source in sources) for source in sources}
    for at in range(0, len(own), 100):
        part = own[at:at + 100]
        printed = subprocess.run(["nm", "-u", "-A", *(path for path, _ in part)], capture_output=True, text=True, check=True).stdout
        by_file = {}
        for line in printed.splitlines():
            path, _, rest = line.partition(".o:")
            by_file.setdefault(path + ".o", []).append(rest)
        findings += [f"{' or '.join(sources)}: a static object has a destructor, expected one that is never destroyed (static const auto& x = *new ...)"
                     for path, sources in part if registers_destructor("\n".join(by_file.get(path, [])))]
    for source in texts:
        if os.path.exists(os.path.join(ROOT, source)):
            with open(os.path.join(ROOT, source), encoding="utf-8") as file:
                findings += [f"{source}:{number}: a static object has a destructor, expected one that is never destroyed"
                             for number in statics_in(file.read())]
    return objects, sorted(set(findings))


def self_test():
    wrong = [text for text in ("                 U __cxa_atexit", "U atexit\n                 U __cxa_atexit\n") if not registers_destructor(text)]
    wrong += [text for text in ("                 U __cxa_thread_atexit", "                 U atexit", "") if registers_destructor(text)]
    planted = ("  static const std::vector<Operator> list = [] {", "static std::string folder;", "  static const std::regex split(R\"(a)\");",
               "static const std::map<std::string, int> all{")
    clean = ("  static const auto& list = *new const std::vector<Operator>{", "  static const std::string& path = *new std::string;",
             "  static constexpr int kMost = 3;", "  static const FeatureSet needed = features();")
    wrong += [text for text in planted if not statics_in(text)] + [text for text in clean if statics_in(text)]
    wrong += [] if united_sources('#include "/a/b/c.cc"\n', "/a") == ["b/c.cc"] else ["united_sources"]
    for text in wrong:
        print("statics self-test:", text)
    return not wrong


def main(arguments):
    if arguments == ["--self-test"]:
        return 0 if self_test() else 1
    if len(arguments) != 1 or not os.path.isdir(os.path.join(arguments[0], "CMakeFiles")):
        print(__doc__)
        return 2
    objects, findings = check(arguments[0])
    for finding in findings:
        print(finding)
    if not objects:
        print(f"{arguments[0]}: no object file of the library, expected a folder in which it was built")
        return 2
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
