#!/usr/bin/env python3
"""strew.jax's functions against their definitions in plain jax.numpy, bit for bit: values, gradients, gradients of gradients, under jit, vmap, scan, grad of vmap and shard_map; what is one call of
strew, and in place; arguments that do not fit.

    functions_test.py [--iterations N]

Exit status 0: right, 1: wrong, 77: there is no JAX, or strew was built without it.
"""
import argparse
import os
import re
import sys

os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")

from modes import jax, np

import jax.numpy as jnp
from jax import lax

from strew.jax import functions


DTYPES = (("float32", "bfloat16"), ("float64", "float16"))  # by the number of the iteration


def weighted(rows, weight):
    return rows if weight is None else rows * weight.reshape(weight.shape + (1,) * (rows.ndim - weight.ndim))


def spmm(dst, src, table, weight=None, *, num_rows):
    return jnp.zeros((num_rows, *table.shape[1:]), table.dtype).at[dst].add(weighted(table.at[src].get(mode="clip"), weight))


def embedding_bag(table, indices, *, weights=None, mode="sum", padding_idx=None):
    is_row = jnp.ones(indices.shape, bool) if padding_idx is None else indices != padding_idx
    bags = jnp.where(is_row, jnp.arange(len(indices))[:, None], len(indices))
    total = spmm(bags.ravel(), indices.ravel(), table, None if weights is None else weights.ravel(), num_rows=len(indices))
    if mode == "mean":
        counts = indices.shape[1] if padding_idx is None else jnp.maximum((indices != padding_idx).sum(1, keepdims=True), 1)
        total = total / jnp.asarray(counts, table.dtype)
    return total


def kv_append(cache, index, values, *, dim=None):
    if dim is None:
        slots = cache.reshape(-1, *values.shape[1:])
        return slots.at[jnp.where(index < 0, len(slots), index)].set(values).reshape(cache.shape)
    sequences = [lax.dynamic_update_slice_in_dim(cache[b], values[b], index[b], dim - 1) for b in range(len(cache))]
    return jnp.stack(sequences)


def cases(rng, dtypes):
    """Name, strew's function, the definition, arguments, and the numbers of those with gradients. The gradient of weights is XLA's, whose last bits depend on what it fuses: it comes last."""
    def floats(*shape, dtype=np.float32):
        return rng.standard_normal(shape).astype(dtype)

    def ints(bound, *shape, low=0):
        return rng.integers(low, bound, shape).astype(np.int32)

    for dtype in dtypes:
        ids, table, weight = ints(12, 60, low=-2), floats(20, 6), floats(60)
        table, weight = jnp.asarray(table, dtype), jnp.asarray(weight, dtype)
        data = jnp.asarray(floats(60, 3), dtype)
        src = ints(22, 60, low=-1)
        yield f"segment_sum {dtype}", lambda d, i: functions.segment_sum(d, i, 10), lambda d, i: jax.ops.segment_sum(d, i, 10), (data, ids), (0,)
        yield f"spmm {dtype}", lambda d, s, t: functions.spmm(d, s, t, num_rows=10), lambda d, s, t: spmm(d, s, t, num_rows=10), (ids, src, table), (2,)
        yield f"spmm weighted {dtype}", lambda d, s, t, w: functions.spmm(d, s, t, w, num_rows=10), lambda d, s, t, w: spmm(d, s, t, w, num_rows=10), (ids, src, table, weight), (2, 3)
        bags = ints(20, 9, 4)
        for mode in ("sum", "mean"):
            yield (f"embedding_bag {mode} {dtype}", lambda t, i, m=mode: functions.embedding_bag(t, i, mode=m, padding_idx=3), lambda t, i, m=mode: embedding_bag(t, i, mode=m, padding_idx=3),
                   (table, bags), ())
        yield (f"embedding_bag weighted {dtype}", lambda t, i, w: functions.embedding_bag(t, i, weights=w), lambda t, i, w: embedding_bag(t, i, weights=w),
               (table, bags, jnp.asarray(floats(9, 4), dtype)), ())
        cache, slots = jnp.asarray(floats(3, 4, 2, 5), dtype), rng.permutation(np.array([-1, -1, 0, 5, 11, 7], np.int32))
        yield f"kv_append slots {dtype}", lambda c, i, v: functions.kv_append(c, i, v), kv_append, (cache, slots, jnp.asarray(floats(6, 2, 5), dtype)), (0, 2)
        yield (f"kv_append sequences {dtype}", lambda c, i, v: functions.kv_append(c, i, v, dim=2), lambda c, i, v: kv_append(c, i, v, dim=2),
               (cache, ints(3, 3), jnp.asarray(floats(3, 4, 1, 5), dtype)), (0, 2))
    heads = (ints(10, 60), ints(20, 60), floats(20, 3, 4), floats(60, 3))
    yield "spmm heads", lambda d, s, t, w: functions.spmm(d, s, t, w, num_rows=10), lambda d, s, t, w: spmm(d, s, t, w, num_rows=10), heads, (2, 3)
    yield "segment_sum int32", lambda d, i: functions.segment_sum(d, i, 10), lambda d, i: jax.ops.segment_sum(d, i, 10), (ints(99, 60), ints(10, 60)), ()


