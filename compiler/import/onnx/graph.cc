// Graph and Node: names, values, attributes and messages of an ONNX graph. This file knows no operators.
//
// Names from the model appear in messages unchanged; the command line replaces unprintable characters. Tested by
// tests/unit/compiler/import/onnx/onnx_import_test.cc.
#include "compiler/import/onnx/graph.h"

#include <algorithm>
#include <set>

#include "compiler/import/importer.h"
#include "compiler/import/onnx/infer.h"
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
  const auto known = imported_.edit_value(value);
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
  STREW_ASSIGN(Constant constant, parse_tensor(initializer->second, what, path_, imported_.parts().source));
  const int value = ProgramBuilder(imported_, what).add_constant(std::move(constant));
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

bool Graph::only_optional(int value) const {
  const auto it = required_.find(value);
  return it != required_.end() && !it->second;
}

Node::Node(Graph& graph, const NodeProto& proto, int number, int64_t opset) : graph_(graph), proto_(proto), opset_(opset) {
  name_ = proto.name().empty() ? proto.op_type() + "_" + std::to_string(number) : proto.name();
  where_ = graph.path() + ": node " + graph.prefix() + name_ + " (" + proto.op_type() + ")";
}

Status Node::check_signature(int min_inputs, int max_inputs, int outputs,
                             std::initializer_list<std::string_view> attributes) const {
  if (proto_.input_size() < min_inputs || proto_.input_size() > max_inputs) {
    return error("it has " + std::to_string(proto_.input_size()) + " inputs, expected " + std::to_string(min_inputs) +
                 (max_inputs == min_inputs ? "" : " to " + std::to_string(max_inputs)));
  }
  if (proto_.output_size() != outputs) {
    return error("it has " + std::to_string(proto_.output_size()) + " outputs, expected " + std::to_string(outputs));
  }
  std::set<std::string_view> seen;
  for (const AttributeProto& a : proto_.attribute()) {
    if (std::find(attributes.begin(), attributes.end(), a.name()) == attributes.end()) {
      std::string known;
      for (std::string_view n : attributes) known += (known.empty() ? "" : ", ") + std::string(n);
      return error("attribute '" + a.name() + "' is unknown, expected one of: " + (known.empty() ? "(none)" : known));
    }
    if (!seen.insert(a.name()).second) return error("attribute '" + a.name() + "' is given twice, expected once");
    if (!a.ref_attr_name().empty())
      return error("attribute '" + a.name() + "' refers to a function's attribute, expected a value");
  }
  return {};
}

Expected<int> Node::input(int i, std::string_view role, bool optional) const {
  if (!has_input(i)) return error("input " + std::to_string(i) + " (" + std::string(role) + ") is missing");
  STREW_ASSIGN(const int value, graph_.find(proto_.input(i)));
  if (value < 0) {
    return error("input " + std::to_string(i) + " (" + std::string(role) + ") is '" + proto_.input(i) +
                 "', expected the name of a graph input, an initializer or the output of an earlier node");
  }
  if (!graph_.imported().value(value).is_typed) {
    return error("input " + std::to_string(i) + " (" + std::string(role) + ") is '" + proto_.input(i) +
                 "', whose type the file does not tell, expected a file with the shapes of its values "
                 "(onnx.shape_inference.infer_shapes adds them)");
  }
  graph_.used(value, optional);
  return value;
}

const AttributeProto* Node::find_attribute(std::string_view name) const {
  for (const AttributeProto& a : proto_.attribute()) {
    if (a.name() == name) return &a;
  }
  return nullptr;
}

Expected<int64_t> Node::attribute(std::string_view name, int64_t otherwise) const {
  const AttributeProto* a = find_attribute(name);
  if (a == nullptr) return otherwise;
  // Files before IR version 2 have no type field in attributes.
  if (a->has_type() ? a->type() != AttributeProto::INT : !a->has_i()) {
    return error("attribute '" + std::string(name) + "' has type " + std::to_string(a->type()) + ", expected INT (2)");
  }
  return a->i();
}

Expected<std::string> Node::attribute(std::string_view name, const std::string& otherwise) const {
  const AttributeProto* a = find_attribute(name);
  if (a == nullptr) return otherwise;
  if (a->has_type() ? a->type() != AttributeProto::STRING : !a->has_s()) {
    return error("attribute '" + std::string(name) + "' has type " + std::to_string(a->type()) + ", expected STRING (3)");
  }
  return a->s();
}

