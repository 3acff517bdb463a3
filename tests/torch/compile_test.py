#!/usr/bin/env python3
"""torch.compile with strew: drawn chains of gathers, elementwise operators and scatters through the backend `strew`, bit for bit those of eager PyTorch, forward and backward, and through inductor with
strew's pass, by tolerance; drawn programs that update what they read; what is folded and what is not; updates in place; open extents; errors; inductor's cache.

    compile_test.py [--seed N] [--iterations N] [--inductor N] [--only N]

Exit status 0: right, 1: wrong.
"""
import argparse
import contextlib
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings
import weakref

import torch
import torch.nn.functional as F
from torch._inductor.utils import fresh_cache

import draw_programs
import strew.torch
from strew.torch import _compile

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
SUMS, EXTREMA = ("index_add", "index_put", "scatter_add", "scatter_reduce", "new_zeros"), ("amax", "amin")


class Drawn:
    """A function of tables, weights of edges and a bias, by words that say what it does, and its arguments."""

    def __init__(self, rng, dtype, scatters):
        self.words, self.window = [], rng.choice(((), (1,), (3,), (8,), (16,), (33,), (2, 4), (4, 16)))
        self.rows, self.sources, self.edges = rng.randint(1, 30), rng.randint(1, 30), rng.choice((1, 2, 17, 300))
        index = rng.choice((torch.int32, torch.int64)) if rng.random() < 0.3 else torch.int64
        self.dst, self.src, self.other = (torch.randint(n, (self.edges,)).to(index) for n in (self.rows, self.sources, self.rows))
        self.arguments = [torch.randn(self.sources, *self.window), torch.randn(self.rows, *self.window), torch.randn(self.edges),
                          torch.randn(self.window), torch.rand(self.edges, *self.window[:-1]) + 0.5]
        self.arguments = [each.to(dtype) for each in self.arguments]
        self.steps = [rng.choice(("weight", "other", "bias", "scalar", "quotient", "leaky", "negative", "where", "square", "exp", "relu", "detach", "heads", "twice"))
                      for _ in range(rng.randint(0, 4))]
        self.gather = rng.choice(("index", "index_select", "gather", "embedding"))
        self.scatter = rng.choice(scatters)
        self.base = rng.random() < 0.15
        if self.gather == "embedding" and len(self.window) != 1:
            self.gather = "index"
        if self.scatter not in ("index_add", "index_put"):
            self.dst = self.dst.long()
        if self.scatter in EXTREMA:  # many are equal, zeros of both signs among them, and some are NaN
            self.arguments = [torch.round(each) * rng.choice((1, -1)) for each in self.arguments]
            self.arguments[0].view(-1)[:: rng.choice((5, 1000))] = float("nan")

    def __repr__(self):
        return f"{self.gather} {self.steps} {self.scatter}{' onto a tensor' if self.base else ''}, window {self.window}, {self.edges} edges, {self.arguments[0].dtype}, {self.dst.dtype}"

    def wide(self, index):
        return index.view(-1, *[1] * len(self.window)).expand(-1, *self.window)

    def gathered(self, table, index):
        if self.gather == "index":
            return table[index]
        if self.gather == "index_select":
            return table.index_select(0, index)
        if self.gather == "gather":
            return torch.gather(table, 0, self.wide(index).long())
        return F.embedding(index, table)

    def step(self, word, m, y, weight, bias, heads):
        ones = [1] * len(self.window)
        if word == "weight":
            return m * weight.view(-1, *ones)
        if word == "heads":
            return m * heads.unsqueeze(-1) if self.window else m / heads
        if word == "other":
            return m + self.gathered(y, self.other)
        if word == "bias":
            return m - bias
        if word == "scalar":
            return m * 0.3
        if word == "quotient":
            return m / 3 + 0.1
        if word == "leaky":
            return F.leaky_relu(m, 0.2)
        if word == "negative":
            return -m
        if word == "where":
            return torch.where(m > 0.25, m, weight.view(-1, *ones).to(m.dtype) * 2)
        if word == "square":
            return m * m
        if word == "exp":
            return (m * 0.1).exp()
        if word == "relu":
            return m.relu()
        if word == "detach":
            return m.detach() * m
        return m + m * weight.view(-1, *ones)

    def __call__(self, x, y, weight, bias, heads):
        m = self.gathered(x, self.src)
        for word in self.steps:
            m = self.step(word, m, y, weight, bias, heads)
        into = y * 1 if self.base else torch.zeros(self.rows, *self.window, dtype=m.dtype)
        if self.scatter in EXTREMA:
            into = into if self.rows % 2 else torch.full((self.rows, *self.window), float("-inf" if self.scatter == "amax" else "inf"), dtype=m.dtype)
            return into.scatter_reduce(0, self.wide(self.dst), m, self.scatter)
        if self.scatter == "index_add":
            return into.index_add(0, self.dst, m)
        if self.scatter == "index_put":
            return into.index_put((self.dst,), m, accumulate=True)
        if self.scatter == "scatter_add":
            return into.scatter_add(0, self.wide(self.dst), m)
        if self.scatter == "scatter_reduce":
            return into.scatter_reduce(0, self.wide(self.dst), m, "sum")
        return m.new_zeros(self.rows, *self.window).scatter_add_(0, self.wide(self.dst), m)

    def run(self, function):
        """The result and the gradients."""
        leaves = [each.clone().requires_grad_() for each in self.arguments]
        result = function(*leaves)
        if not result.requires_grad:
            return [result]
        scale = torch.linspace(-1, 1, result.numel(), dtype=torch.float64).to(result.dtype).view(result.shape)
        gradients = torch.autograd.grad((result * scale).sum(), leaves, allow_unused=True)
        return [result.detach(), *gradients]


