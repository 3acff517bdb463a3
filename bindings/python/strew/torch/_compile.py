"""torch.compile with strew: a backend of dynamo that runs PyTorch's operators as they are, but for the chains that strew runs in one pass, and a pass inside inductor that does the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import list_backends, register_backend
from torch._dynamo.utils import detect_fake_mode
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files
from torch.fx import Graph, GraphModule, Node
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.graph import _BoxedCodeGen
from torch.fx.node import map_arg
from torch.utils.checkpoint import CheckpointPolicy

from . import _chains, _override, _rows
from ._chains import fold_chains
from ._rows import gather_of, is_zeros

__all__ = ["FoldChains", "backend", "inductor_options"]


def prefer_recomputing(graph: Graph) -> None:
    """Of a graph of forward and backward pass: what the backward pass makes again rather than keeps. Rows that indices found, where the table has fewer, and zeros."""
    for node in graph.nodes:
        gather = gather_of(node)
        is_larger = gather is not None and statically_known_true(node.meta["val"].numel() >= gather.table.meta["val"].numel())
        if "recompute" not in node.meta and (is_larger or is_zeros(node)):
            node.meta["recompute"] = CheckpointPolicy.PREFER_RECOMPUTE
    # What is read of a tensor that the graph updates is kept: the backward pass would read what it has been updated to.
    updated = {_storage_of(node.args[0]) for node in graph.nodes if node.target is torch.ops.aten.copy_.default}
    for node in graph.nodes:
        is_view = node.op != "call_function" or node.target is torch.ops.aten.copy_.default or _storage_of(node) in updated
        if not is_view and any(_storage_of(each) in updated for each in node.all_input_nodes):
            node.meta["recompute"] = CheckpointPolicy.MUST_SAVE


# ---- The backend `strew` ----------------------------------------------------------------------------------------------------------------------------------------------------


def _reinplace() -> None:
    """Tells inductor that an update whose operand nobody reads afterwards can be made in place. Before PyTorch 2.15 it cannot call such operators, and copies."""
    if torch.__version__ < (2, 15):
        return
    from torch._inductor.fx_passes import reinplace

    in_place = torch.ops.strew.update_.default
    reinplace.inplaceable_ops[torch.ops.strew.update.default] = reinplace.InplaceableOp(in_place, 0, extra_check=lambda node: not _reads(node, node.args[0]))


def _write_in_place(module: GraphModule) -> None:
    """Updates of tensors that nobody reads afterwards, a cache for example, are made in place. Graphs come without any, and would copy the tensor twice."""
    from torch._inductor.fx_passes.post_grad import decompose_auto_functionalized
    from torch._inductor.fx_passes.reinplace import reinplace_inplaceable_ops
    from torch._inductor.fx_utils import FakeTensorUpdater
    from torch._inductor.virtualized import V

    fake_mode = detect_fake_mode([node.meta.get("val") for node in module.graph.nodes])
    if fake_mode is None:
        return
    _reinplace()
    with V.set_fake_mode(fake_mode):
        takes_graph = "graph" in inspect.signature(FakeTensorUpdater).parameters  # before 2.15
        reinplace_inplaceable_ops(FakeTensorUpdater(module.graph if takes_graph else module), module.graph)
        decompose_auto_functionalized(module.graph)
    for node in list(module.graph.nodes):
        if node.target is torch.ops.aten.copy_.default:
            _compute_in_place(module.graph, node)


# Operators that have a form in place, which reads an element of `self` no later than it writes it.
_IN_PLACE = (
    "add", "sub", "mul", "div", "addcmul", "addcdiv", "lerp", "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "masked_fill", "masked_scatter", "put",
    "scatter", "scatter_add", "scatter_reduce",
)  # fmt: skip


def _storage_of(node: Node) -> Any:
    """The memory of the node's tensor. None: it has none, or is a sparse tensor, which has several."""
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) and value.layout == torch.strided else None


def _reads(node: Node, tensor: Node) -> bool:
    """Whether arguments of the node but the first one share memory with the tensor."""
    others: list[Node] = []
    map_arg((node.args[1:], node.kwargs), others.append)
    return any(_storage_of(each) == _storage_of(tensor) for each in others)


