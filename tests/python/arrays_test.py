#!/usr/bin/env python3
"""Arrays of every library: read and written without a copy, returned as their own kind, and refused with what is wrong and what to do."""
import array
import pathlib
import pickle
import unittest

import numpy as np

import strew
from strew import _native

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None
try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = None
try:
    import torch
except ImportError:
    torch = None

ROWS = np.array([2, 0, 2])


class NumPy(unittest.TestCase):
    def test_every_dtype(self):
        for name in _native.dtypes:
            if ml_dtypes is None and not hasattr(np, name):
                continue
            with self.subTest(name):
                dtype = np.dtype(getattr(ml_dtypes, name) if not hasattr(np, name) else name)
                table = np.arange(4).astype(np.uint8).astype(dtype) if dtype.kind == "V" else np.arange(4).astype(dtype)
                taken = strew.take(table, ROWS)
                self.assertEqual(taken.dtype, dtype)
                self.assertEqual(taken.tobytes(), table[ROWS].tobytes())
                other = np.zeros_like(table)
                strew.put_rows(other, ROWS, taken)
                self.assertEqual(other[[0, 2]].tobytes(), table[[0, 2]].tobytes())

    def test_views_are_written_in_place(self):
        whole = np.zeros((6, 8), np.float32)
        for view in (whole[::2, 1::3], whole.T, whole[::-1], whole[:, 3], whole[2:2], whole[..., None]):
            expected = view.copy()
            index = np.zeros(min(len(view), 1), int)
            np.add.at(expected, index, 1)
            strew.add_at(view, index, 1)
            np.testing.assert_array_equal(view, expected)

    def test_a_broadcast_array_is_read(self):
        strewn = np.zeros((3, 4))
        strew.add_at(strewn, ROWS, np.broadcast_to(np.arange(4.0), (3, 4)))
        np.testing.assert_array_equal(strewn[2], 2 * np.arange(4))

    def test_other_byte_orders_and_odd_addresses(self):
        big = np.zeros(3, ">f4")
        strew.add_at(big, ROWS, np.ones(3, ">f4"))
        np.testing.assert_array_equal(big, [1, 0, 2])
        odd = np.zeros(13, np.uint8)[1:].view(np.float32)
        strew.add_at(odd, ROWS, 1)
        np.testing.assert_array_equal(odd, [1, 0, 2])
        np.testing.assert_array_equal(strew.take(big, ROWS), big[ROWS])

    def test_a_field_of_records(self):
        records = np.zeros(4, [("a", np.int8), ("b", np.float32)])
        strew.add_at(records["b"], ROWS, 2)
        np.testing.assert_array_equal(records["b"], [2, 0, 4, 0])

    def test_read_only(self):
        table = np.zeros(3)
        table.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            strew.add_at(table, ROWS, 1)
        np.testing.assert_array_equal(strew.take(table, ROWS), np.zeros(3))

    def test_overlap(self):
        table = np.arange(8.0)
        expected = table.copy()
        np.add.at(expected, np.arange(4), table[2:6].copy())
        strew.add_at(table, np.arange(4), table[2:6])
        np.testing.assert_array_equal(table, expected)
        index = np.array([3, 2, 1, 0])
        strew.put_rows(index, index, [9, 9, 9, 9])
        np.testing.assert_array_equal(index, [9, 9, 9, 9])

    def test_what_strew_has_no_dtype_for(self):
        for dtype in (object, "U3", "M8[s]", np.longdouble, [("a", int)]):
            with self.subTest(dtype), self.assertRaises(TypeError):
                strew.take(np.zeros(3, dtype), ROWS)

    @unittest.skipIf(ml_dtypes is None, "needs ml_dtypes")
    def test_four_bits_are_refused(self):
        with self.assertRaisesRegex(TypeError, "int4"):
            strew.take(np.zeros(3, ml_dtypes.int4), ROWS)

    def test_memory_without_numpy(self):
        table = array.array("d", [0, 0, 0])
        taken = strew.take(memoryview(table), ROWS)
        np.testing.assert_array_equal(taken, np.zeros(3))

    def test_subclasses_and_masked(self):
        class Mine(np.ndarray):
            pass

        mine = np.zeros(3).view(Mine)
        strew.add_at(mine, ROWS, 1)
        np.testing.assert_array_equal(np.asarray(mine), [1, 0, 2])

    def test_an_axis_is_an_integer(self):
        table, index = np.arange(6).reshape(2, 3), np.array([[1, 0, 1]])
        for axis in (1, np.int64(1), True):  # the first makes what answers fast
            np.testing.assert_array_equal(strew.take(table, index[0], axis), table[:, index[0]])
            np.testing.assert_array_equal(strew.take_along_axis(table, index % 2, axis), np.take_along_axis(table, index % 2, int(axis)))
        for axis in (1.0, np.float64(1), "1"):
            with self.subTest(axis=axis):
                self.assertRaises(TypeError, strew.take, table, index[0], axis)
                self.assertRaises(TypeError, strew.take_along_axis, table, index, axis)
                self.assertRaises(TypeError, strew.put_along_axis, table.copy(), index, 0, axis)

    def test_no_reference_is_kept(self):
        import sys

        table, rows, updates = np.zeros((3, 2)), ROWS.copy(), np.ones((3, 2))
        before = [sys.getrefcount(each) for each in (table, rows, updates)]
        for _ in range(1000):
            strew.add_at(table, rows, updates)
            strew.take(table, rows, 0)
            for bad in (rows + 9, rows.astype(float)):
                with self.assertRaises(IndexError):
                    strew.add_at(table, bad, updates)
        self.assertEqual(before, [sys.getrefcount(each) for each in (table, rows, updates)])


