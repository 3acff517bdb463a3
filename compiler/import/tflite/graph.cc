// Graph and Node: numbers, values and messages of a TensorFlow Lite graph. This file knows no operators.
//
// A tensor has a value if it is a graph input, has data, or is computed by an earlier operator. Variables (state that lives between calls)
// have none. The shapes that a file declares for computed tensors are hints, which LiteRT recomputes: a declared dim must agree with the
// computed one if both are known. Names appear in messages unchanged; the command line replaces unprintable characters. Tested by
// tests/unit/compiler/import/tflite/tflite_import_test.cc and tests/error/tflite_error_test.cc.
#include "compiler/import/tflite/graph.h"

#include <algorithm>

#include "compiler/import/tflite/tflite.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::tflite {

schema::BuiltinOperator code_of(const schema::Model& model, const schema::Operator& op) {
  const schema::OperatorCode& code = *model.operator_codes()->Get(op.opcode_index());
  return static_cast<schema::BuiltinOperator>(
      std::max(static_cast<int32_t>(code.builtin_code()), static_cast<int32_t>(code.deprecated_builtin_code())));
}

Expected<std::string> operator_name(const schema::Model& model, const schema::Operator& op, const std::string& what) {
  const uint32_t count = model.operator_codes() == nullptr ? 0 : model.operator_codes()->size();
  if (op.opcode_index() >= count) {
    return invalid_argument("{}: opcode_index is {}, expected less than {}", what, op.opcode_index(), count);
  }
  const schema::OperatorCode& code = *model.operator_codes()->Get(op.opcode_index());
  const schema::BuiltinOperator number = code_of(model, op);
  if (number == schema::BuiltinOperator::CUSTOM) {
    return "custom " + (code.custom_code() == nullptr ? std::string("without a name") : code.custom_code()->str());
  }
  const std::string name = schema::EnumNameBuiltinOperator(number);
  return name.empty() ? fmt::format("number {}", static_cast<int32_t>(number)) : name;
}

Graph::Graph(Program& program, const schema::Model& model, std::string_view file, const std::string& path)
    : program_(program), model_(model), file_(file), path_(path), regions_(std::make_shared<std::set<int32_t>>()) {
  values_.assign(subgraph().tensors() == nullptr ? 0 : subgraph().tensors()->size(), -1);
}

Graph::Graph(const Graph& outer, int32_t number, const std::string& name)
    : program_(outer.program_),
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
  if (number >= 0 && static_cast<size_t>(number) < values_.size())
    return subgraph().tensors()->Get(static_cast<uint32_t>(number));
  return invalid_argument("{} is tensor {}, expected from 0 to {}", what, number, static_cast<int64_t>(values_.size()) - 1);
}

std::string Graph::tensor_name(int32_t number) const {
  const flatbuffers::String* name = subgraph().tensors()->Get(static_cast<uint32_t>(number))->name();
  return name == nullptr || name->size() == 0 ? fmt::format("tensor_{}", number) : name->str();
}

std::string Graph::describe(int32_t number) const {
  return fmt::format("{}: tensor {} ({})", path_, number, tensor_name(number));
}

bool Graph::is_defined(int32_t number) const {
  return number >= 0 && static_cast<size_t>(number) < values_.size() && values_[number] >= 0;
}

Status Graph::check_free(int32_t number, const std::string& what) const {
  STREW_TRY(tensor(number, what).status());
  if (values_[number] < 0) return {};
  return invalid_argument("{} is tensor {} ({}), which has a value already, expected one that nothing else gives", what, number,
                          tensor_name(number));
}

Status Graph::define(int32_t number, int value, const std::string& what) {
  STREW_TRY(check_free(number, what));
  values_[number] = value;
  if (program_.value(value).name.empty()) program_.edit_value(value)->name = prefix_ + tensor_name(number);
  return {};
}

Expected<Constant> Graph::constant(int32_t number, const std::string& what) const {
  STREW_ASSIGN(const schema::Tensor* from, tensor(number, what));
  const std::string who = describe(number);
  STREW_ASSIGN(const std::string_view data, tensor_data(model_, file_, *from, who));
  STREW_ASSIGN(const TensorType type, tensor_type(*from, who));
  const bool empty = std::find(type.dims.begin(), type.dims.end(), 0) != type.dims.end();
  const std::string wrong = from->is_variable() ? "a variable" : "which has no data and nothing before gives it a value";
  const std::string message =
      fmt::format("{} is tensor {} ({}), {}, expected an input, a constant or the result of an earlier operator", what, number,
                  tensor_name(number), wrong);
  if (from->is_variable()) return unsupported(message);
  if (data.empty() && !empty) return invalid_argument(message);
  return to_constant(*from, data, who, program_.parts().source);
}

Expected<int> Graph::find(int32_t number, const std::string& what) {
  STREW_TRY(tensor(number, what).status());
  if (values_[number] >= 0) return values_[number];
  STREW_ASSIGN(Constant found, constant(number, what));
  STREW_TRY(define(number, ProgramBuilder(program_, what).add_constant(std::move(found)), what));
  return values_[number];
}