class Failures(list):
    def same(self, what, got, expected):
        got, expected = jax.tree.leaves(got), jax.tree.leaves(expected)
        for number, (a, b) in enumerate(zip(got, expected, strict=True)):
            a, b = np.asarray(a), np.asarray(b)
            if (a.dtype, a.shape) != (b.dtype, b.shape):
                self.append(f"{what}: result {number} is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}")
            elif a.tobytes() != b.tobytes():
                wrong = np.flatnonzero(np.frombuffer(a.tobytes(), np.uint8) != np.frombuffer(b.tobytes(), np.uint8))[0] // a.itemsize
                self.append(f"{what}: result {number} differs, first at {wrong}: {a.ravel()[wrong]!r}, expected {b.ravel()[wrong]!r}")

    def refuses(self, what, call, *parts):
        try:
            call()
        except (TypeError, ValueError) as error:
            for part in parts:
                if part not in str(error):
                    self.append(f"{what}: '{error}' lacks '{part}'")
        else:
            self.append(f"{what}: it was not refused")


def gradients_of(function, arguments, numbers):
    """The cotangents of a sum that depends on the values."""
    def loss(*given):
        return (jnp.sin(function(*given).astype(jnp.float64))).sum()

    return jax.grad(loss, argnums=numbers), arguments


def check(failures, name, ours, plain, arguments, numbers):
    failures.same(f"{name}, eager", ours(*arguments), jax.jit(plain)(*arguments))
    compiled = jax.jit(ours).lower(*arguments).compile()
    failures.same(f"{name}, jit", compiled(*arguments), jax.jit(plain)(*arguments))
    calls = len(re.findall(r'custom_call_target="strew"', compiled.as_text()))
    if calls != 1:
        failures.append(f"{name}: {calls} calls of strew, expected 1")
    batch = tuple(jnp.stack([a, jnp.flip(jnp.asarray(a), 0)]) for a in arguments)
    failures.same(f"{name}, vmap", jax.jit(jax.vmap(ours))(*batch), jax.jit(jax.vmap(plain))(*batch))
    last = (None,) * (len(arguments) - 1) + (0,)
    failures.same(f"{name}, vmap of the last", jax.jit(jax.vmap(ours, last))(*arguments[:-1], batch[-1]), jax.jit(jax.vmap(plain, last))(*arguments[:-1], batch[-1]))
    if not numbers:
        return
    ours_grad, _ = gradients_of(ours, arguments, numbers)
    plain_grad, _ = gradients_of(plain, arguments, numbers)
    for what, got, expected in (("grad", jax.jit(ours_grad)(*arguments), jax.jit(plain_grad)(*arguments)),
                                ("vmap of grad", jax.jit(jax.vmap(ours_grad))(*batch), jax.jit(jax.vmap(plain_grad))(*batch))):
        if "weighted" in name or "heads" in name:
            limit = 8 * float(jnp.finfo(got[-1].dtype).eps)
            if not np.allclose(np.float64(got[-1]), np.float64(expected[-1]), rtol=limit, atol=limit):
                failures.append(f"{name}, {what}: the gradient of the weights is another")
            got, expected = got[:-1], expected[:-1]
        failures.same(f"{name}, {what}", got, expected)


def check_second(failures):
    """Gradients of gradients."""
    rng = np.random.default_rng(2)
    for name, ours, plain, arguments, numbers in cases(rng, ["float64"]):
        if not numbers or arguments[-1].dtype != np.float64:
            continue

        def second(function, arguments=arguments, numbers=numbers):
            def first(*given):
                return sum((g * jnp.cos(g)).sum() for g in gradients_of(function, arguments, numbers)[0](*given))

            return jax.jit(jax.grad(first, argnums=numbers))(*arguments)

        for a, b in zip(second(ours), second(plain), strict=True):
            if not np.allclose(a, b, rtol=1e-12, atol=1e-14):
                failures.append(f"{name}: the gradient of the gradient is another")


