// Any op of strew as an operator of PyTorch, by its text (docs/op_text.md): what the graphs of torch.compile hold in the place of a chain of operators
// (bindings/python/strew/torch/_chains.py). Tested by tests/torch/compile_test.py.
#include <ATen/EmptyTensor.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/torch/call.h"
#include "bindings/torch/own/edge_order.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// Throws what a status of strew says.
void check(const char* name, strew_status status) {
  if (status == nullptr) return;
  const bool is_bounds = strew_status_code(status) == STREW_CODE_OUT_OF_BOUNDS;
  const std::string text = strew_status_message(status);
  strew_status_free(status);
  TORCH_CHECK_INDEX(!is_bounds, name, "(): ", text, "; nothing was written");
  TORCH_CHECK(false, name, "(): ", text);
}

/// What an input of a scatter of rows is: something that all edges share; a table whose rows are looked up; an index with a number per edge, first the one of the
/// result's rows, then those of the tables in their order; or elements of each edge.
enum class Part : uint8_t { shared, table, index, of_edges };

/// An op and what its calls bind.
struct ParsedOp {
  std::string text;
  uint64_t number = 0;
  c10::ScalarType result_dtype = c10::ScalarType::Undefined;
  bool writes_self = false;  ///< its result is updated in place
  std::vector<strew_slot> slots;
  std::unique_ptr<strew_op, void (*)(strew_op*)> op{nullptr, strew_op_free};
  std::string sorted_text;  ///< the op of sorted edges (edge_order.h); empty for what is no scatter of rows that are looked up
  std::vector<Part> parts;  ///< of each input, where sorted_text is not empty
};

/// PyTorch's dtype for one of strew's.
c10::ScalarType scalar_type_of(const char* name, uint8_t dtype) {
  for (int8_t each = 0; each < static_cast<int8_t>(c10::ScalarType::NumOptions); ++each)
    if (const auto found = dtype_of(static_cast<c10::ScalarType>(each)); found && static_cast<uint8_t>(*found) == dtype)
      return static_cast<c10::ScalarType>(each);
  TORCH_CHECK(false, name, "(): the result is ", strew_dtype_name(static_cast<strew_dtype>(dtype)),
              ", which is none of PyTorch's dtypes");
}

