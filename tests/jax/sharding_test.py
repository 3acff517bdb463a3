#!/usr/bin/env python3
"""strew.jax's functions on arrays that four devices of one process hold, against one device, bit for bit: meshes of 1, 2, 4 and 2 x 2 devices, each dim divided and not, indices that are spread evenly and not,
gradients, vmap; what moves between devices, and what is written in place.

    sharding_test.py [--iterations N] [--seed S]

Each iteration draws layouts for every case; a failure names the seed that draws it again. Exit status 0: right, 1: wrong, 77: there is no JAX, or strew was built without it.
"""
import argparse
import doctest
import os
import re
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
try:
    import jax
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from strew.jax import _edges, _handler, _partition, _routes, functions

if not os.path.exists(_handler.library_path()):
    print("skipped: strew was built without jaxlib")
    sys.exit(77)

MESHES = {"1": ((1,), "x"), "2": ((2,), "x"), "4": ((4,), "x"), "2x2": ((2, 2), "xy")}
# By the letter of a dim: e edges, s rows written, r rows looked up, f and g features, b a batch; for each mesh, and with names of axes that it has.
LAYOUTS = (
    ("1", {"e": "x", "s": "x", "r": "x"}),
    ("2", {"e": "x", "s": "x", "r": "x"}),
    ("4", {"e": "x", "s": "x", "r": "x", "t": "x"}),
    ("4", {"e": "x", "s": "x", "r": "x"}),
    ("4", {"e": "x"}),
    ("4", {"s": "x"}),
    ("4", {"r": "x"}),
    ("4", {"e": "x", "r": "x"}),
    ("4", {"f": "x"}),
    ("4", {"b": "x"}),
    ("4", {"b": "x", "r": "x"}),
    ("2x2", {"e": "xy", "s": "xy", "r": "xy"}),
    ("2x2", {"e": "yx", "s": "yx", "r": "x"}),
    ("2x2", {"e": "y", "s": "x", "r": "yx"}),
    ("2x2", {"e": "x", "s": "x", "r": "x", "f": "y"}),
    ("2x2", {"e": "x", "s": "y", "r": "x"}),
    ("2x2", {"e": "xy", "r": "x", "f": "y"}),
    ("2x2", {"b": "y", "e": "x", "s": "x", "r": "x"}),
    ("2x2", {"b": "y", "r": "yx", "g": "x"}),
)


def mesh_of(name):
    shape, axes = MESHES[name]
    return Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), tuple(axes))


def sharding(mesh, dims, layout):
    """Of an array with these letters; the first letter of an array keeps an axis that two of its letters have."""
    taken, entries = set(), []
    for letter in dims:
        axes = tuple(axis for axis in layout.get(letter, "") if axis not in taken)
        taken.update(axes)
        entries.append(axes or None)
    return NamedSharding(mesh, P(*entries))


class Case:
    """A function of arrays, the letters of their dims and of the result's, and the numbers of arguments with gradients; `exact` ones have the bits of one device, others sums of XLA's; `summed` ones
    are sums over a batch, which XLA adds up."""

    def __init__(self, name, function, arguments, dims, numbers=(), exact=None, summed=()):
        self.name, self.function, self.arguments, self.dims, self.numbers = name, function, arguments, dims, numbers
        self.exact, self.summed = numbers if exact is None else exact, summed

    def with_gradients(self):
        """A function of a cotangent and the arguments that gives the value and the gradients, the letters of these arrays' dims, and those of the results'."""
        def of(cotangent, *arguments):
            value, transposed = jax.vjp(lambda *floats: self.function(*self.with_floats(arguments, floats)), *(arguments[k] for k in self.numbers))
            return value, *transposed(cotangent)
        *dims, result = self.dims
        return (of if self.numbers else lambda _, *arguments: (self.function(*arguments),)), [result, *dims], (result, *(dims[k] for k in self.numbers))

    def cotangent(self):
        of = jax.eval_shape(self.function, *self.arguments)
        return jnp.asarray(np.random.default_rng(6).standard_normal(of.shape), of.dtype)

    def with_floats(self, arguments, floats):
        given = list(arguments)
        for number, value in zip(self.numbers, floats, strict=True):
            given[number] = value
        return given

    def batched(self):
        """Under vmap, with a batch of 4 of the last argument and, if there are several, of the first."""
        chosen = {len(self.arguments) - 1, 0}
        axes = tuple(0 if k in chosen else None for k in range(len(self.arguments)))
        arguments = [np.stack([np.roll(a, k, 0) for k in range(4)]) if k in chosen else a for k, a in enumerate(self.arguments)]
        dims = ["b" + d if k in chosen else d for k, d in enumerate(self.dims[:-1])]
        return Case(f"{self.name}, vmap", jax.vmap(self.function, axes), arguments, [*dims, "b" + self.dims[-1]], self.numbers, self.exact, set(self.numbers) - chosen)


