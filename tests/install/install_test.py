#!/usr/bin/env python3
"""Installs the built tree into a folder of its own and uses strew from there: it must need nothing of the build tree, the checkout or the .venv.

    install_test.py --cmake CMAKE --build DIR

Every ELF file passes tools/lint/elf.py and names no folder of the builder; the dynamic loader finds every library, ours and libHalide beside each
other; the installed program runs a scatter with every backend that was built and reads a file that needs MLIR; the objects it compiles pass the
lint too; ONNX Runtime runs a file with the installed provider; a library planted in the current folder is not loaded. No file of any kind names a
folder of the builder. A project of a user's (consumer/) is built with the CMake package and with pkg-config, against the whole installation and against the runtime alone. Run by ctest
(`install`). Exit: 0 right, 1 wrong.
"""
import argparse
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OP = ("strew1.scatter(operand=f32[4] indices=i64[3] updates=f32[3] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1 combiner=add oob=skip_window)\n")
MODULES = {"llvm": "libstrew_llvm.so", "halide": "libstrew_halide.so"}
NPU_MODULE = "libstrew_pto.so"


def npy(form, values):
    header = f"{{'descr': '<{form}', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    kind = {"f4": "f", "i8": "q"}[form]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{kind}", *values)


def version(build):
    """The version of the build, "0.1.0"."""
    line = next(line for line in (build / "CMakeCache.txt").read_text().splitlines() if line.startswith("CMAKE_PROJECT_VERSION:"))
    return line.partition("=")[2]


class Check:
    def __init__(self):
        self.failures = 0

    def that(self, good, what):
        if not good:
            self.failures += 1
            print("FAILED:", what)

    def run(self, command, cwd, expected=0):
        words = " ".join(map(str, command))
        try:
            done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
        except OSError as error:
            done = subprocess.CompletedProcess(command, -1, "", str(error))
        self.that(done.returncode == expected, f"{words} ended with {done.returncode}, expected {expected}\n{done.stdout}{done.stderr}")
        return done.stdout


def check_files(check, prefix, builder):
    check.run([sys.executable, ROOT / "tools/lint/elf.py", prefix], prefix)
    for file in sorted(prefix.rglob("*")):
        if file.is_symlink() or not file.is_file() or file.read_bytes()[:4] != b"\x7fELF":
            continue
        dynamic = check.run(["readelf", "-dW", file], prefix)
        check.that(not any(str(path) in dynamic for path in builder), f"{file.name} names a folder of its builder:\n{dynamic}")
        found = check.run(["ldd", file], prefix)
        check.that("not found" not in found, f"{file.name} needs a library that the loader does not find:\n{found}")
        for line in found.splitlines():
            name, _, place = line.strip().partition(" => ")
            if name.startswith(("libstrew", "libHalide")):
                check.that(place.startswith(f"{prefix}/"), f"{file.name} takes {name} from {place}, expected from {prefix}")


def check_contents(check, prefix, builder):
    """An installation is the same wherever it was built and wherever it is moved."""
    for file in sorted(prefix.rglob("*")):
        if file.is_file() and not file.is_symlink() and file.name != "libHalide.so":
            found = [str(path) for path in builder if str(path).encode() in file.read_bytes()]
            check.that(not found, f"{file.relative_to(prefix)} names {', '.join(found)}, a folder of its builder")
    for name in ["LICENSE", "README.md", "docs/semantics.md", "docs/versioning.md"]:
        check.that(any(prefix.glob(f"share/doc/*/{name}")), f"{name} is not installed")


def check_notices(check, prefix):
    """THIRD_PARTY.txt names every library that the build looks for; no link leads out of the installation."""
    notices = next(prefix.rglob("THIRD_PARTY.txt")).read_text().lower()
    for name in ["cli11", "nlohmann/json", "fmt", "xxhash", "protocol buffers", "flatbuffers", "llvm", "mlir", "halide"]:
        check.that(name in notices, f"THIRD_PARTY.txt has nothing about {name}")
    wanted = set(re.findall(r"(?:find_package|pkg_check_modules)\((\w+)", (ROOT / "CMakeLists.txt").read_text()))
    known = {"Threads", "PkgConfig", "fmt", "nlohmann_json", "CLI11", "Protobuf", "FlatBuffers", "XXHASH", "LLVM"}
    check.that(wanted <= known, f"the build also looks for {sorted(wanted - known)}: THIRD_PARTY.txt needs their notices, and this test their names")
    for file in prefix.rglob("*"):
        if file.is_symlink():
            check.that(file.resolve().is_relative_to(prefix.resolve()), f"{file.relative_to(prefix)} leads out of the installation, to {file.resolve()}")


