"""OpenVINO: one-node models, inputs shared, results copied where it must."""
import numpy as np


class OpenvinoPeer:
    def __init__(self, T):
        import openvino as ov
        import openvino.opset15 as o
        self.ov, self.o, self.T, self.version = ov, o, T, ov.__version__.split("-")[0]
        self.core = ov.Core()

    def variants(self, D):
        ov, o, op, c = self.ov, self.o, D.op, D.c
        if c["dtype"] == "bf16" or op in ("kv", "dus") or c.get("skip"):
            return
        e = {"f32": ov.Type.f32, "i32": ov.Type.i32}.get(c["dtype"])
        axis = o.constant(np.int32(0))

        def make(build, idx):
            def go():
                t, s = D.table(), D.src()
                P = {k: o.parameter(list(a.shape), ty, name=k) for k, a, ty in (("t", t, e), ("i", idx[0], ov.Type.i32), ("s", s, e))}
                node = build(P)
                used = [P["t"], P["i"]] + ([P["s"]] if not get else [])
                m = self.core.compile_model(ov.Model([node], used, "m"), "CPU", {"INFERENCE_NUM_THREADS": self.T, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1})
                r = m.create_infer_request()
                out = s if get else np.empty_like(t)
                keep = [ov.Tensor(a, shared_memory=True) for a in (t, s, out)] + [ov.Tensor(i, shared_memory=True) for i in idx]
                r.set_input_tensor(0, keep[0])
                if not get:
                    r.set_input_tensor(2, keep[1])
                r.set_output_tensor(0, keep[2])

                def call(j):
                    r.set_input_tensor(1, keep[3 + j])
                    r.infer()
                return call, lambda: out
            return go
        get = op in ("rget", "ndget")
        idx = [np.ascontiguousarray(x.astype(np.int32)) for x in D.idx]
        if op == "rget":
            yield "Gather", make(lambda p: o.gather(p["t"], p["i"], axis), idx), "preallocated output"
        elif op == "ndget":
            yield "GatherND", make(lambda p: o.gather_nd(p["t"], p["i"]), idx), "preallocated output"
        elif op == "ndset":
            yield "ScatterNDUpdate", make(lambda p: o.scatter_nd_update(p["t"], p["i"], p["s"]), idx), "copies table"
        elif op in ("rset", "radd", "rmax"):
            i2 = [i[:, None].copy() for i in idx]
            red = dict(rset="none", radd="sum", rmax="max")[op]
            yield "ScatterNDUpdate", make(lambda p: o.scatter_nd_update(p["t"], p["i"], p["s"], red), i2), "copies table"
            if len(c["table"]) == 1:
                yield "ScatterElementsUpdate", make(lambda p: o.scatter_elements_update(p["t"], p["i"], p["s"], axis, red), idx), "copies table"
            elif op == "rset":
                yield "ScatterUpdate", make(lambda p: o.scatter_update(p["t"], p["i"], p["s"], axis), idx), "copies table"
