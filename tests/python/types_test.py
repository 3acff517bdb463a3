#!/usr/bin/env python3
"""The types of the package: mypy accepts it, the stub of the module in C++ says what that has (stubtest), and a program that uses the functions is
checked against their signatures."""
import os
import pathlib
import subprocess
import sys
import tempfile

import strew

# What stubtest does not know of nanobind: its functions are no functions of Python's, and its classes have a metaclass.
NANOBIND = """
strew._native.Memory
strew._native.Memory.__init__
strew._native.Parts
strew._native.Parts.__init__
strew._native.Program
strew._native.build_library
strew._native.clear
strew._native.drain
strew._native.explain
strew._native.make_kernel
strew._native.options
strew._native.set_process_threads
strew._native.set_thread_threads
strew._native.slots
strew._native.splice
strew._native.stats
strew._native.tune_file
strew._native.tune_op
strew._native.wisdom_path
strew._native.count_below
strew._native.csr
strew._native.segment_ids
"""
RIGHT = """
import numpy as np
import strew

table = np.zeros((3, 4))
strew.add_at(table, [0, 1], 1.0, mode="drop")
total = strew.segment_sum(table, [0, 0, 1], num_segments=2)
total += strew.spmm([0, 2], [1, 1], table, reduce="mean", num_rows=3)
total += strew.segment_reduce(table, "max", lengths=[1, 2], initial=0)
bags = strew.embedding_bag([[0, 1]], table, mode="sum", padding_idx=-1, out=None)
kernel: strew.Kernel = strew.kernel("strew1.gather()", threads=2)
with strew.threads(1):
    print(kernel(table, out=None), kernel.inputs[0].upper(), strew.stats()["hits"])
"""
# ONNX Runtime has no types; these are strew's own.
RIGHT_ORT = """
import onnxruntime_ep_strew
import strew.ort

strew.ort.register()
strew.ort.session_options(None, ops=["ScatterND"], threads=2, cache_dir="kernels", verify=0, wisdom=None)
nodes: tuple[strew.ort.NodeReport, ...] = strew.ort.Report((), 0, 0).nodes
print(strew.ort.library_path().upper(), onnxruntime_ep_strew.get_library_path().upper(), onnxruntime_ep_strew.get_ep_names() + [onnxruntime_ep_strew.get_ep_name()])
"""
WRONG = {
    "strew.add_at([0], [0])": "Missing positional argument",
    "strew.take([0], [0], axis='0')": "Argument",
    "strew.spmm([0], [0], [0], num_rows='3')": "Argument",
    "strew.embedding_bag([0], [0], [0], 'sum')": "Too many positional arguments",
    "strew.kernel(3)": "Argument",
    "strew.ort.session_options(threads='2')": "Argument",
    "strew.nothing()": "Module has no attribute",
}


def run(*arguments):
    package = pathlib.Path(strew.__file__).parent.parent
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=package, check=False,
                          env={**os.environ, "MYPYPATH": str(package)})


def main():
    try:
        import mypy  # noqa: F401 -- whether it is installed
    except ImportError:
        print("skipped: no mypy")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "mypy.ini")
        config.write_text(f"[mypy]\ncache_dir = {folder}/cache\nignore_missing_imports = True\n")
        cache = ("--config-file", str(config))
        result = run("mypy", *cache, "-p", "strew")
        if result.returncode:
            failed += 1
            print(result.stdout, result.stderr)
        allowed = pathlib.Path(folder, "allowed")
        allowed.write_text(NANOBIND)
        result = run("mypy.stubtest", "strew._native", "--ignore-missing-stub", "--ignore-disjoint-bases", "--allowlist", str(allowed), "--mypy-config-file", str(config))
        if result.returncode:
            failed += 1
            print(result.stdout, result.stderr)
        result = run("mypy", *cache, "--strict", "--follow-imports=silent", "-m", "strew.ort", "-m", "onnxruntime_ep_strew")
        if result.returncode:
            failed += 1
            print(result.stdout, result.stderr)
        for name, text in (("right", RIGHT), ("right_ort", RIGHT_ORT)):
            right = pathlib.Path(folder, f"{name}.py")
            right.write_text(text)
            result = run("mypy", *cache, "--strict", "--follow-imports=silent", str(right))
            if result.returncode:
                failed += 1
                print(result.stdout, result.stderr)
        wrong = pathlib.Path(folder, "wrong.py")
        wrong.write_text("import strew.ort\n" + "\n".join(WRONG))
        result = run("mypy", *cache, str(wrong))
        for line, message in enumerate(WRONG.values(), 2):
            if not any(f"wrong.py:{line}:" in found and message in found for found in result.stdout.splitlines()):
                failed += 1
                print(f"mypy did not say '{message}' of line {line}:\n{result.stdout}")
    print(f"types_test: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
