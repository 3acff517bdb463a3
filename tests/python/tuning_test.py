#!/usr/bin/env python3
"""Texts about ops, tuning and kernel libraries: what they return, what they refuse, and that Ctrl-C or an exception in between keeps files whole."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import strew
from strew import _native

OP = (
    "strew1.scatter(operand=f32[1000,64] indices=i64[500] updates=f32[500,64] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)"
)
ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/kv_cache/decode.onnx"


def tune_for(seconds_to_try, **arguments):
    """Tunes with the first budget that is enough to measure something: a busy machine needs more."""
    for seconds in seconds_to_try:
        try:
            return strew.tune(OP, seconds=seconds, **arguments)
        except NotImplementedError as error:
            last = error
    raise last


class Texts(unittest.TestCase):
    def test_explain(self):
        text = strew.explain(OP)
        self.assertIn("schedule", text)
        self.assertEqual(text, strew.explain(strew.kernel(OP)))
        self.assertIn("kv_decode", strew.explain(MODEL))
        self.assertEqual(strew.explain(MODEL), strew.explain(strew.open(MODEL)))
        with self.assertRaisesRegex(ValueError, "no 'nothing', expected one of"):
            strew.explain(MODEL, kernel="nothing")
        with self.assertRaises(ValueError):
            strew.explain(OP, backend="gpu")

    def test_a_kernel_says_what_it_is(self):
        kernel = strew.kernel(OP, backend="llvm", compile="blocking")
        self.assertEqual((kernel.backend, kernel.is_stand_in), ("llvm", False))
        self.assertIn("strategy", kernel.schedule)
        self.assertTrue(kernel.symbol and kernel.target and kernel.plan)


class Tuning(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.wisdom = os.path.join(self.folder.name, "wisdom")

    def test_what_is_found_is_used(self):
        result = tune_for((0.3, 3, 30), threads=1, wisdom_file=self.wisdom)
        self.assertTrue(result.text and result.report)
        self.assertIn("<iframe", result._repr_html_())
        self.assertGreater(os.path.getsize(self.wisdom), 0)
        self.assertTrue(strew.kernel(OP, wisdom=self.wisdom, threads=1).schedule)

    def test_refusals(self):
        for message, call in {
            "mode": lambda: strew.tune(OP, mode="fast"),
            "threads": lambda: strew.tune(OP, threads=-1),
            "nothing": lambda: strew.tune(MODEL, kernel="nothing"),
            "expected scatter or gather": lambda: strew.tune("strew1.nothing()"),
        }.items():
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                call()
        with self.assertRaises(OSError):
            strew.tune("/nonexistent.onnx")
        with self.assertRaises(OSError):
            strew.kernel(OP, wisdom="/nonexistent")

    def test_an_exception_of_the_callback_ends_it(self):
        def stop(*_):
            raise RuntimeError("enough")

        how = {"seconds": 30.0, "threads": 1, "mode": None, "dims": None, "indices": None, "temperature": None, "wisdom_file": self.wisdom, "seed": 1}
        started = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "enough"):
            _native.tune_op(OP, how, stop)
        self.assertLess(time.monotonic() - started, 20)

    def test_interrupt_keeps_wisdom_whole(self):
        program = textwrap.dedent(f"""
            import strew
            print("begun", flush=True)
            try:
                strew.tune({OP!r}, seconds=60, threads=1, wisdom_file={self.wisdom!r}, mode="exhaustive")
            except KeyboardInterrupt:
                print("interrupted")
        """)
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "begun\n")
        for _ in range(200):
            time.sleep(0.1)
            if os.path.exists(self.wisdom) and os.path.getsize(self.wisdom):
                break
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=60)[0], "interrupted\n")
        with open(self.wisdom) as file:
            text = file.read()
        self.assertTrue(text == "" or text.endswith("\n"))
        strew.kernel(OP, wisdom=self.wisdom)

    def test_progress_is_shown_where_it_is_wanted(self):
        line = "from tuning_test import tune_for; tune_for((0.5, 4, 30), threads=1, wisdom_file='off', progress={})"
        for wanted, shown in ((True, True), (None, False)):
            result = subprocess.run([sys.executable, "-c", line.format(wanted)], capture_output=True, text=True, check=True)
            self.assertEqual("tune [" in result.stderr, shown, result.stderr)


class Libraries(unittest.TestCase):
    def test_build(self):
        with tempfile.TemporaryDirectory() as folder:
            manifest = pathlib.Path(folder, "library.json")
            manifest.write_text(json.dumps({"library": "rows", "kernels": [{"name": "add_rows", "op": OP}]}))
            report = strew.library(manifest, os.path.join(folder, "out"))
            self.assertTrue(report)
            self.assertTrue(any(each.suffix == ".a" for each in pathlib.Path(folder, "out").iterdir()))
            with self.assertRaises(ValueError):
                strew.library(manifest, os.path.join(folder, "other"), targets=["no-such-cpu"])
            self.assertFalse(os.path.exists(os.path.join(folder, "other")))
        with self.assertRaises(OSError):
            strew.library("/nonexistent.json", "/tmp/nothing")


if __name__ == "__main__":
    unittest.main()
