#!/usr/bin/env python3
"""Every example in a docstring does what it says, and every public name has a docstring with an example or is a class or a module."""
import doctest
import inspect
import sys

import numpy as np

import strew


def main():
    failed = 0
    for module in (strew._functions, strew._kernels, strew._tuning):
        result = doctest.testmod(module, extraglobs={"strew": strew, "np": np})
        failed += result.failed
        if result.attempted == 0:
            failed += 1
            print(f"{module.__name__}: no examples")
    for name in strew.__all__:
        if not inspect.getdoc(getattr(strew, name)):
            failed += 1
            print(f"strew.{name}: no docstring")
    print(f"doctest_test: {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
