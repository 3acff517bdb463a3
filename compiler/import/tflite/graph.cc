// Graph and Node: numbers, values and messages of a TensorFlow Lite graph. This file knows no operators.
//
// A tensor has a value if it is a graph input, has data, or is computed by an earlier operator. Variables (state that lives between calls)
// have none. The shapes that a file declares for computed tensors are hints, which LiteRT recomputes: a declared dim must agree with the
// computed one if both are known. Names appear in messages unchanged; the command line replaces unprintable characters. Tested by
// tests/unit/compiler/import/tflite/tflite_import_test.cc and tests/error/tflite_error_test.cc.
#include "compiler/import/tflite/graph.h"

#include <algorithm>
#include <cstring>

#include "compiler/import/importer.h"
#include "compiler/import/tflite/tensor.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
int32_t operator_code(const schema::OperatorCode& code) {
  return std::max(static_cast<int32_t>(code.builtin_code()), static_cast<int32_t>(code.deprecated_builtin_code()));
}

Expected<std::string> operator_name(const schema::Model& model, const schema::Operator& op, const std::string& what) {
  const uint32_t count = model.operator_codes() == nullptr ? 0 : model.operator_codes()->size();
  if (op.opcode_index() >= count) {
    return invalid_argument(what + ": opcode_index is " + std::to_string(op.opcode_index()) + ", expected less than " +
                            std::to_string(count));
  }
  const schema::OperatorCode& code = *model.operator_codes()->Get(op.opcode_index());
  const auto number = static_cast<schema::BuiltinOperator>(operator_code(code));
  if (number == schema::BuiltinOperator::CUSTOM) {
    return "custom " + (code.custom_code() == nullptr ? std::string("without a name") : code.custom_code()->str());
  }
  const std::string name = schema::EnumNameBuiltinOperator(number);
  return name.empty() ? "number " + std::to_string(operator_code(code)) : name;
}

Graph::Graph(Program& imported, const schema::Model& model, std::string_view file, const std::string& path)
    : imported_(imported), model_(model), file_(file), path_(path), regions_(std::make_shared<std::set<int32_t>>()) {
  values_.assign(subgraph().tensors() == nullptr ? 0 : subgraph().tensors()->size(), -1);
}

Graph::Graph(const Graph& outer, int32_t number, const std::string& name)
    : imported_(outer.imported_),
      model_(outer.model_),
      file_(outer.file_),
      path_((outer.number_ == 0 ? outer.path_ : outer.path_.substr(0, outer.path_.rfind(": subgraph "))) + ": subgraph " +
            std::to_string(number)),
      prefix_(outer.prefix_ + name + "/"),
      number_(number),
      depth_(outer.depth_ + 1),
      regions_(outer.regions_) {
  values_.assign(subgraph().tensors() == nullptr ? 0 : subgraph().tensors()->size(), -1);
}

Expected<const schema::Tensor*> Graph::tensor(int32_t number, const std::string& what) const {
  if (number < 0 || static_cast<size_t>(number) >= values_.size()) {
    return invalid_argument(what + " is tensor " + std::to_string(number) + ", expected from 0 to " +
                            std::to_string(static_cast<int64_t>(values_.size()) - 1));
  }
  return subgraph().tensors()->Get(static_cast<uint32_t>(number));
}

std::string Graph::tensor_name(int32_t number) const {
  const flatbuffers::String* name = subgraph().tensors()->Get(static_cast<uint32_t>(number))->name();
  return name == nullptr || name->size() == 0 ? "tensor_" + std::to_string(number) : name->str();
}

std::string Graph::describe(int32_t number) const {
  return path_ + ": tensor " + std::to_string(number) + " (" + tensor_name(number) + ")";
}

bool Graph::is_defined(int32_t number) const {
  return number >= 0 && static_cast<size_t>(number) < values_.size() && values_[static_cast<size_t>(number)] >= 0;
}

Status Graph::check_free(int32_t number, const std::string& what) const {
  STREW_TRY(tensor(number, what).status());
  if (values_[static_cast<size_t>(number)] < 0) return {};
  return invalid_argument(what + " is tensor " + std::to_string(number) + " (" + tensor_name(number) +
                          "), which has a value already, expected one that nothing else gives");
}

