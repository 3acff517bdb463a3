// Graph and Node: names, values, attributes and messages of an ONNX graph. This file knows no operators.
//
// Names from the model appear in messages unchanged; the command line replaces unprintable characters. Tested by
// tests/unit/compiler/import/onnx/onnx_import_test.cc.
#include "compiler/import/onnx/graph.h"

#include <algorithm>
#include <set>

#include "compiler/import/onnx/infer.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/import/onnx/wire.h"
#include "compiler/import/symbols.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::onnx {

Status Graph::check_free(const std::string& name, const std::string& what) const {
  if (name.empty()) return invalid_argument(what + ": the name is empty, expected one");
  if (!names_.contains(name)) return {};
  return invalid_argument(what + ": the name '" + name + "' is defined twice, expected once");
}

Status Graph::define(const std::string& name, int value, const std::string& what) {
  STREW_TRY(check_free(name, what));
  names_.emplace(name, value);
  const auto known = program_.edit_value(value);
  if (known->name.empty()) known->name = prefix_ + name;
  add_symbols(name, *known);
  return {};
}

Status Graph::define_initializer(std::string_view tensor) {
  std::string_view name;
  WireReader reader(tensor);
  for (WireField field; reader.next(field);) {
    if (field.is_message(TensorProto::kNameFieldNumber)) name = field.bytes;
  }
  if (reader.damaged()) {
    return invalid_argument(path_ + ": initializer " + std::string(name) + ": damaged, expected a protobuf TensorProto");
  }
  if (name.empty()) return invalid_argument(path_ + ": an initializer has no name, expected one");
  if (!initializers_.emplace(name, tensor).second) {
    return invalid_argument(path_ + ": the name '" + std::string(name) + "' has two initializers, expected one");
  }
  return {};
}

std::optional<ValueInfoProto> Graph::declaration(const std::string& name) {
  if (!has_declared_) {
    has_declared_ = true;
    WireReader reader(bytes_);
    for (WireField field; reader.next(field);) {
      if (!field.is_message(GraphField::kOutput) && !field.is_message(GraphField::kValueInfo)) continue;
      WireReader info(field.bytes);
      for (WireField part; info.next(part);)
        if (part.is_message(ValueInfoProto::kNameFieldNumber)) declared_.emplace(part.bytes, field.bytes);
    }
  }
  const auto it = declared_.find(name);
  ValueInfoProto info;
  if (it == declared_.end() || !info.ParseFromArray(it->second.data(), static_cast<int>(it->second.size()))) return std::nullopt;
  return info;
}

std::optional<TensorType> Graph::declared_type(const std::string& name) {
  const std::optional<ValueInfoProto> info = declaration(name);
  if (!info) return std::nullopt;
  Expected<TensorType> type = to_type(info->type(), name);
  return type.ok() ? std::optional<TensorType>(std::move(*type)) : std::nullopt;
}

/// Gives the open extents of a computed value that have no names those that the file declares.
void Graph::add_symbols(const std::string& name, Value& value) {
  const std::vector<int64_t>& dims = value.type.dims;
  if (!has_symbols_ || !value.is_typed || is_static(dims)) return;
  const std::optional<ValueInfoProto> info = declaration(name);
  const std::vector<std::string> declared = info ? symbols_of(info->type()) : std::vector<std::string>();
  if (declared.size() != dims.size()) return;
  value.symbols.resize(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == kDynamic && value.symbols[d].empty()) value.symbols[d] = declared[d];
}

Expected<int> Graph::find(const std::string& name) {
  if (const auto it = names_.find(name); it != names_.end()) return it->second;
  const auto initializer = initializers_.find(name);
  if (initializer == initializers_.end()) return outer_ != nullptr && sees_outer_ ? outer_->find(name) : Expected<int>(-1);
  const std::string what = path_ + ": initializer " + name;
  STREW_ASSIGN(Constant constant, parse_tensor(initializer->second, what, path_, program_.parts().source));
  const int value = ProgramBuilder(program_, what).add_constant(std::move(constant));
  STREW_TRY(define(name, value, what));
  return value;
}

std::string Graph::kernel_name(const std::string& name) {
  // Exporters name nodes by paths, too.
  if (outer_ != nullptr) return root().kernel_name(prefix_ + name.substr(name.starts_with('/') ? 1 : 0));
  const int seen = kernel_names_[name]++;
  if (seen == 0) return name;
  return kernel_name(name + "_" + std::to_string(seen + 1));
}

void Graph::used(int value, bool optional) { root().required_[value] |= !optional; }

std::vector<int> Graph::only_optional() const {
  std::vector<int> out;
  for (const auto& [value, is_required] : required_)
    if (!is_required) out.push_back(value);
  return out;
}

std::vector<std::string> symbols_of(const TypeProto& proto) {
  std::vector<std::string> out;
  for (const auto& dim : proto.tensor_type().shape().dim())
    out.push_back(!dim.has_dim_value() && is_symbol(dim.dim_param()) ? dim.dim_param() : "");
  return out;
}

namespace {

std::string name_of(const NodeProto& proto, int number) {
  return proto.name().empty() ? fmt::format("{}_{}", proto.op_type(), number) : proto.name();
}

std::string operation_of(const NodeProto& proto) {
  return is_default_domain(proto.domain()) ? proto.op_type() : proto.domain() + "." + proto.op_type();
}

}  // namespace

