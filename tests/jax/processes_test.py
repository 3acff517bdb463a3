#!/usr/bin/env python3
"""strew.jax's functions on arrays that 2 and 4 processes hold (jax.distributed, gloo on loopback), against one process, bit for bit; and examples/sharded_embedding: the same table with 1, 2 and 4 processes, and
an end instead of a hang where a process dies.

    processes_test.py [BUILD]

Exit status 0: right, 1: wrong, 77: there is no JAX, strew was built without it, or the system refuses loopback connections.
"""
import argparse
import pathlib
import pickle
import socket
import subprocess
import sys
import tempfile

import sharding_test  # which ends this process, too, without JAX
import jax
import numpy as np
from jax.sharding import Mesh

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "sharded_embedding" / "train.py"
LIMIT = 120  # seconds for what takes ten
# Name and whether most edges are of one process's rows.
CASES = {2: (("spmm weighted float32", True),), 4: (("spmm weighted float32", False), ("kv_append slots", False))}
LAYOUT = {letter: "x" for letter in "esrt"}


def place(array, sharding):
    return jax.make_array_from_callback(array.shape, sharding, lambda part: np.asarray(array)[part])


def cases(count):
    for name, skewed in CASES[count]:
        yield next(case for case in sharding_test.cases(np.random.default_rng(5), skewed) if case.name == name)


def work(process, count, port, expected):
    """The cases on a mesh of all processes' devices; each process compares the parts that it has with what one device gave."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 1)
    jax.distributed.initialize(f"127.0.0.1:{port}", count, process, initialization_timeout=60)
    mesh, wrong, done = Mesh(np.array(jax.devices()), ("x",)), 0, 0
    for case, results_of in zip(cases(count), pickle.loads(pathlib.Path(expected).read_bytes()), strict=True):
        function, dims, results = case.with_gradients()
        placed = [place(a, sharding_test.sharding(mesh, d, LAYOUT)) for a, d in zip((case.cotangent(), *case.arguments), dims, strict=True)]
        got = jax.jit(function, out_shardings=tuple(sharding_test.sharding(mesh, d, LAYOUT) for d in results))(*placed)
        for number, a, b in zip(("result", *case.numbers), got, results_of, strict=True):
            if number != "result" and number not in case.exact:
                continue
            done += 1
            for shard in a.addressable_shards:
                if np.asarray(shard.data).tobytes() != b[shard.index].tobytes():
                    wrong += 1
                    print(f"{count} processes, process {process}, {case.name}, {number}: it differs", flush=True)
    print(f"process {process} of {count}: {done} results, {wrong} wrong", flush=True)
    return 1 if wrong or not done else 0


def free_port():
    """None: loopback is refused."""
    try:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            with socket.create_connection(listener.getsockname(), timeout=5):
                return listener.getsockname()[1]
    except OSError:
        return None


def check_processes(count, folder):
    expected = pathlib.Path(folder, f"expected{count}")
    expected.write_bytes(pickle.dumps([jax.tree.map(np.asarray, jax.jit(case.with_gradients()[0])(case.cotangent(), *case.arguments)) for case in cases(count)]))
    command = [sys.executable, __file__, "--of", str(count), "--port", str(free_port()), "--expected", str(expected)]
    processes = [subprocess.Popen([*command, "--process", str(number)]) for number in range(count)]
    try:
        return sum(process.wait(LIMIT) != 0 for process in processes)
    except subprocess.TimeoutExpired:
        print(f"{count} processes: not done after {LIMIT} s")
        return 1
    finally:
        for process in processes:
            process.kill()
            process.wait()


def check_example():
    wrong = 0
    result = subprocess.run([sys.executable, EXAMPLE, "--steps", "3"], capture_output=True, text=True, timeout=LIMIT, check=False)
    lines = [line for line in result.stdout.splitlines() if " processes: hash " in line]
    if result.returncode or len(lines) != 3 or "the same bits" not in result.stdout or not all("in place" in line for line in lines):
        print("the example failed", result.stdout, result.stderr)
        wrong += 1
    result = subprocess.run([sys.executable, EXAMPLE, "--processes", "2", "--die", "1"], capture_output=True, text=True, timeout=LIMIT, check=False)
    if result.returncode != 1 or "2 processes: one failed" not in result.stdout:
        print(f"a process died, and the example ended with {result.returncode}", result.stdout, result.stderr)
        wrong += 1
    result = subprocess.run([sys.executable, EXAMPLE, "--processes", "3"], capture_output=True, text=True, timeout=LIMIT, check=False)
    if result.returncode != 1 or "--processes is 3 and" not in result.stdout:
        print("3 processes were not refused", result.stdout, result.stderr)
        wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--process", type=int)
    parser.add_argument("--of", type=int)
    parser.add_argument("--port", type=int)
    parser.add_argument("--expected")
    options = parser.parse_args()
    if options.process is not None:
        return work(options.process, options.of, options.port, options.expected)
    if free_port() is None:
        print("skipped: the system refuses connections to 127.0.0.1")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        wrong = sum(check_processes(count, folder) for count in CASES)
    wrong += check_example()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
