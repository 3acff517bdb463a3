#!/usr/bin/env python3
"""The functions of torch_scatter in strew.torch.scatter: values against plain loops bit for bit, with strew.torch enabled and without, on 1, 2 and 8 threads; against PyTorch Geometric's scatter and
segment; first and second derivatives against differences; torch.compile; the documented examples of torch_scatter; errors.

    scatter_test.py [--seed N] [--iterations N]

Exit status 0: right, 1: wrong.
"""
import argparse
import doctest
import itertools
import random
import sys

import outcomes
import torch
import torch_geometric.utils

import strew.torch
from strew.torch import scatter as scatters

DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.float16, torch.bfloat16)
SUMS_OF = {torch.float16: torch.float32, torch.bfloat16: torch.float32}


def unlike(got, want):
    """How tensors differ from what they should be, but for their strides."""
    return [each for pair in zip(got, want, strict=True) for each in outcomes.different("", *(one.clone(memory_format=torch.contiguous_format) for one in pair))]


def slices(src, index, dim):
    """The positions of the elements of `src` in their order, and the place of each."""
    for position in itertools.product(*map(range, src.shape)):
        given = position[dim] if index.dim() == 1 else tuple(0 if size == 1 else at for at, size in zip(position, index.shape, strict=False))
        yield position, position[:dim] + (int(index[given]),) + position[dim + 1:]


def loops(name, src, index, dim, size, out=None, rounding="floor"):
    """What a function has, element by element. `out`: what the result begins with."""
    shape = [*src.shape[:dim], size, *src.shape[dim + 1:]]
    wide = src.to(SUMS_OF.get(src.dtype, src.dtype))
    begin = torch.full(shape, 1 if name == "mul" else 0).to(wide.dtype) if out is None else out.to(wide.dtype)
    result, counts, arg = begin.clone(), torch.zeros(shape, dtype=torch.int64), torch.full(shape, src.size(dim))
    for position, place in slices(src, index, dim):
        counts[place] += 1
        if name in ("sum", "mean"):
            result[place] += wide[position]
        elif name == "mul":
            result[place] *= wide[position]
        elif (out is None and arg[place] == src.size(dim)) or (wide[position] < result[place] if name == "min" else wide[position] > result[place]):
            result[place], arg[place] = wide[position], position[dim]
    result = result.to(src.dtype)
    if name == "mean":
        counts = counts.clamp(min=1).to(src.dtype)
        result = torch.div(result, counts, rounding_mode=None if src.is_floating_point() else rounding)
    return (result, arg) if name in ("min", "max") else result


def drawn(rng):
    """`src`, an index that fits it, the dim, and how many places there are."""
    shape = [rng.choice((1, 2, 3, 5)) for _ in range(rng.randint(1, 3))]
    dim = rng.randrange(len(shape))
    shape[dim] = rng.choice((0, 1, 4, 17))
    dtype = rng.choice(DTYPES)
    src = torch.randn(shape).to(dtype) if dtype.is_floating_point else torch.randint(-4, 5, shape, dtype=dtype)
    if rng.random() < 0.3:
        src = src.transpose(0, -1).contiguous().transpose(0, -1)
    size = rng.randint(1, 6)
    kind = rng.choice(("one dim", "full", "first dims", "repeated"))
    of_index = [shape[dim]] if kind == "one dim" else shape if kind == "full" else shape[:dim + 1]
    if kind == "repeated":
        of_index = [rng.choice((1, each)) for each in shape[:dim]] + [shape[dim]]
    index = torch.randint(size, of_index)
    return src, index, dim if dim != len(of_index) - 1 or kind != "first dims" else dim - len(shape), size


def everywhere(function):
    """The results with PyTorch's kernels and with strew's on 1, 2 and 8 threads."""
    for on, threads in ((False, 1), (True, 1), (True, 2), (True, 8)):
        with outcomes.enabled(on, threads):
            yield outcomes.tensors_in([function()])


