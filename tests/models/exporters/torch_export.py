"""Writes tests/models/torch (torch.onnx.export with dynamo=False) and tests/models/torch_dynamo (dynamo=True).

    python3 tests/models/exporters/torch_export.py [PATTERN...]
"""

import copy
import io
import logging
import warnings

import numpy as np
import onnx
import torch
import torch.nn.functional as F

import corpus
import onnx_values
from corpus import FLOAT_MATH, MOVES, real, small

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
BOTH = ("torch", "torch_dynamo")
LEGACY, DYNAMO = ("torch",), ("torch_dynamo",)


class Function(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *arguments):
        return self.f(*arguments)


def index(r, *shape, low=-5, high=5, dtype=np.int64):
    return r.integers(low, high, shape).astype(dtype)


def distinct(r, count, extent, dtype=np.int64):
    return r.permutation(extent)[:count].astype(dtype)


def weights(module, r):
    """Seeded weights of small numbers, whatever torch's own generator does."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.from_numpy(r.standard_normal(tuple(p.shape)).astype(np.float32) * 0.4))
    return module.eval()


def cases():
    """(name, make, note, tolerance, options): make(r) returns (module or function, arguments). Options: by (which exporters), opset (for
    dynamo=False), dynamo_opset, dynamic ({place of argument: {dim: symbol}}), optimize, script."""
    out = []

    def case(note, tolerance=MOVES, name=None, by=BOTH, **options):
        def add(make):
            out.append((name or make.__name__, make, note, tolerance, by, options))
            return make
        return add

    # scatter by index tensors
    for accumulate in (False, True):
        @case(f"index_put of rows, accumulate={accumulate}, negative indices" + (", duplicates" if accumulate else ""), opset=16,
              name="index_put_accumulate" if accumulate else "index_put")
        def index_put(r, accumulate=accumulate):
            i = index(r, 6) if accumulate else distinct(r, 3, 5) - 5
            return (lambda x, i, u: x.index_put((i,), u, accumulate=accumulate)), (small(r, 5, 4), i, small(r, len(i), 4))

    @case("index_put with two index tensors", opset=16)
    def index_put_pairs(r):
        return (lambda x, i, j, u: x.index_put((i, j), u, accumulate=True)), \
            (small(r, 4, 5), index(r, 7, low=-4, high=4), index(r, 7), small(r, 7))

    @case("index_put with index tensors that broadcast: a grid of rows and columns", opset=17)
    def index_put_grid(r):
        return (lambda x, i, j, u: x.index_put((i[:, None], j), u)), (small(r, 5, 6), distinct(r, 3, 5), distinct(r, 4, 6), small(r, 3, 4))

    @case("x[:, i] = u: the index is in the second dim", opset=14)
    def index_put_columns(r):
        def f(x, i, u):
            x = x.clone()
            x[:, i] = u
            return x
        return f, (small(r, 4, 6), distinct(r, 3, 6), small(r, 4, 3))

    @case("x[i] = 1.5: a scalar goes to rows", opset=13)
    def index_put_scalar(r):
        def f(x, i):
            x = x.clone()
            x[i] = 1.5
            return x
        return f, (small(r, 5, 3), distinct(r, 3, 5))

    @case("index_put with a boolean mask: NonZero at run time", opset=16, by=LEGACY)
    def index_put_mask(r):
        return (lambda x, m, u: x.index_put((m,), u)), (small(r, 6, 2), np.array([1, 0, 1, 1, 0, 0], bool), small(r, 3, 2))

    @case("i32 data, i32 indices that are cast", opset=16)
    def index_put_i32(r):
        return (lambda x, i, u: x.index_put((i.long(),), u, accumulate=True)), \
            (small(r, 5, 3, dtype=np.int32), index(r, 6, dtype=np.int32), small(r, 6, 3, dtype=np.int32))

    @case("index_add of rows with alpha", opset=16, by=DYNAMO)
    def index_add(r):
        return (lambda x, i, u: x.index_add(0, i, u, alpha=2)), (small(r, 5, 4), index(r, 7, low=0), small(r, 7, 4))

    @case("index_add of columns", opset=16, by=DYNAMO)
    def index_add_columns(r):
        return (lambda x, i, u: x.index_add(1, i, u)), (small(r, 3, 5), index(r, 6, low=0), small(r, 3, 6))

    @case("index_add of distinct rows", opset=16, by=LEGACY)
    def index_add_distinct(r):
        return (lambda x, i, u: x.index_add(0, i, u)), (small(r, 5, 4), distinct(r, 3, 5), small(r, 3, 4))

    @case("index_copy", opset=16)
    def index_copy(r):
        return (lambda x, i, u: x.index_copy(0, i, u)), (small(r, 5, 4), distinct(r, 3, 5), small(r, 3, 4))

    @case("index_fill", opset=16)
    def index_fill(r):
        return (lambda x, i: x.index_fill(1, i, -2.0)), (small(r, 4, 5), distinct(r, 2, 5))

    @case("scatter of elements along dim 1", opset=11)
    def scatter(r):
        i = np.stack([distinct(r, 3, 6) for _ in range(4)])
        return (lambda x, i, u: x.scatter(1, i, u)), (small(r, 4, 6), i, small(r, 4, 3))

    @case("scatter of one value", opset=13)
    def scatter_value(r):
        return (lambda x, i: x.scatter(0, i, 9.0)), (small(r, 4, 3), index(r, 2, 3, low=0, high=4))

    @case("scatter_add with duplicates, along dim 0, indices smaller than the data", opset=16)
    def scatter_add(r):
        return (lambda x, i, u: x.scatter_add(0, i, u)), (small(r, 5, 4), index(r, 7, 3, low=0), small(r, 7, 3))

    @case("scatter_add in f16", opset=16)
    def scatter_add_f16(r):
        return (lambda x, i, u: x.scatter_add(0, i, u)), (small(r, 5, 4, dtype=np.float16), index(r, 7, 4, low=0), small(r, 7, 4, dtype=np.float16))

    for reduce in ("sum", "prod", "amax", "amin"):
        @case(f"scatter_reduce, {reduce}, include_self", opset=18, name=f"scatter_reduce_{reduce}")
        def scatter_reduce(r, reduce=reduce):
            return (lambda x, i, u: x.scatter_reduce(0, i, u, reduce, include_self=True)), (small(r, 5, 4), index(r, 7, 4, low=0), small(r, 7, 4))

    for reduce in ("sum", "amax"):
        @case(f"scatter_reduce, {reduce}, without self", opset=18, name=f"scatter_reduce_{reduce}_without_self", by=DYNAMO)
        def scatter_reduce_without_self(r, reduce=reduce):
            return (lambda x, i, u: x.scatter_reduce(0, i, u, reduce, include_self=False)), (small(r, 5, 4), index(r, 7, 4, low=0), small(r, 7, 4))

    @case("scatter_reduce mean, made of sums and counts", FLOAT_MATH, opset=18, by=DYNAMO)
    def scatter_mean(r):
        def f(u, i):
            total = torch.zeros(4, 3).index_add(0, i, u)
            count = torch.zeros(4).index_add(0, i, torch.ones(i.shape[0]))
            return total / count.clamp(min=1)[:, None]
        return f, (small(r, 8, 3), index(r, 8, low=0, high=4))

    @case("masked_scatter", opset=16)
    def masked_scatter(r):
        return (lambda x, m, u: x.masked_scatter(m, u)), (small(r, 3, 4), r.integers(0, 2, (3, 4)).astype(bool), small(r, 12))

    @case("masked_fill by a comparison, then a gather", opset=13)
    def masked_fill(r):
        return (lambda x, i: x.masked_fill(x > 1, -1.0)[i]), (small(r, 5, 3), index(r, 4))

    @case("diagonal_scatter and select_scatter", by=DYNAMO)
    def select_scatter(r):
        return (lambda x, u: torch.select_scatter(x, u, 0, 2)), (small(r, 4, 3), small(r, 3))

    @case("slice_scatter", by=DYNAMO)
    def slice_scatter(r):
        return (lambda x, u: torch.slice_scatter(x, u, 0, 1, 4)), (small(r, 6, 3), small(r, 3, 3))

    # slices that are assigned
    @case("narrow and copy: a slice that is assigned", opset=14)
    def slice_assign(r):
        def f(x, u):
            x = x.clone()
            x.narrow(0, 1, 3).copy_(u)
            return x
        return f, (small(r, 6, 3), small(r, 3, 3))

    @case("x[:, 1::2, -1] = u: a slice with steps", opset=14)
    def slice_assign_steps(r):
        def f(x, u):
            x = x.clone()
            x[:, 1::2, -1] = u
            return x
        return f, (small(r, 2, 6, 3), small(r, 2, 3))

    @case("a part of a cache is assigned at a constant place, and added to", opset=15)
    def slice_assign_add(r):
        def f(x, u):
            x = x.clone()
            x[2:4] += u
            return x
        return f, (small(r, 6, 3), small(r, 2, 3))

    # gathers
    @case("x[i] with negative indices", opset=11)
    def index_rows(r):
        return (lambda x, i: x[i]), (real(r, 5, 4), index(r, 3, 2))

    @case("x[:, i, j]: two neighbouring index tensors", opset=13)
    def index_pairs(r):
        return (lambda x, i, j: x[:, i, j]), (real(r, 2, 4, 5), index(r, 6, low=-4, high=4), index(r, 6))

    @case("x[i, :, j]: index tensors that are not neighbours", opset=12)
    def index_apart(r):
        return (lambda x, i, j: x[i, :, j]), (real(r, 4, 3, 5), index(r, 6, low=-4, high=4), index(r, 6))

    @case("index_select along dim 1", opset=11)
    def index_select(r):
        return (lambda x, i: torch.index_select(x, 1, i)), (real(r, 3, 5), index(r, 4, low=0))

    @case("gather along dim 1", opset=11)
    def gather(r):
        return (lambda x, i: torch.gather(x, 1, i)), (real(r, 4, 5), index(r, 4, 3, low=0))

    @case("gather along dim 0 with smaller indices, i8 data", opset=13)
    def gather_smaller(r):
        return (lambda x, i: torch.gather(x, 0, i)), (small(r, 5, 4, dtype=np.int8), index(r, 3, 2, low=0))

    @case("take_along_dim", opset=13, by=DYNAMO)
    def take_along_dim(r):
        return (lambda x, i: torch.take_along_dim(x, i, dim=1)), (real(r, 3, 6), index(r, 3, 2, low=0))

    @case("take_along_dim by argsort", opset=13, by=DYNAMO)
    def take_along_dim_sorted(r):
        return (lambda x: torch.take_along_dim(x, torch.argsort(x, dim=1), dim=1)), (r.permutation(24).reshape(4, 6).astype(np.float32),)

    @case("torch.take on the flat tensor", opset=13)
    def take(r):
        return (lambda x, i: torch.take(x, i)), (real(r, 3, 4), index(r, 5, low=-12, high=12))

    @case("a column is selected: x.select(1, 2) and a constant index", opset=13)
    def select_constant(r):
        return (lambda x: x.select(1, 2) + x[-1, 0]), (small(r, 4, 5),)

    @case("a boolean mask reads rows: the number of rows is known at run time", opset=13)
    def mask_rows(r):
        return (lambda x, m: x[m]), (real(r, 6, 3), np.array([1, 0, 0, 1, 1, 0], bool))

    @case("roll by constant shifts: slices and concatenation", opset=13)
    def roll(r):
        return (lambda x, i: torch.roll(x, (2, -1), (0, 1))[i]), (real(r, 5, 4), index(r, 3))

    @case("flip before a gather", opset=13)
    def flip(r):
        return (lambda x, i: torch.flip(x, (0,))[i]), (real(r, 5, 4), index(r, 3))

    @case("repeat_interleave by a constant, then rows", opset=13)
    def repeat_interleave(r):
        return (lambda x, i: torch.repeat_interleave(x, 2, dim=0)[i]), (real(r, 3, 2), index(r, 4, low=0, high=6))

    @case("unfold: windows of a sequence are gathered by constant indices", opset=13)
    def unfold(r):
        return (lambda x: x.unfold(1, 3, 2)), (real(r, 2, 9),)

    @case("im2col: F.unfold gathers twice", opset=13)
    def im2col(r):
        return (lambda x: F.unfold(x, kernel_size=2, stride=1)), (real(r, 1, 2, 4, 4),)

    @case("an index computed from values: argmax, floor division, remainder", opset=13)
    def index_arithmetic(r):
        return (lambda x, i: x[(i * 3 + 1) % x.shape[0], torch.div(i, 2, rounding_mode="floor")]), (real(r, 7, 4), index(r, 5, low=0, high=8))

    @case("clamped indices", opset=13)
    def index_clamped(r):
        return (lambda x, i: x[i.clamp(0, 4)]), (real(r, 5, 3), index(r, 6, low=-9, high=9))

    @case("indices chosen by where: padding goes to row 0", opset=13)
    def index_where(r):
        return (lambda x, i: x[torch.where(i < 0, torch.zeros_like(i), i)]), (real(r, 5, 3), index(r, 6))

    @case("one_hot", opset=13)
    def one_hot(r):
        return (lambda i: F.one_hot(i, 6)), (index(r, 4, low=0, high=6),)

    @case("one-hot by scatter into zeros", opset=13)
    def one_hot_scatter(r):
        return (lambda i: torch.zeros(i.shape[0], 6).scatter(1, i[:, None], 1.0)), (index(r, 4, low=0, high=6),)

    @case("topk, then the rows that it chose", opset=13)
    def topk_rows(r):
        return (lambda s, x: x[torch.topk(s, 3).indices]), (r.permutation(8).astype(np.float32), real(r, 8, 3))

    @case("sort, then gather by the order along dim 1", opset=13)
    def sort_gather(r):
        return (lambda k, x: torch.gather(x, 1, torch.sort(k, dim=1).indices)), (r.permutation(12).reshape(2, 6).astype(np.float32), real(r, 2, 6))

    @case("searchsorted bucketize by comparison and sum, then a table", opset=13)
    def bucketize(r):
        return (lambda edges, x, t: t[(x[:, None] >= edges).sum(1)]), (np.sort(real(r, 6)), real(r, 5), real(r, 7, 2))

    @case("cumsum of a mask gives places: compaction by scatter", opset=14)
    def compact_by_cumsum(r):
        def f(x, m):
            place = torch.cumsum(m.long(), 0) - 1
            return torch.zeros(x.shape[0] + 1, x.shape[1]).index_put((torch.where(m, place, torch.full_like(place, x.shape[0])),), x)
        return f, (small(r, 6, 2), np.array([0, 1, 1, 0, 1, 1], bool))

    @case("tril_indices as constants pick a triangle", opset=13)
    def triangle(r):
        i, j = np.tril_indices(4)
        return (lambda x, i=torch.from_numpy(i), j=torch.from_numpy(j): x[:, i, j]), (real(r, 2, 4, 4),)

    @case("strings of views around a gather: transpose, reshape, flatten, expand", opset=13)
    def views(r):
        return (lambda x, i: x.transpose(0, 1).reshape(-1, 2)[i.flatten()].unsqueeze(0).expand(3, -1, -1)), (real(r, 3, 4, 2), index(r, 2, 3, low=0, high=12))

    # embeddings
    @case("nn.Embedding with a padding index", opset=11)
    def embedding(r):
        return weights(torch.nn.Embedding(9, 4, padding_idx=0), r), (index(r, 2, 3, low=0, high=9),)

    @case("two embeddings that are added, and a layer norm", FLOAT_MATH, opset=17)
    def embedding_positions(r):
        class Embed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.token, self.position, self.norm = torch.nn.Embedding(9, 4), torch.nn.Embedding(6, 4), torch.nn.LayerNorm(4)

            def forward(self, ids):
                return self.norm(self.token(ids) + self.position(torch.arange(ids.shape[1])))
        return weights(Embed(), r), (index(r, 2, 5, low=0, high=9),)

    for mode in ("sum", "mean", "max"):
        @case(f"nn.EmbeddingBag, mode {mode}, with offsets", FLOAT_MATH, opset=16, name=f"embedding_bag_{mode}")
        def embedding_bag(r, mode=mode):
            return weights(torch.nn.EmbeddingBag(8, 4, mode=mode), r), (index(r, 7, low=0, high=8), np.array([0, 2, 5], np.int64))

    @case("EmbeddingBag by hand: gather and index_add", opset=16, by=DYNAMO)
    def embedding_bag_indexed(r):
        return (lambda t, ids, bag: torch.zeros(3, 4).index_add(0, bag, t[ids])), (small(r, 8, 4), index(r, 7, low=0, high=8), np.array([0, 0, 1, 1, 1, 2, 2], np.int64))

    @case("the gradient of an embedding: a scatter-add into zeros", opset=16)
    def embedding_grad(r):
        return (lambda ids, g: torch.zeros(8, 4).index_put((ids,), g, accumulate=True)), (index(r, 2, 3, low=0, high=8), small(r, 2, 3, 4))

    @case("a hashed embedding: ids modulo the table", opset=13)
    def embedding_hashed(r):
        class Hashed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.table = torch.nn.Embedding(7, 3)

            def forward(self, ids):
                return self.table((ids * 31 + 5) % 7)
        return weights(Hashed(), r), (index(r, 6, low=0, high=1000),)

    # dynamic axes
    @case("a gather with symbolic rows and indices", opset=13, dynamic={0: {0: "rows"}, 1: {0: "batch"}})
    def dynamic_gather(r):
        return (lambda x, i: x[i]), (real(r, 6, 4), index(r, 5, low=-6, high=6))

    @case("index_put with symbolic extents: Shape and Expand in the file", opset=16, dynamic={0: {0: "rows"}, 1: {0: "n"}, 2: {0: "n"}})
    def dynamic_index_put(r):
        return (lambda x, i, u: x.index_put((i,), u, accumulate=True)), (small(r, 6, 4), index(r, 5, low=-6, high=6), small(r, 5, 4))

    @case("scatter_add with symbolic extents", opset=16, dynamic={0: {0: "rows"}, 1: {0: "n"}, 2: {0: "n"}})
    def dynamic_scatter_add(r):
        return (lambda x, i, u: x.scatter_add(0, i, u)), (small(r, 6, 4), index(r, 5, 4, low=0, high=6), small(r, 5, 4))

    @case("zeros of a run-time extent receive index_add: ConstantOfShape", opset=16, dynamic={0: {0: "n"}, 1: {0: "n"}, 2: {0: "nodes"}})
    def dynamic_segment_sum(r):
        return (lambda u, i, like: torch.zeros(like.shape[0], u.shape[1]).index_add(0, i, u)), (small(r, 7, 3), index(r, 7, low=0, high=5), small(r, 5))

    @case("gather along dim 1 with a symbolic batch", opset=14, dynamic={0: {0: "batch"}, 1: {0: "batch"}})
    def dynamic_gather_elements(r):
        return (lambda x, i: torch.gather(x, 1, i)), (real(r, 3, 5), index(r, 3, 2, low=0))

    @case("the last token of each sequence, by its length", opset=14, dynamic={0: {0: "batch", 1: "tokens"}, 1: {0: "batch"}})
    def dynamic_last_token(r):
        return (lambda x, n: x[torch.arange(x.shape[0]), n - 1]), (real(r, 3, 5, 2), np.array([5, 1, 3], np.int64))

    @case("index_put, not optimized by the exporter", by=DYNAMO, optimize=False, dynamic={0: {0: "rows"}, 1: {0: "n"}, 2: {0: "n"}})
    def unoptimized_index_put(r):
        return (lambda x, i, u: x.index_put((i,), u, accumulate=True)), (small(r, 6, 4), index(r, 5, low=-6, high=6), small(r, 5, 4))

    @case("advanced indexing, not optimized by the exporter", by=DYNAMO, optimize=False)
    def unoptimized_index(r):
        return (lambda x, i, j: x[:, i, j].sum(-1)), (small(r, 2, 4, 5), index(r, 6, low=-4, high=4), index(r, 6))

    # caches
    @case("a static KV cache: one token is written at cache_position by index_copy", opset=16)
    def kv_cache_static(r):
        return (lambda k, token, at: k.index_copy(2, at, token)), (real(r, 2, 2, 8, 4), real(r, 2, 2, 1, 4), np.array([5], np.int64))

    @case("a static cache, k[:, :, at] = token, as in a decoder's static cache", opset=16)
    def kv_cache_static_put(r):
        def f(k, v, token_k, token_v, at):
            k, v = k.clone(), v.clone()
            k[:, :, at] = token_k
            v[:, :, at] = token_v
            return k, v
        return f, (real(r, 1, 2, 6, 4), real(r, 1, 2, 6, 4), real(r, 1, 2, 2, 4), real(r, 1, 2, 2, 4), np.array([2, 3], np.int64))

    @case("a growing KV cache: concatenation, then the last window by a slice", opset=14, dynamic={0: {2: "past"}})
    def kv_cache_growing(r):
        return (lambda past, token: torch.cat([past, token], dim=2)[:, :, -4:]), (real(r, 1, 2, 5, 3), real(r, 1, 2, 1, 3))

    @case("each sequence writes at its own position", opset=16)
    def kv_cache_positions(r):
        return (lambda k, token, at: k.index_put((torch.arange(3), at), token)), (real(r, 3, 6, 4), real(r, 3, 4), np.array([0, 5, 2], np.int64))

    @case("a paged cache write by flat slots", opset=16)
    def paged_cache_write(r):
        return (lambda pages, keys, slots: pages.view(-1, 2, 3).index_copy(0, slots, keys).view(4, 4, 2, 3)), \
            (real(r, 4, 4, 2, 3), real(r, 5, 2, 3), np.array([3, 7, 12, 0, 9], np.int64))

    @case("a paged cache write by (page, offset) = slot / 4, slot % 4", opset=16)
    def paged_cache_write_divided(r):
        return (lambda pages, keys, slots: pages.index_put((torch.div(slots, 4, rounding_mode="floor"), slots % 4), keys)), \
            (real(r, 4, 4, 2, 3), real(r, 5, 2, 3), np.array([3, 7, 12, 0, 9], np.int64))

    @case("a paged cache read: pages by block table, flattened", opset=16)
    def paged_cache_read(r):
        return (lambda pages, table: pages[table].reshape(2, 12, 3)), (real(r, 6, 4, 3), index(r, 2, 3, low=0, high=6))

    @case("beam search: cache.index_select by parent", opset=13)
    def beam_reorder(r):
        return (lambda cache, parent: cache.index_select(0, parent)), (real(r, 3, 2, 4, 2), np.array([2, 2, 0], np.int64))

    # control flow
    @case("torch.jit.script: If with a scatter in a branch", by=LEGACY, script=True, opset=16)
    def script_if(r):
        class Model(torch.nn.Module):
            def forward(self, x, i, u, add: torch.Tensor):
                if bool(add):
                    y = x.index_add(0, i, u)
                else:
                    y = x.index_copy(0, i, u)
                return y
        return Model(), (small(r, 5, 3), distinct(r, 3, 5), small(r, 3, 3), np.array(True))

    @case("torch.jit.script: Loop that writes row after row", by=LEGACY, script=True, opset=16)
    def script_loop(r):
        class Model(torch.nn.Module):
            def forward(self, x, i, u):
                for k in range(i.shape[0]):
                    x = x.index_put((i[k:k + 1],), u[k:k + 1], accumulate=True)
                return x
        return Model(), (small(r, 5, 3), index(r, 4, low=0), small(r, 4, 3))

    @case("torch.jit.script: while loop that follows links: pointer chasing by gathers", by=LEGACY, script=True, opset=14)
    def script_while(r):
        class Model(torch.nn.Module):
            def forward(self, links, start):
                at, steps = start, 0
                while steps < 3:
                    at = links[at]
                    steps += 1
                return at
        return Model(), (r.permutation(6).astype(np.int64), np.array([0, 3], np.int64))

    @case("torch.cond with gathers in both branches: If", by=DYNAMO)
    def cond(r):
        return (lambda x, i, p: torch.cond(p, lambda x, i: x[i] + 1, lambda x, i: x[i] * 2, (x, i))), (small(r, 5, 3), index(r, 4), np.array(True))

    @case("torch scan over rows with a running state: Scan", by=DYNAMO)
    def scan(r):
        from torch._higher_order_ops.scan import scan as torch_scan

        def f(x, i, start):
            def step(state, k):
                state = state + x.index_select(0, k.reshape(1))[0]
                return state, state.clone()
            return torch_scan(step, start, i)
        return f, (small(r, 5, 3), index(r, 4, low=0), small(r, 3))

    # models
    @case("a decoder layer with a static KV cache: embedding, rotary by position, index_put, attention, MLP, logits", FLOAT_MATH, opset=17)
    def decoder_static(r):
        return weights(Decoder(static=True), r), (np.array([[3], [7]], np.int64), np.array([4], np.int64), real(r, 2, 2, 6, 4), real(r, 2, 2, 6, 4))

    @case("the decoder layer with caches that grow by concatenation; batch and past are symbols", FLOAT_MATH, opset=17,
          dynamic={0: {0: "batch"}, 2: {0: "batch", 2: "past"}, 3: {0: "batch", 2: "past"}})
    def decoder_dynamic(r):
        return weights(Decoder(static=False), r), (np.array([[3], [7]], np.int64), np.array([5], np.int64), real(r, 2, 2, 5, 4), real(r, 2, 2, 5, 4))

    @case("two decoder layers with static caches: equal kernels occur several times", FLOAT_MATH, opset=18)
    def decoder_two_layers(r):
        class Two(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = Decoder(static=True), Decoder(static=True)

            def forward(self, ids, at, k1, v1, k2, v2):
                _, k1, v1, h = self.a.body(self.a.table(ids), at, k1, v1)
                _, k2, v2, h = self.b.body(h, at, k2, v2)
                return h @ self.a.table.weight.T, k1, v1, k2, v2
        cache = lambda: real(r, 1, 2, 6, 4)
        return weights(Two(), r), (np.array([[3]], np.int64), np.array([4], np.int64), cache(), cache(), cache(), cache())

    @case("one GNN layer: gather by source, linear, relu, index_add by target, divide by degree", FLOAT_MATH, opset=16, by=DYNAMO)
    def gnn_layer(r):
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 4)

            def forward(self, h, edges):
                source, target = edges[0], edges[1]
                total = torch.zeros_like(h).index_add(0, target, F.relu(self.linear(h[source])))
                degree = torch.zeros(h.shape[0]).index_add(0, target, torch.ones(source.shape[0]))
                return h + total / degree.clamp(min=1)[:, None]
        return weights(Layer(), r), (real(r, 6, 4), index(r, 2, 10, low=0, high=6))

    @case("graph attention: scatter_reduce amax and index_add make the softmax", FLOAT_MATH, opset=18)
    def gnn_attention(r):
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w, self.a = torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(8, 1, bias=False)

            def forward(self, h, edges):
                source, target = edges[0], edges[1]
                z = self.w(h)
                score = F.leaky_relu(self.a(torch.cat([z[source], z[target]], -1)))[:, 0]
                top = torch.full((6,), -1e30).scatter_reduce(0, target, score, "amax")
                e = torch.exp(score - top[target])
                weight = e / torch.zeros(6).index_add(0, target, e)[target]
                return torch.zeros_like(z).index_add(0, target, weight[:, None] * z[source])
        return weights(Layer(), r), (real(r, 6, 4), np.stack([index(r, 9, low=0, high=6), np.array([0, 1, 2, 3, 4, 5, 0, 1, 2])]))

    @case("a GNN layer with symbolic nodes and edges", FLOAT_MATH, opset=16, dynamic={0: {0: "nodes"}, 1: {1: "edges"}})
    def gnn_dynamic(r):
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 4)

            def forward(self, h, edges):
                return h + torch.zeros_like(h).index_add(0, edges[1], F.relu(self.linear(h[edges[0]])))
        return weights(Layer(), r), (real(r, 6, 4), index(r, 2, 9, low=0, high=6))

    @case("mixture of experts: top-2 routing, permute by expert, weighted scatter-add back", FLOAT_MATH, opset=16, by=DYNAMO)
    def moe_layer(r):
        class Moe(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gate, self.w = torch.nn.Linear(4, 3, bias=False), torch.nn.Parameter(torch.zeros(3, 4, 4))

            def forward(self, x):
                weight, expert = torch.topk(F.softmax(self.gate(x), -1), 2)
                flat = expert.reshape(-1)
                order = torch.argsort(flat * 100 + torch.arange(flat.shape[0]))
                token = torch.div(order, 2, rounding_mode="floor")
                y = torch.bmm(x[token][:, None], self.w[flat[order]])[:, 0]
                return torch.zeros_like(x).index_add(0, token, y * weight.reshape(-1)[order][:, None])
        return weights(Moe(), r), (real(r, 6, 4),)

    @case("one GNN layer as PyG has it: scatter_add over the expanded target", FLOAT_MATH, opset=16)
    def gnn_layer_scatter(r):
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 4)

            def forward(self, h, edges):
                source, target = edges[0], edges[1]
                messages = F.relu(self.linear(h.index_select(0, source)))
                total = torch.zeros_like(h).scatter_add(0, target[:, None].expand(-1, 4), messages)
                degree = torch.zeros(h.shape[0]).scatter_add(0, target, torch.ones(source.shape[0]))
                return h + total / degree.clamp(min=1)[:, None]
        return weights(Layer(), r), (real(r, 6, 4), index(r, 2, 10, low=0, high=6))

    @case("mixture of experts: top-2 routing, back by scatter_add over expanded rows", FLOAT_MATH, opset=16)
    def moe_layer_scatter(r):
        class Moe(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gate, self.w = torch.nn.Linear(4, 3, bias=False), torch.nn.Parameter(torch.zeros(3, 4, 4))

            def forward(self, x):
                weight, expert = torch.topk(F.softmax(self.gate(x), -1), 2)
                flat, token = expert.reshape(-1), torch.arange(12) // 2
                y = torch.bmm(x[token][:, None], self.w[flat])[:, 0] * weight.reshape(-1)[:, None]
                return torch.zeros_like(x).scatter_add(0, token[:, None].expand(-1, 4), y)
        return weights(Moe(), r), (real(r, 6, 4),)

    @case("the gradient of an embedding by scatter_add over expanded ids", opset=16)
    def embedding_grad_scatter(r):
        return (lambda ids, g: torch.zeros(8, 4).scatter_add(0, ids.reshape(-1, 1).expand(-1, 4), g.reshape(-1, 4))), \
            (index(r, 2, 3, low=0, high=8), small(r, 2, 3, 4))

    @case("a histogram by scatter_add of ones", opset=16)
    def histogram_scatter(r):
        return (lambda i: torch.zeros(6).scatter_add(0, i, torch.ones(12))), (index(r, 12, low=0, high=6),)

    @case("mixture of experts: rows are permuted and put back", opset=16)
    def moe_permute(r):
        def f(x, expert):
            order = torch.argsort(expert * 100 + torch.arange(8))
            rows = x[order] * 2
            return rows, torch.zeros_like(x).index_copy(0, order, rows)
        return f, (small(r, 8, 4), index(r, 8, low=0, high=3))

    @case("DLRM: three embedding tables, bags summed, dot interaction by triangle indices, MLP", FLOAT_MATH, opset=16)
    def dlrm(r):
        class Dlrm(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.tables = torch.nn.ModuleList(torch.nn.Embedding(n, 4) for n in (8, 5, 6))
                self.bottom, self.top = torch.nn.Linear(3, 4), torch.nn.Linear(4 + 6, 1)
                i, j = np.tril_indices(4, -1)
                self.register_buffer("i", torch.from_numpy(i))
                self.register_buffer("j", torch.from_numpy(j))

            def forward(self, dense, ids):
                d = F.relu(self.bottom(dense))
                bags = [table(ids[:, k]).sum(1) for k, table in enumerate(self.tables)]
                t = torch.stack([d, *bags], 1)
                z = torch.bmm(t, t.transpose(1, 2))
                return torch.sigmoid(self.top(torch.cat([d, z[:, self.i, self.j]], 1)))
        return weights(Dlrm(), r), (real(r, 2, 3), index(r, 2, 3, 4, low=0, high=5))

    @case("DLRM with EmbeddingBag and its gradient as a scatter-add", FLOAT_MATH, opset=16, by=DYNAMO)
    def dlrm_gradient(r):
        def f(table, ids, bags, w, y):
            pooled = torch.zeros(3, 4).index_add(0, bags, table[ids])
            error = torch.sigmoid(pooled @ w) - y
            return error, table.index_add(0, ids, (error @ w.T)[bags], alpha=-0.1)
        return f, (real(r, 8, 4), index(r, 7, low=0, high=8), np.array([0, 0, 1, 1, 1, 2, 2], np.int64), real(r, 4, 1), np.array([[1], [0], [1]], np.float32))

    @case("PointPillars: features go to a flat canvas by y * width + x", opset=16)
    def pointpillars_scatter(r):
        def f(features, coordinates):
            place = coordinates[:, 2] * 6 + coordinates[:, 3]
            canvas = torch.zeros(3, 30)
            canvas[:, place] = features.t()
            return canvas.view(1, 3, 5, 6)
        cells = r.permutation(30)[:7]
        return f, (real(r, 7, 3), np.stack([np.zeros(7), np.zeros(7), cells // 6, cells % 6], 1).astype(np.int64))

    @case("rotary embedding with cos and sin gathered by position", FLOAT_MATH, opset=14)
    def rotary(r):
        def f(x, cos, sin, position):
            c, s = cos[position].unsqueeze(1), sin[position].unsqueeze(1)
            a, b = x.chunk(2, -1)
            return x * c + torch.cat([-b, a], -1) * s
        return f, (real(r, 2, 2, 3, 4), real(r, 8, 4), real(r, 8, 4), index(r, 2, 3, low=0, high=8))

    @case("bilinear grid sampling by hand: four gathers with clamped corners", FLOAT_MATH, opset=16)
    def grid_by_hand(r):
        def f(image, y, x):
            y0, x0 = torch.floor(y).long(), torch.floor(x).long()
            at = lambda i, j: image[i.clamp(0, 4), j.clamp(0, 5)]
            fy, fx = y - y0, x - x0
            return (at(y0, x0) * (1 - fy) * (1 - fx) + at(y0, x0 + 1) * (1 - fy) * fx + at(y0 + 1, x0) * fy * (1 - fx) + at(y0 + 1, x0 + 1) * fy * fx)
        return f, (real(r, 5, 6), (r.random(7) * 4).astype(np.float32), (r.random(7) * 5).astype(np.float32))

    @case("max_unpool: values go back to where the maxima were", opset=14, by=LEGACY)
    def max_unpool(r):
        return (lambda x, i: torch.zeros(2, 16).scatter(1, i.flatten(1), x.flatten(1)).view(2, 4, 4)), \
            (real(r, 2, 2, 2), np.stack([distinct(r, 4, 16).reshape(2, 2) for _ in range(2)]))

    @case("relative position bias of a windowed transformer: a table, an input here, by a constant index", opset=13)
    def relative_position_bias(r):
        place = torch.arange(4)
        relative = (place[:, None] - place[None, :] + 3).flatten()
        return (lambda x, table: x + table[relative].view(4, 4, 2).permute(2, 0, 1)), (real(r, 1, 2, 4, 4), real(r, 7, 2))

    @case("cross entropy's gather of the target's log-probability", FLOAT_MATH, opset=13)
    def target_logit(r):
        return (lambda logits, target: -torch.gather(F.log_softmax(logits, -1), 1, target[:, None])[:, 0]), (real(r, 4, 6), index(r, 4, low=0, high=6))

    @case("a histogram: index_add of ones", opset=16, by=DYNAMO)
    def histogram(r):
        return (lambda i: torch.zeros(6, dtype=torch.int64).index_add(0, i, torch.ones(12, dtype=torch.int64))), (index(r, 12, low=0, high=6),)

    # opsets of dynamo=False and dynamo=True
    for opset in (11, 12, 13, 15, 17, 19, 20):
        @case(f"opset {opset}: x[i], gather, scatter, index_put in one file", name=f"opset_{opset}", by=LEGACY, opset=opset)
        def opset_case(r):
            def f(x, i, e, u):
                return x[i], torch.gather(x, 1, e), x.scatter(1, e, u[:, :3]), x.index_put((i,), u)
            e = np.stack([distinct(r, 3, 4) for _ in range(3)])
            return f, (small(r, 3, 4), distinct(r, 3, 3) - 3, e, small(r, 3, 4))

    for opset in (19, 21, 22, 23, 24):
        @case(f"opset {opset}: x[i], gather, scatter_add, index_put in one file", name=f"opset_{opset}", by=DYNAMO, dynamo_opset=opset)
        def dynamo_opset_case(r):
            def f(x, i, e, u):
                return x[i], torch.gather(x, 1, e), x.scatter_add(1, e, u), x.index_put((i,), u)
            return f, (small(r, 3, 4), distinct(r, 3, 3) - 3, index(r, 3, 4, low=0, high=4), small(r, 3, 4))
    return out


class Decoder(torch.nn.Module):
    def __init__(self, static):
        super().__init__()
        self.static = static
        self.table = torch.nn.Embedding(10, 8)
        self.norm1, self.norm2 = torch.nn.LayerNorm(8), torch.nn.LayerNorm(8)
        self.q, self.k, self.v, self.o = (torch.nn.Linear(8, 8, bias=False) for _ in range(4))
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)
        angle = np.arange(6)[:, None] / 100.0 ** (np.arange(2)[None] / 2)
        self.register_buffer("cos", torch.from_numpy(np.tile(np.cos(angle), 2).astype(np.float32)))
        self.register_buffer("sin", torch.from_numpy(np.tile(np.sin(angle), 2).astype(np.float32)))

    def body(self, x, at, keys, values):
        h = self.norm1(x)
        split = lambda t: t.view(t.shape[0], t.shape[1], 2, 4).transpose(1, 2)
        c, s = self.cos[at], self.sin[at]
        rotate = lambda t: t * c + torch.cat([-t[..., 2:], t[..., :2]], -1) * s
        q, k, v = rotate(split(self.q(h))), rotate(split(self.k(h))), split(self.v(h))
        if self.static:
            keys, values = keys.index_copy(2, at, k), values.index_copy(2, at, v)
            mask = torch.where(torch.arange(6)[None] <= at[:, None], 0.0, -1e9)
        else:
            keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
            mask = torch.zeros(1)
        score = q @ keys.transpose(2, 3) * 0.5 + mask
        a = (F.softmax(score, -1) @ values).transpose(1, 2).reshape(x.shape)
        x = x + self.o(a)
        x = x + self.down(F.silu(self.up(self.norm2(x))))
        return x @ self.table.weight.T, keys, values, x

    def forward(self, ids, at, keys, values):
        return self.body(self.table(ids), at, keys, values)[:3]


def export(by, module, arguments, names, options):
    if by == "torch":
        file = io.BytesIO()
        if options.get("script"):
            module = torch.jit.script(module)
        axes = {names[k]: dims for k, dims in options.get("dynamic", {}).items()}
        torch.onnx.export(module, tuple(arguments), file, dynamo=False, opset_version=options.get("opset", 17), input_names=names,
                          dynamic_axes=axes or None)
        return onnx.load_from_string(file.getvalue())
    shapes = None
    if "dynamic" in options:
        shapes = tuple({d: torch.export.Dim.DYNAMIC for d in options["dynamic"].get(k, {})} for k in range(len(arguments)))
        if isinstance(module, Function):
            shapes = (shapes,)
    program = torch.onnx.export(module, tuple(arguments), dynamo=True, verbose=False, input_names=names, dynamic_shapes=shapes,
                                opset_version=options.get("dynamo_opset"), optimize=options.get("optimize", True))
    return program.model_proto


def main():
    out = corpus.Corpus("", "torch", "onnx")
    versions = f"torch {torch.__version__.split('+')[0]}"
    for name, make, note, tolerance, exporters, options in cases():
        for by in exporters:
            if not out.wants(name, by):
                continue
            try:
                module, arguments = make(corpus.rng(f"torch/{name}"))
                module = module if isinstance(module, torch.nn.Module) else Function(module)
                tensors = [torch.from_numpy(np.array(a)) for a in arguments]
                want = module(*copy.deepcopy(tensors))
                want = want if isinstance(want, (tuple, list)) else (want,)
                model = onnx_values.without_folders(export(by, module.eval(), copy.deepcopy(tensors), [f"arg{k}" for k in range(len(tensors))], options))
                kept = [i.name for i in model.graph.input]
                inputs = [(f"arg{k}", a) for k, a in enumerate(arguments) if f"arg{k}" in kept]
                assert [label for label, _ in inputs] == kept, f"inputs are {kept}"
                outputs = [(o.name, w.detach().numpy()) for o, w in zip(model.graph.output, want)]
                assert len(model.graph.output) == len(want)
                more = {}
                try:
                    results = onnx_values.run(model, dict(inputs))[0]
                    problem = onnx_values.compare(results, outputs, tolerance if tolerance == MOVES else tolerance[0])
                    if problem and by == "torch":
                        more["results"] = "of onnxruntime: the exporter's file means something else than torch computes"
                        outputs = [(label, np.asarray(result)) for (label, _), result in zip(outputs, results)]
                    elif problem:
                        raise AssertionError(f"onnxruntime: {problem}")
                    kernels, values = onnx_values.kernels(model, dict(inputs))
                except onnx_values.ERRORS as error:
                    kernels, values, more["onnxruntime"] = [], {}, f"does not run it: {str(error)[:150]}"
                opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
                out.source = f"{versions}, torch.onnx.export(dynamo={by == 'torch_dynamo'}), opset {opset}; results of torch on the CPU"
                out.write(name, model.SerializeToString(), inputs, outputs, note, onnx_values.count_indexed(model), tolerance, kernels, folder=by, values=values, **more)
            except Exception as error:  # the others are written, and the list at the end names it
                out.fail(f"{by}/{name}", f"{type(error).__name__}: {error}")
    out.finish()


if __name__ == "__main__":
    main()
