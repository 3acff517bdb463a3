#!/usr/bin/env python3
"""Programs for four devices of one process: what strew replaces inside of shard_map has the bits of JAX alone, moves nothing between devices that XLA does not move, and is done in place where XLA's is; what stays with XLA, and why;
drawn programs inside of shard_map; and many such programs at once, on the one pool of threads that they have.

    devices_test.py [BUILD] [--seed N] [--iterations N] [--only REGEX]

Drawn programs are thirty to a compiled function, of each level by turns; `--only 17` draws number 17 alone, with both levels. Exit status 0: right, 1: wrong.
"""
import argparse
import collections
import os
import re
import sys
import threading

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"

from modes import MODES, Failures, differs, jax, np, results_of, strew

import jax.numpy as jnp
from draw_programs import Program
from jax import lax
from jax.sharding import PartitionSpec as P

TOGETHER = 30
COLLECTIVES = re.compile(r" (all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)(?:-start)?\(")
LINE, GRID = jax.sharding.Mesh(np.array(jax.devices()), ("d",)), jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
ALL = P(("x", "y"))

# A function of four devices. `parts`: how many parts strew runs, of single operators and of strew.jax.jit.
Case = collections.namedtuple("Case", "name function arguments parts")


def mapped(function, inputs=P("d"), outputs=P("d"), mesh=LINE, **options):
    return jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False, **options)


def add(x, i, u):
    return x.at[i].add(u)


def rows(x, i):
    return x[i]


def messages(x, i, j):
    """A layer of a graph network over the device's own edges."""
    return jnp.zeros_like(x).at[i].add(x[j])


