#!/usr/bin/env python3
"""Writes append.tflite beside this file: one token into the KV cache of a TensorFlow Lite language model (DYNAMIC_UPDATE_SLICE).

    .venv/bin/python3 examples/tflite_cache/make_append.py

f32 cache [1, tokens 1280, heads 32, head 64]; the new token's keys [1, 1, 32, 64]; where they go, four i32 numbers.
"""
import os

import flatbuffers
from ai_edge_litert import schema_py_generated as schema


def tensor(name, kind, shape):
    made = schema.TensorT()
    made.name, made.type, made.shape, made.buffer = name, kind, shape, 0
    return made


def main():
    f32, i32 = schema.TensorType.FLOAT32, schema.TensorType.INT32
    code = schema.OperatorCodeT()
    code.builtinCode, code.version = schema.BuiltinOperator.DYNAMIC_UPDATE_SLICE, 1
    code.deprecatedBuiltinCode = 127  # "see builtinCode"
    op = schema.OperatorT()
    op.opcodeIndex, op.inputs, op.outputs = 0, [0, 1, 2], [3]
    graph = schema.SubGraphT()
    graph.name = "append"
    graph.tensors = [tensor("cache", f32, [1, 1280, 32, 64]), tensor("keys", f32, [1, 1, 32, 64]), tensor("position", i32, [4]),
                     tensor("new_cache", f32, [1, 1280, 32, 64])]
    graph.inputs, graph.outputs, graph.operators = [0, 1, 2], [3], [op]
    model = schema.ModelT()
    model.version, model.description = 3, "strew"
    model.operatorCodes, model.subgraphs, model.buffers = [code], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "append.tflite"), "wb") as out:
        out.write(builder.Output())


if __name__ == "__main__":
    main()
