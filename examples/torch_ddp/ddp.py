#!/usr/bin/env python3
"""Two processes train a graph network together (DistributedDataParallel over gloo), each on edges of its own, with strew's kernels: both have the same weights, and two runs the same bits.

    ddp.py [BUILD] [--full] [--steps N] [--threads T]

Run by ctest as example_torch_ddp. `--full`: 50,000 nodes and 400,000 edges per process. Exit status 1: other weights.
"""
import argparse
import os
import pathlib
import sys
import tempfile

import torch
from torch import distributed
from torch.nn import functional
from torch_geometric.nn import GCNConv, SAGEConv

import strew.torch

RANKS, SMALL, FULL = 2, (500, 3_000), (50_000, 400_000)  # processes; nodes, edges
FEATURES, CLASSES = 32, 7


class Network(torch.nn.Module):
    """Its first layer has PyTorch Geometric's messages, its last one sums them in one pass."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = GCNConv(FEATURES, 64), SAGEConv(64, 64), torch.nn.Linear(64, CLASSES)

    def forward(self, x, edges):
        x = functional.relu(self.second(functional.relu(self.first(x, edges)), edges))
        return self.last(strew.torch.spmm(edges[1], edges[0], x, num_rows=x.size(0), reduce="mean"))


def train(graph, steps):
    """The weights after the last step."""
    x, edges, labels = graph
    torch.manual_seed(0)
    network = torch.nn.parallel.DistributedDataParallel(Network())
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        functional.cross_entropy(network(x, edges), labels).backward()
        optimizer.step()
    return [each.detach() for each in network.parameters()]


def work(rank, folder, sizes, steps, threads):
    """One process: two runs, whose weights it leaves in a file."""
    torch.set_num_threads(threads)
    strew.torch.enable()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    nodes, edges = sizes
    draw = torch.Generator().manual_seed(rank)
    graph = torch.randn(nodes, FEATURES, generator=draw), torch.randint(nodes, (2, edges), generator=draw), torch.randint(CLASSES, (nodes,), generator=draw)
    runs = [train(graph, steps) for _ in range(2)]
    calls = sum(counts["replaced"] for counts in strew.torch.report().values())
    torch.save({"runs": runs, "calls": calls}, pathlib.Path(folder, f"weights{rank}"))
    distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(work, (folder, FULL if options.full else SMALL, options.steps, options.threads), nprocs=RANKS)
        found = [torch.load(pathlib.Path(folder, f"weights{rank}")) for rank in range(RANKS)]
    first = found[0]["runs"][0]
    right = all(each["calls"] for each in found)
    for rank, each in enumerate(found):
        for run, weights in enumerate(each["runs"]):
            same = all(map(torch.equal, first, weights))
            right &= same
            print(f"process {rank}, run {run}: {'the same weights' if same else 'OTHER WEIGHTS'}")
        print(f"process {rank}: {each['calls']} calls by strew")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
