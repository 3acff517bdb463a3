// Constant: its output is the tensor, number or list in one of the node's attributes. Sparse tensors are refused, since sparse_value is not
// among the attributes accepted here.
//
// Tested by tests/unit/compiler/import/onnx/onnx_import_test.cc.
#include <cstring>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/tensor_proto.h"

namespace strew::inline v0::onnx {
namespace {

template <class List>
Constant from_list(DType dtype, const List& list, bool scalar) {
  Constant out;
  out.type.dtype = dtype;
  if (!scalar) out.type.dims = {static_cast<int64_t>(list.size())};
  out.data.resize(static_cast<size_t>(list.size()) * bits(dtype) / 8);
  if (!out.data.empty()) std::memcpy(out.data.data(), list.data(), out.data.size());
  return out;
}

Expected<Constant> constant_of(const Node& node, const AttributeProto& a) {
  const std::string& n = a.name();
  if (n == "value") return to_constant(a.t(), node.location() + ": attribute value", node.graph().path());
  if (n == "value_float") return from_list(DType::f32, std::vector<float>{a.f()}, true);
  if (n == "value_floats") return from_list(DType::f32, a.floats(), false);
  if (n == "value_int") return from_list(DType::i64, std::vector<int64_t>{a.i()}, true);
  if (n == "value_ints") return from_list(DType::i64, a.ints(), false);
  Constant out{.type = {DType::string, {}, {}}, .strings = {a.strings().begin(), a.strings().end()}};
  if (n == "value_strings") out.type.dims = {a.strings_size()};
  if (n == "value_string") out.strings = {a.s()};
  return out;
}

Expected<int> import_constant(Node& node) {
  if (node.proto().attribute_size() != 1) return node.error("it has {} attributes, expected one", node.proto().attribute_size());
  STREW_ASSIGN(Constant constant, constant_of(node, node.proto().attribute(0)));
  return node.builder().add_constant(std::move(constant));
}

}  // namespace

std::vector<Operator> constant_operators() {
  constexpr auto kAny = AttributeType::any;  // the import function reads what its name says
  return {{"Constant",
           {""},
           1,
           {{"value", kAny},
            {"value_float", kAny},
            {"value_floats", kAny},
            {"value_int", kAny},
            {"value_ints", kAny},
            {"value_string", kAny},
            {"value_strings", kAny}},
           import_constant}};
}

}  // namespace strew::inline v0::onnx
