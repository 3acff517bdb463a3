#!/usr/bin/env python3
"""What PyTorch has around strew's own operators: torch.vmap against one call each, also of gradients, and without its loop over the batch; autocast; subclasses and modes of
dispatch; negative views; refusals of sparse, quantised and nested tensors and of other devices.

    own_transforms_test.py [--seed N]

Exit status 0: right, 1: wrong.
"""
import sys

import own
import torch
from host_test import Seen, Subclass, Wrapper
from torch._subclasses.fake_tensor import FakeTensorMode

import strew.torch

spmm, sddmm, moe_permute, moe_unpermute, kv_append = strew.torch.spmm, strew.torch.sddmm, strew.torch.moe_permute, strew.torch.moe_unpermute, strew.torch.kv_append
ROWS, SOURCES, EDGES, BATCH = 6, 5, 40, 3


def numbers():
    return torch.randint(ROWS, (EDGES,)), torch.randint(SOURCES, (EDGES,))


def calls():
    """By name, a function of tensors, and those, each with a batch in front."""
    dst, src = numbers()
    ids, inverse = torch.randint(4, (7, 2)), torch.randint(9, (7, 2))
    both = torch.randint(ROWS, (BATCH, EDGES))
    heads, rows = torch.randn(BATCH, SOURCES, 2, 3), torch.randn(BATCH, SOURCES, 4)
    return {
        "spmm": (lambda t, w: spmm(dst, src, t, w, num_rows=ROWS), rows, torch.randn(BATCH, EDGES)),
        "spmm without weights": (lambda t: spmm(dst, src, t, num_rows=ROWS), rows),
        "spmm of heads": (lambda t, w: spmm(dst, src, t, w, num_rows=ROWS, reduce="mean"), heads, torch.randn(BATCH, EDGES, 2)),
        "spmm, amax": (lambda t, w: spmm(dst, src, t, w, num_rows=ROWS, reduce="amax"), heads, torch.randn(BATCH, EDGES)),
        "spmm of many edges": (lambda d, t: spmm(d, src, t, num_rows=ROWS), both, rows),
        "sddmm": (lambda a, b: sddmm(dst, src, a, b), torch.randn(BATCH, ROWS, 4), rows),
        "sddmm of heads": (lambda a, b: sddmm(dst, src, a, b, head_dims=1), torch.randn(BATCH, ROWS, 2, 3), heads),
        "sddmm of many edges": (lambda d, a, b: sddmm(d, src, a, b), both, torch.randn(BATCH, ROWS, 4), rows),
        "moe_permute": (lambda x: moe_permute(x, ids, num_experts=4), torch.randn(BATCH, 7, 3)),
        "moe_permute of many experts": (lambda x, i: moe_permute(x, i, num_experts=4), torch.randn(BATCH, 7, 3), torch.randint(4, (BATCH, 7, 2))),
        "moe_unpermute": (lambda r, w: moe_unpermute(r, inverse, w), torch.randn(BATCH, 9, 3), torch.rand(BATCH, 7, 2)),
    }


def one_by_one(function, given, dims):
    results = [function(*(each if dim is None else each.select(dim, number) for each, dim in zip(given, dims, strict=True))) for number in range(BATCH)]
    return [torch.stack(each) for each in zip(*((each,) if isinstance(each, torch.Tensor) else each for each in results), strict=True)]


def agree(results, expected):
    results = [results] if isinstance(results, torch.Tensor) else results
    return all(torch.equal(*pair) for pair in zip(results, expected, strict=True))


def check_vmap(rng, failures):
    for name, (function, *batched) in calls().items():
        for _ in range(4):
            dims = [rng.choice((0, None, each.dim() - 1)) for each in batched]
            if all(dim is None for dim in dims):
                dims[0] = 0
            given = [each[0] if dim is None else each.movedim(0, dim) for each, dim in zip(batched, dims, strict=True)]
            if not agree(torch.vmap(function, tuple(dims))(*given), one_by_one(function, given, dims)):
                failures.append(f"vmap of {name}, dims {dims}")
        wrt = tuple(number for number, each in enumerate(batched) if each.is_floating_point())

        def total(*given, function=function):
            results = function(*given)
            return (results if isinstance(results, torch.Tensor) else results[0]).square().sum()
        gradients = torch.func.grad(total, wrt)
        results, expected = torch.vmap(gradients)(*batched), one_by_one(gradients, batched, [0] * len(batched))
        if not all(torch.allclose(*pair, atol=1e-5) for pair in zip(results, expected, strict=True)):
            failures.append(f"vmap of the gradients of {name}")


