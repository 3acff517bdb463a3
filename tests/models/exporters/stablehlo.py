"""Evaluates StableHLO text with XLA on the CPU, and the indexed operations in it one by one."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_allow_excess_precision=false"
import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

INDEXED = {"stablehlo.scatter", "stablehlo.gather", "stablehlo.dynamic_gather", "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"}

OPAQUE = {"stablehlo.dot_general", "stablehlo.dot", "stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.sort", "stablehlo.custom_call",
          "stablehlo.reduce_window", "stablehlo.all_reduce", "stablehlo.rng_bit_generator", "chlo.top_k", "sdy.manual_computation"}


def walk(operation):
    for region in operation.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from walk(op.operation)


def count_indexed(text):
    """The number of indexed operations in a module, inside functions and regions as often as they stand there."""
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context:
        return sum(op.name in INDEXED for op in walk(ir.Module.parse(text).operation))


def has_opaque(text):
    """Whether there is an operation that stands between kernels."""
    with mlir.make_ir_context():
        return any(op.name in OPAQUE for op in walk(ir.Module.parse(text).operation))


def generic(text):
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(print_generic_op_form=True) + "\n"


def run(text, function, arguments, extra=()):
    """The results of a function of the module, then those of its top-level operations whose places are in `extra`."""
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        functions = {op.name.value: op for op in module.body.operations if op.operation.name == "func.func"}
        if function != "main":
            if "main" in functions:
                functions["main"].operation.erase()
            with ir.InsertionPoint(functions[function]):
                functions[function].operation.clone()  # other functions may call it
            functions[function].operation.attributes["sym_name"] = ir.StringAttr.get("main")
            functions[function].operation.attributes["sym_visibility"] = ir.StringAttr.get("public")
        main = functions[function]
        block = main.regions[0].blocks[0]
        operations = list(block.operations)
        final = operations[-1]
        values = list(final.operands)
        for place in extra:
            values += list(operations[place].results)
        with ir.InsertionPoint(final):
            ir.Operation.create("func.return", operands=values)
        final.operation.erase()
        kinds = [a.type for a in block.arguments]
        main.operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [v.type for v in values]))
        for name in ("arg_attrs", "res_attrs"):
            if name in main.operation.attributes:
                del main.operation.attributes[name]
        module.operation.verify()
        code = mlir.module_to_bytecode(module)
    device = jax.devices("cpu")[0]
    with jax.enable_x64(True):
        given = [jax.device_put(a, device) for a in arguments]
    loaded = device.client.compile_and_load(code, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    return [np.asarray(x) for x in loaded.execute(given)]


def kernels(text, arguments):
    """([{"node", "function", "op", "inputs", "result"}], {function: {name: value}}): the indexed operations that stand in main, or in functions
    that it calls (their first call), and where has_opaque, every value there. The insides of other operations' regions are left out."""
    found, seen, every = [], set(), {}
    whole = has_opaque(text)

    def visit(function, values):
        if function in seen:
            return
        seen.add(function)
        with mlir.make_ir_context():
            module = ir.Module.parse(text)
            functions = {op.name.value: op for op in module.body.operations if op.operation.name == "func.func"}
            block = functions[function].regions[0].blocks[0]
            operations = list(block.operations)
            names = [a.get_name() for a in block.arguments]
            want = {k for k, op in enumerate(operations) if op.operation.name in INDEXED or op.operation.name == "func.call"}
            if not want and not whole:
                return
            defined = {r.get_name(): k for k, op in enumerate(operations) for r in op.operation.results}
            need = sorted(want | {defined[v.get_name()] for k in want for v in operations[k].operands if v.get_name() in defined})
            if whole:
                need = [k for k, op in enumerate(operations) if len(op.operation.results)]
            constant = {r.get_name() for op in operations if op.operation.name == "stablehlo.constant" for r in op.operation.results}
            labels = [[r.get_name() for r in operations[k].operation.results] for k in need]
            results = len(list(operations[-1].operands))
            plan = []
            for k in sorted(want):
                op = operations[k].operation
                callee = op.attributes["callee"].value if op.name == "func.call" else None
                plan.append((op.name, callee, [v.get_name() for v in op.operands], [r.get_name() for r in op.results]))
        known = dict(zip(names, values))
        flat = [name for names_of in labels for name in names_of]
        known.update(zip(flat, run(text, function, values, need)[results:]))
        if whole:
            every[function] = {name: value for name, value in known.items() if name not in constant}
        for name, callee, operands, results_of in plan:
            if callee is not None:
                visit(callee, [known[v] for v in operands])
                continue
            for result in results_of:
                found.append({"node": result, "function": function, "op": name, "inputs": {v: known[v] for v in operands},
                              "result": known[result]})

    visit("main", list(arguments))
    return found, every
