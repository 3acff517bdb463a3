#!/usr/bin/env python3
"""Calls of PyTorch's indexed operators with drawn arguments, with strew.torch on 1, 2 and 8 threads and without: shapes, dims, dtypes, layouts, memory that is shared, indices out of bounds, several
index tensors, masks, gradients, `out=`. The outcomes are compared as outcomes.py says.

    arguments_test.py [--seed N] [--iterations M] [--only REGEX] [--replay SEED:CASE]

Exit status 0: right, 1: wrong.
"""
import argparse
import math
import re
import sys

import torch

import outcomes
import strew.torch
from draw import MOVES, SUMS, Draw


class Drawn:
    """The arguments of an operator, and the size of its result, if they fit."""

    def __init__(self, arguments, size, **named):
        self.arguments, self.size, self.named = arguments, size, named


def shared(draw, self, other):
    """`other`, or rarely a tensor of its size in the memory of `self`."""
    if not draw.chance(0.04) or self.dtype != other.dtype or not self.dim() or self.dim() != other.dim():
        return other
    view = self[tuple(slice(0, min(pair)) for pair in zip(self.size(), other.size(), strict=True))]
    return view.expand(other.size()) if all(a in (1, b) for a, b in zip(view.size(), other.size(), strict=True)) else other


def rows_of(draw, dtypes):
    """A tensor, a dim of it, that dim's extent, and how many rows are to be indexed."""
    dtype = draw.choice(dtypes)
    size = draw.choice(([2000, 24], [30, 2000], [70000])) if draw.large else draw.size()
    dim = draw.dim(len(size))
    fits = -len(size) <= dim < len(size)
    extent = size[dim] if fits else 1
    count = 500000 * extent // max(1, math.prod(size)) if draw.large else draw.extent()
    return draw.target(size, dtype), dim, extent, count, fits


def index_add(draw):
    self, dim, extent, count, fits = rows_of(draw, SUMS)
    size = list(self.size())
    if fits:
        size[dim] = count
    if draw.chance(0.03):
        size = draw.size()
    source = shared(draw, self, draw.tensor(size, self.dtype if draw.chance(0.97) else draw.choice(SUMS)))
    index = draw.index([count] if draw.chance(0.96) else draw.choice(([], [count, 1], [count + 1])), extent)
    alpha = draw.alpha(self.dtype)
    return Drawn([self, dim, index, source], self.size(), **({} if alpha == 1 and draw.chance(0.5) else {"alpha": alpha}))


def index_select(draw):
    self, dim, extent, count, fits = rows_of(draw, MOVES)
    index = draw.index([count] if draw.chance(0.95) else draw.choice(([], [count, 1])), extent)
    size = list(self.size())
    if fits and index.dim() < 2:
        size[dim] = index.numel()
    return Drawn([self, dim, index], size)


def scatter_add(draw):
    self, dim, extent, count, fits = rows_of(draw, SUMS)
    size = [each if draw.chance(0.7) else draw.randrange(each + 1) for each in self.size()]
    if fits:
        size[dim] = count
    if draw.chance(0.03):
        size = draw.size()
    updates = [each + draw.choice((0, 0, 0, 0, 1, 2)) for each in size]
    source = shared(draw, self, draw.tensor(updates, self.dtype if draw.chance(0.97) else draw.choice(SUMS)))
    if fits and len(size) == self.dim() > 0 and draw.chance(0.5):  # as PyTorch Geometric has them: one index for a row
        rows = draw.index([size[dim]], extent)
        index = rows.view([size[dim] if d == dim % len(size) else 1 for d in range(len(size))]).expand(size)
    else:
        index = draw.index(size, extent)
    return Drawn([self, dim, index, source], self.size())


def mask(draw, size):
    kept = torch.rand(size, generator=draw.numbers) < draw.choice((0, 0.3, 0.7, 1))
    return kept if draw.chance(0.9) else kept.to(torch.uint8)


def indices_of(draw, size):
    """An index for each of some dims, None for others, masks of one or several; and the size of what they take together with whether it is known."""
    dims = draw.size(most=2) if not draw.large else [3000]
    given, at = [], 0
    while at < len(size):
        kind = draw.random()
        if kind < 0.2:
            given.append(None)
        elif kind < 0.28:
            most = draw.randrange(1, min(2, len(size) - at) + 1)
            given.append(mask(draw, [each + draw.chance(0.02) for each in size[at:at + most]]))
            at += most - 1
        else:
            own = [1 if draw.chance(0.2) else each for each in dims]
            given.append(draw.index(own[draw.randrange(len(own) + 1) if draw.chance(0.2) else 0:], size[at], negative=True))
        at += 1
        if draw.chance(0.3):
            break
    if draw.chance(0.02):
        given.append(draw.index(dims, 3))
    return given


