"""The models of tests/models that strew runs whole, all in one process (start/run_models.cc): the time of a run of each, and of all of them.

Results are those of the test (tests/models/run_models.py), which compares them; here only the times count.
"""
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/bin/run_models"


def line_of(path, folder):
    """What run_models reads of a case: its name, the model, and its inputs as files in `folder`."""
    case, name = json.loads(path.read_text()), f"{path.parent.parent.name}/{path.parent.name}"
    fields = [name, str(next(path.parent.glob("model.*")))]
    with np.load(path.parent / "tensors.npz") as stored:
        for number, each in enumerate(case["inputs"]):
            fields.append(str(folder / f"{name.replace('/', '.')}.{number}.npy"))
            np.save(fields[-1], stored[each["array"]])
    return "\t".join(fields)


def run(seconds, core):
    """({name: nanoseconds}, {name: why it did not run})."""
    whole = [path for path in sorted((ROOT / "tests/models").glob("*/*/case.json")) if json.loads(path.read_text()).get("whole")]
    with tempfile.TemporaryDirectory(prefix="strew_models_") as folder:
        lines = "\n".join(line_of(path, pathlib.Path(folder)) for path in whole) + "\n"
        environment = dict(os.environ, STREW_COMPILE="blocking")
        said = subprocess.run([PROGRAM, str(seconds)], input=lines, capture_output=True, text=True, check=True, env=environment,
                              preexec_fn=lambda: os.sched_setaffinity(0, {core})).stdout
    answers = [line.split("\t") for line in said.splitlines()]
    return {name: float(ns) for name, ns, *why in answers if not why}, {name: why[0] for name, _, *why in answers if why}
