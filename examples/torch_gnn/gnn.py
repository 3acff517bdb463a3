#!/usr/bin/env python3
"""Training of a graph network by PyTorch Geometric, in three ways: its layers as they are; the same with strew's kernels in the place of PyTorch's; and layers that sum the messages in one pass.

    gnn.py [BUILD] [--model gcn|sage] [--full] [--steps N] [--threads T]

The third way replaces `propagate` of a layer, which makes a message per edge and sums them, by `strew.torch.spmm`, which makes no messages. Losses and weights have to be the same bits in
all three, and the third may make no messages; the program exits with 1 otherwise. `--full`: a graph of the size of ogbn-arxiv (169,343 nodes, 1,166,243 edges, 128 features), which takes 2 GB of memory in the first two ways.

Run by ctest as example_torch_gnn, on a small graph.
"""
import argparse
import sys
import time

import torch
from torch.nn import functional
from torch_geometric.nn import GCNConv, SAGEConv

import strew.torch

SMALL, FULL = (2_000, 12_000, 32), (169_343, 1_166_243, 128)  # nodes, edges, features
HIDDEN, CLASSES = 64, 40


def one_pass(self, edge_index, x, edge_weight=None, size=None):
    """`propagate` of a layer whose message along an edge is the source's features, times the edge's weight if there is one."""
    source, target = edge_index
    table, rows = (x[0], x[1].size(0)) if isinstance(x, tuple) else (x, x.size(0))
    return strew.torch.spmm(target, source, table, edge_weight, num_rows=rows, reduce="mean" if self.aggr == "mean" else "sum")


# PyTorch Geometric generates a `propagate` for each class that does not define its own, which an inherited one is not.
class OnePassGCN(GCNConv):
    propagate = one_pass


class OnePassSAGE(SAGEConv):
    propagate = one_pass


LAYERS = {"gcn": (GCNConv, OnePassGCN), "sage": (SAGEConv, OnePassSAGE)}


class Network(torch.nn.Module):
    def __init__(self, layer, features):
        super().__init__()
        self.layers = torch.nn.ModuleList([layer(features, HIDDEN), layer(HIDDEN, HIDDEN), layer(HIDDEN, CLASSES)])

    def forward(self, x, edges):
        for each in self.layers[:-1]:
            x = functional.relu(each(x, edges))
        return self.layers[-1](x, edges)


def train(layer, graph, steps):
    """The losses, the weights after the last step, and milliseconds per step behind the first, in which kernels may be compiled."""
    x, edges, labels = graph
    torch.manual_seed(0)
    network = Network(layer, x.size(1))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    losses = []
    for step in range(steps):
        if step == 1:
            begin = time.perf_counter()
        optimizer.zero_grad()
        loss = functional.cross_entropy(network(x, edges), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [each.detach() for each in network.parameters()], (time.perf_counter() - begin) / (steps - 1) * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--model", choices=LAYERS, action="append")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    nodes, edges, features = FULL if options.full else SMALL
    torch.manual_seed(1)
    graph = torch.randn(nodes, features), torch.randint(nodes, (2, edges)), torch.randint(CLASSES, (nodes,))
    right = True
    for model in options.model or LAYERS:
        plain, one_pass = LAYERS[model]
        found = {}
        for way, layer in (("PyTorch", plain), ("strew enabled", plain), ("strew.torch.spmm", one_pass)):
            (strew.torch.disable if way == "PyTorch" else strew.torch.enable)()
            losses, weights, milliseconds = found[way] = train(layer, graph, max(options.steps, 2))
            first_losses, first_weights, _ = found["PyTorch"]
            same = losses == first_losses and all(map(torch.equal, weights, first_weights))
            messages = strew.torch.report(clear=True)["aten::index_select"]["replaced"] if strew.torch.is_enabled() else 0
            right &= same and (messages > 0) == (way == "strew enabled")
            print(f"{model}, {way}: {milliseconds:.1f} ms a step, loss {losses[0]:.6f} to {losses[-1]:.6f}, " + ("the same bits" if same else "OTHER BITS"), flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
