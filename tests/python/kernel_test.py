#!/usr/bin/env python3
"""Kernels, programs, threads and the process: calls, names, pickling, 16 threads, fork, spawn, and that nothing leaks."""
import gc
import multiprocessing
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import strew

APPEND = (
    "strew1.scatter(operand=f32[?,4] indices=i64[?] updates=f32[?,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)"
)
ROWS = (
    "strew1.gather(operand=f32[?,4] indices=i64[?] result=f32[?,4] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
    "index_vector_dim=1 slice_sizes=[1,4] oob=error)"
)
ROOT = pathlib.Path(__file__).resolve().parents[2]


def add_in_child(seed):
    table = np.zeros((8, 4), np.float32)
    rows = np.random.default_rng(seed).integers(0, 8, 100)
    strew.add_at(table, rows, np.ones((100, 4), np.float32))
    return table.sum()


def run_kernel(kernel):
    return kernel(np.arange(8, dtype=np.float32).reshape(2, 4), np.array([1]))


def model_for_hosts():
    """An ONNX file: picked = Gather(table, rows); product = MatMul(picked, picked); sum = x * picked + product."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    def field(number, value):
        if isinstance(value, int):
            return varint(number << 3) + varint(value)
        value = value.encode() if isinstance(value, str) else value
        return varint(number << 3 | 2) + varint(len(value)) + value

    def node(kind, inputs, output):
        return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, kind))

    def value(name, number, dims, element=1):
        shape = b"".join(field(1, field(1, extent)) for extent in dims)
        return field(number, field(1, name) + field(2, field(1, field(1, element) + field(2, shape))))

    graph = node("Gather", ["table", "rows"], "picked") + node("MatMul", ["picked", "picked"], "product")
    graph += node("Mul", ["x", "picked"], "scaled") + node("Add", ["scaled", "product"], "sum") + field(2, "graph")
    graph += value("x", 11, (2, 2)) + value("table", 11, (4, 2)) + value("rows", 11, (2,), 7)
    graph += value("sum", 12, (2, 2)) + value("product", 13, (2, 2))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 14))


class Kernels(unittest.TestCase):
    def test_results_are_made_or_given(self):
        kernel = strew.kernel(ROWS)
        table = np.arange(12, dtype=np.float32).reshape(3, 4)
        rows = np.array([2, 0])
        np.testing.assert_array_equal(kernel(table, rows), table[rows])
        out = np.empty((2, 4), np.float32)
        self.assertIs(kernel(indices=rows, operand=table, out=out), out)
        np.testing.assert_array_equal(out, table[rows])

    def test_in_place(self):
        kernel = strew.kernel(APPEND, backend="llvm", threads=1)
        self.assertEqual((kernel.inputs, kernel.threads), (("indices", "updates"), 1))
        table = np.zeros((3, 4), np.float32)
        kernel(np.array([1, 1]), np.ones((2, 4), np.float32), out=table)
        np.testing.assert_array_equal(table[:, 0], [0, 2, 0])

    def test_wrong_arguments(self):
        kernel, table, rows, ones = strew.kernel(APPEND), np.zeros((3, 4), np.float32), np.array([1]), np.ones((1, 4), np.float32)
        for error, message, call in (
            (TypeError, "out: missing", lambda: kernel(rows, ones)),
            (TypeError, "updates: missing", lambda: kernel(rows, out=table)),
            (TypeError, "expected 2 inputs", lambda: kernel(rows, ones, ones, out=table)),
            (TypeError, "indices: given twice", lambda: kernel(rows, ones, indices=rows, out=table)),
            (TypeError, "table: no tensor", lambda: kernel(rows, ones, table=table)),
            (TypeError, "updates: a list", lambda: kernel(rows, [1], out=table)),
            (ValueError, "dtype", lambda: kernel(rows, ones.astype(np.float64), out=table)),
            (ValueError, "dim 1 is 3", lambda: kernel(rows, ones[:, :3].copy(), out=table)),
            (ValueError, "read-only", lambda: kernel(rows, ones, out=np.broadcast_to(ones, (3, 4)))),
            (strew.OutOfBoundsError, "value 3", lambda: kernel(rows + 2, ones, out=table)),
            (ValueError, "text|op", lambda: strew.kernel("strew1.nothing()")),
            (ValueError, "backend", lambda: strew.kernel(APPEND, backend="gpu")),
            (ValueError, "compile", lambda: strew.kernel(APPEND, compile="never")),
            (ValueError, "threads", lambda: strew.kernel(APPEND, threads=-1)),
        ):
            with self.subTest(message), self.assertRaisesRegex(error, message):
                call()
        np.testing.assert_array_equal(table, 0)

    def test_pickling(self):
        kernel = pickle.loads(pickle.dumps(strew.kernel(ROWS, threads=1)))
        self.assertEqual(kernel.options, {"threads": 1})
        np.testing.assert_array_equal(run_kernel(kernel), [[4, 5, 6, 7]])

    def test_backends_agree(self):
        table = np.random.default_rng(3).normal(size=(50, 4)).astype(np.float32)
        rows = np.random.default_rng(4).integers(0, 50, 500)
        updates = np.random.default_rng(5).normal(size=(500, 4)).astype(np.float32)
        bits = set()
        for backend in ("llvm", "portable", "reference"):
            for threads in (1, 2):
                out = table.copy()
                strew.kernel(APPEND, backend=backend, threads=threads)(rows, updates, out=out)
                bits.add(out.tobytes())
        self.assertEqual(len(bits), 1)


class Programs(unittest.TestCase):
    def test_a_file(self):
        program = strew.open(ROOT / "examples/kv_cache/decode.onnx")
        self.assertEqual([port.name for port in program.inputs], ["past_cache", "update", "write_indices"])
        self.assertEqual(len(program.kernels), 1)
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("needs ml_dtypes")
        cache = np.zeros((8, 8, 2048, 128), ml_dtypes.bfloat16)
        token = np.ones((8, 8, 1, 128), ml_dtypes.bfloat16)
        positions = np.arange(8)
        (result,) = program.run({"past_cache": cache, "update": token, "write_indices": positions}).values()
        self.assertEqual((result.dtype, result.shape), (cache.dtype, cache.shape))
        for b in range(8):
            cache[b, :, b] = token[b, :, 0]
        self.assertEqual(result.tobytes(), cache.tobytes())
        with self.assertRaisesRegex(ValueError, "no input typo"):
            program.run({"typo": cache})
        with self.assertRaisesRegex(ValueError, "no 'update'"):
            program.run({"past_cache": cache})
        self.assertEqual(len(pickle.loads(pickle.dumps(program)).kernels), 1)

    def test_results_in_arrays_of_the_callers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cache.strew"
            path.write_text("strew1.scatter(operand=f32[8,4] indices=i32[2,1] updates=f32[2,4] update_window_dims=[1] inserted_window_dims=[0] "
                            "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error)\n")
            program = strew.open(path)
        cache, at, rows = np.zeros((8, 4), np.float32), np.array([[1], [6]], np.int32), np.ones((2, 4), np.float32)
        inputs, (output,) = {"operand": cache, "indices": at, "updates": rows}, (port.name for port in program.outputs)
        into = np.full((8, 4), 7, np.float32)
        self.assertIs(program.run(inputs, out={output: into})[output], into)
        self.assertEqual(into.sum(axis=1).tolist(), [0, 4, 0, 0, 0, 0, 4, 0])
        self.assertEqual(cache.any(), False)
        for _ in range(2):
            program.run(inputs, out={output: cache})  # in place
        self.assertEqual(cache.sum(axis=1).tolist(), [0, 8, 0, 0, 0, 0, 8, 0])
        for out, why in [({}, "nothing is given, expected all of " + output), ({output: into, "x": into}, "x is given|, x is given"),
                         ({output: np.zeros((8, 5), np.float32)}, "dim 1 is 5, expected 4"), ({output: np.zeros((8, 4))}, "dtype is f64"),
                         ({output: np.zeros((4, 8), np.float32).T}, "row-major"), ({output: np.broadcast_to(np.float32(0), (8, 4))}, "read-only")]:
            with self.assertRaisesRegex(ValueError, why):
                program.run(inputs, out=out)
        at[1] = 8
        with self.assertRaises(IndexError):
            program.run(inputs, out={output: cache})
        self.assertEqual(cache.sum(axis=1).tolist(), [0, 8, 0, 0, 0, 0, 8, 0])

    def test_parts_for_hosts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "host.onnx"
            path.write_bytes(model_for_hosts())
            program = strew.open(path)
            parts = program.partitions()
            self.assertEqual([(part.inputs, part.outputs, part.kernels, part.operations) for part in parts],
                             [(["x", "table", "rows"], ["picked", "scaled"], 1, 1), (["product", "scaled"], ["sum"], 0, 1)])
            self.assertEqual([[number for number, _ in part.nodes] for part in parts], [[0, 2], [3]])
            self.assertIn("node sum (Add)", parts[1].nodes[0][1])
            self.assertEqual(len(program.partitions(needs_kernel=True)), 1)
            self.assertEqual(len(program.partitions(least_operations=2)), 1)
            x, table, rows = np.full((2, 2), 3, np.float32), np.arange(8, dtype=np.float32).reshape(4, 2), np.array([3, 1])
            picked, scaled = parts[0].program().run({"x": x, "table": table, "rows": rows}).values()
            np.testing.assert_array_equal(picked, table[rows])
            inputs = {"scaled": scaled, "product": picked @ picked}
            last = parts[1].program()
            del parts
            np.testing.assert_array_equal(last.run(inputs)["sum"], x * picked + picked @ picked)
            for same in (pickle.loads(pickle.dumps(last)), program.cut(["product", "scaled"], ["sum"])):
                np.testing.assert_array_equal(same.run(inputs)["sum"], x * picked + picked @ picked)
            asked = []
            kept = program.partitions(runnable=lambda name: asked.append(name) or name != "scaled")
            self.assertEqual([part.outputs for part in kept], [["picked"], ["sum"]])
            self.assertEqual(sorted(kept[1].inputs), ["product", "scaled"])
            self.assertEqual(sorted(set(asked)), ["picked", "scaled", "sum"])
            for error, message, call in (
                (ValueError, "least_operations: -1", lambda: program.partitions(least_operations=-1)),
                (TypeError, "", lambda: program.partitions(least_operations=1.5)),
                (ZeroDivisionError, "", lambda: program.partitions(runnable=lambda name: 1 / 0)),
                (ValueError, "did you mean 'product'", lambda: program.cut(["produkt"], ["sum"])),
                (NotImplementedError, "expected its result 'product' in from", lambda: program.cut([], ["sum"])),
            ):
                with self.assertRaisesRegex(error, message):
                    call()

    def test_no_file(self):
        with self.assertRaises(OSError):
            strew.open("/nonexistent.onnx")


class Process(unittest.TestCase):
    def test_threads_share_kernels(self):
        kernel, failures = strew.kernel(ROWS), []
        table = np.arange(4000, dtype=np.float32).reshape(1000, 4)

        def work(seed):
            random = np.random.default_rng(seed)
            for _ in range(300):
                rows = random.integers(0, 1000, random.integers(1, 60))
                if not np.array_equal(kernel(table, rows), table[rows]) or not np.array_equal(strew.take(table, rows, 0), table[rows]):
                    failures.append(seed)

        workers = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(failures, [])

    def test_threads_settings(self):
        for bad in (-1, 1025):
            with self.assertRaisesRegex(ValueError, "threads"):
                strew.set_threads(bad)
        with self.assertRaises((AttributeError, TypeError)):
            strew.set_threads("2")
        with strew.threads(1):
            strew.take(np.arange(5), [1])
        strew.set_threads(0)

    def test_fork_and_spawn(self):
        add_in_child(0)
        for method in ("fork", "spawn"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(add_in_child, range(4)), [400.0] * 4)

    def test_nothing_leaks(self):
        table, rows, updates = np.zeros((64, 16), np.float32), np.arange(32), np.ones((32, 16), np.float32)
        kernel = strew.kernel(ROWS.replace("4]", "16]"))

        def calls(count):
            for _ in range(count):
                strew.add_at(table, rows, updates)
                strew.add_at(table, rows.tolist(), 1.0)
                kernel(table, rows)
                try:
                    strew.take(table, rows + 60, 0)
                except IndexError:
                    pass

        calls(2000)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        calls(10000)
        gc.collect()
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 4096, "KiB more after 10,000 rounds")

    def test_a_subinterpreter_is_refused(self):
        inner = f"import sys\nsys.path[:0] = {sys.path!r}\ntry:\n import strew\nexcept ImportError as error:\n print(error)\n"
        program = f"import _xxsubinterpreters as sub\nimport strew\nsub.run_string(sub.create(), {inner!r})\n"
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        if "No module named '_xxsubinterpreters'" in result.stderr:
            self.skipTest("needs sub-interpreters by their old name")
        self.assertRegex(result.stdout, "sub-?interpreter", result.stderr)

    def test_environments(self):
        line = "import strew, numpy as np; t = np.zeros(3); strew.add_at(t, [1, 1], 1); assert t[1] == 2; print('fine')"
        for arguments, environment in (
            ((), {"HOME": "/nonexistent"}),
            ((), {"STREW_CACHE": "/proc/nothing"}),
            (("-OO",), {}),
            ((), {"STREW_COMPILE": "blocking"}),
            ((), {"STREW_COMPILE": ""}),
        ):
            with self.subTest(arguments=arguments, environment=environment):
                result = subprocess.run([sys.executable, *arguments, "-c", line], capture_output=True, text=True, env={**os.environ, **environment}, check=False)
                self.assertEqual(result.stdout, "fine\n", result.stderr)

    def test_nothing_waits_for_the_compiler(self):
        program = ("import strew, time, numpy as np\nk = strew.kernel({!r})\nassert k.is_stand_in and k.backend == 'portable'\n"
                   "table = np.arange(8, dtype=np.float32).reshape(2, 4)\nassert (k(table, np.array([1])) == table[[1]]).all()\n"
                   "end = time.monotonic() + 60\nwhile k.backend == 'portable' and time.monotonic() < end: time.sleep(0.01)\n"
                   "print(k.backend, strew.options()['compile'])").format(ROWS)
        environment = {**os.environ, "STREW_CACHE": "off"}
        environment.pop("STREW_COMPILE", None)
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(result.stdout, "llvm background\n", result.stderr)
        program = "import strew\nk = strew.kernel({!r})\nprint(k.backend, strew.options()['compile'])".format(ROWS)
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**environment, "STREW_COMPILE": "blocking"}, check=False)
        self.assertEqual(result.stdout, "llvm blocking\n", result.stderr)

    def test_exit_while_it_compiles(self):
        line = "import strew, numpy as np\nfor n in range(1, 40): strew.add_at(np.zeros((n, n)), [0], 1)\n"
        for _ in range(5):
            result = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_beside_other_libraries(self):
        for order in ("import strew\n{}", "{}\nimport strew"):
            for module in ("jax", "onnxruntime", "numba", "torch"):
                probe = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False)
                if probe.returncode != 0:
                    continue
                line = order.format(f"import {module}") + "\nimport numpy as np\nt = np.zeros(3)\nk = strew.kernel({!r}, compile='blocking')\nstrew.add_at(t, [1, 1], 1)\nprint(t[1])".format(ROWS)
                if module == "jax":
                    line += "\nimport jax.numpy as jnp\nassert float(jax.jit(lambda x: x + 1)(jnp.ones(2)).sum()) == 4"
                with self.subTest(module=module, order=order):
                    result = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
                    self.assertEqual(result.stdout, "2.0\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