class Tables(unittest.TestCase):
    """Rows of a table that are reduced in one pass, on arrays large enough for threads to share the work."""

    def setUp(self):
        random = np.random.default_rng(3)
        self.table = random.normal(size=(300, 40)).astype(np.float32)
        self.dst, self.src = random.integers(0, 200, 20000), random.integers(0, 300, 20000).astype(np.int32)
        self.weights = random.normal(size=20000).astype(np.float32)

    def on_threads(self, function):
        """What the function returns, as bytes: on 1 and 2 threads, by the portable kernel and by the compiled one, which is there at some time."""
        results = set()
        for threads in (1, 2):
            with strew.threads(threads):
                results.add(function().tobytes())
                strew.drain()
                results.add(function().tobytes())
        return results

    def test_sums(self):
        for dst in (self.dst, np.sort(self.dst)):
            expected = np.zeros((200, 40), np.float32)
            np.add.at(expected, dst, self.table[self.src] * self.weights[:, None])
            self.assertEqual(self.on_threads(lambda dst=dst: strew.spmm(dst, self.src, self.table, self.weights)), {expected.tobytes()})

    def test_narrow_sums_are_rounded_once(self):
        for dtype in (np.float16,) if ml_dtypes is None else (np.float16, ml_dtypes.bfloat16):
            table, sums = self.table.astype(dtype), np.zeros((200, 40), np.float32)
            np.add.at(sums, self.dst, table[self.src].astype(np.float32))
            counts = np.maximum(np.bincount(self.dst, minlength=200), 1).astype(np.float32)[:, None]
            self.assertEqual(self.on_threads(lambda: strew.spmm(self.dst, self.src, table)), {sums.astype(dtype).tobytes()})
            self.assertEqual(self.on_threads(lambda: strew.spmm(self.dst, self.src, table, reduce="mean")), {(sums / counts).astype(dtype).tobytes()})

    def test_bags(self):
        expected = np.zeros((100, 40), np.float32)
        np.add.at(expected, np.repeat(np.arange(100), 200), self.table[self.src])
        bags = self.src.reshape(100, 200)
        self.assertEqual(self.on_threads(lambda: strew.embedding_bag(bags, self.table)), {(expected / np.float32(200)).tobytes()})
        offsets = np.arange(0, 20001, 200)
        sums = self.on_threads(lambda: strew.embedding_bag(self.src, self.table, offsets, mode="sum", include_last_offset=True))
        self.assertEqual(sums, {expected.tobytes()})
        kept = self.src != 7
        expected[...] = 0
        np.add.at(expected, np.repeat(np.arange(100), 200)[kept], self.table[self.src][kept])
        self.assertEqual(self.on_threads(lambda: strew.embedding_bag(bags, self.table, mode="sum", padding_idx=7)), {expected.tobytes()})

    def test_the_gradient_of_weights(self):
        gradient = np.float32(1) / (1 + np.arange(200 * 40, dtype=np.float32).reshape(200, 40))
        products = gradient[self.dst] * self.table[self.src]
        lanes = np.zeros((len(self.dst), 8), np.float32)
        for column in range(40):
            lanes[:, column % 8] += products[:, column]
        pairs = lanes[:, 0::2] + lanes[:, 1::2]
        expected = (pairs[:, 0] + pairs[:, 1]) + (pairs[:, 2] + pairs[:, 3])
        self.assertEqual(self.on_threads(lambda: strew.sddmm(self.dst, self.src, gradient, self.table)), {expected.tobytes()})

    def test_an_out_that_is_the_table(self):
        table, dst, src = self.table[:3].copy(), [0, 1, 2, 2], [2, 0, 0, 1]
        expected = strew.spmm(dst, src, table)
        self.assertIs(strew.spmm(dst, src, table, out=table), table)
        np.testing.assert_array_equal(table, expected)


