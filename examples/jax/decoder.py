#!/usr/bin/env python3
"""Decoding with a paged cache of keys and values, in plain JAX: the same tokens and the same caches with strew's kernels and without.

    decoder.py [BUILD] [--full] [--tokens N]

The cache of a layer has pages of 16 rows; a sequence owns pages, in any order, and a table says which. A step writes a row per sequence and reads the pages of all tokens so far. The caches are donated, so that
both XLA and strew write where they lie.

Run by ctest as example_jax_decoder. `--full`: 4 layers, 16 sequences, 8 heads of 128, 1,024 tokens each. Exit status 1: other bits, or a cache that was copied, or strew ran nothing.
"""
import argparse
import sys
import time

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import strew.jax

PAGE, VOCABULARY = 16, 256


def attend(query, keys, values, pages, position):
    """Of one token per sequence, [sequences, heads, numbers], over the rows of its pages."""
    sequences, heads, numbers = query.shape
    keys, values = (each[pages].reshape(sequences, -1, heads, numbers) for each in (keys, values))
    scores = jnp.einsum("shn,sthn->sht", query, keys) / np.sqrt(numbers).astype(np.float32)
    scores = jnp.where(jnp.arange(scores.shape[2]) <= position, scores, -jnp.inf)
    return jnp.einsum("sht,sthn->shn", jax.nn.softmax(scores), values)


def step(caches, tokens, position, weights, pages):
    """The caches with a row more for each sequence, and the next tokens."""
    x = weights["embedding"][tokens]
    page, slot = jnp.take(pages, position // PAGE, axis=1), position % PAGE
    written = []
    for (keys, values), layer in zip(caches, weights["layers"], strict=True):
        shape = (len(tokens), *keys.shape[2:])
        query, key, value = (each.reshape(shape) for each in jnp.split(x @ layer["qkv"], 3, axis=1))
        keys, values = keys.at[page, slot].set(key), values.at[page, slot].set(value)
        written.append((keys, values))
        x = x + attend(query, keys, values, pages, position).reshape(x.shape) @ layer["out"]
    return written, jnp.argmax(x @ weights["embedding"].T, axis=1).astype(jnp.int32)


def weights_of(layers, width):
    rng = np.random.default_rng(0)

    def matrix(*dims):
        return jnp.asarray((rng.standard_normal(dims) / np.sqrt(dims[0])).astype(np.float32))
    return {"embedding": matrix(VOCABULARY, width), "layers": [{"qkv": matrix(width, 3 * width), "out": matrix(width, width)} for _ in range(layers)]}


def decode(jit, weights, sequences, heads, numbers, most, tokens):
    """What was decoded, the caches, and the seconds of a step after the first."""
    pages = jnp.asarray(np.random.default_rng(1).permutation(sequences * most // PAGE).reshape(sequences, -1).astype(np.int32))
    caches = [tuple(jnp.zeros((pages.size, PAGE, heads, numbers)) for _ in range(2)) for _ in weights["layers"]]
    jitted, last, decoded = jit(step, donate_argnums=0), jnp.arange(sequences, dtype=jnp.int32), []
    addresses = [each.unsafe_buffer_pointer() for each in jax.tree.leaves(caches)]
    for number in range(tokens):
        if number == 1:
            started = time.perf_counter()
        caches, last = jitted(caches, last, jnp.int32(number), weights, pages)
        decoded.append(np.asarray(last).tolist())
    seconds = (time.perf_counter() - started) / (tokens - 1)
    in_place = sorted(addresses) == sorted(each.unsafe_buffer_pointer() for each in jax.tree.leaves(caches))
    return decoded, [np.asarray(each).tobytes() for each in jax.tree.leaves(caches)], in_place, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--tokens", type=int, default=20)
    options = parser.parse_args()
    layers, sequences, heads, numbers, most = (4, 16, 8, 128, 1024) if options.full else (2, 3, 2, 16, 64)
    weights, right, expected = weights_of(layers, heads * numbers), True, None
    for way, jit in (("JAX", jax.jit), ("strew.jax.enable()", jax.jit), ("strew.jax.jit", strew.jax.jit)):
        (strew.jax.enable if way == "strew.jax.enable()" else strew.jax.disable)()
        *got, seconds = decode(jit, weights, sequences, heads, numbers, most, options.tokens)
        expected = expected or got
        right &= got == expected
        print(f"{way:<20} {seconds * 1e3:8.2f} ms a token, caches {'in place' if got[2] else 'COPIED'}, " + ("the same bits" if got[:2] == expected[:2] else "OTHER BITS"), flush=True)
    strew.jax.disable()
    report = strew.jax.report()
    print(report)
    return 0 if right and any(module.module == "jit_step" and module.replaced for module in report.modules) else 1


if __name__ == "__main__":
    sys.exit(main())
