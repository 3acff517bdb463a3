"""TensorFlow (resource variables, eager) and LiteRT (one-op models; its graph inputs cannot be updated in place)."""
import os

import numpy as np


class TfPeer:
    def __init__(self, T):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow as tf
        tf.config.threading.set_intra_op_parallelism_threads(T)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf, self.version = tf, tf.__version__

    def variants(self, D):
        tf, op, c = self.tf, D.op, D.c
        raw, s = tf.raw_ops, tf.constant(D.src())
        idx = D.flat_rows() if op == "kv" else D.idx
        ix = [tf.constant(x.astype(np.int32)) for x in idx]

        def var(name, f, flat=False, note="resource variable, eager"):
            def make():
                t = D.table()
                v = tf.Variable(t.reshape(-1, t.shape[-1]) if flat else t)
                return (lambda j: f(v.handle, j)), (lambda: v.numpy().reshape(c["table"]))
            return name, make, note
        if op == "kv":
            s2 = tf.reshape(s, (-1, c["src"][-1]))
            yield var("ResourceScatterUpdate", lambda v, j: raw.ResourceScatterUpdate(resource=v, indices=ix[j], updates=s2), True, "flat row index precomputed")
        elif op == "dus":
            be = [(tf.constant(p.astype(np.int32)), tf.constant((p + s.shape).astype(np.int32))) for p in D.idx]
            ones = tf.ones(len(c["src"]), tf.int32)
            yield var("ResourceStridedSliceAssign", lambda v, j: raw.ResourceStridedSliceAssign(ref=v, begin=be[j][0], end=be[j][1], strides=ones, value=s))
        elif op in ("rset", "radd", "rmax") and not c.get("skip"):
            name = dict(rset="ResourceScatterUpdate", radd="ResourceScatterAdd", rmax="ResourceScatterMax")[op]
            f = getattr(raw, name)
            yield var(name, lambda v, j: f(resource=v, indices=ix[j], updates=s))
            name = dict(rset="ResourceScatterNdUpdate", radd="ResourceScatterNdAdd", rmax="ResourceScatterNdMax")[op]
            g = getattr(raw, name)
            i2 = [i[:, None] for i in ix]
            yield var(name, lambda v, j: g(ref=v, indices=i2[j], updates=s))
        elif op == "rset":  # slot -1: boolean masks (negative indices are errors)
            def masked(v, j):
                live = ix[j] >= 0
                raw.ResourceScatterUpdate(resource=v, indices=tf.boolean_mask(ix[j], live), updates=tf.boolean_mask(s, live))
            yield var("mask + ResourceScatterUpdate", masked)
            n = c["table"][0] - 1
            yield var("where(scratch row)", lambda v, j: raw.ResourceScatterUpdate(resource=v, indices=tf.where(ix[j] < 0, n, ix[j]), updates=s))
        elif op == "ndset":
            yield var("ResourceScatterNdUpdate", lambda v, j: raw.ResourceScatterNdUpdate(ref=v, indices=ix[j], updates=s))
        elif op in ("rget", "ndget"):
            t, out, zero = tf.constant(D.table()), [None], tf.constant(0)
            f = (lambda j: raw.GatherV2(params=t, indices=ix[j], axis=zero)) if op == "rget" else (lambda j: raw.GatherNd(params=t, indices=ix[j]))
            yield "GatherV2" if op == "rget" else "GatherNd", lambda: (lambda j: out.__setitem__(0, f(j)), lambda: out[0].numpy()), "new output"
        elif op == "badd":
            lead = np.arange(c["table"][0])[:, None]
            full = [tf.constant(np.stack([np.broadcast_to(lead, x.shape), x], -1).astype(np.int32)) for x in D.idx]
            yield var("ResourceScatterNdAdd", lambda v, j: raw.ResourceScatterNdAdd(ref=v, indices=full[j], updates=s), note="batch index materialised")


class LitertPeer:
    def __init__(self, T):
        import tensorflow as tf
        from ai_edge_litert.interpreter import Interpreter
        from importlib.metadata import version
        self.tf, self.I, self.T, self.version = tf, Interpreter, T, version("ai-edge-litert")

    def variants(self, D):
        tf, op, c = self.tf, D.op, D.c
        if op == "rget":
            name, f, args = "GATHER", lambda t, i: tf.gather(t, i), False
        elif op == "ndget":
            name, f, args = "GATHER_ND", lambda t, i: tf.gather_nd(t, i), False
        elif op == "dus" or (op == "kv" and c["table"][0] == 1 and not c.get("circular")):
            from tensorflow.compiler.tf2xla.ops import gen_xla_ops
            name, f, args = "DYNAMIC_UPDATE_SLICE", lambda t, i, s: gen_xla_ops.xla_dynamic_update_slice(t, s, i), True
        elif op == "radd" and c["dtype"] in ("f32", "i32"):
            name, f, args = "SCATTER_ND", lambda i, s: tf.scatter_nd(i[:, None], s, c["table"]), True
        else:
            return
        scatter = name == "SCATTER_ND"

        def make():
            dt = tf.as_dtype(D.dt)
            spec = [tf.TensorSpec(c["table"], dt)] * (not scatter) + [tf.TensorSpec(ix.shape, tf.int32) for ix in [idx[0]]] + [tf.TensorSpec(c["src"], dt)] * args
            conv = tf.lite.TFLiteConverter.from_concrete_functions([tf.function(f).get_concrete_function(*spec)])
            it = self.I(model_content=conv.convert(), num_threads=self.T)
            it.allocate_tensors()
            d = it.get_input_details()
            order = sorted(d, key=lambda x: x["index"])
            if not scatter:
                it.set_tensor(order[0]["index"], D.table())
            if args:
                it.set_tensor(order[-1]["index"], D.src())
            slot = order[0 if scatter else 1]["index"]

            def call(j):
                it.set_tensor(slot, idx[j])
                it.invoke()
            o = it.get_output_details()[0]["index"]
            return call, lambda: it.get_tensor(o) + (D.table() if scatter else 0 * D.dt.type(0))
        pos = D.idx if op != "kv" else np.stack([np.array([[0, 0, p[0], 0]]) for p in D.idx])[:, 0]
        idx = [np.ascontiguousarray(x.astype(np.int32)) for x in pos]
        yield name, make, "zero-filled result, not added to the table" if scatter else "new output" if not args else "copies table"