def same_bits(one, other):
    if one is None or other is None:
        return one is other
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[one.element_size()]
    nan = one.isnan() & other.isnan()
    return one.dtype is other.dtype and one.shape == other.shape and bool(((one.contiguous().view(integer) == other.contiguous().view(integer)) | nan).all())


def close(one, other):
    return one is other if one is None or other is None else torch.allclose(one, other, rtol=1e-9, atol=1e-9)


class Folded:
    """Counts the chains that are folded meanwhile."""

    def __init__(self):
        self.count = 0

    @contextlib.contextmanager
    def counting(self):
        fold = _compile.fold_chains

        def counted(graph, **how):
            number = fold(graph, **how)
            self.count += number
            return number

        _compile.fold_chains = counted
        try:
            yield self
        finally:
            _compile.fold_chains = fold


def check_backend(seed, iterations, only, failures):
    with Folded().counting() as folded:
        for number in range(iterations) if only is None else (only,):
            rng = random.Random(f"{seed} {number}")
            torch.manual_seed(rng.getrandbits(32))
            drawn = Drawn(rng, rng.choice(FLOATS), SUMS + EXTREMA)
            torch.set_num_threads(1)
            expected = drawn.run(drawn)
            torch._dynamo.reset()
            compiled = torch.compile(drawn.__call__, backend="strew", dynamic=rng.random() < 0.2)
            for threads in (1, 2, 8):
                torch.set_num_threads(threads)
                got = drawn.run(compiled)
                wrong = [place for place, (a, b) in enumerate(zip(expected, got, strict=True)) if not same_bits(a, b)]
                if wrong:
                    failures.append(f"draw {number} (--only {number}), {threads} threads: results {wrong} differ: {drawn}")
                    break
    if only is None and folded.count < iterations // 2:
        failures.append(f"of {iterations} drawn functions only {folded.count} chains were folded")
    return folded.count


def check_programs(what, same, dtypes, door, without_strew, seed, iterations, only, failures):
    """Programs that update in place what they read. One that eager PyTorch refuses, because a gradient needs what was overwritten, or that PyTorch runs otherwise than eagerly without strew,
    too, says nothing of strew."""
    def wrong(program, expected, how):
        torch._dynamo.reset()
        try:
            got = program.run(torch.compile(program.__call__, **how))
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {str(error)[-300:]}"
        return [place for place, (a, b) in enumerate(zip(expected, got, strict=True)) if not same(a, b)]

    count = 0
    torch.set_num_threads(1)
    for number in range(iterations) if only is None else (only,):
        rng = random.Random(f"{seed} {what} {number}")
        torch.manual_seed(rng.getrandbits(32))
        program = draw_programs.Program(rng, rng.choice(dtypes))
        try:
            expected = program.run(program)
        except RuntimeError:
            continue
        found = wrong(program, expected, door)
        count += not found
        if found and not wrong(program, expected, without_strew):
            failures.append(f"{what} {number} (--only {number}): {found}: {program}")
    if only is None and count < iterations // 2:
        failures.append(f"{what}: of {iterations} only {count} had eager PyTorch's results")


