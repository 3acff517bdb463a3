"""Peers of bench_fused: messages along edges and their mean, pooled look-ups, and counts. A variant is (name, make, note): make() gives the call, and what
gives its result. Sorting edges by destination is done beforehand; the note has its time."""
import time

import numpy as np


def timed(work, times=3):
    """What work() gives, and its median time in a note; once is enough if it takes long."""
    spent = []
    while len(spent) < times and sum(spent) < 0.5:
        start = time.perf_counter()
        out = work()
        spent.append(time.perf_counter() - start)
    return out, f"sorted beforehand, {sorted(spent)[len(spent) // 2] * 1e3:.2f} ms"


def kept(name, call, note="", as_array=lambda t: t):
    """A variant whose call returns a new result."""
    last = []

    def run(_):
        last[:] = [call()]
    return name, lambda: (run, lambda: as_array(last[0])), note


class Peer:
    def __init__(self, T):
        self.T = T

    def variants(self, D):
        return getattr(self, D.kind)(D)


class StrewPythonPeer(Peer):
    """strew as users of its Python package call it, checks of arguments included."""

    def __init__(self, T):
        super().__init__(T)
        import strew
        self.strew, self.version = strew, "this build"

    def _spmm(self, D, reduce, weight):
        out = D.empty()

        def way(name, to, source, weight, note=""):
            return kept(name, lambda: self.strew.spmm(to, source, D.table, weight, reduce, num_rows=D.nodes, out=out), note)
        yield way(f"strew.spmm {reduce}", D.to, D.source, weight)
        if D.c["sorted"]:
            return
        (_, order), note = timed(lambda: self.strew.csr(D.to, D.nodes))
        by_node = None if weight is None else weight[order]
        yield way(f"strew.spmm {reduce}, sorted", D.to[order], D.source[order], by_node, note + " by strew.csr")

    def edges(self, D):
        return self._spmm(D, "sum", D.weight)

    def mean(self, D):
        return self._spmm(D, "mean", None)

    def bags(self, D):
        out, rows = D.empty(), D.rows.reshape(D.bags, D.length)
        yield kept("strew.embedding_bag", lambda: self.strew.embedding_bag(rows, D.table, mode="sum", out=out))

    def bincount(self, D):
        yield kept("strew.bincount", lambda: self.strew.bincount(D.numbers))

    def dots(self, D):
        out = np.empty(D.to.size, D.dtype)
        yield kept("strew.sddmm", lambda: self.strew.sddmm(D.to, D.source, D.table, D.right, out=out))


class NumpyPeer(Peer):
    def __init__(self, T):
        super().__init__(T)
        self.version = np.__version__

    def edges(self, D):
        out = D.empty()

        def two_steps():
            out[:] = 0
            np.add.at(out, D.to, D.table[D.source] * D.weight[:, None])
            return out
        yield kept("add.at of table[from] * weight", two_steps)

    def mean(self, D):
        out, counts = D.empty(), np.maximum(np.bincount(D.to, minlength=D.nodes), 1).astype(np.float32)[:, None]

        def two_steps():
            out[:] = 0
            np.add.at(out, D.to, D.table[D.source])
            np.divide(out, counts, out)
            return out
        yield kept("add.at of table[from]", two_steps, "counts made beforehand")

    def bags(self, D):
        rows = D.rows.reshape(D.bags, D.length)
        if D.dtype.name == "float32":
            yield kept("table[rows].sum(1)", lambda: D.table[rows].sum(1))
        else:
            yield kept("table[rows].sum(1) in f32", lambda: D.table[rows].sum(1, dtype=np.float32).astype(D.dtype))

    def bincount(self, D):
        yield kept("bincount", lambda: np.bincount(D.numbers))

    def dots(self, D):
        yield kept("vecdot of table[to], right[from]", lambda: np.vecdot(D.table[D.to], D.right[D.source]))


class ScipyPeer(Peer):
    def __init__(self, T):
        super().__init__(T)
        import scipy
        import scipy.sparse
        self.sparse, self.version = scipy.sparse, scipy.__version__

    def _product(self, D, weight):
        (offsets, order), note = timed(D.by_destination)
        matrix = self.sparse.csr_matrix((weight[order], D.source[order], offsets), shape=(D.nodes, D.nodes))
        yield kept("csr_matrix @ table", lambda: matrix @ D.table, note)

    def edges(self, D):
        return self._product(D, D.weight)

    def mean(self, D):
        counts = np.bincount(D.to, minlength=D.nodes).astype(np.float32)
        return self._product(D, 1 / counts[D.to])

    def bags(self, D):
        if D.dtype.name != "float32":
            return
        ones, offsets = np.ones(D.rows.size, np.float32), np.append(D.offsets, D.rows.size)
        matrix = self.sparse.csr_matrix((ones, D.rows, offsets), shape=(D.bags, D.nodes))
        yield kept("csr_matrix @ table", lambda: matrix @ D.table)

    def bincount(self, D):
        return iter(())

    dots = bincount


