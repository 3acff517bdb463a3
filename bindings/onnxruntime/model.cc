#include "bindings/onnxruntime/model.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace strew::ort {
namespace {

/// Larger constants are inputs of the model: they are not copied, and which elements they have decides nothing.
constexpr size_t kMostConstantBytes = size_t{1} << 16;

/// A message in the format of protocol buffers. The numbers of fields are those of ONNX's files.
class Message {
 public:
  void number(int field, int64_t value) {
    tag(field, 0);
    varint(static_cast<uint64_t>(value));
  }
  void real(int field, float value) {
    tag(field, 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(int field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(int field, const Message& value) { text(field, value.bytes_); }
  std::string take() && { return std::move(bytes_); }

 private:
  void tag(int field, int kind) { varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(kind)); }
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// The numbers of the interface's element types are those of TensorProto.DataType.
int64_t number_of(abi::ElementType type) { return static_cast<int64_t>(type); }

/// The domain of operators that nobody knows.
constexpr const char* kForeign = "onnxruntime";

/// Operators whose results strew computes with ONNX Runtime's bits, beside those of operators.h. The importer folds them into kernels.
constexpr std::string_view kSame[] = {"Abs",      "Add",     "And",         "Cast",      "Ceil",  "Concat",  "ConstantOfShape",
                                      "Div",      "Equal",   "Expand",      "Flatten",   "Floor", "Greater", "GreaterOrEqual",
                                      "Identity", "Less",    "LessOrEqual", "Mul",       "Neg",   "Not",     "Or",
                                      "Range",    "Reshape", "Shape",       "Slice",     "Split", "Sqrt",    "Squeeze",
                                      "Sub",      "Tile",    "Transpose",   "Unsqueeze", "Where", "Xor"};

/// Operators whose operands broadcast.
constexpr std::string_view kBroadcasts[] = {"Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
                                            "Mul", "Or",  "Sub", "Where", "Xor"};

/// Is it known which extents of the operands are repeated? The importer takes open extents for equal ones. Those with one name are equal.
bool knows_broadcast(const std::vector<ValueType>& operands) {
  size_t rank = 0;
  for (const ValueType& each : operands) rank = std::max(rank, each.dims->size());
  for (size_t back = 1; back <= rank; ++back) {
    const ValueType* first = nullptr;
    for (const ValueType& each : operands) {
      if (each.dims->size() < back) continue;
      const size_t d = each.dims->size() - back;
      const int64_t extent = (*each.dims)[d];
      if (extent == 1) continue;
      if (first == nullptr) {
        first = &each;
        continue;
      }
      const size_t other = first->dims->size() - back;
      const bool is_open = extent == STREW_OPEN || (*first->dims)[other] == STREW_OPEN;
      if (is_open && ((*first->dims)[other] != extent || each.symbols[d].empty() || each.symbols[d] != first->symbols[other]))
        return false;
    }
  }
  return true;
}

bool is_float(abi::ElementType type) {
  using abi::ElementType;
  constexpr ElementType kFloats[] = {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64};
  return std::find(std::begin(kFloats), std::end(kFloats), type) != std::end(kFloats);
}
bool is_narrow_float(abi::ElementType type) {
  return is_float(type) && type != abi::ElementType::f32 && type != abi::ElementType::f64;
}

/// Operators that ONNX Runtime computes in f32 where a tensor is of 16 bits, some of them several in a row.
constexpr std::string_view kArithmetic[] = {"Add", "Div", "Mul", "Sqrt", "Sub"};

/// Do results of the node depend on types for which ONNX Runtime rounds otherwise? It converts floats beyond the range of integers in ways of its own, and f64 to 16 bits by way of f32.
bool rounds_otherwise(const abi::Node* node, const NodeText& text, const std::vector<ValueType>& types) {
  if (std::find(std::begin(kArithmetic), std::end(kArithmetic), text.type) != std::end(kArithmetic))
    return std::any_of(types.begin(), types.end(), [](const ValueType& each) { return is_narrow_float(each.element); });
  if (text.type != "Cast" || types.empty() || !is_float(types[0].element)) return false;
  const auto to = static_cast<abi::ElementType>(NodeReader(node).number("to").value_or(0));
  return !is_float(to) || (types[0].element == abi::ElementType::f64 && is_narrow_float(to));
}

/// Does the graph say enough of what the node reads? The importer wants the rank of a tensor, and the length of index vectors.
abi::Status* has_types(const abi::Node* of, const NodeText& node, const std::vector<const abi::ValueInfo*>& inputs, bool* out) {
  const Operator* const op = find_operator(node.domain, node.type);
  const bool has_vectors = op != nullptr && (op->form == Form::gather_nd || op->form == Form::scatter_nd);
  std::vector<ValueType> types;
  *out = true;
  for (size_t i = 0; i < inputs.size() && *out; ++i) {
    ValueType type;
    if (inputs[i] == nullptr) continue;
    *out = succeeded(type_of(inputs[i], &type)) && type.dims &&
           !(has_vectors && i == 1 && (type.dims->empty() || type.dims->back() == STREW_OPEN));
    if (*out) types.push_back(std::move(type));
  }
  if (*out && std::find(std::begin(kBroadcasts), std::end(kBroadcasts), node.type) != std::end(kBroadcasts))
    *out = knows_broadcast(types);
  *out = *out && !rounds_otherwise(of, node, types);
  return nullptr;
}

/// `ops`: the operators that strew may run, as the provider option of that name has them.
bool is_same(const NodeText& node, const std::string& ops) {
  if (!node.is_onnx() || !node.provider.empty()) return false;
  if (const Operator* const op = find_operator(node.domain, node.type)) return names(ops, op->name);
  return std::find(std::begin(kSame), std::end(kSame), node.type) != std::end(kSame);
}

Message value_info(const std::string& name, const ValueType& type) {
  Message tensor, type_proto, out;
  tensor.number(1, number_of(type.element));
  if (type.dims) {
    Message shape;
    for (size_t d = 0; d < type.dims->size(); ++d) {
      Message
          dim;  // without a name: ONNX Runtime takes names for hints, and strew would refuse calls in which one name has two extents
      if ((*type.dims)[d] != STREW_OPEN) dim.number(1, (*type.dims)[d]);
      shape.message(1, dim);
    }
    tensor.message(2, shape);
  }
  type_proto.message(1, tensor);
  out.text(1, name);
  out.message(2, type_proto);
  return out;
}

/// A tensor with its elements.
abi::Status* tensor_proto(const abi::Value* value, const std::string& name, Message* out) {
  abi::ElementType type = abi::ElementType::undefined;
  const int64_t* dims = nullptr;
  size_t rank = 0, bytes = 0;
  const void* data = nullptr;
  STREW_ORT_TRY(api().GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
  STREW_ORT_TRY(api().GetTensorSizeInBytes(value, &bytes));
  STREW_ORT_TRY(api().GetTensorData(value, &data));
  for (size_t d = 0; d < rank; ++d) out->number(1, dims[d]);
  out->number(2, number_of(type));
  if (!name.empty()) out->text(8, name);
  out->text(9, {static_cast<const char*>(data), bytes});
  return nullptr;
}

template <class T>
abi::Status* read_array(const abi::Attribute* attribute, abi::AttributeType type, std::vector<T>* out) {
  size_t bytes = 0;
  succeeded(api().ReadOpAttr(attribute, type, nullptr, 0, &bytes));  // fails, and says how long it is
  out->resize(bytes / sizeof(T));
  return out->empty() ? nullptr : api().ReadOpAttr(attribute, type, out->data(), bytes, &bytes);
}

/// AttributeProto. `is_known`: it is of a type that operators of ours have.
abi::Status* attribute_proto(const abi::Attribute* attribute, Message* out, bool* is_known) {
  const char* name = nullptr;
  abi::AttributeType type = abi::AttributeType::undefined;
  STREW_ORT_TRY(api().OpAttr_GetName(attribute, &name));
  STREW_ORT_TRY(api().OpAttr_GetType(attribute, &type));
  out->text(1, name);
  enum { kFloat = 1, kInt = 2, kString = 3, kTensor = 4, kFloats = 6, kInts = 7 };
  size_t bytes = 0;
  *is_known = true;
  switch (type) {
    case abi::AttributeType::number: {
      int64_t value = 0;
      STREW_ORT_TRY(api().ReadOpAttr(attribute, type, &value, sizeof value, &bytes));
      out->number(3, value);
      out->number(20, kInt);
      return nullptr;
    }
    case abi::AttributeType::numbers: {
      std::vector<int64_t> values;
      STREW_ORT_TRY(read_array(attribute, type, &values));
      for (const int64_t value : values) out->number(8, value);
      out->number(20, kInts);
      return nullptr;
    }
    case abi::AttributeType::real: {
      float value = 0;
      STREW_ORT_TRY(api().ReadOpAttr(attribute, type, &value, sizeof value, &bytes));
      out->real(2, value);
      out->number(20, kFloat);
      return nullptr;
    }
    case abi::AttributeType::reals: {
      std::vector<float> values;
      STREW_ORT_TRY(read_array(attribute, type, &values));
      for (const float value : values) out->real(7, value);
      out->number(20, kFloats);
      return nullptr;
    }
    case abi::AttributeType::text: {
      std::string value;
      STREW_ORT_TRY(read_text(attribute, &value));
      out->text(4, value);
      out->number(20, kString);
      return nullptr;
    }
    case abi::AttributeType::tensor: {
      abi::Value* value = nullptr;
      STREW_ORT_TRY(api().OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
      const Owned<abi::Value> owned(value);
      Message tensor;
      STREW_ORT_TRY(tensor_proto(value, "", &tensor));
      out->message(5, tensor);
      out->number(20, kTensor);
      return nullptr;
    }
    case abi::AttributeType::undefined:
    case abi::AttributeType::texts:
    case abi::AttributeType::graph:
      *is_known = false;
      return nullptr;
  }
  return nullptr;
}

/// Is every element the same, bit for bit?
bool is_uniform(const char* data, size_t bytes, size_t element) {
  return bytes >= element && std::memcmp(data, data + element, bytes - element) == 0;
}

class Writer {
 public:
  explicit Writer(const std::string& ops) : ops_(ops) {}

  abi::Status* write(const abi::Graph* graph, Model* out) {
    std::vector<const abi::ValueInfo*> inputs, outputs, initializers;
    std::vector<const abi::Node*> nodes;
    STREW_ORT_TRY(read_list(api().Graph_GetNumInputs, api().Graph_GetInputs, graph, &inputs));
    STREW_ORT_TRY(read_list(api().Graph_GetNumOutputs, api().Graph_GetOutputs, graph, &outputs));
    STREW_ORT_TRY(read_list(api().Graph_GetNumInitializers, api().Graph_GetInitializers, graph, &initializers));
    STREW_ORT_TRY(read_list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph, &nodes));
    for (const abi::ValueInfo* const info : initializers) STREW_ORT_TRY(add_initializer(info, out));
    for (const abi::ValueInfo* const info : inputs) STREW_ORT_TRY(add_input(info, out));
    for (const abi::Node* const node : nodes) STREW_ORT_TRY(add_node(node, out));
    for (const abi::ValueInfo* const info : outputs) STREW_ORT_TRY(add_output(info));
    return finish(graph, out);
  }

  abi::Status* write_part(const abi::Graph* graph, const std::vector<const abi::Node*>& nodes,
                          const std::vector<std::string>& outputs, const std::vector<Expansion>& expansions, Model* out) {
    std::vector<const abi::ValueInfo*> all;
    for (const abi::Node* const node : nodes) {
      std::vector<const abi::ValueInfo*> made;
      STREW_ORT_TRY(outputs_of(node, &made));
      for (const abi::ValueInfo* const info : made) {
        std::string name;
        STREW_ORT_TRY(name_of(info, &name));
        made_here_.insert(name);
        if (std::find(outputs.begin(), outputs.end(), name) != outputs.end()) all.push_back(info);
      }
    }
    for (const Expansion& expansion : expansions) add_expansion(expansion, out);
    for (const abi::Node* const node : nodes) {
      std::vector<const abi::ValueInfo*> read;
      STREW_ORT_TRY(inputs_of(node, &read));
      for (const abi::ValueInfo* const info : read) {
        std::string name;
        STREW_ORT_TRY(name_of(info, &name));
        if (!name.empty() && !made_here_.contains(name) && !defined_.contains(name)) STREW_ORT_TRY(add_initializer(info, out));
      }
    }
    for (const abi::Node* const node : nodes) STREW_ORT_TRY(add_node(node, out));
    for (const abi::ValueInfo* const info : all) STREW_ORT_TRY(add_output(info));
    return finish(graph, out);
  }

 private:
  static abi::Status* check_name(const std::string& name) {
    return name.empty() || name[0] != kMade
               ? nullptr
               : failure("strew: a value's name begins with the character 1, which names of strew's do");
  }

  abi::Status* add_input(const abi::ValueInfo* info, Model* out) {
    std::string name;
    STREW_ORT_TRY(name_of(info, &name));
    STREW_ORT_TRY(check_name(name));
    if (name.empty() || !defined_.insert(name).second) return nullptr;
    ValueType type;
    if (succeeded(type_of(info, &type)) && type.dims) {
      graph_.message(11, value_info(name, type));
      return nullptr;
    }
    // What is no tensor, or has a rank that is not known, comes from an operator that nobody knows: the importer wants no type of it.
    add_foreign(name, out);
    return nullptr;
  }

  abi::Status* add_initializer(const abi::ValueInfo* info, Model* out) {
    std::string name;
    STREW_ORT_TRY(name_of(info, &name));
    bool is_constant = false;
    const abi::Value* value = nullptr;
    STREW_ORT_TRY(api().ValueInfo_IsConstantInitializer(info, &is_constant));
    if (!is_constant || !succeeded(api().ValueInfo_GetInitializerValue(info, &value)) || value == nullptr)
      return add_input(info, out);
    abi::ElementType type = abi::ElementType::undefined;
    const int64_t* dims = nullptr;
    size_t rank = 0, bytes = 0;
    const void* data = nullptr;
    if (!succeeded(api().GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank)) || !dtype_of(type) ||
        !succeeded(api().GetTensorSizeInBytes(value, &bytes)) || !succeeded(api().GetTensorData(value, &data)))
      return add_input(info, out);
    const auto bits = static_cast<size_t>(strew_dtype_bits(*dtype_of(type)));
    const auto* const elements = static_cast<const char*>(data);
    if (bytes <= kMostConstantBytes) {
      Message tensor;
      STREW_ORT_TRY(tensor_proto(value, name, &tensor));
      graph_.message(5, tensor);
    } else if (bits >= 8 && is_uniform(elements, bytes, bits / 8)) {
      add_constant_of_shape(name, type, {dims, rank}, {elements, bits / 8}, out);
    } else {
      return add_input(info, out);
    }
    defined_.insert(name);
    return nullptr;
  }

  /// A large constant with one value: ONNX Runtime has computed what the file has as such a node.
  void add_constant_of_shape(const std::string& name, abi::ElementType type, std::span<const int64_t> dims,
                             std::string_view element, Model* out) {
    add_list(made_name(name, "shape"), dims);
    Message value, attribute;
    value.number(1, 1);
    value.number(2, number_of(type));
    value.text(9, element);
    attribute.text(1, "value");
    attribute.message(5, value);
    attribute.number(20, 4);
    add_made("ConstantOfShape", {made_name(name, "shape")}, name, {attribute}, out);
  }

  void add_foreign(const std::string& output, Model* out) {
    Message node;
    node.text(2, output);
    node.text(4, "Input");
    node.text(7, kForeign);
    graph_.message(1, node);
    out->nodes.push_back(nullptr);
  }

  /// A constant of the model: a list of integers.
  void add_list(const std::string& name, std::span<const int64_t> elements) {
    Message list;
    list.number(1, static_cast<int64_t>(elements.size()));
    list.number(2, number_of(abi::ElementType::i64));
    list.text(8, name);
    list.text(9, {reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
    graph_.message(5, list);
  }

  /// A node that the graph does not have.
  void add_made(const char* type, const std::vector<std::string>& inputs, const std::string& output,
                const std::vector<Message>& attributes, Model* out) {
    Message node;
    for (const std::string& input : inputs) node.text(1, input);
    node.text(2, output);
    node.text(4, type);
    for (const Message& attribute : attributes) node.message(5, attribute);
    graph_.message(1, node);
    out->nodes.push_back(nullptr);
  }

  /// Extents that are known are constants, so that the importer knows them, too; the others are elements of the shape that a call has.
  void add_expansion(const Expansion& expansion, Model* out) {
    const std::vector<int64_t>& dims = *expansion.type.dims;
    const std::string given = expansion.shape_name(), whole = given + "/whole";
    graph_.message(11, value_info(expansion.narrow_name(), expansion.narrow_type()));
    graph_.message(13, value_info(expansion.to, expansion.type));
    std::vector<std::string> parts;
    for (size_t d = 0; d < dims.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      const std::string& part = parts.emplace_back(given + "/" + std::to_string(d));
      if (dims[d] != STREW_OPEN) {
        add_list(part, std::array{dims[d]});
        continue;
      }
      add_list(part + "/first", std::array{number});
      add_list(part + "/end", std::array{number + 1});
      add_made("Slice", {given, part + "/first", part + "/end"}, part, {}, out);
    }
    if (std::find(dims.begin(), dims.end(), STREW_OPEN) != dims.end())
      graph_.message(11,
                     value_info(given, {abi::ElementType::i64, std::vector<int64_t>{static_cast<int64_t>(dims.size())}, {""}}));
    Message axis;
    axis.text(1, "axis");
    axis.number(3, 0);
    axis.number(20, 2);
    add_made("Concat", parts, whole, {axis}, out);
    add_made("Expand", {expansion.narrow_name(), whole}, expansion.to, {}, out);
    defined_.insert(expansion.to);
  }

  abi::Status* add_node(const abi::Node* node, Model* out) {
    NodeText text;
    size_t subgraphs = 0;
    STREW_ORT_TRY(read_node(node, &text));
    STREW_ORT_TRY(api().Node_GetNumSubgraphs(node, &subgraphs));
    std::vector<const abi::ValueInfo*> inputs, outputs, implicit;
    std::vector<const abi::Attribute*> attributes;
    STREW_ORT_TRY(inputs_of(node, &inputs));
    STREW_ORT_TRY(outputs_of(node, &outputs));
    STREW_ORT_TRY(read_list(api().Node_GetNumAttributes, api().Node_GetAttributes, node, &attributes));
    bool is_known = false;
    STREW_ORT_TRY(has_types(node, text, inputs, &is_known));
    is_known = is_known && subgraphs == 0 && is_same(text, ops_);
    Message proto, known;
    for (const abi::Attribute* const attribute : attributes) {
      if (!is_known) break;
      Message each;
      STREW_ORT_TRY(attribute_proto(attribute, &each, &is_known));
      known.message(5, each);
    }
    if (!is_known) {  // the bodies of a loop read values that are no inputs of the node
      STREW_ORT_TRY(read_list(api().Node_GetNumImplicitInputs, api().Node_GetImplicitInputs, node, &implicit));
      inputs.insert(inputs.end(), implicit.begin(), implicit.end());
    }
    for (const abi::ValueInfo* const info : inputs) {
      std::string name;
      STREW_ORT_TRY(name_of(info, &name));
      if (info != nullptr) STREW_ORT_TRY(add_input(info, out));  // of a graph around this one
      proto.text(1, name);
    }
    for (const abi::ValueInfo* const info : outputs) STREW_ORT_TRY(add_result(info, &proto));
    proto.text(3, text.name);
    proto.text(4, text.type);
    if (!is_known) proto.text(7, kForeign);
    std::string bytes = std::move(proto).take() + (is_known ? std::move(known).take() : "");
    graph_.text(1, bytes);
    out->nodes.push_back(node);
    out->has_operators = out->has_operators || (is_known && find_operator(text.domain, text.type) != nullptr);
    return nullptr;
  }

  abi::Status* add_result(const abi::ValueInfo* info, Message* node) {
    std::string name;
    STREW_ORT_TRY(name_of(info, &name));
    node->text(2, name);
    ValueType type;
    STREW_ORT_TRY(check_name(name));
    if (name.empty()) return nullptr;
    defined_.insert(name);
    if (succeeded(type_of(info, &type)) && type.dims) graph_.message(13, value_info(name, type));
    return nullptr;
  }

  abi::Status* add_output(const abi::ValueInfo* info) {
    std::string name;
    ValueType type;
    STREW_ORT_TRY(name_of(info, &name));
    if (succeeded(type_of(info, &type)) && type.element != abi::ElementType::undefined)
      graph_.message(12, value_info(name, type));
    return nullptr;
  }

  abi::Status* finish(const abi::Graph* graph, Model* out) {
    Message model;
    int64_t version = 0;
    STREW_ORT_TRY(api().Graph_GetOnnxIRVersion(graph, &version));
    model.number(1, version);
    model.message(7, graph_);
    STREW_ORT_TRY(add_opsets(graph, &model));
    out->bytes = std::move(model).take();
    return nullptr;
  }

  abi::Status* add_opsets(const abi::Graph* graph, Message* model) {
    size_t count = 0;
    STREW_ORT_TRY(api().Graph_GetNumOperatorSets(graph, &count));
    std::vector<const char*> domains(count);
    std::vector<int64_t> versions(count);
    STREW_ORT_TRY(api().Graph_GetOperatorSets(graph, domains.data(), versions.data(), count));
    const auto add = [&](const char* domain, int64_t version) {
      Message opset;
      opset.text(1, domain);
      opset.number(2, version);
      model->message(8, opset);
    };
    for (size_t i = 0; i < count; ++i)
      if (is_onnx(domains[i])) add("", versions[i]);
    add(kForeign, 1);
    return nullptr;
  }

  const std::string& ops_;
  Message graph_;
  std::set<std::string> defined_, made_here_;
};

}  // namespace

abi::Status* write_model(const abi::Graph* graph, const std::string& ops, Model* out) { return Writer(ops).write(graph, out); }
abi::Status* write_part(const abi::Graph* graph, const std::vector<const abi::Node*>& nodes,
                        const std::vector<std::string>& outputs, const std::vector<Expansion>& expansions, const std::string& ops,
                        Model* out) {
  return Writer(ops).write_part(graph, nodes, outputs, expansions, out);
}

}  // namespace strew::ort