def check_consumer(check, cmake, prefix, folder, components):
    """A user's project finds the package, builds and runs; `prefix` must have these components and no others."""
    build = folder / ("consumer_" + "_".join(components))
    configure = [cmake, "-S", ROOT / "tests/install/consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
                 f"-DCONSUMER_EXAMPLES={ROOT / 'examples'}", f"-DCONSUMER_COMPONENTS={';'.join(components)}"]
    check.run(configure, folder)
    check.run([cmake, "--build", build], folder)
    programs = ["version_shared", "version_static", "version_c_shared", "version_c_static"]
    programs += ["cpp", "server", "c"] if "compiler" in components else []
    for program in programs:
        check.run([build / program], folder)
    if "compiler" not in components:
        done = subprocess.run([str(word) for word in configure[:-1]] + ["-DCONSUMER_COMPONENTS=compiler", "-B", str(build) + "_wrong"], cwd=folder,
                              capture_output=True, text=True, check=False)
        message = " ".join(done.stderr.split())
        check.that(done.returncode != 0 and "component 'compiler' is not installed" in message,
                   f"a component that is not installed gives {done.returncode}: {message}")


def check_kernel_library(check, cmake, prefix, folder):
    """The example that compiles kernels when it is built, for every CPU that the library has and this machine can be."""
    build = folder / "kernel_library"
    check.run([cmake, "-S", ROOT / "examples/kernel_library", "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"], folder)
    check.run([cmake, "--build", build], folder)
    for cpu in ["native", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]:
        os.environ["STREW_TARGET"] = cpu
        check.run([build / "decoder"], folder)
    del os.environ["STREW_TARGET"]
    libraries = check.run(["ldd", build / "decoder"], folder)
    check.that("libstrew.so" not in libraries and "LLVM" not in libraries, f"the program of a kernel library needs a compiler: {libraries}")
    forms = folder / "kernel_library_forms"
    check.run([cmake, "-S", ROOT / "tests/install/kernel_library", "-B", forms, f"-DCMAKE_PREFIX_PATH={prefix}"], folder)
    check.run([cmake, "--build", forms], folder)
    for program in ["shared", "registered"]:
        check.run([forms / program], folder)
    check.that("libshared_kernels.so" in check.run(["ldd", forms / "shared"], folder), "the kernels are not in a shared library")
    # As TVM-FFI loads it: by itself. Without arguments the call fails.
    call = f"import ctypes; print(ctypes.CDLL({str(forms / 'libshared_kernels.so')!r})['__tvm_ffi_round_up'](None, None, 0, ctypes.create_string_buffer(16)))"
    check.that(check.run([sys.executable, "-c", call], folder) == "-1\n", "a shared library of kernels cannot be loaded and called by itself")


def check_pkg_config(check, prefix, folder):
    environment = dict(os.environ, PKG_CONFIG_PATH=":".join({str(file.parent) for file in prefix.rglob("*.pc")}))
    for library, source in [("strew", ROOT / "examples/cpp/main.cc"), ("strew_rt", ROOT / "tests/install/consumer/version.cc")]:
        done = subprocess.run(["pkg-config", "--cflags", "--libs", library], env=environment, capture_output=True, text=True, check=False)
        check.that(done.returncode == 0 and str(prefix) in done.stdout, f"pkg-config {library}: {done.stdout}{done.stderr}")
        program = folder / f"with_{library}"
        libraries = next(prefix.rglob("libstrew_rt.so")).parent
        check.run(["c++", "-std=c++20", source, *done.stdout.split(), f"-Wl,-rpath,{libraries}", "-o", program], folder)
        check.run([program], folder)


def check_runs(check, program, folder, backends):
    (folder / "add.strew").write_text(OP)
    (folder / "operand.npy").write_bytes(npy("f4", [1, 2, 3, 4]))
    (folder / "indices.npy").write_bytes(npy("i8", [2, 0, 2]))
    (folder / "updates.npy").write_bytes(npy("f4", [10, 20, 30]))
    expected = npy("f4", [21, 2, 43, 4])[-16:]
    for backend in ["reference", *backends]:
        result = folder / f"{backend}.npy"
        inputs = ["operand.npy", "indices.npy", "updates.npy"]
        check.run([program, "run", "add.strew", "--backend", backend, "--input", *inputs, "--output", result], folder)
        check.that(result.exists() and result.read_bytes()[-16:] == expected, f"backend {backend} gives another result")
    for backend in backends:
        check.run([program, "compile", "add.strew", "--backend", backend, "--emit", "obj", "-o", f"objects/{backend}.o"], folder)
    check.run([sys.executable, ROOT / "tools/lint/elf.py", folder / "objects"], folder)
    check.run([program, "check", ROOT / "examples/batched_scatter_add/scatter_add.mlir"], folder)


