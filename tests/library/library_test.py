#!/usr/bin/env python3
"""Makes the library of kernels.json and uses it as its users do.

    library_test.py --build BUILD

The library is made twice, in two folders and with two numbers of jobs, and has the same bytes; made again, it compiles nothing; with one kernel
changed, it compiles that kernel. A C program is linked with it and libstrew_rt, shared and static, and run for several CPUs (STREW_TARGET).
A C++ program calls it by views, another one registers it with a runtime; a program without any library calls the entry of an object. A manifest is made of a model file, and a library of that. Bad manifests, folders and options are one
line and leave no file. A program calls a library of tvm_ffi.json as TVM-FFI does. Run by ctest (`library`). Exit: 0 right, 1 wrong.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import sys

from commands import Commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/library"
CPUS = {"x86-64": "x86_64-x86-64", "x86-64-v2": "x86_64-x86-64-v2", "x86-64-v3": "x86_64-x86-64-v3"}
OP = ("strew1.scatter(operand=f32[4] indices=i64[3] updates=f32[3] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=add oob=skip_window)")


class Check(Commands):
    def library(self, manifest, folder, *options):
        return json.loads(self.run(self.strew, "library", manifest, "-o", folder, "--json", *options).stdout or "{\"variants\": []}")


def contents(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def check_builds(check, manifest):
    report = check.library(manifest, "made", "--jobs", "1")
    check.that(len(report["variants"]) == 28 and not any(v["reused"] for v in report["variants"]), "the first run does not compile 28 variants")
    (check.folder / "elsewhere").mkdir()
    other = check.folder / "elsewhere/kernels.json"
    other.write_text(manifest.read_text())
    check.library(other, "elsewhere/made_too", "--jobs", "2")
    first, second = contents(check.folder / "made"), contents(check.folder / "elsewhere/made_too")
    check.that(first.keys() == second.keys(), f"other files: {first.keys()} and {second.keys()}")
    for name in first:
        check.that(first[name] == second[name], f"{name} differs between two folders and numbers of jobs")
    again = check.library(manifest, "made")
    check.that(all(v["reused"] for v in again["variants"]), "a run without a change compiles something")
    check.that(contents(check.folder / "made") == first, "a run without a change changes a file")
    changed = check.folder / "changed.json"
    changed.write_text(manifest.read_text().replace('"unroll=2"', '"unroll=4"'))
    third = check.library(changed, "made")
    compiled = {v["kernel"] for v in third["variants"] if not v["reused"]}
    check.that(compiled == {"take_rows"}, f"with another schedule of take_rows these were compiled: {compiled}")
    check.library(manifest, "made")
    check.that(contents(check.folder / "made") == first, "the library is not what it was before the change")
    check.that(not list(check.folder.glob("made.*")), "a temporary folder was left")


def check_programs(check):
    flags = ["-Imade", f"-I{ROOT}", f"-I{ROOT}/include", "-Lmade", "-ltest_kernels", f"-L{check.build}/lib", f"-Wl,-rpath,{check.build}/lib"]
    best = ""
    for kind, runtime in [("shared", ["-lstrew_rt"]), ("static", [check.build / "lib/libstrew_rt.a", "-lstdc++", "-lpthread", "-ldl", "-lm"])]:
        program = check.folder / f"use_{kind}"
        check.run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "main.c", *flags, *runtime)
        best = check.run(program).stdout.strip()
        check.that(best.startswith("x86_64-x86-64"), f"without STREW_TARGET the variant is {best}")
        for cpu, text in CPUS.items():
            chosen = check.run(program, STREW_TARGET=cpu).stdout.strip()
            check.that(chosen == text or (cpu == "x86-64-v3" and best != text), f"with STREW_TARGET={cpu} the variant is {chosen}")
    check.run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-o", "views", HERE / "main.cc", *flags, "-lstrew_rt")
    check.run(check.folder / "views")
    check.run("c++", "-std=c++20", "-o", "registered", HERE / "registered.cc", *flags, "-lstrew")
    check.that(check.run(check.folder / "registered").stdout.strip() == best, "the runtime does not take the best variant")


def check_freestanding(check):
    """The objects need no library at all."""
    report = json.loads((check.folder / "made/report.json").read_text())
    symbol = next(v["symbol"] for v in report["variants"] if v["kernel"] == "add_rows_f32_4" and v["target"].endswith("x86-64"))
    check.run("cc", "-std=gnu11", "-O1", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-static", "-Wall", "-Wextra", f"-DKERNEL={symbol}",
              f"-I{ROOT}/include", "-o", "freestanding", HERE / "freestanding.c", "-Lmade", "-ltest_kernels")
    check.run(check.folder / "freestanding")


def check_tvm_ffi(check):
    """A library with tvm_ffi exports a function for each kernel, and no other library does."""
    check.run(check.strew, "library", HERE / "tvm_ffi.json", "-o", "tvm_ffi")
    kernels = {v["kernel"] for v in json.loads((check.folder / "tvm_ffi/report.json").read_text())["variants"]}
    for library, expected in [("tvm_ffi/libtvm_kernels.a", kernels), ("made/libtest_kernels.a", set())]:
        shared = check.folder / "shared.so"
        check.run("cc", "-shared", "-o", shared, "-Wl,--whole-archive", library, "-Wl,--no-whole-archive", f"-L{check.build}/lib", "-lstrew_rt", "-lm",
                  f"-Wl,-rpath,{check.build}/lib")
        exported = {line.split()[-1] for line in check.run("nm", "-D", shared).stdout.splitlines() if "tvm_ffi" in line.lower()}
        functions = {f"__tvm_ffi_{name}" for name in expected}
        calls = {"strew_tvm_ffi_call", "strew_tvm_ffi_close"} if expected else set()
        check.that(exported == functions | calls, f"{library} as a shared library has these names of TVM-FFI: {exported}")
        needed = set(re.findall(r"NEEDED.*\[(.*?)\]", check.run("readelf", "-d", shared).stdout))
        check.that(all(name.startswith(("libstrew_rt.so", "libm.so", "libc.so")) for name in needed), f"{library} as a shared library needs {needed}")
        if expected:
            check.run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-rdynamic", "-o", "tvm_ffi_program", HERE / "tvm_ffi.c", "-Itvm_ffi", f"-I{ROOT}",
                      f"-I{ROOT}/include", "-Ltvm_ffi", "-ltvm_kernels", f"-L{check.build}/lib", "-lstrew_rt", f"-Wl,-rpath,{check.build}/lib")
            check.run(check.folder / "tvm_ffi_program")
            check.run(check.folder / "tvm_ffi_program", shared)
            alone = "import ctypes; f = ctypes.CDLL('shared.so').__getattr__('__tvm_ffi_count'); print(f(None, None, 0, ctypes.create_string_buffer(16)))"
            check.that(check.run(sys.executable, "-c", alone.replace("shared.so", str(shared))).stdout == "-1\n", "a process without TVM-FFI gets no -1")


def check_model(check):
    model = ROOT / "examples/kv_cache/decode.onnx"
    text = check.run(check.strew, "library", "--from-model", model).stdout
    (check.folder / "model.json").write_text(text)
    report = check.library("model.json", "model")
    check.that({v["kernel"] for v in report["variants"]} == {"kv_decode"}, f"a library of the model: {report}")
    # The manifest works where it lies: in another folder than the model's and the working one, on the other side of a link, and printed from
    # a relative path into a folder further down.
    (check.folder / "models").mkdir()
    (check.folder / "deep/er").mkdir(parents=True)
    (check.folder / "link").symlink_to("deep/er")
    (check.folder / "models/blob").write_bytes(model.read_bytes())
    (check.folder / "models/decode.onnx").symlink_to("blob")
    for manifest in ["deep/er/m.json", "link/n.json", "flat.json"]:
        done = check.run(check.strew, "library", "--from-model", "models/decode.onnx", "-o", manifest)
        check.that(done.stdout == "", f"-o also prints: {done.stdout}")
        named = re.search('"file": "(.*?)"', (check.folder / manifest).read_text()).group(1)
        check.that(not named.startswith("/") and named.endswith("models/decode.onnx"), f"{manifest} names the model {named}")
        check.that(len(check.library(manifest, "model")["variants"]) > 0, f"{manifest} makes no library")
    (check.folder / "deep/er/printed.json").write_text(check.run(check.strew, "library", "--from-model", "models/decode.onnx").stdout)
    check.that(len(check.library("deep/er/printed.json", "model")["variants"]) > 0, "a printed manifest makes no library")
    done = check.run(check.strew, "library", "--from-model", model, "-o", "none/m.json", expected=1)
    check.that("none/m.json: its folder cannot be read" in done.stderr, f"a manifest in a folder that is not there: {done.stderr}")


def check_command_line(check):
    """explain says which kernel of an archive answers, and run takes it."""
    model = ROOT / "examples/kv_cache/decode.onnx"
    archive = "made/libtest_kernels.a"
    text = check.run(check.strew, "explain", model, "--all", "--library", archive).stdout
    check.that("library     answers requests with strew_" in text, f"explain does not name the library's kernel:\n{text}")
    (check.folder / "other.strew").write_text(OP + "\n")
    told = json.loads(check.run(check.strew, "explain", "other.strew", "--library", archive, "--json").stdout)["kernels"][0]["library"]
    check.that(told.startswith("has no kernel for this op"), f"of an op that the library does not have explain says: {told}")
    done = check.run(check.strew, "explain", model, "--library", "none.a", expected=1)
    check.that("none.a" in done.stderr and done.stderr.count("\n") == 1, f"a library that is not there: {done.stderr}")


def check_targets(check):
    """A library has the targets of one architecture, its baseline among them."""
    def targets(listed, *options):
        (check.folder / "targets.json").write_text(json.dumps({"library": "l", "targets": listed, "kernels": [{"name": "k", "op": OP}]}))
        return [v["target"] for v in check.library("targets.json", "targets", *options)["variants"]]

    both = ["x86-64-v2", "neoverse-n1", "armv8.2-a"]
    arm = ["aarch64-generic", "aarch64-armv8.2-a", "aarch64-neoverse-n1"]
    check.that(targets(both, "--arch", "x86_64") == ["x86_64-x86-64", "x86_64-x86-64-v2"], "--arch x86_64 takes other targets")
    check.that(targets(both, "--arch", "aarch64") == arm, "--arch aarch64 takes other targets")
    check.that(targets(both[1:]) == arm, "a manifest of one architecture does not decide")
    check.that(targets(both, "--target", "znver3,x86-64-v3") == ["x86_64-x86-64", "x86_64-x86-64-v3", "x86_64-znver3"], "--target is not taken")
    left_out = "armv8.2-a: left out, because the library is for x86_64; --arch aarch64 makes one of it"
    check.that(left_out in check.run(check.strew, "library", "targets.json", "-o", "targets", "--target", "x86-64-v3,armv8.2-a", "--arch", "x86_64").stdout,
               "a target that is left out is not said")
    check.that(targets([], "--arch", "aarch64") == arm[:1], "the baseline alone is not made")
    objects = check.run("ar", "t", "targets/libl.a").stdout
    check.that("l_registry.o" in objects, f"the archive has {objects}")
    for options, words in [(["--arch", "sparc"], "arch: 'sparc', expected x86_64 or aarch64"), (["--target", "z80"], "target: target 'z80': unknown CPU"),
                           (["--target", "native"], "target: 'native' differs from machine to machine")]:
        done = check.run(check.strew, "library", "targets.json", "-o", "targets", *options, expected=1)
        check.that(words in done.stderr and done.stderr.count("\n") == 1, f"{options}: {done.stderr}")


def check_freestanding_kernels(check):
    """What needs a library of functions is refused by name."""
    graph = OP.replace("combiner=add", "combiner=expr expr={%0=update(0):f32; %1=FUNCTION(%0):f32; return %1}")

    def made(function, *options, expected=0):
        kernel = {"name": "k", "op": graph.replace("FUNCTION", function)}
        (check.folder / "free.json").write_text(json.dumps({"library": "l", "targets": ["x86-64-v2"], "kernels": [kernel]}))
        return check.run(check.strew, "library", "free.json", "-o", "free", "--freestanding", *options, expected=expected).stderr

    made("abs")
    for function, symbol in [("exponential", "strew_math_exp_f32"), ("ceil", "ceilf")]:
        message = made(function, expected=1)
        check.that(f"kernel k, target x86-64: it calls {symbol}, which" in message and message.count("\n") == 1, f"{function}: {message}")
    made("ceil", "--arch", "aarch64")  # an instruction


def check_depfile(check):
    """The depfile is a rule that Make reads: the archive depends on the manifest and the models."""
    model = ROOT / "examples/kv_cache/decode.onnx"
    copied = check.folder / "a model.onnx"
    shutil.copy2(model, copied)
    (check.folder / "depfile.json").write_text(json.dumps({"library": "l", "kernels": [{"name": "k", "file": copied.name}]}))
    check.run(check.strew, "library", "depfile.json", "-o", "depfile", "--depfile", "depfile.d")
    (check.folder / "Makefile").write_text("include depfile.d\ndepfile/libl.a:\n\t@echo made again\n")
    check.that("made again" not in check.run("make").stdout, "Make finds the new archive out of date")
    os.utime(copied, (2**31, 2**31))
    check.that("made again" in check.run("make").stdout, "Make does not see that the model changed")


def check_errors(check):
    def refused(manifest, *parts, folder="bad", status=1):
        (check.folder / "bad.json").write_text(manifest if isinstance(manifest, str) else json.dumps(manifest, indent=1))
        done = check.run(check.strew, "library", "bad.json", "-o", folder, expected=status)
        check.that(done.stderr.count("\n") == 1 and all(part in done.stderr for part in parts), f"expected {parts}, got: {done.stderr}")
        check.that(not (check.folder / "bad").exists(), "a refused manifest left a folder")

    good = {"library": "l", "kernels": [{"name": "k", "op": OP}]}
    refused("{\n  \"library\": \"l\",\n  oops\n}", "bad.json:3: ")
    refused("[]", "bad.json:1: the manifest is a list, expected an object")
    refused({"library": "l"}, "bad.json:1: kernels: it is missing")
    refused({**good, "library": "2l"}, "bad.json:2: library: '2l' is no identifier of C")
    refused({**good, "library": "while"}, "library: 'while' is reserved")
    refused({**good, "kernls": []}, "the manifest has a member 'kernls', expected one of library, targets, kernels")
    refused({**good, "kernels": []}, "kernels: the list is empty")
    refused({**good, "tvm_ffi": 1}, "bad.json:", "tvm_ffi: it is a number, expected true or false")
    refused({**good, "tvm_ffi": True, "kernels": [{"name": "_k", "op": OP}]}, "name: '_k' begins with '_', which TVM-FFI keeps for itself")
    refused({**good, "kernels": [1]}, "a kernel is a number, expected an object")
    refused({**good, "targets": ["z80"]}, "targets: ", "z80")
    refused({**good, "targets": ["native"]}, "differs from machine to machine")
    refused({**good, "targets": ["npu-a5"]}, "targets: ", "expected a CPU of x86_64 or aarch64")
    refused({**good, "kernels": [{"name": "k", "op": "strew1.scatter("}]}, "bad.json:6: op: op text, offset")
    refused({**good, "kernels": [{"name": "k"}]}, "op, file: expected one of them")
    refused({**good, "kernels": [{"name": "k", "file": "none.onnx"}]}, "file: ", "none.onnx")
    refused({**good, "kernels": [{"name": "k", "file": str(ROOT / "examples/kv_cache/decode.onnx"), "kernel": "q"}]}, "kernel: 'q', expected one of", "kv_decode")
    refused({**good, "kernels": [{"name": "k", "op": OP}, {"name": "k", "op": OP}]}, "'k' is the name of two kernels, also at bad.json:")
    refused({**good, "kernels": [{"name": "k", "op": OP}, {"name": "k_at", "op": OP}]}, "'k_at' is also the name of the function by pointers")
    refused({**good, "kernels": [{"name": "l_open", "op": OP}]}, "'l_open' is also the name of")
    refused({**good, "kernels": [{"name": "k", "op": OP, "backend": "gpu"}]}, "backend: 'gpu', expected one of")
    refused({**good, "kernels": [{"name": "k", "op": OP, "schedule": "unrol=2"}]}, "schedule: ", "unrol")
    refused({**good, "kernels": [{"name": "k", "op": OP, "schedule": "threads=2"}]}, "threads belong to the program")
    refused({**good, "kernels": [{"name": "k", "op": OP, "schedule": "nontemporal=true"}]}, "bad.json:", "kernel k, target x86-64", "nontemporal")
    refused({**good, "kernels": [{"name": "k", "op": OP, "backend": "reference"}]}, "no backend makes code for it")
    refused({**good, "kernels": [{"name": "k", "op": OP, "oob": "clamp"}]}, "oob: it belongs to file")
    refused({**good, "kernels": [{"name": "k_{n}", "op": OP, "for": {"n": []}}]}, "for: n: expected a list of values")
    refused({**good, "kernels": [{"name": "k", "op": OP, "for": {"n": [1, 2]}}]}, "'k' is the name of two kernels")
    (check.folder / "full").mkdir()
    (check.folder / "full/precious.txt").write_text("mine")
    refused(good, "full: the folder has other files", folder="full")
    check.that((check.folder / "full/precious.txt").read_text() == "mine", "a folder of the user's was changed")
    refused(good, "bad.json: it is a file, expected a folder", folder="bad.json")
    refused(good, "no/such/place", folder="no/such/place")
    refused(good, "/proc/strew_out: cannot write", folder="/proc/strew_out")
    for command in [["library"], ["library", "bad.json"], ["library", "bad.json", "--from-model", "x.onnx"], ["library", "bad.json", "--from-model", "x.onnx", "-o", "y.json"]]:
        check.run(check.strew, *command, expected=2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    folder = build / "library_test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    check = Check(build, folder)
    has_halide = any((build / "lib").glob("strew-*/libstrew_halide.so"))
    manifest = folder / "kernels.json"
    text = (HERE / "kernels.json").read_text().replace("BACKEND", "halide" if has_halide else "llvm")
    manifest.write_text(text.replace("../../examples", str(ROOT / "examples")))
    check_builds(check, manifest)
    check_programs(check)
    check_freestanding(check)
    check_tvm_ffi(check)
    check_model(check)
    check_command_line(check)
    check_targets(check)
    check_depfile(check)
    check_freestanding_kernels(check)
    check_errors(check)
    if check.failures:
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
