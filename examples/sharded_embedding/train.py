#!/usr/bin/env python3
"""Trains an embedding table that no process holds: its rows are divided among the processes, and so are the bags of a batch. With 1, 2 and 4 processes the table has the same bits.

    train.py [BUILD] [--processes 1,2,4] [--full] [--steps N] [--limit SECONDS]

A step looks the rows of each bag up and sums them (`strew.jax.embedding_bag`), compares the sums with targets, and adds the gradient to the rows by Adagrad, in the place of the old ones. Each process makes its
own rows and its own bags; they meet over gloo on this machine. What is printed: a hash of all rows, the time of the fastest step, and the bytes that the processes sent each other in a step, beside two bounds: what would
move if every process got the whole table and the gradients of all rows (all-gather and reduce-scatter), and the least: each row once to each process that has bags with it, and each bag's gradient once to each
process that has rows of the bag.

If a process fails, or the time is up, all end and the exit status is 1, as with other bits. Run by ctest as jax_processes. `--full`: 400,000 rows of 64. 77: there is no JAX.
"""
import argparse
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

try:
    import jax
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import strew.jax

SMALL, FULL = (20_000, 16, 1_024, 8), (400_000, 64, 16_384, 32)  # rows, numbers in a row, bags, rows of a bag
RATE = np.float32(0.1)


def drawn(*counts):
    """Numbers in [0, 1) that depend on the counts alone, so that each process can make its part of an array."""
    state = np.uint64(0)
    for count in counts:
        state = (state ^ np.asarray(count, np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        state = state ^ (state >> np.uint64(29))
        state = state * np.uint64(0xBF58476D1CE4E5B9)
        state = state ^ (state >> np.uint64(32))
    return (state >> np.uint64(11)).astype(np.float64) / 2.0**53


def made(shape, sharding, value):
    """An array of which each process makes the part that it holds, from the numbers of the places."""
    return jax.make_array_from_callback(shape, sharding, lambda part: value(*np.meshgrid(*(np.arange(n)[p] for n, p in zip(shape, part, strict=True)), indexing="ij", sparse=True)))


def step(table, seen, indices, targets):
    """The table and Adagrad's sums of squares after a step."""
    def loss(table):
        return ((strew.jax.embedding_bag(table, indices) - targets) ** 2).sum() / (2 * targets.shape[0])

    error, gradient = jax.value_and_grad(loss)(table)
    seen = seen + gradient * gradient
    return table - RATE * gradient / jnp.sqrt(seen + 1e-8), seen, error


def sent_bytes():
    """What went through the loopback interface so far; None where the system does not say."""
    try:
        lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split(":")[1].split()[8]) for line in lines if line.strip().startswith("lo:")), None)


def addresses(*arrays):
    return [shard.data.unsafe_buffer_pointer() for array in arrays for shard in array.addressable_shards]


