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


def is_mask(index):
    return index is not None and index.dtype in (torch.bool, torch.uint8)


def taken_size(size, given):
    """The size of self[given], or None where the indices do not fit."""
    try:
        return list(torch.empty(size, dtype=torch.uint8)[tuple(slice(None) if each is None else each.bool() if is_mask(each) else torch.zeros(each.size(), dtype=torch.int64)
                                                               for each in given)].size())
    except (IndexError, RuntimeError):
        return None


def index(draw):
    size = [4000, 24] if draw.large else draw.size()
    self, given = draw.target(size, draw.choice(MOVES)), indices_of(draw, size)
    return Drawn([self, given], taken_size(size, given))


def index_put(draw):
    dtype = draw.choice(MOVES)
    size = [4000, 24] if draw.large else draw.size()
    self, given = draw.target(size, dtype), indices_of(draw, size)
    taken = taken_size(size, given)
    values = [each if draw.chance(0.8) else 1 for each in taken] if taken is not None else []
    values = values[draw.randrange(len(values) + 1) if draw.chance(0.15) else 0:]
    if draw.chance(0.03):
        values = draw.size()
    source = shared(draw, self, draw.tensor(values, dtype if draw.chance(0.96) else draw.choice(SUMS)))
    return Drawn([self, given, source, draw.chance(0.6)], None)


