"""What cases_test.py runs: ways to read and to update arrays at indices, each with arrays that fit, and what JAX makes of them: gradients, batches, loops.

A `Base` is a function of an array, tensors of indices and, if it updates the array, updates. Elements are few and small, so that sums of duplicates meet, with NaN, both zeros, subnormal
numbers and infinities among floats; indices are negative, out of bounds and repeated.
"""
import dataclasses
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

MOVED = ("float32", "float16", "bfloat16", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "complex64", "float8_e4m3fn")
MOVED_X64 = ("float64", "int64", "uint64", "complex128", "float32")
COMPUTED = ("float32", "float16", "bfloat16", "int32", "uint8", "int16", "uint32")
COMPUTED_X64 = ("float64", "int64", "uint64", "float32")
MODES = ("drop", "clip", "fill", "promise_in_bounds")
SPECIALS = (0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40, -3e-39, 1e-6)


@dataclasses.dataclass(frozen=True)
class Base:
    name: str
    function: object
    """Of the array, the indices, and the updates."""
    shape: tuple
    """Of the array."""
    indices: tuple
    """Shape and extent of each tensor of indices."""
    updates: tuple = None
    """Shape of the updates; None: it reads."""
    computes: bool = False
    """It does arithmetic with elements."""
    floating: bool = False
    """It has no meaning for integers."""
    differentiable: bool = True
    carried: bool = True
    """Of updates: the result has the array's shape and dtype, as the carry of a loop needs it."""
    index: str = "int32"


@dataclasses.dataclass
class Case:
    name: str
    function: object
    arguments: list


def elements(rng, dtype, shape, specials):
    kind = jnp.dtype(dtype)
    if kind == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if jnp.issubdtype(kind, jnp.integer):
        least = 0 if jnp.issubdtype(kind, jnp.unsignedinteger) else -9
        array = rng.integers(least, 10, shape)
        extreme = rng.random(shape) < 0.1
        return np.asarray(np.where(extreme, np.array([jnp.iinfo(kind).min, jnp.iinfo(kind).max], kind)[rng.integers(0, 2, shape)], array.astype(kind)), kind)
    if jnp.issubdtype(kind, jnp.complexfloating):
        return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), kind)
    array = rng.standard_normal(shape) * rng.choice([1.0, 1000.0], shape)
    if specials:
        array = np.where(rng.random(shape) < 0.15, rng.choice(SPECIALS, shape), array)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(array, np.float32 if kind.itemsize < 4 else kind).astype(kind)


