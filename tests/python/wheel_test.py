#!/usr/bin/env python3
"""The wheel of the Python package, made as `./dev wheel` makes it, installed into a fresh virtual environment: it needs nothing of strew's or LLVM's outside
of itself, it answers, and its size is what users can be asked to download.
"""
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 80_000_000
PROGRAM = """
import sys
import numpy as np
import strew

table = np.zeros((3, 2), np.float32)
strew.add_at(table, [0, 2, 0], np.ones((3, 2), np.float32))
assert table.tolist() == [[2, 2], [0, 0], [1, 1]]
op = ("strew1.gather(operand=f32[?,2] indices=i64[?] result=f32[?,2] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,2] oob=error)")
kernel = strew.kernel(op, backend="llvm", compile="blocking")
assert kernel(table, np.array([2])).tolist() == [[1, 1]]
assert kernel.backend == "llvm"
try:
    strew.kernel(op, backend="halide", compile="blocking")
except NotImplementedError as error:
    print(error)
for line in open("/proc/self/maps"):
    path = line.split()[-1]
    if any(part in path for part in ("libLLVM", "libstrew", "_native", "protobuf", "libfmt")):
        assert path.startswith(sys.prefix), path
print("fine")
"""


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        print(" ".join(map(str, command)), result.stdout, result.stderr, sep="\n")
        sys.exit(1)
    return result.stdout


def main():
    try:
        import auditwheel  # noqa: F401 -- whether it is installed
        import scikit_build_core  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        run(ROOT / "dev", "wheel", folder, cwd=ROOT)
        (wheel,) = pathlib.Path(folder).glob("strew-*manylinux*.whl")
        size = wheel.stat().st_size
        print(f"{wheel.name}: {size} bytes")
        if size > MOST_BYTES:
            print(f"larger than {MOST_BYTES} bytes")
            return 1
        fresh = pathlib.Path(folder, "venv")
        run(sys.executable, "-m", "venv", fresh)
        python = fresh / "bin/python3"
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", wheel)
        # NumPy from where this test has it.
        packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        pathlib.Path(packages, "numpy.pth").write_text(sysconfig.get_path("purelib") + "\n")
        output = run(python, "-c", PROGRAM, cwd=folder, env={"HOME": folder, "STREW_CACHE": "off"})
        print(output)
        return 0 if output.endswith("fine\n") else 1


if __name__ == "__main__":
    sys.exit(main())