def check_values(rng, iterations, failures):
    functions = {"sum": scatters.scatter_sum, "mul": scatters.scatter_mul, "mean": scatters.scatter_mean, "min": scatters.scatter_min, "max": scatters.scatter_max}
    for number in range(iterations):
        src, index, dim, size = drawn(rng)
        name = rng.choice(list(functions))
        position = dim % src.dim()
        out = loops("sum", src, index, position, size) if rng.random() < 0.3 else None
        want = outcomes.tensors_in([loops(name, src, index, position, size, out)])
        what = f"draw {number}: {name} of {src.dtype} {list(src.shape)} by {list(index.shape)}, dim {dim}" + (", out=" if out is not None else "")
        for got in everywhere(lambda: functions[name](src, index, dim, None if out is None else out.clone(), size)):
            failures.check(what, unlike(got, want))
        if out is None:
            short = scatters.scatter(src, index, dim, reduce=name)
            largest = int(index.max()) + 1 if index.numel() else 0
            failures.check(what + ", without dim_size", unlike([short], [want[0].narrow(position, 0, largest)]))


def drawn_segments(rng):
    """`src`, sorted pointers along one of its dims, and the index that they stand for, with one more segment for elements that are in none."""
    src, _, dim, segments = drawn(rng)
    dim %= src.dim()
    count = src.size(dim)
    first_dims = [rng.choice((1, size)) for size in src.shape[:dim]]
    indptr = torch.randint(count + 1, [*first_dims, segments + 1]).sort().values
    if rng.random() < 0.5:
        indptr[..., 0], indptr[..., -1] = 0, count
    places = torch.arange(count).expand(*first_dims, count)
    index = (places.unsqueeze(-1) >= indptr.unsqueeze(-2)).sum(-1) - 1
    return src, indptr, torch.where((index < 0) | (index >= segments), segments, index), dim, segments


def check_segments(rng, iterations, failures):
    by_csr = {"sum": scatters.segment_sum_csr, "mean": scatters.segment_mean_csr, "min": scatters.segment_min_csr, "max": scatters.segment_max_csr}
    by_coo = {"sum": scatters.segment_sum_coo, "mean": scatters.segment_mean_coo, "min": scatters.segment_min_coo, "max": scatters.segment_max_coo}
    for number in range(iterations):
        src, indptr, index, dim, segments = drawn_segments(rng)
        name = rng.choice(list(by_csr))
        what = f"draw {number}: {name} of segments of {src.dtype} {list(src.shape)}, pointers {list(indptr.shape)}"
        whole = outcomes.tensors_in([loops(name, src, index, dim, segments + 1, rounding="trunc")])
        want = [each.narrow(dim, 0, segments) for each in whole]
        out = torch.full_like(want[0], 7) if rng.random() < 0.3 else None
        for got in everywhere(lambda: by_csr[name](src, indptr, out)):
            failures.check(what, unlike(got, want))
        for got in everywhere(lambda: by_coo[name](src, index, None, segments + 1)):
            failures.check(what + ", COO", unlike(got, whole))
        failures.check(what + ", by its name", unlike([scatters.segment_csr(src, indptr, reduce=name)], want[:1]))
        largest = int(index.max()) + 1 if index.numel() else 0
        failures.check(what + ", COO, by its name", unlike([scatters.segment_coo(src, index, reduce=name)], [whole[0].narrow(dim, 0, largest)]))
        check_gathers(src, indptr, dim, segments, what, failures)


def check_gathers(src, indptr, dim, segments, what, failures):
    """The inverse: a row of a table for each element of a segment."""
    pointers = (indptr - indptr[..., :1]).clone()
    pointers[..., -1] = pointers.max()
    table = torch.randn(*src.shape[:dim], segments, *src.shape[dim + 1:])
    full = pointers.expand(*src.shape[:dim], segments + 1)
    count = int(full.max()) if full.numel() else 0
    want, index = torch.zeros(*src.shape[:dim], count, *src.shape[dim + 1:]), torch.zeros(*src.shape[:dim], count, dtype=torch.int64)
    for position in itertools.product(*map(range, full.shape[:-1])):
        for segment in range(segments):
            for element in range(int(full[position][segment]), int(full[position][segment + 1])):
                want[(*position, element)], index[(*position, element)] = table[(*position, segment)], segment
    for function, way in ((scatters.gather_csr, pointers), (scatters.gather_coo, index)):
        for got in everywhere(lambda: function(table, way)):
            failures.check(f"{what}: {function.__name__}", unlike(got, [want]))
        failures.check(f"{what}: {function.__name__}, out=", outcomes.different("", function(table, way, torch.ones_like(want)), want))


