"""PyTorch and its extensions as peers of bench_fused: see fused_peers.py."""
import numpy as np

from fused_peers import Peer, kept, timed


class TorchPeer(Peer):
    """Eager: gather into a tensor, and scatter of that; embedding_bag, which is one pass where bags or edges lie together."""

    def __init__(self, T):
        super().__init__(T)
        import torch
        torch.set_num_threads(T)
        torch.set_grad_enabled(False)
        self.th, self.version = torch, torch.__version__

    def tensor(self, a):
        if a.dtype.name == "bfloat16":
            return self.th.from_numpy(a.view(np.int16)).view(self.th.bfloat16)
        return self.th.from_numpy(np.ascontiguousarray(a))

    def array(self, t):
        return t.float().numpy() if t.dtype == self.th.bfloat16 else t.numpy()

    def kept(self, name, call, note=""):
        return kept(name, call, note, self.array)

    def graph(self, D):
        return [self.tensor(a) for a in (D.table, D.to, D.source, D.weight)]

    def compressed(self, D):
        """Offsets, and the edges sorted by destination, by torch."""
        to = self.tensor(D.to)

        def sort():
            order = self.th.argsort(to, stable=True)
            counts = self.th.bincount(to, minlength=D.nodes)
            return self.th.cat([self.th.zeros(1, dtype=self.th.int64), counts.cumsum(0)]), order
        (offsets, order), note = timed(sort)
        return offsets, order, note

    def edges(self, D):
        table, to, source, weight = self.graph(D)
        out = self.th.empty_like(table)
        yield self.kept("index_select, mul_, index_add_",
                        lambda: out.zero_().index_add_(0, to, table.index_select(0, source).mul_(weight[:, None])))
        offsets, order, note = self.compressed(D)
        bags = self.th.nn.functional.embedding_bag
        by_node, factors = source[order], weight[order]
        yield self.kept("embedding_bag with weights", lambda: bags(by_node, table, offsets, mode="sum", per_sample_weights=factors,
                                                                   include_last_offset=True), note)

    def mean(self, D):
        table, to, source, _ = self.graph(D)
        out = self.th.empty_like(table)
        counts = self.th.bincount(to, minlength=D.nodes).clamp(min=1)[:, None]
        yield self.kept("index_select, index_add_, div_",
                        lambda: out.zero_().index_add_(0, to, table.index_select(0, source)).div_(counts))
        yield self.kept("index_select, index_reduce_ mean",
                        lambda: out.zero_().index_reduce_(0, to, table.index_select(0, source), "mean", include_self=False))
        offsets, order, note = self.compressed(D)
        by_node, bags = source[order], self.th.nn.functional.embedding_bag
        yield self.kept("embedding_bag mean", lambda: bags(by_node, table, offsets, mode="mean", include_last_offset=True), note)

    def bags(self, D):
        table, rows, offsets = self.tensor(D.table), self.tensor(D.rows), self.tensor(D.offsets)
        bags = self.th.nn.functional.embedding_bag
        yield self.kept("embedding_bag with offsets", lambda: bags(rows, table, offsets, mode="sum"))
        narrow, narrow_offsets = rows.int(), offsets.int()
        yield self.kept("embedding_bag with offsets, int32", lambda: bags(narrow, table, narrow_offsets, mode="sum"))
        matrix = rows.view(D.bags, D.length)
        yield self.kept("embedding_bag of a matrix", lambda: bags(matrix, table, mode="sum"))

    def bincount(self, D):
        numbers = self.tensor(D.numbers)
        yield self.kept("bincount", lambda: self.th.bincount(numbers))

    def pairs(self, D):
        return [self.tensor(a) for a in (D.table, D.right, D.to, D.source)]

    def dots(self, D):
        left, right, to, source = self.pairs(D)
        yield self.kept("index_select twice, linalg.vecdot", lambda: self.th.linalg.vecdot(left.index_select(0, to), right.index_select(0, source)))


class TorchCompilePeer(TorchPeer):
    """The eager forms, compiled by inductor with the case's extents."""

    def _compiled(self, name, function, *arguments):
        self.th._dynamo.reset()
        call = self.th.compile(function, dynamic=False)
        return self.kept(name, lambda: call(*arguments))

    def edges(self, D):
        def messages(table, to, source, weight):
            return self.th.zeros_like(table).index_add(0, to, table.index_select(0, source) * weight[:, None])
        yield self._compiled("compiled index_add", messages, *self.graph(D))

    def mean(self, D):
        table, to, source, _ = self.graph(D)
        counts = self.th.bincount(to, minlength=D.nodes).clamp(min=1)[:, None]

        def means(table, to, source, counts):
            return self.th.zeros_like(table).index_add(0, to, table.index_select(0, source)) / counts
        yield self._compiled("compiled index_add", means, table, to, source, counts)

    def bags(self, D):
        rows, th = self.tensor(D.rows).view(D.bags, D.length), self.th

        def sums(table, rows):
            return table[rows].to(th.float32).sum(1).to(table.dtype)
        yield self._compiled("compiled table[rows].sum(1)", sums, self.tensor(D.table), rows)

    def bincount(self, D):
        return iter(())

    def dots(self, D):
        def products(left, right, to, source):
            return (left.index_select(0, to) * right.index_select(0, source)).sum(1)
        yield self._compiled("compiled sum of products", products, *self.pairs(D))