size_t count_of(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

/// What the inputs of a scatter of rows of one pair, with look-ups of rows by one index each, have, by its canonical text. Nothing for other ops.
std::vector<Part> parts_of(std::string_view text, const std::vector<strew_slot>& slots) {
  const auto has = [&](const std::string& what) { return text.find(what) != std::string_view::npos; };
  if (!text.starts_with("strew1.scatter(") || !has(" lookups=[") || has("batching_dims=") || has(" indices_are_sorted=") ||
      !has(" inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 ") || slots[0].rank < 2 ||
      count_of(text, "=gather(") != count_of(text, " collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "))
    return {};
  constexpr std::string_view kinds = " extras=[";
  size_t kind = text.find(kinds), extras = 0;
  if (kind != std::string_view::npos) kind += kinds.size();
  std::vector<Part> parts;
  for (size_t i = 1; i < slots.size(); ++i) {
    switch (slots[i].role) {
      case STREW_INDICES:
        if (slots[i].rank != 1) return {};
        parts.push_back(Part::index);
        break;
      case STREW_UPDATES:
        parts.push_back(has("updates(0)=gather(") ? Part::table : Part::of_edges);
        break;
      case STREW_EXTRA: {
        const bool is_of_edges = text.substr(kind).starts_with("per_position:") || text.substr(kind).starts_with("per_element:");
        const bool is_table = has("extra(" + std::to_string(extras++) + ")=gather(");
        parts.push_back(is_table ? Part::table : is_of_edges ? Part::of_edges : Part::shared);
        kind = std::min(text.find(",per_", kind), text.find(",scalar:", kind));
        kind = kind == std::string_view::npos ? text.size() : kind + 1;
        break;
      }
      default:  // a role of another number of pairs
        return {};
    }
  }
  const auto indices = std::count(parts.begin(), parts.end(), Part::index),
             tables = std::count(parts.begin(), parts.end(), Part::table);
  return indices == 1 + tables ? parts : std::vector<Part>();
}

std::unique_ptr<ParsedOp> parse(const char* name, std::string_view text) {
  auto made = std::make_unique<ParsedOp>();
  made->text = text;
  strew_op* op = nullptr;
  check(name, strew_op_parse(made->text.c_str(), &op));
  made->op.reset(op);
  made->slots.resize(strew_op_slot_count(op), STREW_SLOT_INIT);
  for (size_t i = 0; i < made->slots.size(); ++i) check(name, strew_op_slot(op, i, &made->slots[i]));
  TORCH_CHECK(made->slots.size() < kMostTensors, name, "(): the op binds ", made->slots.size(), " tensors; expected at most ",
              kMostTensors - 1);
  TORCH_CHECK(made->slots.size() < 2 || made->slots[1].role != STREW_RESULT, name,
              "(): the op has several results; expected one");
  TORCH_CHECK(made->slots[0].strides == nullptr, name, "(): the op's result has strides; expected a contiguous one");
  made->result_dtype = scalar_type_of(name, made->slots[0].dtype);
  const std::string canonical = strew_op_text(op);
  made->writes_self = canonical.find(" init=in_place") != std::string::npos;
  made->parts = parts_of(canonical, made->slots);
  if (!made->parts.empty()) made->sorted_text = canonical.substr(0, canonical.size() - 1) + " indices_are_sorted=true)";
  return made;
}

/// The op of this text: texts are parsed once per process.
const ParsedOp& parsed(const char* name, std::string_view text) {
  static std::shared_mutex mutex;
  static auto& all = *new std::unordered_map<std::string_view, std::unique_ptr<ParsedOp>>;
  {
    const std::shared_lock lock(mutex);
    if (const auto found = all.find(text); found != all.end()) return *found->second;
  }
  std::unique_ptr<ParsedOp> made = parse(name, text);
  const std::unique_lock lock(mutex);
  made->number = all.size();
  const std::string_view key = made->text;
  return *all.emplace(key, std::move(made)).first->second;  // keeps the first one if two threads were here
}

/// A tensor as the op's slot asks for it. An extent of 1 where the op has another one is repeated, which is how strides of 0 are given.
at::Tensor fitted(const char* name, const at::Tensor& tensor, const strew_slot& slot) {
  TORCH_CHECK(tensor.device().is_cpu(), name, "(): expected ", slot.name, " on the CPU, but it is on ", tensor.device());
  const std::optional<strew_dtype> dtype = dtype_of(tensor.scalar_type());
  TORCH_CHECK(dtype && static_cast<uint8_t>(*dtype) == slot.dtype, name, "(): expected ", slot.name, " to be ",
              strew_dtype_name(static_cast<strew_dtype>(slot.dtype)), ", but got ", tensor.scalar_type());
  TORCH_CHECK(tensor.dim() == slot.rank, name, "(): expected ", slot.name, " of ", slot.rank, " dims, but its shape is ",
              tensor.sizes());
  at::Tensor plain_one = tensor.resolve_conj().resolve_neg();
  if (slot.strides == nullptr) return plain_one.contiguous();
  at::DimVector dims(plain_one.sizes().begin(), plain_one.sizes().end());
  for (size_t d = 0; d < dims.size(); ++d)
    if (slot.strides[d] == 0 && dims[d] == 1 && slot.dims[d] != STREW_OPEN) dims[d] = slot.dims[d];
  return plain_one.contiguous().expand(dims);
}

strew_status make_parsed(void* context, strew_op** out) {
  return strew_op_parse(static_cast<const ParsedOp*>(context)->text.c_str(), out);
}

/// The order in which the edges of this call are summed, or null for the one that they have.
std::shared_ptr<const EdgeOrder> order_of(const ParsedOp& op, const at::Tensor& result, at::TensorList inputs) {
  if (op.parts.empty() || result.size(0) == 0 || inputs[0].dim() != 1 || inputs[0].numel() == 0) return nullptr;
  const int64_t edges = inputs[0].numel(), row_bytes = static_cast<int64_t>(result.nbytes()) / result.size(0);
  std::vector<at::Tensor> numbers;
  std::vector<int64_t> rows{result.size(0)};
  int64_t moved = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const at::Tensor& each = inputs[i];
    const strew_slot& slot = op.slots[i + 1];
    if (plain(each, true) != Reason::none || each.dim() != slot.rank) return nullptr;
    switch (op.parts[i]) {
      case Part::shared:
        break;
      case Part::table:
        rows.push_back(each.size(0));
        break;
      case Part::index:
        if (dtype_of(each.scalar_type()) != static_cast<strew_dtype>(slot.dtype)) return nullptr;
        numbers.push_back(each);
        break;
      case Part::of_edges:
        if (each.size(0) != edges) return nullptr;
        moved += static_cast<int64_t>(each.nbytes()) / edges;
        break;
    }
  }
  return known_order(numbers, rows, row_bytes, moved);
}

