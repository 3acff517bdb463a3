"""Steps of whole models for torch_bench.py: what PyTorch runs, the same with torch.sparse.mm or with operators of strew.torch, each as a call that returns what is compared (a loss and gradients,
or what a decoder wrote). The models are those of examples/torch_gnn, torch_dlrm and torch_decoder."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "examples" / folder) for folder in ("torch_gnn", "torch_dlrm", "torch_decoder")]
import decoder  # noqa: E402
import dlrm  # noqa: E402
import gnn  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch_geometric.nn import GATConv, GCNConv, SAGEConv  # noqa: E402
from torch_geometric.nn.conv.gcn_conv import gcn_norm  # noqa: E402
from torch_geometric.utils import scatter  # noqa: E402

import strew.torch  # noqa: E402

NODES, EDGES, WIDTH = 10_000, 300_000, 64


class Step:
    """`plain`: unmodified PyTorch. `sparse`: by torch.sparse.mm. `operators`: by strew.torch's. `written`: tensors that the calls write, compared, too."""

    def __init__(self, plain, sparse=None, operators=None, written=()):
        self.plain, self.sparse, self.operators, self.written = plain, sparse, operators, written


def graph():
    """Features, and edges of which no two are equal: a sparse tensor would add these up."""
    draw = torch.Generator().manual_seed(1)
    pairs = torch.randint(NODES * NODES, (EDGES + 10_000,), generator=draw).unique()
    pairs = pairs[torch.randperm(len(pairs), generator=draw)[:EDGES]]
    return torch.randn(NODES, WIDTH, generator=draw), torch.stack([pairs // NODES, pairs % NODES])


def compressed(edges, values):
    """The adjacency by targets, as PyTorch Geometric wants it of layers that are given a sparse tensor."""
    return torch.sparse_coo_tensor(edges.flip(0), values, (NODES, NODES)).coalesce().to_sparse_csr()


def training(make, *given):
    """A step of two layers: the loss, and the gradients of their weights."""
    torch.manual_seed(0)
    layers = torch.nn.ModuleList([make(), make()])
    weights = list(layers.parameters())
    x, _ = graph()

    def step():
        h = x
        for layer in layers:
            h = functional.relu(layer(h, *given))
        loss = h.square().mean()
        return [loss.detach(), *torch.autograd.grad(loss, weights)]
    return step


def gcn_step():
    """The weights of the edges are computed once, as for a graph that stays."""
    _, edges = graph()
    edges, weights = gcn_norm(edges, None, NODES)
    ways = [training(lambda layer=layer: layer(WIDTH, WIDTH, normalize=False), edges, weights) for layer in gnn.LAYERS["gcn"]]
    return Step(ways[0], training(lambda: GCNConv(WIDTH, WIDTH, normalize=False), compressed(edges, weights)), ways[1])


def sage_step():
    _, edges = graph()
    ways = [training(lambda layer=layer: layer(WIDTH, WIDTH), edges) for layer in gnn.LAYERS["sage"]]
    return Step(ways[0], training(lambda: SAGEConv(WIDTH, WIDTH), compressed(edges, torch.ones(EDGES))), ways[1])


class PlainSAGE(torch.nn.Module):
    """Sums of the neighbours, as one writes them in PyTorch; `sums` has another way."""

    def __init__(self, sums):
        super().__init__()
        self.own, self.other, self.sums = torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH), sums

    def forward(self, h):
        return self.own(h) + self.other(self.sums(h))


def plain_sage_step():
    _, (src, dst) = graph()
    adjacency = compressed(torch.stack([src, dst]), torch.ones(EDGES))
    ways = (lambda h: torch.zeros(NODES, WIDTH).index_add_(0, dst, h[src]), lambda h: torch.sparse.mm(adjacency, h), lambda h: strew.torch.spmm(dst, src, h, num_rows=NODES))
    return Step(*(training(lambda sums=sums: PlainSAGE(sums)) for sums in ways))


class OnePassGAT(GATConv):
    """Each head's messages, weighted by its attention, in one pass."""

    def propagate(self, edge_index, x, alpha, size=None):
        return strew.torch.spmm(edge_index[1], edge_index[0], x[0], alpha, num_rows=x[1].size(0))


def gat_step():
    _, edges = graph()
    ways = [training(lambda layer=layer: layer(WIDTH, WIDTH // 4, heads=4), edges) for layer in (GATConv, OnePassGAT)]
    return Step(ways[0], operators=ways[1])


def dlrm_step(sparse):
    """With the update of the weights: where gradients are sparse, most of a step."""
    rows, columns, tables, batch = 50_000, WIDTH, 8, 2048
    draw = torch.Generator().manual_seed(1)
    numbers, chosen = torch.randn(batch, dlrm.NUMBERS, generator=draw), torch.randint(rows, (tables, batch, dlrm.IN_A_BAG), generator=draw)
    clicks = torch.randint(2, (batch,), generator=draw).float()

    def way(bag):
        torch.manual_seed(0)
        model = dlrm.Recommender(bag, tables, rows, columns)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)  # costs as much as any, and results stay the same from call to call

        def step():
            optimizer.zero_grad()
            loss = functional.binary_cross_entropy_with_logits(model(numbers, chosen), clicks)
            loss.backward()
            optimizer.step()
            return [loss.detach(), *(each.grad.to_dense() for each in model.top.parameters())]
        return step
    plain = way(lambda rows, columns: torch.nn.EmbeddingBag(rows, columns, mode="sum", sparse=sparse))
    return Step(plain, operators=None if sparse else way(dlrm.Bag))


def paged_write():
    """Keys and values of 16 layers, a token for each of 8 sequences: a token's rows in the caches of all layers."""
    draw = torch.Generator().manual_seed(1)
    caches = [torch.zeros(4096, 8, 128, dtype=torch.bfloat16) for _ in range(32)]
    slots, rows = torch.randperm(4096, generator=draw)[:8], torch.randn(8, 8, 128, generator=draw).to(torch.bfloat16)

    def step():
        for cache in caches:
            cache.index_copy_(0, slots, rows)
        return []

    def operators():
        strew.torch.kv_append_(caches, slots, [rows] * len(caches))
        return []
    return Step(step, operators=operators, written=caches)


def decode_step():
    """A token of 8 sequences behind 512 others, in 4 layers."""
    sequences, heads, numbers, position = 8, 8, 128, 512
    torch.manual_seed(0)
    layers = [decoder.Layer(heads, numbers).to(torch.bfloat16) for _ in range(4)]
    caches = [decoder.Cache(sequences, position + decoder.PAGE, heads, numbers, torch.bfloat16) for _ in layers]
    x = torch.randn(sequences, heads * numbers).to(torch.bfloat16)

    def step():
        with torch.no_grad():
            h = x
            for layer, cache in zip(layers, caches, strict=True):
                h = layer(h, cache, position)
        return [h]
    return Step(step)


def experts_step():
    """Tokens go to two of 8 experts each: rows in the order of the experts, and back, weighted and summed; with gradients."""
    tokens, width, chosen = 2048, 1024, 2
    draw = torch.Generator().manual_seed(1)
    experts, weights = torch.randint(8, (tokens * chosen,), generator=draw), torch.rand(tokens * chosen, generator=draw).requires_grad_()
    x, order = torch.randn(tokens, width, generator=draw).requires_grad_(), experts.argsort(stable=True)
    source = order // chosen

    def plain():
        moved = x.index_select(0, source)
        result = torch.zeros(tokens, width).index_add_(0, source, moved * weights[order].unsqueeze(1))
        return [result.detach(), *torch.autograd.grad(result.square().sum(), (x, weights))]

    def operators():
        moved, _, rows, _ = strew.torch.moe_permute(x, experts.view(tokens, chosen), num_experts=8)
        result = strew.torch.moe_unpermute(moved, rows, weights.view(tokens, chosen))
        return [result.detach(), *torch.autograd.grad(result.square().sum(), (x, weights))]
    return Step(plain, operators=operators)


def readout_step():
    """The mean and the greatest of each graph's nodes, and their gradients, by PyTorch Geometric and by strew.torch.scatter."""
    x, _ = graph()
    x, batch = x.requires_grad_(), torch.arange(NODES) // 100

    def way(reduce):
        def step():
            result = reduce(x, batch, "mean") + reduce(x, batch, "max")
            return [result.detach(), *torch.autograd.grad(result.square().sum(), x)]
        return step
    return Step(way(lambda x, batch, name: scatter(x, batch, 0, NODES // 100, name)),
                operators=way(lambda x, batch, name: strew.torch.scatter.scatter(x, batch, 0, None, NODES // 100, name)))


STEPS = {
    "step of GCN, 10k nodes, 300k edges x 64": gcn_step,
    "step of GraphSAGE, the same graph": sage_step,
    "step of GraphSAGE, in plain PyTorch": plain_sage_step,
    "step of GAT, 4 heads, the same graph": gat_step,
    "step of a readout of 100 graphs, mean and max": readout_step,
    "step of DLRM, 8 tables of 50k x 64, dense": lambda: dlrm_step(False),
    "step of DLRM, 8 tables of 50k x 64, sparse": lambda: dlrm_step(True),
    "paged cache, 16 layers, keys and values of 8": paged_write,
    "decode step, 4 layers, 8 x 512 tokens, bfloat16": decode_step,
    "experts, permute and back, 2 x 2048 x 1024": experts_step,
}
