// See node.h. This file knows no format and no operators. What it says of tensors is tested by
// tests/unit/compiler/import/onnx/onnx_tensor_test.cc, tests/error/onnx_error_test.cc and tests/error/tflite_error_test.cc.
#include "compiler/import/node/node.h"

#include <algorithm>
#include <span>

#include "compiler/import/file_constant.h"
#include "compiler/import/importer.h"
#include "compiler/op/limits.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

/// One of OperatorForm::inputs.
struct InputRole {
  std::string name;
  bool is_optional = false, is_repeated = false, is_index = false, needs_elements = true;
};

std::vector<InputRole> roles_of(std::string_view text) {
  std::vector<InputRole> out;
  for (const std::string_view word : words_of(text)) {
    const auto has = [&](std::string_view mark) { return word.find(mark) != std::string_view::npos; };
    out.push_back({std::string(word.substr(0, word.find_first_of("?.#~"))), has("?"), has("..."), has("#"), !has("~")});
  }
  return out;
}

Status check_count(int count, const std::vector<InputRole>& roles) {
  const auto most = static_cast<int>(roles.size());
  const auto least =
      static_cast<int>(std::count_if(roles.begin(), roles.end(), [](const InputRole& r) { return !r.is_optional; }));
  const bool is_repeated = most > 0 && roles.back().is_repeated;
  if (count >= least && (count <= most || is_repeated)) return {};
  return invalid_argument("it has {} inputs, expected {}{}{}", count, is_repeated ? "at least " : "", least,
                          is_repeated || least == most ? "" : fmt::format(" to {}", most));
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    out.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(std::min(out.back().size() + 1, text.size()));
  }
  return out;
}

std::string GraphNode::role(int input) const {
  const std::vector<InputRole> roles = roles_of(form_->inputs);
  return roles[std::min(static_cast<size_t>(input), roles.size() - 1)].name;
}

std::string GraphNode::describe(int input) const { return fmt::format("input {} ({})", input, role(input)); }

/// Counts inputs and outputs, reads the inputs, and makes what the import function returns the outputs, or nothing of it.
Status GraphNode::run() {
  const std::vector<InputRole> roles = roles_of(form_->inputs);
  STREW_TRY(check_count(inputs(), roles));
  if (!form_->several_outputs && outputs() != 1) return invalid_argument("it has {} outputs, expected 1", outputs());
  if (outputs() == 0) return invalid_argument("it has no outputs, expected at least one");
  STREW_TRY(check_node());
  for (int i = 0; i < inputs(); ++i) {
    const InputRole& role = roles[std::min(static_cast<size_t>(i), roles.size() - 1)];
    values_.push_back(-1);
    if (role.is_optional && !has_input(i)) continue;
    STREW_ASSIGN(values_.back(), read_input(i, fmt::format("input {} ({})", i, role.name), role.needs_elements));
    if (role.is_index) STREW_TRY(check_index_type(values_.back(), role.name));
  }
  STREW_ASSIGN(const Values results, import());
  for (size_t i = 0; i < results.all.size(); ++i) STREW_TRY(check_output(static_cast<int>(i), type(results.all[i])));
  for (size_t i = 0; i < results.all.size(); ++i) {
    if (!has_output(static_cast<int>(i))) continue;
    STREW_TRY(define(static_cast<int>(i), results.all[i]));
    has_results_ = true;
  }
  return {};
}

Status GraphNode::define(int output, int value) {
  STREW_TRY(define_output(output, value));
  results_.resize(static_cast<size_t>(outputs()), -1);
  results_[static_cast<size_t>(output)] = value;
  return {};
}

void GraphNode::add_file_node(std::vector<int> arguments) {
  results_.resize(static_cast<size_t>(outputs()), -1);
  program_.add_node({number_, region_, where_, std::move(arguments), results_});
}

Expected<int> GraphNode::translate(Status& first_refusal) {
  std::string reason;
  const bool indexed = form_ != nullptr && form_->indexed;
  if (form_ != nullptr) {
    Status status = run();
    if (status.ok()) {
      add_file_node(values_);
      return -1;
    }
    if (!status.message().starts_with(path_)) status = status.with_prefix(where_);
    if (has_results_) return status;
    reason = status.message();
    if (reason.starts_with(where_)) reason.erase(0, where_.size() + 2);
    if (indexed && first_refusal.ok()) first_refusal = std::move(status);
  }
  return add_opaque(reason);
}

Expected<std::optional<std::vector<int64_t>>> GraphNode::find_constants(int input) const {
  const int value = (*this)[input];
  if (value < 0) return std::optional<std::vector<int64_t>>();
  if (type(value).rank() > 1) return error("{} has rank {}, expected at most 1", describe(input), type(value).rank());
  std::optional<std::vector<int64_t>> numbers = builder().integers(value);
  if (numbers) return numbers;
  return refuse("{} is computed when the model runs, expected constants", describe(input));
}

Expected<std::vector<int64_t>> GraphNode::constants(int input) const {
  STREW_ASSIGN(const auto numbers, find_constants(input));
  if (!numbers) return error("{} is missing, expected constants", describe(input));
  return *numbers;
}

