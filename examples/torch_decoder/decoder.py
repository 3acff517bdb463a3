#!/usr/bin/env python3
"""Decoding with a paged cache of keys and values, by a small transformer with random weights: the same tokens with strew's kernels and without.

    decoder.py [BUILD] [--full] [--tokens N] [--threads T]

The cache of a layer has a row for each slot of each page; a sequence owns pages, in any order, and the table of pages says which. A step writes a row per sequence, of the keys by
`index_copy_`, of the values by `index_put_`, and reads the pages of all tokens so far by `index_select`. strew checks the slots before it writes: with a bad one, the cache is as it was.

Run by ctest as example_torch_decoder. `--full`: 8 layers, 16 sequences, 16 heads of 128. Exit status 1: other tokens or other caches, or a bad slot was not refused.
"""
import argparse
import sys
import time

import torch
from torch.nn import functional

import strew.torch

SMALL, FULL = (2, 4, 4, 16), (8, 16, 16, 128)  # layers, sequences, heads, numbers of a head
PAGE, VOCABULARY = 16, 256


class Cache:
    """Keys and values of a layer: a row of [heads, numbers] for each slot, PAGE slots to a page."""

    def __init__(self, sequences, most, heads, numbers, dtype):
        pages = -(-most // PAGE)
        self.table = torch.randperm(sequences * pages).view(sequences, pages)
        self.keys, self.values = (torch.zeros(sequences * pages * PAGE, heads, numbers, dtype=dtype) for _ in range(2))

    def append(self, position, keys, values):
        slots = self.table[:, position // PAGE] * PAGE + position % PAGE
        self.keys.index_copy_(0, slots, keys)
        self.values.index_put_((slots,), values)

    def rows(self, length):
        """Of the first tokens of each sequence: [sequences, heads, length, numbers]."""
        pages = self.table[:, :-(-length // PAGE)]
        for each in (self.keys, self.values):
            read = each.unflatten(0, (-1, PAGE)).index_select(0, pages.flatten())
            yield read.view(len(pages), -1, *each.shape[1:])[:, :length].transpose(1, 2)


class Layer(torch.nn.Module):
    def __init__(self, heads, numbers):
        super().__init__()
        self.shape, width = (heads, numbers), heads * numbers
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x, cache, position):
        query, key, value = self.qkv(self.norms[0](x)).unflatten(1, (3, *self.shape)).unbind(1)
        cache.append(position, key, value)
        keys, values = cache.rows(position + 1)
        attended = functional.scaled_dot_product_attention(query.unsqueeze(2), keys, values).flatten(1)
        x = x + self.out(attended)
        return x + self.down(functional.gelu(self.up(self.norms[1](x))))


@torch.no_grad()
def decode(sizes, tokens):
    """The tokens [sequences, tokens] of greedy decoding, the caches, and milliseconds per token."""
    count, sequences, heads, numbers = sizes
    torch.manual_seed(0)
    embedding = torch.nn.Embedding(VOCABULARY, heads * numbers)
    layers = [Layer(heads, numbers).to(torch.bfloat16) for _ in range(count)]
    embedding, head = embedding.to(torch.bfloat16), torch.nn.Linear(heads * numbers, VOCABULARY).to(torch.bfloat16)
    caches = [Cache(sequences, tokens, heads, numbers, torch.bfloat16) for _ in range(count)]
    token, found = torch.randint(VOCABULARY, (sequences,)), []
    begin = time.perf_counter()
    for position in range(tokens):
        x = embedding(token)
        for layer, cache in zip(layers, caches, strict=True):
            x = layer(x, cache, position)
        token = head(x).argmax(1)
        found.append(token)
    return torch.stack(found, 1), caches, (time.perf_counter() - begin) / tokens * 1e3


def refuses_bad_slots(cache):
    """A table that names a page that the cache lacks, with strew enabled."""
    before = cache.keys.clone(), cache.values.clone()
    cache.table[-1, 0] = 10**6
    new = torch.ones(len(cache.table), *cache.keys.shape[1:], dtype=cache.keys.dtype)
    for write in (lambda: cache.append(0, new, new), lambda: cache.values.index_put_((cache.table[:, 0] * PAGE,), new)):
        try:
            write()
            return False
        except IndexError as error:
            message = str(error)
    print(f"a bad slot: {message}")
    return torch.equal(cache.keys, before[0]) and torch.equal(cache.values, before[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    found = {}
    for way, switch in (("PyTorch", strew.torch.disable), ("strew enabled", strew.torch.enable)):
        switch()
        found[way] = decode(FULL if options.full else SMALL, options.tokens)
        print(f"{way}: {found[way][2]:.2f} ms a token; the first sequence: {found[way][0][0, :12].tolist()}", flush=True)
    (one, caches, _), (other, others, _) = found.values()
    same = torch.equal(one, other) and all(torch.equal(a.keys, b.keys) and torch.equal(a.values, b.values) for a, b in zip(caches, others, strict=True))
    print("the same tokens and caches" if same else "OTHER TOKENS OR CACHES")
    return 0 if same and refuses_bad_slots(others[0]) else 1


if __name__ == "__main__":
    sys.exit(main())