def check_autocast(failures):
    """The wider dtype, as PyTorch's multiplication has it; weights of float32 with a table of 16 bits stay."""
    dst, src = numbers()
    table, weight, other = torch.randn(SOURCES, 4), torch.randn(EDGES), torch.randn(ROWS, 4)
    single, half, brain = torch.float32, torch.float16, torch.bfloat16
    for of_table, of_weight, expected in ((single, brain, single), (brain, single, brain), (brain, half, single), (brain, brain, brain), (torch.float64, half, torch.float64)):
        t, w, o = table.to(of_table), weight.to(of_weight), other.to(of_weight)
        wider = torch.promote_types(of_table, of_weight) if (of_table, of_weight) != (brain, single) else None
        cast = (lambda each, dtype=wider: each if dtype is None else each.to(dtype))
        with torch.autocast("cpu", brain):
            results = [spmm(dst, src, t, w, num_rows=ROWS), spmm(dst, src, t, w, num_rows=ROWS, reduce="amin"), sddmm(dst, src, o, t)]
        plain = [spmm(dst, src, cast(t), cast(w), num_rows=ROWS), spmm(dst, src, cast(t), cast(w), num_rows=ROWS, reduce="amin")]
        plain.append(sddmm(dst, src, *(each.to(torch.promote_types(of_table, of_weight)) for each in (o, t))))
        if [each.dtype for each in results[:2]] != [expected] * 2 or not agree(results, plain):
            failures.append(f"autocast of a table of {of_table} and weights of {of_weight}")
    linear = torch.nn.Linear(4, 4)
    with torch.autocast("cpu", brain):
        spmm(dst, src, linear(table), weight, num_rows=ROWS).sum().backward()
    if linear.weight.grad is None or linear.weight.grad.dtype != single:
        failures.append("autocast: the gradient of a layer before spmm")


def check_tensors(failures):
    dst, src = numbers()
    table, weight = torch.randn(SOURCES, 4), torch.randn(EDGES)
    expected = spmm(dst, src, table, weight, num_rows=ROWS)
    negative = torch._neg_view(table)
    for name, result in (
        ("a subclass", spmm(dst, src, table.as_subclass(Subclass), weight, num_rows=ROWS)),
        ("a parameter", spmm(dst, src, torch.nn.Parameter(table), weight, num_rows=ROWS).detach()),
        ("a wrapped tensor", spmm(dst, src, Wrapper(table), weight, num_rows=ROWS).inner),
        ("a negative view", -spmm(dst, src, negative, weight, num_rows=ROWS)),
    ):
        if not torch.equal(result, expected):
            failures.append(f"spmm of {name}")
    cache, slots, values = torch.randn(6, 2), torch.tensor([1]), torch.randn(1, 2)
    if not torch.equal(-kv_append(torch._neg_view(cache), slots, torch._neg_view(values)), kv_append(cache, slots, values)):
        failures.append("kv_append of negative views")
    text = "doesn't currently support mutable TensorLists with negation"
    own.errors(failures, [(lambda: strew.torch.kv_append_(torch._neg_view(cache), slots, values), RuntimeError, text, cache)])
    with Seen() as seen:
        spmm(dst, src, table, weight, num_rows=ROWS)
    if seen.names != ["strew.spmm.default"]:
        failures.append(f"a mode of dispatch sees {seen.names}")
    with torch.inference_mode():
        if not torch.equal(spmm(dst, src, table.clone(), weight, num_rows=ROWS), expected):
            failures.append("spmm in inference mode")


def check_refusals(failures):
    dst, src = numbers()
    nested = [torch.nested.nested_tensor([torch.randn(2, 3), torch.randn(4, 3)], layout=layout) for layout in (torch.strided, torch.jagged)]
    table = torch.randn(SOURCES, 4)
    strange = [("one with layout Sparse", table.to_sparse()), ("one with layout SparseCsr", table.to_sparse_csr()),
               ("a quantised one", torch.quantize_per_tensor(table, 0.1, 0, torch.quint8)), *(("a nested one", each) for each in nested)]
    cases = []
    for text, tensor in strange:
        cases += [(call, NotImplementedError, f"neither sparse, quantised nor nested, but got {text}") for call in (
            lambda t=tensor: spmm(dst, src, t, num_rows=ROWS), lambda t=tensor: spmm(dst, src, table, t, num_rows=ROWS),
            lambda t=tensor: spmm(dst, src, t, num_rows=ROWS, reduce="amax"),
            lambda t=tensor: sddmm(dst, src, table, t), lambda t=tensor: moe_permute(t, torch.tensor([[0]]), num_experts=1), lambda t=tensor: moe_unpermute(t, torch.tensor([[0]])),
            lambda t=tensor: kv_append(t, dst, table), lambda t=tensor: kv_append(table, dst, t),
        )]
    own.errors(failures, cases)
    with FakeTensorMode():  # which has devices that are not there
        index, on_gpu = torch.zeros(3, dtype=torch.int64, device="cuda"), torch.zeros(3, 4, device="cuda")
        own.errors(failures, [(lambda: spmm(index, index, on_gpu, num_rows=3), NotImplementedError, "nor nested, but got one on cuda:0")])


if __name__ == "__main__":
    sys.exit(own.main("own_transforms_test", check_vmap, None, (check_autocast, check_tensors, check_refusals)))