Expected<int64_t> GraphNode::constant(int input) const {
  STREW_ASSIGN(const std::vector<int64_t> numbers, constants(input));
  if (numbers.size() == 1) return numbers[0];
  return error("{} has {} elements, expected 1", describe(input), numbers.size());
}

Expected<int64_t> GraphNode::dim_of(int64_t dim, int rank, std::string_view what) const {
  if (dim >= -rank && dim < rank) return dim < 0 ? dim + rank : dim;
  return error("{} is {}, expected {} to {}", what, dim, -rank, rank - 1);
}

Expected<std::vector<int64_t>> GraphNode::dims_of(std::vector<int64_t> dims, int rank, std::string_view what) const {
  for (int64_t& dim : dims) STREW_TRY(assign(dim, dim_of(dim, rank, what)));
  return dims;
}

Expected<std::vector<int64_t>> GraphNode::dims(int input, int rank) const {
  STREW_ASSIGN(std::vector<int64_t> given, constants(input));
  return dims_of(std::move(given), rank, "an entry of " + role(input));
}

Expected<int64_t> GraphNode::dim(int input, int rank) const {
  STREW_ASSIGN(const int64_t given, constant(input));
  return dim_of(given, rank, role(input));
}

Status GraphNode::check_index_type(int value, std::string_view what) const {
  const DType dtype = type(value).dtype;
  if (dtype == DType::i32 || dtype == DType::i64) return {};
  return error("{} has element type {}, expected i32 or i64", what, dtype);
}

Expected<int> GraphNode::kernel(const Expected<Op>& op, KernelArguments arguments, std::vector<std::string> notes,
                                bool fixed_policy) const {
  if (!op.ok()) return op.status();
  STREW_ASSIGN(ProgramKernel kernel, verified_kernel(*op, where_));
  const auto* const scatter = std::get_if<Scatter>(&*kernel.op);
  STREW_TRY(check_output(0, scatter != nullptr ? scatter->results[0] : std::get<Gather>(*kernel.op).result));
  kernel.notes = std::move(notes);
  STREW_TRY(name_kernel(kernel));
  kernel.arguments = std::move(arguments);
  kernel.fixed_policy = fixed_policy;
  if (fixed_policy)
    kernel.notes.push_back(fmt::format("{} is what the operation means: --oob does not apply", name(oob_of(kernel.op))));
  return builder().kernel(std::move(kernel))[0];
}

Expected<int> GraphNode::add_opaque(const std::string& reason) {
  Opaque opaque{.operation = operation_, .location = where_, .reason = reason, .indexed = form_ != nullptr && form_->indexed};
  std::vector<int> arguments(static_cast<size_t>(inputs()), -1);
  for (int i = 0; i < inputs(); ++i) {
    if (!has_input(i)) continue;
    STREW_ASSIGN(arguments[static_cast<size_t>(i)], opaque_argument(i));
    if (arguments[static_cast<size_t>(i)] >= 0) opaque.arguments.push_back(arguments[static_cast<size_t>(i)]);
  }
  const int number = program_.add_opaque(std::move(opaque));
  for (int i = 0; i < outputs(); ++i)
    if (has_output(i)) STREW_TRY(define(i, builder().opaque_value(number, i, opaque_type(i))));
  add_file_node(std::move(arguments));
  return number;
}

Status check_rank(size_t rank, const std::string& what) {
  if (rank <= static_cast<size_t>(kMaxRank)) return {};
  return invalid_argument("{}: rank is {}, expected at most {}", what, rank, kMaxRank);
}

Expected<int64_t> count_elements(const std::vector<int64_t>& dims, const std::string& what) {
  STREW_TRY(check_rank(dims.size(), what));
  const Expected<int64_t> count = element_count(dims);
  return count.ok() ? count : count.status().with_prefix(what);
}

Status check_extents(std::vector<int64_t> dims, const std::string& what) {
  std::replace(dims.begin(), dims.end(), kDynamic, int64_t{1});
  return count_elements(dims, what).status();
}

Status read_bytes(Constant& constant, int64_t count, std::string_view bytes, int64_t expected, const std::string& field,
                  const std::shared_ptr<const void>& owner) {
  if (static_cast<uint64_t>(expected) != bytes.size())
    return invalid_argument("{} has {} bytes, expected {} for {} elements of {}", field, bytes.size(), expected, count,
                            constant.type.dtype);
  set_bytes(constant, std::as_bytes(std::span(bytes)), owner);
  return {};
}

void make_canonical(Constant& constant, int64_t count) {
  if (constant.type.dtype == DType::boolean)
    for (std::byte& b : constant.data) b = std::byte(b != std::byte{0});
  const int used = static_cast<int>(count * bits(constant.type.dtype) % 8);
  if (bits(constant.type.dtype) < 8 && used != 0 && !constant.data.empty()) constant.data.back() &= std::byte((1 << used) - 1);
}

}  // namespace strew::inline v0
