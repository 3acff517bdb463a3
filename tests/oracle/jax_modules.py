"""Whole functions as JAX lowers them, through `strew run --oob skip_window`, against JAX's own result on the CPU.

The text goes in as it is: constants, iota, negative-index normalisation, clipping, fill masks, calls to private functions and all.
The kernels run compiled, what stands around them is interpreted. Inputs are random, with indices out of range on both sides and
duplicates. Results must be equal bit for bit; any two NaNs are equal. Sums are of small integers, so that no order of a float
reduction shows.

Exit status 77 when jax is absent. Cases are shuffled and run until --seconds have passed, 40 of them at
least: another seed, other cases.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"
try:
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    from jax import lax
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

jax.config.update("jax_enable_x64", True)
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "f64": np.float64, "f16": np.float16, "i8": np.int8,
          "ui16": np.uint16, "i64": np.int64}
LEAST = 40


class Inputs:
    def __init__(self, rng, dtype):
        self.rng, self.dtype = rng, dtype

    def data(self, *shape):
        return np.array([self.rng.randint(0, 5) for _ in range(int(np.prod(shape)))]).reshape(shape).astype(self.dtype)

    def index(self, *shape, low=-8, high=8, dtype=np.int32):
        return np.array([self.rng.randint(low, high) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)


def programs(make):
    """(label, function, arguments)"""
    x, i, j = make.data(5, 4), make.index(6), make.index(6, dtype=np.int64)
    for method in ("set", "add", "multiply", "min", "max"):
        for mode in ("drop", "clip", "fill"):
            update = lambda x, i, u, m=method, o=mode: getattr(x.at[i], m)(u, mode=o)
            yield f"at.{method} {mode}", update, (x, i, make.data(6, 4))
        yield f"at[i,j].{method}", lambda x, i, j, u, m=method: getattr(x.at[i, j], m)(u), (x, i, j, make.data(6))
        rows = lambda x, i, u, m=method: getattr(x.at[i], m)(u)
        yield f"vmap at.{method}", jax.vmap(rows), (make.data(3, 5, 4), make.index(3, 2), make.data(3, 2, 4))
        yield (f"vmap indices at.{method}", jax.vmap(lambda x, i, u, m=method: getattr(x.at[:, i], m)(u), in_axes=(None, 0, 0)),
               (x, make.index(3, 2), make.data(3, 5, 2)))
    yield "at[i].set scalar", lambda x, i: x.at[i].set(1), (x, make.index(6))
    yield "at[1:3, i].add", lambda x, i, u: x.at[1:3, i].add(u), (x, make.index(3), make.data(2, 3))
    yield "at.apply", lambda x, i: x.at[i].apply(lambda v: jnp.where(v > 1, v, v + v)), (x, i)
    for mode in ("clip", "fill"):
        yield f"at.get {mode}", lambda x, i, o=mode: x.at[i].get(mode=o), (x, i)
        yield f"take {mode}", lambda x, i, o=mode: jnp.take(x, i, axis=1, mode=o), (x, i)
        yield f"take_along_axis {mode}", lambda x, i, o=mode: jnp.take_along_axis(x, i, axis=0, mode=o), (x, make.index(2, 4))
    yield "get fill_value", lambda x, i, j: x.at[i, j].get(mode="fill", fill_value=3), (x, i, j)
    yield "x[i]", lambda x, i: x[i], (x, make.index(3, 2, low=-5, high=4))
    yield "x[:, i, None]", lambda x, i: x[:, i, None], (x, make.index(3, low=-4, high=3))
    yield "x[i[::2]].T", lambda x, i: x[i[::2]].T, (x, make.index(6, low=-5, high=4))
    for f in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_min, jax.ops.segment_max):
        yield f.__name__, lambda u, i, f=f: f(u, i, num_segments=4), (make.data(6, 2), make.index(6))
    yield ("dynamic_update_slice", lambda x, u, s, t: lax.dynamic_update_slice(x, u, (s, t)),
           (x, make.data(2, 3), make.index(), make.index()))
    yield "dynamic_slice", lambda x, s: lax.dynamic_slice(x, (s, s), (2, 2)), (x, make.index())
    yield "vmap dynamic_slice", jax.vmap(lambda x, s: lax.dynamic_slice_in_dim(x, s, 2)), (x, make.index(5))
    yield ("vmap dynamic_update_slice", jax.vmap(lambda x, u, s: lax.dynamic_update_slice_in_dim(x, u, s, 0)),
           (x, make.data(5, 2), make.index(5)))
    yield "gather, scatter", lambda x, i, j: x.at[j].add(x[i]), (x, make.index(6, low=-5, high=4), j)
    yield "maximum around", lambda x, i: jnp.maximum(x, 1).at[i].set(jnp.sum(x, axis=0, dtype=x.dtype)), (x, i)
    yield "one hot rows", lambda i: jnp.zeros((6, 5), make.dtype).at[jnp.arange(6), i].set(1), (i,)
    yield "concatenated", lambda x, i: jnp.concatenate([x, x[i]]).reshape(4, -1), (x, make.index(3, low=-5, high=4))
    yield "masked", lambda x, i, u: x.at[jnp.where(i % 2 == 0, i, 100)].set(u, mode="drop"), (x, i, make.data(6, 4))


def save(path, array):
    np.save(path, array.view("V2") if array.dtype == ml_dtypes.bfloat16 else array)


def same(got, want):
    if got.shape != want.shape or got.dtype.itemsize != want.dtype.itemsize:
        return False
    got = got.view(want.dtype)
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[want.dtype.itemsize]
    equal = np.atleast_1d(got).view(bits) == np.atleast_1d(want).view(bits)
    if want.dtype.kind in "fV":
        equal |= np.isnan(np.atleast_1d(got).astype(np.float64)) & np.isnan(np.atleast_1d(want).astype(np.float64))
    return bool(np.all(equal))


def check(program, folder, function, arguments):
    """None, or what is wrong."""
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    text, path = lowered.as_text(), os.path.join(folder, "module.mlir")
    want = np.ascontiguousarray(np.asarray(lowered.compile()(*arguments)))
    with open(path, "w") as file:
        file.write(text)
    names = [os.path.join(folder, f"in{k}.npy") for k in range(len(arguments))]
    for name, array in zip(names, arguments):
        save(name, array)
    output = os.path.join(folder, "out.npy")
    command = [program, "run", path, "--input", *names, "--output", output, "--verify"]
    if "stablehlo.scatter" in text:
        command += ["--oob", "skip_window"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return f"{done.stderr.strip()}\n{text}"
    got = np.ascontiguousarray(np.load(output))
    return None if same(got, want) else f"{text}\ninputs {arguments}\nstrew {got.view(want.dtype)}\nJAX   {want}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--strew", required=True)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=80)
    arguments.add_argument("--dtypes", default=",".join(DTYPES))
    options = arguments.parse_args()
    end, ran, failures = time.monotonic() + options.seconds, 0, []
    rng = random.Random(options.seed)
    cases = [(dtype, *program) for dtype in options.dtypes.split(",") for program in programs(Inputs(rng, DTYPES[dtype]))]
    rng.shuffle(cases)
    with tempfile.TemporaryDirectory() as folder:
        for dtype, label, function, inputs in cases:
            if time.monotonic() > end and ran >= LEAST:
                break
            ran += 1
            wrong = check(options.strew, folder, function, inputs)
            if wrong:
                failures.append(f"{label} {dtype}: {wrong}")
    for message in failures[:10]:
        print(message, "\n")
    print(f"seed {options.seed}: {ran} functions of JAX, {len(failures)} wrong")
    return 1 if failures or ran < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
