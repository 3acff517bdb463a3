#!/usr/bin/env python3
"""The examples of README.md and docs/*.md are true.

Every block of README.md that calls strew is marked `sh` or `console`. An `sh` block runs as printed, in order, in one scratch folder that has
the tree's examples/, tests/ and build/; `strew` is the built program. A `console` block shows a command after "$ " and what it prints, in which
"…" stands for any text. Blocks `cpp` and `c` are one program each: the statements of a block follow those of the block before, with what
CPP and C declare; the compiler checks them. Blocks `json` of all documents are read.

The blocks of docs/fusion.md are checked in the same way, but its programs are complete, and run. A block `strew FILE` is the text of an op; it lies in FILE,
on one line. The programs print texts of ops, which are those of these blocks, in their order.

Blocks `python` of the documents in PYTHON run, those of a document in one process; those that import strew.torch, and what follows them, in another one, which has PyTorch.

The one thing that is not as printed: a budget of the tuner is cut to a second.

Exit status 77: no NumPy in .venv, no PyTorch in .venv-torch, or no Python package, which some blocks need.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ["README.md", "docs/python.md", "docs/fusion.md", "docs/jax.md", "docs/onnxruntime.md", "docs/scale.md", "docs/torch.md"]
CPP = """
#include <memory>
#include <vector>
struct MyThreads final : strew::Executor {
  int threads() const noexcept override { return 1; }
  void parallel_for(int count, Task task, void* context) override {
    for (int i = 0; i < count; ++i) task(context, i);
  }
};
strew::Expected<strew::Scatter> append_op(int64_t batch) {
  using namespace strew::types;
  return strew::tensor_scatter(f32({batch, 8, 64, 4}), i32({batch}), f32({batch, 8, 1, 4})).in_place().build();
}
std::vector<strew::TensorView> shapes;
std::vector<void*> addresses;
int64_t batch = 9;
"""
C = """
#include <stddef.h>
#include "strew/strew.h"
#include "decoder_kernels.h"
static void example(strew_op* op, strew_prepared* append, strew_kernel_ref* kernel, const strew_tensor* tensors, float* cache,
                    const int32_t* places, const float* token);
