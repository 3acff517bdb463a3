#!/usr/bin/env python3
"""Every argument of every function, wrong in every way: an exception of the documented kinds that says something, and nothing is written. A value that turns
out to be right after all, such as an axis of -1, is let through."""
import inspect
import unittest
import warnings

import numpy as np

import strew


def rows():
    return np.arange(12, dtype=np.float32).reshape(4, 3)


# A call of each function that is right, by the names of its arguments.
CALLS = {
    **{name: {"a": rows, "indices": lambda: np.array([1, 3]), "b": lambda: np.ones((2, 3), np.float32), "mode": lambda: "raise"}
       for name in ("add_at", "sub_at", "mul_at", "max_at", "min_at", "put_rows")},
    "take": {"a": rows, "indices": lambda: np.array([1, 3]), "axis": lambda: 0, "out": lambda: np.zeros((2, 3), np.float32), "mode": lambda: "fill",
             "fill_value": lambda: 2.5},
    "put": {"a": rows, "ind": lambda: np.array([1, 3]), "v": lambda: np.array([5.0, 6.0], np.float32), "mode": lambda: "clip"},
    "take_along_axis": {"arr": rows, "indices": lambda: np.array([[1, 0, 2]]), "axis": lambda: 0, "mode": lambda: "raise", "fill_value": lambda: 0},
    "put_along_axis": {"arr": rows, "indices": lambda: np.array([[1, 0, 2]]), "values": lambda: np.float32(7), "axis": lambda: 0, "mode": lambda: "raise"},
    "gather": {"input": rows, "dim": lambda: 0, "index": lambda: np.array([[1, 0, 2]]), "out": lambda: np.zeros((1, 3), np.float32)},
    **{name: {"input": rows, "dim": lambda: 0, "index": lambda: np.array([[1, 0, 2]]), "src": lambda: np.ones((1, 3), np.float32), "out": rows}
       for name in ("scatter", "scatter_add", "scatter_mul", "scatter_max", "scatter_min")},
    "scatter_reduce": {"input": rows, "dim": lambda: 0, "index": lambda: np.array([[1, 0, 2]]), "src": lambda: np.ones((1, 3), np.float32),
                       "reduce": lambda: "mean", "include_self": lambda: False, "out": rows},
    "index_add": {"input": rows, "dim": lambda: 0, "index": lambda: np.array([1, 3]), "source": lambda: np.ones((2, 3), np.float32), "alpha": lambda: 2,
                  "out": rows},
    **{name: {"data": rows, "segment_ids": lambda: np.array([0, 0, 1, 1]), "num_segments": lambda: 2, "out": lambda: np.zeros((2, 3), np.float32)}
       for name in ("segment_sum", "segment_prod", "segment_mean")},
    **{name: {"data": rows, "segment_ids": lambda: np.array([0, 0, 1, 1]), "num_segments": lambda: 2, "return_arg": lambda: True,
              "out": lambda: np.zeros((2, 3), np.float32)} for name in ("segment_max", "segment_min")},
    "segment_reduce": {"data": rows, "reduce": lambda: "prod", "lengths": lambda: np.array([3, 0, 1]), "offsets": lambda: None, "axis": lambda: 0,
                       "initial": lambda: 0.5, "return_arg": lambda: False},
    "spmm": {"dst": lambda: np.array([1, 0, 1]), "src": lambda: np.array([3, 3, 0]), "table": rows, "weights": lambda: np.array([0.5, 1, 2], np.float32),
             "reduce": lambda: "max", "num_rows": lambda: 2, "return_arg": lambda: True, "out": lambda: np.zeros((2, 3), np.float32)},
    "sddmm": {"dst": lambda: np.array([1, 0, 1]), "src": lambda: np.array([3, 3, 0]), "lhs": rows, "rhs": rows, "out": lambda: np.zeros(3, np.float32)},
    "embedding_bag": {"input": lambda: np.array([3, 1, 1, 0]), "weight": rows, "offsets": lambda: np.array([0, 2, 4]), "mode": lambda: "sum",
                      "per_sample_weights": lambda: np.array([0.5, 1, 2, 3], np.float32), "include_last_offset": lambda: True, "padding_idx": lambda: 1,
                      "return_arg": lambda: False, "out": lambda: np.zeros((2, 3), np.float32)},
    "bincount": {"x": lambda: np.array([1, 3, 3]), "weights": lambda: np.array([0.5, 1, 2]), "minlength": lambda: 5},
    "histogram": {"a": lambda: np.array([0.5, 1.5]), "bins": lambda: 3, "range": lambda: (0, 2), "density": lambda: False, "weights": lambda: None},
    "csr": {"indices": lambda: np.array([1, 3, 3]), "num_segments": lambda: 4},
    "kv_append": {"cache": lambda: np.zeros((2, 2, 4, 3), np.float32), "positions": lambda: np.array([1, 2]),
                  "token": lambda: np.ones((2, 2, 1, 3), np.float32), "axis": lambda: -2, "mode": lambda: "raise"},
    "moe_permute": {"tokens": rows, "experts": lambda: np.array([[0], [1], [0], [1]]), "num_experts": lambda: 2},
    "moe_unpermute": {"permuted": rows, "rows": lambda: np.array([2, 0, 3, 1]), "k": lambda: 1, "weights": lambda: np.ones((4, 1), np.float32),
                      "out": lambda: np.zeros((4, 3), np.float32)},
}