Expected<float> Node::float_attribute(std::string_view name, float otherwise) const {
  const AttributeProto* a = find_attribute(name);
  if (a == nullptr) return otherwise;
  if (a->has_type() ? a->type() != AttributeProto::FLOAT : !a->has_f()) {
    return error("attribute '" + std::string(name) + "' has type " + std::to_string(a->type()) + ", expected FLOAT (1)");
  }
  return a->f();
}

Expected<std::optional<std::vector<int64_t>>> Node::list_attribute(std::string_view name) const {
  const AttributeProto* a = find_attribute(name);
  if (a == nullptr) return std::optional<std::vector<int64_t>>();
  if (a->has_type() && a->type() != AttributeProto::INTS) {
    return error("attribute '" + std::string(name) + "' has type " + std::to_string(a->type()) + ", expected INTS (7)");
  }
  return std::optional<std::vector<int64_t>>(std::vector<int64_t>(a->ints().begin(), a->ints().end()));
}

Expected<std::optional<std::vector<int64_t>>> Node::list_input(int i, std::string_view role) const {
  if (!has_input(i)) return std::optional<std::vector<int64_t>>();
  STREW_ASSIGN(const int value, input(i, role));
  std::optional<std::vector<int64_t>> numbers = builder().integers(value);
  if (numbers) return numbers;
  return unsupported(where_ + ": input " + std::to_string(i) + " (" + std::string(role) +
                     ") is computed when the model runs, expected constants");
}

Expected<std::optional<std::vector<int64_t>>> Node::list_of(std::string_view name, int i) const {
  return has_attribute(name) ? list_attribute(name) : list_input(i, name);
}

Expected<int64_t> Node::dim_of(int64_t dim, int rank, std::string_view what) const {
  if (dim >= -rank && dim < rank) return dim < 0 ? dim + rank : dim;
  return error(std::string(what) + " is " + std::to_string(dim) + ", expected " + std::to_string(-rank) + " to " +
               std::to_string(rank - 1));
}

Status Node::give(const Expected<int>& value, int output) {
  if (!value.ok()) return value.status().with_prefix(where_);
  if (output >= proto_.output_size() || proto_.output(output).empty()) return {};
  return graph_.define(proto_.output(output), *value, where_ + ": output " + std::to_string(output));
}

Expected<int> Node::add_opaque(const std::string& reason, bool indexed) {
  Program& imported = graph_.imported();
  const std::string& domain = proto_.domain();
  Opaque opaque;
  opaque.operation = (domain.empty() || domain == "ai.onnx" ? "" : domain + ".") + proto_.op_type();
  opaque.location = where_;
  opaque.reason = reason;
  opaque.indexed = indexed;
  for (const std::string& name : proto_.input()) {
    if (name.empty()) continue;
    const Expected<int> value = graph_.find(name);
    if (!value.ok() || *value < 0) continue;
    opaque.arguments.push_back(*value);
    graph_.used(*value, /*optional=*/false);
  }
  const int number = imported.add_opaque(std::move(opaque));
  for (int i = 0; i < proto_.output_size(); ++i) {
    if (proto_.output(i).empty()) continue;
    std::optional<TensorType> type = graph_.declared_type(proto_.output(i));
    if (!type) type = inferred_type(*this, i);
    const int value =
        builder().opaque_value(number, i, type ? Expected<TensorType>(*type) : unsupported("the file does not tell"));
    STREW_TRY(graph_.define(proto_.output(i), value, where_ + ": output " + std::to_string(i)));
  }
  return number;
}

std::vector<std::string> symbols_of(const TypeProto& proto) {
  std::vector<std::string> out;
  for (const auto& dim : proto.tensor_type().shape().dim())
    out.push_back(!dim.has_dim_value() && is_symbol(dim.dim_param()) ? dim.dim_param() : "");
  return out;
}

Status Node::add_kernel(Op op, std::vector<int> arguments, std::vector<int> non_negative, std::vector<std::string> notes,
                        std::vector<EqualExtents> equal_extents) {
  STREW_ASSIGN(ProgramKernel kernel, verified_kernel(std::move(op), where_));
  kernel.name = graph_.kernel_name(name_);
  kernel.arguments = std::move(arguments);
  kernel.non_negative = std::move(non_negative);
  kernel.notes = std::move(notes);
  kernel.equal_extents = std::move(equal_extents);
  for (int i = 0; i < proto_.output_size(); ++i)
    STREW_TRY(graph_.check_free(proto_.output(i), where_ + ": output " + std::to_string(i)));
  const std::vector<int> results = builder().kernel(std::move(kernel));
  for (size_t i = 0; i < results.size(); ++i)
    STREW_TRY(graph_.define(proto_.output(static_cast<int>(i)), results[i], where_ + ": output " + std::to_string(i)));
  return {};
}

}  // namespace strew::inline v0::onnx
