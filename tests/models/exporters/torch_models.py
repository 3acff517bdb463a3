"""PyTorch modules with their inputs: whole small models."""

import numpy as np
import torch
import torch.nn.functional as F

from corpus import FLOAT_MATH, collector, real, small
from torch_cases import DYNAMO, LEGACY, distinct, index, weights


def models():
    """As torch_cases.cases."""
    out, case = collector()

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