def check_npu(check, program, folder, libraries):
    """The NPU module is opened when a program is asked for; where it is missing the error names its file."""
    command = [program, "compile", "add.strew", "--target", "npu-a5", "--emit", "pto-cpp", "-o", "add.cpp"]
    check.run(command, folder)
    (libraries / NPU_MODULE).rename(folder / NPU_MODULE)
    check.run([program, "run", "add.strew", "--backend", "reference", "--input", "operand.npy", "indices.npy", "updates.npy", "--output",
               folder / "without.npy"], folder)
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)
    check.that(done.returncode == 1 and f"needs {libraries / NPU_MODULE}, which could not be opened" in done.stderr,
               f"without {NPU_MODULE} compiling for an NPU ended with {done.returncode}: {done.stderr}")
    (folder / NPU_MODULE).rename(libraries / NPU_MODULE)


def check_provider(check, library, folder):
    """ONNX Runtime, of which the .venv of the tests has the package, runs a file with the installed provider, and no file of the Python package strew."""
    python = ROOT / ".venv/bin/python3"
    if not python.exists() or subprocess.run([python, "-c", "import onnxruntime"], capture_output=True, check=False).returncode:
        check.that(os.environ.get("CI") != "true", "there is no ONNX Runtime to try libstrew_ep.so with: ./dev setup installs it")
        return
    program = f"""
import sys
import numpy as np
import onnxruntime as ort
ort.register_execution_provider_library("strew", {str(library)!r})
devices = [device for device in ort.get_ep_devices() if device.ep_name == "StrewExecutionProvider"]
options = ort.SessionOptions()
options.log_severity_level = 3
options.add_provider_for_devices(devices, {{"threads": "1"}})
session = ort.InferenceSession({str(ROOT / "tests/models/torch/gnn_dynamic/model.onnx")!r}, options, enable_fallback=0)
arrays = np.load({str(ROOT / "tests/models/torch/gnn_dynamic/tensors.npz")!r})
(result,) = session.run(None, {{f"arg{{number}}": arrays[f"input_{{number}}"] for number in range(2)}})
assert "strew" not in sys.modules
print(len(devices), session.get_providers()[0], np.allclose(result, arrays["output_0"], atol=1e-5))
"""
    found = check.run([python, "-c", program], folder)
    check.that(found == "1 StrewExecutionProvider True\n", f"ONNX Runtime with the installed provider: {found}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    options = parser.parse_args()
    build = options.build.resolve()
    home = build / "install_test"
    shutil.rmtree(home, ignore_errors=True)
    prefix, folder = home / "prefix", home / "elsewhere"
    (folder / "objects").mkdir(parents=True)
    check = Check()
    check.run([options.cmake, "--install", build, "--prefix", prefix], home)
    libraries = next(file.parent for file in prefix.rglob("libstrew.so"))
    modules = libraries / f"strew-{'.'.join(version(build).split('.')[:2])}"
    backends = [backend for backend, file in MODULES.items() if (modules / file).exists()]
    beside = sorted(file.name for file in libraries.glob("*.so*") if not file.name.startswith(("libstrew.so", "libstrew_rt.so")))
    check.that(not beside, f"the folder of libraries also has {beside}, expected them in {modules.name}")
    check.that("llvm" in backends, "libstrew_llvm.so is not installed")
    check.that(("halide" not in backends) or any(prefix.rglob("LICENSE.Halide.txt")), "libHalide.so is installed without its licence")
    check_notices(check, prefix)
    check_files(check, prefix, [build / "bin", build / "lib", ROOT / ".venv"])
    check_contents(check, prefix, [ROOT, build])
    check_consumer(check, options.cmake, prefix, folder, ["runtime", "compiler"])
    check_pkg_config(check, prefix, folder)
    check_kernel_library(check, options.cmake, prefix, folder)
    runtime = home / "runtime"
    check.run([options.cmake, "--install", build, "--component", "runtime", "--prefix", runtime], home)
    check.that([file.name for file in runtime.rglob("*.so*") if not file.is_symlink()] == [f"libstrew_rt.so.{version(build)}"],
               "component runtime has other libraries than libstrew_rt")
    check.that(not any(runtime.rglob("*.h")), "component runtime has headers")
    check.run([options.cmake, "--install", build, "--component", "dev", "--prefix", runtime], home)
    check.that(not any(file.is_symlink() and not file.exists() for file in runtime.rglob("*")), "components runtime and dev have a link that leads nowhere")
    check_consumer(check, options.cmake, runtime, folder, ["runtime"])
    shutil.copy2(build / "lib/libstrew_impostor.so", folder / "libfmt.so.9")
    check_runs(check, prefix / "bin/strew", folder, backends)
    check_npu(check, prefix / "bin/strew", folder, modules)
    check_provider(check, modules / "libstrew_ep.so", folder)
    check.that(not (folder / "IMPOSTOR_WAS_LOADED").exists(), "the installed strew loads libraries from the current folder")
    if check.failures == 0:
        shutil.rmtree(home)
        print(f"installed and used with {', '.join(backends)}")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