def taken_size(size, given):
    """The size of self[given], or None where the indices do not fit."""
    try:
        return list(torch.empty(size, device="meta")[tuple(slice(None) if each is None else torch.zeros(each.size(), dtype=torch.int64, device="meta") for each in given)].size())
    except (IndexError, RuntimeError):
        return None


def index_put(draw):
    dtype = draw.choice(MOVES)
    size = [4000, 24] if draw.large else draw.size()
    self, given = draw.target(size, dtype), indices_of(draw, size)
    masks = any(each is not None and each.dtype in (torch.bool, torch.uint8) for each in given)
    taken = None if masks else taken_size(size, given)
    values = [each if draw.chance(0.8) else 1 for each in taken] if taken is not None else []
    values = values[draw.randrange(len(values) + 1) if draw.chance(0.15) else 0:]
    if draw.chance(0.03):
        values = draw.size()
    source = shared(draw, self, draw.tensor(values, dtype if draw.chance(0.96) else draw.choice(SUMS)))
    return Drawn([self, given, source, draw.chance(0.6)], None)


def index_copy(draw):
    drawn = index_add(draw)
    drawn.named = {}
    return drawn


def index_reduce(draw):
    drawn = index_add(draw)
    drawn.arguments.append(draw.choice(("prod", "mean", "amax", "amin")))
    drawn.named = {"include_self": draw.chance(0.7)}
    return drawn


def index_fill(draw):
    self, dim, extent, count, _ = rows_of(draw, MOVES)
    value = draw.choice((0, 1, 2.5, True)) if draw.chance(0.8) else torch.tensor(2, dtype=self.dtype)
    return Drawn([self, dim, draw.index([count], extent, negative=draw.chance(0.5)), value], None)


def scatter(draw):
    drawn = scatter_add(draw)
    if draw.chance(0.3):
        drawn.arguments[3] = draw.choice((0, 1, -2.5, True))
    drawn.named = {"reduce": draw.choice(("add", "multiply"))} if draw.chance(0.4) else {}
    return drawn


def scatter_reduce(draw):
    drawn = scatter_add(draw)
    drawn.arguments.append(draw.choice(("sum", "prod", "mean", "amax", "amin")))
    drawn.named = {"include_self": draw.chance(0.7)}
    return drawn


def gather(draw):
    self, dim, extent, count, fits = rows_of(draw, MOVES)
    size = [each if draw.chance(0.7) else draw.randrange(each + 1) for each in self.size()]
    if fits:
        size[dim] = count
    if draw.chance(0.03):
        size = draw.size()
    return Drawn([self, dim, draw.index(size, extent)], size)


def take(draw):
    self = draw.target([300, 200] if draw.large else draw.size(), draw.choice(MOVES))
    size = [90000] if draw.large else draw.size()
    return Drawn([self, draw.index(size, self.numel(), negative=True)], size)


def put(draw):
    drawn = take(draw)
    self, index = drawn.arguments
    source = draw.tensor(list(index.size()) if draw.chance(0.9) else [index.numel()], self.dtype if draw.chance(0.97) else draw.choice(SUMS))
    return Drawn([self, index, shared(draw, self, source), draw.chance(0.5)], None)


def three(name, variant=""):
    """The overloads of an operator that makes a tensor, writes into `self`, or into `out`."""
    return tuple(f"aten::{name}{each}" for each in ((f".{variant}", f"_.{variant}", f".{variant}_out") if variant else ("", "_", ".out")))


# A new operator is a function that draws its arguments, and a line.
OPERATORS = {
    "index_add": (index_add, three("index_add")),
    "scatter_add": (scatter_add, three("scatter_add")),
    "index_put": (index_put, ("aten::_index_put_impl_",)),
    "index_select": (index_select, ("aten::index_select", "aten::index_select.out")),
    "index_copy": (index_copy, three("index_copy")),
    "index_reduce": (index_reduce, three("index_reduce")),
    "index_fill": (index_fill, ("aten::index_fill_.int_Scalar",)),
    "scatter": (scatter, three("scatter", "src") + three("scatter", "value") + three("scatter", "reduce")),
    "scatter_reduce": (scatter_reduce, three("scatter_reduce", "two")),
    "gather": (gather, ("aten::gather", "aten::gather.out")),
    "take": (take, ("aten::take", "aten::take.out")),
    "put": (put, ("aten::put_",)),
}
WITHOUT_IN_PLACE = ("index_select", "gather", "take")


