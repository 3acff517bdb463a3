// Graph and Node: names, values, attributes and messages of an ONNX graph. This file knows no operators.
//
// Names from the model appear in messages unchanged; the command line replaces unprintable characters. Tested by
// tests/unit/compiler/import/onnx/onnx_import_test.cc.
#include "compiler/import/onnx/graph.h"

#include <algorithm>
#include <set>

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

void Graph::mark_optional_inputs() const {
  for (const auto& [value, is_required] : required_)
    if (const Value& used = program_.value(value); !is_required && used.kind == ValueKind::input)
      program_.edit_input(used.index).optional = true;
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

/// Is the attribute of this type? Files before IR version 2 have no types of attributes.
bool is_of(const AttributeProto& a, AttributeType type) {
  if (a.has_type() || type == AttributeType::any) return type == AttributeType::any || a.type() == static_cast<int>(type);
  if (type == AttributeType::number) return a.has_f();
  if (type == AttributeType::integer) return a.has_i();
  return type == AttributeType::text ? a.has_s() : true;
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
      name_(name_of(proto, number)) {
  number_ = graph.file_number(number);
  region_ = graph.region();
  for (const std::string& name : proto.input()) has_input_.push_back(!name.empty());
  for (const std::string& name : proto.output()) has_output_.push_back(!name.empty());
}

Expected<Values> Node::import() { return op_->import(*this); }

/// Refuses opsets that do not have the operator, attributes that are not in its row, and repeated attributes.
Status Node::check_node() const {
  if (opset_ < op_->min_opset) return error("the model's opset is {}, expected at least {}", opset_, op_->min_opset);
  if (opset_ > op_->max_opset)
    return error("the model's opset is {}, expected at most {}; {}", opset_, op_->max_opset, op_->later);
  std::set<std::string_view> seen;
  std::vector<std::string_view> names;
  for (const Attribute& known : op_->attributes) names.push_back(known.name);
  for (const AttributeProto& a : proto_.attribute()) {
    const auto at = std::find(names.begin(), names.end(), a.name()) - names.begin();
    if (at == std::ssize(names))
      return error("attribute '{}' is unknown, expected one of: {}", a.name(),
                   names.empty() ? "(none)" : fmt::format("{}", fmt::join(names, ", ")));
    if (!seen.insert(a.name()).second) return error("attribute '{}' is given twice, expected once", a.name());
    if (!a.ref_attr_name().empty()) return error("attribute '{}' refers to a function's attribute, expected a value", a.name());
    const Attribute& known = op_->attributes[at];
    const auto number = static_cast<AttributeProto::AttributeType>(known.type);
    if (!is_of(a, known.type))
      return error("attribute '{}' has type {}, expected {} ({})", a.name(), static_cast<int>(a.type()),
                   AttributeProto::AttributeType_Name(number), static_cast<int>(number));
    if (opset_ < known.opset) return error("attribute '{}' came with opset {}, the model's is {}", a.name(), known.opset, opset_);
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

const AttributeProto* Node::find_attribute(std::string_view name, AttributeType type) const {
  for (const AttributeProto& a : proto_.attribute())
    if (a.name() == name && is_of(a, type)) return &a;
  return nullptr;
}

int64_t Node::integer(std::string_view name, int64_t otherwise) const {
  const AttributeProto* a = find_attribute(name, AttributeType::integer);
  return a == nullptr ? otherwise : a->i();
}

std::optional<float> Node::number(std::string_view name) const {
  const AttributeProto* a = find_attribute(name, AttributeType::number);
  return a == nullptr ? std::nullopt : std::optional<float>(a->f());
}

std::string Node::text(std::string_view name, const std::string& otherwise) const {
  const AttributeProto* a = find_attribute(name, AttributeType::text);
  return a == nullptr ? otherwise : a->s();
}

std::optional<std::vector<int64_t>> Node::list(std::string_view name) const {
  const AttributeProto* a = find_attribute(name, AttributeType::list);
  if (a == nullptr) return std::nullopt;
  return std::vector<int64_t>(a->ints().begin(), a->ints().end());
}

Expected<std::optional<std::vector<int64_t>>> Node::list_of(std::string_view name, int i) const {
  return has_attribute(name) ? list(name) : find_constants(i);
}

Expected<int64_t> Node::axis(int64_t otherwise, int rank) const { return dim_of(integer("axis", otherwise), rank, "axis"); }

Status Node::name_kernel(ProgramKernel& kernel) const {
  STREW_TRY(graph_.check_free(proto_.output(0), location() + ": output 0"));
  kernel.name = graph_.kernel_name(name_);
  return {};
}

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
