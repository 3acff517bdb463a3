#!/usr/bin/env python3
"""Checks the rules of docs/architecture.md that no compiler checks: who may include, read, print, and how long things may get.

    tools/lint/rooms.py               check every file git knows; one line per finding, exit 1 if there is any
    tools/lint/rooms.py --self-test   plant one violation of each rule and see that it is found

A rule is a function of a path and its text that yields (line, message). A new rule needs a plant in PLANTS, or the self-test fails.
"""
import json
import os
import re
import subprocess
import sys

LIBRARY = ("include/", "base/", "compiler/", "runtime/", "schedules/", "backends/", "library/", "bindings/c/")
CODE = (".cc", ".h", ".hpp")
MAX_FILE, MAX_FUNCTION = 700, 80

# The rooms, from the ground up, and whose headers each may include besides its own, base/ and include/strew/ (docs/architecture.md). What is
# not listed (tools, bench, tests, examples) may include everything.
ROOMS = {
    "include/strew/": (),
    "base/": (),
    "runtime/call/": (),
    "compiler/": (),
    "schedules/": ("compiler/",),
    "backends/": ("compiler/", "schedules/"),
    "runtime/": ("runtime/call/", "compiler/", "schedules/", "backends/"),
    "bindings/c/runtime/": ("runtime/call/",),
    "bindings/c/compiler/": ("bindings/c/runtime/", "runtime/call/", "compiler/", "schedules/", "backends/", "runtime/", "library/", "tune/"),
    "bindings/python/native/": ("bindings/c/runtime/",),
    "bindings/torch/": (),
    "bindings/onnxruntime/": (),
    "bindings/jax/": (),
    "library/": ("runtime/call/", "compiler/", "schedules/", "backends/", "runtime/"),
    "tune/": ("runtime/call/", "compiler/", "schedules/", "backends/", "runtime/"),
}

# A header's prefix, and the only folders that may include it.
OWNERS = {
    "llvm/": ("backends/llvm/", "compiler/import/"),
    "mlir/": ("compiler/import/",),
    "Halide": ("backends/halide/",),
    "ATen/": ("bindings/torch/",),
    "c10/": ("bindings/torch/",),
    "torch/": ("bindings/torch/",),
    "xla/": ("bindings/jax/",),
    "google/protobuf": ("compiler/import/onnx/",),
    "flatbuffers/": ("compiler/import/tflite/",),
}
ENVIRONMENT = re.compile(r"\b(secure_)?getenv\s*\(|\benviron\b|\bsetenv\s*\(")
PRINTS = re.compile(r"std::(cout|cerr|clog)\b|(?<![\w.])(std::)?(printf|fprintf|vprintf|vfprintf|puts|fputs|perror|putchar)\s*\("
                    r"|fmt::print\b|llvm::(errs|outs|dbgs)\s*\(")
ENDS = re.compile(r"(?<![\w.>])(::|std::)?(abort|exit|_exit|_Exit|quick_exit|terminate)\s*\(|report_fatal_error|llvm_unreachable")
WRITES = re.compile(r"\bstd::fstream\b|\b(std::)?(ofstream|freopen|fopen|creat|mkstemp)\b|\bO_CREAT\b")
# wisdom_file.cc appends to a file that several processes write; disk_cache.cc writes files of its own beside those of other processes.
WRITERS = ("base/pending_file.cc", "backends/llvm/link/profilers.cc", "runtime/disk_cache/disk_cache.cc", "schedules/wisdom/wisdom_file.cc")
# An assertion of builds without NDEBUG prints why and ends the process: reading the value of an Expected that has none.
ASSERTS = ("include/strew/status.h",)
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|not (yet )?implemented", re.I)
CITED_FILE = re.compile(r"\b(?:base|compiler|runtime|schedules|backends|tests|tools|bench)/[A-Za-z0-9_/]+\.(?:cc|h|py|md)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root|home)/")
PUBLIC = "include/strew/"
# Those that libstrew_rt is used with (cmake/strew_install.cmake).
RUNTIME_HEADERS = ("abi", "bad_index", "call_options", "compile_mode", "compiled_kernel", "csr", "dtype", "executor", "export", "library", "log", "machine_costs", "options", "scalar", "segments", "status", "strew_rt", "tensor_view", "version")
UNVERSIONED = re.compile(r"^namespace strew\b(?!::inline v0\b)")
# Backends that generate code read the plan, so that a mistake in canonicalisation or planning cannot hide in them and in the reference alike.
PLAN_READERS = ("backends/llvm/", "backends/halide/", "backends/portable/", "backends/pto/")
OP_HEADERS = ("compiler/op/",) + tuple(f"strew/{name}.h" for name in ("builder", "forms", "op", "text", "verified", "verify"))
PLAN_READERS_MAY_INCLUDE = ("strew/expr.h", "compiler/op/expr_math.h")
READS_OP = re.compile(r"\b(VerifiedOp|tensor_slots|is_scatter|indices_of|DimensionNumbers|CombinerKind)\b"
                      r"|\b(get|get_if|holds_alternative)<\s*(Scatter|Gather)\s*>|\bOp\s*&")