Status Graph::define(int32_t number, int value, const std::string& what) {
  STREW_TRY(check_free(number, what));
  values_[static_cast<size_t>(number)] = value;
  if (imported_.value(value).name.empty()) imported_.edit_value(value)->name = prefix_ + tensor_name(number);
  return {};
}

Expected<Constant> Graph::constant(int32_t number, const std::string& what) const {
  STREW_ASSIGN(const schema::Tensor* from, tensor(number, what));
  const std::string who = describe(number);
  STREW_ASSIGN(const std::string_view data, tensor_data(model_, file_, *from, who));
  STREW_ASSIGN(const TensorType type, tensor_type(*from, who));
  const bool empty = std::find(type.dims.begin(), type.dims.end(), 0) != type.dims.end();
  if (from->is_variable())
    return unsupported(what + " is tensor " + std::to_string(number) + " (" + tensor_name(number) +
                       "), a variable, expected an input, a constant or the result of an earlier operator");
  if (data.empty() && !empty) {
    return invalid_argument(
        what + " is tensor " + std::to_string(number) + " (" + tensor_name(number) +
        "), which has no data and nothing before gives it a value, expected an input, a constant or the result "
        "of an earlier operator");
  }
  return to_constant(*from, data, who, imported_.parts().source);
}

Expected<int> Graph::find(int32_t number, const std::string& what) {
  STREW_TRY(tensor(number, what).status());
  if (values_[static_cast<size_t>(number)] >= 0) return values_[static_cast<size_t>(number)];
  STREW_ASSIGN(Constant found, constant(number, what));
  STREW_TRY(define(number, ProgramBuilder(imported_, what).add_constant(std::move(found)), what));
  return values_[static_cast<size_t>(number)];
}

Node::Node(Graph& graph, const schema::Operator& op, int number, const std::string& name)
    : graph_(graph), op_(op), number_(number), operation_(name), name_(graph.prefix() + name + "_" + std::to_string(number)) {
  code_ = static_cast<schema::BuiltinOperator>(operator_code(*graph.model().operator_codes()->Get(op.opcode_index())));
  where_ = graph.path() + ": operator " + std::to_string(number) + " (" + name + ")";
}

Status Node::check_signature(uint32_t inputs, uint32_t outputs) const {
  if (this->inputs() != inputs)
    return error("it has " + std::to_string(this->inputs()) + " inputs, expected " + std::to_string(inputs));
  if (this->outputs() != outputs)
    return error("it has " + std::to_string(this->outputs()) + " outputs, expected " + std::to_string(outputs));
  return {};
}

Expected<int> Node::input(uint32_t i, std::string_view role) const {
  const std::string what = where_ + ": input " + std::to_string(i) + " (" + std::string(role) + ")";
  if (i >= inputs()) return invalid_argument(what + " is missing, expected a tensor");
  const int32_t number = op_.inputs()->Get(i);
  if (number == -1) return invalid_argument(what + " is left out (-1), expected a tensor");
  STREW_ASSIGN(const int value, graph_.find(number, what));
  if (graph_.imported().value(value).is_typed) return value;
  STREW_ASSIGN(const schema::Tensor* tensor, graph_.tensor(number, what));
  STREW_TRY(tensor_type(*tensor, graph_.describe(number)).status());
  return invalid_argument(what + " is tensor " + std::to_string(number) + ", whose type is not known");
}

Expected<std::vector<int>> Node::all_inputs() const {
  std::vector<int> out;
  for (uint32_t i = 0; i < inputs(); ++i) {
    STREW_ASSIGN(const int value, input(i, "operand"));
    out.push_back(value);
  }
  return out;
}

Status Node::check_index_type(int value, std::string_view role) const {
  const DType dtype = type(value).dtype;
  if (dtype == DType::i32 || dtype == DType::i64) return {};
  return error(std::string(role) + " has element type " + std::string(name(dtype)) + ", expected i32 or i64");
}

