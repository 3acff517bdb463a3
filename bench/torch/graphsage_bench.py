#!/usr/bin/env python3
"""A training step of a GraphSAGE of two layers on a random graph: eager, with strew.torch enabled, and with strew.torch.spmm, by turns in one process.

    graphsage_bench.py [--rounds N] [--threads T]

Figures are medians in ms with their quartiles. The gradients of spmm are compared bit for bit with those of the enabled way, and with one thread with eager's; with more, eager's own differ from
run to run. Run it with PYTHONPATH=build/python by .venv-torch/bin/python3; docs/torch.md has figures, also with malloc keeping memory (torch_bench.py).
"""
import argparse
import statistics
import sys
import time

import torch
from torch.nn import functional

import strew.torch

NODES, EDGES, WIDTH, LAYERS = 10_000, 300_000, 64, 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    dst, src, features = torch.randint(NODES, (EDGES,)), torch.randint(NODES, (EDGES,)), torch.randn(NODES, WIDTH)
    layers = [(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH)) for _ in range(LAYERS)]

    def two_steps(h):
        return torch.zeros(NODES, WIDTH).index_add_(0, dst, h[src])

    def one_pass(h):
        return strew.torch.spmm(dst, src, h, num_rows=NODES)

    def step(sums):
        h = features
        for own, other in layers:
            h = functional.relu(own(h) + other(sums(h)))
        weights = [layer.weight for pair in layers for layer in pair]
        return torch.autograd.grad(h.sum(), weights)

    ways = {"eager": (two_steps, False), "enabled": (two_steps, True), "spmm": (one_pass, True)}
    times, gradients = {name: [] for name in ways}, {}
    for number in range(-3, options.rounds):
        if number == 0:
            time.sleep(2)  # kernels are compiled in the background
        for name, (sums, is_enabled) in ways.items():
            (strew.torch.enable if is_enabled else strew.torch.disable)()
            begin = time.perf_counter()
            gradients[name] = step(sums)
            if number >= 0:
                times[name].append((time.perf_counter() - begin) * 1e3)
    for name, samples in times.items():
        low, middle, high = statistics.quantiles(samples, n=4)
        print(f"{name:8s} {middle:6.1f} ms [{low:.1f}, {high:.1f}]  {statistics.median(times['eager']) / middle:.2f} of eager's speed")
    compared = ["enabled"] + ["eager"] * (options.threads == 1)
    wrong = [name for name in compared if not all(map(torch.equal, gradients[name], gradients["spmm"]))]
    print(f"spmm has other bits than {', '.join(wrong)}" if wrong else f"the same bits: spmm, {', '.join(compared)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
