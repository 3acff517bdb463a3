#!/usr/bin/env python3
"""strew.torch.kv_append_ and kv_append: caches of drawn shapes, layouts and dtypes against loops over tokens, derivatives, version counters, errors with nothing written,
opcheck, torch.compile without a copy of the cache, torch.export.

    kv_append_test.py [--seed N] [--iterations N]

Exit status 0: right, 1: wrong.
"""
import sys

import own
import torch

import strew.torch

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.float8_e4m3fn)
kv_append, kv_append_ = strew.torch.kv_append, strew.torch.kv_append_


def bits(tensor):
    return tensor.contiguous().view(torch.uint8)


def random_of(shape, dtype):
    return (torch.randn(shape) * 9).to(dtype)


def drawn_paged(rng):
    """A cache, slots, values, and what the cache has to hold afterwards."""
    blocks, size, heads, width, count = (rng.choice(each) for each in ((1, 3, 9), (1, 4, 16), (1, 2), (1, 5, 32), (0, 1, 7, 40)))
    dtype = rng.choice(DTYPES)
    layout = rng.choice(("blocks", "flat", "heads first", "keys and values"))
    if layout == "heads first":  # in memory
        cache = random_of((blocks, heads, size, width), dtype).transpose(1, 2)
    elif layout == "keys and values":
        cache = random_of((blocks, 2, size, heads, width), dtype)[:, 1]
    else:
        cache = random_of((blocks, size, heads, width), dtype)
    slots = torch.randint(-1, blocks * size, (count,)).to(rng.choice((torch.int32, torch.int64)))
    values = random_of((count, heads, width), dtype)
    if rng.random() < 0.3:
        values = random_of((count, width, heads), dtype).transpose(1, 2)
    expected = cache.clone()
    for token, slot in enumerate(slots.tolist()):
        if slot >= 0:
            expected[slot // size, slot % size] = values[token]
    return (cache.flatten(0, 1), slots, values, expected.flatten(0, 1)) if layout == "flat" else (cache, slots, values, expected)


def drawn_static(rng):
    batch, heads, length, width = (rng.choice(each) for each in ((1, 3), (1, 2), (4, 17), (1, 5, 32)))
    dtype, dim = rng.choice(DTYPES), rng.choice((1, 2, -2, -3))
    rank4 = [batch, heads, heads, width]
    rank4[dim] = length
    cache = random_of(rank4, dtype)
    used, new = rng.randint(0, batch), rng.randint(0, min(3, length))
    rank4[0], rank4[dim] = used, new
    values = random_of(rank4, dtype)
    positions = torch.randint(0, length - new + 1, (used,)).to(rng.choice((torch.int32, torch.int64)))
    expected = cache.clone()
    for sequence, position in enumerate(positions.tolist()):
        expected[sequence].narrow(dim - 1 if dim > 0 else dim, position, new).copy_(values[sequence])
    return cache, positions, values, expected, dim


def check_values(rng, iterations, failures):
    for number in range(iterations):
        cache, index, values, expected, *dim = (drawn_static if rng.random() < 0.4 else drawn_paged)(rng)
        given = {"dim": dim[0]} if dim else {}
        what = f"draw {number}: {cache.dtype} {list(cache.shape)} {cache.stride()}, {len(index)} indices, {given}"
        if not torch.equal(bits(kv_append(cache, index, values, **given)), bits(expected)):
            failures.append(f"{what}: kv_append")
        for threads in (1, 2, 8):
            torch.set_num_threads(threads)
            one, other = cache.clone(), cache.clone()
            kv_append_([one, other], index, [values, values], **given)
            kv_append_(cache if threads == 8 else one, index, values, **given)
            if not all(torch.equal(bits(each), bits(expected)) for each in (one, other)):
                failures.append(f"{what}: kv_append_, {threads} threads")
        if not torch.equal(bits(cache), bits(expected)):
            failures.append(f"{what}: kv_append_ of {cache.stride()}")
    torch.set_num_threads(1)


def numbers():
    torch.manual_seed(5)
    return torch.randn(4, 8, 2, 3), torch.tensor([9, -1, 30, 0]), torch.randn(4, 2, 3)


def check_autograd(failures):
    wide = [each.double() if each.is_floating_point() else each for each in numbers()]
    cache, slots, values = wide[0].requires_grad_(), wide[1], wide[2].requires_grad_()
    static, tokens = torch.randn(3, 2, 6, 2).double().requires_grad_(), torch.randn(2, 2, 2, 2).double().requires_grad_()
    positions = torch.tensor([4, 0])

    def in_place(cache, index, values, **dim):
        made = cache * 2
        kv_append_(made[:], index, values, **dim)  # through a view
        return made * made
    functions = {
        "kv_append": (lambda c, v: kv_append(c, slots, v).square(), (cache, values)),
        "kv_append of slots without blocks": (lambda c, v: kv_append(c.flatten(0, 1), slots, v).square(), (cache, values)),
        "kv_append at positions": (lambda c, v: kv_append(c, positions, v, dim=2).square(), (static, tokens)),
        "kv_append_": (lambda c, v: in_place(c, slots, v), (cache, values)),
        "kv_append_ at positions": (lambda c, v: in_place(c, positions, v, dim=-2), (static, tokens)),
    }
    own.derivatives(failures, functions)
    own.compiled_backward(failures, functions)
    plain, slots, values = numbers()
    for count in (1, 2):
        before = plain._version
        kv_append_([plain] * count, slots, [values] * count)
        if plain._version != before + count:
            failures.append(f"kv_append_ of {count} caches counts {plain._version - before} versions")
    leaf = plain.clone().requires_grad_()
    kept = leaf.exp()
    with torch.no_grad():
        kv_append_(kept, slots, values)
    own.errors(failures, [
        (lambda: kept.sum().backward(), RuntimeError, "modified by an inplace operation"),
        (lambda: kv_append_(leaf, slots, values), RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation", leaf.detach()),
        (lambda: kv_append_(leaf[:], slots, values), RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation", leaf.detach()),
    ])
    with torch.inference_mode():
        cache = plain.clone()
        kv_append_(cache, slots, values)
    if not torch.equal(cache, kv_append(plain, slots, values)):
        failures.append("kv_append_ in inference mode")
    gradient = torch.func.grad(lambda v: kv_append(plain, slots, v).square().sum())(values)
    if not torch.equal(gradient, values * 2 * torch.tensor([1, 0, 1, 1]).view(4, 1, 1)):
        failures.append("torch.func.grad of kv_append")


def check_views_of_one(failures):
    """Keys and values in one tensor."""
    both = torch.zeros(2, 3, 4, 5)
    keys, values = (torch.randn(2, 5, requires_grad=True) for _ in "kv")
    strew.torch.kv_append_([both[0], both[1]], torch.tensor([1, 7]), [keys, values])
    gradients = torch.autograd.grad((both * 3).sum(), (keys, values))
    if not all((each == 3).all() for each in gradients):
        failures.append(f"gradients of views of one cache: {gradients}")


def check_dtypes(failures):
    """The second of two caches in each dtype of PyTorch's, also in those that its operators do not move."""
    dtypes = {each for each in vars(torch).values() if isinstance(each, torch.dtype) and not str(each).startswith(("torch.qu", "torch.qi"))}
    positions = torch.tensor([1, 3], dtype=torch.int32)
    forms = {"slots": ((6, 4), (2, 4), {}), "blocks": ((3, 2, 4), (2, 4), {}), "positions": ((2, 6, 4), (2, 2, 4), {"dim": 1}), "many dims": ((2, 6, *[1] * 16), (2, 2, *[1] * 16), {"dim": 1})}
    for dtype in sorted(dtypes, key=str):
        for form, (shape, rows, given) in forms.items():
            caches, values = ([torch.randint(2, (*size[:-1], size[-1] * dtype.itemsize), dtype=torch.uint8) for _ in "kv"] for size in (shape, rows))
            expected = kv_append(caches, positions, values, **given)
            as_given = [[pair[0].clone(), pair[1].clone().view(dtype)] for pair in (caches, values)]
            made = kv_append(as_given[0], positions, as_given[1], **given)
            kv_append_(as_given[0], positions, as_given[1], **given)
            if not all(torch.equal(each.view(torch.uint8), want) for result in (made, as_given[0]) for each, want in zip(result, expected, strict=True)):
                failures.append(f"{dtype}, {form}")


def check_errors(failures):
    cache, slots, values = numbers()
    static, tokens, positions = torch.randn(3, 2, 6, 2), torch.randn(2, 2, 3, 2), torch.tensor([1, 3])
    other = torch.zeros(8, 4, 2, 3)
    late = torch.tensor([0, 1, 2, 32])
    forward = torch.autograd.forward_ad

    def dual():
        with forward.dual_level():
            kv_append(cache, slots, forward.make_dual(values, values))
    own.errors(failures, [
        (lambda: kv_append_(cache, late, values), IndexError, "kv_append_(): index 32 is out of bounds for dimension 0 with size 32 (strew: slot 3", cache),
        (lambda: kv_append_(cache, -late.int(), values), IndexError, "kv_append_(): index -2 is out of bounds", cache),
        (lambda: kv_append_([cache, other], late, [values, values]), IndexError, "index 32 is out of bounds", cache, other),
        (lambda: kv_append(cache, late, values), IndexError, "kv_append(): index 32 is out of bounds"),
        (lambda: kv_append_(static, positions + 1, tokens, dim=2), IndexError,
         "index 4 is out of bounds for dimension 2 with size 6 (strew: position 1, where 3 tokens have to fit", static),
        (lambda: kv_append_(static, positions - 2, tokens, dim=2), IndexError, "index -1 is out of bounds for dimension 2", static),
        (lambda: kv_append_(cache, slots[:3], values), RuntimeError, "expected one slot per token, but got 3 slots", cache),
        (lambda: kv_append_(cache, slots.float(), values), RuntimeError, "expected slots to be int32 or int64 of one dim, but got Float"),
        (lambda: kv_append_(static, positions[:, None], tokens, dim=2), RuntimeError, "expected positions to be int32 or int64 of one dim"),
        (lambda: kv_append_(cache, slots, values[:, :, :2]), RuntimeError, "expected values of shape [tokens, ...]"),
        (lambda: kv_append_(cache, slots, values.double()), RuntimeError, "expected values of the dtype of their cache, Float, but got Double"),
        (lambda: kv_append_([cache, other[:2]], slots, [values, values]), RuntimeError, "caches with the same number of slots, but got 32 and 8", cache),
        (lambda: kv_append_([cache, cache.flatten(0, 1)], slots, [values, values]), RuntimeError, "caches with the same number of dims, but got 4 and 3", cache),
        (lambda: kv_append_([cache], slots, [values, values]), RuntimeError, "expected values for each cache, but got 2 for 1"),
        (lambda: kv_append_([], slots, []), RuntimeError, "expected values for each cache, but got 0 for 0"),
        (lambda: kv_append_(static, positions, tokens, dim=0), RuntimeError, "expected dim to be one of the dims of the cache but the first"),
        (lambda: kv_append_(static, positions, tokens, dim=4), RuntimeError, "but got 4 for 4 dims"),
        (lambda: kv_append_(static, positions, tokens.repeat(1, 1, 3, 1), dim=2), RuntimeError, "may be less, but got [2, 2, 9, 2]"),
        (lambda: kv_append_(static, positions.repeat(2), tokens.repeat(2, 1, 1, 1), dim=2), RuntimeError, "for at most 3 sequences, but got 4 positions"),
        (lambda: kv_append_([static, static[:, :, :5]], positions, [tokens, tokens], dim=2), RuntimeError, "the same extents of dim 2", static),
        (lambda: kv_append_(cache[:1].expand(4, 8, 2, 3), slots, values), RuntimeError, "more than one element of the written-to tensor refers to a single memory location", cache),
        (lambda: kv_append_(cache, slots, cache.flatten(0, 1)[:4]), RuntimeError, "refer to a single memory location", cache),
        (dual, NotImplementedError, "forward AD with strew::kv_append"),
        (lambda: kv_append_(cache.to_sparse(), slots, values), NotImplementedError, "neither sparse, quantised nor nested, but got one with layout Sparse"),
        (lambda: kv_append_(cache, slots, values.to("meta")), RuntimeError, "Expected all tensors to be on the same device, but got cpu and meta", cache),
    ])


def check_compiled(failures):
    from torch._inductor.utils import run_and_get_code
    cache, slots, values = numbers()
    static, tokens, positions = torch.randn(3, 2, 6, 2), torch.randn(2, 2, 3, 2), torch.tensor([1, 3])
    own.registrations(failures, [
        (torch.ops.strew.kv_append_.default, ([cache, cache.clone()], slots, [values, values])),
        (torch.ops.strew.kv_append_.default, ([cache], slots, [values.clone().requires_grad_()])),
        (torch.ops.strew.kv_append_.default, ([static], positions, [tokens], 2)),
        (torch.ops.strew.kv_append.default, ([cache.clone().requires_grad_(), cache], slots, [values, values])),
        (torch.ops.strew.kv_append.default, ([static], positions, [tokens.clone().requires_grad_()], 2)),
    ])

    def step(pool, slots, x):
        kv_append_([pool[0], pool[1]], slots, [x * 2, x.relu()])
        return pool[0].sum()

    class Step(torch.nn.Module):
        def forward(self, pool, slots, x):
            return step(pool, slots, x)
    expected = torch.stack([cache, cache])
    total = step(expected, slots, values)
    compiled = torch.compile(step, fullgraph=True)
    pool = torch.stack([cache, cache])
    _, code = run_and_get_code(compiled, pool, slots, values)
    exported = torch.export.export(Step(), (pool.clone(), slots, values)).module()
    other = torch.stack([cache, cache])
    exported(other, slots, values)
    if not all(torch.equal(each, expected) for each in (pool, other)):
        failures.append("torch.compile or torch.export writes something else")
    if not torch.allclose(total, compiled(pool, slots, values)):
        failures.append("torch.compile returns something else")
    # The cache has 4 * 8 * 2 * 3 elements; no tensor of its size is made.
    if "torch.ops.strew.kv_append_.default([" not in code[0] or "empty_strided_cpu((4, 8, 2, 3)" in code[0] or "empty_strided_cpu((2, 4, 8, 2, 3)" in code[0]:
        failures.append(f"inductor copies the cache: {code[0]}")


if __name__ == "__main__":
    sys.exit(own.main("kv_append_test", check_values, 300, (check_autograd, check_views_of_one, check_dtypes, check_errors, check_compiled)))
