"""JAX with donated buffers, and IREE on the StableHLO that JAX makes."""
import re

import numpy as np


def jax_functions(D):
    """(variant, function of (table, index, src)) pairs; shared by jax and iree."""
    import jax.numpy as jnp
    from jax import lax, vmap
    op, c = D.op, D.c
    hint = dict(mode="promise_in_bounds")
    if op == "kv":
        B, _, S, _ = c["table"]
        L = c["src"][2]
        if c.get("circular"):
            yield "at[].set circular", lambda t, i, s: t.at[0, :, (i[0] + jnp.arange(L)) % S].set(s[0].transpose(1, 0, 2), unique_indices=True, **hint)
            return

        def chain(t, i, s):
            for b in range(B):
                t = lax.dynamic_update_slice(t, s[b:b + 1], (b, 0, i[b], 0))
            return t
        yield "dynamic_update_slice chain", chain
        yield "vmap(dynamic_update_slice)", lambda t, i, s: vmap(lambda a, p, u: lax.dynamic_update_slice(a, u, (0, p, 0)))(t, i, s)
    elif op == "dus":
        yield "dynamic_update_slice", lambda t, i, s: lax.dynamic_update_slice(t, s, tuple(i[k] for k in range(len(c["src"]))))
    elif op == "rset" and c.get("skip"):
        yield "at[].set drop", lambda t, i, s: t.at[i].set(s, mode="drop", wrap_negative_indices=False)
    elif op == "rset":
        yield "at[].set", lambda t, i, s: t.at[i].set(s, unique_indices=True, **hint)
    elif op == "radd":
        yield "at[].add", lambda t, i, s: t.at[i].add(s, indices_are_sorted=bool(c.get("sorted")), **hint)
    elif op == "rmax":
        yield "at[].max", lambda t, i, s: t.at[i].max(s, **hint)
    elif op == "ndset":
        yield "at[i,j].set", lambda t, i, s: t.at[i[:, 0], i[:, 1]].set(s, unique_indices=True, **hint)
    elif op == "rget":
        yield "at[].get", lambda t, i, s: t.at[i].get(**hint)
    elif op == "ndget":
        yield "at[i,j].get", lambda t, i, s: t.at[i[:, 0], i[:, 1]].get(**hint)
    elif op == "badd":
        yield "vmap(at[].add)", lambda t, i, s: vmap(lambda a, b, u: a.at[b].add(u, **hint))(t, i, s)


class JaxPeer:
    def __init__(self, T):
        import jax
        self.jax, self.version = jax, jax.__version__

    def variants(self, D):
        jnp, get = self.jax.numpy, D.op in ("rget", "ndget")
        plain = list(jax_functions(D))
        both = [(n, f, False) for n, f in plain]
        if D.c["dtype"] == "bf16" and D.op not in ("radd", "rmax"):  # XLA:CPU widens bf16 tables; copies do not need the type
            both += [(n + " as uint16", f, True) for n, f in plain]
        for name, f, as_int in both:
            def make(f=f, as_int=as_int):
                load = lambda a: jnp.array(a.view(np.uint16) if as_int else a)
                g = self.jax.jit(f, donate_argnums=() if get else (0,))
                ix = [jnp.array(x.astype(np.int32)) for x in D.idx]
                st, s = [load(D.table()), None], load(D.src())

                def update(j):
                    st[0] = g(st[0], ix[j], s)
                    st[0].block_until_ready()

                def gather(j):
                    st[1] = g(st[0], ix[j], s)
                    st[1].block_until_ready()
                return (gather, lambda: np.asarray(st[1])) if get else (update, lambda: np.asarray(st[0]))
            yield name, make, "new output" if get else "donated"
            if get:  # a donated buffer of the output's shape is reused for the output
                def into(f=f, as_int=as_int):
                    load = lambda a: jnp.array(a.view(np.uint16) if as_int else a)
                    g = self.jax.jit(lambda t, i, out: f(t, i, None), donate_argnums=2, keep_unused=True)
                    ix, t, st = [jnp.array(x.astype(np.int32)) for x in D.idx], load(D.table()), [load(D.src())]

                    def gather(j):
                        st[0] = g(t, ix[j], st[0])
                        st[0].block_until_ready()
                    return gather, lambda: np.asarray(st[0])
                yield name + " into donated", into, "output buffer donated"


class IreePeer:
    def __init__(self, T):
        import iree.compiler, iree.runtime, jax
        from importlib.metadata import version
        self.c, self.r, self.jax, self.T = iree.compiler, iree.runtime, jax, T
        self.version = version("iree-base-compiler")
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={T}")

    def compile(self, text):
        for extra in (["--iree-opt-level=O3"], []):  # O3 hits a stack limit for some scatters
            try:
                return self.c.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=["--iree-llvmcpu-target-cpu=host"] + extra)
            except self.c.CompilerToolError as e:
                error = re.search(r"error: .*", str(e))
        raise RuntimeError("iree-compile " + (error.group(0)[:120] if error else "failed"))

    def variants(self, D):
        if D.c["dtype"] == "bf16" and D.op == "radd":
            return
        if D.c.get("skip"):
            raise RuntimeError("an index of -1 crashes the process (SIGSEGV)")
        for name, f in jax_functions(D):
            def make(f=f):
                t, s = D.table(), D.src()
                if t.dtype.itemsize == 2:  # pure copies: as uint16
                    t, s = t.view(np.uint16), s.view(np.uint16)
                ix = [np.ascontiguousarray(x.astype(np.int32)) for x in D.idx]
                text = self.jax.jit(f, keep_unused=True).lower(*(self.jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (t, ix[0], s))).as_text()
                vm = self.compile(text)
                cfg = self.r.Config("local-sync" if self.T == 1 else "local-task")
                ctx = self.r.SystemContext(config=cfg)
                ctx.add_vm_module(self.r.VmModule.copy_buffer(ctx.instance, vm))
                main = [v for k, v in ctx.modules.items() if k != "hal"][0].main
                put = lambda a: self.r.asdevicearray(cfg.device, a)
                dt, ds, di, out = put(t), put(s), [put(x) for x in ix], [None]
                return (lambda j: out.__setitem__(0, main(dt, di[j], ds))), (lambda: out[0].to_host())
            yield name, make, "overwrites the input buffer" if D.op not in ("rget", "ndget") else "new output"
