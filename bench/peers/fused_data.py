"""A case of bench_fused and its data as a peer sees them. bench_fused is the only place that knows the cases and makes the data; they are read here from
files."""
import numpy as np

from data import np_dtype

TOLERANCE = {"float32": 1e-4, "bfloat16": 2.0**-7, "float16": 2.0**-10}  # relative: peers sum in an order, and in a precision, of their own


def aligned(octets):
    """A copy that begins with a cache line; NumPy's own arrays begin 16 bytes after one."""
    room = np.empty(octets.size + 64, np.uint8)
    first = -room.ctypes.data % 64
    copy = room[first:first + octets.size]
    copy[:] = octets
    return copy


class FusedData:
    """Index arrays are int64, as most peers want them. `K`: one set of indices."""
    K = 1

    def __init__(self, case, folder):
        self.c, self.folder, self.kind = case, folder, case["kind"]
        self.dtype = np_dtype(case.get("dtype", "f32"))
        if self.kind == "bincount":
            self.numbers = self._read("numbers", np.int64)
            return
        self.nodes, self.width = case["nodes"], case["width"]
        self.table = self._read("table", self.dtype).reshape(self.nodes, self.width)
        if self.kind == "bags":
            self.bags, self.length = case["bags"], case["length"]
            self.rows = self._read("rows", np.int32).astype(np.int64)
            self.offsets = np.arange(0, self.rows.size, self.length)
            return
        if self.kind == "dots":
            self.right = self._read("right", self.dtype).reshape(self.nodes, self.width)
        else:
            self.weight = self._read("weight", np.float32)
        self.to, self.source = (self._read(name, np.int32).astype(np.int64) for name in ("to", "from"))

    def _read(self, name, dtype):
        """Like bench_fused's own arrays, it begins with a cache line."""
        file = np.fromfile(f"{self.folder}/{name}.bin", np.uint8)
        return aligned(file).view(dtype)

    def empty(self):
        """An array for a result of rows, other than what is there."""
        rows = self.bags if self.kind == "bags" else self.nodes
        return aligned(np.full(rows * self.width, 7, self.dtype).view(np.uint8)).view(self.dtype).reshape(rows, self.width)

    def by_destination(self):
        """Offsets of the edges of each node, and the edges sorted by destination, stably: what peers take that want rows compressed."""
        order = np.argsort(self.to, kind="stable")
        return np.concatenate([[0], np.cumsum(np.bincount(self.to, minlength=self.nodes))]), order

    def differs(self, got):
        """Elements that differ from the right result, after one call, by more than an order of sums explains."""
        got = np.asarray(got)
        if self.kind == "bincount":
            return int(np.count_nonzero(self._read("result", np.int64) != got))
        right = self._read("result", self.dtype).reshape(got.shape).astype(np.float32)
        return int(np.count_nonzero(~(np.abs(got.astype(np.float32) - right) <= TOLERANCE[self.dtype.name] * (np.abs(right) + 1e-3))))
