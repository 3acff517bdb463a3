#!/usr/bin/env python3
"""Writes decoder.mlir: what a decoder with the sizes of SmolLM-135M reads and writes by index, as JAX lowers it.

    decoder_model.py > decoder.mlir        (needs jax)

One step generates a token for each of 4 sequences: it looks their embeddings up, and appends the layer's keys and values to caches of
1,024 positions, each at the length of its own sequence. The prompt's pass writes 128 positions of one sequence. `nucleus` puts the
probabilities that top-p sampling kept back to their places in the vocabulary.
"""
import jax
import jax.numpy as jnp

BATCH, HEADS, WIDTH, POSITIONS, PROMPT, VOCABULARY, HIDDEN, KEPT = 4, 3, 64, 1024, 128, 49152, 576, 64


def embed(table, tokens):
    return table[tokens]


def append(cache, rows, lengths):
    """cache [batch, heads, positions, width], rows [batch, heads, 1, width], lengths [batch]."""
    at = jax.vmap(lambda c, r, n: jax.lax.dynamic_update_slice(c, r, (0, n, 0)))
    return at(cache, rows, lengths)


def prompt(cache, rows, sequence):
    return cache.at[sequence, :, :PROMPT].set(rows)


def nucleus(kept, tokens):
    return jnp.zeros((BATCH, VOCABULARY), jnp.float32).at[jnp.arange(BATCH)[:, None], tokens].add(kept)


def shape(*dims, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(dims, dtype)


def main():
    cache = shape(BATCH, HEADS, POSITIONS, WIDTH)

    def decoder(table, tokens, keys, values, new_keys, new_values, lengths, prompt_rows, sequence, kept, kept_tokens):
        return (embed(table, tokens), append(keys, new_keys, lengths), append(values, new_values, lengths), prompt(keys, prompt_rows, sequence),
                nucleus(kept, kept_tokens))

    row = shape(BATCH, HEADS, 1, WIDTH)
    print(jax.jit(decoder).lower(
        shape(VOCABULARY, HIDDEN), shape(BATCH, dtype=jnp.int32), cache, cache, row, row, shape(BATCH, dtype=jnp.int32),
        shape(HEADS, PROMPT, WIDTH), shape(dtype=jnp.int32), shape(BATCH, KEPT, dtype=jnp.float32), shape(BATCH, KEPT, dtype=jnp.int32)).as_text())


if __name__ == "__main__":
    main()