def _form_in_place(node: Node) -> Any:
    """The operator that writes into the node's first argument, or None."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload) or not isinstance(node.args[0], Node):
        return None
    namespace, name = node.target._schema.name.split("::")
    if (namespace, name) != ("strew", "update") and (namespace != "aten" or name not in _IN_PLACE):
        return None
    target, made = node.args[0].meta.get("val"), node.meta.get("val")
    if not isinstance(target, torch.Tensor) or any(each.layout != torch.strided for each in (target, made)):
        return None
    is_alike = target.dtype is made.dtype and target.shape == made.shape and target.stride() == made.stride()
    return getattr(getattr(getattr(torch.ops, namespace), name + "_"), node.target._overloadname, None) if is_alike else None


def _compute_in_place(graph: Graph, copy: Node) -> None:
    """Of a tensor that receives what operators made of it, as a cache or an optimizer's step does: the operators that write into the tensor itself."""
    target, last = copy.args[:2]
    made: list[Node] = []
    node: Any = last
    while node is not target:
        if not isinstance(node, Node) or _form_in_place(node) is None or (made and list(node.users) != [made[-1]]):
            return
        made.append(node)
        node = node.args[0]
    if not made or copy.users or any(user.op == "output" for user in last.users):
        return
    # Nobody reads the tensor as it was, or a view of it, from then on.
    storage, first = _storage_of(target), made[-1]
    if any(_reads(part, each) for part in made for each in (target, *made)):
        return
    later = list(graph.nodes)[list(graph.nodes).index(first) + 1 :]
    if any(_storage_of(each) == storage for node in later if node is not copy for each in node.all_input_nodes):
        return
    for node in made:
        node.target = _form_in_place(node)
    graph.erase_node(copy)


def _compile_graph(module: GraphModule, example_inputs: Any) -> Callable[[list[Any]], Any]:
    fold_chains(module.graph)
    _write_in_place(module)
    module.graph.set_codegen(_BoxedCodeGen())  # the code takes the list of inputs, and frees each when it was read for the last time
    module.recompile()
    _LazyGraphModule.force_recompile(module)  # now, rather than in the first call
    run = module.forward

    def call(inputs: list[Any]) -> Any:
        with _override.here():
            return run(inputs)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _partition(module: GraphModule, inputs: Any, **arguments: Any) -> tuple[GraphModule, GraphModule]:
    prefer_recomputing(module.graph)
    fw_bw: tuple[GraphModule, GraphModule] = min_cut_rematerialization_partition(module, inputs, **arguments)
    return fw_bw


_aot = aot_autograd(fw_compiler=_compile_graph, bw_compiler=_compile_graph, partition_fn=_partition, keep_inference_input_mutations=True)


def backend(module: GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
    """The backend of `torch.compile(function, backend=strew.torch.backend)`; where strew is installed, its name is "strew".

    A gather of rows, elementwise operators and a scatter that adds rows become one operator, forward and backward, and what is between them is never in memory. Everything else runs by
    PyTorch's operators, in which strew's kernels have the place that `strew.torch.enable` gives them. Results are those of eager PyTorch, bit for bit.

    >>> import torch, strew.torch
    >>> dst, src, x = torch.tensor([1, 0, 1]), torch.tensor([0, 2, 2]), torch.arange(6.0).reshape(3, 2)
    >>> layer = torch.compile(lambda x: torch.zeros(2, 2).index_add_(0, dst, x[src] * 0.5), backend=strew.torch.backend)
    >>> layer(x)
    tensor([[2.0000, 2.5000],
            [2.0000, 3.0000]])
    """
    return _aot(module, example_inputs)


if "strew" not in list_backends():  # where strew is installed, PyTorch finds the name by its entry point, and registers it itself
    register_backend(backend, name="strew")


# ---- The pass inside inductor -----------------------------------------------------------------------------------------------------------------------------------------------


def _uuid() -> Any:
    """For inductor's cache: other sources of the passes make other code."""
    return get_hash_for_files((__file__, _chains.__file__, _rows.__file__))


class PreferRecomputing(CustomGraphPass):
    """A pass of inductor over forward and backward pass in one graph (`joint_custom_post_pass`)."""

    def __call__(self, graph: Graph) -> None:
        prefer_recomputing(graph)

    def uuid(self) -> Any:
        return _uuid()


class FoldChains(CustomGraphPass):
    """A pass of inductor over either (`post_grad_custom_pre_pass`): chains become operators of strew."""

    def __call__(self, graph: Graph) -> None:
        fold_chains(graph, recomputes=True)

    def uuid(self) -> Any:
        return _uuid()


def inductor_options() -> dict[str, Any]:
    """Options of inductor with which it leaves the chains to strew, and makes the code around them.

    For `torch.compile(function, options=strew.torch.inductor_options())`, and for `inductor_configs` of AOTInductor. Sums along rows are then the same bits in every run, on any number of
    threads; what inductor itself generates may differ from eager PyTorch in the last bits, as it does without strew.

    Returns:
        A dict, to which options of your own may be added.

    >>> strew.torch.inductor_options().keys()
    dict_keys(['joint_custom_post_pass', 'post_grad_custom_pre_pass'])
    """
    _reinplace()
    return {"joint_custom_post_pass": PreferRecomputing(), "post_grad_custom_pre_pass": FoldChains()}