def check_inductor(seed, iterations, only, failures):
    options = strew.torch.inductor_options()
    with Folded().counting() as folded:
        for number in range(iterations) if only is None else (only,):
            rng = random.Random(f"{seed} inductor {number}")
            torch.manual_seed(rng.getrandbits(32))
            drawn = Drawn(rng, rng.choice(FLOATS), SUMS)
            torch.set_num_threads(1)
            exact = Drawn.run(drawn, drawn)
            torch._dynamo.reset()
            compiled = torch.compile(drawn.__call__, options=options)
            results = []
            try:
                for threads in (1, 2, 2):
                    torch.set_num_threads(threads)
                    results.append(drawn.run(compiled))
            except Exception as error:  # noqa: BLE001
                failures.append(f"inductor, draw {number}: {str(error)[-500:]}: {drawn}")
                continue
            # Inductor computes 16 bits in float32, and its row sums in an order of its own.
            eps = torch.finfo(drawn.arguments[0].dtype).eps
            for place, (a, b) in enumerate(zip(exact, results[0], strict=True)):
                if a is not None and not torch.allclose(a.double(), b.double(), rtol=64 * eps, atol=64 * eps * max(1.0, float(a.abs().max()) if a.numel() else 1.0), equal_nan=True):
                    failures.append(f"inductor, draw {number}: result {place} differs by {(a.double() - b.double()).abs().max()}: {drawn}")
            if not all(same_bits(a, b) for a, b in zip(results[1], results[2], strict=True)):
                failures.append(f"inductor, draw {number}: two runs on two threads differ: {drawn}")
    if only is None and iterations and folded.count < iterations // 2:
        failures.append(f"of {iterations} drawn functions only {folded.count} chains were folded in inductor")


def graph_of(function, *arguments, backward=False):
    """The operators of the graphs that the backend `strew` runs."""
    graphs, compile_graph = [], _compile._write_in_place

    def watched(module):
        compile_graph(module)
        graphs.append([str(node.target) for node in module.graph.nodes if node.op == "call_function"])

    torch._dynamo.reset()
    _compile._write_in_place = watched
    try:
        result = torch.compile(function, backend="strew")(*arguments)
        if backward:
            result.sum().backward()
    finally:
        _compile._write_in_place = compile_graph
    return graphs


