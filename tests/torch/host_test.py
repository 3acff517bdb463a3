#!/usr/bin/env python3
"""What stands around PyTorch's kernels, with strew.torch enabled: versions of saved tensors, subclasses and modes, conjugate and negative views, tensors without memory, vmap, forward derivatives,
inference mode, autocast, deterministic algorithms, compilation by aot_eager, copies on write, forked processes, threads that call while another one enables and disables.

    host_test.py [--only REGEX]

Exit status 0: right, 1: wrong.
"""
import argparse
import os
import re
import sys
import threading
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import outcomes
import strew.torch

ROWS, EDGES, WIDTH = 50, 400, 8


def numbers(seed=3, dtype=torch.float32):
    """A table, indices, updates."""
    draw = torch.Generator().manual_seed(seed)
    return (torch.randn(ROWS, WIDTH, generator=draw).to(dtype), torch.randint(0, ROWS, (EDGES,), generator=draw), torch.randn(EDGES, WIDTH, generator=draw).to(dtype))


def add_in_place(table, index, updates):
    return table.index_add_(0, index, updates)


def halves(table):
    return torch.arange(len(table)) % 2 == 0


# Each operator: what is called with a table, indices and updates, and the overload.
WRITES = {
    "index_add_": (add_in_place, "aten::index_add_"),
    "scatter_add_": (lambda t, i, u: t.scatter_add_(0, i[:, None].expand_as(u), u), "aten::scatter_add_"),
    "index_put_": (lambda t, i, u: t.index_put_((i,), u, accumulate=True), "aten::_index_put_impl_"),
    "index_add out": (lambda t, i, u: torch.index_add(t, 0, i, u, out=t), "aten::index_add.out"),
    "scatter_add out": (lambda t, i, u: torch.scatter_add(t, 0, i[:, None].expand_as(u), u, out=t), "aten::scatter_add.out"),
}
MAKES = {
    "index_add": (lambda t, i, u: t.index_add(0, i, u), "aten::index_add"),
    "scatter_add": (lambda t, i, u: t.scatter_add(0, i[:, None].expand_as(u), u), "aten::scatter_add"),
    "index_put": (lambda t, i, u: t.index_put((i,), u, accumulate=True), "aten::_index_put_impl_"),
    "index_put of a mask": (lambda t, i, u: t.index_put((halves(t),), u[0]), "aten::_index_put_impl_"),
    "masked_scatter": (lambda t, i, u: t.masked_scatter(halves(t)[:, None], u), "aten::masked_scatter_"),
    "index_select": (lambda t, i, u: t.index_select(0, i), "aten::index_select"),
    "index_select out": (lambda t, i, u: torch.index_select(t, 0, i, out=torch.empty_like(u)), "aten::index_select.out"),
}
BOTH = {**WRITES, **MAKES}


def runs_by_strew(failures):
    for name, (call, overload) in BOTH.items():
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32):
            strew.torch.report(clear=True)
            failures.check(f"{name} {dtype}", outcomes.compare(call, *numbers(dtype=dtype), threads=(1, 2, 8)))
            failures.require(f"{name} {dtype}: strew ran it each time", outcomes.calls_of(overload) == (3, 0))


def switches(failures):
    given = numbers()
    with outcomes.enabled(False):
        strew.torch.disable()
        strew.torch.report(clear=True)
        add_in_place(given[0].clone(), *given[1:])
        failures.require("strew ran nothing while it was disabled", outcomes.calls_by_strew() == 0 and not strew.torch.is_enabled())
        strew.torch.enable()
        strew.torch.enable()
        add_in_place(given[0].clone(), *given[1:])
        failures.require("strew ran it once after two calls of enable", outcomes.calls_by_strew() == 1 and strew.torch.is_enabled())
        strew.torch.disable()
        failures.require("one call of disable is enough", not strew.torch.is_enabled())
        failures.require("a report can be read", "strew ran 1" in repr(strew.torch.report()))
        strew.torch.report(clear=True)
        failures.require("a report is empty after it was cleared", outcomes.calls_by_strew() == 0)


