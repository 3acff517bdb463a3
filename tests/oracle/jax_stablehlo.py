"""StableHLO that JAX itself lowers, through `strew run --oob skip_window`, against XLA's CPU result of the same operation.

Each case is a JAX program (`.at[].add`, `lax.scatter_max`, `vmap` of either, `lax.gather`, `dynamic_update_slice`, ...) on
some shapes, element types and modes. From its lowered text every scatter, gather, dynamic_slice and dynamic_update_slice is
cut out and put into a module of its own, together with the private functions its region calls. That module runs twice on the
same random inputs (indices out of range on both sides, duplicates): once in XLA, once in strew. Results must be equal bit for
bit; any two NaNs are equal.

What is kept out, because XLA's CPU code does not promise those bits: subnormals (it flushes them), contracted multiply-add
and transcendental functions in regions, and excess precision (switched off by flag). A scatter of several updates whose index
vector is empty is kept out because XLA applies only the last of them (openxla/xla#48716).

Exit status 77 when jax is absent.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"
try:
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np
    from jax import lax
    from jax._src.lib import xla_client
    from jax.extend import backend as jax_backend
    from _npy import load
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

jax.config.update("jax_enable_x64", True)

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_, "i8": np.int8,
          "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
          "ui64": np.uint64}
OPS = ("scatter", "gather", "dynamic_slice", "dynamic_update_slice")


# --- from JAX's text to modules of one operation

def functions_of(text):
    """Private functions by name, with their text."""
    return {m.group(1): m.group(0) for m in re.finditer(r"^  func\.func private @(\S+?)\(.*?^  }$", text, re.S | re.M)}


def types_of(signature):
    """Operand and result types of '(A, B) -> R' or '(A) -> (R, S)'."""
    inputs, results = signature.split(" -> ", 1)
    return re.findall(r"tensor<[^>]*>", inputs), re.findall(r"tensor<[^>]*>", results)


def operations(text):
    """(name, text with %in0.. as operands, operand types, result types) of every indexed operation."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        found = re.match(r'\s*(?:(%\S+) = )"?stablehlo\.(\w+)"?\b', line)
        if not found or found.group(2) not in OPS:
            continue
        body = line
        if body.rstrip().endswith("({"):
            end = at + 1
            while not re.match(r"\s*}\) : ", lines[end]):
                end += 1
            body = "\n".join(lines[at:end + 1])
        inputs, results = types_of(body[body.rindex(" : (") + 3:])
        head, rest = body.split("\n", 1) if "\n" in body else (body, "")
        call = head[head.index("stablehlo."):]
        names = re.findall(r"%[\w#]+", call.split(" : (")[0])[:len(inputs)]
        assert len(names) == len(inputs), head
        for i, name in enumerate(names):
            call = re.sub(re.escape(name) + r"(?![\w#])", f"%in{i}", call, count=1)
        prefix = head[:head.index("stablehlo.")]
        yield found.group(2), (prefix + call + ("\n" + rest if rest else "")), inputs, results


def modules(text):
    """Each indexed operation of JAX's text as a module with one public function."""
    functions = functions_of(text)
    for name, body, inputs, results in operations(text):
        needed, called = [], re.findall(r"call @(\S+?)\(", body)
        while called:
            callee = called.pop()
            if callee not in needed:
                needed.append(callee)
                called += re.findall(r"call @(\S+?)\(", functions[callee])
        lhs = body.strip().split(" = ", 1)[0]
        n = len(results)
        returned = lhs if n == 1 else ", ".join(f"{lhs.split(':')[0]}#{i}" for i in range(n))
        arguments = ", ".join(f"%in{i}: {t}" for i, t in enumerate(inputs))
        module = (f"module @case {{\n  func.func public @main({arguments}) -> ({', '.join(results)}) {{\n{body}\n"
                  f"    return {returned} : {', '.join(results)}\n  }}\n" + "\n".join(functions[f] for f in needed) + "\n}\n")
        yield name, module, inputs, results


# --- data

def shape_of(type_text):
    *dims, element = type_text[len("tensor<"):-1].split("x")
    return [int(d) for d in dims], DTYPES[element]


