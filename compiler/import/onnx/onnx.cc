// ONNX front end: reads a ModelProto, defines the graph's inputs and initializers, and translates node after node with the table of
// operators. To add an operator, write one file with its import function and add one row below.
//
// Everything in the file is untrusted. Ranks are capped, extents are multiplied with overflow checks, a node may read only values defined
// before it, and every operator, attribute and element type that is not supported is refused by name. Models with control flow or with
// functions of their own are refused in the same way.
//
// The file is walked field by field (wire.h). Protobuf parses one node, one value or one tensor at a time, and tensors only when a kernel
// uses them. So weights are neither copied nor read, and no message can take much more memory than its bytes in the file.
//
// Tested by tests/unit/onnx_*_test.cc, tests/error/onnx_error_test.cc, tests/error/cli_test.cc and tests/oracle/onnx*.py.
#include "compiler/import/onnx/onnx.h"

#include <limits>
#include <optional>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/import/onnx/wire.h"
#include "compiler/op/limits.h"
#include "strew/tensor.h"

namespace strew::inline v0::onnx {
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

constexpr int kMaxListed = 1 << 16;        // of nodes, inputs and outputs of a graph, and of fields of one node
constexpr int kMaxInitializers = 1 << 20;  // each initializer costs a map entry, used or not

Status damaged(const std::string& path, size_t bytes) {
  return invalid_argument(path + ": not an ONNX model (" + std::to_string(bytes) +
                          " bytes), expected a protobuf ModelProto; the file is truncated or damaged");
}

/// Parses a small message. More than `fields` fields are refused first, because the parsed form of many small fields takes many times their
/// bytes.
template <class Proto>
Status parse(std::string_view bytes, int fields, const std::string& what, Proto& proto) {
  WireReader reader(bytes);
  int count = 0;
  for (WireField field; reader.next(field);) {
    if (++count > fields) return invalid_argument(what + ": it has more than " + std::to_string(fields) + " fields");
  }
  if (!reader.damaged() && bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
      proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return {};
  }
  return invalid_argument(what + ": damaged (" + std::to_string(bytes.size()) + " bytes), expected a protobuf message");
}

/// Calls `each(bytes, number)` for every message in field `field_number` of the graph, in file order.
template <class Each>
Status for_each(const Graph& graph, uint64_t field_number, const char* what, int most, const Each& each) {
  WireReader reader(graph.bytes());
  int number = 0;
  for (WireField field; reader.next(field);) {
    if (!field.is_message(field_number)) continue;
    if (number == most) return invalid_argument(graph.path() + ": the graph has more than " + std::to_string(most) + " " + what);
    STREW_TRY(each(field.bytes, number++));
  }
  return reader.damaged() ? damaged(graph.path(), graph.bytes().size()) : Status();
}

/// The parts of a ModelProto that are used: its only graph, and the opset of the operators.
struct Model {
  std::optional<std::string_view> graph;
  int64_t opset = 0;
};

Status read_opset(std::string_view bytes, const std::string& path, Model& model) {
  OperatorSetIdProto set;
  STREW_TRY(parse(bytes, kMaxListed, path + ": opset_import", set));
  if (!is_default_domain(set.domain())) return {};
  if (model.opset != 0 && model.opset != set.version()) {
    return invalid_argument(path + ": opset_import has ai.onnx versions " + std::to_string(model.opset) + " and " +
                            std::to_string(set.version()) + ", expected one");
  }
  model.opset = set.version();
  return {};
}

Expected<Model> read_model(std::string_view bytes, const std::string& path) {
  constexpr uint64_t kGraph = 7, kOpsetImport = 8;
  Model model;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.is_message(kOpsetImport)) STREW_TRY(read_opset(field.bytes, path, model));
    if (!field.is_message(kGraph)) continue;
    if (model.graph) return invalid_argument(path + ": the model has two graphs, expected one");
    model.graph = field.bytes;
  }
  if (reader.damaged()) return damaged(path, bytes.size());
  if (!model.graph) return invalid_argument(path + ": the model has no graph, expected a protobuf ModelProto with one");
  if (model.opset <= 0) return invalid_argument(path + ": opset_import has no version of ai.onnx, expected one");
  return model;
}

