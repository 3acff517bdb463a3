#!/usr/bin/env python3
"""Operators of strew's own in PyTorch (strew.torch.spmm, sddmm): PyTorch's opcheck, first and second derivatives against differences, values against PyTorch's two steps bit for bit, errors, graphs
of torch.compile, and the examples in the docstrings of strew.torch.

    own_operators_test.py [BUILD] [--seed N] [--iterations N]

Exit status 0: right, 1: wrong.
"""
import argparse
import doctest
import inspect
import random
import sys
import warnings

import own
import torch

import strew.torch
from strew.torch import _operators, _override

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def two_steps(dst, src, table, weight, num_rows):
    messages = table[src]
    if weight is not None:
        messages = messages * weight.view(-1, *[1] * (table.dim() - 1))
    return torch.zeros(num_rows, *table.shape[1:], dtype=table.dtype).index_add_(0, dst, messages)


def edges_of(rng, count, rows, sources):
    index = rng.choice((torch.int32, torch.int64))
    return torch.randint(rows, (count,)).to(index), torch.randint(sources, (count,)).to(index)


def drawn(rng):
    rows, sources, count = rng.randint(1, 40), rng.randint(1, 40), rng.choice((0, 1, 2, 17, 300))
    dtype = rng.choice(FLOATS)
    table = torch.randn(sources, *(rng.choice((1, 3, 8, 33)) for _ in range(rng.randint(0, 2)))).to(dtype)
    if rng.random() < 0.3:
        table = table.repeat_interleave(2, 0)[::2]
    if rng.random() < 0.3:
        table = table.transpose(0, -1).contiguous().transpose(0, -1)
    return *edges_of(rng, count, rows, sources), table, torch.randn(count).to(dtype) if rng.random() < 0.5 else None, rows


def check_values(rng, iterations, failures):
    for number in range(iterations):
        dst, src, table, weight, rows = drawn(rng)
        dst64 = dst.long()  # index_add_ of int32 rounds every sum of 16 bits
        expected = two_steps(dst64, src, table, weight, rows)
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            result = strew.torch.spmm(dst, src, table, weight, num_rows=rows)
            if not torch.equal(result, expected):
                failures.append(f"draw {number}: spmm of {table.dtype} {list(table.shape)}, {len(dst)} edges, {threads} threads: not the bits of two steps")
        mean = strew.torch.spmm(dst, src, table, weight, num_rows=rows, reduce="mean")
        counts = torch.bincount(dst64, minlength=rows).clamp(min=1).to(table.dtype).view(-1, *[1] * (table.dim() - 1))
        if not torch.equal(mean, expected / counts):
            failures.append(f"draw {number}: mean")
        other = torch.randn(rows, *table.shape[1:]).to(table.dtype)
        dots = strew.torch.sddmm(dst, src, other, table)
        products = other[dst64].double() * table[src].double()
        wide, most = (each.flatten(1).sum(1) if table.dim() > 1 else each for each in (products, products.abs()))
        if ((dots.double() - wide).abs() > 8 * torch.finfo(table.dtype).eps * most).any():
            failures.append(f"draw {number}: sddmm of {table.dtype} {list(table.shape)}")


def check_derivatives(failures):
    rng = random.Random(7)
    dst, src = edges_of(rng, 30, 6, 5)
    table, other = (torch.randn(n, 4, dtype=torch.float64, requires_grad=True) for n in (5, 6))
    weight = torch.randn(30, dtype=torch.float64, requires_grad=True)
    functions = {
        "spmm": (lambda t, w: strew.torch.spmm(dst, src, t, w, num_rows=6), (table, weight)),
        "spmm without weights": (lambda t: strew.torch.spmm(dst, src, t, num_rows=6), (table,)),
        "spmm, mean": (lambda t, w: strew.torch.spmm(dst, src, t, w, num_rows=6, reduce="mean"), (table, weight)),
        "sddmm": (lambda a, b: strew.torch.sddmm(dst, src, a, b), (other, table)),
    }
    own.derivatives(failures, functions)
    own.registrations(failures, [(torch.ops.strew.spmm, (dst, src, table, weight, 6)), (torch.ops.strew.spmm, (dst, src, table.detach(), None, 6)),
                                 (torch.ops.strew.sddmm, (dst, src, other, table))])
    changed = torch.randn(5, 4, dtype=torch.float64)
    own.written_after_forward(failures, "spmm", lambda: strew.torch.spmm(dst, src, changed, weight, num_rows=6), changed)