Expected<std::vector<int64_t>> Node::constant_integers(uint32_t i, std::string_view role) const {
  STREW_ASSIGN(const int value, input(i, role));
  const std::string what = "input " + std::to_string(i) + " (" + std::string(role) + ")";
  STREW_TRY(check_index_type(value, what));
  if (type(value).rank() > 1) return error(what + " has rank " + std::to_string(type(value).rank()) + ", expected at most 1");
  std::optional<std::vector<int64_t>> numbers = builder().integers(value);
  if (!numbers) return refuse(what + " is computed when the model runs, expected a constant");
  return std::move(*numbers);
}

Expected<int64_t> Node::constant_integer(uint32_t i, std::string_view role) const {
  STREW_ASSIGN(const std::vector<int64_t> numbers, constant_integers(i, role));
  if (numbers.size() == 1) return numbers[0];
  return error("input " + std::to_string(i) + " (" + std::string(role) + ") has " + std::to_string(numbers.size()) +
               " elements, expected 1");
}

Expected<int64_t> Node::dim_of(int64_t dim, int rank, std::string_view what) const {
  if (dim >= -rank && dim < rank) return dim < 0 ? dim + rank : dim;
  return error(std::string(what) + " is " + std::to_string(dim) + ", expected " + std::to_string(-rank) + " to " +
               std::to_string(rank - 1));
}

Expected<const schema::Tensor*> Node::input_tensor(uint32_t i) const {
  return graph_.tensor(i < inputs() ? op_.inputs()->Get(i) : -1, where_ + ": input " + std::to_string(i));
}

Expected<const schema::Tensor*> Node::output_tensor(uint32_t i) const {
  return graph_.tensor(i < outputs() ? op_.outputs()->Get(i) : -1, where_ + ": output " + std::to_string(i));
}

Status Node::check_not_quantized() const {
  bool is_any = false;
  for (uint32_t i = 0; i < inputs(); ++i) {
    if (!has_input(i)) continue;
    STREW_ASSIGN(const schema::Tensor* tensor, input_tensor(i));
    is_any = is_any || is_quantized(*tensor);
  }
  for (uint32_t i = 0; i < outputs(); ++i) {
    STREW_ASSIGN(const schema::Tensor* tensor, output_tensor(i));
    is_any = is_any || is_quantized(*tensor);
  }
  return is_any ? refuse("its tensors are quantized, expected numbers that stand for themselves") : Status();
}

Status Node::check_same_quantization() const {
  const schema::Quantization* first = nullptr;
  bool is_same = true;
  const auto compare = [&](const schema::Tensor& tensor) {
    if (!is_quantized(tensor)) return;
    const schema::Quantization* own = tensor.quantization();
    if (first == nullptr) first = own;
    is_same = is_same && scales_of(*first) == scales_of(*own) && list_of(first->zero_point()) == list_of(own->zero_point());
  };
  for (uint32_t i = 0; i < inputs(); ++i) {
    if (!has_input(i)) continue;
    STREW_ASSIGN(const schema::Tensor* tensor, input_tensor(i));
    compare(*tensor);
  }
  for (uint32_t i = 0; i < outputs(); ++i) {
    STREW_ASSIGN(const schema::Tensor* tensor, output_tensor(i));
    compare(*tensor);
  }
  return is_same ? Status() : refuse("its quantized tensors have different scales or zero points, expected the same");
}

Status Node::check_output(uint32_t output, const TensorType& computed) const {
  const std::string what = "output " + std::to_string(output);
  const int32_t number = output < outputs() ? op_.outputs()->Get(output) : -1;
  STREW_ASSIGN(const schema::Tensor* tensor, graph_.tensor(number, where_ + ": " + what));
  STREW_ASSIGN(const TensorType declared, tensor_type(*tensor, graph_.describe(number)));
  bool fits = declared.dtype == computed.dtype && (declared.rank() == computed.rank() || declared.rank() == 0);
  for (size_t d = 0; fits && d < declared.dims.size(); ++d) {
    fits = declared.dims[d] == computed.dims[d] || declared.dims[d] == kDynamic || computed.dims[d] == kDynamic;
  }
  if (fits) return {};
  return error(what + " (" + graph_.tensor_name(number) + ") is declared as " + print(declared) +
               ", expected what the operator " + "computes: " + print(computed));
}