static void example(strew_op* op, strew_prepared* append, strew_kernel_ref* kernel, const strew_tensor* tensors, float* cache,
                    const int32_t* places, const float* token) {
"""


def blocks(path):
    """(line, language, text) of each fenced block."""
    out, language, start, lines = [], None, 0, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, start, lines = line[3:].strip(), number, []
        else:
            out.append((start, language, "\n".join(lines)))
            language = None
    return out


class Check:
    def __init__(self, build, folder):
        self.build, self.folder, self.failed, self.skipped = build, folder, [], []
        self.environment = {**os.environ, "PATH": f"{build}/bin:{os.environ['PATH']}", "STREW_CACHE": "off", "STREW_WISDOM": str(folder / "wisdom"),
                            "TMPDIR": str(folder)}

    def run(self, where, command):
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment, text=True, capture_output=True,
                              timeout=300)
        if done.returncode != 0:
            self.failed.append(f"{where}: exit status {done.returncode}\n{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def console(self, where, text):
        """Commands after "$ ", each with the lines that it prints."""
        commands = re.split(r"^\$ ", text, flags=re.M)
        for each in commands[1:]:
            command, _, printed = each.partition("\n")
            pattern = ".*?".join(re.escape(part) for part in printed.rstrip().split("…"))
            out = self.run(where, command)
            if not re.fullmatch(pattern, out.rstrip(), re.S):
                self.failed.append(f"{where}: {command} prints\n{out}\nexpected\n{printed}")

    def compile(self, where, name, text, command):
        (self.folder / name).write_text(text)
        self.run(where, f"{command} -fsyntax-only -I{ROOT}/include {name}")

    def print_ops(self, where, name, text, command, expected):
        """Compiles and runs a program that prints the first of the expected texts, at least one."""
        (self.folder / name).write_text(text)
        library = f"-L{self.build}/lib -Wl,-rpath,{self.build}/lib -lstrew"
        printed = self.run(where, f"{command} -I{ROOT}/include {name} {library} -o {name}.out && ./{name}.out").splitlines()
        (self.folder / f"{name}.out").unlink(missing_ok=True)  # what lies in a build folder is taken for a program of strew (tools/lint/elf.py)
        if not printed or printed != expected[:len(printed)]:
            self.failed.append(f"{where} prints\n" + "\n".join(printed) + "\nexpected the ops of the document:\n" + "\n".join(expected))

    def op(self, where, name, text):
        """The canonical text of an op that is written over several lines."""
        (self.folder / name).write_text(" ".join(text.split("\n")) + "\n")
        return self.run(where, f"strew explain {name} --emit op").strip()

    def python(self, name, found, venv=".venv"):
        """Blocks in their lines of the document, so that a traceback names these."""
        lines = []
        for start, _, text in found:
            lines += [""] * (start - len(lines)) + text.split("\n")
        script = self.folder / f"{pathlib.Path(name).name}{venv}.py"
        script.write_text("\n".join(lines) + "\n")
        self.run(f"{name}, python", f"PYTHONPATH=build/python {venv}/bin/python3 {script.name}")


def program(texts, prelude, function):
    """One function with all blocks in scopes that nest, so that a later block sees what an earlier one declares."""
    heads, bodies = [], []
    for text in texts:
        lines = text.splitlines()
        heads += [line for line in lines if line.startswith(("#include", "using namespace"))]
        bodies.append("\n".join(line for line in lines if not line.startswith(("#include", "using namespace"))))
    includes = "\n".join(line for line in heads if line.startswith("#"))
    usings = "\n".join(line for line in heads if not line.startswith("#"))
    return f"{includes}\n{prelude}\n{usings}\n{function} {{\n" + "\n{\n".join(bodies) + "\n" + "}" * len(bodies) + "\n"


def cpp_program(texts):
    return program(texts, CPP, "void example()")


def texts_of(found, language):
    return [text for _, each, text in found if each == language]


def check_commands(check, name, found, has_numpy):
    for line, language, text in found:
        where = f"{name}:{line}"
        if language in ("sh", "console"):
            if ".venv" in text and not has_numpy:
                check.skipped.append(where)
            elif language == "console":
                check.console(where, text)
            else:
                check.run(where, re.sub(r"--budget \S+", "--budget 1s", text))


def check_readme(check, has_numpy):
    found = blocks(ROOT / "README.md")
    for line, language, text in found:
        if language not in ("sh", "console", "cpp", "c", "json") and re.search(r"(^|/)strew ", text, re.M):
            check.failed.append(f"README.md:{line}: the block calls strew, expected the mark sh or console")
    check_commands(check, "README.md", found, has_numpy)
    check.compile("README.md, cpp", "readme.cc", cpp_program(texts_of(found, "cpp")), "c++ -std=c++20")
    check.run("library", f"strew library {ROOT}/examples/kernel_library/kernels.json -o decoder_kernels")
    # A block that declares what an earlier one does is a scope of its own.
    text = C + "".join("{\n" + text + "\n(void)status;\n}\n" for text in texts_of(found, "c")) + "}\n"
    check.compile("README.md, c", "readme.c", text, "cc -std=c11 -Idecoder_kernels")
    return len(found)


def check_fusion(check, has_numpy):
    name = "docs/fusion.md"
    found = blocks(ROOT / name)
    ops = [check.op(f"{name}:{line}", language.split()[1], text) for line, language, text in found if language.startswith("strew ")]
    check_commands(check, name, found, has_numpy)
    check.print_ops(f"{name}, cpp", "fusion.cc", program(texts_of(found, "cpp"), "", "int main()"), "c++ -std=c++20", ops)
    check.print_ops(f"{name}, c", "fusion.c", program(texts_of(found, "c"), "", "int main(void)"), "cc -std=c11", ops)
    return len(found)


def check_python(check, has_package, has_torch):
    for name in PYTHON:
        found = [block for block in blocks(ROOT / name) if block[1] == "python"]
        first = next((n for n, block in enumerate(found) if "strew.torch" in block[2]), len(found))
        for venv, its, has in ((".venv", found[:first], has_package), (".venv-torch", found[first:], has_torch)):
            if its and has:
                check.python(name, its, venv)
            elif its:
                check.skipped.append(f"{name}, python of {venv}")


def self_test(check):
    """The test sees a block that is wrong."""
    for wrong, act in [("a command that fails", lambda c: c.run("x", "strew check none.onnx")),
                       ("other output", lambda c: c.console("x", "$ strew cache stats --cache off\n…no such line…")),
                       ("an op", lambda c: c.op("x", "wrong.strew", "strew1.scatter()")),
                       ("C++", lambda c: c.compile("x", "wrong.cc", cpp_program(["strew::Nothing n;"]), "c++ -std=c++20")),
                       ("another op", lambda c: c.print_ops("x", "wrong.c", '#include <stdio.h>\nint main(void) { puts("a"); }', "cc", ["b"])),
                       ("no op", lambda c: c.print_ops("x", "wrong.c", "int main(void) { return 0; }", "cc", ["b"])),
                       ("Python", lambda c: c.python("x", [(1, "python", "assert False")]))]:
        act(check)
        if not check.failed:
            sys.exit(f"self-test: {wrong} was not noticed")
        check.failed.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    folder = build / "documents_test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ["examples", "tests", ".venv", ".venv-torch"]:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    (folder / "build").symlink_to(build)
    inductor = tempfile.TemporaryDirectory()  # what it compiles is none of the build's files, which other tests look at
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = inductor.name
    check = Check(build, folder)
    self_test(check)
    python = ROOT / ".venv/bin/python3"
    has_numpy = python.exists() and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0
    has_package = has_numpy and any((build / "python/strew").glob("_native*.so"))
    count = check_readme(check, has_numpy) + check_fusion(check, has_numpy)
    has_torch = has_package and (ROOT / ".venv-torch/bin/python3").exists() and any((build / "python/strew/torch_kernels").glob("*.so"))
    check_python(check, has_package, has_torch)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for line, language, text in blocks(path):
            if language != "json":
                continue
            count += 1
            try:
                json.loads(text)
            except ValueError as error:
                check.failed.append(f"{path.name}:{line}: {error}")
    for each in check.failed:
        print(each)
    print(f"{count} blocks, {len(check.failed)} failures, {len(check.skipped)} skipped (they need NumPy in .venv, PyTorch in .venv-torch, and the Python package): {', '.join(check.skipped)}")
    if check.failed or (check.skipped and os.environ.get("CI") == "true"):
        sys.exit(1)
    sys.exit(77 if check.skipped else 0)


main()
