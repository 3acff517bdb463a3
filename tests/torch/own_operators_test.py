#!/usr/bin/env python3
"""Messages along edges in PyTorch (strew.torch.spmm, spmm_csr, sddmm): PyTorch's opcheck, first and second derivatives against differences, values against PyTorch's two steps
bit for bit, errors, graphs of torch.compile, and the examples in the docstrings of strew.torch.

    own_operators_test.py [--seed N] [--iterations N]

Exit status 0: right, 1: wrong.
"""
import doctest
import inspect
import random
import sys

import own
import torch

import strew.torch
from strew.torch import _compile, _operators, _override

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def messages_of(src, table, weight):
    messages = table[src]
    return messages if weight is None else messages * weight.view(*weight.shape, *[1] * (messages.dim() - weight.dim()))


def two_steps(dst, src, table, weight, num_rows):
    messages = messages_of(src, table, weight)
    return torch.zeros(num_rows, *table.shape[1:], dtype=messages.dtype).index_add_(0, dst, messages).to(table.dtype)


def edges_of(rng, count, rows, sources):
    index = rng.choice((torch.int32, torch.int64))
    dst = torch.randint(rows, (count,)).to(index)
    return dst.sort().values if rng.random() < 0.3 else dst, torch.randint(sources, (count,)).to(index)


def drawn(rng):
    rows, sources, count = rng.randint(1, 40), rng.randint(1, 40), rng.choice((0, 1, 2, 17, 300))
    dtype = rng.choice(FLOATS)
    table = torch.randn(sources, *(rng.choice((1, 3, 8, 33)) for _ in range(rng.randint(0, 2)))).to(dtype)
    if rng.random() < 0.3:
        table = table.repeat_interleave(2, 0)[::2]
    if rng.random() < 0.3:
        table = table.transpose(0, -1).contiguous().transpose(0, -1)
    weight = None
    if rng.random() < 0.6:
        weight = torch.randn(count, *table.shape[1 : rng.randint(1, table.dim())]).to(dtype)
        weight = weight.t().contiguous().t() if rng.random() < 0.3 and weight.dim() == 2 else weight
        weight = weight.float() if rng.random() < 0.3 and dtype.itemsize == 2 else weight
    return *edges_of(rng, count, rows, sources), table, weight, rows


def same(one, other):
    """The same bits, but for the signs of zeros, of which strew's maximum takes +0."""
    return one.dtype == other.dtype and torch.equal(one, other)


def check_extrema(what, given, failures):
    dst, src, table, weight, rows = given
    messages = messages_of(src, table, weight)
    index = dst.long().view(-1, *[1] * (messages.dim() - 1)).expand_as(messages)
    for reduce in ("amax", "amin"):
        expected = torch.zeros(rows, *table.shape[1:], dtype=messages.dtype).scatter_reduce_(0, index, messages, reduce, include_self=False)
        result, arg = torch.ops.strew.spmm_extremum(dst, src, table, weight, rows, reduce)
        won = messages.gather(0, arg.clamp_min(0)) if len(dst) else torch.zeros_like(expected)
        if not same(result, expected.to(table.dtype)) or not torch.equal(torch.where(arg < 0, 0, won), expected):
            failures.append(f"{what}: {reduce}")
        if not torch.equal(arg.flatten(1)[:, :1].flatten() < 0 if arg.dim() > 1 else arg < 0, torch.bincount(dst, minlength=rows) == 0):
            failures.append(f"{what}: {reduce}: rows without edges")