class TorchSparsePeer(TorchPeer):
    """torch.sparse.mm of a CSR matrix, and sampled_addmm at the places of one."""

    def _products(self, D, values, reductions):
        offsets, order, note = self.compressed(D)
        table, source = self.tensor(D.table), self.tensor(D.source)
        matrix = self.th.sparse_csr_tensor(offsets, source[order], values[order], size=(D.nodes, D.nodes))
        for reduce in reductions:
            if reduce is None:
                yield self.kept("sparse.mm", lambda: self.th.sparse.mm(matrix, table), note)
            else:
                yield self.kept(f"sparse.mm, reduce {reduce}", lambda reduce=reduce: self.th.sparse.mm(matrix, table, reduce), note)

    def edges(self, D):
        return self._products(D, self.tensor(D.weight), [None, "sum"])

    def mean(self, D):
        return self._products(D, self.th.ones(D.to.size), ["mean"])

    def bags(self, D):
        return iter(())

    def bincount(self, D):
        return iter(())

    def dots(self, D):
        left, right, _, source = self.pairs(D)
        offsets, order, note = self.compressed(D)
        places = self.th.sparse_csr_tensor(offsets, source[order], self.th.zeros(order.numel()), size=(D.nodes, D.nodes))
        columns = right.t()

        def by_edge(made):
            return self.array(self.th.empty(order.numel()).index_copy_(0, order, made.values()))
        yield kept("sparse.sampled_addmm", lambda: self.th.sparse.sampled_addmm(places, left, columns, beta=0.0), note, by_edge)


class TorchScatterPeer(TorchPeer):
    def __init__(self, T):
        super().__init__(T)
        import torch_scatter
        self.ts, self.version = torch_scatter, torch_scatter.__version__

    def _sums(self, D, reduce, weighted):
        table, to, source, weight = self.graph(D)

        def rows(source, weight):
            out = table.index_select(0, source)
            return out.mul_(weight[:, None]) if weighted else out
        yield self.kept(f"index_select, scatter {reduce}",
                        lambda: self.ts.scatter(rows(source, weight), to, 0, dim_size=D.nodes, reduce=reduce))
        offsets, order, note = self.compressed(D)
        by_node, factors = source[order], weight[order]
        yield self.kept(f"index_select, segment_csr {reduce}", lambda: self.ts.segment_csr(rows(by_node, factors), offsets, reduce=reduce), note)

    def edges(self, D):
        return self._sums(D, "sum", True)

    def mean(self, D):
        return self._sums(D, "mean", False)

    def bags(self, D):
        return iter(())

    bincount = dots = bags


class FbgemmPeer(TorchPeer):
    """FBGEMM's table-batched embeddings on the CPU, f32 and f16. Its wheel wants the release of torch that it was built with."""

    def __init__(self, T):
        super().__init__(T)
        import fbgemm_gpu
        from fbgemm_gpu import split_table_batched_embeddings_ops_common as common
        from fbgemm_gpu import split_table_batched_embeddings_ops_training as training
        from fbgemm_gpu.split_embedding_configs import SparseType
        self.version = fbgemm_gpu.__version__
        self.types, self.common, self.training = SparseType, common, training

    def edges(self, D):
        return iter(())

    mean = bincount = dots = edges

    def bags(self, D):
        dtype = {"float32": self.types.FP32, "float16": self.types.FP16}.get(D.dtype.name)
        if dtype is None:
            return
        spec = (D.nodes, D.width, self.common.EmbeddingLocation.HOST, self.training.ComputeDevice.CPU)
        bags = self.training.SplitTableBatchedEmbeddingBagsCodegen([spec], weights_precision=dtype, output_dtype=dtype,
                                                                   pooling_mode=self.common.PoolingMode.SUM)
        bags.split_embedding_weights()[0].copy_(self.tensor(D.table))
        rows, offsets = self.tensor(D.rows), self.tensor(np.append(D.offsets, D.rows.size))
        yield self.kept("SplitTableBatchedEmbeddingBags", lambda: bags(rows, offsets))
