#!/usr/bin/env python3
"""Splicing from Python: the text, what was replaced and what was not, and texts that are none. The calls themselves are tested by tests/jax."""
import pathlib
import unittest

from strew import _native

MODELS = pathlib.Path(__file__).resolve().parents[1] / "models/jax"


class Splice(unittest.TestCase):
    def test_a_call(self):
        text = (MODELS / "scatter_mul/model.mlir").read_text()
        spliced, calls, kept = _native.splice(text, fused=False, own_numerics=False, any_size=True)
        self.assertIn("%0 = stablehlo.custom_call @strew(%arg0, %arg1, %arg2) {api_version = 4 : i32", spliced)
        self.assertEqual(calls, [("main", "module:3: stablehlo.scatter", ["stablehlo.scatter"])])
        self.assertEqual(kept, [])

    def test_nothing_to_replace(self):
        text = "module {\n  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n    return %x : tensor<4xf32>\n  }\n}\n"
        self.assertEqual(_native.splice(text, True, True), (text, [], []))

    def test_kept(self):
        text = (MODELS / "scatter_mul/model.mlir").read_text().replace("num_partitions = 1", "num_partitions = 4")
        spliced, calls, kept = _native.splice(text, False, False)
        self.assertEqual(spliced, text)
        self.assertEqual(calls, [])
        self.assertEqual([(operation, location) for operation, location, _ in kept], [("module", "module")])
        self.assertIn("4 partitions", kept[0][2])

    def test_no_module(self):
        with self.assertRaisesRegex(ValueError, "^module:1: "):
            _native.splice("def f(x): return x", False, False)
        with self.assertRaises(TypeError):
            _native.splice(b"module {}", False, False)


if __name__ == "__main__":
    unittest.main()
