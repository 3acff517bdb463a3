#!/usr/bin/env python3
"""PyTorch's own samples and erroneous inputs of the operators that strew.torch replaces (op_db of torch.testing._internal), with strew.torch and without: functions, methods in place, `out=`,
gradients; also with tensors that are not contiguous. The outcomes are compared as outcomes.py says.

    op_db_test.py [--seed N] [--only REGEX]

Exit status 0: right, 1: wrong.
"""
import argparse
import logging
import re
import sys

logging.disable(logging.WARNING)  # PyTorch's testing package speaks of CUDA's folders

import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.opinfo.core import SampleInput  # noqa: E402

import outcomes  # noqa: E402
import strew.torch  # noqa: E402

# The entries of op_db, with or without their variant, and the overloads that strew has to have run with their samples.
OPERATORS = {
    "index_add": ("aten::index_add", "aten::index_add_", "aten::index_add.out", "aten::index_select"),
    "scatter_add": ("aten::scatter_add", "aten::scatter_add_", "aten::scatter_add.out"),
    "index_put": ("aten::_index_put_impl_",),
    "masked_scatter": ("aten::masked_scatter_",),
    "index_select": ("aten::index_select", "aten::index_select.out", "aten::index_add_"),
    "index_copy": ("aten::index_copy", "aten::index_copy_", "aten::index_copy.out", "aten::index_select"),
    "index_reduce": ("aten::index_reduce", "aten::index_reduce_", "aten::index_reduce.out"),
    "index_fill": ("aten::index_fill_.int_Scalar",),
    "scatter": ("aten::scatter.src", "aten::scatter_.src", "aten::scatter.src_out"),
    "scatter_reduce": ("aten::scatter_reduce.two", "aten::scatter_reduce_.two", "aten::scatter_reduce.two_out"),
    "gather": ("aten::gather", "aten::gather.out", "aten::scatter_add_"),
    "__getitem__": ("aten::index.Tensor",),
    "take": ("aten::take", "aten::take.out"),
    "put": ("aten::put_",),
    "take_along_dim": ("aten::gather",),
    "_segment_reduce": ("aten::segment_reduce", "aten::_segment_reduce_backward"),
    "nn.functional.embedding_bag": ("aten::_embedding_bag", "aten::_embedding_bag_forward_only", "aten::_embedding_bag_dense_backward"),
    "nn.functional.embedding": ("aten::index_select", "aten::embedding_dense_backward"),
}
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64,
          torch.complex128)


def call_out(op, args, kwargs, out):
    return op.op(*args, **kwargs, out=out)


def outs_for(result):
    """Tensors to be given as `out`: as the result is, not contiguous, of too few elements, so that it is resized."""
    yield torch.full_like(result, 1)
    yield torch.ones((*result.size(), 2), dtype=result.dtype)[..., 0]
    yield torch.empty(0, dtype=result.dtype)


def samples_of(op, dtype, requires_grad):
    """Each sample, also with tensors that are not contiguous. All of index_add have an alpha that is not 1: it is left out, too."""
    for sample in op.sample_inputs("cpu", dtype, requires_grad=requires_grad):
        alphas = [sample.kwargs, {name: value for name, value in sample.kwargs.items() if name != "alpha"}]
        for kwargs in alphas if "alpha" in sample.kwargs else alphas[:1]:
            one = SampleInput(sample.input, args=sample.args, kwargs=kwargs)
            yield one
            yield one.noncontiguous()


def check_samples(op, dtype, failures, label):
    for number, sample in enumerate(samples_of(op, dtype, False)):
        what = f"{label} {dtype} sample {number}"
        given = (sample.input, sample.args, sample.kwargs)
        failures.check(what, outcomes.compare(lambda x, args, kwargs: op.op(x, *args, **kwargs), *given))
        if op.get_inplace():
            failures.check(what + " in place", outcomes.compare(lambda x, args, kwargs: op.get_inplace()(x, *args, **kwargs), *given))
        if op.supports_out:
            result = op.op(sample.input, *sample.args, **sample.kwargs)
            for out in outs_for(result):
                failures.check(f"{what} out of {list(out.size())}", outcomes.compare(lambda *all: call_out(op, (all[0], *all[1]), all[2], all[3]), *given, out, has_out=True))


def check_gradients(op, dtype, failures, label):
    def both(x, args, kwargs):
        return outcomes.gradients(lambda: op.op(x, *args, **kwargs), outcomes.tensors_in([x, args, kwargs]))

    def both_in_place(x, args, kwargs):
        return outcomes.gradients(lambda: op.get_inplace()(x.clone(), *args, **kwargs), outcomes.tensors_in([x, args, kwargs]))

    for number, sample in enumerate(samples_of(op, dtype, True)):
        given = (sample.input, sample.args, sample.kwargs)
        failures.check(f"{label} {dtype} gradients of sample {number}", outcomes.compare(both, *given))
        if op.get_inplace():
            failures.check(f"{label} {dtype} gradients in place of sample {number}", outcomes.compare(both_in_place, *given))


def check_errors(op, failures, label):
    if op.error_inputs_func is None:
        return
    for number, error in enumerate(op.error_inputs("cpu")):
        sample = error.sample_input
        given = (sample.input, sample.args, sample.kwargs)
        failures.check(f"{label} error {number}", outcomes.compare(lambda x, args, kwargs: op.op(x, *args, **kwargs), *given))


def begin():
    """The options of a test of PyTorch's samples, whose numbers come from the seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0, help="the seed of the samples' numbers (default: a fresh one)")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    seed = options.seed or outcomes.fresh_seed()
    print(f"--seed {seed} replays this")
    torch.manual_seed(seed)
    return options


def main():
    options, failures = begin(), outcomes.Failures()
    for op in op_db:
        if op.name not in OPERATORS or not re.search(options.only, op.name):
            continue
        label = f"{op.name} {op.variant_test_name}".strip()
        strew.torch.report(clear=True)
        for dtype in DTYPES:
            if dtype in op.dtypes:
                check_samples(op, dtype, failures, label)
            if dtype in op.dtypes and op.supports_autograd and (dtype.is_floating_point or dtype.is_complex):
                check_gradients(op, dtype, failures, label)
        check_errors(op, failures, label)
        for overload in OPERATORS.get(label, OPERATORS[op.name]):
            ran, handed_over = outcomes.calls_of(overload)
            print(f"{label}: strew ran {overload} {ran} times, and handed over {handed_over} calls")
            failures.require(f"{label}: strew ran {overload}", ran > 0)
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