def index_elements(rng, dtype, shape, extent):
    low = 0 if jnp.issubdtype(jnp.dtype(dtype), jnp.unsignedinteger) else -extent - 2
    array = rng.integers(low, extent + 3, shape)
    return np.asarray(np.where(rng.random(shape) < 0.3, rng.integers(0, max(extent // 2, 1), shape), array), dtype)


def gather(slices, dnums, mode=None, **kwargs):
    return lambda x, i: lax.gather(x, i, lax.GatherDimensionNumbers(**dnums), slices, mode=mode, **kwargs)


def scatter(which, dnums, mode=None, **kwargs):
    return lambda x, i, u: which(x, i, u, lax.ScatterDimensionNumbers(**dnums), mode=mode, **kwargs)


def reads():
    """[Base]: of a matrix [12, 8] or a tensor [6, 5, 8]."""
    matrix, cube, found = (12, 8), (6, 5, 8), []

    def add(name, function, shape, *indices, **more):
        found.append(Base(name, function, shape, indices, **more))
    ids, other, pairs = ((9,), 12), ((9,), 8), ((3, 4), 12)
    add("rows", lambda x, i: x[i], matrix, ids)
    add("rows of rows", lambda x, i: x[i], matrix, pairs)
    add("one row", lambda x, i: x[i], matrix, ((), 12))
    add("one element", lambda x, i, j: x[i, j], matrix, ((), 12), ((), 8))
    add("columns", lambda x, i: x[:, i], matrix, other)
    add("last axis", lambda x, i: x[..., i], cube, other)
    add("points", lambda x, i, j: x[i, j], matrix, ids, other)
    add("grid", lambda x, i, j: x[i[:, None], j], matrix, ids, ((4,), 8))
    add("middle", lambda x, i: x[:, i], cube, ((7,), 5))
    add("apart", lambda x, i, j: x[i, :, j], cube, ((7,), 6), ((7,), 8))
    add("together", lambda x, i, j: x[i, j], cube, ((7,), 6), ((7,), 5))
    add("all three", lambda x, i, j, k: x[i, j, k], cube, ((7,), 6), ((7,), 5), ((7,), 8))
    add("index and slice", lambda x, i: x[2:5, i, ::2], cube, ((7,), 5))
    add("index after a slice with step", lambda x, i: x[1:11:3, i], matrix, other)
    add("reversed, then rows", lambda x, i: x[::-1][i], matrix, ids)
    add("new axis", lambda x, i: x[None, i], matrix, ids)
    add("index and scalar", lambda x, i, j: x[i, j], matrix, ids, ((), 8))
    add("fixed and index", lambda x, i: x[2, i], matrix, other)
    add("fixed", lambda x, i: x[jnp.array([3, -1, 3])] + x[i], matrix, ((), 12), computes=True)
    for mode in MODES + ("clip",):
        add(f"get rows, {mode}", lambda x, i, mode=mode: x.at[i].get(mode=mode), matrix, ids)
        add(f"get points, {mode}", lambda x, i, j, mode=mode: x.at[i, j].get(mode=mode), matrix, ids, other)
    found.pop(), found.pop()
    add("get with a fill", lambda x, i: x.at[i].get(mode="fill", fill_value=1), matrix, ids)
    add("get, sorted", lambda x, i: x.at[jnp.sort(i)].get(indices_are_sorted=True), matrix, ids)
    add("get, unique", lambda x, i: x.at[jnp.arange(9)[::-1] + 0 * i].get(unique_indices=True), matrix, ids)
    for mode in ("clip", "fill", "wrap"):
        add(f"take, {mode}", lambda x, i, mode=mode: jnp.take(x, i, axis=1, mode=mode), cube, ((2, 3), 5))
    add("take of the flat array", lambda x, i: jnp.take(x, i), matrix, ((9,), 96))
    for axis, shape in ((0, (4, 8)), (1, (12, 3)), (1, (12, 1))):
        add(f"take_along_axis {axis} {shape}", lambda x, i, axis=axis: jnp.take_along_axis(x, i, axis), matrix, (shape, matrix[axis]))
    add("take_along_axis of a cube", lambda x, i: jnp.take_along_axis(x, i, 1), cube, ((6, 9, 8), 5))
    add("take_along_axis, broadcast", lambda x, i: jnp.take_along_axis(x, i, 2), cube, ((6, 1, 3), 8))
    add("take_along_axis, fill", lambda x, i: jnp.take_along_axis(x, i, 1, mode="fill"), matrix, ((12, 3), 8))
    add("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (5, 3)), matrix, ((), 12), ((), 8))
    add("dynamic_slice of rows", lambda x, i: lax.dynamic_slice_in_dim(x, i, 4, 0), matrix, ((), 12))
    add("dynamic_index", lambda x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims=False), cube, ((), 5))
    window = {"offset_dims": (1, 2), "collapsed_slice_dims": (), "start_index_map": (0, 1)}
    for mode in ("clip", "fill", "promise_in_bounds"):
        add(f"gather of windows, {mode}", gather((3, 4), window, mode), matrix, ((6, 2), 12))
    add("gather along a batch", gather((1, 1), {"offset_dims": (), "collapsed_slice_dims": (1,), "start_index_map": (1,), "operand_batching_dims": (0,), "start_indices_batching_dims": (0,)}),
        matrix, ((12, 1), 8))
    add("gather of columns along a batch",
        gather((1, 1, 4), {"offset_dims": (2,), "collapsed_slice_dims": (1,), "start_index_map": (1,), "operand_batching_dims": (0,), "start_indices_batching_dims": (0,)}, "clip"), cube, ((6, 3, 1), 5))
    add("embedding, summed", lambda x, i: x[i].sum(1), matrix, pairs, computes=True)
    add("embedding, the mean", lambda x, i: x[i].mean(1), matrix, pairs, computes=True)
    add("embedding, the maximum", lambda x, i: x[i].max(1), matrix, pairs, computes=True)
    add("rows times rows", lambda x, i, j: x[i] * x[j], matrix, ids, ids, computes=True)
    add("rows of a sum", lambda x, i: (x + x)[i], matrix, ids, computes=True)
    add("rows of the transpose", lambda x, i: x.T[i], matrix, other)
    add("rows, then positive", lambda x, i: jnp.maximum(x[i], 0), matrix, ids, computes=True)
    add("indices computed", lambda x, i, j: x[(i * 3 + j) % 12], matrix, ids, ids)
    add("indices of float", lambda x, i: x[(i.astype(jnp.float32) * 0.5).astype(jnp.int32)], matrix, ids)
    add("one_hot", lambda x, i: jax.nn.one_hot(i, 12, dtype=x.dtype) @ x, matrix, ids, computes=True)
    add("repeat", lambda x, i: jnp.repeat(x, jnp.abs(i) % 4, axis=0, total_repeat_length=20), matrix, ((12,), 12))
    add("roll", lambda x, i: jnp.roll(x, i, axis=1), matrix, ((), 8))
    add("choose by sort", lambda x, i: x[jnp.argsort(i, stable=True)], matrix, ((12,), 5))
    add("sort by key", lambda x, i: jnp.take_along_axis(x, jnp.argsort(i, axis=1), 1), matrix, ((12, 8), 5))
    add("where", lambda x, i: x[jnp.where(i > 3, size=5, fill_value=-1)[0]], matrix, ((12,), 12))
    add("gather of a gather", lambda x, i, j: x[i][j], matrix, ids, ((5,), 9))
    add("table of indices", lambda x, i, j: x[i[j]], matrix, ((20,), 12), ((5,), 20))
    for index in ("int8", "uint8", "int16", "uint32"):
        add(f"rows by {index}", lambda x, i: x[i], matrix, ids, index=index)
        add(f"take_along_axis by {index}", lambda x, i: jnp.take_along_axis(x, i, 1), matrix, ((12, 3), 8), index=index)
    return found


def updates():
    """[Base]: of a matrix [12, 8] or a tensor [6, 5, 8]."""
    matrix, cube, found = (12, 8), (6, 5, 8), []

    def add(name, function, shape, indices, update, **more):
        found.append(Base(name, function, shape, indices, update, **more))
    ids, other = ((9,), 12), ((9,), 8)
    methods = {"set": False, "add": True, "subtract": True, "multiply": True, "divide": True, "power": True, "min": True, "max": True}
    for method, computes in methods.items():
        smooth = method not in ("multiply", "divide", "power")  # these have a gradient for unique indices alone
        more = {"computes": computes, "floating": method in ("divide", "power"), "differentiable": smooth}

        def at(x, *places, method=method):
            return getattr(x.at[places], method)
        add(f"{method} rows", lambda x, i, u, at=at: at(x, i)(u), matrix, (ids,), (9, 8), **more)
        add(f"{method} points", lambda x, i, j, u, at=at: at(x, i, j)(u), matrix, (ids, other), (9,), **more)
        add(f"{method} columns", lambda x, i, u, at=at: at(x, slice(None), i)(u), matrix, (other,), (12, 9), **more)
        add(f"{method} grid", lambda x, i, j, u, at=at: at(x, i[:, None], j)(u), matrix, (ids, ((4,), 8)), (9, 4), **more)
        add(f"{method} a number", lambda x, i, u, at=at: at(x, i)(u), matrix, (ids,), (), **more)
        add(f"{method} one row", lambda x, i, u, at=at: at(x, i)(u), matrix, (((), 12),), (8,), **more)
        for mode in MODES:
            add(f"{method} rows, {mode}", lambda x, i, u, at=at, mode=mode: at(x, i)(u, mode=mode), matrix, (ids,), (9, 8), **more)
        add(f"{method} apart", lambda x, i, j, u, at=at: at(x, i, slice(None), j)(u), cube, (((7,), 6), ((7,), 8)), (7, 5), **more)
        add(f"{method} after a slice", lambda x, i, u, at=at: at(x, slice(1, 11, 3), i)(u), matrix, (other,), (4, 9), **more)
        add(f"{method}, said to be unique", lambda x, i, u, at=at: at(x, i)(u, unique_indices=True), matrix, (ids,), (9, 8), **(more | {"differentiable": False}))
        add(f"{method}, sorted", lambda x, i, u, at=at: at(x, jnp.sort(i % 12))(u, indices_are_sorted=True), matrix, (ids,), (9, 8), **more)
        add(f"{method} twice", lambda x, i, j, u, at=at: at(at(x, i)(u), j)(u), matrix, (ids, ids), (9, 8), **more)
    add("apply", lambda x, i, u: x.at[i].apply(lambda v: v + v) * 1, matrix, (ids,), (), computes=True, differentiable=False)
    add("dynamic_update_slice", lambda x, i, j, u: lax.dynamic_update_slice(x, u, (i, j)), matrix, (((), 12), ((), 8)), (5, 3))
    add("dynamic_update_index", lambda x, i, u: lax.dynamic_update_index_in_dim(x, u, i, 1), cube, (((), 5),), (6, 8))
    add("dynamic_update_slices", lambda x, i, j, u: lax.dynamic_update_slice_in_dim(lax.dynamic_update_slice_in_dim(x, u, i, 0), u, j, 0), matrix, (((), 12), ((), 12)), (3, 8))
    window = {"update_window_dims": (1, 2), "inserted_window_dims": (), "scatter_dims_to_operand_dims": (0, 1)}
    batch = {"update_window_dims": (), "inserted_window_dims": (1,), "scatter_dims_to_operand_dims": (1,), "operand_batching_dims": (0,), "scatter_indices_batching_dims": (0,)}
    for which, more in ((lax.scatter, {}), (lax.scatter_add, {"computes": True}), (lax.scatter_max, {"computes": True})):
        name = which.__name__
        for mode in ("clip", "fill", "promise_in_bounds"):
            add(f"{name} of windows, {mode}", scatter(which, window, mode), matrix, (((6, 2), 12),), (6, 3, 4), **more)
        add(f"{name} along a batch", scatter(which, batch), matrix, (((12, 3, 1), 8),), (12, 3), **more)
        add(f"{name} along a batch of rows", scatter(which, batch | {"update_window_dims": (2,)}, "clip"), cube, (((6, 3, 1), 5),), (6, 3, 8), **more)
    for kind in ("sum", "prod", "min", "max"):
        segment = getattr(jax.ops, f"segment_{kind}")
        more = {"computes": True, "differentiable": kind != "prod"}
        add(f"segment_{kind}", lambda x, i, u, segment=segment: x + segment(u, i, num_segments=12), matrix, (ids,), (9, 8), **more)
        add(f"segment_{kind}, sorted", lambda x, i, u, segment=segment: x + segment(u, jnp.sort(i), num_segments=12, indices_are_sorted=True), matrix, (ids,), (9, 8), **more)
        add(f"segment_{kind} of numbers", lambda x, i, u, segment=segment: x + segment(u, i, num_segments=12)[:, None], matrix, (((30,), 12),), (30,), **more)
        add(f"segment_{kind} in buckets", lambda x, i, u, segment=segment: x + segment(u, i, num_segments=12, bucket_size=4), matrix, (ids,), (9, 8), **more)
        add(f"segment_{kind}, clip", lambda x, i, u, segment=segment: x + segment(u, i, num_segments=12, mode="clip"), matrix, (ids,), (9, 8), **more)
    for axis, shape in ((0, (4, 8)), (1, (12, 3))):
        add(f"put_along_axis {axis}", lambda x, i, u, axis=axis: jnp.put_along_axis(x, i, u, axis, inplace=False), matrix, ((shape, matrix[axis]),), shape)
    add("put_along_axis, unique", lambda x, i, u: jnp.put_along_axis(x, jnp.argsort(i, 1), u, 1, inplace=False), matrix, (((12, 8), 8),), matrix)
    add("bincount", lambda x, i, u: x + jnp.bincount(i, length=8).astype(x.dtype), matrix, (((30,), 8),), (), computes=True, differentiable=False)
    add("bincount with weights", lambda x, i, u: x + jnp.bincount(jnp.abs(i), weights=u, length=8).astype(x.dtype), matrix, (((30,), 8),), (30,), computes=True)
    add("histogram", lambda x, i, u: x + jnp.histogram(i, bins=8, range=(-5.0, 15.0))[0].astype(x.dtype), matrix, (((30,), 12),), (), computes=True, differentiable=False)
    add("permute and back", lambda x, i, u: x.at[jnp.argsort(i)].set(x[jnp.argsort(i)] + u), matrix, (((12,), 4),), matrix, computes=True)
    add("experts", experts, matrix, (((24,), 4),), (24,), computes=True)
    add("messages", lambda x, i, j, u: jnp.zeros_like(x).at[i].add(x[j]), matrix, (ids, ids), (), computes=True)
    add("messages with weights", lambda x, i, j, u: jnp.zeros_like(x).at[i].add(x[j] * u[:, None]), matrix, (ids, ids), (9,), computes=True)
    add("messages of differences", lambda x, i, j, u: x.at[i].max(x[j] - x[i]), matrix, (ids, ids), (), computes=True)
    add("degrees", lambda x, i, u: x / jnp.maximum(1, jnp.zeros(12, x.dtype).at[i].add(1))[:, None], matrix, (ids,), (), computes=True, floating=True, differentiable=False)
    add("gradient of an embedding", lambda x, i, u: x - jax.vjp(lambda t: t[i], x)[1](u)[0], matrix, (ids,), (9, 8), computes=True, floating=True)
    add("paged write", lambda x, i, u: x.reshape(4, 3, 8).at[i // 3, i % 3].set(u, mode="drop").reshape(12, 8), matrix, (ids,), (9, 8))
    add("updates of another dtype", lambda x, i, u: x.at[i].add(jnp.ones((9, 8), jnp.int8).astype(x.dtype)), matrix, (ids,), (), computes=True)
    add("update of what was read", lambda x, i, u: x.at[i].set(x[i] + u), matrix, (ids,), (9, 8), computes=True)
    add("into computed", lambda x, i, u: (x * 2).at[i].add(u), matrix, (ids,), (9, 8), computes=True)
    add("into a constant", lambda x, i, u: jnp.full((12, 8), 3, x.dtype).at[i].set(u), matrix, (ids,), (9, 8))
    add("then read", lambda x, i, j, u: x.at[i].add(u)[j], matrix, (ids, ids), (9, 8), computes=True, carried=False)
    for index in ("int8", "uint8", "int16", "uint32"):
        add(f"add rows by {index}", lambda x, i, u: x.at[i].add(u), matrix, (ids,), (9, 8), index=index, computes=True)
    return found


def experts(x, i, u):
    """Tokens sorted by expert without a sort: each one's place is the number of tokens of its expert before it."""
    chosen = i % 4
    before = jnp.cumsum(chosen[:, None] == jnp.arange(4), axis=0)[jnp.arange(24), chosen] - 1
    slots = jnp.zeros((4, 6, 8), x.dtype).at[chosen, before].set(x[jnp.arange(24) // 2], mode="drop")
    back = slots.at[chosen, before].get(mode="fill", fill_value=0) * u[:, None]
    return x.at[jnp.arange(24) // 2].add(back)


# What JAX makes of a function f(x, *indices, updates): a function of other arguments, and how the arguments are made of the base's.
def many(base, rng, make, count, which):
    """The base's arguments, those for which `which` is true `count` times."""
    made = [make() for _ in range(count)]
    return [np.stack([each[n] for each in made]) if batched else made[0][n] for n, batched in enumerate(which)]


def transforms(base, floating):
    """[(name, function, arguments of rng and make)]: what may be done with the base."""
    f, number = base.function, 1 + len(base.indices) + (base.updates is not None)
    reading = base.updates is None
    found = [("jit", f, lambda rng, make: make())]

    def batched(name, which, function=None):
        axes = tuple(0 if each else None for each in which)
        found.append((name, jax.vmap(function or f, in_axes=axes), lambda rng, make: many(base, rng, make, 3, which)))
    batched("vmap", [True] * number)
    batched("vmap of the array", [True] + [False] * (number - 1))
    batched("vmap of the indices", [False] + [True] * len(base.indices) + [False] * (not reading))
    found.append(("vmap of vmap", jax.vmap(jax.vmap(f)), lambda rng, make: [np.stack([a, b]) for a, b in zip(many(base, rng, make, 2, [True] * number), many(base, rng, make, 2, [True] * number), strict=True)]))
    found.append(("cond", lambda *a: lax.cond(jnp.sum(a[1]) % 2 == 0, f, lambda *b: f(*b[:1], *[each + 1 for each in b[1:1 + len(base.indices)]], *b[1 + len(base.indices):]), *a),
                  lambda rng, make: make()))
    found.append(("shard_map", shard_mapped(f), lambda rng, make: make()))
    if reading:
        found.append(("scan", lambda x, *s: lax.scan(lambda c, t: (c, f(c, *t)), x, s)[1], lambda rng, make: many(base, rng, make, 4, [False] + [True] * (number - 1))))
    elif base.carried:
        found.append(("scan", lambda x, *s: lax.scan(lambda c, t: (f(c, *t), None), x, s)[0], lambda rng, make: many(base, rng, make, 4, [False] + [True] * (number - 1))))
        found.append(("fori", lambda x, *s: lax.fori_loop(0, 3, lambda n, c: f(c, *[each + n.astype(each.dtype) for each in s[:len(base.indices)]], *s[len(base.indices):]), x), lambda rng, make: make()))
        found.append(("while", lambda x, *s: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1], *s)), (0, x))[1], lambda rng, make: make()))
    if floating and base.differentiable:
        def loss(*a):
            out = f(*a)
            return jnp.sum(out * jnp.linspace(-1, 1, out.size).astype(out.dtype).reshape(out.shape)).astype(jnp.float32)
        wrt = (0,) if reading else (0, number - 1)
        gradient = jax.grad(loss, wrt)
        found.append(("grad", gradient, lambda rng, make: make()))
        batched("vmap of grad", [True] * number, gradient)
        found.append(("grad of remat", jax.grad(jax.checkpoint(loss), wrt), lambda rng, make: make()))
        found.append(("jvp", lambda *a: jax.jvp(lambda x: f(x, *a[1:]), (a[0],), (jnp.ones_like(a[0]) * 0.5,)), lambda rng, make: make()))
        if not reading and base.carried:
            found.append(("grad of scan", jax.grad(lambda x, *s: jnp.sum(lax.scan(lambda c, t: (f(c, *t), None), x, s)[0]).astype(jnp.float32), wrt),
                          lambda rng, make: many(base, rng, make, 3, [False] + [True] * (number - 1))))
            found.append(("grad of vmap", jax.grad(lambda *a: jnp.sum(jax.vmap(f)(*a)).astype(jnp.float32), wrt), lambda rng, make: many(base, rng, make, 3, [True] * number)))
    return found


def shard_mapped(function):
    mesh = jax.make_mesh((1,), ("devices",), devices=jax.devices()[:1])
    return jax.shard_map(function, mesh=mesh, in_specs=jax.P(), out_specs=jax.P(), check_vma=False)


def make_cases(x64, per_base):
    """[Case]: every base with jit alone (without 64-bit types), and `per_base` times with a transform and a dtype, which its name draws."""
    found = []
    for base in reads() + updates():
        rng = np.random.default_rng(zlib.crc32(f"{base.name} {x64}".encode()))
        dtypes = (COMPUTED_X64 if x64 else COMPUTED) if base.computes else (MOVED_X64 if x64 else MOVED)
        if base.floating:
            dtypes = [each for each in dtypes if jnp.issubdtype(jnp.dtype(each), jnp.floating)]
        index = base.index if not x64 else {"int32": "int64", "int16": "uint64"}.get(base.index, base.index)
        for number in range(x64, per_base + 1):
            dtype = dtypes[0] if number == 0 else dtypes[rng.integers(len(dtypes))]
            floating = jnp.issubdtype(jnp.dtype(dtype), jnp.floating) and jnp.dtype(dtype).itemsize > 1
            choices = transforms(base, floating)
            name, function, arguments = choices[0 if number == 0 else rng.integers(len(choices))]

            def make(dtype=dtype, index=index, rng=rng, base=base, specials=name not in ("grad of scan",)):
                made = [elements(rng, dtype, base.shape, specials), *(index_elements(rng, index, shape, extent) for shape, extent in base.indices)]
                return made if base.updates is None else [*made, elements(rng, dtype, base.updates, specials)]
            found.append(Case(f"{base.name}, {dtype}, {name}", function, arguments(rng, make)))
    return found