/// Runs the op into `result`.
void run_into(const char* name, const ParsedOp& given, const at::Tensor& result, at::TensorList inputs) {
  TORCH_CHECK(inputs.size() + 1 == given.slots.size(), name, "(): expected ", given.slots.size() - 1, " inputs, but got ",
              inputs.size());
  const std::shared_ptr<const EdgeOrder> order = order_of(given, result, inputs);
  const ParsedOp& op = order ? parsed(name, given.sorted_text) : given;
  std::vector<at::Tensor> kept;
  kept.reserve(inputs.size());
  Tensors tensors;
  tensors.add_result(result);
  size_t numbers = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool is_index = order && given.parts[i] == Part::index, is_of_edges = order && given.parts[i] == Part::of_edges;
    const at::Tensor input = is_index ? order->sorted[numbers++] : is_of_edges ? select_rows(inputs[i], order->order) : inputs[i];
    kept.push_back(fitted(name, input, op.slots[i + 1]));
    tensors.add_input(kept.back());
  }
  const int threads = threads_of_calls();
  constexpr uint64_t kIsText = uint64_t{1} << 63;
  strew_bad_index bad = STREW_BAD_INDEX_INIT;
  check(name, run_at_site(tensors, make_parsed, const_cast<ParsedOp*>(&op),
                          kIsText | op.number << 16 | static_cast<uint64_t>(threads), threads, &bad));
}

at::Tensor op_on_cpu(c10::string_view text, at::TensorList inputs, at::IntArrayRef size) {
  const ParsedOp& op = parsed("op", text);
  TORCH_CHECK(!op.writes_self, "op(): the op updates a tensor in place; expected one that makes its result");
  at::Tensor result(at::detail::empty_cpu(size, op.result_dtype));
  run_into("op", op, result, inputs);
  return result;
}

at::Tensor op_of_meta(c10::string_view text, at::TensorList inputs, c10::SymIntArrayRef size) {
  const ParsedOp& op = parsed("op", text);
  TORCH_CHECK(!op.writes_self, "op(): the op updates a tensor in place; expected one that makes its result");
  TORCH_CHECK(inputs.size() + 1 == op.slots.size() && !inputs.empty(), "op(): expected ", op.slots.size() - 1,
              " inputs, but got ", inputs.size());
  return at::empty_symint(size, inputs[0].options().dtype(op.result_dtype));
}

