#!/usr/bin/env python3
"""Layers and functions of PyTorch Geometric, unmodified, with strew.torch enabled and without: results and gradients bit for bit with one thread, the same in each run with two. strew
runs some operator of each, and none goes to PyTorch but for the reasons in HANDED_OVER, which docs/torch.md has. `--print` shows the counts.

    geometric_test.py [--only REGEX] [--print]

Exit status 0: right, 1: wrong.
"""
import argparse
import re
import subprocess
import sys

import outcomes
import torch
import torch_geometric.nn as nn
import torch_geometric.utils as utils

import strew.torch

NODES, EDGES, WIDTH, GRAPHS = 60, 500, 16, 5
HANDED_OVER = {"aten::_segment_reduce_backward": {"an argument has a value that strew leaves to PyTorch (a mode, a dim, an index that is not a tensor)"}}  # of maxima and minima


def graph(sorted_by_target=False):
    draw = torch.Generator().manual_seed(5)
    edges = torch.randint(NODES - 3, (2, EDGES), generator=draw)  # the last nodes have no edges
    if sorted_by_target:
        edges = edges[:, edges[1].argsort(stable=True)]
    return torch.randn(NODES, WIDTH, generator=draw), edges, torch.rand(EDGES, generator=draw)


def csr(edges, values=None):
    """The transposed adjacency, as PyTorch Geometric wants it of layers that fuse."""
    values = torch.ones(edges.size(1)) if values is None else values
    return torch.sparse_coo_tensor(edges.flip(0), values, (NODES, NODES)).coalesce().to_sparse_csr()


def layer(make, adjacency, sorted_by_target=False, dtype=torch.float32, **given):
    """Result and gradients of the weights and of the features."""
    def call():
        torch.manual_seed(1)
        x, edges, weight = graph(sorted_by_target)
        x = x.to(dtype).requires_grad_()
        module = make().to(dtype)
        arguments = {name: weight if value == "weight" else value for name, value in given.items()}
        result = module(x, edges if adjacency == "edges" else csr(edges), **arguments)
        return outcomes.gradients(lambda: result, [x, *module.parameters()])
    return call


def function(call):
    """`call` gets features of edges, the targets of the edges, and pointers to the edges of each target."""
    def run():
        x, edges, _ = graph()
        features = x[edges[0]].detach().requires_grad_()
        pointers = torch.zeros(NODES + 1, dtype=torch.int64)
        pointers[1:] = torch.bincount(edges[1], minlength=NODES).cumsum(0)
        return outcomes.gradients(lambda: call(features, edges[1], pointers), [features])
    return run


def pool(call):
    def run():
        x, _, _ = graph()
        x.requires_grad_()
        return outcomes.gradients(lambda: call(x, torch.arange(NODES) * GRAPHS // NODES), [x])
    return run


def product(reduce):
    def run():
        x, edges, weight = graph()
        x.requires_grad_()
        return outcomes.gradients(lambda: utils.spmm(csr(edges, weight), x, reduce), [x])
    return run


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))