def check_composites(rng, iterations, failures):
    """Against PyTorch's functions of the elements of each place, in float64."""
    for number in range(iterations):
        src, index, dim, size = drawn(rng)
        src, position = src.double(), dim % src.dim()
        places = {}
        for element, place in slices(src, index, position):
            places.setdefault(place, []).append(element)
        shape = [*src.shape[:position], size, *src.shape[position + 1:]]
        std, biased, lse, soft, log_soft = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape), torch.zeros_like(src), torch.zeros_like(src)
        std, biased, lse = std.double(), biased.double(), lse.double()
        for place, elements in places.items():
            values = torch.stack([src[each] for each in elements])
            std[place], biased[place], lse[place] = values.std() if len(values) > 1 else 0, values.std(unbiased=False), values.logsumexp(0)
            for element, value, logarithm in zip(elements, values.softmax(0), values.log_softmax(0), strict=True):
                soft[element], log_soft[element] = value, logarithm
        cases = (("std", lambda: scatters.scatter_std(src, index, dim, dim_size=size), std), ("std, biased", lambda: scatters.scatter_std(src, index, dim, None, size, False), biased),
                 ("logsumexp", lambda: scatters.scatter_logsumexp(src, index, dim, dim_size=size), lse), ("softmax", lambda: scatters.scatter_softmax(src, index, dim, size), soft),
                 ("log_softmax", lambda: scatters.scatter_log_softmax(src, index, dim, dim_size=size), log_soft))
        for name, call, want in cases:
            results = [each[0] for each in everywhere(call)]
            failures.require(f"draw {number}: {name} {list(src.shape)} by {list(index.shape)}, dim {dim}", torch.allclose(results[0], want, atol=1e-10))
            failures.check(f"draw {number}: {name}, with strew", [each for other in results[1:] for each in outcomes.different("", other, results[0])])
        before = torch.randn(shape, dtype=torch.float64)
        both = before.clone()
        for place in places:
            both[place] = torch.logaddexp(lse[place], before[place])
        failures.require(f"draw {number}: logsumexp, out=", torch.allclose(scatters.scatter_logsumexp(src, index, dim, before.clone()), both))
        before = before.abs()
        squares = scatters.scatter_std(src, index, dim, before.clone(), unbiased=False)
        counts = loops("sum", torch.ones_like(src), index, position, size).clamp(min=1)
        failures.require(f"draw {number}: std, out=", torch.allclose(squares, (biased ** 2 + before / counts).sqrt()))