def check_what_is_folded(failures):
    dst, src, x, w = torch.randint(6, (50,)), torch.randint(5, (50,)), torch.randn(5, 4), torch.rand(50)

    def expect(what, graphs, *expected):
        found = [[name for name in graph if "strew" in name or "index" in name or "copy" in name or "scatter" in name] for graph in graphs]
        if found != [list(each) for each in expected]:
            failures.append(f"{what}: {found}, expected {expected}")

    leaf = x.clone().requires_grad_()
    expect("forward and backward", graph_of(lambda x: torch.zeros(6, 4).index_add_(0, dst, x[src] * w[:, None]), leaf, backward=True),
           ["strew.op.default"], ["strew.op.default"])

    in_place = "strew.update_.default" if torch.__version__ >= "2.15" else "strew.update.default"
    for what, value, folded in (("zeros", 0.0, ["strew.op.default"]), ("-inf", float("-inf"), ["strew.op.default"]), ("ones", 1.0, ["aten.index.Tensor", in_place])):
        expect(f"maxima onto {what}", graph_of(lambda x, value=value: torch.full((6, 4), value).scatter_reduce_(0, dst[:, None].expand(-1, 4), x[src] * w[:, None], "amax"), x), folded)
    # What runs is what the graph says.
    layer = torch.compile(lambda x: torch.zeros(6, 4).index_add_(0, dst, x[src] * w[:, None]), backend="strew")
    layer(leaf).sum().backward()
    with torch.profiler.profile() as profile:
        layer(leaf).sum().backward()
    names = [event.name for event in profile.events()]
    if names.count("strew::op") != 2 or any(name in names for name in ("aten::index", "aten::index_select", "aten::index_add", "aten::index_put", "aten::mul")):
        failures.append(f"forward and backward run {sorted(set(names))}")

    def read_twice(x):
        messages = x[src] * 2
        return torch.zeros(6, 4).index_add_(0, dst, messages) + messages.sum()

    expect("messages that something else reads", graph_of(read_twice, x), ["aten.index.Tensor", "aten.index_add.default"])
    cache = torch.zeros(9, 4)
    slots = torch.tensor([3, 1])

    def append(cache, rows):
        cache[slots] = rows
        return cache.sum()

    expect("a cache is written in place", graph_of(append, cache, torch.ones(2, 4)), ["aten.index_put_.default"])
    if cache.sum() != 8:
        failures.append("the cache was not written")

    def add_in_place(table, rows):
        table.index_add_(0, slots, rows * 2)
        return rows.sum()

    expect("a table is added to in place", graph_of(add_in_place, cache, torch.ones(2, 4)), ["strew.update_.default"])
    if cache.sum() != 24:
        failures.append("the table was not added to")
    caches = [torch.zeros(9, 4) for _ in range(2)]

    def append_twice(*caches):
        for number, cache in enumerate(caches):
            cache.index_copy_(0, slots, torch.full((2, 4), number + 1.0)).index_fill_(0, slots[:1], 7)
        return caches[0].sum() + caches[1][2:].sum()

    expect("caches are written one after the other", graph_of(append_twice, *caches), ["aten.index_copy_.default", "aten.index_fill_.int_Scalar"] * 2)
    if [cache.sum().item() for cache in caches] != [32, 36]:
        failures.append(f"caches that are written twice: {[cache.sum().item() for cache in caches]}")

    def read_as_it_was(cache):
        before = cache[3:4]
        cache.index_fill_(0, slots, 0)
        return before + cache.sum()

    expected = read_as_it_was(caches[0].clone())
    graphs = graph_of(read_as_it_was, caches[0].clone())
    if not torch.equal(torch.compile(read_as_it_was, backend="strew")(caches[0].clone()), expected):
        failures.append(f"a view of a cache that is written: {graphs}")
    weight, grad = torch.ones(4), torch.full((4,), 2.0)

    def descend(weight, grad):
        weight.sub_(grad, alpha=0.25)
        weight.add_(weight.flip(0))  # reads what it writes

    graphs = [[name for name in graph if "copy" in name or "sub" in name or "add" in name] for graph in graph_of(descend, weight, grad)]
    if graphs != [["aten.sub.Tensor", "aten.add.Tensor", "aten.copy_.default"]]:
        failures.append(f"a step of descent: {graphs}")
    descent = graph_of(lambda weight: (weight.sub_(grad, alpha=0.25), grad.sum())[1], weight)
    if [name for name in descent[0] if "copy" in name or "sub" in name] != ["aten.sub_.Tensor"]:
        failures.append(f"a step of descent in place: {descent}")
    if weight.tolist() != [0.5] * 4:
        failures.append(f"a step of descent: {weight.tolist()}")
    # Of strew's own operator that updates a tensor, functions of functions make one that does not.
    text = "strew1.scatter(operand=f32[3] indices=i64[1] updates=f32[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place oob=error)"
    one = torch.func.functionalize(lambda t: torch.ops.strew.update_(t.clone(), text, [torch.tensor([1]), torch.ones(1)]))(torch.zeros(3))
    if one.tolist() != [0, 1, 0]:
        failures.append(f"update_ under functionalize: {one.tolist()}")


def run_with_gradients(function, leaves):
    """The results and the gradients of fresh copies of the leaves; those that require none are given as they are."""
    own = [each.clone().requires_grad_(each.is_floating_point()) for each in leaves]
    results = function(*own)
    results = results if isinstance(results, tuple) else (results,)
    total = sum((each * torch.linspace(-1, 1, each.numel(), dtype=torch.float64).to(each.dtype).view(each.shape)).sum() for each in results)
    return [each.detach() for each in results] + list(torch.autograd.grad(total, [each for each in own if each.requires_grad], allow_unused=True))