def check_places(failures):
    """In loops and on several devices; where the cache is donated, it is written to."""
    rng = np.random.default_rng(3)
    cache, values = jnp.asarray(rng.standard_normal((64, 8)).astype(np.float32)), jnp.asarray(rng.standard_normal((4, 8)).astype(np.float32))

    def steps(append):
        def step(carry, k):
            return append(carry, (k * 4 + jnp.arange(4, dtype=jnp.int32)) % 64, values * k), k

        return jax.jit(lambda c: lax.scan(step, c, jnp.arange(20, dtype=jnp.int32)), donate_argnums=0)

    expected = steps(kv_append)(cache + 0)
    compiled = steps(functions.kv_append).lower(cache).compile()
    failures.same("scan", compiled(cache + 0), expected)
    copies = len(re.findall(r"= f32\[64,8\]\S* copy\(", compiled.as_text()))
    if copies:
        failures.append(f"scan: {copies} copies of the cache, expected none")
    given = cache + 0
    address = given.unsafe_buffer_pointer()
    result = jax.jit(functions.kv_append, donate_argnums=0)(given, jnp.arange(4, dtype=jnp.int32), values)
    if result.unsafe_buffer_pointer() != address:
        failures.append("a donated cache: the result lies elsewhere")

    devices = jax.devices()
    mesh = jax.sharding.Mesh(np.array(devices), ("d",))
    spec = jax.sharding.PartitionSpec("d")
    data, ids = jnp.asarray(rng.standard_normal((40, 3))), jnp.asarray(rng.integers(0, 5, 40))

    def sharded(function):
        return jax.jit(jax.shard_map(lambda d, i: function(d, i, 5), mesh=mesh, in_specs=spec, out_specs=spec))(data, ids)

    failures.same("shard_map", sharded(functions.segment_sum), sharded(jax.ops.segment_sum))


def check_wrong(failures):
    f32, i32 = jnp.ones((4, 3), jnp.float32), jnp.zeros(4, jnp.int32)
    failures.refuses("ids of floats", lambda: functions.segment_sum(f32, f32[:, 0], 2), "segment_sum: segment_ids is float32[4], expected integers of 1 dim")
    failures.refuses("too many rows", lambda: functions.segment_sum(f32, i32[:3], 2), "data is float32[4, 3], expected [3, ...]")
    failures.refuses("other edges", lambda: functions.spmm(i32, i32[:3], f32, num_rows=2), "src is int32[3], expected [4]")
    failures.refuses("a weight of another dtype", lambda: functions.spmm(i32, i32, f32, i32, num_rows=2), "weight is int32[4], expected float32, [4, 3]")
    failures.refuses("too many weights", lambda: functions.spmm(i32, i32, f32, f32[:, :2], num_rows=2), "weight is float32[4, 2]")
    failures.refuses("a table of numbers", lambda: functions.spmm(i32, i32, 1.0, num_rows=2), "table is")
    failures.refuses("a mode", lambda: functions.embedding_bag(f32, i32[None], mode="max"), "mode is 'max', expected 'sum' or 'mean'")
    failures.refuses("flat indices", lambda: functions.embedding_bag(f32, i32), "indices is int32[4], expected integers of 2 dims")
    failures.refuses("other weights", lambda: functions.embedding_bag(f32, i32[None], weights=f32), "weights is float32[4, 3], expected float32[1, 4]")
    failures.refuses("a table of three dims", lambda: functions.embedding_bag(f32[None], i32[None]), "table is float32[1, 4, 3], expected [R, D]")
    failures.refuses("values of another dtype", lambda: functions.kv_append(f32, i32, f32.astype(jnp.float16)), "values is float16[4, 3], expected float32")
    failures.refuses("values of other rows", lambda: functions.kv_append(f32, i32, f32[:, :2]), "values is float32[4, 2]")
    failures.refuses("a dim that is none", lambda: functions.kv_append(f32, i32, f32, dim=2), "dim is 2, expected one of 1 to 1")
    failures.refuses("more tokens than places", lambda: functions.kv_append(f32, i32, jnp.ones((4, 5), jnp.float32), dim=1), "values is float32[4, 5]")
    failures.refuses("other positions", lambda: functions.kv_append(f32, i32[:2], f32, dim=1), "index is int32[2], expected [4]")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=1)
    options = parser.parse_args()
    failures = Failures()
    for seed in range(options.iterations):
        before = len(failures)
        for case in cases(np.random.default_rng(seed), DTYPES[seed % len(DTYPES)]):
            check(failures, *case)
        print(f"--iterations, seed {seed}: {'right' if len(failures) == before else 'WRONG'}", flush=True)
    check_second(failures)
    check_places(failures)
    check_wrong(failures)
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