Status Node::give(const Expected<int>& value, uint32_t output) {
  if (!value.ok()) return value.status().message().starts_with(where_) ? value.status() : at(value.status());
  STREW_TRY(check_output(output, type(*value)));
  return graph_.define(op_.outputs()->Get(output), *value, where_ + ": output " + std::to_string(output));
}

Status Node::give_all(const std::vector<int>& values) {
  for (size_t i = 0; i < values.size(); ++i) STREW_TRY(check_output(static_cast<uint32_t>(i), type(values[i])));
  for (size_t i = 0; i < values.size(); ++i) STREW_TRY(give(values[i], static_cast<uint32_t>(i)));
  return {};
}

Status Node::add_kernel(Op op, KernelParts parts) {
  STREW_TRY(output_tensor(0).status());
  const int32_t output = op_.outputs()->Get(0);
  STREW_ASSIGN(ProgramKernel kernel, verified_kernel(std::move(op), where_));
  const TensorType& result =
      is_scatter(kernel.op) ? std::get<Scatter>(*kernel.op).results[0] : std::get<Gather>(*kernel.op).result;
  STREW_TRY(check_output(0, result));
  STREW_TRY(graph_.check_free(output, where_ + ": output 0"));

  if (is_quantized(*graph_.subgraph().tensors()->Get(static_cast<uint32_t>(output)))) {
    parts.notes.push_back("quantized tensors are their storage type " + std::string(name(result.dtype)) +
                          ": scales are not applied");
  }
  if (parts.fixed_policy) parts.notes.emplace_back("clamp is what the operation means: --oob does not apply");
  kernel.name = name_;
  kernel.arguments = std::move(parts.arguments);
  kernel.fixed_policy = parts.fixed_policy;
  kernel.result_shape = parts.result_shape;
  kernel.equal_scalars = std::move(parts.equal_scalars);
  kernel.notes = std::move(parts.notes);
  return graph_.define(output, builder().kernel(std::move(kernel))[0], where_ + ": output 0");
}

Status Node::add_kernel(const Expected<Scatter>& op, KernelParts parts) {
  if (!op.ok()) return at(op.status());
  return add_kernel(Op(*op), std::move(parts));
}

Status Node::add_kernel(const Expected<Gather>& op, KernelParts parts) {
  if (!op.ok()) return at(op.status());
  return add_kernel(Op(*op), std::move(parts));
}

/// Constants stay in the file: weights, which only operations read that strew does not run, are not copied.
Expected<int> Node::add_opaque(const std::string& reason, bool indexed) {
  Program& imported = graph_.imported();
  Opaque opaque;
  opaque.operation = operation_;
  opaque.location = where_;
  opaque.reason = reason;
  opaque.indexed = indexed;
  for (uint32_t i = 0; i < inputs(); ++i) {
    if (!has_input(i) || !graph_.is_defined(op_.inputs()->Get(i))) continue;
    STREW_ASSIGN(const int value, graph_.find(op_.inputs()->Get(i), where_));
    opaque.arguments.push_back(value);
  }
  const int number = imported.add_opaque(std::move(opaque));
  for (uint32_t i = 0; i < outputs(); ++i) {
    const int32_t output = op_.outputs()->Get(i);
    if (output == -1) continue;
    const std::string what = where_ + ": output " + std::to_string(i);
    STREW_ASSIGN(const schema::Tensor* tensor, graph_.tensor(output, what));
    STREW_TRY(graph_.define(output, builder().opaque_value(number, static_cast<int>(i), tensor_type(*tensor, what)), what));
  }
  return number;
}

/// Copies bytes, because the verifier of flatbuffers does not require that 8-byte elements lie at multiples of 8.
std::vector<int64_t> list_of(const flatbuffers::Vector<int64_t>* list) {
  std::vector<int64_t> out(list == nullptr ? 0 : list->size());
  if (!out.empty()) std::memcpy(out.data(), list->Data(), out.size() * sizeof(int64_t));
  return out;
}

std::vector<int64_t> list_of(const flatbuffers::Vector<int32_t>* list) {
  return list == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(list->begin(), list->end());
}

}  // namespace strew::inline v0::tflite
