"""numpy: fancy indexing, slices, ufunc.at. A peer's variants(data) yields (name, make, note); make() returns (call, result): call(j) does the work with index set j, result() the
array to compare. Results in place must be fresh for every variant."""
import numpy as np


class NumpyPeer:
    max_threads = 1

    def __init__(self, T):
        self.version = np.__version__

    def variants(self, D):
        op, c = D.op, D.c
        t, s, ix = D.table(), D.src(), list(D.idx)
        same = lambda f: (lambda: (f, lambda: t))
        if op == "kv":
            L, S = c["src"][2], c["table"][2]

            def write(j):
                for b, p in enumerate(ix[j].tolist()):
                    a = min(L, S - p)
                    t[b, :, p:p + a] = s[b, :, :a]
                    if a < L:
                        t[b, :, :L - a] = s[b, :, a:]
            yield "slices", same(write), ""
        elif op == "dus":
            yield "slice", same(lambda j: t.__setitem__(tuple(slice(p, p + n) for p, n in zip(ix[j].tolist(), s.shape)), s)), ""
        elif op == "rset":  # index -1 lands in the scratch row at the end
            yield "setitem", same(lambda j: t.__setitem__(ix[j], s)), ""
        elif op == "rget":
            yield "take(out)", lambda: (lambda j: np.take(t, ix[j], 0, out=s, mode="clip"), lambda: s), ""
        elif op == "ndget":
            yield "getitem", lambda: ((lambda o: (lambda j: o.__setitem__(0, t[ix[j][:, 0], ix[j][:, 1]]), lambda: o[0]))([None])), "new output"
        elif op == "aget":
            yield "take_along_axis", lambda: ((lambda o: (lambda j: o.__setitem__(0, np.take_along_axis(t, ix[j], 1)), lambda: o[0]))([None])), "new output"
        elif op == "aadd":
            lead = np.arange(t.shape[0])[:, None]
            yield "add.at", same(lambda j: np.add.at(t, (lead, ix[j]), s)), ""
        elif op == "ndset":
            yield "setitem", same(lambda j: t.__setitem__((ix[j][:, 0], ix[j][:, 1]), s)), ""
        elif op in ("radd", "rmax"):
            f = np.add if op == "radd" else np.maximum
            yield f"{f.__name__}.at", same(lambda j: f.at(t, ix[j], s)), ""
            if op == "radd" and s.ndim == 1 and s.dtype.kind == "f":
                t2 = D.table()
                yield "+= bincount", lambda: (lambda j: np.add(t2, np.bincount(ix[j], s, len(t2)), out=t2, casting="unsafe"), lambda: t2), ""
        elif op == "badd":
            lead = np.arange(t.shape[0])[:, None]
            yield "add.at", same(lambda j: np.add.at(t, (lead, ix[j]), s)), ""