@unittest.skipIf(jax is None, "needs jax")
class Jax(unittest.TestCase):
    def test_results_are_jax_arrays(self):
        for dtype in (jnp.float32, jnp.bfloat16, jnp.int32):
            table = jnp.arange(12).reshape(3, 4).astype(dtype)
            taken = strew.take(table, jnp.array([2, 0]), 0)
            self.assertIsInstance(taken, jax.Array)
            self.assertEqual(taken.dtype, dtype)
            self.assertTrue((taken == jnp.take(table, jnp.array([2, 0]), 0)).all())

    def test_segments(self):
        data, ids = jnp.arange(8.0).reshape(4, 2), jnp.array([0, 2, 2, 7])
        self.assertTrue((strew.segment_sum(data, ids, 3) == jax.ops.segment_sum(data, ids, 3)).all())
        counts = jax.ops.segment_sum(jnp.ones(4), ids, 3)[:, None]
        for dtype in (jnp.float32, jnp.bfloat16):
            mean = strew.segment_mean(data.astype(dtype), ids, 3)
            self.assertIsInstance(mean, jax.Array)
            self.assertEqual(mean.dtype, dtype)
            self.assertTrue((mean == (jax.ops.segment_sum(data, ids, 3) / jnp.maximum(counts, 1)).astype(dtype)).all())
        self.assertTrue((strew.segment_reduce(data, "max", lengths=jnp.array([3, 1])) == jax.ops.segment_max(data, jnp.array([0, 0, 0, 1]))).all())

    def test_the_gradient_of_a_maximum_goes_where_its_arg_says(self):
        """As jax.grad where no two rows are equal: of equal rows JAX splits the gradient, and strew gives it to the first."""
        made = np.random.default_rng(7)
        data = made.permutation(40 * 5).reshape(40, 5).astype(np.float32)
        ids, gradient = made.integers(0, 9, 40), made.standard_normal((9, 5)).astype(np.float32)
        for function, of_jax in ((strew.segment_max, jax.ops.segment_max), (strew.segment_min, jax.ops.segment_min)):
            values, arg = function(jnp.asarray(data), jnp.asarray(ids), 9, return_arg=True)
            self.assertIsInstance(arg, jax.Array)
            with np.errstate(all="ignore"):
                expected = jax.grad(lambda x: (jnp.where(jnp.isfinite(of_jax(x, ids, 9)), of_jax(x, ids, 9), 0) * gradient).sum())(jnp.asarray(data))
            arg = np.asarray(arg)
            result = strew.scatter_add(np.zeros_like(data), 0, np.maximum(arg, 0), np.where(arg < 0, 0, gradient))
            np.testing.assert_array_equal(result, np.asarray(expected))
            by_numpy = np.zeros_like(data)
            segments, columns = np.nonzero(arg >= 0)
            by_numpy[arg[segments, columns], columns] = gradient[segments, columns]
            np.testing.assert_array_equal(result, by_numpy)
            np.testing.assert_array_equal(np.asarray(values)[segments, columns], data[arg[segments, columns], columns])

    def test_rows_of_a_table(self):
        table, dst, src = jnp.arange(8.0).reshape(4, 2), jnp.array([2, 0, 2]), jnp.array([1, 3, 0])
        weights = jnp.array([0.5, 1.0, 2.0])
        for dtype in (jnp.float32, jnp.bfloat16, jnp.float16):
            result = strew.spmm(dst, src, table.astype(dtype), weights.astype(dtype))
            self.assertIsInstance(result, jax.Array)
            self.assertEqual(result.dtype, dtype)
            self.assertTrue((result == jax.ops.segment_sum(table[src] * weights[:, None], dst, 3).astype(dtype)).all())
        bags = strew.embedding_bag(src[:, None], table)
        self.assertIsInstance(bags, jax.Array)
        self.assertTrue((bags == table[src]).all())
        gradient = jnp.arange(6.0).reshape(3, 2)
        backward = jax.grad(lambda weights: (jax.ops.segment_sum(table[src] * weights[:, None], dst, 3) * gradient).sum())(weights)
        dots = strew.sddmm(dst, src, gradient, table)
        self.assertIsInstance(dots, jax.Array)
        self.assertTrue((dots == backward).all())

    def test_it_is_never_written(self):
        table = jnp.zeros(3)
        for write in (lambda: strew.add_at(table, [0], 1), lambda: strew.put(table, [0], 1), lambda: strew.take(table, [0], out=table)):
            with self.assertRaisesRegex(ValueError, "jax array"):
                write()
        self.assertEqual(table.sum(), 0)