def corner_cases():
    """Functions and their arguments, made anew with each call, and each once wrong: what they read is updated, chains share what they read, an operand is an update, numbers and dtypes at their ends, no elements."""
    draw = torch.Generator().manual_seed(3)
    n, d, e = 7, 3, 20
    dst, src = (torch.randint(n, (e,), generator=draw) for _ in range(2))
    perm = torch.randperm(n, generator=draw)
    h, x, one = torch.randn(n, d, generator=draw), torch.randn(n, d, generator=draw), torch.randn(n, 1, generator=draw)
    zeros, w = torch.zeros, torch.randn(e, d, generator=draw)
    halfway = (1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40)  # above what lies between two numbers of 16 bits, and float32 has just that

    buffer = x.clone()  # an input of the graph, which updates it

    def read_before(w):
        rows, waves = buffer[src], (buffer * 0.01).sin()[src]
        with torch.no_grad():
            buffer.add_(100)
        return (rows * w).sum() + (waves * w).sum() + buffer.mean()

    def deep(x):
        m = x[src]
        for _ in range(700):
            m = m * 1.001
        return zeros(n, d).index_add_(0, dst, m)

    def shared(one, h):
        g = one[src] * 2
        return zeros(n, 1).index_add_(0, dst, g), zeros(n, d).index_add_(0, dst, h[src] * g)

    def two_kinds(v, y):
        g = v.index_select(0, perm)
        return zeros(n).index_add_(0, perm, g * 2), (y * 1).index_add(0, perm, g * 0.5)

    return {
        "a tensor that is read and updated": (read_before, (w,)),
        "a column that two chains read": (shared, (one, h)),
        "the same column, as it is": (lambda one, h: (zeros(n, 1).index_add_(0, dst, one[src]), zeros(n, d).index_add_(0, dst, h[src] * one[src])), (one, h)),
        "chains onto zeros and onto a tensor": (two_kinds, (one[:, 0].contiguous(), h[:, 0].contiguous())),
        "maxima": (lambda x: torch.full((n, d), float("-inf")).scatter_reduce(0, dst[:, None].expand(-1, d), x[src] * 2, "amax").clamp(min=0), (x,)),
        "updates that are the operand": (lambda x: (y := x + 1).index_add(0, perm, y * 0.5), (x,)),
        "a factor that float32 has not": (lambda x: zeros(n, d).index_add_(0, dst, x[src] * 1e300), (x,)),
        "an integer that float64 has not": (lambda x: zeros(n, d).index_add_(0, dst, x[src] + (2**54 + 2**30 + 1)), (x,)),
        "float64 to float16": (lambda x: zeros(n, d, dtype=torch.float16).index_put((perm,), x[perm].to(torch.float16), accumulate=True), (torch.full((n, d), halfway[0], dtype=torch.float64),)),
        "float64 to bfloat16": (lambda x: zeros(n, d, dtype=torch.bfloat16).index_put((perm,), x[perm].to(torch.bfloat16), accumulate=True), (torch.full((n, d), halfway[1], dtype=torch.float64),)),
        "negative zeros": (lambda x: torch.full((n, d), -0.0).index_add_(0, dst, x[src] * 0), (x,)),
        "no elements": (lambda x: zeros(n, 2, 0).index_add_(0, dst, x[src] * torch.ones(e, 1, 0)), (torch.zeros(n, 2, 0),)),
        "no elements, indices of two dims": (lambda u: zeros(n, 0).index_put((dst.view(4, 5),), u, accumulate=True), (torch.zeros(4, 5, 0),)),
        "700 operators": (deep, (x,)),
    }


def check_corner_cases(failures):
    for what, (function, leaves) in corner_cases().items():
        torch._dynamo.reset()
        try:
            torch.set_num_threads(1)
            compiled = torch.compile(corner_cases()[what][0], backend="strew")
            expected, got = run_with_gradients(function, leaves), run_with_gradients(compiled, leaves)
            wrong = [place for place, (a, b) in enumerate(zip(expected, got, strict=True)) if not same_bits(a, b)]
            if wrong:
                failures.append(f"{what}: results {wrong} differ")
        except Exception as error:  # noqa: BLE001
            failures.append(f"{what}: {type(error).__name__}: {str(error)[-300:]}")


def check_inductor_corner_cases(failures):
    """Those that the pass inside inductor failed on. Tensors are compared closely; what inductor itself does with constants that float32 has not, or with many operators, is not looked at."""
    for what in ("a tensor that is read and updated", "a column that two chains read", "maxima", "updates that are the operand", "no elements, indices of two dims"):
        function, leaves = corner_cases()[what]
        torch._dynamo.reset()
        try:
            compiled = torch.compile(corner_cases()[what][0], options=strew.torch.inductor_options())
            expected, got = run_with_gradients(function, leaves), run_with_gradients(compiled, leaves)
            if not all(torch.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(expected, got, strict=True)):
                failures.append(f"inductor, {what}: other results")
        except Exception as error:  # noqa: BLE001
            failures.append(f"inductor, {what}: {type(error).__name__}: {str(error)[-300:]}")


def check_sizes_from_data(failures):
    """Extents that only the data has."""
    mask, table, dst, src = torch.rand(30) > 0.4, torch.randn(7, 3), torch.randint(6, (30,)), torch.randint(7, (30,))

    def chosen(table):
        i = mask.nonzero().squeeze(1)
        return torch.zeros(6, 3).index_add_(0, dst[i], table[src[i]] * 2)

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        torch._dynamo.reset()
        try:
            expected, got = run_with_gradients(chosen, (table,)), run_with_gradients(torch.compile(chosen, backend="strew", fullgraph=True), (table,))
            if not all(map(same_bits, expected, got)):
                failures.append("extents that only the data has: other results")
        except Exception as error:  # noqa: BLE001
            failures.append(f"extents that only the data has: {type(error).__name__}: {str(error)[-300:]}")


