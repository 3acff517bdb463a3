"""onnxruntime: one-node models with the same buffer bound as input and output."""
import numpy as np


class OrtPeer:
    def __init__(self, T):
        import onnxruntime as ort
        from onnx import helper, TensorProto as TP
        self.ort, self.h, self.T, self.version = ort, helper, T, ort.__version__
        self.tp = dict(f32=TP.FLOAT, i32=TP.INT32, f16=TP.FLOAT16, bf16=TP.BFLOAT16)
        self.i64 = TP.INT64

    def value(self, a):
        if a.dtype.name == "bfloat16":
            return self.ort.OrtValue.ortvalue_from_numpy_with_onnx_type(a.view(np.uint16), self.tp["bf16"])
        return self.ort.OrtValue.ortvalue_from_numpy(a)

    def session(self, D, node, ins, out_shape):
        h, e = self.h, self.tp[D.c["dtype"]]
        vi = [h.make_tensor_value_info(n, self.i64 if n == "ix" else e, sh) for n, sh in ins]
        g = h.make_graph([node], "g", vi, [h.make_tensor_value_info("out", e, out_shape)])
        m = h.make_model(g, opset_imports=[h.make_opsetid("", 24)], ir_version=11)
        so = self.ort.SessionOptions()
        so.intra_op_num_threads, so.inter_op_num_threads, so.log_severity_level = self.T, 1, 4
        return self.ort.InferenceSession(m.SerializeToString(), so, ["CPUExecutionProvider"])

    def variant(self, D, op, index, table, src, inplace, attrs):
        """Bind index sets once; in place = table bound as input and output."""
        h = self.h
        src_in = op not in ("Gather", "GatherND")
        names = {"TensorScatter": ["table", "src", "ix"]}.get(op, ["table", "ix", "src"] if src_in else ["table", "ix"])
        node = h.make_node(op, names, ["out"], **attrs)
        shapes = dict(table=table.shape, src=src.shape, ix=index[0].shape)
        out = table if inplace else (np.empty_like(table) if src_in else src)
        sess = self.session(D, node, [(n, shapes[n]) for n in names], out.shape)
        vt, vs, vix = self.value(table), self.value(src), [self.value(np.ascontiguousarray(x)) for x in index]
        vo = vt if inplace else vs if not src_in else self.value(out)
        binds = []
        for x in vix:
            b = sess.io_binding()
            for n in names:
                b.bind_ortvalue_input(n, dict(table=vt, src=vs, ix=x)[n])
            b.bind_ortvalue_output("out", vo)
            binds.append(b)
        run = sess.run_with_iobinding
        return (lambda j: run(binds[j])), (lambda: out.reshape(D.c["src"] if not src_in else D.c["table"]))

    def variants(self, D):
        op, c, V = D.op, D.c, self.variant
        k1 = [x[:, None] for x in (D.flat_rows() if op == "kv" else D.idx)] if op in ("kv", "rset", "radd", "rmax") else None
        red = {"radd": "add", "rmax": "max", "badd": "add"}.get(op, "none")
        if op == "kv":
            mode = "circular" if c.get("circular") else "linear"
            yield "TensorScatter", lambda: V(D, "TensorScatter", D.idx, D.table(), D.src(), True, dict(axis=2, mode=mode)), "same buffer bound"
            d = c["table"][-1]
            yield "ScatterND flat rows", lambda: V(D, "ScatterND", k1, D.table().reshape(-1, d), D.src().reshape(-1, d), True, {}), "same buffer bound; flat row index precomputed"
        elif op == "dus" and not c.get("freedims"):
            ax = c.get("axis", 1)
            t, s = (D.table(), D.src()) if ax == c.get("axis") else (D.table()[None], D.src()[None])
            pos = D.idx[:, 1:2] if ax == c.get("axis") else D.idx[:, :1]
            yield "TensorScatter", lambda: V(D, "TensorScatter", pos, t, s, True, dict(axis=1)), "same buffer bound"
        elif op in ("rset", "radd", "rmax"):
            yield "ScatterND", lambda: V(D, "ScatterND", k1, D.table(), D.src(), True, dict(reduction=red)), "same buffer bound"
            if len(c["table"]) == 1 or c.get("elementwise_index"):
                shape = tuple(c["src"])
                ex = [x if len(shape) == 1 else np.broadcast_to(x[:, None], shape) for x in D.idx]
                yield "ScatterElements", lambda: V(D, "ScatterElements", ex, D.table(), D.src(), True, dict(axis=0, reduction=red)), "same buffer bound; materialised index"
        elif op == "ndset":
            yield "ScatterND", lambda: V(D, "ScatterND", D.idx, D.table(), D.src(), True, {}), "same buffer bound"
        elif op == "rget":
            yield "Gather", lambda: V(D, "Gather", D.idx, D.table(), D.src(), False, dict(axis=0)), "preallocated output"
        elif op == "ndget":
            yield "GatherND", lambda: V(D, "GatherND", D.idx, D.table(), D.src(), False, {}), "preallocated output"
        elif op == "badd":
            lead = np.arange(c["table"][0])[:, None]
            full = [np.stack([np.broadcast_to(lead, x.shape), x], -1) for x in D.idx]
            yield "ScatterND k=2", lambda: V(D, "ScatterND", full, D.table(), D.src(), True, dict(reduction="add")), "same buffer bound; batch index materialised"