@unittest.skipIf(torch is None, "needs torch")
class Torch(unittest.TestCase):
    def test_results_are_tensors(self):
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.float8_e5m2):
            table = torch.arange(12).reshape(3, 4).to(torch.float32).to(dtype)
            taken = strew.take(table, torch.tensor([2, 0]), 0)
            self.assertIsInstance(taken, torch.Tensor)
            self.assertEqual(taken.dtype, dtype)
            self.assertTrue(torch.equal(taken.float(), table[[2, 0]].float()))

    def test_results_of_every_dtype_and_shape(self):
        for dtype in (torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64):
            for shape, axis, rows in (((3, 2), 0, [2, 0]), ((3,), 0, [1]), ((3, 0), 0, [1]), ((3, 2), 1, []), ((3,), 0, 2)):
                with self.subTest(dtype=dtype, shape=shape):
                    table, index = torch.ones(shape).to(dtype), torch.tensor(rows, dtype=torch.int64)
                    result = strew.take(table, index, axis)
                    expected = torch.from_numpy(np.asarray(np.take(np.ones(shape), index.numpy(), axis))).to(dtype)
                    self.assertEqual((result.dtype, result.shape, result.is_contiguous()), (dtype, expected.shape, True))
                    self.assertTrue(torch.equal(result, expected))
                    self.assertFalse(result.requires_grad)

    def test_the_memory_of_results_is_freed(self):
        table, index = torch.zeros(1000, 250), torch.arange(1000)

        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

        for _ in range(50):
            kept = strew.take(table, index, 0)
        before = resident()
        for _ in range(2000):
            strew.take(table, index, 0)
        self.assertLess(resident() - before, 100 << 20, "of 2 GB")
        kept.add_(1)
        self.assertTrue((kept == 1).all())

    def test_autograd_notices(self):
        weight = torch.ones(3, requires_grad=True)
        table = torch.ones(3)
        product = (weight * table).sum()
        strew.add_at(table, torch.tensor([0]), torch.ones(1))
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            product.backward()

    def test_a_leaf_is_not_written(self):
        leaf = torch.zeros(3, requires_grad=True)
        with self.assertRaisesRegex(ValueError, "requires grad"):
            strew.add_at(leaf, torch.tensor([0]), torch.ones(1))
        strew.add_at(leaf.detach(), torch.tensor([0]), torch.ones(1))
        self.assertEqual(leaf[0].item(), 1)

    def test_without_memory(self):
        with self.assertRaises((ValueError, NotImplementedError)):
            strew.take(torch.zeros(3, device="meta"), torch.tensor([0]))

    def test_rows_of_a_table(self):
        torch.manual_seed(1)
        weight, numbers = torch.randn(9, 5), torch.randint(0, 9, (4, 3))
        for mode in ("sum", "mean", "max"):
            for named in ({}, {"padding_idx": 2}, {"padding_idx": -1}):
                with self.subTest(mode=mode, **named):
                    result = strew.embedding_bag(numbers, weight, mode=mode, **named)
                    self.assertIsInstance(result, torch.Tensor)
                    torch.testing.assert_close(result, torch.nn.functional.embedding_bag(numbers, weight, mode=mode, **named))
        for offsets, has_end in ((torch.tensor([0, 5, 5]), False), (torch.tensor([0, 5, 5, 12]), True)):
            expected = torch.nn.functional.embedding_bag(numbers.ravel(), weight, offsets, include_last_offset=has_end)
            torch.testing.assert_close(strew.embedding_bag(numbers.ravel(), weight, offsets, include_last_offset=has_end), expected)
        factors = torch.randn(4, 3)
        expected = torch.nn.functional.embedding_bag(numbers, weight, mode="sum", per_sample_weights=factors)
        torch.testing.assert_close(strew.embedding_bag(numbers, weight, mode="sum", per_sample_weights=factors), expected)

    def test_segments(self):
        data = torch.arange(12.0).reshape(4, 3)
        for reduce in ("sum", "mean", "max", "min", "prod"):
            for named in ({}, {"initial": 2}):
                expected = torch.segment_reduce(data, reduce, lengths=torch.tensor([3, 0, 1]), **named)
                result = strew.segment_reduce(data, reduce, lengths=torch.tensor([3, 0, 1]), **named)
                with self.subTest(reduce=reduce, **named):
                    self.assertIsInstance(result, torch.Tensor)
                    torch.testing.assert_close(result, expected, equal_nan=True)

    def test_scatter_reduce(self):
        input, index, src = torch.tensor([10.0, 20.0, 30.0, 7.0]), torch.tensor([0, 0, 2, 3, 3]), torch.tensor([1.0, 4.0, 6.0, 2.0, -3.0])
        for dtype in (torch.float32, torch.bfloat16, torch.int32):
            for reduce in ("sum", "prod", "mean", "amax", "amin"):
                for include_self in (True, False):
                    with self.subTest(dtype=dtype, reduce=reduce, include_self=include_self):
                        given = input.to(dtype), 0, index, src.to(dtype), reduce
                        result = strew.scatter_reduce(*given, include_self=include_self)
                        self.assertIsInstance(result, torch.Tensor)
                        torch.testing.assert_close(result, given[0].scatter_reduce(*given[1:], include_self=include_self))

    def test_views(self):
        table = torch.zeros(4, 6)
        strew.add_at(table.T, torch.tensor([0, 5, 5]), torch.ones(3, 4))
        self.assertEqual(table.sum(0).tolist(), [4, 0, 0, 0, 0, 8])


