#!/usr/bin/env python3
"""strew.torch.moe_permute and moe_unpermute: drawn tokens and experts against PyTorch's sort and sums written out, bit for bit, derivatives, opcheck, torch.func, aot_eager
and inductor, errors.

    moe_test.py [--seed N] [--iterations N]

Exit status 0: right, 1: wrong.
"""
import sys

import own
import torch

import strew.torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
moe_permute, moe_unpermute = strew.torch.moe_permute, strew.torch.moe_unpermute


def written_out(rows, inverse, weights):
    """In the order of each token's experts, from 0; the sums of 16 bits are float32."""
    wide = torch.float32 if rows.dtype.itemsize == 2 else rows.dtype
    result = torch.zeros(len(inverse), *rows.shape[1:], dtype=wide)
    for j in range(inverse.size(1)):
        row = rows[inverse[:, j]]
        if weights is not None:
            row = row.to(weights.dtype) * weights[:, j].view(-1, *[1] * (rows.dim() - 1))
        result += row
    return result.to(rows.dtype)


def check_values(rng, iterations, failures):
    for number in range(iterations):
        tokens, k, experts = rng.choice((0, 1, 5, 60)), rng.choice((1, 2, 5)), rng.choice((1, 3, 16))
        dtype = rng.choice(FLOATS)
        x = torch.randn(tokens, *rng.choice(((1,), (7,), (64,), (3, 5)))).to(dtype)
        ids = torch.randint(experts, (tokens, k)).to(rng.choice((torch.int32, torch.int64)))
        if rng.random() < 0.3:
            x, ids = x.repeat_interleave(2, 0)[::2], ids.t().contiguous().t()
        weights = rng.choice((None, torch.rand(tokens, k).to(dtype), torch.rand(tokens, k).to(dtype).float() if dtype.itemsize == 2 else None))
        order = ids.flatten().argsort(stable=True)
        expected = (x[order // k], order, torch.empty_like(order).scatter_(0, order, torch.arange(len(order))).view(tokens, k), torch.bincount(ids.flatten(), minlength=experts))
        sums = written_out(expected[0], expected[2], weights)
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            result = moe_permute(x, ids, num_experts=experts)
            if not all(torch.equal(*pair) for pair in zip(result, expected, strict=True)):
                failures.append(f"draw {number}: moe_permute of {dtype} {list(x.shape)}, {k} of {experts} experts, {threads} threads")
            if not torch.equal(moe_unpermute(result[0], result[2], weights), sums):
                kind = "no weights" if weights is None else f"weights of {weights.dtype}"
                failures.append(f"draw {number}: moe_unpermute of {dtype} {list(x.shape)}, {k} of {experts} experts, {kind}, {threads} threads")
    torch.set_num_threads(1)


def layer(x, ids, weights):
    permuted, order, inverse, counts = moe_permute(x, ids, num_experts=4)
    return moe_unpermute(permuted.sin() * (order + 1)[:, None], inverse, weights) + counts.sum()


def layer_written_out(x, ids, weights):
    order = ids.flatten().argsort(stable=True)
    inverse = torch.empty_like(order).scatter_(0, order, torch.arange(len(order))).view_as(ids)
    permuted = x[order // ids.size(1)].sin() * (order + 1)[:, None]
    return (permuted[inverse] * weights[..., None]).sum(1) + ids.numel()


def check_derivatives(failures):
    x, weights, ids = torch.randn(6, 3).double().requires_grad_(), torch.rand(6, 2).double().requires_grad_(), torch.randint(4, (6, 2))
    inverse = torch.tensor([[0, 5], [2, 2], [4, 0]])  # some rows twice, some never
    functions = {
        "moe_permute": (lambda x: moe_permute(x, ids, num_experts=4)[0].square(), (x,)),
        "moe_unpermute": (lambda x, w: moe_unpermute(x, inverse, w), (x, weights[:3].detach().requires_grad_())),
        "moe_unpermute without weights": (lambda x: moe_unpermute(x, inverse), (x,)),
        "both": (lambda x, w: layer(x, ids, w), (x, weights)),
    }
    own.derivatives(failures, functions)
    own.derivatives(failures, {"moe_permute of complex numbers": (lambda x: moe_permute(x, ids, num_experts=4)[0].square(), (torch.complex(x.detach(), x.detach().cos()).requires_grad_(),))})
    own.forward_derivatives(failures, functions)
    own.compiled_backward(failures, functions)
    own.registrations(failures, [
        (torch.ops.strew.moe_permute, (x, ids, 4)), (torch.ops.strew.moe_permute, (x.detach(), ids.int(), 4)),
        (torch.ops.strew.moe_unpermute, (x, inverse, weights[:3])), (torch.ops.strew.moe_unpermute, (x.detach(), inverse)),
    ])


def check_compiled(failures):
    given = torch.randn(20, 8), torch.randint(4, (20, 2)), torch.rand(20, 2)

    def outcome(function):
        x, weights = given[0].clone().requires_grad_(), given[2].clone().requires_grad_()
        result = function(x, given[1], weights)
        return result, *torch.autograd.grad(result.sin().sum(), (x, weights))
    expected = outcome(layer_written_out)
    of_eager, of_inductor = torch.compile(layer, backend="aot_eager", fullgraph=True), torch.compile(layer, fullgraph=True, dynamic=True)
    for name, function in (("eager", layer), ("aot_eager", of_eager), ("inductor", of_inductor)):
        if not all(torch.allclose(*pair, atol=1e-3) for pair in zip(outcome(function), expected, strict=True)):
            failures.append(f"a layer, {name}")


def check_errors(failures):
    x, ids, weights, inverse = torch.randn(3, 4), torch.tensor([[0, 1], [2, 0], [1, 1]]), torch.rand(3, 2), torch.arange(6).view(3, 2)
    rows = torch.randn(6, 4)
    own.errors(failures, [
        (lambda: moe_permute(x, ids, num_experts=2), IndexError, "moe_permute(): index 2 is out of bounds for 2 experts (strew: topk_ids[1, 0]"),
        (lambda: moe_permute(x, -ids, num_experts=2), IndexError, "index -1 is out of bounds for 2 experts (strew: topk_ids[0, 1]"),
        (lambda: moe_permute(x, ids, num_experts=-1), RuntimeError, "expected num_experts of 0 or more, but got -1"),
        (lambda: moe_permute(x, ids.flatten(), num_experts=4), RuntimeError, "expected topk_ids to be int32 or int64 of two dims, but got Long of 1 dims"),
        (lambda: moe_permute(x, ids.float(), num_experts=4), RuntimeError, "expected topk_ids to be int32 or int64 of two dims, but got Float"),
        (lambda: moe_permute(x[:2], ids, num_experts=4), RuntimeError, "expected hidden_states and topk_ids to have one row per token each"),
        (lambda: moe_permute(torch.tensor(1.0), ids, num_experts=4), RuntimeError, "expected hidden_states and topk_ids to have one row per token each"),
        (lambda: moe_permute(x.to("meta"), ids, num_experts=4), RuntimeError, "Expected all tensors to be on the same device"),
        (lambda: moe_unpermute(rows, inverse + 1, weights), RuntimeError, "index 6 is out of bounds for dimension 0 with size 6"),
        (lambda: moe_unpermute(rows, inverse, weights[:2]), RuntimeError, "expected topk_weights to have one number for each of inv_permuted_idx, [3, 2], but its shape is [2, 2]"),
        (lambda: moe_unpermute(rows, inverse, weights.double()), RuntimeError, "weight and table expected to have the same dtype"),
        (lambda: moe_unpermute(rows, inverse[0], weights[0]), RuntimeError, "expected inv_permuted_idx to be int32 or int64 of two dims"),
        (lambda: moe_unpermute(rows.long(), inverse), RuntimeError, "moe_unpermute(): expected permuted to be floating point, but got Long"),
        (lambda: moe_unpermute(rows + 1j, inverse), RuntimeError, "moe_unpermute(): expected permuted to be floating point, but got ComplexFloat"),
    ])


if __name__ == "__main__":
    sys.exit(own.main("moe_test", check_values, 200, (check_derivatives, check_compiled, check_errors)))