def blank(text):
    """C++ text with the contents of comments and string literals blanked, line structure kept."""
    def keep_lines(match):
        found = match.group(0)
        if found[0] in "\"'":
            return found[0] * 2
        return re.sub(r"[^\n]", " ", found)
    raw = re.sub(r'R"(\w*)\((?:.|\n)*?\)\1"', lambda m: '""' + "\n" * m.group(0).count("\n"), text)
    return re.sub(r"//[^\n]*|/\*(?:.|\n)*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", keep_lines, raw)


def includes(text):
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if found:
            yield number, found.group(2), found.group(1)


def matches(pattern, text, message):
    for number, line in enumerate(text.split("\n"), 1):
        if pattern.search(line):
            yield number, f"{message}: {line.strip()[:80]}"


def room_of(path):
    """The longest prefix in ROOMS, or None. Public headers are included as <strew/NAME>."""
    path = "include/" + path if path.startswith("strew/") else path
    found = [room for room in ROOMS if path.startswith(room)]
    return max(found, key=len) if found else None


def rule_rooms(path, text):
    room = room_of(path)
    if room is None or not path.endswith(CODE):
        return
    ground = ("include/strew/",) if room == "base/" else ("include/strew/", "base/")
    for number, header, quote in includes(text):
        other = room_of(header)
        if quote == '"' and other not in (None, room, *ground, *ROOMS[room]):
            yield number, f"{room} may not include {other} ({header})"


def rule_owned_headers(path, text):
    if not path.startswith(LIBRARY + ("tools/",)) or not path.endswith(CODE):
        return
    for number, header, _ in includes(text):
        for prefix, owners in OWNERS.items():
            if header.startswith(prefix) and not path.startswith(owners):
                yield number, f"<{header}> belongs to {', '.join(owners)}"


def rule_reference_reads_op(path, text):
    if not path.startswith(PLAN_READERS) or not path.endswith(CODE):
        return
    for number, header, _ in includes(text):
        if header.startswith(OP_HEADERS) and header not in PLAN_READERS_MAY_INCLUDE:
            yield number, f"only the reference reads the op: {header}, expected Plan, Schedule, Target and {', '.join(PLAN_READERS_MAY_INCLUDE)}"
    yield from matches(READS_OP, blank(text), "only the reference reads the op")


def rule_environment(path, text):
    if path.startswith(LIBRARY) and path.endswith(CODE) and not path.startswith("base/options"):
        yield from matches(ENVIRONMENT, blank(text), "only base/options reads the environment")


def rule_silence(path, text):
    if path.startswith(LIBRARY) and path.endswith(CODE) and path not in ASSERTS:
        yield from matches(PRINTS, blank(text), "the library never prints")


def rule_survival(path, text):
    if path.startswith(LIBRARY) and path.endswith(CODE) and path not in ASSERTS:
        yield from matches(ENDS, blank(text), "the library never ends the process")


def rule_written_files(path, text):
    """Files are made where nobody else can aim them (docs/security.md)."""
    if path.startswith(LIBRARY + ("tools/",)) and path.endswith(CODE) and path not in WRITERS:
        yield from matches(WRITES, blank(text), "outputs are written through base/pending_file")


def rule_file_length(path, text):
    lines = text.count("\n")
    is_list_of_cases = path.startswith("tests/models/exporters/")  # one function a model, to be read alone
    if path.endswith((".cc", ".h", ".py", ".sh")) and lines > MAX_FILE and not is_list_of_cases:
        yield lines, f"{lines} lines; at most {MAX_FILE}"


