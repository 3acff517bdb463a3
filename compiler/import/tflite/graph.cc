// Graph and Node: numbers, values and messages of a TensorFlow Lite graph. This file knows no operators.
//
// A tensor has a value if it is a graph input, has data, or is computed by an earlier operator. Variables (state that lives between calls)
// are refused. The shapes that a file declares for computed tensors are hints, which LiteRT recomputes: a declared dim must agree with the
// computed one if both are known. Names appear in messages unchanged; the command line replaces unprintable characters. Tested by
// tests/unit/tflite_import_test.cc and tests/error/tflite_error_test.cc.
#include "compiler/import/tflite/graph.h"

#include <algorithm>
#include <cstring>

#include "compiler/import/importer.h"
#include "compiler/import/tflite/tensor.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
namespace {

uint32_t size_of(const flatbuffers::Vector<int32_t>* list) { return list == nullptr ? 0 : list->size(); }

}  // namespace

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

Graph::Graph(Imported& imported, const schema::Model& model, std::string_view file, const std::string& path)
    : imported_(imported), model_(model), file_(file), path_(path) {
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

Status Graph::define(int32_t number, Value value, const std::string& what) {
  STREW_TRY(tensor(number, what).status());
  int& slot = values_[static_cast<size_t>(number)];
  if (slot >= 0) {
    return invalid_argument(what + " is tensor " + std::to_string(number) + " (" + tensor_name(number) +
                            "), which has a value already, expected one that nothing else gives");
  }
  slot = static_cast<int>(imported_.values.size());
  imported_.values.push_back(std::move(value));
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
  return to_constant(*from, data, who);
}

Expected<int> Graph::find(int32_t number, const std::string& what) {
  STREW_TRY(tensor(number, what).status());
  if (values_[static_cast<size_t>(number)] >= 0) return values_[static_cast<size_t>(number)];
  STREW_ASSIGN(Constant found, constant(number, what));
  Value value;
  value.kind = ValueKind::constant;
  value.type = found.type;
  value.index = static_cast<int>(imported_.constants.size());
  imported_.constants.push_back(std::move(found));
  STREW_TRY(define(number, std::move(value), what));
  return values_[static_cast<size_t>(number)];
}

Node::Node(Graph& graph, const schema::Operator& op, int number, const std::string& name)
    : graph_(graph), op_(op), name_(name + "_" + std::to_string(number)) {
  where_ = graph.path() + ": operator " + std::to_string(number) + " (" + name + ")";
}

Status Node::check_signature(uint32_t inputs, uint32_t outputs) const {
  if (size_of(op_.inputs()) != inputs) {
    return error("it has " + std::to_string(size_of(op_.inputs())) + " inputs, expected " + std::to_string(inputs));
  }
  if (size_of(op_.outputs()) != outputs) {
    return error("it has " + std::to_string(size_of(op_.outputs())) + " outputs, expected " + std::to_string(outputs));
  }
  return {};
}

Expected<int> Node::input(uint32_t i, std::string_view role) const {
  const std::string what = where_ + ": input " + std::to_string(i) + " (" + std::string(role) + ")";
  if (input_tensor(i) == -1) return invalid_argument(what + " is left out (-1), expected a tensor");
  return graph_.find(input_tensor(i), what);
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
  if (type(value).rank() != 1) return error(what + " has rank " + std::to_string(type(value).rank()) + ", expected 1");
  const Value& found = graph_.imported().values[static_cast<size_t>(value)];
  if (found.kind != ValueKind::constant) {
    return Status(Code::unsupported, where_ + ": " + what +
                                         " is computed when the model runs, expected a constant: the result's dims " +
                                         "must be known before");
  }
  const Constant& constant = graph_.imported().constants[static_cast<size_t>(found.index)];
  std::vector<int64_t> out;
  const size_t each = static_cast<size_t>(bits(constant.type.dtype)) / 8;
  for (size_t at = 0; at + each <= constant.data.size(); at += each) {
    int32_t narrow = 0;
    int64_t wide = 0;
    std::memcpy(each == 4 ? static_cast<void*>(&narrow) : &wide, constant.data.data() + at, each);
    out.push_back(each == 4 ? narrow : wide);
  }
  return out;
}

Status Node::check_output(int32_t number, const TensorType& computed) const {
  STREW_ASSIGN(const schema::Tensor* tensor, graph_.tensor(number, where_ + ": output 0"));
  STREW_ASSIGN(const TensorType declared, tensor_type(*tensor, graph_.describe(number)));
  bool fits = declared.dtype == computed.dtype && (declared.rank() == computed.rank() || declared.rank() == 0);
  for (size_t d = 0; fits && d < declared.dims.size(); ++d) {
    fits = declared.dims[d] == computed.dims[d] || declared.dims[d] == kDynamic || computed.dims[d] == kDynamic;
  }
  if (fits) return {};
  return error("output 0 (" + graph_.tensor_name(number) + ") is declared as " + print(declared) +
               ", expected what the operator " + "computes: " + print(computed));
}

Status Node::add_kernel(Op op, std::vector<int> arguments, std::vector<std::string> notes, bool fixed_policy) {
  Imported& imported = graph_.imported();
  const int32_t output = op_.outputs()->Get(0);
  STREW_ASSIGN(ImportedKernel kernel, verified_kernel(std::move(op), where_));
  const TensorType& result =
      is_scatter(kernel.op) ? std::get<Scatter>(*kernel.op).results[0] : std::get<Gather>(*kernel.op).result;
  STREW_TRY(check_output(output, result));

  Value value;
  value.kind = ValueKind::result;
  value.type = result;
  value.index = static_cast<int>(imported.kernels.size());
  STREW_TRY(graph_.define(output, std::move(value), where_ + ": output 0"));

  if (is_quantized(*graph_.subgraph().tensors()->Get(static_cast<uint32_t>(output)))) {
    notes.push_back("quantized tensors are their storage type " + std::string(name(result.dtype)) + ": scales are not applied");
  }
  if (fixed_policy) notes.emplace_back("clamp is what the operation means: --oob does not apply");
  kernel.name = name_;
  kernel.arguments = std::move(arguments);
  kernel.fixed_policy = fixed_policy;
  kernel.notes = std::move(notes);
  imported.kernels.push_back(std::move(kernel));
  return {};
}

/// Copies bytes, because the verifier of flatbuffers does not require that 8-byte elements lie at multiples of 8.
std::vector<int64_t> list_of(const flatbuffers::Vector<int64_t>* list) {
  std::vector<int64_t> out(list == nullptr ? 0 : list->size());
  if (!out.empty()) std::memcpy(out.data(), list->Data(), out.size() * sizeof(int64_t));
  return out;
}

}  // namespace strew::inline v0::tflite