def check_special(failures):
    """NaN, infinite elements, zeros of both signs, equal elements."""
    nan, inf = float("nan"), float("inf")
    src, index = torch.tensor([1.0, nan, 2.0, -inf, -inf, -0.0, 0.0, 3.0, 3.0]), torch.tensor([0, 0, 0, 1, 1, 2, 2, 4, 4])
    for got in everywhere(lambda: scatters.scatter_max(src, index, dim_size=6)):
        failures.check("maxima of NaN and others", unlike(got, [torch.tensor([nan, -inf, -0.0, 0.0, 3.0, 0.0]), torch.tensor([1, 3, 5, 9, 7, 9])]))
    for got in everywhere(lambda: scatters.scatter_min(src, index, out=torch.tensor([5.0, 0.0, 0.0, nan, 3.0, 7.0]))):
        failures.check("minima of NaN and others", unlike(got, [torch.tensor([nan, -inf, 0.0, nan, 3.0, 7.0]), torch.tensor([1, 3, 9, 9, 9, 9])]))
    for got in everywhere(lambda: scatters.scatter(src, index, dim_size=6, reduce="max")):
        failures.check("maxima without their places", unlike(got, [torch.tensor([nan, -inf, -0.0, 0.0, 3.0, 0.0])]))
    sums = scatters.scatter_logsumexp(torch.tensor([-inf, -inf, inf, 1.0, nan, 800.0, 800.0]), torch.tensor([0, 0, 1, 1, 2, 4, 4]))
    failures.check("logsumexp of infinite elements", outcomes.different("", sums, torch.tensor([0.0, inf, nan, 0.0, torch.tensor(800.0) + torch.tensor(2.0).log()])))
    counts = scatters.scatter_mean(torch.ones(1000, dtype=torch.bfloat16), torch.zeros(1000, dtype=torch.int64))
    # An index without the dim that it names, in which src has one element.
    mean = scatters.scatter_mean(torch.tensor([[[1.0], [2.0], [3.0]]] * 3), torch.tensor([[0, 0, 0], [0, 0, 0], [1, 1, 1]]), dim=-1, dim_size=3)
    failures.require("means along a dim that index lacks", torch.equal(mean[0], torch.tensor([[1.0, 0, 0], [2, 0, 0], [3, 0, 0]])) and torch.equal(mean[2, 0], torch.tensor([0.0, 1, 0])))
    larger = scatters.scatter_logsumexp(torch.tensor([0.0]), torch.tensor([0]), out=torch.tensor([1000.0]))
    failures.require("logsumexp onto a much larger number", larger.item() == 1000)
    failures.require("a mean of 1000 ones of bfloat16 is 1", counts.item() == 1)


def check_empty(failures):
    """No elements, no places and no pointers have results and gradients, of the shapes that torch_scatter gives them."""
    src, index = torch.randn(0, 3, requires_grad=True), torch.zeros(0, dtype=torch.int64)
    functions = {name: lambda name=name: scatters.scatter(src, index, 0, dim_size=2, reduce=name) for name in ("sum", "mul", "mean", "min", "max")}
    functions |= {f"segment_coo {name}": lambda name=name: scatters.segment_coo(src, index, dim_size=2, reduce=name) for name in ("sum", "mean", "min", "max")}
    functions |= {f"segment_csr {name}": lambda name=name: scatters.segment_csr(src, torch.zeros(3, dtype=torch.int64), reduce=name) for name in ("sum", "mean", "min", "max")}
    for name, call in functions.items():
        for result, in everywhere(call):
            gradient, = torch.autograd.grad(result.sum(), src)
            failures.require(f"{name} of no elements", torch.equal(result, torch.full((2, 3), float(name == "mul"))) and gradient.shape == src.shape)
    for rows in (0, 4):
        src = torch.randn(rows, 3, requires_grad=True)
        for name in ("sum", "mean", "min", "max"):
            for result, in everywhere(lambda name=name, src=src: scatters.segment_csr(src, index, reduce=name)):
                gradient, = torch.autograd.grad(result.sum(), src)
                failures.require(f"segment_csr {name} of {rows} rows and no pointers", result.shape == (0, 3) and torch.equal(gradient, torch.zeros(rows, 3)))
        result, arg = scatters.segment_max_csr(src, index)
        failures.require(f"segment_max_csr of {rows} rows and no pointers", result.shape == (0, 3) and arg.shape == (0, 3))
    failures.require("gather_csr of no pointers", scatters.gather_csr(torch.randn(0, 3), index).shape == (0, 3))
    failures.require("gather_coo of no elements", scatters.gather_coo(torch.randn(2, 3), index).shape == (0, 3))