def check_memory(failures):
    """What a graph reads for the last time is freed before it ends."""
    seen = []

    def look(tensor):
        seen.append(given() is None)
        return tensor

    graph = torch.fx.Graph()
    first = graph.call_function(torch.ops.aten.neg.default, (graph.placeholder("given"),))
    graph.output((graph.call_function(look, (first,)),))
    inputs = [torch.ones(3)]
    given = weakref.ref(inputs[0])
    results = _compile._compile_graph(torch.fx.GraphModule({}, graph), inputs)(inputs)
    if seen != [True] or results[0].tolist() != [-1] * 3:
        failures.append(f"an input of a graph lives as long as the graph runs: {seen}")


def check_inductor_writes_in_place(failures):
    from torch._inductor.utils import run_and_get_code

    dst, table, rows = torch.randint(9, (50,)), torch.zeros(9, 4), torch.randn(50, 4)

    def add_in_place(table, rows):
        table.index_add_(0, dst, rows * 2)
        return rows.sum()

    expected = table.clone()
    add_in_place(expected, rows)
    torch._dynamo.reset()
    # Compiled anew, so that there is code to look at.
    with torch._inductor.config.patch(force_disable_caches=True):
        _, code = run_and_get_code(torch.compile(add_in_place, options=strew.torch.inductor_options()), table, rows)
    by = "strew.update_.default" if torch.__version__ >= "2.15" else "strew.update.default"
    if not torch.equal(table, expected) or by not in code[0]:
        failures.append("inductor does not add to the table in place")


def check_inductor_without_gradients(failures):
    """What only graphs without gradients have: an operand that is also read as updates, and masked updates, whose indices may count from the end."""
    n, perm, x = 7, torch.randperm(7), torch.randn(7, 3)
    index, mask, updates = torch.tensor([[0, -1, 6], [2, 2, -7]]), torch.tensor([[True, True, False], [True, True, True]]).unsqueeze(-1), torch.randn(2, 3, 4)
    cases = {
        "an operand that is the updates": lambda: (y := x.exp()).index_add(0, perm, y),
        "an operand that the updates are made of": lambda: (y := x.exp()).index_add(0, perm, y * 0.5),
        "masked updates": lambda: torch.ops.aten._unsafe_masked_index_put_accumulate(torch.zeros(n, 4), mask, [index], updates),
        "masked updates of integers": lambda: torch.ops.aten._unsafe_masked_index_put_accumulate(torch.zeros(n, 4, dtype=torch.int64), mask, [index], updates.long()),
    }
    for what, call in cases.items():
        torch._dynamo.reset()
        try:
            with torch.no_grad():
                expected, got = call(), torch.compile(call, options=strew.torch.inductor_options())()
            if not torch.allclose(expected, got, rtol=1e-5, atol=1e-5):
                failures.append(f"inductor, {what}: other results")
        except Exception as error:  # noqa: BLE001
            failures.append(f"inductor, {what}: {type(error).__name__}: {str(error)[-300:]}")


def check_repeatable(failures):
    """What inductor makes of such sums on two threads is not, without strew."""
    torch.set_num_threads(2)
    ids, weight = torch.randint(20, (64, 50)), torch.randn(20, 8)

    def bags(weight):
        return F.embedding(ids, weight).mul(0.1).sum(1)

    torch._dynamo.reset()
    compiled = torch.compile(bags, options=strew.torch.inductor_options())
    gradients = []
    for threads in (1, 2, 2, 8):
        torch.set_num_threads(threads)
        leaf = weight.clone().requires_grad_()
        (compiled(leaf) * torch.linspace(-1, 1, 64)[:, None]).sum().backward()
        gradients.append(leaf.grad)
    if not all(torch.equal(gradients[0], each) for each in gradients[1:]):
        failures.append("gradients of an embedding differ from run to run in inductor")


