#!/usr/bin/env python3
"""The tables of docs/torch.md, "Bits and errors, as torch has them": measures them with PyTorch alone, and compares; then measures them with strew.torch enabled, which has to give the same.

    behaviour_test.py [--print]

--print: prints the tables for the page. Exit status 0: right, 1: wrong.
"""
import argparse
import pathlib
import re
import sys

import outcomes
import torch

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/torch.md"
NARROW = (torch.bfloat16, torch.float16)


def strided(tensor):
    return torch.stack([tensor, tensor], -1)[..., 0]


def of_view(table, call):
    view = strided(table)
    call(view)
    return view


def rows(index, updates):
    return index.view(-1, *[1] * (updates.dim() - 1)).expand_as(updates)


# Sums of rows of two dims: table [2, 8], indices, updates [N, 8].
SUMS = {
    "`index_add`": lambda t, i, u: t.index_add_(0, i, u),
    "`index_add`, dim 1": lambda t, i, u: t.t().contiguous().index_add_(1, i, u.t().contiguous()).t(),
    "`index_add`, strided tensors": lambda t, i, u: of_view(t, lambda view: view.index_add_(0, i, strided(u))),
    "`index_add`, alpha 2": lambda t, i, u: t.index_add_(0, i, u / 2, alpha=2),
    "`index_add`, one dim": lambda t, i, u: torch.stack([t[:, k].contiguous().index_add_(0, i, u[:, k].contiguous()) for k in range(t.size(1))], 1),
    "`scatter_add`, an index expanded along the rows": lambda t, i, u: t.scatter_add_(0, rows(i, u), u),
    "`scatter_add`, a full index": lambda t, i, u: t.scatter_add_(0, rows(i, u).contiguous(), u),
    "`scatter_add`, one dim": lambda t, i, u: torch.stack([t[:, k].contiguous().scatter_add_(0, i, u[:, k].contiguous()) for k in range(t.size(1))], 1),
    "`scatter_reduce` sum": lambda t, i, u: t.scatter_reduce_(0, rows(i, u).contiguous(), u, "sum"),
    "`scatter` with `reduce=\"add\"`": lambda t, i, u: t.scatter_(0, rows(i, u).contiguous(), u, reduce="add"),
    "`index_put` accumulate": lambda t, i, u: t.index_put_((i,), u, accumulate=True),
    "`index_put` accumulate, two indices": lambda t, i, u: t.index_put_((i[:, None], torch.arange(8)), u, accumulate=True),
    "`put` accumulate": lambda t, i, u: t.put_(i[:, None] * 8 + torch.arange(8), u, accumulate=True),
    "`index_select` backward": lambda t, i, u: backward(t, i, u),
}


def backward(table, index, updates):
    """The gradient starts from zero, so the row's old value is its first update."""
    leaf = torch.zeros_like(table).requires_grad_()
    everything, to = torch.cat([table, updates]), torch.cat([torch.arange(len(table)), index])
    return torch.autograd.grad(leaf.index_select(0, to), leaf, everything)[0]


def folded(table, index, updates, dtype):
    """In the order of the indices, every sum rounded to `dtype`."""
    result = table.to(dtype).clone()
    for to, row in zip(index.tolist(), updates, strict=True):
        result[to] = (result[to] + row.to(dtype)).to(dtype)
    return result.to(table.dtype)


def sums(call, dtype):
    """How it adds: \"each\": every sum is rounded to the dtype; \"once\": sums are those of float32, the last is rounded."""
    draw = torch.Generator().manual_seed(5)
    large, small = (2.0**15, 2.0**-10) if dtype == torch.float16 else (2.0**24, 1.0)
    table = torch.randn(2, 8, generator=draw) * 16
    updates = torch.randn(64, 8, generator=draw) * 2.0 ** torch.randint(0, 8, (64, 8), generator=draw)
    table[:, 0], updates[:, 0] = large, small  # in float32, large + small is large: an order in which small ones come first shows
    updates[-2:, 0] = -large
    index = torch.randint(0, 2, (64,), generator=draw)
    index[-2:] = torch.tensor([0, 1])
    table, updates = table.to(dtype), updates.to(dtype)
    got, wide = call(table.clone(), index, updates), torch.float32 if dtype in NARROW else dtype
    ways = {"each": folded(table, index, updates, dtype), "once": folded(table, index, updates, wide)}
    if dtype not in NARROW:
        return "in order" if torch.equal(got, ways["once"]) else "another order"
    return next((name for name, want in ways.items() if torch.equal(got, want)), "neither")


def table_of_sums():
    yield "| sums | float32, float64 | bfloat16 | float16 |"
    yield "|---|---|---|---|"
    for name, call in SUMS.items():
        wide = {sums(call, torch.float32), sums(call, torch.float64)}
        yield f"| {name} | {' or '.join(sorted(wide))} | {sums(call, torch.bfloat16)} | {sums(call, torch.float16)} |"


def shown(value):
    return str(value.item()) if value.item() == value.item() else "nan"


def table_of_zeros():
    """What becomes of the current value 0 and an update."""
    zero, nan = torch.tensor([0.0]), torch.tensor([float("nan")])
    calls = {
        "`index_add`": lambda t, u: t.index_add_(0, torch.tensor([0]), u),
        "`scatter_add`": lambda t, u: t.scatter_add_(0, torch.tensor([0]), u),
        "`index_put` accumulate": lambda t, u: t.index_put_((torch.tensor([0]),), u, accumulate=True),
        "`scatter_reduce` amax": lambda t, u: t.scatter_reduce_(0, torch.tensor([0]), u, "amax"),
        "`scatter_reduce` amin": lambda t, u: t.scatter_reduce_(0, torch.tensor([0]), u, "amin"),
        "`index_reduce` amax": lambda t, u: t.index_reduce_(0, torch.tensor([0]), u, "amax"),
        "`index_reduce` amin": lambda t, u: t.index_reduce_(0, torch.tensor([0]), u, "amin"),
    }
    pairs = {"-0, -0": (-zero, -zero), "-0, +0": (-zero, zero), "+0, -0": (zero, -zero), "1, nan": (zero + 1, nan), "nan, 1": (nan, zero + 1)}
    yield "| value, update: | " + " | ".join(pairs) + " |"
    yield "|---|" + "---|" * len(pairs)
    for name, call in calls.items():
        yield f"| {name} | " + " | ".join(shown(call(value.clone(), update)) for value, update in pairs.values()) + " |"


