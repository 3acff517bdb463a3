// ONNX front end: reads a ModelProto, defines the graph's inputs and initializers, and translates node after node with the table of
// operators. To add an operator, write its import function and add one row to a table.
//
// Everything in the file is untrusted. Ranks are capped, extents are multiplied with overflow checks, and a node may read only values defined
// before it. A node whose operator is not in the table, or that its import function refuses, becomes an opaque operation with the reason;
// the graphs in its attributes are walked too. Functions of the model are inlined.
//
// The file is walked field by field (wire.h). Protobuf parses one node, one value or one tensor at a time, and tensors only when a kernel
// uses them. So weights are neither copied nor read, and no message can take much more memory than its bytes in the file.
//
// Tested by tests/unit/compiler/import/onnx/onnx_*_test.cc, tests/error/onnx_error_test.cc, tests/error/cli_test.cc and
// tests/oracle/onnx*.py.
#include "compiler/import/onnx/onnx.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/import/onnx/wire.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {

bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

Expected<TensorType> to_type(const TypeProto& proto, const std::string& what) {
  if (!proto.has_tensor_type()) return invalid_argument(what + ": the type is not a tensor, expected a tensor type");
  TensorType type;
  STREW_ASSIGN(type.dtype, element_type(proto.tensor_type().elem_type(), what));
  if (!proto.tensor_type().has_shape()) return invalid_argument(what + ": it has no shape, expected one (dims may be symbolic)");
  for (const auto& dim : proto.tensor_type().shape().dim()) type.dims.push_back(dim.has_dim_value() ? dim.dim_value() : kDynamic);
  STREW_TRY(check_extents(type.dims, what));
  return type;
}

namespace {

constexpr int kMaxListed = 1 << 16;        // of nodes, inputs and outputs of a graph, and of fields of one node
constexpr int kMaxInitializers = 1 << 20;  // each initializer costs a map entry, used or not
constexpr int kMaxNodes = 1 << 18;         // of all graphs, with functions inlined
constexpr int kMaxDepth = 32;              // of graphs in attributes and of calls of functions

Status damaged(const std::string& path, size_t bytes) {
  return invalid_argument("{}: not an ONNX model ({} bytes), expected a protobuf ModelProto; the file is truncated or damaged",
                          path, bytes);
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
Status for_each(const Graph& graph, uint64_t field_number, std::string_view what, int most, const Each& each) {
  WireReader reader(graph.bytes());
  int number = 0;
  for (WireField field; reader.next(field);) {
    if (!field.is_message(field_number)) continue;
    if (number == most) return invalid_argument("{}: the graph has more than {} {}", graph.path(), most, what);
    STREW_TRY(each(field.bytes, number++));
  }
  return reader.damaged() ? damaged(graph.path(), graph.bytes().size()) : Status();
}

/// Calls `each(info)` for every input or output of the graph, which messages call "WHERE: input 3OF". `kind`: "input" or "output".
template <class Each>
Status for_each_info(const Graph& graph, const std::string& kind, const std::string& where, const std::string& of,
                     const Each& each) {
  return for_each(graph, kind == "input" ? GraphField::kInput : GraphField::kOutput, kind + "s", kMaxListed,
                  [&](std::string_view bytes, int number) -> Status {
                    ValueInfoProto info;
                    STREW_TRY(parse(bytes, kMaxListed, fmt::format("{}: {} {}{}", where, kind, number, of), info));
                    return each(info);
                  });
}

Status define_initializers(Graph& graph) {
  return for_each(graph, GraphField::kInitializer, "initializers", kMaxInitializers,
                  [&](std::string_view bytes, int) { return graph.define_initializer(bytes); });
}

/// The parts of a ModelProto that are used: its only graph, its functions, and the opset of the operators.
struct Model {
  std::optional<std::string_view> graph;
  Functions functions;
  int64_t opset = 0;
};

Status read_opset(std::string_view bytes, const std::string& path, Model& model) {
  OperatorSetIdProto set;
  STREW_TRY(parse(bytes, kMaxListed, path + ": opset_import", set));
  if (!is_default_domain(set.domain())) return {};
  if (model.opset != 0 && model.opset != set.version()) {
    return invalid_argument("{}: opset_import has ai.onnx versions {} and {}, expected one", path, model.opset, set.version());
  }
  model.opset = set.version();
  return {};
}

Status read_function(std::string_view bytes, const std::string& path, Model& model) {
  constexpr uint64_t kName = 1, kInput = 4, kOutput = 5, kOpsetImport = 9, kDomain = 10;
  Function function;
  function.bytes = bytes;
  std::string name, domain;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.is_message(kName)) name = field.bytes;
    if (field.is_message(kDomain)) domain = field.bytes;
    if (field.is_message(kInput)) function.inputs.emplace_back(field.bytes);
    if (field.is_message(kOutput)) function.outputs.emplace_back(field.bytes);
    if (!field.is_message(kOpsetImport)) continue;
    OperatorSetIdProto set;
    STREW_TRY(parse(field.bytes, kMaxListed, path + ": opset_import of function " + name, set));
    if (is_default_domain(set.domain())) function.opset = set.version();
  }
  if (reader.damaged()) return damaged(path, bytes.size());
  model.functions.emplace((is_default_domain(domain) ? "" : domain) + "/" + name, std::move(function));
  return {};
}