def rule_function_length(path, text):
    """A function starts at a line that ends in `{`, at column 0 or 2, and ends at the `}` of the same column."""
    if not path.endswith(CODE):
        return
    lines = blank(text).split("\n")
    for indent in ("", "  "):
        start = None
        for number, line in enumerate(lines, 1):
            opens = re.match(indent + r"[A-Za-z~].*\{$", line)
            if start is None and opens and "(" in line + lines[max(0, number - 2)] and \
                    not re.match(indent + r"(namespace|class|struct|enum|union|extern|if|for|while|switch|do|else|return|case)\b", line):
                start = number
            elif start is not None and line.startswith(indent + "}"):
                if number - start > MAX_FUNCTION:
                    yield start, f"a function of {number - start} lines; at most {MAX_FUNCTION}"
                start = None


def rule_finished(path, text):
    if path.endswith(CODE + (".py", ".sh", ".cmake", ".txt", ".md")) and path != "tools/lint/rooms.py":
        yield from matches(UNFINISHED, text, "unfinished work stays out of the tree")


def rule_machine_paths(path, text):
    if path != "tools/lint/rooms.py":
        yield from matches(MACHINE_PATH, text, "a path of one machine")


def rule_cited_files(path, text):
    """What a comment sends its reader to is there. Names in capitals stand for any; headers that are generated lie in the build folder."""
    if not path.endswith(CODE):
        return
    for number, line in enumerate(text.split("\n"), 1):
        for cited in CITED_FILE.findall(line.partition("//")[2]):
            if not os.path.exists(cited) and not cited.endswith("_generated.h") and not re.search(r"\b[A-Z]+\b", cited):
                yield number, f"{cited} does not exist"


def rule_opening(path, text):
    if path.startswith(LIBRARY + ("tools/", "tests/", "bench/", "examples/")) and path.endswith(CODE) and not text.startswith(("//", "/*")):
        yield 1, "a file opens with a comment: the idea, its limits, which test covers it"
    if path.endswith(".h") and "#pragma once" not in text:
        yield 1, "a header needs #pragma once"


def rule_precompiled_headers(path, text):
    """g++ knows a header that says `#pragma once` by its bytes, also those that a precompiled header holds. ccache takes a precompiled header for
    the same one if the preprocessed text is, so with a header in it of which a comment was changed; then g++ reads that header a second time."""
    if not path.endswith("precompiled.h"):
        return
    for line, header, bracket in includes(text):
        if bracket == '"' and not header.endswith("precompiled.h"):
            yield line, f"{header} may change under a precompiled header that ccache keeps: include headers of other libraries only"


def rule_public_headers(path, text):
    """Users get include/strew alone."""
    if not path.startswith(PUBLIC):
        return
    for number, header, _ in includes(text):
        if not header.startswith("strew/") and not re.fullmatch(r"[a-z_0-9]+(\.h)?", header):
            yield number, f"a public header includes {header}, expected a header of {PUBLIC} or of the standard library"


def rule_runtime_headers(path, text):
    """libstrew_rt knows no ops: it is made of base/ and runtime/call/."""
    if not path.startswith(("base/", "runtime/call/")):
        return
    for number, header, _ in includes(text):
        if header.startswith("strew/") and header.endswith(".h") and header[6:-2] not in RUNTIME_HEADERS:
            yield number, f"{header} belongs to the compiler, expected one of {', '.join(RUNTIME_HEADERS)}"


def rule_version_namespace(path, text):
    """The library's names lie in the inline namespace of its version (docs/versioning.md)."""
    if path.startswith(LIBRARY) and path.endswith(CODE):
        yield from matches(UNVERSIONED, blank(text), "expected namespace strew::inline v0")


NUMBER = re.compile(r"(?<![\w.])(\d[\d']*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?:F|U|L|LL)?\b(\s*<<\s*(?:10|20|30)\b)?")
DECIDES = ("schedules/", "runtime/call/strategies/", "runtime/call/executor/phases")


def rule_machine_numbers(path, text):
    """What is fast is decided from MachineCosts and CallCosts. A number that no machine changes is a constexpr with a comment that says why."""
    if not path.startswith(DECIDES) or not path.endswith(CODE):
        return
    lines = text.split("\n")
    for number, line in enumerate(blank(text).split("\n"), 1):
        above = lines[number - 2].strip() if number > 1 else ""
        if "STREW_KNOB" in line or "constexpr" in line and ("//" in lines[number - 1] or above.startswith("//")):
            continue
        for found in NUMBER.finditer(line):
            value = float(found[1].replace("'", ""))
            is_unit = re.fullmatch(r"1e-?\d+", found[1]) is not None
            if not is_unit and (found[2] or value >= 256 or value != int(value)):
                yield number, f"{found[0]} is a bare number, expected a field of MachineCosts or a constexpr with its reason"


