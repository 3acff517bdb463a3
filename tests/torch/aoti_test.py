#!/usr/bin/env python3
"""examples/torch_aoti: a layer is exported and compiled ahead of time, strew's operator is in the package, and a program in C++ without Python runs it, with eager PyTorch's results.

    aoti_test.py

Exit status 0: right, 1: wrong.
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import torch

import strew.torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "torch_aoti"


def main():
    version = ".".join(torch.__version__.split(".")[:2])
    library = pathlib.Path(strew.__file__).parent / "torch_kernels" / f"libstrew_torch-{version}.so"
    root = pathlib.Path(torch.__file__).parent
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        subprocess.run([sys.executable, str(EXAMPLE / "export.py"), str(folder)], check=True)
        with zipfile.ZipFile(folder / "layer.pt2") as package:
            calls = [package.read(name).decode() for name in package.namelist() if name.endswith("wrapper.json")]
        if sum(text.count('"strew::op"') for text in calls) != 1:
            print("FAILED the package does not call strew's operator once")
            return 1
        made = folder / "build"
        subprocess.run(["cmake", "-S", str(EXAMPLE), "-B", str(made), f"-DTORCH={root}"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", str(made)], check=True, stdout=subprocess.DEVNULL)
        return subprocess.run([str(made / "run"), str(folder), str(library)], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