Expected<Model> read_model(std::string_view bytes, const std::string& path) {
  constexpr uint64_t kGraph = 7, kOpsetImport = 8, kFunctions = 25;
  Model model;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.is_message(kOpsetImport)) STREW_TRY(read_opset(field.bytes, path, model));
    if (field.is_message(kFunctions)) STREW_TRY(read_function(field.bytes, path, model));
    if (!field.is_message(kGraph)) continue;
    if (model.graph) return invalid_argument(path + ": the model has two graphs, expected one");
    model.graph = field.bytes;
  }
  if (reader.damaged()) return damaged(path, bytes.size());
  if (!model.graph) return invalid_argument(path + ": the model has no graph, expected a protobuf ModelProto with one");
  if (model.opset <= 0) return invalid_argument(path + ": opset_import has no version of ai.onnx, expected one");
  return model;
}

/// Adds an input of the graph. One that is no tensor of a rank is a value of an opaque operation; then `refused` says why, unless another one
/// was refused before.
Status import_input(Graph& graph, const ValueInfoProto& info, Status& refused) {
  if (graph.has_initializer(info.name())) return {};  // files before IR version 4 list initializers among the inputs
  const std::string what = graph.path() + ": input " + info.name();
  Expected<TensorType> type = to_type(info.type(), what);
  ProgramBuilder build(graph.program(), what);
  if (type.ok())
    return graph.define(info.name(), build.input({info.name(), std::move(*type), false}, symbols_of(info.type())), what);
  if (refused.ok()) refused = type.status();
  const int opaque = graph.program().add_opaque({.location = what, .reason = type.status().message()});
  return graph.define(info.name(), build.opaque_value(opaque, 0, type), what);
}

const Operator* find_operator(const NodeProto& node) {
  for (const Operator& op : operators())
    if (is_default_domain(node.domain()) && op.name == node.op_type()) return &op;
  return nullptr;
}

/// Translates the nodes of a model: those of its graph, of the graphs in their attributes, and of its functions.
class Translator {
 public:
  /// The nodes of the graph, which are in its field `field_number`.
  Status import_nodes(Graph& graph, uint64_t field_number, int64_t opset);
  int nodes() const { return nodes_; }
  /// Why the first scatter or gather that was refused was refused, or else the first operator that no table has.
  const Status& first_refusal() const { return first_refusal_.ok() ? first_unknown_ : first_refusal_; }

 private:
  Status import_node(Graph& graph, std::string_view bytes, int number, int64_t opset);
  Status import_regions(Node& node, int opaque);
  static void type_results(Node& node, int opaque, size_t first_result, size_t results);
  Status import_call(Node& node, const Function& function);

  int nodes_ = 0;
  Status first_refusal_, first_unknown_;
};

/// Puts the values of a call's attributes where the function's nodes refer to them.
void substitute_attributes(NodeProto& proto, const NodeProto& call) {
  for (int i = proto.attribute_size(); i-- > 0;) {
    AttributeProto& own = *proto.mutable_attribute(i);
    if (own.ref_attr_name().empty()) continue;
    const auto given = std::find_if(call.attribute().begin(), call.attribute().end(),
                                    [&](const AttributeProto& a) { return a.name() == own.ref_attr_name(); });
    if (given == call.attribute().end()) {
      proto.mutable_attribute()->DeleteSubrange(i, 1);
      continue;
    }
    const std::string name = own.name();
    own = *given;
    own.set_name(name);
  }
}