RULES = [value for key, value in sorted(globals().items()) if key.startswith("rule_")]


def check_file(path, text, rules=None):
    return [f"{path}:{number}: {message}" for rule in rules or RULES for number, message in rule(path, text)]


def check_compile_commands(path="build/compile_commands.json"):
    """Every compile command carries -ffp-contract=off: one rounding per operation (docs/semantics.md section 4)."""
    try:
        commands = json.load(open(path, encoding="utf-8"))
    except OSError:
        return [f"{path}: missing; configure first"]
    return [f"{entry['file']}: compiled without -ffp-contract=off" for entry in commands if "-ffp-contract=off" not in entry["command"]]


NAMESPACE = re.compile(r"namespace((?: [\w:]+)*) *\{")
TYPE = re.compile(r"(?:struct|class|union|enum(?: class)?) (?:STREW_API |\[\[\w+\]\] |alignas\([^)]*\) )*(\w+)(?: final)?(?: :[^:;][^;]*)?\s*(?:\{|$)")


def types_of(text):
    """The types that the text defines at the top of a named namespace, each as "namespace::name"."""
    open_now = []
    for line in blank(text).split("\n"):
        begins, defines = NAMESPACE.match(line), TYPE.match(line)
        if begins:
            open_now.append(begins[1].replace("inline ", "").strip())
        elif line.startswith("}  ") and open_now:  # what follows was "// namespace"
            open_now.pop()
        elif defines and open_now and "" not in open_now:
            yield "::".join(open_now) + "::" + defines[1]


def repeated_types(texts):
    """Two types of one name and namespace are one for the linker: code that meets the one may run functions that were made for the other. `texts`: by
    path. The programs of bench/ are linked from one folder each."""
    first = {}
    for path, text in texts.items():
        program = "/".join(path.split("/")[:2]) if path.startswith("bench/") else ""
        for name in types_of(text) if path.endswith(CODE) else ():
            other = first.setdefault((program, name), path)
            if other != path:
                yield f"{path}: {name} is the name of a type in {other}, too; expected another name, or an unnamed namespace"


