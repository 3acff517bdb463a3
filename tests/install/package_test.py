#!/usr/bin/env python3
"""Makes the packages and uses strew from what they hold.

    package_test.py --cpack CPACK --cmake CMAKE --build DIR

The four Debian packages (three, without Halide) name what they need. Unpacked into a folder of their own, as dpkg would into /, the runtime and the development files
are enough to build and run a program with the runtime; with the package of the compiler, examples/kernel_library is built, the program runs, and
manual page and completion are there. The .tar.gz has the same files. Nothing is installed on this machine. Run by ctest (`package`). Exit: 0 right,
1 wrong, 77 skipped: no tools for Debian packages.
"""
import argparse
import gzip
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile

from install_test import Check, ROOT, check_consumer, version


def fields(check, package):
    text = check.run(["dpkg-deb", "-f", package, "Package", "Version", "Depends", "Description"], package.parent)
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith(" "))


def check_fields(check, packages, number):
    short = ".".join(number.split(".")[:2])
    expected = {f"libstrew-rt{short}": ["libc6", "libstdc++6"], "libstrew-dev": [f"libstrew-rt{short} (= {number})"],
                "strew-halide": [f"strew (= {number})"],
                "strew": ["libc6", "libfmt9", "libllvm22", "libmlir-22", "libprotobuf-lite32"]}
    if not any("strew-halide" in name for name in packages):
        del expected["strew-halide"]
    found = {name: fields(check, file) for name, file in packages.items()}
    said = [fields.get("Description") for fields in found.values()]
    check.that(len(set(said)) == len(said), f"packages have one description: {said}")
    check.that(found.keys() == expected.keys(), f"the packages are {sorted(found)}, expected {sorted(expected)}")
    for name, needs in expected.items():
        depends = found.get(name, {}).get("Depends", "")
        missing = [need for need in needs if need not in depends]
        check.that(not missing, f"{name} depends on '{depends}', expected {', '.join(missing)} among it")
        check.that(found.get(name, {}).get("Version") == number, f"{name} has another version than {number}")
    runtime = found[f"libstrew-rt{short}"]["Depends"]
    check.that(not any(word in runtime for word in ["llvm", "mlir", "fmt", "protobuf"]), f"the runtime depends on '{runtime}'")


def unpack(check, packages, names, root):
    for name in names:
        check.run(["dpkg-deb", "-x", packages[name], root], root.parent)
    return root / "usr"


def check_compiler(check, cmake, prefix, folder):
    program = prefix / "bin/strew"
    check.that("strew " in check.run([program, "--version"], folder), "the program does not say its version")
    check.run([program, "check", ROOT / "examples/batched_scatter_add/scatter_add.mlir"], folder)
    check.run([cmake, "-S", ROOT / "examples/kernel_library", "-B", folder / "example", f"-DCMAKE_PREFIX_PATH={prefix}"], folder)
    check.run([cmake, "--build", folder / "example"], folder)
    check.that(check.run([folder / "example/decoder"], folder).count("as expected") == 8, "the example has another result")
    page = gzip.decompress((prefix / "share/man/man1/strew.1.gz").read_bytes()).decode()
    for words in [".TH STREW 1", ".SS strew library", "STREW_THREADS", "\\-\\-emit"]:
        check.that(words in page, f"the manual page has no '{words}'")
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", str(prefix / "share/man/man1/strew.1.gz")], capture_output=True, text=True, check=False,
                              env=dict(os.environ, MANWIDTH="100", LC_ALL="C.UTF-8"))
        check.that(done.returncode == 0 and "warning" not in done.stderr, f"man: {done.stderr}")
    words = "COMP_WORDS=(strew compile --emit as); COMP_CWORD=3; _strew; echo ${COMPREPLY[@]}"
    completion = prefix / "share/bash-completion/completions/strew"
    check.that(check.run(["bash", "-c", f"source {completion}; {words}"], folder).strip() == "asm", "bash does not complete --emit as")
    words = "COMP_WORDS=(strew run --back); COMP_CWORD=2; _strew; echo ${COMPREPLY[@]}"
    check.that(check.run(["bash", "-c", f"source {completion}; {words}"], folder).strip() == "--backend", "bash does not complete --back")
    check.that((prefix / "share/zsh/site-functions/_strew").read_text().startswith("#compdef strew"), "there is no completion for zsh")
    if shutil.which("zsh"):
        check.run(["zsh", "-n", prefix / "share/zsh/site-functions/_strew"], folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpack", required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    options = parser.parse_args()
    missing = [tool for tool in ["dpkg-deb", "dpkg-shlibdeps"] if shutil.which(tool) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} is not installed")
        return 77
    build = options.build.resolve()
    home = build / "package_test"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    check = Check()
    check.run([options.cpack, "--config", build / "CPackConfig.cmake", "-G", "DEB;TGZ", "-B", home], home)
    packages = {file.name.partition("_")[0]: file for file in home.glob("*.deb")}
    number = version(build)
    check_fields(check, packages, number)
    runtime = next(name for name in packages if name.startswith("libstrew-rt"))
    small, whole = home / "small", home / "whole"
    prefix = unpack(check, packages, [runtime, "libstrew-dev"], small)
    check_consumer(check, options.cmake, prefix, home, ["runtime"])
    prefix = unpack(check, packages, packages, whole)
    check_compiler(check, options.cmake, prefix, home)
    for name in packages:
        text = (prefix / "share/doc" / name / "copyright").read_text()
        check.that(text.startswith("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/") and "\nCopyright: 2026 The strew authors\n" in text,
                   f"the copyright of {name} names no holder")
    archives = [file.name for file in home.glob("*.tar.gz")]
    check.that(archives == [f"strew-{number}-linux-{platform.machine()}.tar.gz"], f"the archive is {archives}")
    with tarfile.open(next(home.glob("*.tar.gz"))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    unpacked = {str(file.relative_to(prefix)) for file in prefix.rglob("*") if not file.is_dir()}
    check.that(unpacked <= packed, f"the archive has not all files of the packages: {sorted(unpacked - packed)[:5]}")
    if check.failures == 0:
        shutil.rmtree(home)
        print(f"packaged and used: {', '.join(sorted(packages))}")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
