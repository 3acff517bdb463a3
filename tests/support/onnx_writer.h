// Small ONNX models for tests, as bytes. Fields are public: a test changes the one it is about.
#pragma once

#include <string>
#include <vector>

#include "tests/support/proto_writer.h"

namespace strew::testing {

constexpr int64_t kSymbolic = -1000;  ///< a dim written as a name: OnnxValue::symbols' or one of its own

/// ONNX's TensorProto.DataType numbers used in tests.
enum OnnxType : int {
  kFloat = 1,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kBfloat16 = 16,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4 = 23,
  kInt2 = 26
};

struct OnnxValue {
  std::string name;
  int type = kFloat;
  std::vector<int64_t> dims;
  bool has_shape = true;
  std::vector<std::string> symbols = {};  ///< the names of symbolic dims, one per dim
};

struct OnnxNode {
  std::string op_type = "TensorScatter", name = "scatter", domain;
  std::vector<std::string> inputs, outputs;
  std::vector<ProtoWriter> attributes;
};

inline ProtoWriter onnx_int(const std::string& name, int64_t value) {
  return ProtoWriter().text(1, name).varint(3, static_cast<uint64_t>(value)).varint(20, 2);
}
inline ProtoWriter onnx_string(const std::string& name, const std::string& value) {
  return ProtoWriter().text(1, name).text(4, value).varint(20, 3);
}

struct OnnxTensor {
  std::string name;
  int type = kInt64;
  std::vector<int64_t> dims;
  std::string raw;                     ///< raw_data
  std::vector<ProtoWriter> more = {};  ///< further fields, as they are
  bool has_raw = true;
  ProtoWriter proto() const {
    ProtoWriter out;
    out.packed(1, dims).varint(2, static_cast<uint64_t>(type)).text(8, name);
    if (has_raw) out.text(9, raw);
    std::string all = out.bytes();
    for (const ProtoWriter& m : more) all += m.bytes();
    return ProtoWriter().append(all);
  }
};

struct OnnxModel {
  int64_t opset = 24;
  std::vector<OnnxValue> inputs, outputs;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> declared = {};  ///< of computed values (value_info)

  std::string bytes() const {
    ProtoWriter graph;
    for (const OnnxNode& n : nodes) {
      ProtoWriter node;
      for (const std::string& i : n.inputs) node.text(1, i);
      for (const std::string& o : n.outputs) node.text(2, o);
      node.text(3, n.name).text(4, n.op_type);
      for (const ProtoWriter& a : n.attributes) node.message(5, a);
      if (!n.domain.empty()) node.text(7, n.domain);
      graph.message(1, node);
    }
    graph.text(2, "graph");
    for (const OnnxTensor& t : initializers) graph.message(5, t.proto());
    for (const OnnxValue& v : inputs) graph.message(11, value_info(v));
    for (const OnnxValue& v : outputs) graph.message(12, value_info(v));
    for (const OnnxValue& v : declared) graph.message(13, value_info(v));
    ProtoWriter model;
    model.varint(1, 12).message(7, graph);
    if (opset != 0) model.message(8, ProtoWriter().text(1, "").varint(2, static_cast<uint64_t>(opset)));
    return model.bytes();
  }

  static ProtoWriter value_info(const OnnxValue& v) {
    ProtoWriter shape, tensor;
    for (size_t i = 0; i < v.dims.size(); ++i) {
      ProtoWriter dim;
      if (v.dims[i] == kSymbolic) {
        dim.text(2, i < v.symbols.size() ? v.symbols[i] : v.name + "_" + std::to_string(i));
      } else {
        dim.varint(1, static_cast<uint64_t>(v.dims[i]));
      }
      shape.message(1, dim);
    }
    tensor.varint(1, static_cast<uint64_t>(v.type));
    if (v.has_shape) tensor.message(2, shape);
    return ProtoWriter().text(1, v.name).message(2, ProtoWriter().message(1, tensor));
  }
};

/// past_cache f32[2,4,3], update f32[2,2,3], write_indices i64[2]: axis -2, linear.
inline OnnxModel tensor_scatter_model() {
  OnnxModel m;
  m.inputs = {{"past_cache", kFloat, {2, 4, 3}}, {"update", kFloat, {2, 2, 3}}, {"write_indices", kInt64, {2}}};
  m.outputs = {{"present_cache", kFloat, {2, 4, 3}}};
  OnnxNode node;
  node.inputs = {"past_cache", "update", "write_indices"};
  node.outputs = {"present_cache"};
  m.nodes = {node};
  return m;
}

/// data f32, indices i64, updates f32 into one node called scatter; opset 18.
inline OnnxModel onnx_scatter_model(const std::string& op_type, std::vector<int64_t> data, std::vector<int64_t> indices,
                                    std::vector<int64_t> updates) {
  OnnxModel m;
  m.opset = 18;
  m.inputs = {
      {"data", kFloat, std::move(data)}, {"indices", kInt64, std::move(indices)}, {"updates", kFloat, std::move(updates)}};
  m.outputs = {{"output", kFloat, {}, false}};
  OnnxNode node;
  node.op_type = op_type;
  node.inputs = {"data", "indices", "updates"};
  node.outputs = {"output"};
  m.nodes = {node};
  return m;
}

inline OnnxModel onnx_gather_model(const std::string& op_type, std::vector<int64_t> data, std::vector<int64_t> indices) {
  OnnxModel m = onnx_scatter_model(op_type, std::move(data), std::move(indices), {});
  m.inputs.pop_back();
  m.nodes[0].inputs.pop_back();
  return m;
}

}  // namespace strew::testing
