// The packed rules (packed_rules.cc) bind the usual call. A call that they refuse is bound again here, step by step, to find out
// whether it is legal after all (strides of extents of 1, interleaved buffers) or which error it has. Tested by
// tests/unit/runtime/call/bind_test.cc and named_tensors_test.cc.
#include "runtime/call/bind.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "base/violated.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {
namespace {

std::string names_of(const strew_kernel& kernel) {
  std::string names;
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) names += (i != 0 ? ", " : "") + std::string(kernel.tensors[i].name);
  return names;
}

bool is_alone_in_its_role(const strew_kernel& kernel, uint32_t tensor) {
  const auto* const end = kernel.tensors + kernel.tensor_count;
  return std::count_if(kernel.tensors, end,
                       [&](const strew_tensor_rule& rule) { return rule.role == kernel.tensors[tensor].role; }) == 1;
}

/// "updates 0" is "updates 0", and "updates" where there is no other.
bool is_named(const strew_kernel& kernel, uint32_t tensor, std::string_view name) {
  const std::string_view full = kernel.tensors[tensor].name;
  return name == full || (name == full.substr(0, full.find(' ')) && is_alone_in_its_role(kernel, tensor));
}

/// Checks a view against what the descriptor fixes: dtype, rank, dims, and strides where they matter.
Status check_view(const strew_tensor_rule& rule, const TensorView& view) {
  const std::string name = rule.name;
  if (view.read_only && rule.role == STREW_RESULT)
    return invalid_argument(
        name + ": a view of memory that is read-only, expected one made from a pointer to memory that may be written");
  if (view.rank == TensorView::kWrongStrides)
    return invalid_argument(name +
                            ": the view was given another number of strides than of dims, expected as many, or no strides");
  if (static_cast<uint8_t>(view.dtype) != rule.dtype)
    return invalid_argument(name + ": dtype " + std::string(strew::name(view.dtype)) + ", expected " + rule.dtype_name);
  if (view.rank != static_cast<int32_t>(rule.rank))
    return invalid_argument(name + ": rank " + std::to_string(view.rank) + ", expected " + std::to_string(rule.rank));
  if (view.rank > 0 && !view.dims)
    return invalid_argument(name + ": dims is null, expected " + std::to_string(view.rank) + " extents");
  for (uint32_t d = 0; d < rule.rank; ++d) {
    const int64_t expected = rule.dims[d];
    if (expected >= 0 ? view.dims[d] == expected : view.dims[d] >= 0) continue;
    return invalid_argument(name + ": dim " + std::to_string(d) + " is " + std::to_string(view.dims[d]) + ", expected " +
                            (expected >= 0 ? std::to_string(expected) : ">= 0"));
  }
  StrideBuffer buffer;  // NOLINT: filled by row_major_strides
  if (!is_empty(view.dims, view.rank)) {
    if (!row_major_strides(view.dims, rule.rank, buffer.data()))
      return invalid_argument(name + ": its elements do not fit 63 bits");
    const int64_t* given = view.strides ? view.strides : buffer.data();
    for (uint32_t d = 0; d < rule.rank; ++d) {
      const int64_t expected = rule.strides == nullptr ? buffer[d] : rule.strides[d];
      if (view.dims[d] == 1 || expected == STREW_OPEN || given[d] == expected) continue;
      return invalid_argument(name + ": stride " + std::to_string(d) + " is " + std::to_string(given[d]) + ", expected " +
                              std::to_string(expected) + (rule.strides == nullptr ? " (contiguous)" : ""));
    }
  }
  Extent extent;
  if (!measure(rule.bits, view.rank, view.dims, strides_of(view, buffer), extent))
    return invalid_argument(name + ": its byte extent does not fit 63 bits");
  return {};
}