def check_derivatives(failures):
    torch.manual_seed(1)
    src = torch.randn(4, 9, 2, dtype=torch.float64, requires_grad=True)
    out = torch.randn(4, 5, 2, dtype=torch.float64, requires_grad=True)
    index, indptr = torch.tensor([0, 3, 3, 0, 1, 3, 0, 1, 1]), torch.tensor([0, 2, 2, 7, 9])
    table = torch.randn(4, 4, 2, dtype=torch.float64, requires_grad=True)
    calls = {name: lambda x, name=name: scatters.scatter(x, index, 1, dim_size=5, reduce=name) for name in ("sum", "mul", "mean", "min", "max")}
    calls |= {f"segment_csr {name}": lambda x, name=name: scatters.segment_csr(x, indptr.view(1, -1), reduce=name) for name in ("sum", "mean", "min", "max")}
    calls |= {f"segment_coo {name}": lambda x, name=name: scatters.segment_coo(x, index.sort().values.view(1, -1), reduce=name) for name in ("sum", "mean", "min", "max")}
    composites = {name: getattr(scatters, name) for name in ("scatter_std", "scatter_logsumexp", "scatter_softmax", "scatter_log_softmax")}
    # Of places that have elements: the square root in a standard deviation of 0 has no derivative.
    calls |= {name: lambda x, function=function: function(x, index.clamp(max=1), 1) for name, function in composites.items()}
    with outcomes.enabled(True):
        for name, call in calls.items():
            failures.require(f"derivatives of {name}", torch.autograd.gradcheck(call, (src,)) and torch.autograd.gradgradcheck(call, (src,)))
        for name in ("scatter_sum", "scatter_mul", "scatter_mean", "scatter_min", "scatter_max", "scatter_logsumexp"):
            def call(x, y, function=getattr(scatters, name)):
                result = function(x, index, 1, y.clone())
                return result[0] if isinstance(result, tuple) else result
            failures.require(f"derivatives of {name} with out=", torch.autograd.gradcheck(call, (src, out)))
        for name, call in (("gather_csr", lambda x: scatters.gather_csr(x, indptr.view(1, -1))), ("gather_coo", lambda x: scatters.gather_coo(x.transpose(0, 1), index % 4))):
            failures.require(f"derivatives of {name}", torch.autograd.gradcheck(call, (table,)))
        # The gradient of a maximum goes to the element that `arg` names, the first of equal ones.
        leaf = torch.ones(4, requires_grad=True)
        scatters.scatter_max(leaf, torch.tensor([0, 1, 1, 1]))[0].sum().backward()
        failures.check("the gradient of equal maxima", outcomes.different("", leaf.grad, torch.tensor([1.0, 1.0, 0.0, 0.0])))


def check_geometric(failures):
    torch.manual_seed(2)
    index = torch.randint(50, (400,))
    indptr = torch.randint(401, (51,)).sort().values
    indptr[0], indptr[-1] = 0, 400
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        src = torch.randn(400, 8).to(dtype)
        for name in ("sum", "mean", "min", "max", "mul"):
            with outcomes.enabled(False):
                want = torch_geometric.utils.scatter(src, index, 0, 50, name)
            for got in everywhere(lambda: scatters.scatter(src, index, 0, dim_size=50, reduce=name)):
                failures.check(f"{name} of {dtype} as PyTorch Geometric has it", outcomes.different("", got[0], want))
        for name in ("min", "max"):
            with outcomes.enabled(False):
                want = torch_geometric.utils.segment(src, indptr, name)
            failures.check(f"segments' {name} of {dtype} as PyTorch Geometric has it", outcomes.different("", scatters.segment_csr(src, indptr, reduce=name), want))
    weights = torch.randn(400, dtype=torch.float64)
    failures.require("softmax as PyTorch Geometric has it", torch.allclose(scatters.scatter_softmax(weights, index), torch_geometric.utils.softmax(weights, index)))