def given_out(draw, drawn):
    """A tensor for `out=`: mostly of the right size and dtype, with memory of its own."""
    kind, tensors = draw.random(), outcomes.tensors_in(drawn.arguments)
    if kind < 0.1:
        return draw.choice(tensors)
    if kind < 0.2:
        return torch.empty(0, dtype=tensors[0].dtype)
    return draw.target(draw.size() if kind < 0.25 else drawn.size, tensors[0].dtype if kind < 0.95 else draw.choice(SUMS))


def in_form(draw, name, drawn):
    """What is called, and with what: torch.NAME, Tensor.NAME_, or torch.NAME with `out=`."""
    forms = ["function"] + (["in place"] if name not in WITHOUT_IN_PLACE else []) + (["out"] if drawn.size is not None else [])
    form, given = draw.choice(forms), drawn.arguments
    if form == "out":
        return form, lambda *all: getattr(torch, name)(*all[:-1], **drawn.named, out=all[-1]), [*given, given_out(draw, drawn)]
    if form == "in place":
        return form, lambda self, *all: getattr(self, name + "_")(*all, **drawn.named), given
    return form, lambda *all: getattr(torch, name)(*all, **drawn.named), given


def with_gradients(draw, form, function, given):
    """Some tensors require gradients, and these are results, too."""
    given = [each.detach().clone().requires_grad_() if isinstance(each, torch.Tensor) and (each.is_floating_point() or each.is_complex()) and each.dtype.itemsize > 1 and draw.chance(0.7)
             else each for each in given]
    if form == "in place" and not draw.chance(0.1):
        in_place = function
        function = lambda self, *all: in_place(self.clone(), *all)  # noqa: E731  a leaf may not be written
    return lambda *all: outcomes.gradients(lambda: function(*all), outcomes.tensors_in(all)), given


def seen(value):
    if isinstance(value, torch.Tensor):
        text = f"{str(value.dtype)[6:]}{list(value.size())}"
        return text + ("" if value.is_contiguous() else f" strides {list(value.stride())}") + (" requires_grad" if value.requires_grad else "")
    return "[" + ", ".join(map(seen, value)) + "]" if isinstance(value, list) else repr(value)


def check_case(seed, number, names, failures):
    draw = Draw(f"{seed}:{number}")
    name = draw.choice(names)
    drawn = OPERATORS[name][0](draw)
    form, function, given = in_form(draw, name, drawn)
    if draw.chance(0.2) and form != "out" and not draw.large:
        function, given = with_gradients(draw, form, function, given)
    at_once = (1, 2, 8)[number // 200 % 3]  # PyTorch takes long to change it
    # PyTorch alone is not repeatable where it uses several, some of its operators not even for few elements.
    threads, of_torch = ((1, 2, 8) if draw.large else (at_once,)), 1
    what = f"--replay {seed}:{number}  {name} {form} {seen(given)} {drawn.named or ''}"
    failures.check(what, outcomes.compare(function, *given, threads=threads, threads_of_torch=of_torch, has_out=form == "out"))
    return what


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0, help="default: a fresh one")
    parser.add_argument("--iterations", type=int, default=6000)
    parser.add_argument("--only", default="", help="operators whose names match")
    parser.add_argument("--replay", help="SEED:CASE, one case")
    options = parser.parse_args()
    names = [each for each in OPERATORS if re.search(options.only, each)]
    failures = outcomes.Failures()
    if options.replay:
        seed, number = map(int, options.replay.split(":"))
        print(check_case(seed, number, names, failures))
        return failures.end()
    seed = options.seed or outcomes.fresh_seed()
    print(f"--seed {seed} replays this, with the same --only", flush=True)
    strew.torch.report(clear=True)
    for number in range(options.iterations):
        check_case(seed, number, names, failures)
    for name in names:
        for overload in OPERATORS[name][1]:
            ran, handed_over = outcomes.calls_of(overload)
            print(f"strew ran {overload} {ran} times, and handed over {handed_over} calls")
            if ran + handed_over >= 60:  # of fewer, none may fit
                failures.require(f"strew ran a part of the calls of {overload}", ran * 25 > ran + handed_over)
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
