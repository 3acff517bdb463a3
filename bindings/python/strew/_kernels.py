"""Kernels of single ops, programs of whole files, and the runtime of the process."""

from __future__ import annotations

import contextlib
import html
import operator
import os
from typing import Any, Callable, Iterator

import numpy as np

from . import _hosts as hosts
from . import _native
from ._native import Kernel

__all__ = ["Kernel", "Program", "clear", "drain", "kernel", "open", "options", "set_threads", "stats", "threads"]


def kernel(
    op: str, *, backend: str | None = None, schedule: str | None = None, target: str | None = None, threads: int = 0,
    compile: str | None = None, wisdom: str | os.PathLike[str] | None = None, timeout: float | None = None,
) -> Kernel:
    """The kernel of one op, to be called many times.

    Args:
        op: the op's text (docs/op_text.md).
        backend: "auto", "llvm", "halide", "portable" or "reference".
        schedule: knobs that replace the heuristic's choice, "strategy=owner,unroll=8".
        target: "native", "x86-64-v3", ...
        threads: the most threads that a call may use; 0: as many as there are cores.
        compile: "background": a portable kernel answers, with the same bits, until the compiled one is there. "blocking": wait for that one.
            "must_hit": only what is compiled already. None: what `STREW_COMPILE` says (docs/options.md), or else "background".
        wisdom: a file of measured schedules, in place of the process's.
        timeout: the most seconds to wait; None: no limit.

    Returns:
        A `Kernel`: call it with the inputs, and with ``out=`` for the result.

    Raises:
        ValueError: the text is no op, or an option has no such value.
        TimeoutError: there was no kernel in time; the build goes on.

    >>> rows = strew.kernel("strew1.gather(operand=f32[?,2] indices=i64[?] result=f32[?,2] offset_dims=[1] collapsed_slice_dims=[0] "
    ...                     "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,2] oob=error)")
    >>> rows(np.array([[1, 2], [3, 4]], np.float32), np.array([1, 0, 1]))
    array([[3., 4.],
           [1., 2.],
           [3., 4.]], dtype=float32)
    >>> rows.inputs
    ('operand', 'indices')
    """
    given: dict[str, Any] = {"backend": backend, "schedule": schedule, "target": target, "threads": threads, "compile": compile}
    if wisdom is not None:
        given["wisdom"] = os.fspath(wisdom)
    return _native.make_kernel(op, {name: value for name, value in given.items() if value}, timeout)