def check_examples(failures):
    """Those of torch_scatter's documentation."""
    src, index = torch.tensor([[2, 0, 1, 4, 3], [0, 2, 1, 3, 4]]), torch.tensor([[4, 5, 4, 2, 3], [0, 0, 2, 2, 1]])
    greatest, where = scatters.scatter_max(src, index, dim=-1)
    failures.require("the example of scatter_max", greatest.tolist() == [[0, 0, 4, 3, 2, 0], [2, 4, 3, 0, 0, 0]] and where.tolist() == [[5, 5, 3, 4, 0, 1], [1, 4, 3, 5, 5, 5]])
    wide = torch.randn(10, 6, 64)
    shapes = [scatters.scatter(wide, torch.tensor([0, 1, 0, 1, 2, 1]), dim=1, reduce=each).shape for each in ("sum", "mul", "mean", "min", "max")]
    shapes.append(scatters.segment_coo(wide, torch.tensor([0, 0, 1, 1, 1, 2]).view(1, -1), reduce="sum").shape)
    shapes.append(scatters.segment_csr(wide, torch.tensor([0, 2, 5, 6]).view(1, -1), reduce="sum").shape)
    failures.require(f"the examples of scatter, segment_coo and segment_csr: {shapes}", shapes == [torch.Size([10, 3, 64])] * 7)
    failures.require("doctests", (lambda result: result.attempted > 20 and not result.failed)(doctest.testmod(scatters)))
    failures.require("all names have docstrings", all(getattr(scatters, name).__doc__ for name in scatters.__all__))


def check_graphs(failures):
    index = torch.tensor([0, 2, 2, 0, 1])

    def model(x):
        return scatters.scatter_softmax(x, index, 0, 3) + scatters.scatter(x, index, 0, dim_size=3, reduce="mean")[index] + scatters.scatter_max(x, index, 0, None, 3)[0][index]
    x = torch.randn(5, 4)
    failures.check("torch.compile with aot_eager", outcomes.different("", torch.compile(model, backend="aot_eager", fullgraph=True)(x), model(x)))
    with outcomes.enabled(True):
        strew.torch.report(clear=True)
        model(x)
        failures.require("strew runs the operators that the functions are made of", outcomes.calls_by_strew() >= 8 and not outcomes.calls_by_torch())