def index_of(last, dtype=torch.int64):
    return torch.tensor([1, 2, last], dtype=dtype)


# The operators, called with a table [4, 2], an index of 3 numbers and updates [3, 2]; `dim` as PyTorch takes it.
CALLS = {
    "index_add": lambda t, i, u, dim: t.index_add_(dim, i, u),
    "scatter_add": lambda t, i, u, dim: t.scatter_add_(dim, i[:, None].expand(3, 2) if i.dim() == 1 else i, u),
    "index_put": lambda t, i, u, dim: t.index_put_((i,) if dim == 0 else (i,) * 3, u, accumulate=True),
    "index_select": lambda t, i, u, dim: t.index_select(dim, i),
    "index_copy": lambda t, i, u, dim: t.index_copy_(dim, i, u),
    "index_reduce": lambda t, i, u, dim: t.index_reduce_(dim, i, u, "amax"),
    "index_fill": lambda t, i, u, dim: t.index_fill_(dim, i, 1.0),
    "scatter": lambda t, i, u, dim: t.scatter_(dim, i[:, None].expand(3, 2), u),
    "scatter_reduce": lambda t, i, u, dim: t.scatter_reduce_(dim, i[:, None].expand(3, 2), u, "amax"),
    "gather": lambda t, i, u, dim: t.gather(dim, i[:, None].expand(3, 2)),
    "index": lambda t, i, u, dim: torch.ops.aten.index.Tensor(t, [i] if dim == 0 else [i] * 3),
    "take": lambda t, i, u, dim: t.view(-1)[:4].take(i),
    "put": lambda t, i, u, dim: t.view(-1)[:4].put_(i, u[:, 0], accumulate=True),
    "embedding": lambda t, i, u, dim: torch.nn.functional.embedding(i, t),
    "embedding_bag": lambda t, i, u, dim: torch.nn.functional.embedding_bag(i, t, torch.tensor([0]), mode="max"),
    "embedding_dense_backward": lambda t, i, u, dim: torch.ops.aten.embedding_dense_backward(u, i, 4, -1, False),
}
# Those that do not read the updates, or take no dim.
WITHOUT_UPDATES = ("index_select", "index_fill", "gather", "index", "take", "embedding", "embedding_bag")
WITH_MASKS = ("index", "index_put")
WITHOUT_DIM = ("take", "put", "embedding", "embedding_bag", "embedding_dense_backward")
SITUATIONS = {
    "an index too large": {"index": index_of(4)},
    "a negative index": {"index": index_of(-1)},
    "an index far below": {"index": index_of(-5)},
    "no such dim": {"dim": 2},
    "an index of int32": {"index": index_of(3, torch.int32)},
    "an index of int16": {"index": index_of(3, torch.int16)},
    "an index of floats": {"index": index_of(3, torch.float32)},
    "updates of another dtype": {"updates": torch.ones(3, 2, dtype=torch.float64)},
    "updates of another size": {"updates": torch.ones(2, 3)},
    "updates of another size, an index too large": {"updates": torch.ones(2, 3), "index": index_of(4)},
    "updates of another dtype, an index too large": {"updates": torch.ones(3, 2, dtype=torch.float64), "index": index_of(4)},
    "a mask of another size": {"index": torch.tensor([True, False, True])},
    "an index of floats, no such dim": {"index": index_of(3, torch.float32), "dim": 2},
}


def what_happens(call, index=None, updates=None, dim=0):
    table = torch.zeros(4, 2)
    try:
        call(table, index_of(3) if index is None else index, torch.ones(3, 2) if updates is None else updates, dim)
        return "no error"
    except (RuntimeError, IndexError) as error:
        text = re.sub(r" \(strew: .*", "", str(error).splitlines()[0])
        return f"{type(error).__name__}: {text}".replace("|", "\\|")


def table_of_errors():
    yield "| operator | situation | error |"
    yield "|---|---|---|"
    for name, call in CALLS.items():
        for situation, given in SITUATIONS.items():
            if name in WITHOUT_UPDATES and "updates" in given or name in WITHOUT_DIM and "dim" in given:
                continue
            if "mask" in situation and name not in WITH_MASKS:
                continue
            yield f"| `{name}` | {situation} | {what_happens(call, **given)} |"


TABLES = {"sums": table_of_sums, "zeros and NaN": table_of_zeros, "errors": table_of_errors}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    failures = outcomes.Failures()
    page = PAGE.read_text().splitlines() if PAGE.exists() else []
    for name, table in TABLES.items():
        with outcomes.enabled(False):
            measured = list(table())
        if options.print:
            print("\n".join(measured) + "\n")
            continue
        failures.check(f"docs/torch.md, table of {name}", [f"lacks this line: {line}" for line in measured if line not in page])
        with outcomes.enabled(True):
            failures.check(f"{name} with strew.torch", [f"{got} instead of {want}" for got, want in zip(table(), measured, strict=True) if got != want])
    return 0 if options.print else failures.end()


if __name__ == "__main__":
    sys.exit(main())
