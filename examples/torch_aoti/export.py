#!/usr/bin/env python3
"""A layer of a graph network, exported with open extents and compiled ahead of time: a package that a program in C++ runs without Python (main.cc).

    export.py FOLDER

Writes FOLDER/layer.pt2, FOLDER/inputs.pt and FOLDER/expected.pt: the package, inputs of another size than the export's, and what eager PyTorch makes of them.
"""
import pathlib
import sys

import torch

import strew.torch


class Layer(torch.nn.Module):
    """relu(sum over edges e to row i of weight[e] * (W x + b)[source of e])"""

    def __init__(self, features):
        super().__init__()
        self.linear = torch.nn.Linear(features, features)

    def forward(self, x, edges, weight):
        messages = self.linear(x)[edges[1]] * weight[:, None]
        return torch.zeros_like(x).index_add(0, edges[0], messages).relu()


def inputs(nodes, edges, features):
    return torch.randn(nodes, features), torch.randint(nodes, (2, edges)), torch.rand(edges)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    layer = Layer(16).eval()
    nodes, edges = torch.export.Dim("nodes", min=2), torch.export.Dim("edges", min=2)
    with torch.no_grad():
        program = torch.export.export(layer, inputs(50, 200, 16), dynamic_shapes=({0: nodes}, {1: edges}, {0: edges}))
        torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "layer.pt2"), inductor_configs=strew.torch.inductor_options())
        given = inputs(1000, 20_000, 16)
        torch.save(given, folder / "inputs.pt")
        torch.save((layer(*given),), folder / "expected.pt")


if __name__ == "__main__":
    main()