def writes_nothing_after_an_error(failures):
    """The last index is out of bounds. PyTorch's kernels have written other rows by then."""
    for name, (call, _) in WRITES.items():
        for wrong in (ROWS, -ROWS - 1, 2**40):
            table, index, updates = numbers()
            index[-1] = wrong
            for threads in (1, 2, 8):
                with outcomes.enabled(False):
                    want = outcomes.outcome(call, table, index, updates)
                with outcomes.enabled(True, threads):
                    got = outcomes.outcome(call, table, index, updates)
                what = f"{name} with index {wrong} last, threads {threads}"
                failures.check(what, outcomes.differences(got, want, (table, index, updates), has_out=True))
                failures.require(what + ": nothing was written", torch.equal(got.arguments[0], table))
                failures.require(what + ": the error says where", "399" in str(got.error))


def versions(failures):
    for name, (call, _) in WRITES.items():
        table, index, updates = numbers()

        def raised():
            new = table.clone()
            before = new._version
            call(new, index, updates)
            return torch.tensor(new._version - before)
        failures.check(f"{name}: the version counter", outcomes.compare(raised))

        def overwrite():
            leaf = table.clone().requires_grad_()
            saved = leaf.exp()
            with torch.no_grad():
                call(saved, index, updates)
            saved.sum().backward()
        failures.check(f"{name}: a saved tensor that was overwritten", outcomes.compare(overwrite))
        with outcomes.enabled(True):
            failures.require(f"{name}: PyTorch notices", "modified by an inplace operation" in str(outcomes.outcome(overwrite).error))
        failures.check(f"{name}: a leaf that requires a gradient", outcomes.compare(lambda: call(table.clone().requires_grad_(), index, updates)))
        failures.check(f"{name}: a view of a leaf", outcomes.compare(lambda: call(table.clone().requires_grad_()[:], index, updates)))


class Subclass(torch.Tensor):
    """Has no functions of its own; PyTorch keeps the class."""


