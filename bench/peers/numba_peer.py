"""numba: plain loops, what a user would write by hand in Python; two threads only where rows are independent."""
import numpy as np

from data import bits


class NumbaPeer:
    def __init__(self, T):
        import numba
        from numba import njit, prange
        self.version, self.T = numba.__version__, T
        numba.set_num_threads(T)
        par = T > 1

        @njit(parallel=par)
        def set_rows(t, ix, s):
            for i in prange(ix.shape[0]):
                r = ix[i]
                if r >= 0:
                    for k in range(s.shape[1]):
                        t[r, k] = s[i, k]

        @njit(parallel=par)
        def get_rows(t, ix, s):
            for i in prange(ix.shape[0]):
                r = ix[i]
                for k in range(s.shape[1]):
                    s[i, k] = t[r, k]

        @njit
        def add_rows(t, ix, s):
            for i in range(ix.shape[0]):
                r = ix[i]
                for k in range(s.shape[1]):
                    t[r, k] += s[i, k]

        @njit
        def max_rows(t, ix, s):
            for i in range(ix.shape[0]):
                r = ix[i]
                for k in range(s.shape[1]):
                    t[r, k] = max(t[r, k], s[i, k])

        @njit(parallel=par)
        def set_elems(t, ix, s):
            for i in prange(ix.shape[0]):
                t[ix[i]] = s[i]

        @njit
        def add_elems(t, ix, s):
            for i in range(ix.shape[0]):
                t[ix[i]] += s[i]
        self.f = dict(set=set_rows, get=get_rows, add=add_rows, max=max_rows, set1=set_elems, add1=add_elems)

    def variants(self, D):
        op, c = D.op, D.c
        if op in ("dus", "aget", "aadd") or (c["dtype"] == "bf16" and op in ("radd", "rmax")) or (self.T > 1 and op in ("radd", "rmax", "badd")):
            return
        t, s = D.table(), D.src()
        d = t.shape[-1]
        bt, bs = bits(t), bits(s)
        ix = D.flat_rows() if op in ("kv", "ndget", "ndset") else D.idx
        if op == "badd":
            ix = (ix + np.arange(c["table"][0])[:, None] * c["table"][1]).reshape(len(ix), -1)
        ix = [np.ascontiguousarray(x.astype(np.int32)) for x in ix]
        if t.ndim > 1:
            bt, bs = bt.reshape(-1, d), bs.reshape(-1, d)
        kind = {"kv": "set", "rset": "set", "ndset": "set", "rget": "get", "ndget": "get", "radd": "add", "badd": "add", "rmax": "max"}[op]
        f = self.f[kind + ("1" if t.ndim == 1 else "")]
        yield "njit loop", lambda: (lambda j: f(bt, ix[j], bs), lambda: s if kind == "get" else t), "C-loop control; flat row index precomputed"
