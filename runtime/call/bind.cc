// Binding, fast where all is plain: bind_fast() is one pass over the views, dtype, rank, dims, strides and addresses against the
// descriptor, then symbols and constraints (of kernels that have them), then overlap. A static tensor is compared with numbers that make()
// worked out; an open one is measured on the way, about a nanosecond per dim. Whatever does not match at once is bound again step by step,
// to find out whether it is harmless (strides of extents of 1, interleaved buffers) or an error. Tested by tests/unit/bind_test.cc.
#include "runtime/call/bind.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/strides.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/overlap.h"

namespace strew {
namespace {

constexpr size_t kMaxRank = 64;

bool same(const int64_t* a, const int64_t* b, int count) {
  for (int i = 0; i < count; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

bool is_empty(const int64_t* dims, int rank) {
  for (int d = 0; d < rank; ++d)
    if (dims[d] == 0) return true;
  return false;
}

/// Row-major strides; false when they do not fit (then some extent is absurd).
bool row_major_strides(const int64_t* dims, size_t rank, int64_t* strides) {
  int64_t run = 1;
  for (size_t d = rank; d-- > 0;) {
    strides[d] = run;
    if (__builtin_mul_overflow(run, dims[d] == 0 ? 1 : dims[d], &run)) return false;
  }
  return true;
}

/// The bytes of elements at these dims and strides. False: they do not fit 63 bits.
bool measure(int bits, int rank, const int64_t* dims, const int64_t* strides, Extent& out) {
  constexpr __int128 kMost = __int128{1} << 62;  // far from the end of __int128, however many bits an element has
  out = {0, 0, is_empty(dims, rank), true};
  if (out.empty) return true;
  __int128 lo = 0, hi = 1;
  int64_t run = 1;
  for (int d = rank; d-- > 0;) {
    if (dims[d] != 1) out.row_major = out.row_major && strides[d] == run;
    if (__builtin_mul_overflow(run, dims[d], &run)) out.row_major = false;
    const __int128 reach = static_cast<__int128>(strides[d]) * (dims[d] - 1);
    (reach < 0 ? lo : hi) += reach;
    if (lo < -kMost || hi > kMost) return false;
  }
  lo *= bits;
  hi *= bits;
  if (lo < -kMost || hi > kMost) return false;
  out.lo = static_cast<int64_t>((lo - 7) / 8);  // rounds away from zero: a packed element's whole byte
  out.hi = static_cast<int64_t>((hi + 7) / 8);
  return true;
}

/// The view's strides, or in `buffer` those of its dims.
const int64_t* strides_of(const TensorView& view, std::array<int64_t, kMaxRank>& buffer) {
  if (view.strides != nullptr) return view.strides;
  row_major_strides(view.dims, static_cast<size_t>(view.rank), buffer.data());
  return buffer.data();
}

bool is_small(const strew_kernel& kernel) {
  return kernel.data_count <= Call::kFewTensors && kernel.symbol_count <= Call::kFewSymbols;
}

}  // namespace

Extent extent_of(const strew_tensor_rule& rule, const TensorView& view) {
  std::array<int64_t, kMaxRank> buffer;  // NOLINT: filled by strides_of
  Extent out;
  measure(rule.bits, view.rank, view.dims, strides_of(view, buffer), out);
  return out;
}

Expected<Binder> Binder::make(const strew_kernel& kernel) {
  STREW_TRY(check_descriptor(kernel));
  Binder binder(kernel);
  binder.count_ = kernel.tensor_count;
  binder.results_ = kernel.result_count;
  binder.is_small_ = is_small(kernel);
  binder.has_symbols_ = kernel.symbol_count != 0;
  binder.has_constraints_ = kernel.constraint_count != 0;
  std::vector<bool> bound(kernel.data_count);
  for (uint32_t i = 0; i < kernel.tensor_count; ++i) bound[kernel.tensors[i].data] = true;
  for (uint32_t i = 0; i < kernel.data_count; ++i)
    if (!bound[i]) binder.unbound_.push_back(i);
  STREW_TRY(binder.make_slots());
  binder.operands_share_ = kernel.init_kind == STREW_COPY;
  for (uint32_t r = 0; r < binder.results_ && binder.operands_share_; ++r) {
    const Slot& result = binder.slots_[r];
    const int32_t operand = kernel.tensors[r].may_be;
    if (operand < 0 || result.is_open || binder.slots_[static_cast<size_t>(operand)].is_open) {
      binder.operands_share_ = false;
      break;
    }
    const Slot& other = binder.slots_[static_cast<size_t>(operand)];
    bool shares = result.dtype == other.dtype;
    for (int d = 0; d < result.rank; ++d) shares &= result.dims[d] == 1 || result.strides[d] == other.strides[d];
    binder.operands_share_ = shares;
  }
  if (!binder.has_symbols_) {
    Call call;
    call.dyn = nullptr;
    binder.count_work(call);
    binder.positions_ = call.positions;
    binder.splits_ = call.splits;
    binder.init_ = call.init;
  }
  return binder;
}

Status Binder::make_slots() {
  for (uint32_t i = 0; i < count_; ++i) {
    const strew_tensor_rule& rule = kernel_->tensors[i];
    Slot slot{static_cast<DType>(rule.dtype),
              rule.is_open != 0,
              rule.strides == nullptr,
              static_cast<int32_t>(rule.rank),
              rule.data,
              rule.dims,
              rule.strides,
              0,
              0,
              0,
              0};
    row_major_.emplace_back();
    if (!slot.is_open) {
      if (slot.strides == nullptr) {
        row_major_.back().resize(rule.rank);
        if (!row_major_strides(rule.dims, rule.rank, row_major_.back().data()))
          return invalid_argument(std::string(rule.name) + ": its elements do not fit 63 bits");
        slot.strides = row_major_.back().data();
      }
      Extent extent;
      if (!measure(rule.bits, slot.rank, slot.dims, slot.strides, extent))
        return invalid_argument(std::string(rule.name) + ": its byte extent does not fit 63 bits");
      slot.row_major = extent.row_major;
      slot.lo = extent.lo;
      slot.hi = extent.hi;
      slot.least = extent.empty ? 0 : std::max<uintptr_t>(1, static_cast<uintptr_t>(-slot.lo));
      slot.span = std::numeric_limits<uintptr_t>::max() - static_cast<uintptr_t>(slot.hi) - slot.least;
    }
    slots_.push_back(slot);
  }
  return {};
}

/// Dtype, rank, dims and strides are exactly the slot's.
inline bool Binder::fits_static(const Slot& slot, const TensorView& view, Bytes& bytes) const {
  const int32_t rank = slot.rank;
  if (view.rank != rank) return false;
  if (rank != 0) {
    if (!view.dims || !same(view.dims, slot.dims, rank)) return false;
    if (view.strides ? !same(view.strides, slot.strides, rank) : !slot.row_major) return false;
  }
  const auto base = reinterpret_cast<uintptr_t>(view.data);
  bytes = {base + static_cast<uintptr_t>(slot.lo), base + static_cast<uintptr_t>(slot.hi)};
  // The dtype not beside the rank: compilers would load both at once, which waits for a caller who has just stored them one by one.
  return view.dtype == slot.dtype && base - slot.least <= slot.span;
}

/// The same of a tensor with extents or strides of the call's. False also for what only the long way judges: views without elements or
/// with strides that extents of 1 make free.
inline bool Binder::fits_open(const strew_tensor_rule& rule, const TensorView& view, Bytes& bytes) const {
  if (view.rank != static_cast<int32_t>(rule.rank) || static_cast<uint8_t>(view.dtype) != rule.dtype) return false;
  if (rule.rank != 0 && view.dims == nullptr) return false;
  int64_t run = 1, lo = 0, hi = 0;  // elements
  for (uint32_t d = rule.rank; d-- > 0;) {
    const int64_t extent = view.dims[d], expected = rule.dims[d];
    if (expected >= 0 ? extent != expected : extent < 0) return false;
    const int64_t stride = view.strides != nullptr ? view.strides[d] : run;
    if (rule.strides == nullptr || rule.strides[d] != STREW_OPEN) {
      if (stride != (rule.strides == nullptr ? run : rule.strides[d])) return false;
    }
    int64_t reach = 0;
    if (__builtin_mul_overflow(stride, extent - 1, &reach)) return false;
    if (__builtin_add_overflow(reach < 0 ? lo : hi, reach, reach < 0 ? &lo : &hi)) return false;
    if (__builtin_mul_overflow(run, extent, &run)) return false;
  }
  constexpr int64_t kMost = int64_t{1} << 54;  // elements of 128 bits: far from the end
  if (run == 0 || lo < -kMost || hi > kMost) return false;
  lo = (lo * rule.bits - 7) / 8;
  hi = ((hi + 1) * rule.bits + 7) / 8;
  const auto base = reinterpret_cast<uintptr_t>(view.data);
  bytes = {base + static_cast<uintptr_t>(lo), base + static_cast<uintptr_t>(hi)};
  return base != 0 && base >= static_cast<uintptr_t>(-lo) &&
         base <= std::numeric_limits<uintptr_t>::max() - static_cast<uintptr_t>(hi);
}

/// False: a stride is wanted that the view leaves out.
inline bool Binder::read_symbols(const TensorView* tensors, int64_t* dyn) const {
  const strew_symbol* const symbols = kernel_->symbols;
  for (uint32_t i = 0; i < kernel_->symbol_count; ++i) {
    const strew_symbol& symbol = symbols[i];
    const TensorView& view = tensors[symbol.tensor];
    const int64_t* const numbers = symbol.is_stride != 0 ? view.strides : view.dims;
    if (numbers == nullptr) return false;
    dyn[i] = numbers[symbol.dim];
  }
  return true;
}

inline bool Binder::holds(const strew_constraint& constraint, const TensorView* tensors) const {
  const TensorView& view = tensors[constraint.tensor];
  const TensorView& other = tensors[constraint.other];
  switch (constraint.kind) {
    case STREW_EQUAL:
      return view.dims[constraint.dim] == other.dims[constraint.other_dim];
    case STREW_AT_MOST:
      return view.dims[constraint.dim] <= other.dims[constraint.other_dim];
    case STREW_NOT_EMPTY:
      return view.dims[constraint.dim] != 0 || is_empty(other.dims, other.rank);
    case STREW_EMPTY:
      return view.dims[constraint.dim] == 0 || is_empty(other.dims, other.rank);
    case STREW_NOTHING:
      return is_empty(view.dims, view.rank);
    default: {
      const auto rank = static_cast<size_t>(view.rank);
      std::array<int64_t, kMaxRank> buffer;  // NOLINT: filled by strides_of
      return distinct_offsets({view.dims, rank}, {strides_of(view, buffer), rank}) == Distinct::yes;
    }
  }
}

/// One buffer may be both, element on element. Of views of equal dims.
bool Binder::same_layout(const TensorView& a, const TensorView& b) const {
  if (a.dtype != b.dtype || a.rank != b.rank) return false;
  if (a.strides == nullptr && b.strides == nullptr) return true;
  std::array<int64_t, kMaxRank> of_a, of_b;  // NOLINT: filled by strides_of
  const int64_t *const sa = strides_of(a, of_a), *const sb = strides_of(b, of_b);
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d] != 1 && sa[d] != sb[d]) return false;
  return true;
}

void Binder::count_work(Call& call) const {
  const strew_kernel& k = *kernel_;
  call.positions = evaluate(k, k.positions, call.dyn);
  call.splits = evaluate(k, k.splits, call.dyn);
  call.init = 0;
  if (k.is_gather != 0 || k.init_kind == STREW_IN_PLACE) return;
  call.init = evaluate(k, k.init, call.dyn);
  int64_t written = 0;
  bool overwrites = k.may_overwrite != 0 && !__builtin_mul_overflow(call.positions, evaluate(k, k.window, call.dyn), &written) &&
                    written == call.init;
  for (uint32_t i = 0; i < k.cover_count && overwrites; ++i)
    overwrites = evaluate(k, k.covers[i].window, call.dyn) == evaluate(k, k.covers[i].dim, call.dyn);
  if (overwrites) call.init = 0;
}

/// Everything fits, and no result meets another tensor but its own operand. False: something does not, or needs a closer look.
bool Binder::bind_fast(const TensorView* tensors, Call& call) const {
  Bytes bytes[Call::kFewTensors + 1];  // NOLINT(modernize-avoid-c-arrays): its end is pointed at
  // Locals, because what is written to `call` could be any of them for all the compiler knows.
  void** const data = call.few_data.data();
  const Slot* const slots = slots_.data();
  const uint32_t count = count_, results = results_;
  for (uint32_t i = 0; i < count; ++i) {
    const Slot& slot = slots[i];
    const TensorView& view = tensors[i];
    if (slot.is_open ? !fits_open(kernel_->tensors[i], view, bytes[i]) : !fits_static(slot, view, bytes[i])) return false;
    data[slot.data] = view.data;
  }
  for (const uint32_t unbound : unbound_) data[unbound] = nullptr;
  if (has_symbols_ && !read_symbols(tensors, call.few_dyn.data())) return false;
  for (uint32_t i = 0; has_constraints_ && i < kernel_->constraint_count; ++i)
    if (!holds(kernel_->constraints[i], tensors)) return false;
  uint32_t same_buffers = 0;
  for (uint32_t r = 0; r < results; ++r) {
    const Bytes result = bytes[r];
    for (uint32_t other = r + 1; other < count; ++other) {
      if (result.end <= bytes[other].begin || bytes[other].end <= result.begin) continue;
      if (static_cast<int32_t>(other) != kernel_->tensors[r].may_be || tensors[r].data != tensors[other].data) return false;
      if (!operands_share_ && !same_layout(tensors[r], tensors[other])) return false;
      ++same_buffers;
    }
  }
  call.data = data;
  call.dyn = call.few_dyn.data();
  call.result_is_operand = same_buffers == results;
  if (has_symbols_) {
    count_work(call);
  } else {
    call.positions = positions_;
    call.splits = splits_;
    call.init = init_;
  }
  return true;
}

Status Binder::bind(std::span<const TensorView> tensors, Call& call) const {
  if (tensors.size() == count_ && is_small_ && bind_fast(tensors.data(), call)) return {};
  return bind_step_by_step(tensors, call);
}

// ---- Step by step: what bind_fast() refused -------------------------------------------------------------------------------------------

/// Against what the descriptor fixes: dtype, rank, dims, and strides where they matter.
Status Binder::check_view(const TensorView& view, uint32_t tensor) const {
  const strew_tensor_rule& rule = kernel_->tensors[tensor];
  const std::string name = rule.name;
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
  std::array<int64_t, kMaxRank> buffer;  // NOLINT: filled by row_major_strides
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

Status Binder::check_constraints(std::span<const TensorView> tensors) const {
  for (uint32_t i = 0; i < kernel_->constraint_count; ++i) {
    const strew_constraint& c = kernel_->constraints[i];
    if (holds(c, tensors.data())) continue;
    const std::string name = kernel_->tensors[c.tensor].name, other = kernel_->tensors[c.other].name;
    const std::string what = std::string(c.label) + ": " + name + ": ";
    if (c.kind == STREW_DISTINCT) return invalid_argument(what + "its strides put two elements at one address");
    if (c.kind == STREW_NOTHING)
      return invalid_argument(what + "it has elements, expected none: they would come from a slice of size 0");
    const std::string dim = what + "dim " + std::to_string(c.dim) + " is " + std::to_string(tensors[c.tensor].dims[c.dim]);
    if (c.kind == STREW_NOT_EMPTY)
      return invalid_argument(dim + ", expected 1 or more: " + other + " takes its elements from a slice of it");
    if (c.kind == STREW_EMPTY)
      return invalid_argument(dim + ", expected 0: " + other + " takes its elements from a slice of size 0 of it");
    const std::string bound = std::to_string(tensors[c.other].dims[c.other_dim]);
    return invalid_argument(dim + ", expected " + (c.kind == STREW_AT_MOST ? "at most " : "") + bound + ", dim " +
                            std::to_string(c.other_dim) + " of " + other);
  }
  return {};
}

Status Binder::overlap_error(std::span<const TensorView> tensors, uint32_t result, uint32_t other) const {
  std::array<int64_t, kMaxRank> of_result, of_other;  // NOLINT: filled by strides_of
  const auto bytes = [&](uint32_t t, std::array<int64_t, kMaxRank>& buffer) {
    const TensorView& view = tensors[t];
    return StridedBytes{reinterpret_cast<uintptr_t>(view.data), kernel_->tensors[t].bits / 8, view.rank, view.dims,
                        strides_of(view, buffer)};
  };
  // Packed elements share bytes: for them the intervals decide alone.
  const bool packed = kernel_->tensors[result].bits < 8 || kernel_->tensors[other].bits < 8;
  if (!packed && disjoint(bytes(result, of_result), bytes(other, of_other))) return {};
  const bool operand_of_copy = kernel_->tensors[result].may_be == static_cast<int32_t>(other);
  return invalid_argument(std::string(kernel_->tensors[result].name) + " overlaps " + kernel_->tensors[other].name +
                          ": expected disjoint buffers" +
                          (operand_of_copy ? ", or one buffer with the same dtype and strides" : ""));
}

Status Binder::check_addresses(std::span<const TensorView> tensors, Call& call) const {
  std::vector<Extent> extents(count_);
  for (uint32_t i = 0; i < count_; ++i) {
    const strew_tensor_rule& rule = kernel_->tensors[i];
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
  for (uint32_t r = 0; r < results_; ++r) {
    for (uint32_t o = r + 1; o < count_; ++o) {
      const Extent &a = extents[r], &b = extents[o];
      if (a.empty || b.empty) continue;
      const auto at = reinterpret_cast<uintptr_t>(tensors[r].data), bt = reinterpret_cast<uintptr_t>(tensors[o].data);
      if (at + static_cast<uintptr_t>(a.hi) <= bt + static_cast<uintptr_t>(b.lo) ||
          bt + static_cast<uintptr_t>(b.hi) <= at + static_cast<uintptr_t>(a.lo))
        continue;
      if (kernel_->tensors[r].may_be == static_cast<int32_t>(o) && at == bt && same_layout(tensors[r], tensors[o])) {
        ++same_buffers;
        continue;
      }
      STREW_TRY(overlap_error(tensors, r, o));
    }
  }
  call.result_is_operand = kernel_->init_kind == STREW_COPY && same_buffers > 0 && same_buffers == results_;
  return {};
}

Status Binder::bind_step_by_step(std::span<const TensorView> tensors, Call& call) const {
  if (tensors.size() != count_) {
    std::string expected;
    for (uint32_t i = 0; i < count_; ++i) expected += (i != 0 ? ", " : "") + std::string(kernel_->tensors[i].name);
    return invalid_argument("tensors: " + std::to_string(tensors.size()) + " given, expected " + std::to_string(count_) + ": " +
                            expected);
  }
  for (uint32_t i = 0; i < count_; ++i) STREW_TRY(check_view(tensors[i], i));
  STREW_TRY(check_constraints(tensors));
  if (!is_small_) call.many.reset(new uint64_t[kernel_->data_count + kernel_->symbol_count]);
  call.data = is_small_ ? call.few_data.data() : reinterpret_cast<void**>(call.many.get());
  int64_t* const dyn = is_small_ ? call.few_dyn.data() : reinterpret_cast<int64_t*>(call.many.get() + kernel_->data_count);
  call.dyn = dyn;
  std::fill(call.data, call.data + kernel_->data_count, nullptr);
  for (uint32_t i = 0; i < kernel_->symbol_count; ++i) {
    const strew_symbol& symbol = kernel_->symbols[i];
    const TensorView& view = tensors[symbol.tensor];
    std::array<int64_t, kMaxRank> buffer;  // NOLINT: filled by strides_of
    dyn[i] = symbol.is_stride != 0 ? strides_of(view, buffer)[symbol.dim] : view.dims[symbol.dim];
  }
  count_work(call);
  return check_addresses(tensors, call);
}

}  // namespace strew