def check_errors(failures):
    src, index, indptr = torch.randn(4, 3), torch.tensor([0, 1, 1, 2]), torch.tensor([0, 1, 4])
    out = torch.zeros(3, 3)
    s = scatters
    cases = (
        (lambda: s.scatter(src, index, 0, reduce="median"), ValueError, "reduce: 'median', expected 'sum', 'add', 'mul', 'mean', 'min' or 'max'"),
        (lambda: s.segment_csr(src, indptr, reduce="mul"), ValueError, "reduce: 'mul', expected 'sum', 'add', 'mean', 'min' or 'max'"),
        (lambda: s.segment_coo(src, index, reduce="mul"), ValueError, "reduce: 'mul', expected"),
        (lambda: s.scatter_sum([1], index), TypeError, "src: list, expected a tensor"),
        (lambda: s.scatter_sum(src, [0, 1, 1, 2], 0), TypeError, "index: list, expected a tensor"),
        (lambda: s.scatter_sum(src, index.int(), 0), TypeError, "index: torch.int32, expected torch.int64"),
        (lambda: s.scatter_sum(torch.tensor(1.0), index), ValueError, "src: no dims"),
        (lambda: s.scatter_sum(src, torch.tensor(1), 0), ValueError, "index: no dims"),
        (lambda: s.scatter_max(src, index, 2), IndexError, "dim: 2, expected one of the 2 dims of src"),
        (lambda: s.scatter_mean(src, index, 1), ValueError, "index: shape [4], expected one that can be repeated to that of src, [4, 3], with each element of dim 1"),
        (lambda: s.scatter_mul(src, index.view(1, 4, 1), 0), ValueError, "index: shape [1, 4, 1]"),
        (lambda: s.scatter_mul(src, index[:1], 0), ValueError, "index: shape [1]"),
        (lambda: s.scatter_sum(src, index, 0, dim_size=-1), ValueError, "dim_size: -1, expected 0 or more"),
        (lambda: s.scatter_sum(src, index, 0, out.double()), TypeError, "out: torch.float64, expected torch.float32"),
        (lambda: s.scatter_max(src, index, 0, out[:, :2]), ValueError, "out: shape [3, 2], expected that of src, [4, 3], but for dim 0"),
        (lambda: s.scatter_min(src, index, 0, [0]), TypeError, "out: list, expected a tensor or None"),
        (lambda: s.scatter_std(src.long(), index, 0), TypeError, "src: torch.int64, expected a floating point tensor"),
        (lambda: s.scatter_softmax(src.long(), index, 0), TypeError, "src: torch.int64, expected a floating point tensor"),
        (lambda: s.scatter_log_softmax(src.long(), index, 0), TypeError, "src: torch.int64, expected a floating point tensor"),
        (lambda: s.scatter_logsumexp(None, index, 0), TypeError, "src: NoneType, expected a floating point tensor"),
        (lambda: s.segment_sum_coo(src, index.view(4, 1, 1)), ValueError, "index: shape [4, 1, 1], expected at most the 2 dims of src"),
        (lambda: s.gather_coo(src, torch.zeros(2, 3, dtype=torch.int64)), ValueError, "index: shape [2, 3], expected its dims before the last to be those of src, [4, 3]"),
        (lambda: s.gather_coo(src, index % 3, out), ValueError, "out: shape [3, 3], expected that of src, [4, 3], with 4 in dim 0"),
        (lambda: s.segment_sum_csr(src, indptr.flip(0)), ValueError, "indptr: expected pointers that do not decrease, from 0 to 4, the size of dim 0 of src"),
        (lambda: s.segment_sum_csr(src, indptr + 1), ValueError, "from 0 to 4"),
        (lambda: s.segment_mean_csr(src, indptr - 1), ValueError, "from 0 to 4"),
        (lambda: s.segment_max_csr(src, indptr.float()), TypeError, "indptr: torch.float32, expected torch.int64"),
        (lambda: s.segment_max_csr(src, [0, 4]), TypeError, "indptr: list, expected a tensor"),
        (lambda: s.segment_max_csr(src, indptr.expand(3, 3)), ValueError, "indptr: shape [3, 3], expected pointers along dim 1, with the dims of src before that, [4], or 1"),
        (lambda: s.segment_min_csr(src, indptr, out), ValueError, "out: shape [3, 3], expected that of src, [4, 3], with 2 in dim 0"),
        (lambda: s.gather_csr(src, indptr), ValueError, "indptr: 2 segments, expected 4, the size of dim 0 of src"),
        (lambda: s.gather_csr(src[:2], indptr + 1), ValueError, "indptr: expected pointers from 0 to the same size everywhere, which is 5 at most"),
        (lambda: s.gather_csr(src[:2], indptr, out), ValueError, "out: shape [3, 3], expected that of src, [2, 3], with 4 in dim 0"),
    )
    for number, (call, kind, text) in enumerate(cases):
        found = outcomes.outcome(call).error
        failures.require(f"error {number}: {found!r} is {kind.__name__} with {text!r}, and nothing was written", type(found) is kind and text in str(found) and not out.any())
    for name in ("scatter_sum", "scatter_mul", "scatter_mean", "scatter_min", "scatter_max", "scatter_std", "scatter_logsumexp"):
        for wrong in (-1, 3):
            with outcomes.enabled(True):
                result = torch.full((3, 3), 7.0)
                found = outcomes.outcome(lambda: getattr(s, name)(src, torch.tensor([0, 1, 1, wrong]), 0, result)).error
            failures.require(f"{name} with index {wrong}: {found!r}, and nothing was written",
                             isinstance(found, (RuntimeError, IndexError)) and "out of bounds" in str(found) and bool((result == 7).all()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=outcomes.fresh_seed())
    parser.add_argument("--iterations", type=int, default=60)
    options = parser.parse_args()
    print(f"scatter_test: --seed {options.seed} --iterations {options.iterations}")
    torch.manual_seed(options.seed)
    rng, failures = random.Random(options.seed), outcomes.Failures()
    check_values(rng, 2 * options.iterations, failures)
    check_segments(rng, options.iterations, failures)
    check_composites(rng, options.iterations // 2, failures)
    for check in (check_special, check_empty, check_derivatives, check_geometric, check_examples, check_graphs, check_errors):
        check(failures)
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