def paged(cache, slots, tokens):
    return cache.at[slots // 4, slots % 4].set(tokens, mode="drop")


def steps(x, i, u):
    return lax.scan(lambda c, n: (c.at[i + n].add(u), c[i]), x, jnp.arange(3))


def chosen(x, i, u):
    return lax.cond(i[0] % 2 == 0, lambda: x.at[i].add(u), lambda: x.at[i].max(u))


def summed(x, i, u):
    return lax.psum(x.at[i].add(u), "d") + 0


def owner(table, i):
    """Rows of a table of which each device has a part, looked up by all."""
    here = i - lax.axis_index("d") * len(table)
    return lax.psum(table.at[jnp.where((here >= 0) & (here < len(table)), here, len(table))].get(mode="fill", fill_value=0), "d")


def exchanged(x, i, u):
    return x.at[lax.all_gather(i, "d", tiled=True)].add(lax.all_gather(u, "d", tiled=True))


def gradient_of(function):
    def gradient(*arguments):
        def loss(x):
            out = function(x, *arguments[1:])
            return jnp.sum(out * jnp.linspace(-1, 1, out.size).astype(out.dtype).reshape(out.shape))
        return jax.grad(loss)(arguments[0])
    return gradient


def two_of_grid(x, i, u):
    """One shard_map in the other: both axes together are all of the mesh."""
    inner = jax.shard_map(add, in_specs=P("y"), out_specs=P("y"), axis_names={"y"}, check_vma=False)
    return mapped(inner, P("x"), P("x"), GRID, axis_names={"x"})(x, i, u)


def cases(rng):
    def floats(*dims, dtype=np.float32):
        return np.asarray(rng.standard_normal(dims) * 4, np.float32).astype(jnp.dtype(dtype))

    def ints(bound, *dims):
        return rng.integers(-bound - 2, bound + 2, dims).astype(np.int32)
    x, i, j, u = floats(48, 8), ints(12, 80), ints(12, 80), floats(80, 8)
    for dtype in ("float32", "bfloat16", "int32"):
        given = (floats(48, 8, dtype=dtype), i, floats(80, 8, dtype=dtype))
        yield Case(f"scatter-add {dtype}", mapped(add), given, (1, 1))
        yield Case(f"gather {dtype}", mapped(rows), given[:2], (1, 1))
        yield Case(f"segment_sum {dtype}", mapped(lambda u, i: jax.ops.segment_sum(u, i, 12)), given[:0:-1], (1, 1))
    yield Case("scatter-add, 2 x 2", mapped(add, ALL, ALL, GRID), (x, i, u), (1, 1))
    yield Case("scatter-add, the table on each", mapped(add, (P(), P("d"), P("d")), P("d")), (x, i, u), (1, 1))
    yield Case("paged write", mapped(paged), (floats(12, 4, 2, 5), rng.permutation(48).astype(np.int32)[:20] % 12, floats(20, 2, 5)), (1, 1))
    yield Case("take_along_axis", mapped(lambda x, i: jnp.take_along_axis(x, i, 1)), (x, ints(8, 48, 5)), (1, 1))
    yield Case("messages", mapped(messages), (x, i, j), (1, 1))
    yield Case("weighted messages", mapped(lambda x, i, j, w: jnp.zeros_like(x).at[i].add(x[j] * w[:, None])), (x, i, j, floats(80)), (1, 1))
    yield Case("gradient of a gather", mapped(gradient_of(rows)), (x, i), (1, 1))
    yield Case("gradient of a scatter-add", mapped(gradient_of(add)), (x, i, u), (0, 0))
    yield Case("gradient of shard_map", gradient_of(mapped(rows)), (x, i), (1, 1))
    yield Case("vmap of shard_map", jax.vmap(mapped(add), in_axes=(0, None, 0)), (floats(3, 48, 8), i, floats(3, 80, 8)), (1, 1))
    yield Case("scan inside", mapped(steps, outputs=(P("d"), P(None, "d"))), (x, i, u), (3, 3))
    yield Case("scan around", lambda x, i, u: lax.scan(lambda c, n: (mapped(add)(c, i + n, u), None), x, jnp.arange(3))[0], (x, i, u), (1, 1))
    yield Case("cond inside", mapped(chosen), (x, i, u), (2, 2))
    yield Case("jit inside", mapped(lambda x, i, u: jax.jit(add)(jax.jit(add)(x, i, u), i + 1, u)), (x, i, u), (1, 1))
    yield Case("two of them", lambda x, i, u: mapped(rows)(mapped(add)(x, i, u), i), (x, i, u), (2, 2))
    yield Case("one in the other", two_of_grid, (x, i, u), (1, 1))
    yield Case("sums of all devices", mapped(summed, outputs=P()), (x, i, u), (1, 1))
    yield Case("rows of other devices", mapped(owner, (P("d"), P()), P()), (x, rng.integers(0, 48, 30).astype(np.int32)), (1, 1))
    yield Case("edges of other devices", mapped(exchanged), (x, i, u), (1, 1))
    yield Case("pmap", jax.pmap(messages), (floats(4, 12, 8), ints(12, 4, 20), ints(12, 4, 20)), (1, 1))
    # XLA sees through the bounds of shard_map.
    yield Case("zeros that are added outside", lambda x, i, u: x + mapped(lambda i, u: jax.ops.segment_sum(u, i, 12))(i, u), (x, i, u), (0, 0))
    yield Case("zeros from outside", lambda x, i, u: mapped(lambda z, x, i, u: x + z.at[i].add(u))(jnp.zeros_like(x), x, i, u), (x, i, u), (0, 0))
    yield Case("rows of a product made outside", lambda x, i: mapped(rows)(x * x, i), (x, i[:16]), (0, 0))
    yield Case("rows that are multiplied outside", lambda x, i, u: mapped(rows)(x, i) * u, (x, i, u), (0, 0))
    yield Case("some axes", mapped(add, P("x"), P("x"), GRID, axis_names={"x"}), (x, i, u), (0, 0))


def compiled_text(mode, case, **options):
    (strew.jax.enable if mode == "operators" else strew.jax.disable)()
    try:
        return (strew.jax.jit if mode == "fused" else jax.jit)(case.function, **options).lower(*case.arguments).compile().as_text()
    finally:
        strew.jax.disable()


def check_cases(failures, only):
    count = 0
    for case in cases(np.random.default_rng(1)):
        if not re.search(only, case.name):
            continue
        count += 1
        results, moves = {}, {}
        for mode in MODES:
            strew.jax.report(clear=True)
            results[mode] = results_of(mode, [(case.function, case.arguments)])[0]
            parts = sum(len(each.replaced) for each in strew.jax.report().modules)
            expected = 0 if mode == "off" else case.parts[MODES.index(mode) - 1]
            failures.check(parts == expected, f"{mode}: {case.name}: strew runs {parts} parts, expected {expected}: {strew.jax.report()}")
            moves[mode] = collections.Counter(COLLECTIVES.findall(compiled_text(mode, case)))
        for mode in MODES[1:]:
            if difference := differs(results[mode], results["off"]):
                failures.append(f"{mode}: {case.name}: {difference}")
            failures.check(moves[mode] == moves["off"], f"{mode}: {case.name}: {moves[mode]} between devices, XLA alone {moves['off']}")
    return count


def check_reasons(failures):
    x, i, u = jnp.zeros((48, 8)), jnp.zeros(80, jnp.int32), jnp.ones((80, 8))

    def around(x, i, u):
        return mapped(rows)(x.at[i].add(u), i)
    strew.jax.report(clear=True)
    results_of("operators", [(mapped(add, P("x"), P("x"), GRID, axis_names={"x"}), (x, i, u)), (around, jax.device_put((x, i, u), jax.NamedSharding(LINE, P("d")))),
                             (add, jax.device_put((x, i, u), jax.NamedSharding(LINE, P("d"))))])
    some, outside, none = strew.jax.report().modules
    failures.check(any("axes of the mesh that the shard_map around it does not name" in each.reason for each in some.kept), f"some axes: {some}")
    failures.check(any("it is divided into 4 partitions" in each.reason and each.operation == "stablehlo.scatter" for each in outside.kept), f"outside of shard_map: {outside}")
    failures.check(len(none.kept) == 1 and none.kept[0].operation == "module" and "it is divided into 4 partitions" in none.kept[0].reason, f"no shard_map: {none}")


def check_copies(failures):
    """Copies of what a device has of an array that is donated."""
    x, i, u = np.zeros((1600, 300), np.float32), np.arange(80, dtype=np.int32), np.ones((80, 300), np.float32)
    pages, tokens = np.zeros((400, 4, 300), np.float32), np.ones((80, 300), np.float32)
    for name, case in {"add": Case("", mapped(add), (x, i, u), None), "loop": Case("", mapped(lambda *a: steps(*a)[0]), (x, i, u), None), "paged": Case("", mapped(paged), (pages, i, tokens), None),
                       "loop around": Case("", lambda x, i, u: lax.fori_loop(0, 3, lambda n, c: mapped(add)(c, i + n, u), x), (x, i, u), None)}.items():
        copies = {}
        for mode in MODES:
            text = compiled_text(mode, case, donate_argnums=0)
            copies[mode] = len(re.findall(r"= f32\[(?:400,300|100,4,300)\]\S* copy\(", text))
            failures.check(mode == "off" or 'custom_call_target="strew"' in text, f"{mode}: {name}: strew runs nothing")
        for mode in MODES[1:]:
            failures.check(copies[mode] <= copies["off"], f"{mode}: {name}, donated: {copies[mode]} copies of the array, XLA alone makes {copies['off']}")
    given = jax.device_put(x, jax.NamedSharding(LINE, P("d")))
    addresses = [each.data.unsafe_buffer_pointer() for each in given.addressable_shards]
    strew.jax.enable()
    result = jax.jit(mapped(add), donate_argnums=0)(given, i, u)
    strew.jax.disable()
    failures.check([each.data.unsafe_buffer_pointer() for each in result.addressable_shards] == addresses, "a donated array is not updated where it lies")


BEFORE = (lambda a: a, lambda a: a, lambda a: a + a, lambda a: a * a, jnp.zeros_like, lambda a: a.reshape(-1).reshape(a.shape), lambda a: a[::-1], lambda a: -a)
BEHIND = (lambda a: a, lambda a: a, lambda a: a + 1, lambda a: a * a, lambda a: jnp.maximum(a, 0), lambda a: a - a[:1], lambda a: a.sum(0))


def drawn(seed, number):
    """A program inside of shard_map, with operations around it that XLA sees together with what is in it, and its arguments."""
    rng = np.random.default_rng([seed, number])
    program = Program(rng)
    before, behind = [BEFORE[n] for n in rng.integers(0, len(BEFORE), 4)], [BEHIND[n] for n in rng.integers(0, len(BEHIND), 8)]

    def function(*arguments):
        given = [change(each) for change, each in zip(before, arguments, strict=False)] + list(arguments[4:])
        results = jax.tree.leaves(mapped(lambda *a: jax.tree.leaves(program(*a)), P(), P())(*given))
        return [behind[n % len(behind)](each) if each.ndim and jnp.issubdtype(each.dtype, jnp.floating) else each for n, each in enumerate(results)]
    return program, function, program.arguments


def check_drawn(failures, seed, numbers, levels):
    made = [drawn(seed, number) for number in numbers]

    def all_of(given):
        return [function(*each) for (_, function, _), each in zip(made, given, strict=True)]
    given = [arguments for _, _, arguments in made]
    sizes = [len(jax.tree.leaves(each)) for each in jax.eval_shape(all_of, given)]
    parts = 0
    expected = results_of("off", [(all_of, (given,))])[0]
    for level in levels:
        strew.jax.report(clear=True)
        got, first = results_of(level, [(all_of, (given,))])[0], 0
        parts += sum(len(each.replaced) for each in strew.jax.report().modules)
        for number, (program, _, _), size in zip(numbers, made, sizes, strict=True):
            if difference := differs(got[first:first + size], expected[first:first + size]):
                failures.append(f"--seed {seed} --only {number}, {level}: {difference}: {program}")
            first += size
    return parts


def check_many_at_once(failures):
    """Four devices call the handler at the same time, between sums of all devices, while other threads run a program of their own: nobody waits for a thread of the pool that waits for somebody else."""
    rng = np.random.default_rng(2)
    x, i, u = rng.standard_normal((4 * 500, 64)).astype(np.float32), rng.integers(0, 500, 4 * 3000).astype(np.int32), rng.standard_normal((4 * 3000, 64)).astype(np.float32)

    def steps_of(largest):
        def step(c, n, i, u):
            c = c.at[(i + n) % 500].max(u)
            return c, largest(c[i].max(keepdims=True))
        return mapped(lambda x, i, u: lax.scan(lambda c, n: step(c, n, i, u), x, jnp.arange(4)), outputs=(P("d"), P(None, "d")))
    functions = [steps_of(lambda value: lax.pmax(value, "d")), steps_of(lambda value: value), steps_of(lambda value: -value)]
    given = [jax.device_put(each, jax.NamedSharding(LINE, P("d"))) for each in (x, i, u)]
    expected = results_of("off", [(function, given) for function in functions])
    wrong = []
    strew.jax.enable()
    compiled = [jax.jit(function).lower(*given).compile() for function in functions]
    strew.jax.disable()
    failures.check(all('custom_call_target="strew"' in each.as_text() for each in compiled), "many at once: strew runs nothing")

    def work(number):
        for results in [compiled[number](*given) for _ in range(10)]:
            if difference := differs([np.asarray(each) for each in results], expected[number]):
                wrong.append(difference)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(compiled))]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    failures.check(not wrong, f"many at once: {wrong[:1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=120, help="drawn programs")
    parser.add_argument("--only", default="", help="cases whose names match, or the number of a drawn program")
    options = parser.parse_args()
    print(f"devices_test: --seed {options.seed} --iterations {options.iterations}", flush=True)
    failures, parts, count = Failures(), 0, 0
    if options.only.isdigit():
        check_drawn(failures, options.seed, [int(options.only)], MODES[1:])
    else:
        count = check_cases(failures, options.only)
    if not options.only:
        check_reasons(failures)
        check_copies(failures)
        check_many_at_once(failures)
        for turn, first in enumerate(range(0, options.iterations, TOGETHER)):
            parts += check_drawn(failures, options.seed, range(first, min(first + TOGETHER, options.iterations)), [MODES[1 + turn % 2]])
            jax.clear_caches()
        failures.check(parts >= options.iterations // 8, f"strew ran {parts} parts of drawn programs, expected more")
    print(f"devices_test: {count} cases, {parts} parts of drawn programs, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