Node::Node(Graph& graph, const schema::Operator& op, int number, const std::string& operation, const Operator* row)
    : GraphNode(graph.program(), graph.path(), fmt::format("operator {} ({})", number, operation), operation,
                row == nullptr ? nullptr : &row->form),
      graph_(graph),
      op_(op),
      row_(row) {
  number_ = number;
  region_ = graph.region();
  for (const int64_t tensor : list_of(op.inputs())) has_input_.push_back(tensor != -1);
  for (const int64_t tensor : list_of(op.outputs())) has_output_.push_back(tensor != -1);
}

Expected<Values> Node::import() { return row_->import(*this); }

Expected<const schema::Tensor*> Node::input_tensor(int i) const {
  return graph_.tensor(input_number(i), fmt::format("{}: input {}", location(), i));
}

Expected<const schema::Tensor*> Node::output_tensor(int i) const {
  return graph_.tensor(output_number(i), fmt::format("{}: output {}", location(), i));
}

/// Refuses quantized tensors as the operator's row says.
Status Node::check_node() const {
  std::vector<const schema::Quantization*> all;
  for (int i = 0; row_->quantized != Quantized::as_stored && i < inputs() + outputs(); ++i) {
    if (i < inputs() && !has_input(i)) continue;
    STREW_ASSIGN(const schema::Tensor* tensor, i < inputs() ? input_tensor(i) : output_tensor(i - inputs()));
    if (is_quantized(*tensor)) all.push_back(tensor->quantization());
  }
  if (all.empty()) return {};
  if (row_->quantized == Quantized::refused)
    return refuse("its tensors are quantized, expected numbers that stand for themselves");
  const auto is_same = [&](const schema::Quantization* q) {
    return scales_of(*q) == scales_of(*all[0]) && list_of(q->zero_point()) == list_of(all[0]->zero_point());
  };
  if (std::all_of(all.begin(), all.end(), is_same)) return {};
  return refuse("its quantized tensors have different scales or zero points, expected the same");
}

Expected<int> Node::read_input(int i, const std::string& what, bool) const {
  if (!has_input(i)) return error("{} is left out (-1), expected a tensor", what);
  const std::string who = location() + ": " + what;
  STREW_ASSIGN(const int value, graph_.find(input_number(i), who));
  if (graph_.program().value(value).is_typed) return value;
  STREW_ASSIGN(const schema::Tensor* tensor, graph_.tensor(input_number(i), who));
  STREW_TRY(tensor_type(*tensor, graph_.describe(input_number(i))).status());
  return error("{} is tensor {}, whose type is not known", what, input_number(i));
}

Status Node::check_output(int i, const TensorType& computed) const {
  STREW_ASSIGN(const schema::Tensor* tensor, output_tensor(i));
  STREW_ASSIGN(const TensorType declared, tensor_type(*tensor, graph_.describe(output_number(i))));
  std::vector<int64_t> dims = computed.dims;
  const bool fits = declared.rank() == 0 || unify_dims(dims, declared.dims, "").ok();
  if (fits && declared.dtype == computed.dtype) return {};
  return error("output {} ({}) is declared as {}, expected what the operator computes: {}", i,
               graph_.tensor_name(output_number(i)), declared, computed);
}

Status Node::name_kernel(ProgramKernel& kernel) const {
  STREW_TRY(graph_.check_free(output_number(0), location() + ": output 0"));
  kernel.name = fmt::format("{}{}_{}", graph_.prefix(), operation(), number_);
  STREW_ASSIGN(const schema::Tensor* output, output_tensor(0));
  if (!is_quantized(*output)) return {};
  STREW_ASSIGN(const TensorType type, declared_type());
  kernel.notes.push_back(fmt::format("quantized tensors are their storage type {}: scales are not applied", name(type.dtype)));
  return {};
}

Status Node::define_output(int i, int value) {
  return graph_.define(output_number(i), value, fmt::format("{}: output {}", location(), i));
}

/// Constants stay in the file: weights, which only operations read that strew does not run, are not copied.
Expected<int> Node::opaque_argument(int i) const {
  return graph_.is_defined(input_number(i)) ? graph_.find(input_number(i), location()) : Expected<int>(-1);
}

Expected<TensorType> Node::opaque_type(int i) const {
  STREW_ASSIGN(const schema::Tensor* tensor, output_tensor(i));
  return tensor_type(*tensor, fmt::format("{}: output {}", location(), i));
}

int fused_activation(const schema::Operator& op) {
  for (const schema::ActivationOptions* options : {op.builtin_options_as_AddOptions(), op.builtin_options_as_SubOptions(),
                                                   op.builtin_options_as_MulOptions(), op.builtin_options_as_DivOptions()})
    if (options != nullptr) return options->fused_activation_function();
  return 0;
}

}  // namespace strew::inline v0::tflite