/// Clears `has_destinations` if no update of the call has a destination, which is no error.
Status check_constraints(const strew_kernel& kernel, std::span<const TensorView> tensors, bool& has_destinations) {
  for (uint32_t i = 0; i < kernel.constraint_count; ++i) {
    const strew_constraint& c = kernel.constraints[i];
    if (holds(c, tensors.data())) continue;
    if (c.kind == STREW_NOT_EMPTY && kernel.is_gather == 0) {
      has_destinations = false;
      continue;
    }
    const std::string name = kernel.tensors[c.tensor].name, other = kernel.tensors[c.other].name;
    if (c.kind == STREW_DISTINCT || c.kind == STREW_DISTINCT_ROWS)
      return violated(c.label, name + ": its strides put two elements at one address");
    if (c.kind == STREW_NOTHING)
      return violated(c.label, name + ": it has elements, expected none: they would come from a slice of size 0");
    const std::string dim = name + ": dim " + std::to_string(c.dim) + " is " + std::to_string(tensors[c.tensor].dims[c.dim]);
    if (c.kind == STREW_NOT_EMPTY)
      return violated(c.label, dim + ", expected 1 or more: " + other + " takes its elements from a slice of it");
    if (c.kind == STREW_EMPTY)
      return violated(c.label, dim + ", expected 0: " + other + " takes its elements from a slice of size 0 of it");
    const std::string bound = std::to_string(tensors[c.other].dims[c.other_dim]);
    return violated(c.label, dim + ", expected " + (c.kind == STREW_AT_MOST ? "at most " : "") + bound + ", dim " +
                                 std::to_string(c.other_dim) + " of " + other);
  }
  return {};
}

Status overlap_error(const strew_kernel& kernel, std::span<const TensorView> tensors, uint32_t result, uint32_t other) {
  StrideBuffer of_result, of_other;  // NOLINT: filled by strides_of
  const auto bytes = [&](uint32_t t, StrideBuffer& buffer) {
    const TensorView& view = tensors[t];
    return StridedBytes{reinterpret_cast<uintptr_t>(view.data), kernel.tensors[t].bits / 8, view.rank, view.dims,
                        strides_of(view, buffer)};
  };
  // Packed elements share bytes, so for them only the intervals count.
  const bool packed = kernel.tensors[result].bits < 8 || kernel.tensors[other].bits < 8;
  if (!packed && disjoint(bytes(result, of_result), bytes(other, of_other))) return {};
  const bool operand_of_copy = kernel.tensors[result].may_be == static_cast<int32_t>(other);
  return invalid_argument(std::string(kernel.tensors[result].name) + " overlaps " + kernel.tensors[other].name +
                          ": expected disjoint buffers" +
                          (operand_of_copy ? ", or one buffer with the same dtype and strides" : ""));
}

Status check_addresses(const strew_kernel& kernel, std::span<const TensorView> tensors, Call& call) {
  const uint32_t results = kernel.result_count;
  std::vector<Extent> extents(kernel.tensor_count);
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) {
    const strew_tensor_rule& rule = kernel.tensors[i];
    const Extent extent = extents[i] = extent_of(rule, tensors[i]);
    call.data[rule.data] = tensors[i].data;
    if (extent.empty) continue;
    const auto base = reinterpret_cast<uintptr_t>(tensors[i].data);
    const std::string name = rule.name;
    if (base == 0) return invalid_argument(name + ": data is null, expected " + std::to_string(extent.hi - extent.lo) + " bytes");
    if (base < static_cast<uintptr_t>(-extent.lo) ||
        base > std::numeric_limits<uintptr_t>::max() - static_cast<uintptr_t>(extent.hi))
      return invalid_argument(name + ": its byte extent wraps around the address space");
  }
  uint32_t same_buffers = 0;
  for (uint32_t r = 0; r < results; ++r) {
    for (uint32_t o = r + 1; o < kernel.tensor_count; ++o) {
      const Extent &a = extents[r], &b = extents[o];
      const void *const at = tensors[r].data, *const bt = tensors[o].data;
      if (a.empty || b.empty || a.end(at) <= b.begin(bt) || b.end(bt) <= a.begin(at)) continue;
      if (kernel.tensors[r].may_be == static_cast<int32_t>(o) && at == bt && same_layout(tensors[r], tensors[o])) {
        ++same_buffers;
        continue;
      }
      STREW_TRY(overlap_error(kernel, tensors, r, o));
    }
  }
  call.result_is_operand = kernel.init_kind == STREW_COPY && same_buffers > 0 && same_buffers == results;
  return {};
}

