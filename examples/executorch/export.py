#!/usr/bin/env python3
"""Writes an ExecuTorch program with one custom operator, messages::spmm, which becomes its variant messages::spmm.out; main.cc has the kernel.

    export.py [FILE]
"""
import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge

library = torch.library.Library("messages", "DEF")
library.define("spmm(Tensor dst, Tensor src, Tensor table, SymInt num_rows) -> Tensor")
library.define("spmm.out(Tensor dst, Tensor src, Tensor table, SymInt num_rows, *, Tensor(a!) out) -> Tensor(a!)")


@torch.library.impl(library, "spmm", "CompositeExplicitAutograd")
def spmm(dst, src, table, num_rows):
    return torch.zeros(num_rows, table.size(1)).index_add_(0, dst, table[src])


@torch.library.register_fake("messages::spmm", lib=library)
def _(dst, src, table, num_rows):
    return table.new_empty(num_rows, table.size(1))


@torch.library.impl(library, "spmm.out", "CompositeExplicitAutograd")
def spmm_out(dst, src, table, num_rows, *, out):
    return out.copy_(spmm(dst, src, table, num_rows))


class Layer(torch.nn.Module):
    def forward(self, dst, src, table):
        return torch.ops.messages.spmm(dst, src, table, 5)


edges = torch.tensor([0, 4, 4, 1]), torch.tensor([2, 0, 1, 2])
program = torch.export.export(Layer(), (*edges, torch.ones(3, 64)))
edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
with open(sys.argv[1] if len(sys.argv) > 1 else "layer.pte", "wb") as file:
    file.write(edge.to_executorch().buffer)