Node::Node(Graph& graph, const NodeProto& proto, int number, int64_t opset, const Operator* op)
    : GraphNode(graph.program(), graph.path(),
                fmt::format("node {}{} ({})", graph.prefix(), name_of(proto, number), proto.op_type()), operation_of(proto),
                op == nullptr ? nullptr : &op->form),
      graph_(graph),
      proto_(proto),
      opset_(opset),
      op_(op),
      name_(name_of(proto, number)) {}

Expected<Values> Node::import() { return op_->import(*this); }

/// Refuses opsets that do not have the operator, attributes that are not in its row, and repeated attributes.
Status Node::check_node() const {
  if (opset_ < op_->min_opset) return error("the model's opset is {}, expected at least {}", opset_, op_->min_opset);
  if (opset_ > op_->max_opset)
    return error("the model's opset is {}, expected at most {}; {}", opset_, op_->max_opset, op_->later);
  std::set<std::string_view> seen;
  for (const AttributeProto& a : proto_.attribute()) {
    const auto& known = op_->attributes;
    if (std::find(known.begin(), known.end(), a.name()) == known.end())
      return error("attribute '{}' is unknown, expected one of: {}", a.name(),
                   known.empty() ? "(none)" : fmt::format("{}", fmt::join(known, ", ")));
    if (!seen.insert(a.name()).second) return error("attribute '{}' is given twice, expected once", a.name());
    if (!a.ref_attr_name().empty()) return error("attribute '{}' refers to a function's attribute, expected a value", a.name());
  }
  return {};
}

Expected<int> Node::read_input(int i, const std::string& what, bool needs_elements) const {
  if (!has_input(i)) return error("{} is missing", what);
  STREW_ASSIGN(const int value, graph_.find(proto_.input(i)));
  if (value < 0)
    return error("{} is '{}', expected the name of a graph input, an initializer or the output of an earlier node", what,
                 proto_.input(i));
  if (!graph_.program().value(value).is_typed)
    return error(
        "{} is '{}', whose type the file does not tell, expected a file with the shapes of its values "
        "(onnx.shape_inference.infer_shapes adds them)",
        what, proto_.input(i));
  graph_.used(value, !needs_elements);
  return value;
}

const AttributeProto* Node::find_attribute(std::string_view name) const {
  const auto& all = proto_.attribute();
  const auto it = std::find_if(all.begin(), all.end(), [&](const AttributeProto& a) { return a.name() == name; });
  return it == all.end() ? nullptr : &*it;
}

Expected<const AttributeProto*> Node::find_typed(std::string_view name, int number, std::string_view type_name,
                                                 bool (AttributeProto::*is_set)() const) const {
  const AttributeProto* a = find_attribute(name);
  if (a == nullptr || (a->has_type() ? a->type() == number : is_set == nullptr || (a->*is_set)())) return a;
  return error("attribute '{}' has type {}, expected {} ({})", name, static_cast<int>(a->type()), type_name, number);
}

Expected<int64_t> Node::attribute(std::string_view name, int64_t otherwise) const {
  STREW_ASSIGN(const AttributeProto* a, find_typed(name, AttributeProto::INT, "INT", &AttributeProto::has_i));
  return a == nullptr ? otherwise : a->i();
}

Expected<std::string> Node::attribute(std::string_view name, const std::string& otherwise) const {
  STREW_ASSIGN(const AttributeProto* a, find_typed(name, AttributeProto::STRING, "STRING", &AttributeProto::has_s));
  return a == nullptr ? otherwise : a->s();
}

Expected<float> Node::float_attribute(std::string_view name, float otherwise) const {
  STREW_ASSIGN(const AttributeProto* a, find_typed(name, AttributeProto::FLOAT, "FLOAT", &AttributeProto::has_f));
  return a == nullptr ? otherwise : a->f();
}

Expected<std::optional<std::vector<int64_t>>> Node::list_attribute(std::string_view name) const {
  STREW_ASSIGN(const AttributeProto* a, find_typed(name, AttributeProto::INTS, "INTS", nullptr));
  if (a == nullptr) return std::optional<std::vector<int64_t>>();
  return std::optional<std::vector<int64_t>>(std::in_place, a->ints().begin(), a->ints().end());
}

Expected<std::optional<std::vector<int64_t>>> Node::list_of(std::string_view name, int i) const {
  return has_attribute(name) ? list_attribute(name) : find_constants(i);
}

Expected<int64_t> Node::axis(int64_t otherwise, int rank) const {
  STREW_ASSIGN(const int64_t given, attribute("axis", otherwise));
  return dim_of(given, rank, "axis");
}

Status Node::check_kernel(ProgramKernel&) const { return graph_.check_free(proto_.output(0), location() + ": output 0"); }

Status Node::define_output(int i, int value) {
  return graph_.define(proto_.output(i), value, fmt::format("{}: output {}", location(), i));
}

Expected<int> Node::opaque_argument(int i) const {
  const int value = graph_.find(proto_.input(i)).value_or(-1);
  if (value >= 0) graph_.used(value, /*optional=*/false);
  return value;
}

Expected<TensorType> Node::opaque_type(int i) const {
  std::optional<TensorType> type = graph_.declared_type(proto_.output(i));
  if (!type) type = inferred_type(*this, i);
  return type ? Expected<TensorType>(std::move(*type)) : unsupported("the file does not tell");
}

}  // namespace strew::inline v0::onnx