Status import_input(Graph& graph, std::string_view bytes, int number) {
  Imported& imported = graph.imported();
  ValueInfoProto info;
  STREW_TRY(parse(bytes, kMaxListed, graph.path() + ": input " + std::to_string(number), info));
  if (graph.has_initializer(info.name())) return {};  // files before IR version 4 list initializers among the inputs
  const std::string what = graph.path() + ": input " + info.name();
  Value value;
  value.kind = ValueKind::input;
  STREW_ASSIGN(value.type, to_type(info.type(), what));
  value.index = static_cast<int>(imported.inputs.size());
  imported.inputs.push_back({info.name(), value.type, false});
  return graph.define(info.name(), std::move(value), what);
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

Status import_node(Graph& graph, std::string_view bytes, int number, int64_t opset) {
  NodeProto proto;
  STREW_TRY(parse(bytes, kMaxListed, graph.path() + ": node " + std::to_string(number), proto));
  Node node(graph, proto, number, graph.path(), opset);
  const Operator* op = find_operator(proto);
  if (op == nullptr) {
    const std::string& domain = proto.domain();
    return node.error("the operator is not supported" + (is_default_domain(domain) ? "" : " (domain " + domain + ")") +
                      ", expected one of: " + operator_names());
  }
  const std::string have = "the model's opset is " + std::to_string(opset) + ", expected at ";
  if (opset < op->min_opset) return node.error(have + "least " + std::to_string(op->min_opset));
  if (opset > op->max_opset) return node.error(have + "most " + std::to_string(op->max_opset) + "; " + std::string(op->later));
  return op->import(node);
}

Status import_output(Graph& graph, std::string_view bytes, int number) {
  Imported& imported = graph.imported();
  ValueInfoProto info;
  STREW_TRY(parse(bytes, kMaxListed, graph.path() + ": output " + std::to_string(number), info));
  const std::string what = graph.path() + ": output " + info.name();
  STREW_ASSIGN(const int value, graph.find(info.name()));
  if (value < 0) return invalid_argument(what + ": nothing in the graph computes it");
  graph.used(value, /*optional=*/false);
  if (info.has_type() && info.type().tensor_type().has_shape()) {
    const TensorType& computed = imported.values[value].type;
    STREW_ASSIGN(TensorType declared, to_type(info.type(), what));
    bool fits = declared.dtype == computed.dtype && declared.rank() == computed.rank();
    for (int d = 0; fits && d < declared.rank(); ++d) fits = unify(declared.dims[d], computed.dims[d]);
    if (!fits) {
      return invalid_argument(what + ": it is declared as " + std::string(name(declared.dtype)) + dims_text(declared.dims) +
                              ", expected what the graph computes: " + std::string(name(computed.dtype)) +
                              dims_text(computed.dims));
    }
  }
  imported.outputs.push_back({info.name(), value});
  return {};
}

Status import_graph(Graph& graph, int64_t opset) {
  Imported& imported = graph.imported();
  STREW_TRY(for_each(graph, GraphField::kInitializer, "initializers", kMaxInitializers,
                     [&](std::string_view bytes, int) { return graph.define_initializer(bytes); }));
  STREW_TRY(for_each(graph, GraphField::kInput, "inputs", kMaxListed,
                     [&](std::string_view bytes, int number) { return import_input(graph, bytes, number); }));
  int nodes = 0;
  STREW_TRY(for_each(graph, GraphField::kNode, "nodes", kMaxListed, [&](std::string_view bytes, int number) {
    nodes = number + 1;
    return import_node(graph, bytes, number, opset);
  }));
  if (imported.kernels.empty()) {
    return invalid_argument(graph.path() + ": the graph has " + std::to_string(nodes) +
                            " nodes and no indexed write or read among them, expected at least one of: " + operator_names());
  }
  STREW_TRY(for_each(graph, GraphField::kOutput, "outputs", kMaxListed,
                     [&](std::string_view bytes, int number) { return import_output(graph, bytes, number); }));
  if (imported.outputs.empty()) return invalid_argument(graph.path() + ": the graph has no outputs, expected at least one");
  return {};
}

}  // namespace

const std::vector<Operator>& operators() {
  static const std::vector<Operator> list = {
      {"Constant", "", 1, kEveryLater, import_constant},
      {"Gather", "", 1, kEveryLater, import_gather},
      {"GatherElements", "", 11, kEveryLater, import_gather_elements},
      {"GatherND", "", 11, kEveryLater, import_gather_nd},
      {"Scatter", "", 9, 10, import_scatter_elements, "since 11 it is called ScatterElements"},
      {"ScatterElements", "", 11, kEveryLater, import_scatter_elements},
      {"ScatterND", "", 11, kEveryLater, import_scatter_nd},
      {"TensorScatter", "", 24, kEveryLater, import_tensor_scatter},
  };
  return list;
}

Expected<Imported> import_model(std::string_view bytes, const std::string& path, const ImportOptions&) {
  STREW_ASSIGN(const Model model, read_model(bytes, path));
  Imported imported;
  imported.format = "onnx";
  Graph graph(imported, path, *model.graph);
  STREW_TRY(import_graph(graph, model.opset));
  for (const Value& value : imported.values) {
    if (value.kind != ValueKind::input) continue;
    imported.inputs[value.index].optional = graph.only_optional(static_cast<int>(&value - imported.values.data()));
  }
  return imported;
}

}  // namespace strew::inline v0::onnx