void check_self(const char* name, const ParsedOp& op, const at::Tensor& self) {
  TORCH_CHECK(op.writes_self, name, "(): the op does not update a tensor in place; expected init=in_place");
  TORCH_CHECK(self.scalar_type() == op.result_dtype && self.dim() == op.slots[0].rank, name, "(): expected self to be ",
              op.result_dtype, " of ", op.slots[0].rank, " dims, but got ", self.scalar_type(), " of ", self.dim());
}

at::Tensor& update_in_place(at::Tensor& self, c10::string_view text, at::TensorList inputs) {
  const ParsedOp& op = parsed("update_", text);
  check_self("update_", op, self);
  if (plain(self) == Reason::none && self.is_contiguous()) {
    run_into("update_", op, self, inputs);
    return self;
  }
  const at::Tensor contiguous = self.clone(at::MemoryFormat::Contiguous);
  run_into("update_", op, contiguous, inputs);
  return self.copy_(contiguous);
}

at::Tensor update_on_cpu(const at::Tensor& self, c10::string_view text, at::TensorList inputs) {
  const ParsedOp& op = parsed("update", text);
  check_self("update", op, self);
  at::Tensor result = self.clone(at::MemoryFormat::Contiguous);
  run_into("update", op, result, inputs);
  return result;
}

at::Tensor update_of_meta(const at::Tensor& self, c10::string_view text, at::TensorList) {
  check_self("update", parsed("update", text), self);
  return at::empty_symint(self.sym_sizes(), self.options());
}

at::Tensor& update_of_meta_in_place(at::Tensor& self, c10::string_view text, at::TensorList) {
  check_self("update_", parsed("update_", text), self);
  return self;
}

/// For functionalization, which makes graphs of functions only.
at::Tensor& update_functionally(at::Tensor& self, c10::string_view text, at::TensorList inputs) {
  namespace functional = at::functionalization::impl;
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("strew::update", "")
                             .typed<at::Tensor(const at::Tensor&, c10::string_view, at::TensorList)>();
  functional::sync(self);
  functional::sync(inputs);
  at::Tensor result;
  {
    at::AutoDispatchSkipFunctionalize guard;
    result = op.call(functional::isFunctionalTensor(self) ? functional::from_functional_tensor(self) : self, text,
                     functional::from_functional_tensor(inputs));
  }
  functional::replace_(self, result);
  functional::commit_update(self);
  functional::sync(self);
  return self;
}

}  // namespace
}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def("op(str text, Tensor[] inputs, SymInt[] size) -> Tensor", {at::Tag::pt2_compliant_tag});
  library.def("update(Tensor self, str text, Tensor[] inputs) -> Tensor", {at::Tag::pt2_compliant_tag});
  library.def("update_(Tensor(a!) self, str text, Tensor[] inputs) -> Tensor(a!)", {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) {
  library.impl("op", TORCH_FN(strew::aten::op_on_cpu));
  library.impl("update", TORCH_FN(strew::aten::update_on_cpu));
  library.impl("update_", TORCH_FN(strew::aten::update_in_place));
}
TORCH_LIBRARY_IMPL(strew, Meta, library) {
  library.impl("op", TORCH_FN(strew::aten::op_of_meta));
  library.impl("update", TORCH_FN(strew::aten::update_of_meta));
  library.impl("update_", TORCH_FN(strew::aten::update_of_meta_in_place));
}
// Derivatives are of what the op was made from: torch.compile puts it into graphs that have no derivatives any more.
TORCH_LIBRARY_IMPL(strew, Autograd, library) {
  library.impl("op", torch::autograd::autogradNotImplementedFallback());
  library.impl("update", torch::autograd::autogradNotImplementedFallback());
  library.impl("update_", torch::autograd::autogradNotImplementedFallback());
}
TORCH_LIBRARY_IMPL(strew, Functionalize, library) { library.impl("update_", TORCH_FN(strew::aten::update_functionally)); }
TORCH_LIBRARY_IMPL(strew, ADInplaceOrView, library) {
  library.impl("update_", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
}