def check_values(rng, iterations, failures):
    for number in range(iterations):
        given = dst, src, table, weight, rows = drawn(rng)
        dst64 = dst.long()  # index_add_ of int32 rounds every sum of 16 bits
        expected = two_steps(dst64, src, table, weight, rows)
        weights = "no weights" if weight is None else f"weights of {weight.dtype} {list(weight.shape)}"
        what = f"draw {number}: {table.dtype} {list(table.shape)}, {len(dst)} edges, {weights}"
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            result = strew.torch.spmm(dst, src, table, weight, num_rows=rows)
            if not torch.equal(result, expected):
                failures.append(f"{what}: spmm on {threads} threads: not the bits of two steps")
        mean = strew.torch.spmm(dst, src, table, weight, num_rows=rows, reduce="mean")
        counts = torch.bincount(dst64, minlength=rows).clamp(min=1).to(table.dtype).view(-1, *[1] * (table.dim() - 1))
        if not torch.equal(mean, expected / counts):
            failures.append(f"{what}: mean")
        check_extrema(what, given, failures)
        order = dst64.argsort(stable=True)
        offsets = torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(dst64, minlength=rows).cumsum(0)]).to(dst.dtype)
        compressed = strew.torch.spmm_csr(offsets, src[order], table, weight if weight is None else weight[order])
        if not torch.equal(compressed, expected):
            failures.append(f"{what}: spmm_csr")
        other = torch.randn(rows, *table.shape[1:]).to(table.dtype)
        for head_dims in range(table.dim()):
            dots = strew.torch.sddmm(dst, src, other, table, head_dims=head_dims)
            products = other[dst64].double() * table[src].double()
            wide, most = (each.flatten(head_dims + 1).sum(head_dims + 1) if table.dim() > head_dims + 1 else each for each in (products, products.abs()))
            if dots.shape != wide.shape or ((dots.double() - wide).abs() > torch.finfo(table.dtype).eps * (8 * most + torch.finfo(table.dtype).tiny)).any():
                failures.append(f"{what}: sddmm with {head_dims} dims of heads")


