"""Drops the values inside the models that strew runs whole, because nothing reads them, and marks these cases as whole.

    python3 tests/models/exporters/drop_values.py --strew build/bin/strew [PATTERN...]

A PATTERN is a glob over FRAMEWORK/NAME. Other cases stay as they are.
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, HERE)
import corpus
import run_models


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strew", required=True)
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    for framework, name, folder, case in run_models.cases(arguments.patterns):
        if case.get("whole") or run_models.run_whole(os.path.abspath(arguments.strew), folder, case, [])[0] != "right":
            continue
        with run_models.tensors_of(folder) as tensors:
            kept = {t["array"]: tensors[t["array"]] for t in [*case["inputs"], *case["outputs"]]}
            dropped = len(tensors.files) - len(kept)
        corpus.save(folder, kept)
        corpus.save_description(folder, {**{key: value for key, value in case.items() if key not in ("kernels", "values")}, "whole": True})
        print(f"{framework}/{name}: {dropped} values are dropped")


if __name__ == "__main__":
    main()