class Wrapper(torch.Tensor):
    """Holds another tensor, and passes operators on to it."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        plain = torch.utils._pytree.tree_map_only(cls, lambda each: each.inner, (args, kwargs or {}))
        result = function(*plain[0], **plain[1])
        return torch.utils._pytree.tree_map_only(torch.Tensor, cls, result)


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


def subclasses(failures):
    for name, (call, _) in BOTH.items():
        table, index, updates = numbers()

        def by_mode():
            with Seen() as seen:
                result = call(table.clone(), index, updates)
            return [result, torch.tensor(list("".join(seen.names).encode()), dtype=torch.uint8)]
        failures.check(f"{name} under a dispatch mode", outcomes.compare(by_mode))
        for position in (0, 2):
            given = [table.clone(), index, updates]
            given[position] = given[position].as_subclass(Subclass)
            failures.check(f"{name} with a subclass at {position}", outcomes.compare(lambda: call(*map(torch.clone, given))))
        with outcomes.enabled(True):
            kept = type(outcomes.outcome(lambda: call(table.clone().as_subclass(Subclass), index, updates)).results[0])
        if "out" not in name:
            failures.require(f"{name} keeps the subclass", kept is Subclass)
        failures.check(f"{name} with wrapped tensors", outcomes.compare(lambda: call(Wrapper(table.clone()), index, Wrapper(updates)).inner))
        failures.check(f"{name} with a parameter", outcomes.compare(lambda: call(torch.nn.Parameter(table.clone()), index, updates).detach()))


def views(failures):
    """Conjugate and negative bits of each tensor."""
    for name, (call, _) in BOTH.items():
        table, index, updates = numbers(dtype=torch.complex64)
        for left in (table, table.conj()):
            for right in (updates, updates.conj(), torch._neg_view(updates)):
                failures.check(f"{name} conj {left.is_conj()} {right.is_conj()} neg {right.is_neg()}", outcomes.compare(call, left, index, right))
        negative, real = table.conj().imag, updates.real.contiguous()
        failures.check(f"{name} of an imaginary part", outcomes.compare(call, negative, index, real))


def without_memory(failures):
    from torch._subclasses.fake_tensor import FakeTensorMode
    for name, (call, _) in BOTH.items():
        def on_meta():
            return torch.empty(0).new_tensor(call(*(each.to("meta") for each in numbers())).stride())

        def fake():
            with FakeTensorMode() as mode:
                size = call(*(mode.from_tensor(each) for each in numbers())).size()
            return torch.tensor(list(size))
        failures.check(f"{name} of meta tensors", outcomes.compare(on_meta))
        failures.check(f"{name} of fake tensors", outcomes.compare(fake))
    table, index, updates = numbers()
    sparse = table.to_sparse()
    failures.check("index_select of a sparse tensor", outcomes.compare(lambda: sparse.index_select(0, index)))
    failures.check("index_select of a compressed sparse tensor", outcomes.compare(lambda: table.to_sparse_csr().index_select(0, index)))
    quantized = torch.quantize_per_tensor(table, 0.1, 3, torch.quint8)
    failures.check("index_select of a quantised tensor", outcomes.compare(lambda: quantized.index_select(0, index).dequantize()))
    nested = torch.nested.nested_tensor([table, table[:7]])
    failures.check("index_select of a nested tensor", outcomes.compare(lambda: nested.index_select(0, torch.tensor([1, 0])).to_padded_tensor(0)))
    failures.check("index_put of a sparse tensor", outcomes.compare(lambda: sparse.index_put((index,), updates)))


def transforms(failures):
    from torch.func import functionalize, jvp, vjp, vmap
    from torch.fx.experimental.proxy_tensor import make_fx
    for name, (call, _) in MAKES.items():
        table, index, updates = numbers()
        if "out" not in name:
            tables, many = torch.stack([table, table + 1]), torch.stack([updates, updates - 1])
            indices = torch.stack([index, index.flip(0)])
            for dims in ((0, None, 0), (None, None, 0), (0, 0, 0), (None, 0, None)):
                given = [pair[0 if dim is None else 1] for pair, dim in zip(((table, tables), (index, indices), (updates, many)), dims, strict=True)]
                failures.check(f"vmap of {name}, dims {dims}", outcomes.compare(lambda: vmap(call, in_dims=dims)(*given)))
            failures.check(f"jvp of {name}", outcomes.compare(lambda: jvp(lambda t, u: call(t, index, u), (table, updates), (table + 1, updates + 2))))
            failures.check(f"vjp of {name}", outcomes.compare(lambda: (lambda pair: pair[1](pair[0]))(vjp(lambda t, u: call(t, index, u), table, updates))))
            failures.check(f"make_fx of {name}", outcomes.compare(lambda: make_fx(call)(table, index, updates)(table, index, updates)))
    for name, (call, _) in WRITES.items():
        failures.check(f"functionalize of {name}", outcomes.compare(lambda: functionalize(lambda t, i, u: call(t.clone(), i, u))(*numbers())))


def settings(failures):
    for name, (call, overload) in BOTH.items():
        def inference():
            with torch.inference_mode():
                return call(*(each.clone() for each in numbers()))

        def autocast():
            table, index, updates = numbers()
            with torch.autocast("cpu", torch.bfloat16):
                return call((table @ table.t())[:, :WIDTH].clone() if "index_select" not in name else table, index, updates)
        strew.torch.report(clear=True)
        failures.check(f"{name} in inference mode", outcomes.compare(lambda: inference().clone()))
        failures.require(f"strew ran {name} in inference mode", outcomes.calls_of(overload)[0] == 1)
        failures.check(f"{name} under autocast", outcomes.compare(autocast))
        torch.use_deterministic_algorithms(True)
        try:
            failures.check(f"{name}, deterministic", outcomes.compare(call, *numbers(), threads=(1, 2, 8)))
        finally:
            torch.use_deterministic_algorithms(False)

        def lazily():
            table, index, updates = numbers()
            new, kept = torch._lazy_clone(table), torch._lazy_clone(updates)
            result = call(new, index, kept)
            return [result, new, table, updates, torch.tensor([torch._C._is_cow_tensor(kept)])]
        failures.check(f"{name} of copies on write", outcomes.compare(lazily))


def deterministic_put(failures):
    """What PyTorch refuses as not deterministic, or warns of, with `torch.use_deterministic_algorithms`: overwriting elements by put_."""
    table, index, updates = torch.zeros(5), torch.tensor([1, 3, 1]), torch.ones(3)
    for warn_only in (False, True):
        torch.use_deterministic_algorithms(True, warn_only=warn_only)
        try:
            for accumulate in (False, True):
                what, call = f"put_, deterministic, accumulate={accumulate}, warn_only={warn_only}", lambda *all, accumulate=accumulate: all[0].put_(*all[1:], accumulate=accumulate)
                failures.check(what, outcomes.compare(call, table, index, updates))
                with outcomes.enabled(True), warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    error = outcomes.outcome(lambda call=call: call(table.clone(), index, updates)).error
                found = [type(error).__name__, len(caught)]
                expected = ["NoneType", 0] if accumulate else ["NoneType", 1] if warn_only else ["RuntimeError", 0]
                failures.require(f"{what}: {found}, expected {expected}", found == expected)
        finally:
            torch.use_deterministic_algorithms(False)


def compiled(failures):
    for name, (call, overload) in BOTH.items():
        def model(table, index, updates):
            return call(table * 2, index, updates.sigmoid()).cos()

        def run():
            torch._dynamo.reset()
            table, index, updates = numbers()
            leaf = updates.clone().requires_grad_("out" not in name)  # PyTorch has no gradients through `out=`
            result = torch.compile(model, backend="aot_eager")(table, index, leaf)
            return outcomes.gradients(lambda: result, [leaf]) if result.requires_grad else result
        strew.torch.report(clear=True)
        failures.check(f"{name} compiled by aot_eager", outcomes.compare(run))
        failures.require(f"strew ran a part of {name}, compiled by aot_eager", outcomes.calls_by_strew() > 0)


def sparse_gradients(failures):
    """Steps of an optimizer, a sum of gradients that are and are not sparse, versions, indices out of bounds."""
    def steps(momentum):
        table, index, updates = numbers()
        layer = torch.nn.Embedding.from_pretrained(table.clone(), freeze=False, sparse=True)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=momentum)
        for _ in range(3):
            optimizer.zero_grad()
            (layer(index) * updates).sum().backward()
            optimizer.step()
        return layer.weight.detach()

    def accumulated():
        table, index, updates = numbers()
        leaf = table.clone().requires_grad_()
        (leaf * 3).sum().backward()
        (torch.nn.functional.embedding(index, leaf, sparse=True) * updates).sum().backward()
        return leaf.grad

    def version():
        table, index, updates = numbers()
        before = table._version
        table.add_(torch.sparse_coo_tensor(index[None], updates, table.size(), check_invariants=False))
        return torch.tensor(table._version - before)
    for name, call in {"SGD": lambda: steps(0), "SGD with momentum": lambda: steps(0.9), "gradients": accumulated, "a version counter": version}.items():
        strew.torch.report(clear=True)
        failures.check(f"{name} with sparse gradients", outcomes.compare(call, threads=(1, 2)))
        failures.require(f"{name} with sparse gradients: strew ran some", outcomes.calls_of("aten::add_.Tensor")[0] + outcomes.calls_of("aten::add.Tensor")[0] > 0)
    failures.check("a sum of two sparse tensors", outcomes.compare(lambda: numbers()[0].to_sparse() + numbers(4)[0].to_sparse()))
    table, index, updates = numbers()
    index[-1] = ROWS
    with outcomes.enabled(True):
        sparse = torch.sparse_coo_tensor(index[None], updates, table.size(), check_invariants=False)
        found = outcomes.outcome(lambda: table.clone().add_(sparse))
        failures.require("an index out of bounds among equal ones is left out", torch.equal(found.results[0], table.clone().index_add_(0, index[:-1], updates[:-1])))
        known = torch.sparse_coo_tensor(torch.tensor([[1, ROWS]]), updates[:2], table.size(), is_coalesced=True, check_invariants=False)
        given = table.clone()
        found = outcomes.outcome(given.add_, known)
        failures.require("an index out of bounds is an error that says where", f"index {ROWS} is out of bounds for dimension 0 with size {ROWS}" in str(found.error))
        failures.require("nothing was written", torch.equal(given, table))


def forked(failures):
    """In the child, after the parent has used its threads."""
    with outcomes.enabled(True, 2):
        want = {name: call(*numbers()) for name, (call, _) in BOTH.items()}
        child = os.fork()
        if child == 0:
            same = all(torch.equal(call(*numbers()), want[name]) for name, (call, _) in BOTH.items())
            os._exit(0 if same and outcomes.calls_by_strew() else 1)
        failures.require("a forked process has the same results", os.waitpid(child, 0)[1] == 0)

        class Rows(torch.utils.data.Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, number):
                table, index, updates = numbers(number)
                return table.index_add_(0, index, updates)
        for number, batch in enumerate(torch.utils.data.DataLoader(Rows(), batch_size=1, num_workers=2)):
            failures.require("a worker has the same results", torch.equal(batch[0], Rows()[number]))


def threads(failures):
    """Two threads call while this one enables and disables."""
    given = numbers()
    with outcomes.enabled(False):
        want = {name: call(*(each.clone() for each in given)) for name, (call, _) in BOTH.items()}
    wrong, end = [], threading.Event()

    def work():
        while not end.is_set():
            for name, (call, _) in BOTH.items():
                if not torch.equal(call(*(each.clone() for each in given)), want[name]):
                    wrong.append(name)
    workers = [threading.Thread(target=work) for _ in range(2)]
    strew.torch.report(clear=True)
    for each in workers:
        each.start()
    for _ in range(400):
        strew.torch.enable()
        strew.torch.report()
        end.wait(0.001)
        strew.torch.disable()
        end.wait(0.001)
    end.set()
    for each in workers:
        each.join()
    failures.check("threads", [f"{each}: other results" for each in sorted(set(wrong))])
    failures.require("some calls were strew's", outcomes.calls_by_strew() > 0)


def repeatable(failures):
    """Sums of many float32, on several threads: PyTorch's index_put_ gives others in each run."""
    draw = torch.Generator().manual_seed(4)
    table, index, updates = torch.randn(1000, 16, generator=draw), torch.randint(0, 1000, (60000,), generator=draw), torch.randn(60000, 16, generator=draw)
    for name, (call, _) in BOTH.items():
        failures.check(f"{name} of many", outcomes.compare(call, table, index, updates, threads=(1, 2, 8, 2)))


def corners(failures):
    """Factors that 16 bits have not, and segments that begin behind the first row of another dim."""
    for dtype in (torch.float16, torch.bfloat16):
        one = torch.ones(1, dtype=dtype)
        failures.check(f"a large alpha of {dtype}", outcomes.compare(lambda t: t.index_add_(0, torch.tensor([0]), one, alpha=1e300), torch.zeros(3, dtype=dtype)))
    data, offsets = torch.arange(8.0).view(1, 4, 2), torch.tensor([[1, 3]])
    failures.check("segments of dim 1", outcomes.compare(lambda d: torch.segment_reduce(d, "sum", offsets=offsets, axis=1), data))


TESTS = (corners, runs_by_strew, switches, writes_nothing_after_an_error, versions, subclasses, views, without_memory, transforms, settings, deterministic_put, compiled, threads, repeatable, sparse_gradients, forked)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failures = outcomes.Failures()
    for test in TESTS:
        if re.search(options.only, test.__name__):
            test(failures)
            print(f"{test.__name__}: {failures.checks} checks so far, {failures.count} failures", flush=True)
    return failures.end()


if __name__ == "__main__":
    sys.exit(main())
