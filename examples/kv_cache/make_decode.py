#!/usr/bin/env python3
"""Writes decode.onnx beside this file: one decode step of a static KV cache (ONNX TensorScatter, opset 24).

    .venv/bin/python3 examples/kv_cache/make_decode.py

bf16 cache [batch 8, heads 8, sequence 2048, head 128]; one new token per sample, written at that sample's own position.
"""
import os

import onnx
from onnx import TensorProto, helper

BATCH, HEADS, SEQUENCE, HEAD = 8, 8, 2048, 128


def main():
    cache = [BATCH, HEADS, SEQUENCE, HEAD]
    node = helper.make_node("TensorScatter", ["past_cache", "update", "write_indices"], ["present_cache"], name="kv_decode",
                            axis=-2, mode="linear")
    graph = helper.make_graph(
        [node], "decode_step",
        [helper.make_tensor_value_info("past_cache", TensorProto.BFLOAT16, cache),
         helper.make_tensor_value_info("update", TensorProto.BFLOAT16, [BATCH, HEADS, 1, HEAD]),
         helper.make_tensor_value_info("write_indices", TensorProto.INT64, [BATCH])],
        [helper.make_tensor_value_info("present_cache", TensorProto.BFLOAT16, cache)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11, producer_name="strew")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, os.path.join(os.path.dirname(os.path.abspath(__file__)), "decode.onnx"))


if __name__ == "__main__":
    main()