def masked_scatter(draw):
    dtype = draw.choice(MOVES)
    size = [4000, 24] if draw.large else draw.size()
    self, kept = draw.target(size, dtype), mask(draw, size)
    if draw.chance(0.4):  # one value for each row, or for all
        kept = mask(draw, [each if d < len(size) // 2 else 1 for d, each in enumerate(size)])
        kept = kept.expand(size) if draw.chance(0.5) else kept
    elif draw.chance(0.2):
        kept = mask(draw, size[draw.randrange(len(size) + 1):] if draw.chance(0.7) else draw.size())
    count = int(kept.expand(size).sum()) if fits(kept.size(), size) else draw.extent()
    source = draw.tensor([max(0, count + draw.choice((0, 0, 0, 3, -1)))] if draw.chance(0.6) else [draw.extent(), count], dtype if draw.chance(0.97) else draw.choice(SUMS))
    return Drawn([self, draw.laid_out(kept) if draw.chance(0.2) else kept, shared(draw, self, source)], None)


def fits(size, other):
    """Whether a tensor of one size can be expanded to another."""
    return len(size) <= len(other) and all(a in (1, b) for a, b in zip(reversed(size), reversed(other), strict=False))


def segment_reduce(draw):
    """Lengths or offsets, of each row of the dims before the axis; some do not fit. PyTorch reads beyond the data where they are too large and unsafe, so none of these is drawn."""
    dtype = draw.choice(SUMS)
    size = [7000, 24] if draw.large else draw.size(least=1)
    axis = 0 if draw.large else draw.choice([0] * 3 + list(range(len(size))))
    blocks, rows, parts = size[:axis], size[axis], draw.choice((300, 9000)) if draw.large else draw.extent()
    cuts = torch.randint(0, rows + 1, [*blocks, max(0, parts - 1)], generator=draw.numbers).sort(-1)[0]
    ends = torch.cat([torch.zeros([*blocks, 1], dtype=torch.int64), cuts, torch.full([*blocks, 1], rows)], -1)
    unsafe = draw.chance(0.3)
    kind = torch.int64 if draw.chance(0.7) else torch.int32
    if draw.chance(0.5):
        if draw.chance(0.2):
            ends = ends[..., draw.choice((0, 1)):-1]
        named = {"offsets": ends.to(kind)}
    else:
        lengths = ends.diff(dim=-1)
        if draw.chance(0.2) and (unsafe or draw.chance(0.3)):
            lengths = lengths[..., :-1]
        if not unsafe and draw.chance(0.05) and lengths.numel():
            lengths[(0,) * lengths.dim()] = draw.choice((-1, rows + 1))
        named = {"lengths": lengths.to(kind)}
    named.update(axis=axis if draw.chance(0.9) else axis - len(size), unsafe=unsafe)
    if draw.chance(0.4):
        named["initial"] = draw.choice((0, 1, -2.5, math.nan, math.inf))
    drawn = Drawn([draw.tensor(size, dtype), draw.choice(("sum", "mean", "max", "amax", "min", "amin", "prod"))], None)
    drawn.named = named
    return drawn


def plus_sparse(self, indices, values, size, coalesced, alpha, form):
    """`self` and a sparse tensor of these indices and values."""
    sparse = torch.sparse_coo_tensor(indices, values, size, is_coalesced=coalesced, check_invariants=False)
    if form == "in place":
        return self.add_(sparse, alpha=alpha)
    return torch.add(self, sparse, alpha=alpha, **({"out": torch.empty_like(self)} if form == "out" else {}))


def add_sparse(draw):
    """Only what PyTorch does right: it checks no indices, and writes beside the tensors if rows have no elements, or if all dims are sparse and the tensor does not begin where its memory
    does."""
    dtype = draw.choice(SUMS)
    size = draw.choice(([2000, 24], [70000])) if draw.large else draw.size(least=1)
    dims, count = 1 if draw.large or draw.chance(0.8) else draw.randrange(1, len(size) + 1), 60000 if draw.large else draw.extent()
    coalesced = draw.chance(0.5) and math.prod(size[:dims]) > 0
    if math.prod(size) == 0:
        count, coalesced = 0, False
    indices = [torch.randint(0, max(1, each), (count,), generator=draw.numbers) for each in size[:dims]]
    if coalesced:
        indices = list(torch.unravel_index(torch.arange(math.prod(size[:dims])), size[:dims]))
        kept = torch.rand(len(indices[0]), generator=draw.numbers) < 0.6
        indices = [each[kept] for each in indices]
    values = draw.tensor([len(indices[0]), *size[dims:]], dtype if draw.chance(0.97) else draw.choice(SUMS), ("contiguous",) * 9 + ("stepped",))
    if values.is_contiguous():  # PyTorch takes the stride of a single row for its length, and writes beyond it
        values = values.clone(memory_format=torch.contiguous_format)
    self = draw.target(size if draw.chance(0.97) else draw.size(), dtype)
    if dims == len(size) and self.storage_offset():
        self = self.clone()
    alpha = draw.alpha(dtype) if draw.chance(0.5) else draw.choice((-0.1, 0.3)) if dtype.is_floating_point else 3
    return Drawn([self, torch.stack(indices), values, size, coalesced, alpha, draw.choice(("in place", "new", "out"))], None)


def bags_and_gradients(table, indices, offsets, weights, named):
    """The bags' rows, sizes and winners, where nobody asks for gradients; and with gradients."""
    modes = ("sum", "mean", "max")
    given = {"mode": modes.index(named["mode"]), "per_sample_weights": weights, "include_last_offset": named.get("include_last_offset", False)}
    if indices.dim() == 1:
        plain = torch.embedding_bag(table, indices, offsets, **given, padding_idx=named["padding_idx"])
    else:
        plain = torch.nn.functional.embedding_bag(indices, table, offsets, per_sample_weights=weights, **named)
    leaves = [each if each is None else each.detach().clone().requires_grad_() for each in (table, weights)]
    return plain, outcomes.gradients(lambda: torch.nn.functional.embedding_bag(indices, leaves[0], offsets, per_sample_weights=leaves[1], **named), [each for each in leaves if each is not None])


def embedding_bag(draw):
    """Bags of one dim with offsets, some without indices, or bags of the same size. PyTorch's sort is another one for many indices. Where PyTorch has a kernel of its own for float32 and 16
    bits, its errors name other indices in each run: then none is out of bounds."""
    rows, width = max(1, draw.extent()), draw.choice((1, 3, 8, 16, 19, 64))
    table = draw.tensor([rows, width], draw.choice((torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16)), ("contiguous",) * 6 + ("transposed", "stepped", "expanded"))
    kind, mode = draw.choice((torch.int64, torch.int32)), draw.choice(("sum", "sum", "mean", "mean", "max"))
    count = draw.choice((32765, 33000)) if draw.large else draw.choice((0, 1, 5, 40, 300))
    indices = torch.randint(0, rows, (count,), generator=draw.numbers)
    named = {"mode": mode, "padding_idx": draw.randrange(rows) if draw.chance(0.4) else None, "scale_grad_by_freq": draw.chance(0.1)}
    if count and draw.chance(0.1) and (named["padding_idx"] is not None or table.dtype == torch.float64 or mode == "max"):
        indices[draw.randrange(count)] = draw.choice((rows, -1, 2**30))
    offsets = None
    if draw.chance(0.3):
        indices = indices[: count - count % 5].view(-1, 5)
    else:
        offsets = torch.cat([torch.zeros(1, dtype=torch.int64), torch.randint(0, count + 1, (draw.extent(),), generator=draw.numbers).sort()[0]])
        named["include_last_offset"] = draw.chance(0.2)
        if named["include_last_offset"]:
            offsets = torch.cat([offsets, torch.tensor([count])])
    weights = draw.tensor(indices.size(), table.dtype, ("contiguous", "contiguous", "stepped")) if mode == "sum" and draw.chance(0.4) else None
    return Drawn([table, indices.to(kind), offsets if offsets is None else offsets.to(kind if draw.chance(0.9) else torch.int64), weights, named], None)


def index_copy(draw):
    drawn = index_add(draw)
    drawn.named = {}
    return drawn


def zeros_of_rows(draw):
    """Rows of all lengths around PyTorch's vectors, of few values: which of two zeros is the larger one depends on where in a row they are."""
    size, dtype = [4, draw.choice((1, 3, 4, 8, 12, 16, 19, 32, 33, 64))], draw.choice((torch.float32, torch.float64, torch.bfloat16, torch.float16))
    if draw.chance(0.2):
        size = [size[1], size[0]]
    dim, values = draw.choice((0, 0, 1)), torch.tensor([0.0, -0.0, 0.0, -0.0, 1.0, -1.0, math.nan]).to(dtype)
    rows = [20 if d == dim else each for d, each in enumerate(size)]
    self, source = (values[torch.randint(0, draw.choice((5, 6, 7)), each, generator=draw.numbers)] for each in (size, rows))
    if draw.chance(0.3):
        self, source = (draw.laid_out(each, ("contiguous", "transposed", "stepped")) for each in (self, source))
    return Drawn([self, dim, torch.randint(0, size[dim], (20,), generator=draw.numbers), source], self.size())


def index_reduce(draw):
    drawn = zeros_of_rows(draw) if draw.chance(0.3) else index_add(draw)
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
    "index": (index, ("aten::index.Tensor", "aten::index.Tensor_out")),
    "masked_scatter": (masked_scatter, ("aten::masked_scatter_",)),
    "index_select": (index_select, ("aten::index_select", "aten::index_select.out")),
    "index_copy": (index_copy, three("index_copy")),
    "index_reduce": (index_reduce, three("index_reduce")),
    "index_fill": (index_fill, ("aten::index_fill_.int_Scalar",)),
    "scatter": (scatter, three("scatter", "src") + three("scatter", "value") + three("scatter", "reduce")),
    "scatter_reduce": (scatter_reduce, three("scatter_reduce", "two")),
    "gather": (gather, ("aten::gather", "aten::gather.out")),
    "segment_reduce": (segment_reduce, ("aten::segment_reduce", "aten::_segment_reduce_backward")),
    "add_sparse": (add_sparse, ("aten::add.Tensor", "aten::add_.Tensor", "aten::add.out")),
    "embedding_bag": (embedding_bag, ("aten::_embedding_bag", "aten::_embedding_bag_forward_only", "aten::_embedding_bag_dense_backward")),
    "take": (take, ("aten::take", "aten::take.out")),
    "put": (put, ("aten::put_",)),
}
OWN_CALLS = {"add_sparse": plus_sparse, "embedding_bag": bags_and_gradients}  # others are called by their names
WITHOUT_IN_PLACE = ("index", "segment_reduce", "add_sparse", "embedding_bag", "index_select", "gather", "take")


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
    function = OWN_CALLS.get(name) or getattr(torch, name, None) or getattr(torch.ops.aten, name)
    forms = ["function"] + (["in place"] if name not in WITHOUT_IN_PLACE else []) + (["out"] if drawn.size is not None else [])
    form, given = draw.choice(forms), drawn.arguments
    if form == "out":
        return form, lambda *all: function(*all[:-1], **drawn.named, out=all[-1]), [*given, given_out(draw, drawn)]
    if form == "in place":
        return form, lambda self, *all: getattr(self, name + "_")(*all, **drawn.named), given
    return form, lambda *all: function(*all, **drawn.named), given


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