def work(options):
    """One process. Its last line has its part of the hash, whether rows stayed where they lie, the seconds of the fastest step, bytes sent in a step, and the rows that have to move from and to it."""
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 1)
    if options.of > 1:
        jax.distributed.initialize(f"127.0.0.1:{options.port}", options.of, options.process, initialization_timeout=60)
    rows, width, bags, length = FULL if options.full else SMALL
    mesh = Mesh(np.array(jax.devices()), ("processes",))
    divided = NamedSharding(mesh, P("processes"))
    table = made((rows, width), divided, lambda row, place: (drawn(row, place, 0) - 0.5).astype(np.float32))
    seen = made((rows, width), divided, lambda row, place: np.zeros((row.size, place.size), np.float32))
    targets = made((bags, width), divided, lambda bag, place: (drawn(bag, place, 1) - 0.5).astype(np.float32))
    # Some rows are met more often than others.
    batches = [made((bags, length), divided, lambda bag, place, k=k: (drawn(bag, place, 2 + k) ** 1.1 * rows).astype(np.int32)) for k in range(options.steps)]
    compiled = jax.jit(step, donate_argnums=(0, 1), out_shardings=(divided, divided, NamedSharding(mesh, P()))).lower(table, seen, batches[0], targets).compile()
    before, in_place, elsewhere, seconds = None, True, 0, []
    for number, indices in enumerate(batches):
        if number == 1:
            before = sent_bytes()
        if options.die == number and options.process == options.of - 1:
            os.kill(os.getpid(), signal.SIGKILL)
        lie, started = addresses(table, seen), time.perf_counter()
        table, seen, error = compiled(table, seen, indices, targets)
        jax.block_until_ready(table)
        seconds.append(time.perf_counter() - started)
        in_place &= number == 0 or sorted(addresses(table, seen)) == sorted(lie)  # the first arrays are NumPy's memory
        needed = np.asarray(indices.addressable_shards[0].data)
        owner = needed // (rows // options.of)
        elsewhere += np.unique(needed[owner != options.process]).size  # rows that come here
        elsewhere += sum(int((owner == other).any(1).sum()) for other in range(options.of) if other != options.process)  # gradients of bags that go there
    moved = -1 if before is None else (sent_bytes() - before) // (options.steps - 1)
    part = np.asarray(table.addressable_shards[0].data)
    first = table.addressable_shards[0].index[0].start or 0
    words = part.view(np.uint32).astype(np.uint64)
    places = np.arange(first * width, first * width + words.size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    digest = int((words.ravel() * places).sum())  # modulo 2**64, whoever has which rows
    print(f"process {options.process}: {len(part)} rows of {rows}, error {float(error):.6f}", flush=True)
    print("result", digest, int(in_place), f"{min(seconds[1:]):.6f}", moved, elsewhere // options.steps, flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def launch(count, options):
    """The last lines of so many processes. All have ended when it returns; None: one failed, or the time was up."""
    command = [sys.executable, __file__, "--of", str(count), "--port", str(free_port()), "--steps", str(options.steps), "--die", str(options.die)] + ["--full"] * options.full
    processes = [subprocess.Popen([*command, "--process", str(number)], stdout=subprocess.PIPE, text=True) for number in range(count)]
    end = time.monotonic() + options.limit
    try:
        while any(process.poll() is None for process in processes):
            if any(process.poll() not in (None, 0) for process in processes):
                print(f"{count} processes: one failed")
                return None
            if time.monotonic() > end:
                print(f"{count} processes: not done after {options.limit} s")
                return None
            time.sleep(0.05)
        texts = [process.communicate()[0].splitlines() for process in processes]
        if any(process.returncode for process in processes):
            print(f"{count} processes: one failed")
            return None
    finally:
        for process in processes:
            process.kill()
            process.wait()
    for text in texts:
        print("\n".join(text[:-1]))
    return [text[-1].split()[1:] for text in texts]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--processes", default="1,2,4", help="the numbers of processes, each a run")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a run")
    parser.add_argument("--die", type=int, default=-1, help="the step at which the last process ends, to see what becomes of the others")
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--of", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.process is not None:
        work(options)
        return 0
    counts = [int(count) for count in options.processes.split(",")]
    rows, width, bags, length = FULL if options.full else SMALL
    wrong = [count for count in counts if count < 1 or rows % count or bags % count]
    if wrong or options.steps < 2:
        print(f"--processes is {options.processes} and --steps {options.steps}, expected divisors of {rows} rows and {bags} bags, and at least 2 steps")
        return 1
    hashes, right = set(), True
    for count in counts:
        results = launch(count, options)
        if results is None:
            return 1
        digest = sum(int(result[0]) for result in results) % 2**64
        hashes.add(digest)
        right &= all(result[1] == "1" for result in results)
        moved, ideal = max(int(result[3]) for result in results), sum(int(result[4]) for result in results) * 4 * width
        gathered = 2 * (count - 1) * rows * 4 * width
        seconds = max(float(result[2]) for result in results)
        print(f"{count} processes: hash {digest:016x}, {seconds * 1e3:.1f} ms for a step, rows {'in place' if right else 'COPIED'}, sent a step: {moved / 1e6:.2f} MB, all-gather {gathered / 1e6:.2f} MB, ideal {ideal / 1e6:.2f} MB", flush=True)
    print("the same bits" if len(hashes) == 1 else "OTHER BITS")
    return 0 if right and len(hashes) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