def values(rng, shape, dtype):
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == np.bool_:
        return np.array([rng.random() < 0.5 for _ in range(count)], dtype=dtype).reshape(shape)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        pool = [info.min, info.max, 0, 1, 3]
        return np.array([rng.choice(pool) if rng.random() < 0.2 else rng.randint(max(info.min, -99), 99) for _ in range(count)],
                        dtype=dtype).reshape(shape)
    special = [float("inf"), float("-inf"), float("nan"), 0.0, 1e4, -0.1, 1 / 3]
    return np.array([rng.choice(special) if rng.random() < 0.15 else rng.uniform(-2, 2) for _ in range(count)],
                    dtype=np.float64).astype(dtype).reshape(shape)


def indices(rng, shape, dtype, largest):
    info = np.iinfo(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    low = max(info.min, -2)
    pick = lambda: rng.choice([info.min, info.max]) if rng.random() < 0.05 else rng.randint(low, largest + 1)
    return np.array([pick() for _ in range(count)], dtype=dtype).reshape(shape)


def inputs_for(rng, name, types):
    shapes = [shape_of(t) for t in types]
    largest = max(shapes[0][0], default=1)
    first = {"scatter": (len(types) - 1) // 2, "gather": 1, "dynamic_slice": 1, "dynamic_update_slice": 2}[name]
    last = first + 1 if name in ("scatter", "gather") else len(types)
    return [indices(rng, s, d, largest) if first <= i < last else values(rng, s, d) for i, (s, d) in enumerate(shapes)]


def honest(module, name, arrays):
    """A false hint is undefined behaviour: hints stay only where there is one index position."""
    at = (len(arrays) - 1) // 2 if name == "scatter" else 1
    if arrays[at].size <= 1:
        return module
    return re.sub("(indices_are_sorted|unique_indices) = true", r"\1 = false", module)


def xla_drops_updates(name, arrays):
    at = (len(arrays) - 1) // 2
    return name == "scatter" and arrays[at].size == 0 and arrays[-1].size > 1


# --- the programs

def rows(rng, *shape):
    numbers = [rng.randint(0, 3) for _ in range(int(np.prod(shape)))]
    return jnp.asarray(np.array(numbers).reshape(shape), dtype=rng.choice([np.int32, np.int64]))


def at_programs(rng, dtype):
    """x.at[...] in NumPy's indexing forms."""
    x = jnp.zeros((5, 4, 3), dtype)
    arithmetic = [] if dtype == np.bool_ else ["add", "multiply", "subtract"]
    for method in ["set", "min", "max"] + arithmetic:
        i, j = rows(rng, 6), rows(rng, 6)
        index = rng.choice([i, (i, j), (slice(None), i), (i, slice(1, 3)), (slice(None), i, slice(None)), (i, slice(None), j),
                            rows(rng, 2, 3), (Ellipsis, i), 2, (1, i)])
        u = jnp.zeros(x[index].shape, dtype)
        mode = rng.choice(["drop", "clip", "promise_in_bounds"])
        yield f"at.{method} {mode}", lambda x, u, m=method, k=index, o=mode: getattr(x.at[k], m)(u, mode=o), (x, u)
        batched = jnp.stack([x] * 2), jnp.stack([rows(rng, 4)] * 2), jnp.zeros((2, 4, 4, 3), dtype)
        yield f"vmap at.{method}", jax.vmap(lambda x, i, u, m=method: getattr(x.at[i], m)(u, mode="drop")), batched
        yield (f"vmap indices at.{method}", jax.vmap(lambda x, i, u, m=method: getattr(x.at[:, i], m)(u), in_axes=(None, 0, 0)),
               (x, jnp.stack([rows(rng, 2)] * 3), jnp.zeros((3, 5, 2, 3), dtype)))
    yield ("vmap vmap at.set", jax.vmap(jax.vmap(lambda x, i, u: x.at[i].set(u))),
           (jnp.zeros((2, 3, 4), dtype), jnp.zeros((2, 3, 5), np.int32), jnp.zeros((2, 3, 5), dtype)))


def apply_programs(rng, dtype):
    """x.at[i].apply(f): the region is f, once per hit."""
    if dtype == np.bool_:
        return
    x, i = jnp.zeros((6, 3), dtype), rows(rng, 4)
    functions = {"where": lambda v: jnp.where(v > 0, v, -v), "abs": jnp.abs, "clip": lambda v: jnp.clip(v, 0, 1),
                 "double": lambda v: v * 2, "sign": jnp.sign, "relu": jax.nn.relu}
    if np.issubdtype(dtype, np.integer):
        three = np.array(3, dtype)
        functions.update({"not": lambda v: ~v, "shift": lambda v: v << 3, "shift_right": lambda v: v >> 1, "xor": lambda v: v ^ 5,
                          "remainder": lambda v: lax.rem(v, three), "divide": lambda v: lax.div(v, three)})
    else:
        functions.update({"floor": jnp.floor, "rint": jnp.rint, "reciprocal": lambda v: 1 / v,
                          "is_finite": lambda v: jnp.where(jnp.isfinite(v), v, 0)})
    for name, f in functions.items():
        yield f"at.apply {name}", lambda x, f=f, i=i: x.at[i].apply(f), (x,)


def dimension_numbers(rng, kind):
    """Operand, indices, updates (or slice sizes) and dimension numbers of lax.scatter or lax.gather."""
    operand = [rng.randint(1, 5) for _ in range(rng.randint(1, 4))]
    dims = list(range(len(operand)))
    batching = sorted(rng.sample(dims, rng.randint(0, min(2, len(dims)))))
    free = [d for d in dims if d not in batching]
    inserted = sorted(rng.sample(free, rng.randint(0, len(free))))
    window = [d for d in free if d not in inserted]
    moved = rng.sample(free, rng.randint(0, len(free)))
    positions = [operand[d] for d in batching] + [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
    order = list(range(len(positions)))
    rng.shuffle(order)
    where = [order.index(k) for k in range(len(batching))]
    positions = [positions[k] for k in order]
    sizes = [rng.randint(1, operand[d]) for d in window]
    rank = len(positions) + len(window)
    places = sorted(rng.sample(range(rank), len(window)))
    rest, sizes_left = iter(positions), iter(sizes)
    shape = [next(sizes_left) if d in places else next(rest) for d in range(rank)]
    if kind == "scatter":
        numbers = lax.ScatterDimensionNumbers(tuple(places), tuple(inserted), tuple(moved), tuple(batching), tuple(where))
        return operand, positions + [len(moved)], shape, numbers
    numbers = lax.GatherDimensionNumbers(tuple(places), tuple(inserted), tuple(moved), tuple(batching), tuple(where))
    slice_sizes = [1] * len(operand)
    for d, size in zip(window, sizes):
        slice_sizes[d] = size
    return operand, positions + [len(moved)], tuple(slice_sizes), numbers


def lax_programs(rng, dtype):
    """lax.scatter* and lax.gather with random dimension numbers."""
    mode = lax.GatherScatterMode
    modes = [mode.FILL_OR_DROP, mode.CLIP, mode.PROMISE_IN_BOUNDS]
    kinds = [lax.scatter, lax.scatter_min, lax.scatter_max]
    if dtype != np.bool_:
        kinds += [lax.scatter_add, lax.scatter_mul, lax.scatter_sub]
    for f in kinds:
        operand, index, update, numbers = dimension_numbers(rng, "scatter")
        index_dtype = rng.choice([np.int32, np.int64, np.uint8, np.int8, np.uint32, np.int16])
        yield (f"{f.__name__} {operand} {index} {update} {numbers}",
               lambda x, i, u, f=f, n=numbers, m=rng.choice(modes): f(x, i, u, n, mode=m),
               (jnp.zeros(operand, dtype), jnp.zeros(index, index_dtype), jnp.zeros(update, dtype)))
    for _ in range(3):
        operand, index, sizes, numbers = dimension_numbers(rng, "gather")
        yield (f"gather {operand} {index} {sizes} {numbers}",
               lambda x, i, n=numbers, s=sizes, m=rng.choice(modes): lax.gather(x, i, n, s, mode=m),
               (jnp.zeros(operand, dtype), jnp.zeros(index, rng.choice([np.int32, np.int64, np.uint8, np.uint32]))))


def read_programs(rng, dtype):
    x, i, j = jnp.zeros((5, 4, 3), dtype), rows(rng, 6), rows(rng, 6)
    for index in (i, (i, j), (slice(None), i), (i, slice(0, 2)), rows(rng, 2, 2), (Ellipsis, i), -1):
        yield f"x[...]", lambda x, k=index: x[k], (x,)
    yield "take fill", lambda x, i: jnp.take(x, i, axis=1, mode="fill"), (x, i)
    yield "take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis=0), (x, jnp.zeros((2, 4, 3), np.int32))
    yield "vmap x[i]", jax.vmap(lambda x, i: x[i]), (x, jnp.zeros((5, 2), np.int32))


def slice_programs(rng, dtype):
    x, u, s = jnp.zeros((5, 4, 3), dtype), jnp.zeros((2, 4, 1), dtype), jnp.zeros((), rng.choice([np.int32, np.int64]))
    yield "dynamic_update_slice", lambda x, u, s: lax.dynamic_update_slice(x, u, (s, s, s)), (x, u, s)
    yield "dynamic_slice", lambda x, s: lax.dynamic_slice(x, (s, s, s), (2, 3, 1)), (x, s)
    yield "dynamic_update_index", lambda x, u, s: lax.dynamic_update_index_in_dim(x, u, s, 0), (x, jnp.zeros((4, 3), dtype), s)
    starts = jnp.zeros((5,), np.int32)
    yield "vmap dynamic_slice", jax.vmap(lambda x, s: lax.dynamic_slice_in_dim(x, s, 2)), (x, starts)
    yield ("vmap dynamic_update_slice", jax.vmap(lambda x, u, s: lax.dynamic_update_slice_in_dim(x, u, s, 0)),
           (x, jnp.zeros((5, 2, 3), dtype), starts))


def segment_programs(rng, dtype):
    if dtype == np.bool_:
        return
    for f in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_min, jax.ops.segment_max):
        yield f.__name__, lambda x, i, f=f: f(x, i, num_segments=4), (jnp.zeros((9, 2), dtype), jnp.zeros((9,), np.int32))


FAMILIES = (at_programs, apply_programs, lax_programs, read_programs, slice_programs, segment_programs)


# --- both sides

class Xla:
    def __init__(self):
        self.client = jax_backend.get_backend("cpu")
        self.devices = xla_client.DeviceList(tuple(self.client.local_devices()[:1]))

    def run(self, module, arrays):
        executable = self.client.compile_and_load(module, self.devices, xla_client.CompileOptions())
        results = executable.execute_sharded([jax.device_put(a) for a in arrays]).disassemble_into_single_device_arrays()
        return [np.asarray(r[0]) for r in results]


def save(path, array):
    np.save(path, array.view("V2") if array.dtype == ml_dtypes.bfloat16 else array)


def strew(program, folder, module, arrays, results, extra):
    path = os.path.join(folder, "case.mlir")
    with open(path, "w") as file:
        file.write(module)
    inputs = [os.path.join(folder, f"in{i}.npy") for i in range(len(arrays))]
    outputs = [os.path.join(folder, f"out{i}.npy") for i in range(len(results))]
    for name, array in zip(inputs, arrays):
        save(name, array)
    command = [program, "run", path, "--input", *inputs, "--output", *outputs, *extra]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()
    return [load(name).view(shape_of(t)[1]) for name, t in zip(outputs, results)]


def same(a, b):
    if a.shape != b.shape:
        return False
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    equal = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    if a.dtype.kind in "fV":
        equal |= np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    return bool(np.all(equal))


def check(program, case):
    """The compiled kernel against XLA; --verify compares it with the reference backend in the same process."""
    label, name, module, results, arrays, expected = case
    extra = ["--verify"] + (["--oob", "skip_window"] if name == "scatter" else [])
    with tempfile.TemporaryDirectory() as folder:
        got = strew(program, folder, module, arrays, results, extra)
    if isinstance(got, str):
        return f"{label}: {got}\n{module}"
    for i, (g, e) in enumerate(zip(got, expected)):
        if not same(g, e):
            return f"{label}: result {i}\n{module}\ninputs {arrays}\nstrew {g}\nXLA   {e}"
    return None


def cases(rng, xla, dtypes):
    seen = set()
    for dtype in dtypes:
        for family in FAMILIES:
            for label, function, arguments in family(rng, DTYPES[dtype]):
                text = jax.jit(function).lower(*arguments).as_text()
                for name, module, inputs, results in modules(text):
                    arrays = inputs_for(rng, name, inputs)
                    module = honest(module, name, arrays)
                    if module in seen or xla_drops_updates(name, arrays):
                        continue
                    seen.add(module)
                    yield f"{label} {dtype}", name, module, results, arrays, xla.run(module, arrays)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--strew", required=True)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--dtypes", default=",".join(DTYPES))
    options = arguments.parse_args()
    rng = random.Random(options.seed)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        pending = [pool.submit(check, options.strew, case) for case in cases(rng, Xla(), options.dtypes.split(","))]
        failures = [message for message in (future.result() for future in pending) if message]
    for message in failures[:10]:
        print(message, "\n")
    print(f"seed {options.seed}: {len(pending)} operations of JAX's text, {len(failures)} wrong")
    return 1 if failures or len(pending) < 25 * len(options.dtypes.split(",")) else 0


if __name__ == "__main__":
    sys.exit(main())
