#!/usr/bin/env python3
"""Compiles kernels for AArch64 on this machine and runs them in an emulator.

    cross_test.py --cmake CMAKE --build BUILD [--seed N] [--iterations M]

The differential test (tests/differential) writes the kernels of its random ops, of all strategies and both code generators, to a manifest;
`strew library` compiles them for three CPUs; the test itself, the reference and the runtime are cross-compiled and linked with them, and run under
qemu-user, on two emulated CPUs: one with SVE and one without. Then examples/kernel_library, a project of its own, is cross-compiled against the
installed runtime for AArch64, and run on both; and so is the program that calls a library as TVM-FFI does. Run by ctest (`cross`). Exit: 0 right,
1 wrong, 77 skipped: no cross compiler or no emulator.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["aarch64-linux-gnu-g++", "qemu-aarch64"]
TARGETS = "generic,armv8.2-a,armv8.2-a+sve"
# What the emulated CPUs run: the names are QEMU's.
CPUS = {"neoverse-n1": "generic,armv8.2-a", "max,sve128=on,sve256=off,sve512=off": TARGETS, "max": TARGETS}
TOOLCHAIN = ROOT / "cmake/aarch64-linux-gnu.cmake"
STRATEGIES = ["sequential", "positions", "window", "owner", "radix", "runs", "clip", "private"]


def run(*command, **environment):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(os.environ, **environment))
    if done.returncode != 0:
        print(f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        sys.exit(1)
    return done.stdout


def emulate(cpu, program, *arguments, **environment):
    return run("qemu-aarch64", "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu", program, *arguments, **environment)


def differential(options, folder):
    """Every CPU has a seed of its own, because a kernel that a smaller CPU runs is another one."""
    build, strew = options.build, options.build / "bin/strew"
    seeds = {cpu: options.seed + i for i, cpu in enumerate(CPUS)}
    manifest = folder / "kernels.json"
    share = ["--iterations", options.iterations]
    kernels = []
    for cpu, seed in seeds.items():
        run(build / "bin/strew_differential", "--seed", seed, *share, "--targets", CPUS[cpu], "--write-manifest", manifest)
        kernels += re.findall(r'^\{"name": "k\d+", (.*)\}', manifest.read_text(), re.MULTILINE)
    names = [f'{{"name": "k{i}", {kernel}}}' for i, kernel in enumerate(kernels)]
    manifest.write_text('{"library": "differential_kernels", "kernels": [\n' + ",\n".join(names) + "\n]}\n")
    run(strew, "library", manifest, "-o", folder / "kernels", "--target", TARGETS)
    version = run(strew, "--version").strip().split(", build ")[0]  # the id of the build is no part of a kernel's symbol
    halide = "ON" if any((build / "lib").glob("strew-*/libstrew_halide.so")) else "OFF"
    cross = folder / "build"
    run(options.cmake, "-S", ROOT, "-B", cross, "-G", "Ninja", "--toolchain", TOOLCHAIN, "-DSTREW_RUNTIME_ONLY=ON",
        f"-DSTREW_CROSS_KERNELS={folder / 'kernels'}", f"-DSTREW_GENERATOR_VERSION={version}", f"-DSTREW_CROSS_HALIDE={halide}")
    run(options.cmake, "--build", cross)
    reports = ""
    for cpu, seed in seeds.items():
        report = emulate(cpu, cross / "bin/strew_differential", "--seed", seed, *share, "--targets", CPUS[cpu])
        if "clean" not in report.splitlines()[-1]:
            print(report)
            sys.exit(1)
        reports += report
    # What ran on several threads, summed up over the CPUs; sequential kernels run on one.
    for strategy in STRATEGIES:
        lines = re.findall(rf"^{strategy} .*", reports, re.MULTILINE)
        counts = [int(count) for line in lines for count in re.findall(r"(?:[2358]|1) threads \d+/\d+ \((\d+)\)", line)]
        if sum(counts) == 0:
            print(f"no kernel of strategy {strategy} ran; take more iterations")
            sys.exit(1)
    calls = sum(int(number) for number in re.findall(r"(\d+) calls on", reports))
    print(f"seed {options.seed}: {len(kernels)} kernels for {TARGETS}, {calls} calls on {len(CPUS)} emulated CPUs: the bits of the reference there")
    return cross


def example(options, cross, folder):
    runtime = folder / "runtime"
    run(options.cmake, "--install", cross, "--prefix", runtime)
    for generator in ["Ninja", "Unix Makefiles"]:
        build = folder / f"example_{generator[0]}"
        run(options.cmake, "-S", ROOT / "examples/kernel_library", "-B", build, "-G", generator, "--toolchain", TOOLCHAIN, f"-DCMAKE_PREFIX_PATH={runtime}",
            f"-DCMAKE_FIND_ROOT_PATH={runtime}", f"-DSTREW_PROGRAM={options.build / 'bin/strew'}")
        run(options.cmake, "--build", build)
    for cpu in ["cortex-a57", "neoverse-n1", "max"]:
        text = emulate(cpu, build / "decoder")
        if text.count("as expected") != 8:
            print(f"on {cpu} the example prints\n{text}")
            sys.exit(1)
    print(text)


def tvm_ffi(options, folder):
    """The functions of a library that TVM-FFI calls (tests/library), with the runtime that example() installed."""
    kernels, runtime, program = folder / "tvm_ffi", folder / "runtime", folder / "tvm_ffi_program"
    run(options.build / "bin/strew", "library", ROOT / "tests/library/tvm_ffi.json", "-o", kernels, "--arch", "aarch64")
    libraries = next(runtime.rglob("libstrew_rt.so")).parent
    run("aarch64-linux-gnu-gcc", "-std=gnu11", "-rdynamic", "-o", program, ROOT / "tests/library/tvm_ffi.c", f"-I{kernels}", f"-I{ROOT}", f"-I{ROOT}/include",
        f"-L{kernels}", "-ltvm_kernels", f"-L{libraries}", "-lstrew_rt", f"-Wl,-rpath,{libraries}")
    for cpu in CPUS:
        emulate(cpu, program)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--iterations", type=int, default=100)
    options = parser.parse_args()
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} is not installed")
        return 77
    options.build = options.build.resolve()
    folder = options.build / "cross_test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    print(f"seed {options.seed}")
    cross = differential(options, folder)
    example(options, cross, folder)
    tvm_ffi(options, folder)
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