def _table(rows: list[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><td style="text-align:left">{html.escape(name)}</td><td style="text-align:left"><code>{html.escape(value)}</code></td></tr>'
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def _kernel_html(kernel: Kernel) -> str:
    """What a notebook shows of a kernel: its tensors, what made it, and, to be opened, its op and its plan."""
    tensors = [(name, f"{dtype}[{','.join('?' if extent is None else str(extent) for extent in dims)}]")
               for name, dtype, dims in _native.slots(kernel.text)]
    facts = [("backend", kernel.backend or ""), ("schedule", kernel.schedule or ""), ("target", kernel.target or ""), ("threads", str(kernel.threads)),
             ("built in", f"{kernel.build_seconds * 1e3:.1f} ms")]
    more = "".join(f"<details><summary>{name}</summary><pre>{html.escape(text)}</pre></details>" for name, text in (("op", kernel.text), ("plan", kernel.plan)))
    return _table(tensors + facts) + more


def _restore_kernel(text: str, how: dict[str, Any]) -> Kernel:
    return _native.make_kernel(text, how, None)


class Port:
    """An input or output of a program.

    Attributes:
        name: as in the file.
        dtype: strew's name, "f32".
        dims: the extents; None for one that a call says.
        optional: whether the input may be left out.
    """

    def __init__(self, name: str, dtype: str, dims: tuple[int | None, ...], optional: bool) -> None:
        self.name, self.dtype, self.dims, self.optional = name, dtype, dims, optional

    def __repr__(self) -> str:
        dims = ",".join("?" if extent is None else str(extent) for extent in self.dims)
        return f"{self.name}: {self.dtype}[{dims}]"


class Program:
    """A file with scatters and gathers: .onnx, .tflite, .mlir, .pto or .strew. Made by `open`.

    Attributes:
        inputs: the inputs, a list of `Port`.
        outputs: the outputs, a list of `Port`.
        kernels: the ops in it by name, as texts that `kernel` takes.
    """

    def __init__(self, path: str, how: dict[str, Any], cut: tuple[list[str], list[str]] | None = None) -> None:
        program = _native.Program(path, how)
        self._start(path, how, program if cut is None else program.cut(*cut))
        self._cut = cut

    def _start(self, path: str, how: dict[str, Any], native: Any) -> None:
        self.path, self._how, self._native = path, how, native
        self.inputs = [Port(*port) for port in self._native.ports(True)]
        self.outputs = [Port(*port) for port in self._native.ports(False)]
        self.kernels = dict(self._native.kernels())

    def run(self, inputs: dict[str, Any], *, out: dict[str, Any] | None = None, compile: str | None = None) -> dict[str, Any]:
        """Runs the program. Threads may run it at the same time.

        Args:
            inputs: a dict from the names of the inputs to arrays, row-major. Optional inputs may be missing.
            out: a dict from the names of all outputs to arrays that receive the results, row-major, of the results' dtypes and shapes. An
                output that is given the array of an input is an update of it in place (a KV cache is not copied), if nothing else reads
                that input. None: the results are new arrays.
            compile: as of `kernel`.

        Returns:
            A dict from the names of the outputs to `out`'s arrays, or to NumPy arrays.

        Raises:
            ValueError: an input or an array of `out` is missing, or does not fit.
            IndexError: an index is out of bounds where the file makes that an error.
        """
        unknown = set(inputs) - {port.name for port in self.inputs}
        if unknown:
            raise ValueError(f"inputs: no input {', '.join(sorted(unknown))}; expected {', '.join(port.name for port in self.inputs)}")
        arrays = [self._input(port, inputs.get(port.name)) for port in self.inputs]
        if out is not None:
            self._native.run_into(arrays, self._results(out), compile)
            return {port.name: out[port.name] for port in self.outputs}
        results = self._native.run(arrays, compile)
        return {port.name: self._output(port, memory) for port, memory in zip(self.outputs, results)}

    def cut(self, inputs: list[str], outputs: list[str]) -> Program:
        """The program between some values.

        Args:
            inputs: names of values that become inputs, beside those of the file that are needed.
            outputs: names of values that become outputs; none: the program's outputs.

        Raises:
            ValueError: no value has such a name, or a value of `inputs` is not needed.
            NotImplementedError: an operation between them is not run by strew; its result is no input.
        """
        return self._part(self._native.cut(list(inputs), list(outputs)))

    def _part(self, native: Any) -> Program:
        part = Program.__new__(Program)
        part._start(self.path, self._how, native)
        part._cut = ([port.name for port in part.inputs], [port.name for port in part.outputs])
        return part

    def partitions(
        self, *, needs_kernel: bool = False, least_operations: int = 1, join: bool = False, runnable: Callable[[str], bool] | None = None,
    ) -> list[Part]:
        """The largest parts of the program that strew runs, for hosts that run the rest (docs/partitions.md).

        Args:
            needs_kernel: only parts with a scatter or gather.
            least_operations: only parts of so many operations.
            join: parts that could run at the same time become one.
            runnable: is given names of values; where it is false, what makes the value is left to the host. None: nothing is.

        Returns:
            A list of `Part`, each behind those that it reads.

        Raises:
            ValueError: an argument is out of range.
        """
        how = {"needs_kernel": needs_kernel, "least_operations": operator.index(least_operations), "join": join}
        parts = self._native.parts(how, runnable)
        return [Part(self, parts, number, *found) for number, found in enumerate(parts.describe())]

    def _results(self, out: dict[str, Any]) -> list[Any]:
        names = [port.name for port in self.outputs]
        if set(out) != set(names):
            raise ValueError(f"out: {', '.join(sorted(out)) or 'nothing'} is given, expected all of {', '.join(names)}")
        arrays = [hosts.to_numpy(out[name], name) for name in names]
        for name, array in zip(names, arrays):
            if not array.dtype.isnative:
                raise ValueError(f"out: '{name}' has elements of the other byte order, expected this machine's")
        return arrays

    @staticmethod
    def _input(port: Port, given: Any) -> Any:
        if given is None:
            if not port.optional:
                raise ValueError(f"inputs: no '{port.name}', expected an array")
            return None
        array = hosts.to_numpy(given, port.name)
        return np.require(array, requirements=["C", "A"]) if array.dtype.isnative else np.ascontiguousarray(array, array.dtype.newbyteorder("="))

    @staticmethod
    def _output(port: Port, memory: Any) -> np.ndarray[Any, Any]:
        names = {strew: numpy for numpy, strew in _native.dtypes.items()}
        if names.get(port.dtype) is None:
            raise TypeError(f"output '{port.name}': elements of {port.dtype}, which NumPy does not have")
        return np.asarray(memory).view(np.dtype(names[port.dtype])).reshape(memory.dims)

    def __repr__(self) -> str:
        return f"strew.open({self.path!r}): {len(self.kernels)} kernels, inputs {self.inputs}, outputs {self.outputs}"

    def _repr_html_(self) -> str:
        rows = [("input", repr(port)) for port in self.inputs] + [("output", repr(port)) for port in self.outputs]
        return f"<b>{html.escape(self.path)}</b>" + _table(rows + [(f"kernel {name}", op) for name, op in self.kernels.items()])

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.path, self._how, self._cut)


class Part:
    """Operations of a program that run as one. Made by `Program.partitions`.

    Attributes:
        inputs: the names of the values that it reads.
        outputs: the names of the values that others read: operations that strew does not run, other parts, and the program's outputs.
        nodes: the nodes of the file that it stands for: pairs of the place in the file's graph and the location ("m.onnx: node n (Add)").
        kernels, operations: how many scatters and gathers it has, and how many operations around them.
    """

    def __init__(
        self, whole: Program, parts: Any, number: int, inputs: list[str], outputs: list[str], nodes: list[tuple[int, str]], kernels: int,
        operations: int,
    ) -> None:
        self.inputs, self.outputs, self.nodes, self.kernels, self.operations = inputs, outputs, nodes, kernels, operations
        self._whole, self._parts, self._number = whole, parts, number

    def program(self) -> Program:
        """The part as a program of its own."""
        return self._whole._part(self._parts.program(self._number))

    def __repr__(self) -> str:
        return f"part of {self._whole.path!r}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}"


def open(
    path: str | os.PathLike[str], *, check_undefined: bool = False, oob: str | None = None, order: str | None = None,
    accumulate: str | None = None,
) -> Program:
    """Reads a file with scatters and gathers.

    Args:
        path: a .onnx, .tflite, .mlir, .pto or .strew file.
        check_undefined: for files that are not trusted: what an op leaves undefined becomes an error.
        oob, order, accumulate: replace what the file says (docs/cli.md).

    Returns:
        A `Program`.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not what its name says, or an op in it is wrong.
    """
    return Program(os.fspath(path), {"check_undefined": check_undefined, "oob": oob, "order": order, "accumulate": accumulate})


def stats() -> dict[str, Any]:
    """What the runtime of the process has done and holds: a dict of counts, seconds and bytes (docs/service.md).

    >>> sorted(strew.stats())[:3]
    ['build_seconds', 'built', 'bytes']
    """
    return _native.stats()


def options() -> dict[str, Any]:
    """The options of the process, as the environment sets them (docs/options.md); but "compile" is "background" where it says nothing.

    >>> strew.options()["threads"]
    0
    """
    return _native.options()


def clear() -> None:
    """Forgets all kernels of the process's runtime that nobody holds."""
    _native.clear()


def drain(timeout: float | None = None) -> None:
    """Ends the threads that compile, for a process that is about to fork or to exit. Later requests compile on the thread that asks.

    Raises:
        TimeoutError: builds still ran after so many seconds; it may be called again.
    """
    _native.drain(timeout)


def _check_threads(count: int) -> int:
    count = operator.index(count)
    if not 0 <= count <= 1024:
        raise ValueError(f"threads: {count}, expected 1..1024, or 0 for as many as there are cores")
    return count


def set_threads(count: int) -> None:
    """The most threads that a call may use, in the whole process; 0: as many as there are cores.

    >>> strew.set_threads(2)
    >>> strew.set_threads(0)
    """
    _native.set_process_threads(_check_threads(count))


@contextlib.contextmanager
def threads(count: int) -> Iterator[None]:
    """The most threads that calls of this thread use within a ``with`` block.

    >>> with strew.threads(1):
    ...     strew.take(np.arange(4), [2, 3])
    array([2, 3])
    """
    before = _native.set_thread_threads(_check_threads(count))
    try:
        yield
    finally:
        _native.set_thread_threads(before)