def cases(rng, skewed):
    def floats(*shape, dtype=np.float32):
        return rng.standard_normal(shape).astype(dtype)

    def ints(extent, count, low=-3, dtype=np.int32):
        if skewed:  # most edges are of one device's rows
            return np.where(rng.random(count) < 0.9, rng.integers(0, max(extent // 8, 1), count), rng.integers(low, extent + 3, count)).astype(dtype)
        return rng.integers(low, extent + 3, count).astype(dtype)

    edges, rows, written = 1600, 2048, 64
    for dtype in ("float32", "bfloat16"):
        data, ids = jnp.asarray(floats(edges, 4), dtype), ints(written, edges)
        yield Case(f"segment_sum {dtype}", lambda d, i: functions.segment_sum(d, i, written), (data, ids), ["ef", "e", "sf"], (0,))
        table, src, weight = jnp.asarray(floats(rows, 4), dtype), ints(rows, edges), jnp.asarray(floats(edges), dtype)
        yield Case(f"spmm {dtype}", lambda d, s, t: functions.spmm(d, s, t, num_rows=written), (ids, src, table), ["e", "e", "rf", "sf"], (2,))
        yield Case(f"spmm weighted {dtype}", lambda d, s, t, w: functions.spmm(d, s, t, w, num_rows=written), (ids, src, table, weight), ["e", "e", "rf", "e", "sf"], (2, 3), (2,))
        bags = ints(rows, edges, low=-1).reshape(-1, 4)
        yield Case(f"embedding_bag {dtype}", lambda t, i: functions.embedding_bag(t, i, mode="mean", padding_idx=0), (table, bags), ["rf", "t ", "tf"], (0,))
        cache, slots = jnp.asarray(floats(16, 4, 4), dtype), np.concatenate([[-1, 70], rng.permutation(64)[:30]]).astype(np.int32)
        yield Case(f"kv_append blocks {dtype}", lambda c, i, v: functions.kv_append(c, i, v), (cache, slots, jnp.asarray(floats(32, 4), dtype)), ["s f", "e", "ef", "s f"], (0, 2))
    yield Case("spmm small table", lambda d, s, t: functions.spmm(d, s, t, num_rows=written), (ids, ints(64, edges), floats(64, 4)), ["e", "e", "rf", "sf"], (2,))
    heads = (ids, src, floats(rows, 4, 4), floats(edges, 4))
    yield Case("spmm heads", lambda d, s, t, w: functions.spmm(d, s, t, w, num_rows=written), heads, ["e", "e", "rfg", "ef", "sfg"], (2, 3), (2,))
    yield Case("segment_sum int32", lambda d, i: functions.segment_sum(d, i, written), (rng.integers(-9, 9, (edges, 4)).astype(np.int32), ids), ["ef", "e", "sf"])
    yield Case("segment_sum int8 uint8", lambda d, i: functions.segment_sum(d, i, written), (rng.integers(-9, 9, edges).astype(np.int8), ids.astype(np.uint8)), ["e", "e", "s"])
    bags = ints(rows, edges, low=-1).reshape(-1, 4)
    yield Case("embedding_bag weighted", lambda t, i, w: functions.embedding_bag(t, i, weights=w), (floats(rows, 4), bags, floats(*bags.shape)), ["rf", "t ", "t ", "tf"], (0, 2), (0,))
    twice = np.array([3, 9, 3, -1, 63, 9, 9, 64], np.int32)  # of equal slots, the last one counts
    yield Case("kv_append slots", lambda c, i, v: functions.kv_append(c, i, v), (floats(64, 4), twice, floats(8, 4)), ["sf", "e", "ef", "sf"], (0, 2))
    yield Case("kv_append sequences", lambda c, i, v: functions.kv_append(c, i, v, dim=2), (floats(4, 4, 8, 4), rng.integers(0, 9, 4).astype(np.int32), floats(4, 4, 2, 4)), ["sf g", "s", "sf g", "sf g"], (0, 2))
    yield Case("segment_sum complex64", lambda d, i: functions.segment_sum(d, i, written), ((floats(edges) + 1j * floats(edges)).astype(np.complex64), ids), ["e", "e", "s"])


class Failures(list):
    def same(self, what, got, expected, exact=True):
        got, expected = jax.tree.leaves(got), jax.tree.leaves(expected)
        for number, (a, b) in enumerate(zip(got, expected, strict=True)):
            a, b = np.asarray(a), np.asarray(b)
            if (a.dtype, a.shape) != (b.dtype, b.shape):
                self.append(f"{what}: result {number} is {a.dtype}{a.shape}, expected {b.dtype}{b.shape}")
            elif exact and a.tobytes() != b.tobytes():
                wrong = np.flatnonzero(np.frombuffer(a.tobytes(), np.uint8) != np.frombuffer(b.tobytes(), np.uint8))[0] // a.itemsize
                self.append(f"{what}: result {number} differs, first at {wrong}: {a.ravel()[wrong]!r}, expected {b.ravel()[wrong]!r}")
            elif not exact and not np.allclose(np.float64(a), np.float64(b), rtol=8 * float(jnp.finfo(a.dtype).eps), atol=8 * float(jnp.finfo(a.dtype).eps)):
                self.append(f"{what}: result {number} is another")


def on_mesh(function, arguments, dims, results, mesh, layout):
    """The function compiled for arrays that lie so, and these arrays."""
    placed = [jax.device_put(a, sharding(mesh, d, layout)) for a, d in zip(arguments, dims, strict=True)]
    shardings = jax.tree.map(lambda d: sharding(mesh, d, layout), results)
    return jax.jit(function, out_shardings=shardings).lower(*placed).compile(), placed


def check(failures, case, layouts, seed):
    function, dims, results = case.with_gradients()
    arguments = (case.cotangent(), *case.arguments)
    expected = jax.jit(function)(*arguments)
    for name, layout in layouts:
        compiled, placed = on_mesh(function, arguments, dims, results, mesh_of(name), layout)
        for number, a, b in zip(("result", *case.numbers), compiled(*placed), expected, strict=True):
            failures.same(f"seed {seed}, {case.name}, {number}, mesh {name}, {layout}", a, b, number == "result" or (number in case.exact and not ("b" in layout and number in case.summed)))


def check_ways(failures):
    """Where edges are spread evenly, rows are asked for; where they are not, the slow way is taken: each with the other way made wrong."""
    check(failures, next(cases(np.random.default_rng(1), False)), [("2x2", {"e": "yx", "s": "yx"})], 1)  # not in the order of the mesh
    layout, mesh = {letter: "x" for letter in "esr"}, mesh_of("4")
    even, skewed = (next(case for case in cases(np.random.default_rng(1), skewed) if case.name == "spmm weighted float32") for skewed in (False, True))
    dst, src, *others = even.arguments
    hot = Case(f"{even.name}, most edges from one row", even.function, (dst, np.where(src % 3 == 0, src, 5), *others), even.dims)
    for case in (even, hot, skewed):
        *dims, result = case.dims
        expected = np.asarray(jax.jit(case.function)(*case.arguments))
        for way in ("fast", "slow"):
            kept = getattr(_partition.Routed, way)
            setattr(_partition.Routed, way, lambda self, dtypes, edges, *tables: jnp.zeros((self.written.here, *tables[0].shape[1:]), dtypes[0]))
            jax.clear_caches()
            try:
                compiled, placed = on_mesh(case.function, case.arguments, dims, result, mesh, layout)
                is_wrong = np.asarray(compiled(*placed)).tobytes() != expected.tobytes()
            finally:
                setattr(_partition.Routed, way, kept)
            if is_wrong != ((case is skewed) == (way == "slow")):
                failures.append(f"{case.name}, {'skewed' if case is skewed else 'even'}: the {way} way was {'' if is_wrong else 'not '}taken")
    jax.clear_caches()


def check_moves(failures):
    """No device has the whole of a table whose rows are divided, forward or backward, and a cache is written where it lies."""
    mesh, rng, rows = mesh_of("4"), np.random.default_rng(4), 8192
    layout = {letter: "x" for letter in "sr"}
    bags = rng.integers(0, rows, (64, 4)).astype(np.int32)
    case = Case("embedding_bag", functions.embedding_bag, (rng.standard_normal((rows, 8)).astype(np.float32), bags), ["rf", "s ", "sf"], (0,))
    function, dims, results = case.with_gradients()
    compiled, _ = on_mesh(function, (case.cotangent(), *case.arguments), dims, results, mesh, layout)
    for found in sorted(set(re.findall(rf"\w+\[{rows},8\]\S* [\w-]+", compiled.as_text()))):
        failures.append(f"a device has the whole table: {found}")
    if f"[{rows // 4},8]" not in compiled.as_text():
        failures.append("no part of the table is in the module")

    # Rows move as they are: numbers of any bits, among them subnormal ones and NaNs, go from the sums' rows to the edges.
    ids = rng.integers(0, 4096, 1600).astype(np.int32)
    for dtype, bits in ((jnp.float32, np.uint32), (jnp.bfloat16, np.uint16)):
        cotangent = np.tile(np.array([0, 1, 0x7FC1, 0xFFA3, 0x8000, 0x8001, 0x7F81, 0x3F80], bits) << (8 * bits().itemsize - 16) | np.arange(8, dtype=bits) % 2, 4096)[: 4096 * 2].reshape(4096, 2).view(dtype)
        data = np.zeros((1600, 2), dtype)

        def backward(cotangent, data, ids):
            return jax.vjp(lambda data: functions.segment_sum(data, ids, 4096), data)[1](cotangent)[0]

        compiled, placed = on_mesh(backward, (cotangent, data, ids), ["sf", "ef", "e"], "ef", mesh, {"s": "x", "e": "x"})
        failures.same(f"bits of {dtype.__name__}", compiled(*placed), cotangent[ids])

    def steps(table, bags):
        return jax.lax.scan(lambda t, b: (t - jax.grad(lambda t: (functions.embedding_bag(t, b) ** 2).sum())(t), ()), table, bags)[0]

    layout, arguments = {"r": "x", "s": "x"}, (case.arguments[0], rng.integers(0, rows, (3, 64, 4)).astype(np.int32))
    compiled, placed = on_mesh(steps, arguments, ["rf", " s "], "rf", mesh, layout)
    failures.same("steps of a scan", compiled(*placed), jax.jit(steps)(*arguments))
    for layout, shard, heads in (({"s": "x"}, "64,2,8", 2), ({"f": "x"}, "256,1,8", 4)):
        names = ["sfg", "e", "efg"]
        cache, slots, values = np.zeros((256, heads, 8), np.float32), np.array([3, 200, -1, 77], np.int32), np.ones((4, heads, 8), np.float32)
        placed = [jax.device_put(jnp.asarray(a), sharding(mesh, d, layout)) for a, d in zip((cache, slots, values), names, strict=True)]
        compiled = jax.jit(functions.kv_append, out_shardings=sharding(mesh, names[0], layout), donate_argnums=0).lower(*placed).compile()
        copies = re.findall(rf"= f32\[{shard}\]\S* copy\(", compiled.as_text())
        given = jax.block_until_ready(placed[0] + 0)
        addresses = [part.data.unsafe_buffer_pointer() for part in given.addressable_shards]
        result = compiled(given, *placed[1:])
        failures.same(f"kv_append in place, {layout}", result, functions.kv_append(cache, slots, values))
        if copies or [part.data.unsafe_buffer_pointer() for part in result.addressable_shards] != addresses:
            failures.append(f"kv_append, {layout}: {len(copies)} copies of the cache, or it lies elsewhere")


def check_places(failures):
    """Extents that devices do not divide, calls outside of jit, meshes with explicit axes, shard_map over some of the axes."""
    mesh, rng = mesh_of("4"), np.random.default_rng(2)
    data, ids = rng.standard_normal((41, 3)).astype(np.float32), rng.integers(0, 10, 41).astype(np.int32)

    def total(data, ids):
        return functions.segment_sum(data, ids, 10)

    def uneven(data, ids):
        data, ids = (jax.lax.with_sharding_constraint(each, NamedSharding(mesh, P("x"))) for each in (data, ids))
        return jax.lax.with_sharding_constraint(total(data, ids), NamedSharding(mesh, P("x")))

    failures.same("41 edges and 10 rows of 4 devices", jax.jit(uneven, out_shardings=NamedSharding(mesh, P()))(data, ids), jax.jit(total)(data, ids))
    data, ids = data[:40], ids[:40]
    expected = jax.jit(total)(data, ids)
    placed = [jax.device_put(each, NamedSharding(mesh, P("x"))) for each in (data, ids)]
    failures.same("outside of jit", total(*placed), expected)
    explicit = Mesh(mesh.devices, ("x",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(explicit):
        placed = [jax.device_put(each, NamedSharding(explicit, P("x"))) for each in (data, ids)]
        divided = jax.jit(jax.sharding.auto_axes(lambda d, i: functions.segment_sum(d, i, 12), out_sharding=P("x")))(*placed)
        failures.same("explicit axes in auto_axes", np.asarray(divided)[:10], expected)
        for name, call in (("segment_sum: data", lambda: total(*placed)), ("spmm: src", lambda: functions.spmm(ids, placed[1], data, num_rows=10)),
                           ("spmm: weight", lambda: functions.spmm(ids, ids, data, placed[0][:, 0], num_rows=10)), ("embedding_bag: table", lambda: functions.embedding_bag(placed[0], ids[:, None])),
                           ("embedding_bag: weights", lambda: functions.embedding_bag(data, ids[:, None], weights=placed[0][:, :1])), ("kv_append: values", lambda: functions.kv_append(data, ids, placed[0]))):
            try:
                call()
            except TypeError as error:
                if f"strew.jax.{name} is float32[40@x" not in str(error).replace("int32[40@x", "float32[40@x") or "auto_axes" not in str(error):
                    failures.append(f"{name}, explicit axes: '{error}'")
            else:
                failures.append(f"{name}, explicit axes: it was not refused")
    placed = [jax.device_put(each, NamedSharding(mesh, P("x"))) for each in (data, ids)]
    texts = [jax.jit(lambda d, i, s=is_sorted: functions.segment_sum(d, i, 10, indices_are_sorted=s)).lower(*placed).as_text() for is_sorted in (False, True, False)]
    identities = [re.findall(r'strew = "(-?\d+)"', text) for text in texts]
    if [len(each) for each in identities] != [1, 1, 1] or identities[0] == identities[1] or identities[0] != identities[2]:
        failures.append(f"the persistent cache takes calls for others: {identities}")
    mesh = mesh_of("2x2")
    for names in ({"x"}, {"x", "y"}):
        def partly(function, names=names):
            return jax.jit(jax.shard_map(lambda d, i: function(d, i, 12), mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names=names))(data, ids)
        failures.same(f"shard_map over {names}", partly(functions.segment_sum), partly(jax.ops.segment_sum))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layouts", type=int, default=1, help="layouts drawn for each case")
    parser.add_argument("--only", default="", help="cases whose name has this")
    options = parser.parse_args()
    failures = Failures()
    for seed in range(options.seed, options.seed + options.iterations):
        before, rng, checked = len(failures), np.random.default_rng(seed), 0
        for even, skewed in zip(cases(rng, False), cases(rng, True), strict=True):
            chosen = skewed if rng.random() < 0.5 else even
            chosen = chosen.batched() if rng.random() < 0.3 else chosen
            order = rng.permutation(len(LAYOUTS))
            if options.only in chosen.name:
                checked += 1
                fitting = [LAYOUTS[k] for k in order if set(LAYOUTS[k][1]) & set("".join(chosen.dims))]
                check(failures, chosen, fitting[: options.layouts], seed)
        if not checked:
            failures.append(f"no case has {options.only!r} in its name")
        print(f"--seed {seed}: {checked} cases, {'right' if len(failures) == before else 'WRONG'}", flush=True)
    if not options.only:
        failures += [f"{module.__name__}: its examples fail" for module in (_edges, _partition, _routes) if doctest.testmod(module).failed]
        check_ways(failures)
        check_moves(failures)
        check_places(failures)
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