def check_graphs(failures):
    dst, src = edges_of(random.Random(3), 50, 6, 5)
    table = torch.randn(5, 4)

    def layer(table):
        return (strew.torch.spmm(dst, src, table, num_rows=6) * 2).relu().sum()

    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    gradients = []
    for function in (layer, compiled):
        leaf = table.clone().requires_grad_()
        function(leaf).backward()
        gradients.append(leaf.grad)
    if not torch.equal(layer(table), compiled(table)) or not torch.equal(*gradients):
        failures.append("torch.compile with aot_eager gives other bits")


def check_errors(failures):
    dst, src, table, weight = torch.tensor([0, 1, 1]), torch.tensor([2, 0, 1]), torch.randn(3, 4), torch.randn(3)
    bad = torch.tensor([0, 9, 1])
    cases = (
        (lambda: strew.torch.spmm(bad, src, table, num_rows=2), RuntimeError, "index 9 is out of bounds for dimension 0 with size 2"),
        (lambda: strew.torch.spmm(dst, bad, table, weight, num_rows=2), RuntimeError, "index 9 is out of bounds for dimension 0 with size 3"),
        (lambda: strew.torch.spmm(dst, -src, table, num_rows=2), RuntimeError, "index -2 is out of bounds"),
        (lambda: strew.torch.spmm(dst, src[:2], table, num_rows=2), RuntimeError, "one number per edge each, but got 3 and 2"),
        (lambda: strew.torch.spmm(dst.float(), src, table, num_rows=2), RuntimeError, "expected dst to be int32 or int64"),
        (lambda: strew.torch.spmm(dst, src[:, None], table, num_rows=2), RuntimeError, "expected src to be int32 or int64 of one dim"),
        (lambda: strew.torch.spmm(dst, src, table.long(), num_rows=2), RuntimeError, "expected table to be floating point"),
        (lambda: strew.torch.spmm(dst, src, torch.tensor(1.0), num_rows=2), RuntimeError, "expected table to have rows"),
        (lambda: strew.torch.spmm(dst, src, table, weight[:2], num_rows=2), RuntimeError, "expected weight to have one number per edge"),
        (lambda: strew.torch.spmm(dst, src, table, weight.double(), num_rows=2), RuntimeError, "weight and table expected to have the same dtype"),
        (lambda: strew.torch.spmm(dst, src, table, num_rows=-1), RuntimeError, "expected num_rows of 0 or more"),
        (lambda: strew.torch.spmm(dst, src, table, num_rows=2, reduce="max"), ValueError, "expected 'sum' or 'mean'"),
        (lambda: strew.torch.sddmm(dst, bad, table, table), RuntimeError, "index 9 is out of bounds for dimension 0 with size 3"),
        (lambda: strew.torch.sddmm(dst, src, table, table[:, :3]), RuntimeError, "rows of the same shape"),
        (lambda: strew.torch.sddmm(dst, src, table, table.double()), RuntimeError, "floating point of the same dtype"),
    )
    own.errors(failures, cases)


def check_docstrings(failures):
    for module in (_operators, _override):
        result = doctest.testmod(module, extraglobs={"strew": strew, "torch": torch})
        if result.failed or not result.attempted:
            failures.append(f"{module.__name__}: {result}")
    failures += [f"strew.torch.{name}: no docstring" for name in strew.torch.__all__ if not inspect.getdoc(getattr(strew.torch, name))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--seed", type=int, default=random.randrange(2**31))
    parser.add_argument("--iterations", type=int, default=300)
    args = parser.parse_args()
    print(f"own_operators_test: --seed {args.seed} --iterations {args.iterations}")
    warnings.filterwarnings("ignore")
    torch.manual_seed(args.seed)
    failures = []
    check_values(random.Random(args.seed), args.iterations, failures)
    check_derivatives(failures)
    check_graphs(failures)
    check_errors(failures)
    check_docstrings(failures)
    for failure in failures[:20]:
        print(failure)
    print(f"own_operators_test: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