def repeated_calls(rng):
    """Sums along edges that strew sorts once they were given several times: a call without arguments each, and its result by PyTorch."""
    width, count = rng.choice(((64, 16384), (70, 20000), (128, 17000), (600, 3000)))
    rows = rng.randint(1, count // 8)
    index, dtype = rng.choice((torch.int32, torch.int64)), rng.choice((torch.float32, torch.float64, torch.bfloat16))
    table = torch.randn(rng.randint(1, 500), 2, width).to(dtype)
    weight = rng.choice((None, torch.randn(count).to(dtype), torch.randn(count, 2).to(dtype)))
    dst, src = torch.randint(rows, (count,), dtype=index), torch.randint(len(table), (count,), dtype=index)
    reduce = rng.choice(("sum", "sum", "mean", "amax"))

    def call():
        return strew.torch.spmm(dst, src, table, weight, num_rows=rows, reduce=reduce)

    def expected():
        messages = messages_of(src, table, weight)
        zeros = torch.zeros(rows, *table.shape[1:], dtype=messages.dtype)
        if reduce == "amax":
            return zeros.scatter_reduce_(0, dst.long().view(-1, 1, 1).expand_as(messages), messages, "amax", include_self=False)
        sums = zeros.index_add_(0, dst.long(), messages)
        return sums if reduce == "sum" else sums / torch.bincount(dst, minlength=rows).clamp(min=1).to(dtype).view(-1, 1, 1)
    return call, expected, dst, src, table, rows


def check_repeated(rng, iterations, failures):
    """Edges that come again and again, also with other numbers in the same memory, and of which one is out of bounds in the end."""
    for number in range(max(2, iterations // 50)):
        call, expected, dst, src, table, rows = repeated_calls(rng)
        for turn in range(12):
            if turn == 6:  # a single number in memory that was seen before
                dst[rng.randrange(len(dst))], src[rng.randrange(len(src))] = rng.randrange(rows), rng.randrange(len(table))
            torch.set_num_threads(rng.choice((1, 2, 8)))
            if not same(call(), expected()):
                failures.append(f"edges that are given again, case {number}, call {turn}: other bits")
                break
        place = rng.randrange(len(dst))
        for index, size in ((src, len(table)), (dst, rows)):
            index[place] = size
            own.errors(failures, [(call, RuntimeError, f"index {size} is out of bounds for dimension 0 with size {size}")])


def check_fewer_rows(failures):
    """Edges whose order is known, with a table and a result of fewer rows than they name."""
    dst, src = torch.randint(100, (20000,)), torch.randint(100, (20000,))
    dst[7], src[9], table = 99, 99, torch.randn(100, 64)
    for _ in range(6):
        strew.torch.spmm(dst, src, table, num_rows=100)
    calls = ((lambda: strew.torch.spmm(dst, src, table, num_rows=99), RuntimeError, "index 99 is out of bounds for dimension 0 with size 99"),
             (lambda: strew.torch.spmm(dst, src, table[:99], num_rows=100), RuntimeError, "index 99 is out of bounds for dimension 0 with size 99"))
    own.errors(failures, calls)


def check_special(failures):
    """Infinities, NaN, zeros and ties."""
    table = torch.tensor([[float("inf"), float("nan"), 0.0], [float("-inf"), 1.0, -0.0], [2.0, 3.0, 0.0]])
    dst, src = torch.tensor([1, 1, 1, 3]), torch.tensor([1, 0, 2, 1])
    for reduce, expected, edges in (("amax", [float("inf"), float("nan"), 0.0], [1, 1, 1]), ("amin", [float("-inf"), float("nan"), -0.0], [0, 1, 0])):
        result, arg = torch.ops.strew.spmm_extremum(dst, src, table, None, 4, reduce)
        if not torch.equal(result[1].nan_to_num(7, 8, 9), torch.tensor(expected).nan_to_num(7, 8, 9)) or arg[1].tolist() != edges:
            failures.append(f"{reduce} of special values: {result[1]}, {arg[1]}")
        if arg[3].tolist() != [3, 3, 3] or arg[0].tolist() != [-1, -1, -1] or result[0].tolist() != [0, 0, 0]:
            failures.append(f"{reduce} of one and of none: {result}, {arg}")
    leaf = torch.ones(3, 2, requires_grad=True)
    strew.torch.spmm(torch.tensor([0, 0, 1]), torch.tensor([2, 1, 1]), leaf, num_rows=2, reduce="amax").sum().backward()
    if leaf.grad[:, 0].tolist() != [0, 1, 1]:
        failures.append(f"the gradient of a tie: {leaf.grad}")


def check_derivatives(failures):
    rng = random.Random(7)
    dst, src = edges_of(rng, 30, 6, 5)
    table, other = (torch.randn(n, 4, dtype=torch.float64, requires_grad=True) for n in (5, 6))
    heads, others = (torch.randn(n, 2, 3, dtype=torch.float64, requires_grad=True) for n in (5, 6))
    weight, weights = (torch.randn(30, *shape, dtype=torch.float64, requires_grad=True) for shape in ((), (2,)))
    spmm, sddmm = strew.torch.spmm, strew.torch.sddmm
    smooth = {
        "spmm": (lambda t, w: spmm(dst, src, t, w, num_rows=6), (table, weight)),
        "spmm without weights": (lambda t: spmm(dst, src, t, num_rows=6), (table,)),
        "spmm, mean": (lambda t, w: spmm(dst, src, t, w, num_rows=6, reduce="mean"), (table, weight)),
        "spmm of heads": (lambda t, w: spmm(dst, src, t, w, num_rows=6), (heads, weights)),
        "sddmm": (lambda a, b: sddmm(dst, src, a, b), (other, table)),
        "sddmm of heads": (lambda a, b: sddmm(dst, src, a, b, head_dims=1), (others, heads)),
    }
    own.derivatives(failures, smooth)
    extrema = {
        "spmm, amax": (lambda t, w: spmm(dst, src, t, w, num_rows=6, reduce="amax"), (table, weight)),
        "spmm, amin": (lambda t: spmm(dst, src, t, num_rows=6, reduce="amin"), (heads,)),
        "spmm of heads, amin": (lambda t, w: spmm(dst, src, t, w, num_rows=6, reduce="amin"), (heads, weights)),
    }
    own.derivatives(failures, extrema)
    own.forward_derivatives(failures, smooth)
    own.compiled_backward(failures, {**smooth, **extrema})
    op, extremum, dots = torch.ops.strew.spmm, torch.ops.strew.spmm_extremum, torch.ops.strew.sddmm
    own.registrations(failures, [
        (op, (dst, src, table, weight, 6)), (op, (dst, src, table.detach(), None, 6)), (op, (dst, src, heads, weights, 6, "mean")),
        (extremum, (dst, src, table, weight, 6, "amax")), (extremum, (dst, src, heads, weights, 6, "amin")), (extremum, (dst, src, table.detach(), None, 6, "amax")),
        (dots, (dst, src, other, table)), (dots, (dst, src, others, heads, 1)), (torch.ops.strew.csr_rows, (torch.tensor([0, 2, 2, 5]), 5)),
    ])
    changed = torch.randn(5, 4, dtype=torch.float64)
    own.written_after_forward(failures, "spmm", lambda: spmm(dst, src, changed, weight, num_rows=6), changed)
    # 16 bits with weights of float32, whose gradient is float32.
    half, single = torch.randn(5, 4).bfloat16().requires_grad_(), torch.randn(30, requires_grad=True)
    spmm(dst, src, half, single, num_rows=6).float().square().sum().backward()
    if half.grad.dtype != torch.bfloat16 or single.grad.dtype != torch.float32:
        failures.append("gradients of 16 bits with weights of float32")


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
        (lambda: strew.torch.spmm(dst, src, table, num_rows=2, reduce="max"), ValueError, "reduce: 'max', expected 'sum', 'mean', 'amax' or 'amin'"),
        (lambda: strew.torch.spmm(bad, src, table, weight, num_rows=2, reduce="amax"), RuntimeError, "index 9 is out of bounds for dimension 0 with size 2"),
        (lambda: strew.torch.spmm(dst, bad, table, num_rows=2, reduce="amin"), RuntimeError, "index 9 is out of bounds for dimension 0 with size 3"),
        (lambda: torch.ops.strew.spmm(dst, src, table, None, 2, "max"), RuntimeError, 'expected reduce of "sum" or "mean", but got "max"'),
        (lambda: torch.ops.strew.spmm_extremum(dst, src, table, None, 2, "sum"), RuntimeError, 'expected reduce of "amax" or "amin", but got "sum"'),
        (lambda: strew.torch.spmm(dst, src, table, torch.randn(3, 2), num_rows=2), RuntimeError, "for each of the first features of a row of [3, 4], but its shape is [3, 2]"),
        (lambda: strew.torch.spmm(dst, src, table, weight.bfloat16(), num_rows=2), RuntimeError, "weight and table expected to have the same dtype"),
        (lambda: strew.torch.spmm(dst, src, table.to("meta"), num_rows=2), RuntimeError, "Expected all tensors to be on the same device, but got cpu and meta"),
        (lambda: strew.torch.spmm(dst, src, table.to_sparse(), num_rows=2), NotImplementedError, "neither sparse, quantised nor nested, but got one with layout Sparse"),
        (lambda: strew.torch.spmm_csr(torch.tensor([0, 2, 1]), src, table), RuntimeError, "csr_rows(): crow_indices: "),
        (lambda: strew.torch.spmm_csr(torch.tensor([0, 2]), src, table), RuntimeError, "csr_rows(): crow_indices: "),
        (lambda: strew.torch.spmm_csr(torch.tensor([1, 3]), src, table), RuntimeError, "csr_rows(): crow_indices: "),
        (lambda: strew.torch.spmm_csr(src[:0], src, table), RuntimeError, "one number more than there are rows"),
        (lambda: strew.torch.spmm_csr(table, src, table), RuntimeError, "expected crow_indices to be int32 or int64 of one dim"),
        (lambda: strew.torch.sddmm(dst, src, table, table, head_dims=2), RuntimeError, "expected head_dims from 0 to 1, the dims of a row, but got 2"),
        (lambda: strew.torch.sddmm(bad, src, table[..., None], table[..., None], head_dims=1), RuntimeError, "index 9 is out of bounds for dimension 0 with size 3 (strew: edge 1"),
        (lambda: strew.torch.sddmm(dst, bad, table, table), RuntimeError, "index 9 is out of bounds for dimension 0 with size 3"),
        (lambda: strew.torch.sddmm(dst, src, table, table[:, :3]), RuntimeError, "rows of the same shape"),
        (lambda: strew.torch.sddmm(dst, src, table, table.double()), RuntimeError, "floating point of the same dtype"),
    )
    own.errors(failures, cases)


def check_corners(failures):
    """No edges, no rows, and indices where strew has no kernel."""
    none, table = torch.zeros(0, dtype=torch.int64), torch.randn(4, 3, requires_grad=True)
    weight = torch.zeros(0, requires_grad=True)
    for reduce in ("sum", "mean", "amax", "amin"):
        gradients = torch.autograd.grad(strew.torch.spmm(none, none, table, weight, num_rows=3, reduce=reduce).sum(), (table, weight))
        if gradients[0].any() or gradients[1].shape != weight.shape:
            failures.append(f"{reduce} of no edges: gradients {gradients}")
    one, many = torch.tensor([0]), torch.tensor([9])
    narrow = torch.zeros(3).bfloat16()
    cases = (
        ("no rows", lambda: strew.torch.spmm(many, one, torch.zeros(3, 2), num_rows=0)),
        ("rows without elements", lambda: strew.torch.spmm(many, one, torch.zeros(3, 0), num_rows=2)),
        ("one dim of 16 bits", lambda: strew.torch.spmm(one, many, narrow, torch.ones(1).bfloat16(), num_rows=2)),
        ("maxima of rows without elements", lambda: strew.torch.spmm(one, many, torch.zeros(3, 0), num_rows=2, reduce="amax")),
    )
    for what, call in cases:
        try:
            call()
            failures.append(f"an index out of bounds, {what}: no error")
        except RuntimeError as error:
            if "index 9 is out of bounds" not in str(error):
                failures.append(f"an index out of bounds, {what}: {error}")


def check_many_dims(failures):
    """Rows of more dims than an op may have: as those of few dims, signs of zeros too."""
    dst, src = edges_of(random.Random(7), 60, 5, 4)
    table = (torch.randn(4, 3, 2) * 2).round().copysign(torch.randn(4, 3, 2))  # many zeros of both signs
    weights = {"none": None, "one per edge": torch.randn(60), "one per head": torch.randn(60, 3)}
    for reduce in ("sum", "mean", "amax", "amin"):
        for what, weight in weights.items():
            for heads in (0, 15):  # dims of extent 1 in front of those of the heads, behind them
                many = table.view(4, *[1] * heads, 3, *[1] * (15 - heads), 2)
                own = weight.view(60, *[1] * heads, 3) if weight is not None and weight.dim() == 2 else weight
                got, want = strew.torch.spmm(dst, src, many, own, num_rows=5, reduce=reduce), strew.torch.spmm(dst, src, table, weight, num_rows=5, reduce=reduce)
                if not same(got.view(5, 3, 2), want) or not torch.equal(got.view(5, 3, 2).signbit(), want.signbit()):
                    failures.append(f"{reduce} of rows with 17 dims, weights: {what}")


def check_docstrings(failures):
    for module in (_compile, _operators, _override):
        result = doctest.testmod(module, extraglobs={"strew": strew, "torch": torch})
        if result.failed or not result.attempted:
            failures.append(f"{module.__name__}: {result}")
    failures += [f"strew.torch.{name}: no docstring" for name in strew.torch.__all__ if not inspect.getdoc(getattr(strew.torch, name))]


def check_all_values(rng, iterations, failures):
    check_values(rng, iterations, failures)
    check_repeated(rng, iterations, failures)


if __name__ == "__main__":
    checks = (check_special, check_fewer_rows, check_derivatives, check_graphs, check_errors, check_corners, check_many_dims, check_docstrings)
    sys.exit(own.main("own_operators_test", check_all_values, 300, checks))