class NumbaPeer(Peer):
    """Plain loops in one pass, what a user would write by hand in Python; two threads where rows of the result are independent."""

    def __init__(self, T):
        super().__init__(T)
        import numba
        from numba import njit, prange
        numba.set_num_threads(T)
        self.version = numba.__version__

        @njit
        def add_edges(out, to, source, table, weight):
            out[:] = 0
            for e in range(to.shape[0]):
                for k in range(table.shape[1]):
                    out[to[e], k] += table[source[e], k] * weight[e]

        @njit
        def divide(out, counts):
            for i in range(out.shape[0]):
                for k in range(out.shape[1]):
                    out[i, k] /= counts[i]

        @njit(parallel=T > 1)
        def sum_segments(out, offsets, source, table, weight):
            for i in prange(out.shape[0]):
                out[i, :] = 0
                for e in range(offsets[i], offsets[i + 1]):
                    for k in range(table.shape[1]):
                        out[i, k] += table[source[e], k] * weight[e]

        @njit(parallel=T > 1)
        def sum_bags(out, rows, table):
            for b in prange(rows.shape[0]):
                out[b, :] = 0
                for n in range(rows.shape[1]):
                    for k in range(table.shape[1]):
                        out[b, k] += table[rows[b, n], k]

        @njit
        def count(out, numbers):
            out[:] = 0
            for i in range(numbers.shape[0]):
                out[numbers[i]] += 1

        @njit(parallel=T > 1, fastmath={"reassoc"})
        def dot_edges(out, to, source, left, right):
            for e in prange(to.shape[0]):
                total = np.float32(0)
                for k in range(left.shape[1]):
                    total += left[to[e], k] * right[source[e], k]
                out[e] = total
        self.dot_edges = dot_edges
        self.add_edges, self.divide, self.count = add_edges, divide, count
        self.sum_segments, self.sum_bags = sum_segments, sum_bags

    def _sums(self, D, weight, then):
        out = D.empty()
        if self.T == 1:
            def loop():
                self.add_edges(out, D.to, D.source, D.table, weight)
                then(out)
                return out
            yield kept("njit loop over edges", loop)
        (offsets, order), note = timed(D.by_destination)
        source, sorted_weight = D.source[order], weight[order]

        def segments():
            self.sum_segments(out, offsets, source, D.table, sorted_weight)
            then(out)
            return out
        yield kept("njit loop over nodes", segments, note)

    def edges(self, D):
        return self._sums(D, D.weight, lambda out: None)

    def mean(self, D):
        counts = np.maximum(np.bincount(D.to, minlength=D.nodes), 1).astype(np.float32)
        return self._sums(D, np.ones(D.to.size, np.float32), lambda out: self.divide(out, counts))

    def bags(self, D):
        if D.dtype.name != "float32":
            return
        out, rows = D.empty(), D.rows.reshape(D.bags, D.length)

        def loop():
            self.sum_bags(out, rows, D.table)
            return out
        yield kept("njit loop", loop)

    def bincount(self, D):
        if self.T > 1:
            return
        out = np.empty(D.c["places"], np.int64)

        def loop():
            self.count(out, D.numbers)
            return out
        yield kept("njit loop", loop)

    def dots(self, D):
        out = np.empty(D.to.size, D.dtype)

        def loop():
            self.dot_edges(out, D.to, D.source, D.table, D.right)
            return out
        yield kept("njit loop over edges, sums in any order", loop)


class JaxPeer(Peer):
    def __init__(self, T):
        super().__init__(T)
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, jax.__version__

    def _jitted(self, name, function, *arguments):
        call, on_device = self.jax.jit(function), [self.jax.device_put(a) for a in arguments]
        return kept(name, lambda: call(*on_device).block_until_ready())

    def edges(self, D):
        def messages(table, to, source, weight):
            return self.jax.numpy.zeros_like(table).at[to].add(table[source] * weight[:, None])
        yield self._jitted("jit zeros.at[to].add", messages, D.table, D.to, D.source, D.weight)

    def mean(self, D):
        counts = np.maximum(np.bincount(D.to, minlength=D.nodes), 1).astype(np.float32)[:, None]

        def means(table, to, source, counts):
            return self.jax.numpy.zeros_like(table).at[to].add(table[source]) / counts
        yield self._jitted("jit zeros.at[to].add", means, D.table, D.to, D.source, counts)

    def bags(self, D):
        def sums(table, rows):
            return table[rows].astype(np.float32).sum(1).astype(table.dtype)
        yield self._jitted("jit table[rows].sum(1)", sums, D.table, D.rows.reshape(D.bags, D.length))

    def bincount(self, D):
        places = D.c["places"]
        yield self._jitted("jit bincount", lambda numbers: self.jax.numpy.bincount(numbers, length=places), D.numbers)

    def dots(self, D):
        def products(left, right, to, source):
            return (left[to] * right[source]).sum(1)
        yield self._jitted("jit (table[to] * right[from]).sum(1)", products, D.table, D.right, D.to, D.source)