class Errors(unittest.TestCase):
    def test_where_the_bad_index_is(self):
        table = np.zeros((4, 2))
        with self.assertRaises(strew.OutOfBoundsError) as raised:
            strew.add_at(table, np.array([0, 1, -7]), np.ones((3, 2)))
        error = raised.exception
        self.assertEqual((error.position, error.component, error.value, error.bound, error.source), (2, 0, -7, 3, 1))
        self.assertIsInstance(error, IndexError)
        np.testing.assert_array_equal(table, 0)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.value, again.source), (str(error), -7, 1))

    def test_which_argument_has_the_bad_index(self):
        table, out = np.zeros((4, 2)), np.ones((3, 2))
        for message, call in {
            "dst[1]: 3, expected 0 to 2": lambda: strew.spmm([0, 3], [0, 1], table, num_rows=3, out=out),
            "dst[1]: -1, expected 0 to 0": lambda: strew.spmm([0, -1], [0, 9], table),
            "src[1]: 4, expected 0 to 3": lambda: strew.spmm([0, 2], [0, 4], table, [1, 2], out=out),
            "src[0]: -2, expected 0 to 3": lambda: strew.spmm([0, 2], [-2, 4], table, reduce="mean", out=out),
            f"src[0]: {2**64 - 1}, expected 0 to 3": lambda: strew.spmm([0], np.array([2**64 - 1], np.uint64), table),
            "src[0]: 0, expected none: there are no rows": lambda: strew.spmm([0], [0], table[:0]),
            "dst[1, 0]: 4, expected 0 to 3": lambda: strew.sddmm([[0], [4], [1]], [[0], [9], [1]], table, table, out=np.ones((3, 1))),
            "src[2]: -1, expected 0 to 3": lambda: strew.sddmm([0, 3, 1], [0, 1, -1], table, table, out=out[:, 0]),
            "input[1, 0]: 4, expected 0 to 3": lambda: strew.embedding_bag([[0, 1], [4, 0], [1, 1]], table, out=out),
            "input[2]: -1, expected 0 to 3": lambda: strew.embedding_bag([0, 1, -1], table, [0, 1, 2], padding_idx=1, out=out),
        }.items():
            with self.subTest(message):
                with self.assertRaises(strew.OutOfBoundsError) as raised:
                    call()
                self.assertEqual(str(raised.exception), message)
        np.testing.assert_array_equal(out, 1)

    def test_messages_name_the_argument(self):
        table = np.zeros((4, 2))
        for message, call in {
            "mode: 'up'": lambda: strew.add_at(table, [0], 1, mode="up"),
            "updates: shape": lambda: strew.add_at(table, [0, 1], np.ones(3)),
            "indices: elements of float64": lambda: strew.add_at(table, [0.5], 1),
            "indices: too many": lambda: strew.add_at(table, (0, 0, 0), 1),
            "boolean mask": lambda: strew.add_at(table, np.ones(3, bool), 1),
            "expected float64": lambda: strew.take(table, [0], 0, out=np.zeros((1, 2), np.float32)),
            "axis 5": lambda: strew.take(table, [0], 5),
            "indices: 1 dims": lambda: strew.take_along_axis(table, np.zeros(2, int), 0),
            "expected at least that of index": lambda: strew.scatter(table, 0, np.zeros((2, 2), int), np.ones((1, 2))),
            "num_segments: -1": lambda: strew.segment_sum(table, [0, 1, 2, 3], -1),
            "segment_ids: shape": lambda: strew.segment_sum(table, [0, 1]),
            "num_segments: -2": lambda: strew.segment_mean(table, [0, 1, 2, 3], -2),
            "reduce: 'amax'": lambda: strew.segment_reduce(table, "amax", lengths=[4]),
            "lengths and offsets: none": lambda: strew.segment_reduce(table, "sum"),
            "lengths and offsets: both": lambda: strew.segment_reduce(table, "sum", lengths=[4], offsets=[0, 4]),
            r"lengths: shape \[1\], expected \[4\] and one dim more": lambda: strew.segment_reduce(table, "sum", lengths=[2], axis=1),
            r"lengths\[1\]: -1, expected 0 to 4": lambda: strew.segment_reduce(table, "sum", lengths=[4, -1, 1]),
            r"lengths\[1\]: 5, expected 0 to 4": lambda: strew.segment_reduce(table, "sum", lengths=[0, 5]),
            "lengths: 3 rows in all, expected 4": lambda: strew.segment_reduce(table, "sum", lengths=[1, 2]),
            "lengths: 1 rows in all, expected 2": lambda: strew.segment_reduce(table, "sum", lengths=[[2], [1], [2], [2]], axis=1),
            "offsets: no elements": lambda: strew.segment_reduce(table, "sum", offsets=[]),
            r"offsets\[0\]: 1, expected 0": lambda: strew.segment_reduce(table, "sum", offsets=[1, 4]),
            r"offsets\[2\]: 1, expected at least the one before": lambda: strew.segment_reduce(table, "sum", offsets=[0, 2, 1, 4]),
            r"offsets\[1\]: 3, expected 4": lambda: strew.segment_reduce(table, "sum", offsets=[0, 3]),
            r"offsets\[1, 1\]: 3, expected 0 to 2": lambda: strew.segment_reduce(table, "sum", offsets=[[0, 2], [0, 3], [0, 2], [0, 2]], axis=1),
            "return_arg: given with reduce 'sum', expected reduce 'max' or 'min'": lambda: strew.segment_reduce(table, "sum", lengths=[4], return_arg=True),
            "return_arg: given with reduce 'mean'": lambda: strew.spmm([0], [0], table, reduce="mean", return_arg=True),
            "return_arg: given with mode 'mean', expected mode 'max'": lambda: strew.embedding_bag([[0]], table, return_arg=True),
            "reduce: 'max', expected one of 'sum', 'prod', 'mean', 'amax', 'amin'": lambda: strew.scatter_reduce(table, 0, [[0, 1]], [[1, 2]], "max"),
            "index: 1 dims, expected the 2 of input": lambda: strew.scatter_reduce(table, 0, [0], [1], "sum", include_self=False),
            r"src: shape \[1\], expected at least that of index": lambda: strew.scatter_reduce(table[0], 0, [0, 1], [1.0], "mean", out=table[0]),
            "initial: 'a', expected a number": lambda: strew.segment_reduce(table, "sum", lengths=[4], initial="a"),
            "initial: 0.5, expected a number that int64 has": lambda: strew.segment_reduce([1, 2], "sum", lengths=[2], initial=0.5),
            r"initial: shape \[1\]": lambda: strew.segment_reduce(table, "sum", lengths=[4], initial=[1]),
            "reduce: 'prod'": lambda: strew.spmm([0], [0], table, reduce="prod"),
            "dst: 2 dims": lambda: strew.spmm([[0]], [0], table),
            "src: 2 elements, expected one per element of dst, 1": lambda: strew.spmm([0], [0, 1], table),
            "table: 0 dims": lambda: strew.spmm([0], [0], 1.5),
            r"weights: shape \[2\], expected that of dst, \[1\]": lambda: strew.spmm([0], [0], table, [1, 2]),
            "weights: elements of float64, expected int64": lambda: strew.spmm([0], [0], [[1]], [0.5]),
            "num_rows: -1": lambda: strew.spmm([0], [0], table, num_rows=-1),
            r"out: float64\[1, 2\], expected float64\[2, 2\]": lambda: strew.spmm([0, 1], [0, 0], table, out=table[:1]),
            "lhs: 0 dims": lambda: strew.sddmm([0], [0], 1.5, table),
            "lhs: elements of complex128": lambda: strew.sddmm([0], [0], table.astype(complex), table),
            r"rhs: rows of shape \[1\], expected those of lhs, \[2\]": lambda: strew.sddmm([0], [0], table, table[:, :1]),
            "rhs: elements of complex128, expected float32": lambda: strew.sddmm([0], [0], table.astype(np.float32), table.astype(complex)),
            r"src: shape \[2\], expected that of dst, \[1\]": lambda: strew.sddmm([0], [0, 1], table, table),
            r"out: float64\[2\], expected float64\[1\]": lambda: strew.sddmm([0], [0], table, table, out=np.ones(2)),
            "mode: 'min'": lambda: strew.embedding_bag([[0]], table, mode="min"),
            "input: 3 dims": lambda: strew.embedding_bag([[[0]]], table),
            "offsets: None": lambda: strew.embedding_bag([0], table),
            "offsets: given": lambda: strew.embedding_bag([[0]], table, [0]),
            "offsets: no elements, expected where each segment begins$": lambda: strew.embedding_bag([0], table, []),
            r"offsets\[1\]: 3, expected 0 to 2": lambda: strew.embedding_bag([0, 1], table, [0, 3]),
            r"offsets\[1\]: 1, expected 2": lambda: strew.embedding_bag([0, 1], table, [0, 1], include_last_offset=True),
            "per_sample_weights: given with mode 'mean'": lambda: strew.embedding_bag([[0]], table, per_sample_weights=[[1]]),
            r"per_sample_weights: shape \[1\], expected that of input, \[1, 1\]": lambda: strew.embedding_bag([[0]], table, mode="sum", per_sample_weights=[1]),
            "padding_idx: 4, expected -4 to 3": lambda: strew.embedding_bag([[0]], table, padding_idx=4),
            "minlength: -2": lambda: strew.bincount([1], minlength=-2),
            "x: -1": lambda: strew.bincount([3, -1]),
            "weights: shape": lambda: strew.bincount([3, 1], [1.0]),
            "token: 1 arrays": lambda: strew.kv_append([table, table], [0], [table]),
            "mode: 'clip'": lambda: strew.kv_append(np.zeros((1, 2, 3)), [0], np.zeros((1, 1, 3)), mode="clip"),
            "k: 2": lambda: strew.moe_unpermute(np.zeros((3, 2)), [0, 1, 2], 2),
            "experts: from 0 to 5": lambda: strew.moe_permute(table, [0, 1, 5, 2], 3),
        }.items():
            with self.subTest(message), self.assertRaisesRegex((ValueError, IndexError, TypeError), message.replace("'", "."[0:1])):
                call()
        np.testing.assert_array_equal(table, 0)


if __name__ == "__main__":
    unittest.main()
