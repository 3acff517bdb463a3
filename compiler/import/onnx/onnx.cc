// ONNX front end: parses a ModelProto, names the graph's inputs and initializers, and translates node after node with the table of
// operators. To add an operator: one file with its import function and one row below.
//
// Everything in the file is untrusted. Ranks are capped, extents are multiplied with overflow checks, nodes may read only what comes
// before them, and whatever is not understood (an operator, an attribute, an element type) is refused by name. Control flow and
// functions of the model are not followed. Tested by tests/unit/onnx_import_test.cc, tests/error/cli_test.cc and tests/oracle/onnx_*.py.
#include "compiler/import/onnx/onnx.h"

#include <limits>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/limits.h"
#include "runtime/tensor.h"

namespace strew::onnx {
namespace {

bool is_default_domain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

Expected<TensorType> to_type(const TypeProto& proto, const std::string& what) {
  if (!proto.has_tensor_type()) return invalid_argument(what + ": the type is not a tensor, expected a tensor type");
  TensorType type;
  STREW_ASSIGN(type.dtype, element_type(proto.tensor_type().elem_type(), what));
  if (!proto.tensor_type().has_shape()) {
    return invalid_argument(what + ": it has no shape, expected one (dims may be symbolic)");
  }
  const TensorShapeProto& shape = proto.tensor_type().shape();
  if (shape.dim_size() > kMaxRank) {
    return invalid_argument(what + ": rank is " + std::to_string(shape.dim_size()) + ", expected at most " +
                            std::to_string(kMaxRank));
  }
  std::vector<int64_t> known;
  for (const auto& dim : shape.dim()) {
    type.dims.push_back(dim.has_dim_value() ? dim.dim_value() : kDynamic);
    known.push_back(dim.has_dim_value() ? dim.dim_value() : 1);
  }
  if (const Expected<int64_t> count = element_count(known); !count.ok())
    return invalid_argument(what + ": " + count.status().message());
  return type;
}

Expected<int64_t> default_opset(const ModelProto& model, const std::string& path) {
  int64_t version = 0;
  for (const OperatorSetIdProto& set : model.opset_import()) {
    if (!is_default_domain(set.domain())) continue;
    if (version != 0 && version != set.version()) {
      return invalid_argument(path + ": opset_import has ai.onnx versions " + std::to_string(version) + " and " +
                              std::to_string(set.version()) + ", expected one");
    }
    version = set.version();
  }
  if (version <= 0) return invalid_argument(path + ": opset_import has no version of ai.onnx, expected one");
  return version;
}

Status import_inputs(Graph& graph, const GraphProto& proto, const std::string& path) {
  Imported& imported = graph.imported();
  for (const TensorProto& initializer : proto.initializer()) STREW_TRY(graph.define_initializer(initializer));
  for (const ValueInfoProto& info : proto.input()) {
    if (graph.has_initializer(info.name())) continue;  // the inputs of old files list their initializers too
    const std::string what = path + ": input " + info.name();
    Value value;
    value.kind = ValueKind::input;
    STREW_ASSIGN(value.type, to_type(info.type(), what));
    value.index = static_cast<int>(imported.inputs.size());
    imported.inputs.push_back({info.name(), value.type, false});
    STREW_TRY(graph.define(info.name(), std::move(value), what));
  }
  return {};
}

const Operator* find_operator(const NodeProto& node) {
  for (const Operator& op : operators()) {
    if (op.op_type == node.op_type() && (op.domain.empty() ? is_default_domain(node.domain()) : op.domain == node.domain()))
      return &op;
  }
  return nullptr;
}

std::string operator_names() {
  std::string out;
  for (const Operator& op : operators()) out += (out.empty() ? "" : ", ") + std::string(op.op_type);
  return out;
}

Status import_nodes(Graph& graph, const GraphProto& proto, const std::string& path, int64_t opset) {
  for (int i = 0; i < proto.node_size(); ++i) {
    Node node(graph, proto.node(i), i, path, opset);
    const Operator* op = find_operator(proto.node(i));
    if (op == nullptr) {
      const std::string& domain = proto.node(i).domain();
      return node.error("the operator is not supported" + (is_default_domain(domain) ? "" : " (domain " + domain + ")") +
                        ", expected one of: " + operator_names());
    }
    if (opset < op->min_opset) {
      return node.error("the model's opset is " + std::to_string(opset) + ", expected at least " + std::to_string(op->min_opset));
    }
    STREW_TRY(op->import(node));
  }
  if (graph.imported().kernels.empty()) {
    return invalid_argument(path + ": the graph has " + std::to_string(proto.node_size()) +
                            " nodes and no indexed write or read among them, expected at least one of: " + operator_names());
  }
  return {};
}

Status import_outputs(Graph& graph, const GraphProto& proto, const std::string& path) {
  Imported& imported = graph.imported();
  for (const ValueInfoProto& info : proto.output()) {
    const std::string what = path + ": output " + info.name();
    STREW_ASSIGN(const int value, graph.find(info.name()));
    if (value < 0) return invalid_argument(what + ": nothing in the graph computes it");
    graph.used(value, /*optional=*/false);
    if (info.has_type()) {
      const TensorType& computed = imported.values[value].type;
      if (info.type().tensor_type().has_shape()) {
        STREW_ASSIGN(TensorType declared, to_type(info.type(), what));
        bool fits = declared.dtype == computed.dtype && declared.rank() == computed.rank();
        for (int d = 0; fits && d < declared.rank(); ++d) fits = unify(declared.dims[d], computed.dims[d]);
        if (!fits) {
          return invalid_argument(what + ": it is declared as " + std::string(name(declared.dtype)) + dims_text(declared.dims) +
                                  ", expected what the graph computes: " + std::string(name(computed.dtype)) +
                                  dims_text(computed.dims));
        }
      }
    }
    imported.outputs.push_back({info.name(), value});
  }
  if (imported.outputs.empty()) return invalid_argument(path + ": the graph has no outputs, expected at least one");
  return {};
}

}  // namespace

const std::vector<Operator>& operators() {
  static const std::vector<Operator> list = {
      {"Constant", "", 1, import_constant},
      {"TensorScatter", "", 24, import_tensor_scatter},
  };
  return list;
}

Expected<Imported> import_model(std::string_view bytes, const std::string& path, const ImportOptions&) {
  ModelProto model;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid_argument(path + ": not an ONNX model (" + std::to_string(bytes.size()) +
                            " bytes), expected a protobuf ModelProto; the file is truncated or damaged");
  }
  if (!model.has_graph()) return invalid_argument(path + ": the model has no graph, expected a protobuf ModelProto with one");
  STREW_ASSIGN(const int64_t opset, default_opset(model, path));

  Imported imported;
  imported.format = "onnx";
  Graph graph(imported, path);
  STREW_TRY(import_inputs(graph, model.graph(), path));
  STREW_TRY(import_nodes(graph, model.graph(), path, opset));
  STREW_TRY(import_outputs(graph, model.graph(), path));
  for (const Value& value : imported.values) {
    if (value.kind != ValueKind::input) continue;
    imported.inputs[value.index].optional = graph.only_optional(static_cast<int>(&value - imported.values.data()));
  }
  return imported;
}

}  // namespace strew::onnx
