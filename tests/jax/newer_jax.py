#!/usr/bin/env python3
"""The tests of strew.jax with another JAX: that of the python3.12 on PATH (or of STREW_NEWER_PYTHON), since JAX 0.11 and later need Python 3.12.

    newer_jax.py [BUILD]

The Python package is built for it in BUILD-newer_jax, once; ccache knows most of what that compiles. Skipped, with what is missing, where that Python has no JAX, jaxlib, NumPy, nanobind or flatbuffers, or its JAX is the one that the other tests use.
Exit status 0: right, 1: wrong, 77: skipped.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FACTS = "import flatbuffers, jax, jaxlib, nanobind, numpy, pathlib; print(jax.__version__, pathlib.Path(jaxlib.__file__).parent)"
TESTS = (("hook_test.py",), ("handler_test.py",), ("functions_test.py",), ("programs_test.py", "--iterations", "300"))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def build_package(python, jaxlib, folder):
    configure = ["cmake", "--preset", "release", "-B", folder, "-DSTREW_UNITY=ON", f"-DPython_EXECUTABLE={python}", f"-DSTREW_JAXLIB={jaxlib}"]
    subprocess.run(configure, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", "strew_python", "strew_jax", "strew_import_mlir"], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default=str(ROOT / "build"))
    arguments = parser.parse_args()
    python = shutil.which(os.environ.get("STREW_NEWER_PYTHON", "python3.12"))
    if python is None:
        skip("there is no python3.12 on PATH, and STREW_NEWER_PYTHON names none")
    # PYTHONPATH is that of the Python that runs this.
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    asked = subprocess.run([python, "-c", FACTS], capture_output=True, text=True, env=plain)
    if asked.returncode != 0:
        skip(f"{python}: {(asked.stderr.splitlines() or ['it fails'])[-1]}")
    version, jaxlib = asked.stdout.split(maxsplit=1)
    try:
        import jax
        if jax.__version__ == version:
            skip(f"{python} has JAX {version}, which the other tests use")
    except ImportError:
        pass
    build = pathlib.Path(arguments.build).resolve()
    folder = build.with_name(build.name + "-newer_jax")
    build_package(python, jaxlib.strip(), folder)
    failed = []
    for name, *options in TESTS:
        print(f"-- {name}, JAX {version}", flush=True)
        if subprocess.run([python, HERE / name, *options], env=plain | {"PYTHONPATH": str(folder / "python")}).returncode != 0:
            failed.append(name)
    print(f"JAX {version}: failed: {', '.join(failed)}" if failed else f"JAX {version}: right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