def check_repeated_edges(failures):
    """Edges that come again and again are summed in the order of their destinations: the same bits, and the same errors."""
    rows, count = 300, 17000
    dst, src = torch.randint(rows, (count,)), torch.randint(-rows, rows, (count,))
    x, heads, each, gate = torch.randn(rows, 4, 16), torch.randn(count, 4, 1), torch.randn(count, 1, 1), torch.randn(4, 16)

    def layer(x, heads):
        messages = x[src] * heads * each + x[dst] * gate
        return torch.zeros(rows, 4, 16).index_add_(0, dst, messages)

    torch._dynamo.reset()
    compiled = torch.compile(layer, backend="strew")
    for turn in range(12):
        if turn == 6:  # from here on no number is negative, and the edges are sorted after some calls
            src.clamp_(min=0)
        torch.set_num_threads(1)  # PyTorch's own sums are the same in every run only there
        expected = run_with_gradients(layer, [x, heads])
        torch.set_num_threads((1, 2, 8)[turn % 3])
        if not all(same_bits(*pair) for pair in zip(run_with_gradients(compiled, [x, heads]), expected, strict=True)):
            failures.append(f"edges that are given again, call {turn}: other bits than eager's")
    text = "strew1.scatter(operand=f32[300,64] indices=i64[?] updates=f32[?,64] lookups=[updates(0)=gather(operand=f32[?,64] indices=i64[?] result=f32[?,64] offset_dims=[1] collapsed_slice_dims=[0] " \
           "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,64] oob=error)] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add " \
           "init=fill fill=0:f32 oob=error)"
    table = torch.randn(rows, 64)
    src[5] = rows - 1
    for _ in range(6):
        torch.ops.strew.op(text, [dst, table, src], [rows, 64])
    try:
        torch.ops.strew.op(text, [dst, table[: rows - 1], src], [rows, 64])
        failures.append("edges that were given again, of a table with fewer rows: no error")
    except IndexError as error:
        if "nothing was written" not in str(error):
            failures.append(f"edges that were given again, of a table with fewer rows: {error}")


def check_sparse_gradients(failures):
    """Sparse tensors, of which a graph of forward and backward pass has some, have no memory that could be looked at, and none is updated in place."""
    ids, table, weight = torch.randint(30, (64,)), torch.randn(30, 8), torch.randn(8, 8)

    def loss(table, weight):
        rows = torch.nn.functional.embedding(ids, table, sparse=True) @ weight
        return torch.zeros(5, 8).index_add_(0, ids % 5, rows[:, :8] * 0.5).square().sum()

    for what, door in (("backend", {"backend": "strew"}), ("inductor", {"options": strew.torch.inductor_options()})):
        torch._dynamo.reset()
        try:
            eager, compiled = ([table.clone().requires_grad_(), weight.clone().requires_grad_()] for _ in range(2))
            loss(*eager).backward()
            torch.compile(loss, **door)(*compiled).backward()
            if not compiled[0].grad.is_sparse or not all(torch.allclose(a.grad.to_dense(), b.grad.to_dense(), rtol=1e-5, atol=1e-5) for a, b in zip(eager, compiled, strict=True)):
                failures.append(f"{what}, a sparse gradient: other results")
        except Exception as error:  # noqa: BLE001
            failures.append(f"{what}, a sparse gradient: {type(error).__name__}: {str(error)[-300:]}")


