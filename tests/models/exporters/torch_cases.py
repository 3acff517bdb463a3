"""PyTorch functions and modules with their inputs: indexed operations."""

import numpy as np
import torch
import torch.nn.functional as F

from corpus import FLOAT_MATH, collector, real, small

BOTH = ("torch", "torch_dynamo")
LEGACY, DYNAMO = ("torch",), ("torch_dynamo",)


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
    """(name, make, note, tolerance, options): make(r) takes a generator and returns (module or function, arguments). Options: by (which
    exporters), opset (for dynamo=False), dynamo_opset, dynamic ({place of argument: {dim: symbol}}), optimize, script."""
    out, case = collector()

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
