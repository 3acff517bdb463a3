#!/usr/bin/env python3
"""What C++ can do, C can: compares the functions of the public headers with the table beside this file.

    parity_test.py                 exit 1 and what is wrong, if anything is
    parity_test.py --self-test     plants mistakes in the table, each of which must be found

Each line of parity.txt is "C++ FUNCTION: C FUNCTIONS", or "C++ FUNCTION - REASON" for a function that C needs not have. A C++ function is one that a
header of include/strew marks STREW_API, with the name of its class; overloads and constructors count as one. Both kinds must be exported
(cmake/exported_symbols.txt), so that neither side can name what is not there.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include/strew"
TABLE = pathlib.Path(__file__).with_name("parity.txt")
C_HEADERS = ("strew.h", "strew_rt.h", "library.h")
NEITHER = ("abi.h", "export.h", "version.h")  # for both languages, or without functions of C++
MOST_EXCEPTIONS = 40


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def cpp_functions(text):
    """The functions that a C++ header marks STREW_API: "Runtime::get"; a constructor is "Runtime::Runtime"."""
    text = re.sub(r"^\s*#.*$", "", without_comments(text), flags=re.M)
    found, scopes, depth = set(), [], 0
    token = re.compile(r"\b(?:class|struct)\s+(?:alignas\(\d+\)\s+)?(\w+)(?:\s*:[^;{]*)?\s*\{|STREW_API\b|[{}]")
    at = 0
    while (match := token.search(text, at)) is not None:
        at = match.end()
        if match.group(1):
            depth += 1
            scopes.append((depth, match.group(1)))
        elif match.group() == "{":
            depth += 1
        elif match.group() == "}":
            if scopes and scopes[-1][0] == depth:
                scopes.pop()
            depth -= 1
        else:
            name = re.match(r"[^;{]*?((?:operator\s*\W+|~?\w+))\s*\(", text[at:])
            if name is not None:
                found.add("::".join([scope for _, scope in scopes] + [name.group(1)]))
    return found


def c_functions(text):
    return set(re.findall(r"STREW_API[^;(]*?\b(strew_\w+)\(", without_comments(text)))


def exported():
    """The names that libstrew exports: of C++ without the namespace and the arguments, and of C."""
    section = ROOT.joinpath("cmake/exported_symbols.txt").read_text().split("[libstrew.so]")[1].split("\n[")[0]
    lines = section.split("\n")
    cpp = {re.sub(r"\[abi:\w+\]", "", line.split("(")[0]).split("strew::v0::", 1)[1] for line in lines if "strew::v0::" in line.split("(")[0]}
    return cpp, {line for line in lines if line.startswith("strew_")}


def read_table(text):
    """{C++ function: C functions}, {C++ function: reason}, and the lines that are neither."""
    same, exceptions, bad = {}, {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        row = re.fullmatch(r"([\w:~]+=?)(?:: ([\w ]+)| - (\S.*))", line)
        if row is None:
            bad.append(f"parity.txt:{number}: '{line}', expected 'C++ FUNCTION: C FUNCTIONS' or 'C++ FUNCTION - REASON'")
        elif row.group(1) in same or row.group(1) in exceptions:
            bad.append(f"parity.txt:{number}: {row.group(1)} has a row already")
        elif row.group(2):
            same[row.group(1)] = row.group(2).split()
        else:
            exceptions[row.group(1)] = row.group(3)
    return same, exceptions, bad


def problems_of(table):
    same, exceptions, problems = read_table(table)
    headers = {path.name: path.read_text() for path in HEADERS.iterdir() if path.suffix == ".h"}
    cpp = set().union(*(cpp_functions(text) for name, text in headers.items() if name not in C_HEADERS + NEITHER))
    c = set().union(*(c_functions(headers[name]) for name in C_HEADERS))
    cpp_exported, c_exported = exported()
    problems += [f"{name}: the header marks it STREW_API, and libstrew does not export it" for name in sorted(cpp - cpp_exported)]
    problems += [f"{name}: no row in parity.txt; name the C functions that do the same, or say why there is none"
                 for name in sorted(cpp - set(same) - set(exceptions))]
    problems += [f"{name}: it has a row in parity.txt, and no header declares it" for name in sorted((set(same) | set(exceptions)) - cpp)]
    for name, functions in same.items():
        problems += [f"{name}: {each} is in no C header" for each in functions if each not in c]
        problems += [f"{name}: {each} is not exported" for each in functions if each in c and each not in c_exported]
    if len(exceptions) > MOST_EXCEPTIONS:
        problems.append(f"{len(exceptions)} functions are exceptions, expected at most {MOST_EXCEPTIONS}")
    return problems


def self_test():
    table = TABLE.read_text()
    planted = {
        "a function without a row": (re.sub(r"^Runtime::get: .*$", "", table, flags=re.M), "Runtime::get: no row"),
        "a C function that does not exist": (table.replace("Runtime::get: strew_get", "Runtime::get: strew_fetch"), "strew_fetch is in no C header"),
        "a row of a function that is gone": (table + "\nRuntime::fetch: strew_get\n", "Runtime::fetch: it has a row"),
        "an exception without a reason": (table + "\nRuntime::fetch -\n", "expected 'C++ FUNCTION"),
        "two rows": (table + "\nRuntime::get: strew_get\n", "has a row already"),
    }
    missed = [what for what, (text, expected) in planted.items() if not any(expected in problem for problem in problems_of(text))]
    sample = "class A {\n  STREW_API static B of(int);\n  struct In { STREW_API void f() const; };\n  STREW_API ~A();\n};\nSTREW_API int g(A& a);\n"
    if cpp_functions(sample) != {"A::of", "A::In::f", "A::~A", "g"}:
        missed.append(f"the functions of a header: {sorted(cpp_functions(sample))}")
    return [f"self-test: not found: {what}" for what in missed]


def main():
    problems = self_test() if "--self-test" in sys.argv[1:] else problems_of(TABLE.read_text())
    print("\n".join(problems) if problems else "right")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