LAYERS = {
    "GCNConv": lambda: nn.GCNConv(WIDTH, 8),
    "GCNConv, without normalisation": lambda: nn.GCNConv(WIDTH, 8, normalize=False),
    "SAGEConv, mean": lambda: nn.SAGEConv(WIDTH, 8),
    "SAGEConv, max": lambda: nn.SAGEConv(WIDTH, 8, aggr="max"),
    "SAGEConv, sum": lambda: nn.SAGEConv(WIDTH, 8, aggr="sum"),
    "GINConv": lambda: nn.GINConv(mlp()),
    "GraphConv": lambda: nn.GraphConv(WIDTH, 8),
}
CASES = {f"{name}, {adjacency}": layer(make, adjacency) for name, make in LAYERS.items() for adjacency in ("edges", "CSR")}
CASES |= {
    "GCNConv, weighted edges": layer(LAYERS["GCNConv"], "edges", edge_weight="weight"),
    "SAGEConv, sorted edges": layer(LAYERS["SAGEConv, mean"], "edges", sorted_by_target=True),
    "GCNConv, bfloat16": layer(LAYERS["GCNConv"], "edges", dtype=torch.bfloat16),
    "SAGEConv, float64": layer(LAYERS["SAGEConv, mean"], "edges", dtype=torch.float64),
    "GATConv, bfloat16": layer(lambda: nn.GATConv(WIDTH, 8, heads=2), "edges", dtype=torch.bfloat16),
    "GATConv, edges": layer(lambda: nn.GATConv(WIDTH, 8, heads=2), "edges"),
    "GATv2Conv, edges": layer(lambda: nn.GATv2Conv(WIDTH, 8, heads=2), "edges"),
    "TransformerConv, edges": layer(lambda: nn.TransformerConv(WIDTH, 8, heads=2), "edges"),
    "PNAConv, edges": layer(lambda: nn.PNAConv(WIDTH, 8, ["mean", "min", "max", "std"], ["identity"], torch.arange(20)), "edges"),
    "softmax of an index": function(lambda x, index, pointers: utils.softmax(x, index, num_nodes=NODES)),
    "softmax of pointers": function(lambda x, index, pointers: utils.softmax(x, None, pointers)),
}
CASES |= {f"scatter, {name}": function(lambda x, index, pointers, name=name: utils.scatter(x, index, 0, NODES, name)) for name in ("sum", "mean", "min", "max", "mul", "any")}
CASES |= {f"scatter of dim 1, {name}": function(lambda x, index, pointers, name=name: utils.scatter(x.t(), index, 1, NODES, name)) for name in ("sum", "mean", "max")}
CASES |= {f"segment, {name}": function(lambda x, index, pointers, name=name: utils.segment(x, pointers, name)) for name in ("sum", "mean", "min", "max")}
CASES |= {f"spmm, {name}": product(name) for name in ("sum", "mean", "min", "max")}
CASES |= {f"global pool, {name}": pool(getattr(nn, f"global_{name}_pool")) for name in ("add", "mean", "max")}


# A process in which PyTorch Geometric takes strew.torch.scatter for torch_scatter.
AS_TORCH_SCATTER = """
import sys, torch, strew.torch
sys.modules["torch_scatter"] = strew.torch.scatter
from torch_geometric import typing, utils
assert typing.WITH_TORCH_SCATTER
torch.manual_seed(0)
x, pointers = torch.randn(5, 9), torch.tensor([0, 2, 2, 9])
for name, call in (("sum", torch.sum), ("mean", torch.mean), ("min", torch.amin), ("max", torch.amax)):
    got = utils.segment(x, pointers.view(1, -1), name)
    want = torch.stack([call(part, 1) if part.numel() else torch.zeros(5) for part in x.split((2, 0, 7), 1)], 1)
    assert torch.allclose(got, want), name
assert torch.allclose(utils.softmax(x, None, pointers, dim=1), torch.cat([x[:, :2].softmax(1), x[:, 2:].softmax(1)], 1))
index = torch.tensor([0, 2, 2, 0, 2])
got = utils._scatter.scatter_argmax(x, index)
for place, rows in enumerate(([0, 3], [], [1, 2, 4])):
    assert torch.equal(got[place], torch.tensor(rows)[x[rows].argmax(0)] if rows else torch.full((9,), 5))
"""


def check(name, call, show, failures):
    strew.torch.report(clear=True)
    with outcomes.enabled(True):
        call()
    calls = strew.torch.report()
    ran, left = outcomes.calls_by_strew(), {operator: counts["handed over"] for operator, counts in calls.items() if counts["handed over"]}
    failures.require(f"{name}: strew ran some of it, and handed over no more than is known: {left}", ran and all(set(left[each]) <= HANDED_OVER.get(each, set()) for each in left))
    if show:
        print(f"{name}: strew ran {ran}", *(f"    {operator}: {count} went to PyTorch: {reason}" for operator, reasons in left.items() for reason, count in reasons.items()), sep="\n")
    failures.check(name, outcomes.compare(call))
    with outcomes.enabled(True, 2):
        runs = [outcomes.tensors_in([call()]) for _ in range(2)]
    failures.check(f"{name}: two runs with two threads", [each for pair in zip(*runs, strict=True) for each in outcomes.different("", *pair)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    failures = outcomes.Failures()
    for name, call in CASES.items():
        if re.search(options.only, name):
            check(name, call, options.print, failures)
    if re.search(options.only, "as torch_scatter"):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", AS_TORCH_SCATTER], text=True, capture_output=True)
        failures.check("as torch_scatter", [done.stderr] if done.returncode else [])
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
