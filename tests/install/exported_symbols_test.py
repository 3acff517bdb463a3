#!/usr/bin/env python3
"""Compares what strew's shared libraries export with cmake/exported_symbols.txt.

    exported_symbols_test.py BUILD            exit 1 and the differences, if there are any, or if libstrew exports more C++ names than MOST
    exported_symbols_test.py BUILD --update   rewrites the list; look at its diff before you commit it

The list has a section per library, "[libstrew.so]", and a line per symbol, demangled. STREW_API (include/strew/export.h) exports a symbol.
"""
import difflib
import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().parents[2] / "cmake/exported_symbols.txt"
LIBRARIES = ("libstrew.so", "libstrew_rt.so", "libstrew_llvm.so", "libstrew_halide.so", "libstrew_pto.so", "libstrew_import_mlir.so", "libstrew_ep.so")
MOST = 266  # C++ names of libstrew.so, 26 of them ProgramBuilder's; the C interface is listed as it is


def exported(library):
    """Demangled names, sorted. A constructor or destructor has two symbols of one name, which stands once."""
    out = subprocess.run(["nm", "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return sorted({line.split(" ", 2)[2] for line in out.splitlines()})


def main():
    build = pathlib.Path(sys.argv[1])
    update = "--update" in sys.argv[2:]
    old = LIST.read_text().splitlines() if LIST.exists() else []
    sections, name = {}, None
    for line in old:
        if line.startswith("["):
            name = line.strip("[]")
            sections[name] = []
        elif line and not line.startswith("#"):
            sections[name].append(line)
    head = [line for line in old if line.startswith("#")]
    now = dict(sections)
    for library in LIBRARIES:
        for file in [*(build / "lib").glob(library), *(build / "lib").glob(f"strew-*/{library}")]:  # a build without Halide has no libstrew_halide
            now[library] = exported(file)
    new = head + [line for library in LIBRARIES if library in now for line in ("", f"[{library}]", *now[library])]
    cpp = sum("::" in name for name in now["libstrew.so"])
    counted = f"libstrew.so exports {cpp} C++ names and {len(now['libstrew.so']) - cpp} C functions"
    if cpp > MOST:
        print(f"{counted}, expected at most {MOST} C++ names")
        return 1
    if update:
        LIST.write_text("\n".join(new) + "\n")
        return 0
    if new == old:
        print(counted)
        return 0
    print("\n".join(difflib.unified_diff(old, new, "cmake/exported_symbols.txt", "the libraries", lineterm="")))
    print("If the change is intended: tests/install/exported_symbols_test.py BUILD --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