void count_work_of(const strew_kernel& k, Call& call) {
  count_work(
      k.is_gather == 0 && k.init_kind != STREW_IN_PLACE, k.may_overwrite != 0, k.cover_count,
      [&](uint32_t i) { return evaluate(k, work_term(k, i), call.dyn); }, call);
}

}  // namespace

Expected<Binder> Binder::make(const strew_kernel& kernel) {
  STREW_TRY(check_descriptor(kernel));
  Binder made(kernel);
  STREW_TRY(made.pack());
  return made;
}

Status Binder::bind_step_by_step(std::span<const TensorView> tensors, Call& call) const {
  const strew_kernel& kernel = *kernel_;
  if (tensors.size() != kernel.tensor_count)
    return invalid_argument("tensors: " + std::to_string(tensors.size()) + " given, expected " +
                            std::to_string(kernel.tensor_count) + ": " + names_of(kernel));
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) STREW_TRY(check_view(kernel.tensors[i], tensors[i]));
  bool has_destinations = true;
  STREW_TRY(check_constraints(kernel, tensors, has_destinations));
  const bool is_small = kernel.data_count <= Call::kFewTensors && kernel.symbol_count <= Call::kFewSymbols;
  if (!is_small) call.many.reset(new uint64_t[kernel.data_count + kernel.symbol_count]);
  call.data = is_small ? call.few_data.data() : reinterpret_cast<void**>(call.many.get());
  int64_t* const dyn = is_small ? call.few_dyn.data() : reinterpret_cast<int64_t*>(call.many.get() + kernel.data_count);
  call.dyn = dyn;
  std::fill(call.data, call.data + kernel.data_count, nullptr);
  for (uint32_t i = 0; i < kernel.symbol_count; ++i) {
    const strew_symbol& symbol = kernel.symbols[i];
    const TensorView& view = tensors[symbol.tensor];
    StrideBuffer buffer;  // NOLINT: filled by strides_of
    dyn[i] = symbol.is_stride != 0 ? strides_of(view, buffer)[symbol.dim] : view.dims[symbol.dim];
  }
  count_work_of(kernel, call);
  if (!has_destinations) call.window = 0;
  return check_addresses(kernel, tensors, call);
}

Expected<std::vector<TensorView>> in_binding_order(const strew_kernel& kernel, std::span<const NamedTensor> tensors) {
  std::vector<TensorView> views(kernel.tensor_count);
  std::vector<bool> given(kernel.tensor_count);
  for (const NamedTensor& tensor : tensors) {
    uint32_t slot = 0;
    while (slot < kernel.tensor_count && !is_named(kernel, slot, tensor.name)) ++slot;
    if (slot == kernel.tensor_count)
      return invalid_argument("tensors: \"" + std::string(tensor.name) + "\" is no tensor of this kernel, expected one of " +
                              names_of(kernel));
    if (given[slot])
      return invalid_argument("tensors: " + std::string(kernel.tensors[slot].name) + " is given twice, expected once");
    given[slot] = true;
    views[slot] = tensor.view;
  }
  if (const auto missing = std::find(given.begin(), given.end(), false); missing != given.end())
    return invalid_argument("tensors: " + std::string(kernel.tensors[missing - given.begin()].name) +
                            " is missing, expected all of " + names_of(kernel));
  return views;
}

}  // namespace strew::inline v0