/// A node of an operator that no table knows, or that its import function refuses, is opaque: a kernel that does not depend on it can still
/// be used. What is wrong with the graph itself (a name that is defined twice, a damaged node) refuses the file.
Status Translator::import_node(Graph& graph, std::string_view bytes, int number, int64_t opset) {
  if (++nodes_ > kMaxNodes)
    return invalid_argument(graph.path() + ": more than " + std::to_string(kMaxNodes) + " nodes with functions inlined");
  NodeProto proto;
  STREW_TRY(parse(bytes, kMaxListed, graph.path() + ": node " + std::to_string(number), proto));
  if (graph.call() != nullptr) substitute_attributes(proto, *graph.call());
  Node node(graph, proto, number, opset, find_operator(proto));
  const auto function = graph.functions().find((is_default_domain(proto.domain()) ? "" : proto.domain()) + "/" + proto.op_type());
  if (function != graph.functions().end()) return import_call(node, function->second);
  const size_t first_result = graph.program().values().size();
  STREW_ASSIGN(const int opaque, node.translate(first_refusal_));
  if (opaque < 0) return {};
  if (node.form() == nullptr && first_unknown_.ok())
    first_unknown_ =
        node.error("the operator is not supported{}, and the graph has no indexed write or read; expected at least one of: {}",
                   is_default_domain(proto.domain()) ? "" : " (domain " + proto.domain() + ")", indexed_names(operators()));
  const size_t results = graph.program().values().size() - first_result;
  STREW_TRY(import_regions(node, opaque));
  type_results(node, opaque, first_result, results);
  return {};
}

/// The graphs in attributes (If, Loop, Scan). What their inputs are bound to is known to the opaque node alone.
Status Translator::import_regions(Node& node, int opaque) {
  int next_result = node.outputs();
  for (const AttributeProto& attribute : node.proto().attribute()) {
    if (!attribute.has_g()) continue;
    if (node.graph().depth() >= kMaxDepth) return node.error("graphs are nested more than {} deep", kMaxDepth);
    Graph region(node.graph(), attribute.g(), node.name() + "/" + attribute.name(), /*sees_outer=*/true);
    if (node.proto().op_type() != "If") region.hide_symbols();
    region.set_region(opaque);
    const std::string of = " of " + attribute.name();
    ProgramBuilder& builder = node.builder();
    STREW_TRY(define_initializers(region));
    STREW_TRY(for_each_info(region, "input", node.location(), of, [&](const ValueInfoProto& info) -> Status {
      const int value = builder.opaque_value(opaque, next_result++, to_type(info.type(), info.name()));
      return region.define(info.name(), value, node.location() + ": input" + of);
    }));
    STREW_TRY(import_nodes(region, GraphField::kNode, node.opset()));
    STREW_TRY(for_each_info(region, "output", node.location(), of, [&](const ValueInfoProto& info) -> Status {
      STREW_ASSIGN(const int value, region.find(info.name()));
      if (value >= 0) region.program().edit_opaque(opaque)->yields.push_back(value);
      return {};
    }));
  }
  return {};
}

/// Gives the results of If and Loop that the file declares no type for the types of what their graphs return. The results are `results` values
/// from `first_result` on.
void Translator::type_results(Node& node, int opaque, size_t first_result, size_t results) {
  Program& program = node.graph().program();
  const std::string& op = node.proto().op_type();
  if (op != "If" && op != "Loop") return;
  // Of Loop, the graph returns a condition, what it carries, and a slice of each of the other results.
  const std::vector<int> yields = program.opaque(opaque).yields;
  const size_t first = op == "Loop" ? 1 : 0,
               carried = op == "Loop" ? static_cast<size_t>(std::max(0, node.proto().input_size() - 2)) : yields.size();
  for (size_t i = first_result; i < first_result + results; ++i) {
    const Value& value = program.values()[i];
    if (value.kind != ValueKind::opaque || value.index != opaque || value.is_typed) continue;
    const size_t at = first + static_cast<size_t>(value.result);
    if (at >= yields.size()) continue;
    const Value& yielded = program.value(yields[at]);
    if (!yielded.is_typed) continue;
    // Another iteration, or the other branch, may make other extents.
    TensorType type = yielded.type;
    const bool is_stacked = static_cast<size_t>(value.result) >= carried;
    type.dims.assign(type.dims.size() + (is_stacked ? 1 : 0), kDynamic);
    const auto result = program.edit_value(static_cast<int>(i));
    result->type = std::move(type);
    result->is_typed = true;
  }
}

