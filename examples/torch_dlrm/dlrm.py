#!/usr/bin/env python3
"""Training of a recommender as DLRM is: tables of embeddings that are summed over bags, layers for the numbers, products of all pairs, layers for the click.

    dlrm.py [BUILD] [--full] [--steps N] [--threads T]

With dense gradients of the tables and with sparse ones, each with PyTorch's kernels and with strew's in their place: losses and weights have to be the same bits. A third way sums the bags by
`strew.torch.spmm`, whose gradient is one pass, too. The program exits with 1 if bits differ, or if a loss is not a number.

Run by ctest as example_torch_dlrm, with small tables. `--full`: 8 tables of 500,000 rows of 64, batches of 2,048.
"""
import argparse
import sys
import time

import torch
from torch.nn import functional

import strew.torch

SMALL, FULL = (3, 500, 16, 64), (8, 500_000, 64, 2_048)  # tables, rows, columns, batch
NUMBERS, IN_A_BAG = 13, 4


class Bag(torch.nn.Module):
    """torch.nn.EmbeddingBag with mode "sum", by strew.torch.spmm."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(rows, columns))

    def forward(self, rows):
        bags = torch.arange(rows.size(0)).repeat_interleave(rows.size(1))
        return strew.torch.spmm(bags, rows.flatten(), self.weight, num_rows=rows.size(0))


def layers(*sizes):
    return torch.nn.Sequential(*(each for pair in zip(sizes, sizes[1:]) for each in (torch.nn.Linear(*pair), torch.nn.ReLU())))  # noqa: B905  one shorter


class Recommender(torch.nn.Module):
    def __init__(self, bag, tables, rows, columns):
        super().__init__()
        self.bags = torch.nn.ModuleList([bag(rows, columns) for _ in range(tables)])
        self.bottom, self.top = layers(NUMBERS, 64, columns), layers(columns + tables * (tables + 1) // 2, 64)
        self.click = torch.nn.Linear(64, 1)
        self.pairs = torch.triu_indices(tables + 1, tables + 1, 1)

    def forward(self, numbers, rows):
        dense = self.bottom(numbers)
        vectors = torch.stack([dense] + [bag(each) for bag, each in zip(self.bags, rows, strict=True)], 1)
        products = (vectors @ vectors.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return self.click(self.top(torch.cat([dense, products], 1))).squeeze(1)


def train(bag, sizes, steps):
    """The losses, the weights after the last step, and milliseconds per step behind the first, in which kernels may be compiled."""
    tables, rows, columns, batch = sizes
    torch.manual_seed(0)
    model = Recommender(bag, tables, rows, columns)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for step in range(steps):
        numbers, chosen, clicks = torch.randn(batch, NUMBERS), torch.randint(rows, (tables, batch, IN_A_BAG)), torch.randint(2, (batch,)).float()
        if step == 1:
            begin = time.perf_counter()
        optimizer.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(model(numbers, chosen), clicks)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [each.detach() for each in model.parameters()], (time.perf_counter() - begin) / (steps - 1) * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    right = True
    bags = {f"{kind} gradients": lambda rows, columns, kind=kind: torch.nn.EmbeddingBag(rows, columns, mode="sum", sparse=kind == "sparse") for kind in ("dense", "sparse")}
    for kind, bag in bags.items():
        first = None
        for way in ("PyTorch", "strew enabled") + ("strew.torch.spmm",) * (kind == "dense gradients"):
            (strew.torch.disable if way == "PyTorch" else strew.torch.enable)()
            losses, weights, milliseconds = train(Bag if way == "strew.torch.spmm" else bag, FULL if options.full else SMALL, max(options.steps, 2))
            first = first or (losses, weights)
            same = losses == first[0] and all(map(torch.equal, weights, first[1])) and all(loss == loss for loss in losses)
            right &= same
            print(f"{kind}, {way}: {milliseconds:.1f} ms a step, loss {losses[0]:.6f} to {losses[-1]:.6f}, " + ("the same bits" if same else "OTHER BITS"), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
