"""A case and its data as a peer sees them. bench_suite is the only place that knows the cases and makes the data: the same bytes that
strew and the hand-written kernels run on, read here from files."""
import numpy as np

GETS = ("rget", "ndget", "aget")  # what they write is no table
OPS = {"set": "rset", "get": "rget", "add": "radd", "max": "rmax", "kv": "kv", "block": "dus", "nd_get": "ndget", "nd_set": "ndset",
       "nd_add": "ndadd", "batched_add": "badd", "along_get": "aget", "along_add": "aadd"}


def as_peers_see(case):
    """bench_suite's description of a case, with what the peers ask about it derived."""
    c = dict(case, op=OPS[case["action"]], src=case["source"], m=case["updates"], K=case["sets"], sorted=case["spread"] == "sorted")
    if c["op"] == "dus":
        moving = [k for k, (t, s) in enumerate(zip(c["table"], c["src"])) if t != s]
        if moving == [1]:
            c["axis"] = 1
        c["freedims"] = len(moving) > 1
    if len(c["table"]) == 2 and c["name"].startswith("ort28584"):
        c["elementwise_index"] = True  # the issue is about indices as large as the updates
    return c


def np_dtype(name):
    if name == "bf16":
        import ml_dtypes
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f32": "f4", "i32": "i4", "f16": "f2"}[name])


def bits(a):
    """2-byte floats as int16 (frameworks without bf16 in their numpy bridge)."""
    return a.view(np.int16) if a.dtype.itemsize == 2 else a


class Data:
    """`table()` and `src()` return fresh private copies; `idx` is [K, ...] int64."""

    def __init__(self, c, folder):
        self.c, self.folder, self.dt = c, folder, np_dtype(c["dtype"])
        self.op, self.K = c["op"], c["K"]
        raw = np.fromfile(f"{folder}/indices.bin", np.int32).astype(np.int64)
        shape = (c["table"][0], c["m"]) if self.op == "badd" else (c["m"], 2) if self.op.startswith("nd") else tuple(c["src"]) if self.op in ("aget", "aadd") else (c["m"],)
        self.idx = raw.reshape((self.K,) + shape)

    def _read(self, name, shape):
        raw = np.empty(shape, self.dt)
        with open(f"{self.folder}/{name}.bin", "rb") as f:
            f.readinto(raw.reshape(-1).view(np.uint8))
        return raw

    def table(self):
        return self._read("table", self.c["table"])

    def src(self):
        return self._read("source", self.c["src"])

    def result(self):
        """After one call with index set 0. A skipped update may write the last row instead, which no index names."""
        shape = self.c["src"] if self.op in GETS else self.c["table"]
        full = self._read("result", shape)
        return full[:-1] if self.c["skip"] else full

    def flat_rows(self):
        """KV and k=2 cases as row indices of the flattened table, [K, rows] (index arithmetic not timed)."""
        c, ix = self.c, self.idx
        if c["op"] == "kv":
            B, H, S, _ = c["table"]
            p = (ix[:, :, None, None] + np.arange(c["src"][2])) % S
            return ((np.arange(B * H).reshape(1, B, H, 1)) * S + p).reshape(len(ix), -1)
        return ix[..., 0] * c["table"][1] + ix[..., 1]