/// Inlines a function of the model.
Status Translator::import_call(Node& node, const Function& function) {
  constexpr uint64_t kNode = 7;  // of FunctionProto
  if (node.graph().depth() >= kMaxDepth) return node.error("functions call each other more than {} deep", kMaxDepth);
  Graph body(node.graph(), function.bytes, node.name(), /*sees_outer=*/false);
  body.set_call(node.proto(), node.number());
  FileNode call{node.number(), node.graph().region(), node.location(), {}, {}};
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const int number = static_cast<int>(i);
    call.arguments.push_back(-1);
    if (!node.has_input(number)) continue;
    STREW_ASSIGN(const int value, node.graph().find(node.proto().input(number)));
    call.arguments.back() = value;
    if (value < 0) return node.error("input {} is '{}', which nothing defines", i, node.proto().input(number));
    STREW_TRY(body.define(function.inputs[i], value, fmt::format("{}: input {}", node.location(), i)));
  }
  STREW_TRY(import_nodes(body, kNode, function.opset == 0 ? node.opset() : function.opset));
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const int number = static_cast<int>(i);
    call.results.push_back(-1);
    if (!node.has_output(number)) continue;
    STREW_ASSIGN(const int value, body.find(function.outputs[i]));
    call.results.back() = value;
    if (value < 0) return node.error("output '{}' of the function is not computed in it", function.outputs[i]);
    STREW_TRY(node.graph().define(node.proto().output(number), value, fmt::format("{}: output {}", node.location(), i)));
  }
  node.graph().program().add_node(std::move(call));
  return {};
}

Status Translator::import_nodes(Graph& graph, uint64_t field_number, int64_t opset) {
  return for_each(graph, field_number, "nodes", kMaxListed,
                  [&](std::string_view bytes, int number) { return import_node(graph, bytes, number, opset); });
}

Status import_output(Graph& graph, const ValueInfoProto& info) {
  Program& program = graph.program();
  const std::string what = graph.path() + ": output " + info.name();
  STREW_ASSIGN(const int value, graph.find(info.name()));
  if (value < 0) return invalid_argument(what + ": nothing in the graph computes it");
  graph.used(value, /*optional=*/false);
  if (info.has_type() && info.type().tensor_type().has_shape() && program.value(value).kind != ValueKind::opaque) {
    const TensorType& computed = program.value(value).type;
    STREW_ASSIGN(TensorType declared, to_type(info.type(), what));
    if (declared.dtype != computed.dtype || !unify_dims(declared.dims, computed.dims, what).ok())
      return invalid_argument("{}: it is declared as {}{}, expected what the graph computes: {}{}", what, declared.dtype,
                              declared.dims, computed.dtype, computed.dims);
  }
  program.add_output({info.name(), value});
  return {};
}

Status import_graph(Graph& graph, int64_t opset) {
  const Program& program = graph.program();
  STREW_TRY(define_initializers(graph));
  Status refused_input;
  STREW_TRY(for_each_info(graph, "input", graph.path(), "",
                          [&](const ValueInfoProto& info) { return import_input(graph, info, refused_input); }));
  Translator translator;
  STREW_TRY(translator.import_nodes(graph, GraphField::kNode, opset));
  if (program.kernels().empty()) {
    STREW_TRY(refused_input);
    STREW_TRY(translator.first_refusal());
    return invalid_argument("{}: the graph has {} nodes and no indexed write or read among them, expected at least one of: {}",
                            graph.path(), translator.nodes(), indexed_names(operators()));
  }
  STREW_TRY(
      for_each_info(graph, "output", graph.path(), "", [&](const ValueInfoProto& info) { return import_output(graph, info); }));
  if (program.outputs().empty()) return invalid_argument(graph.path() + ": the graph has no outputs, expected at least one");
  return {};
}

}  // namespace

const std::vector<Operator>& operators() {
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all;
    for (const auto more : {indexed_operators, elementwise_operators, movement_operators})
      for (Operator& op : more()) all.push_back(std::move(op));
    return all;
  }());
  return list;
}

Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions&,
                               const std::shared_ptr<const void>& owner) {
  STREW_ASSIGN(const Model model, read_model(bytes, path));
  Program program;
  program.set_format("onnx");
  program.set_source(owner);
  Graph graph(program, path, *model.graph, model.functions);
  STREW_TRY(import_graph(graph, model.opset));
  graph.mark_optional_inputs();
  program.set_source(nullptr);
  return program;
}

}  // namespace strew::inline v0::onnx