class Broken:
    """What raises whatever it is asked for."""

    def __array__(self, *_, **__):
        raise ValueError("broken")

    def __index__(self):
        raise ValueError("broken")


def wrong():
    """New ones for every call, because some are written."""
    fixed = np.ones((4, 3), np.float32)
    fixed.flags.writeable = False
    return {
        "None": None, "text": "x", "bytes": b"x", "a float": 1.5, "NaN": float("nan"), "a complex": 1j, "True": True, "-1": -1, "a huge int": 10**30,
        "object()": object(), "a dict": {}, "an empty list": [], "a list of texts": ["x"], "a ragged list": [[1], [1, 2]], "a class": int,
        "a function": len, "an array of texts": np.array(["x", "y"]), "of objects": np.array([object(), None]), "of dates": np.array(["2020-01-01"], "M8[D]"),
        "of floats": np.array([0.5, 1.5]), "of many dims": np.zeros((1,) * 40), "of no elements": np.zeros((0, 3), np.float32), "0-d": np.array(2),
        "far indices": np.array([99, -99]), "big-endian": np.ones((4, 3), ">f4"), "read-only": fixed, "structured": np.zeros(3, [("a", "i4"), ("b", "f4")]),
        "of another shape": np.ones((5, 7), np.float32), "of bools": np.array([True, False, True, True]), "longdouble": np.ones(2, np.longdouble),
        "broken": Broken(), "a generator": (i for i in range(2)), "a slice": slice(None), "Ellipsis": ..., "a tuple": (1, 2, 3, 4, 5),
    }


KINDS = (TypeError, ValueError, IndexError, OverflowError, MemoryError, NotImplementedError)


class Wrong(unittest.TestCase):
    def test_the_table_has_every_function_and_argument(self):
        from strew import _functions

        self.assertEqual(set(CALLS), set(_functions.__all__))
        for name, arguments in CALLS.items():
            self.assertEqual(set(arguments), set(inspect.signature(getattr(strew, name)).parameters), name)

    def test_right(self):
        for name, arguments in CALLS.items():
            with self.subTest(name):
                getattr(strew, name)(**{each: make() for each, make in arguments.items()})

    def test_integers_are_not_floats(self):
        for name, arguments in CALLS.items():
            for argument in set(arguments) & {"axis", "dim", "k", "num_segments", "num_experts", "minlength", "bins", "num_rows", "padding_idx"}:
                values = {each: make() for each, make in arguments.items()}
                for wrong_type in (float, np.float64, str):
                    with self.subTest(function=name, argument=argument, type=wrong_type), self.assertRaises((TypeError, ValueError)):
                        getattr(strew, name)(**{**values, argument: wrong_type(values[argument])})

    def test_each_argument(self):
        tried = raised = 0
        for name, arguments in CALLS.items():
            for argument in arguments:
                for what in wrong():
                    with self.subTest(function=name, argument=argument, value=what):
                        values = {each: make() for each, make in arguments.items()}
                        values[argument] = wrong()[what]
                        before = {each: value.copy() for each, value in values.items() if isinstance(value, np.ndarray)}
                        tried += 1
                        try:
                            with warnings.catch_warnings():
                                warnings.simplefilter("ignore")
                                getattr(strew, name)(**values)
                        except KINDS as error:
                            raised += 1
                            self.assertTrue(str(error))
                            for each, old in before.items():
                                self.assertEqual(values[each].tobytes(), old.tobytes(), f"{each} was written before: {error}")
        print(f"{tried} calls, of which {raised} raised")
        self.assertGreater(raised, tried // 2)


if __name__ == "__main__":
    unittest.main()
