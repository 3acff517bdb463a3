"""Writes the modules beside it: functions as JAX lowers them, one per idiom the importer folds or fuses (tests/golden/fusion_test.cc).

    python3 tests/golden/jax/lower.py      needs jax; the modules are committed, so tests do not
"""

import os
import re

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

HERE = os.path.dirname(os.path.abspath(__file__))
INDEX_TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
               "u64": np.uint64}


def data(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def programs():
    """(name, function, arguments)"""
    x, u = data(5, 4), data(6, 4)
    for label, dtype in INDEX_TYPES.items():
        i = data(6, dtype=dtype)
        for mode in ("drop", "clip", "promise_in_bounds"):
            yield f"set_{mode}_{label}", lambda x, i, u, m=mode: x.at[i].set(u, mode=m), (x, i, u)
        for mode in ("fill", "clip", "promise_in_bounds"):
            yield f"get_{mode}_{label}", lambda x, i, m=mode: x.at[i].get(mode=m), (x, i)
        yield f"tall_get_fill_{label}", lambda x, i: x.at[i].get(mode="fill", fill_value=-1, wrap_negative_indices=False), (data(300, 2), i)
        yield f"tall_set_clip_{label}", lambda x, i, u: x.at[i].set(u, mode="clip", wrap_negative_indices=False), (data(300, 2), i, data(6, 2))
        yield f"dynamic_update_slice_{label}", lambda x, u, s: lax.dynamic_update_slice(x, u, (s, s)), (x, data(2, 3), dtype(0))
    i, j = data(6, dtype=np.int32), data(6, dtype=np.int32)
    yield "add_drop", lambda x, i, u: x.at[i].add(u, mode="drop"), (x, i, u)
    yield "mul_two_components", lambda x, i, j, u: x.at[i, j].mul(u), (x, i, j, data(6))
    yield "get_two_components_fill", lambda x, i, j: x.at[i, j].get(mode="fill", fill_value=7), (x, i, j)
    yield "columns_clip", lambda x, i, u: x.at[:, i].set(u, mode="clip"), (x, i, data(5, 6))
    yield "index_pairs", lambda x, p: x[p[:, 0], p[:, 1]], (x, data(6, 2, dtype=np.int32))
    yield "one_row", lambda x, i: x[i], (x, np.int32(0))
    yield "fixed_row_some_columns", lambda x, i: x[2, i], (x, i)
    yield "no_wrap", lambda x, i, u: x.at[i].set(u, wrap_negative_indices=False), (x, i, u)
    yield "clipped_before", lambda x, i, u: x.at[jnp.clip(i, 0, 4)].set(u), (x, i, u)
    yield "clipped_elsewhere", lambda x, i, u: x.at[jnp.clip(i, 1, 3)].set(u), (x, i, u)
    yield "masked_before", lambda x, i, u: x.at[jnp.where(i % 2 == 0, i, 100)].set(u, mode="drop"), (x, i, u)
    yield "take_fill", lambda x, i: jnp.take(x, i, axis=1), (x, i)
    yield "take_clip", lambda x, i: jnp.take(x, i, axis=0, mode="clip"), (x, i)
    yield "take_wrap", lambda x, i: jnp.take(x, i, axis=0, mode="wrap"), (x, i)
    yield "take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis=0), (x, data(2, 4, dtype=np.int32))
    yield "take_along_axis_clip", lambda x, i: jnp.take_along_axis(x, i, axis=1, mode="clip"), (x, data(5, 2, dtype=np.int32))
    for f in (jax.ops.segment_sum, jax.ops.segment_max):
        yield f.__name__, lambda u, i, f=f: f(u, i, num_segments=4), (u, i)
    yield "one_hot", lambda i: jnp.zeros((6, 5)).at[jnp.arange(6), i].set(1), (i,)
    yield "histogram", lambda i: jnp.zeros(8, np.int32).at[i].add(1), (i,)
    yield "dynamic_slice", lambda x, s: lax.dynamic_slice(x, (s, 0), (2, 4)), (x, np.int32(0))
    yield "vmap_add", jax.vmap(lambda x, i, u: x.at[i].add(u)), (data(3, 5, 4), data(3, 2, dtype=np.int32), data(3, 2, 4))
    yield "vmap_get_fill", jax.vmap(lambda x, i: x.at[i].get(mode="fill")), (data(3, 5, 4), data(3, 2, dtype=np.int32))
    yield "vmap_clip", jax.vmap(lambda x, i, u: x.at[i].set(u, mode="clip")), (data(3, 5, 4), data(3, 2, dtype=np.int32), data(3, 2, 4))
    yield "vmap_take_along_axis", jax.vmap(lambda x, i: jnp.take_along_axis(x, i, axis=0)), (data(3, 5), data(3, 2, dtype=np.int32))
    yield ("vmap_dynamic_update_slice", jax.vmap(lambda x, u, s: lax.dynamic_update_slice_in_dim(x, u, s, 0)),
           (x, data(5, 2), data(5, dtype=np.int32)))
    yield "vmap_dynamic_slice", jax.vmap(lambda x, s: lax.dynamic_slice_in_dim(x, s, 2)), (x, data(5, dtype=np.int32))
    yield "vmap_indices", jax.vmap(lambda x, i: x[i], in_axes=(None, 0)), (x, data(3, 2, dtype=np.int32))
    # Elementwise operations on updates and on what is gathered.
    yield "fuse_scale_bias", lambda x, i, u, b: x.at[i].add(u * 2 + b), (x, i, u, data(4))
    yield "fuse_row_weight", lambda x, i, u, w: x.at[i].add(u * w[:, None]), (x, i, u, data(6))
    yield "fuse_scalar", lambda x, i, u, a: x.at[i].add(u * a), (x, i, u, np.float32(0))
    yield "fuse_two_tensors", lambda x, i, u, v: x.at[i].max(u - v), (x, i, u, u)
    yield "fuse_convert", lambda x, i, u: x.at[i].add(u.astype(jnp.float32)), (x, i, data(6, 4, dtype=ml_dtypes.bfloat16))
    yield "fuse_narrow", lambda x, i, u: x.at[i].set(u), (data(5, 4, dtype=ml_dtypes.bfloat16), i, u)
    yield "fuse_activation", lambda x, i, u: x.at[i].add(jax.nn.relu(u) * jnp.tanh(u)), (x, i, u)
    yield "fuse_read_twice", lambda x, i, u: (x.at[i].add(u * 2), u * 2), (x, i, u)
    yield "fuse_constant_update", lambda x, i: x.at[i].set(1), (x, i)
    yield "fuse_epilogue", lambda x, i, b: jax.nn.relu(x[i] * 3 + b), (x, i, data(4))
    yield "fuse_epilogue_after_fill", lambda x, i: x.at[i].get(mode="fill", fill_value=2) + 1, (x, i)
    yield "fuse_two_gathers", lambda x, y, i, j: x[i] * y[j], (x, x, i, j)
    yield "gather_then_scatter", lambda x, i, j: x.at[j].add(x[i] * 2), (x, i, j)
    yield ("update_slice", lambda x, u, s: lax.dynamic_update_slice_in_dim(x, lax.dynamic_slice_in_dim(x, s, 2) * u + 1, s, 0),
           (x, data(2, 4), np.int32(0)))
    yield ("update_slice_alone", lambda x, s: lax.dynamic_update_slice_in_dim(x, jnp.tanh(lax.dynamic_slice_in_dim(x, s, 2)), s, 0),
           (x, np.int32(0)))
    yield "update_vmap", jax.vmap(lambda x, i, u: x.at[i].set(x[i] * u)), (x, data(5, dtype=np.int32), data(5))
    yield "two_functions", lambda x, i, u: (x.at[i].set(u), x[i]), (x, i, u)


def main():
    for name in os.listdir(HERE):
        if name.endswith(".mlir"):
            os.remove(os.path.join(HERE, name))
    for name, function, arguments in programs():
        jax.config.update("jax_enable_x64", any(getattr(a, "dtype", None) in (np.int64, np.uint64) for a in arguments))
        text = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
        text = re.sub(r" attributes {mhlo[^}]*}", "", text).replace("@jit__lambda", "@jit")
        with open(os.path.join(HERE, name + ".mlir"), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
