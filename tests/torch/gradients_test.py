#!/usr/bin/env python3
"""First and second derivatives of the operators that strew.torch replaces, in float64, against differences of the function's values (gradcheck, gradgradcheck), with PyTorch's own samples.

    gradients_test.py [--seed N] [--only REGEX]

Exit status 0: right, 1: wrong.
"""
import re
import sys

import outcomes
import op_db_test
import torch
from torch.autograd import gradcheck, gradgradcheck

import strew.torch


def check_sample(op, sample, failures, what):
    given = outcomes.tensors_in([sample.input, sample.args, sample.kwargs])
    wrt = [each for each in given if each.requires_grad]

    def function(*values):
        new = dict(zip(map(id, wrt), values, strict=True))

        def put(value):
            if isinstance(value, torch.Tensor):
                return new.get(id(value), value)
            if isinstance(value, (list, tuple)):
                return type(value)(map(put, value))
            return {key: put(each) for key, each in value.items()} if isinstance(value, dict) else value
        return op.op(put(sample.input), *put(sample.args), **put(sample.kwargs))

    for name, check in (("gradcheck", gradcheck), ("gradgradcheck", gradgradcheck)):
        if name == "gradgradcheck" and not op.supports_gradgrad:
            continue
        try:
            check(function, wrt, check_batched_grad=name == "gradcheck" and op.check_batched_grad)
            failures.check(what, [])
        except (RuntimeError, IndexError) as error:
            failures.check(what, [f"{name}: {error}"])


def main():
    options, failures = op_db_test.begin(), outcomes.Failures()
    with outcomes.enabled(True):
        for op in op_db_test.op_db:
            if op.name not in op_db_test.OPERATORS or not re.search(options.only, op.name) or not op.supports_autograd:
                continue
            strew.torch.report(clear=True)
            for number, sample in enumerate(op_db_test.samples_of(op, torch.float64, True)):
                check_sample(op, sample, failures, f"{op.name} {op.variant_test_name} sample {number}")
            ran = sum(counts["replaced"] for counts in strew.torch.report().values())
            print(f"{op.name} {op.variant_test_name}: strew ran {ran} calls")
            failures.require(f"{op.name}: strew ran some calls", ran > 0)
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