def check_errors(failures):
    x, bad = torch.randn(5, 4), torch.tensor([0, 7, 1])
    op, index = torch.ops.strew.op, torch.tensor([1])
    rows = "strew1.scatter(operand=f32[3] indices=i64[1] updates=f32[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add{} oob=error)"
    fill, in_place, ones = rows.format(" init=fill fill=0:f32"), rows.format(" init=in_place"), torch.ones(1)
    cases = (
        ("a bad index of a table", IndexError, "out of bounds", lambda: torch.compile(lambda x: torch.zeros(3, 4).index_add_(0, torch.tensor([0, 1, 2]), x.index_select(0, bad) * 2), backend="strew")(x)),
        ("a bad index of the result", IndexError, "out of bounds", lambda: torch.compile(lambda x: torch.zeros(3, 4).index_add_(0, bad, x[:3] * 2), backend="strew")(x)),
        ("no text of an op", RuntimeError, "op", lambda: op("nonsense", [index], [3])),
        ("too few inputs", RuntimeError, "expected 2 inputs, but got 1", lambda: op(fill, [index], [3])),
        ("a dtype", RuntimeError, "expected indices to be i64", lambda: op(fill, [index.int(), ones], [3])),
        ("a rank", RuntimeError, "of 1 dims", lambda: op(fill, [index, torch.ones(1, 1)], [3])),
        ("a size", RuntimeError, "result", lambda: op(fill, [index, ones], [4])),
        ("an op that updates in place", RuntimeError, "in place", lambda: op(in_place, [index, ones], [3])),
        ("an op that does not", RuntimeError, "init=in_place", lambda: torch.ops.strew.update(torch.zeros(3), fill, [index, ones])),
        ("self of another dtype", RuntimeError, "expected self to be", lambda: torch.ops.strew.update_(torch.zeros(3, dtype=torch.float64), in_place, [index, ones])),
        ("a leaf that requires grad", RuntimeError, "leaf", lambda: torch.ops.strew.update_(torch.zeros(3, requires_grad=True), in_place, [index, ones])),
        ("a derivative", RuntimeError, "derivative for strew::op", lambda: op(fill, [index, torch.ones(1, requires_grad=True)], [3]).sum().backward()),
        ("an index of an update", IndexError, "nothing was written", lambda: torch.ops.strew.update_(torch.zeros(3), in_place, [torch.tensor([3]), ones])),
    )
    for what, kind, words, call in cases:
        torch._dynamo.reset()
        try:
            call()
            failures.append(f"{what}: no error")
        except kind as error:
            if words not in str(error):
                failures.append(f"{what}: {error}")
        except Exception as error:  # noqa: BLE001
            failures.append(f"{what}: {type(error).__name__}: {error}")
    # A saved tensor that is overwritten is PyTorch's error.
    saved = torch.randn(3)
    result = (torch.randn(3, requires_grad=True) * saved).sum()
    torch.ops.strew.update_(saved, in_place, [index, ones])
    try:
        result.backward()
        failures.append("a saved tensor that was updated: no error")
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            failures.append(f"a saved tensor that was updated: {error}")


def check_name(failures):
    """`backend="strew"` where strew is installed, and PyTorch finds it by its entry point: here one in a folder of its own. As the first call, and after strew.torch.backend."""
    call = "x = torch.ones(3); assert torch.equal(torch.compile(lambda x: x[torch.tensor([1, 0])] * 2, backend='strew')(x), torch.full((2,), 2.0))"
    with tempfile.TemporaryDirectory() as folder:
        info = pathlib.Path(folder, "strew_entry-1.dist-info")
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strew_entry\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[torch_dynamo_backends]\nstrew = strew.torch._compile:backend\n")
        for first in ("", "strew.torch.backend; "):
            code = f"import sys, torch, strew.torch; sys.path.append({folder!r}); {first}{call}"
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], text=True, capture_output=True)
            if done.returncode:
                failures.append(f"the backend by its name, {first}: {done.stderr[-300:]}")


def check_options(failures):
    """What inductor's cache keys the passes by, and that they can be sent to its workers."""
    import pickle

    one, other = (strew.torch.inductor_options() for _ in range(2))
    for name, each in one.items():
        if not each.uuid() or each.uuid() != other[name].uuid() or pickle.loads(pickle.dumps(each)).uuid() != each.uuid():
            failures.append(f"{name}: its uuid is {each.uuid()!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=40, help="functions through the backend strew, and a fifth as many programs")
    parser.add_argument("--inductor", type=int, default=4, help="functions through inductor, a few seconds each, and a quarter as many programs")
    parser.add_argument("--only", type=int, help="one of the drawn functions")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch._dynamo.config.cache_size_limit = 64
    failures = []
    print(f"seed {arguments.seed}")
    with fresh_cache():  # what an earlier run compiled does not come through strew's passes again
        count = check_backend(arguments.seed, arguments.iterations, arguments.only, failures)
        check_programs("program", same_bits, FLOATS, {"backend": "strew"}, {"backend": "aot_eager"}, arguments.seed, arguments.iterations // 5, arguments.only, failures)
        if arguments.only is None or arguments.inductor != 4:
            check_inductor(arguments.seed, arguments.inductor, arguments.only, failures)
            # Of float64: what is wrong is larger there than what inductor rounds otherwise.
            options = {"options": strew.torch.inductor_options()}
            check_programs("inductor's program", close, (torch.float64,), options, {}, arguments.seed, arguments.inductor // 4, arguments.only, failures)
        if arguments.only is None:
            for check in (check_what_is_folded, check_corner_cases, check_inductor_corner_cases, check_sizes_from_data, check_memory, check_inductor_writes_in_place, check_inductor_without_gradients, check_repeatable, check_repeated_edges, check_sparse_gradients, check_errors, check_options, check_name):
                check(failures)
    print(f"{count} chains folded")
    for each in failures:
        print("FAILED", each)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