OPEN = "// What this is.\n"
PLANTS = [  # (rule that must find it, path, text)
    ("owned_headers", "compiler/op/a.cc", OPEN + '#include "llvm/IR/Module.h"\n'),
    ("owned_headers", "backends/llvm/a.cc", OPEN + "#include <mlir/IR/MLIRContext.h>\n"),
    ("rooms", "runtime/call/a.cc", OPEN + '#include "compiler/plan/plan.h"\n'),
    ("rooms", "compiler/a.h", OPEN + '#pragma once\n#include "backends/backend.h"\n'),
    ("rooms", "base/a.cc", OPEN + '#include "runtime/cache.h"\n'),
    ("runtime_headers", "runtime/call/a.cc", OPEN + '#include "strew/op.h"\n'),
    ("owned_headers", "runtime/a.cc", OPEN + "#include <Halide.h>\n"),
    ("owned_headers", "compiler/import/stablehlo/a.cc", OPEN + "#include <google/protobuf/message.h>\n"),
    ("owned_headers", "compiler/import/onnx/a.cc", OPEN + '#include "flatbuffers/flatbuffers.h"\n'),
    ("reference_reads_op", "backends/pto/a.h", OPEN + '#pragma once\n#include "strew/op.h"\n'),
    ("reference_reads_op", "backends/pto/a.h", OPEN + '#pragma once\n#include "compiler/op/combiner.h"\n'),
    ("reference_reads_op", "backends/llvm/compute/a.cc", OPEN + "bool f(const Op& op) { return true; }\n"),
    ("reference_reads_op", "backends/portable/a.cc", OPEN + "bool f(const Op& op) { return true; }\n"),
    ("reference_reads_op", "backends/halide/a.cc", OPEN + "auto* s = std::get_if<Scatter>(&op);\n"),
    ("environment", "runtime/kernel.cc", OPEN + 'auto* v = std::getenv("A");\n'),
    ("silence", "compiler/plan/a.cc", OPEN + "  std::cerr << 1;\n"),
    ("silence", "backends/llvm/a.cc", OPEN + "  printf(\"a\");\n"),
    ("survival", "runtime/a.cc", OPEN + "  std::abort();\n"),
    ("survival", "runtime/a.cc", OPEN + "  exit(1);\n"),
    ("written_files", "tools/strew/a.cc", OPEN + '  std::ofstream out(path);\n'),
    ("written_files", "compiler/a.cc", OPEN + "  int fd = open(path, O_WRONLY | O_CREAT, 0600);\n"),
    ("file_length", "runtime/a.cc", OPEN + "\n" * (MAX_FILE + 1)),
    ("function_length", "runtime/a.cc", OPEN + "int f() {\n" + "  g();\n" * (MAX_FUNCTION + 1) + "}\n"),
    ("function_length", "runtime/a.h", OPEN + "#pragma once\nclass A {\n  int f() {\n" + "    g();\n" * (MAX_FUNCTION + 1) + "  }\n};\n"),
    ("finished", "runtime/a.cc", OPEN + "// TO" + "DO: later\n"),
    ("machine_paths", "docs/a.md", "see /" + "work/main\n"),
    ("cited_files", "runtime/a.cc", OPEN + "// Tested by tests/unit/absent_test.cc.\n"),
    ("opening", "runtime/a.cc", "#include <vector>\n"),
    ("opening", "runtime/a.h", OPEN + "int f();\n"),
    ("precompiled_headers", "tests/precompiled.h", OPEN + '#pragma once\n#include "strew/status.h"\n'),
    ("public_headers", "include/strew/p.h", OPEN + "#pragma once\n#include <fmt/format.h>\n"),
    ("public_headers", "include/strew/p.h", OPEN + '#pragma once\n#include "runtime/secret.h"\n'),
    ("machine_numbers", "schedules/a.cc", OPEN + "bool f(long n) { return n > 2048; }\n"),
    ("machine_numbers", "schedules/strategies/a.cc", OPEN + "double f(double n) { return 0.7 * n; }\n"),
    ("machine_numbers", "runtime/call/strategies/a.cc", OPEN + "\nconstexpr long kMost = 64 << 10;\n"),
    ("version_namespace", "runtime/a.cc", OPEN + "namespace strew::pto {\n"),
]
CLEAN = [  # and these must pass every rule
    ("schedules/a.cc", OPEN + "// No machine changes it.\nconstexpr double kShare = 0.7;\nint f(int n) { return 2 * n; }  // 4096 is a word here\n"),
    ("backends/pto/a.cc", OPEN + '#include "strew/expr.h"\n#include "compiler/plan/plan.h"\n// VerifiedOp is a word here\n'),
    ("backends/reference/a.cc", OPEN + '#include "strew/op.h"\nbool f(const Op& op) { return is_scatter(op); }\n'),
    ("base/options.cc", OPEN + 'auto* v = std::getenv("STREW_VERIFY");\n'),
    ("compiler/op/a.cc", OPEN + '#include <vector>\n// printf(x) and abort() are words here\nauto s = "exit(1)";\nint n = snprintf(b, 9, "");\n'),
    ("backends/llvm/a.cc", OPEN + '#include "llvm/IR/Module.h"\n'),
    ("runtime/p.h", OPEN + '#pragma once\n#include <vector>\n#include <stdint.h>\n#include "runtime/p.h"\n'),
    ("runtime/a.cc", OPEN + "int f() {\n" + "  g();\n" * (MAX_FUNCTION - 1) + "}\n"),
]


def self_test():
    rules = {rule.__name__[5:]: rule for rule in RULES}
    wrong = [f"{name}: not found in planted {path}" for name, path, text in PLANTS if not check_file(path, text, [rules[name]])]
    wrong += [f"{name}: no plant for this rule" for name in rules if name not in {plant[0] for plant in PLANTS}]
    wrong += [f"clean {finding}" for path, text in CLEAN for finding in check_file(path, text, rules.values())]
    planted = OPEN + "namespace strew::inline v0 {\nstruct A {\n};\nclass B : public A {\n};\nnamespace {\nstruct C {\n};\n}  // namespace\n}  // namespace strew::inline v0\n"
    found = list(repeated_types({"base/a.cc": planted, "base/b.cc": planted, "bench/a/a.cc": planted, "bench/b/b.cc": planted}))
    wrong += [] if len(found) == 2 else [f"repeated_types: {len(found)} found of 2 planted: {found}"]
    for line in wrong:
        print("rooms self-test:", line)
    return not wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True)
    findings, texts = check_compile_commands(), {}
    for path in sorted(set(listed.stdout.splitlines())):
        try:
            text = open(path, encoding="utf-8").read()
        except (OSError, UnicodeDecodeError):
            continue  # deleted in the work tree, or binary
        findings += check_file(path, text)
        texts[path] = text
    findings += repeated_types(texts)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
