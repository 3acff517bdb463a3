"""torch and torch_scatter: index_copy_, index_add_, scatter_add_, index_select and their relatives, in place."""
import numpy as np

from data import bits


class TorchPeer:
    def __init__(self, T):
        import torch
        torch.set_num_threads(T)
        torch.set_grad_enabled(False)
        self.th, self.version = torch, torch.__version__

    def tensor(self, a):
        t = self.th.from_numpy(bits(a))
        return t.view({"bfloat16": self.th.bfloat16, "float16": self.th.float16}[a.dtype.name]) if a.dtype.itemsize == 2 else t

    def variants(self, D):
        th, op, c = self.th, D.op, D.c
        s = self.tensor(D.src())
        flat = D.flat_rows() if op in ("kv", "ndget", "ndset") else D.idx
        ix = [th.from_numpy(np.ascontiguousarray(x)) for x in flat]

        def inplace(name, f, prep=lambda t: t, note=""):
            def make():
                a = D.table()
                t = prep(self.tensor(a))
                return (lambda j: f(t, j)), (lambda: a)
            return name, make, note

        rowsof = lambda t: t.view(-1, t.shape[-1])
        if op == "kv":
            B, H, S, Dm = c["table"]
            L = c["src"][2]
            s2 = s.reshape(-1, Dm)
            yield inplace("index_copy_ flat rows", lambda t, j: t.index_copy_(0, ix[j], s2), rowsof, "flat row index precomputed")
            pos = [[int(p) for p in r] for r in D.idx]
            if not c.get("circular"):
                def slices(t, j):
                    for b, p in enumerate(pos[j]):
                        t[b, :, p:p + L] = s[b]
                yield inplace("slice assign", slices)
            if B == 1:
                p1 = [(th.arange(L) + p[0]) % S for p in pos]
                yield inplace("index_copy_ dim 2", lambda t, j: t.index_copy_(2, p1[j], s))
        elif op == "dus":
            pos = D.idx.tolist()
            yield inplace("slice assign", lambda t, j: t.__setitem__(tuple(slice(p, p + n) for p, n in zip(pos[j], s.shape)), s))
        elif op == "rset":
            if c.get("skip"):
                def masked(t, j):
                    live = ix[j] >= 0
                    t.index_copy_(0, ix[j][live], s[live])
                yield inplace("mask + index_copy_", masked)
                n = c["table"][0] - 1
                yield inplace("where(scratch row) + index_copy_", lambda t, j: t.index_copy_(0, th.where(ix[j] < 0, n, ix[j]), s))
            else:
                yield inplace("index_copy_", lambda t, j: t.index_copy_(0, ix[j], s))
                yield inplace("index_put_", lambda t, j: t.index_put_((ix[j],), s))
                if s.dim() == 1:
                    yield inplace("scatter_", lambda t, j: t.scatter_(0, ix[j], s))
        elif op in ("rget", "ndget"):
            t = self.tensor(D.table())
            t = t.view(-1, t.shape[-1])
            yield "index_select(out)", lambda: (lambda j: th.index_select(t, 0, ix[j], out=s), lambda: s.view(th.int16).numpy().view(D.dt) if s.element_size() == 2 else s.numpy()), ""
            if op == "ndget":
                t3, o = t.view(c["table"]), [None]
                ab = [(th.from_numpy(x[:, 0].copy()), th.from_numpy(x[:, 1].copy())) for x in D.idx]
                yield "t[i, j]", lambda: (lambda j: o.__setitem__(0, t3[ab[j]]), lambda: o[0].numpy()), "new output"
        elif op == "aget":
            t, o = self.tensor(D.table()), th.empty_like(s)
            yield "gather(out)", lambda: (lambda j: th.gather(t, 1, ix[j], out=o), lambda: o.numpy()), ""
        elif op == "aadd":
            yield inplace("scatter_add_", lambda t, j: t.scatter_add_(1, ix[j], s))
        elif op == "ndset":
            ab = [(th.from_numpy(x[:, 0].copy()), th.from_numpy(x[:, 1].copy())) for x in D.idx]
            yield inplace("index_put_ (i, j)", lambda t, j: t.index_put_(ab[j], s))
            yield inplace("index_copy_ flat rows", lambda t, j: t.index_copy_(0, ix[j], s), rowsof, "flat row index precomputed")
        elif op == "radd":
            yield inplace("index_add_", lambda t, j: t.index_add_(0, ix[j], s))
            ex = [i if s.dim() == 1 else i[:, None].expand_as(s) for i in ix]
            yield inplace("scatter_add_ (expanded)", lambda t, j: t.scatter_add_(0, ex[j], s))
            yield inplace("index_put_ accumulate", lambda t, j: t.index_put_((ix[j],), s, accumulate=True))
            if s.dim() == 1 and s.is_floating_point():
                yield inplace("+= bincount", lambda t, j: t.add_(th.bincount(ix[j], s, t.shape[0])))
        elif op == "rmax":
            ex = [i[:, None].expand_as(s) for i in ix]
            yield inplace("scatter_reduce_ amax", lambda t, j: t.scatter_reduce_(0, ex[j], s, "amax"))
            yield inplace("index_reduce_ amax", lambda t, j: t.index_reduce_(0, ix[j], s, "amax"))
        elif op == "badd":
            ex = [i[:, :, None].expand_as(s) for i in ix]
            yield inplace("scatter_add_ (expanded)", lambda t, j: t.scatter_add_(1, ex[j], s))
            fl = [(i + th.arange(c["table"][0])[:, None] * c["table"][1]).view(-1) for i in ix]
            yield inplace("index_add_ flat rows", lambda t, j: t.index_add_(0, fl[j], s.view(-1, s.shape[-1])), rowsof, "flat row index precomputed")


class TorchScatterPeer(TorchPeer):
    def __init__(self, T):
        super().__init__(T)
        import torch_scatter
        self.ts, self.version = torch_scatter, torch_scatter.__version__

    def variants(self, D):
        if D.op not in ("radd", "rmax") or D.c["dtype"] == "bf16":
            return
        s, ix = self.tensor(D.src()), [self.th.from_numpy(x) for x in D.idx]
        def inplace(f):
            def make():
                a = D.table()
                t = self.tensor(a)
                return (lambda j: f(j, t)), (lambda: a)
            return make
        scatter = self.ts.scatter_add if D.op == "radd" else self.ts.scatter_max
        yield "scatter", inplace(lambda j, t: scatter(s, ix[j], 0, out=t)), ""
        if D.c.get("sorted"):
            yield "segment_add_coo", inplace(lambda j, t: self.ts.segment_add_coo(s, ix[j], out=t)), ""
