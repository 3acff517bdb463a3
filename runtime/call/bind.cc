// Binding, fast where nothing changed: bind_as() is one pass over the views, dtype, rank, dims, strides and addresses against the shape
// of the op (static) or of this thread's last call (dynamic), then overlap, about fifty instructions per tensor. Whatever does not match
// at once is bound again step by step, to find out whether it is harmless (strides of extents of 1, interleaved buffers), a new set of
// dims, or an error. Consistency of dynamic dims is not repeated here: the op with the dims filled in is verified.
//
// A thread remembers the last few shapes and forgets one when it needs the room for another, so a call holds the shape of a dynamic op
// until the call ends. Tested by tests/unit/bind_test.cc.
#include "runtime/call/bind.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>

#include "compiler/op/specialise.h"
#include "compiler/op/verify.h"
#include "runtime/call/overlap.h"

namespace strew {
namespace {

bool is_dynamic(const TensorType& type) {
  for (int64_t dim : type.dims)
    if (dim == kDynamic) return true;
  for (int64_t stride : type.strides)
    if (stride == kDynamic) return true;
  return false;
}

bool same(const int64_t* a, const int64_t* b, int count) {
  for (int i = 0; i < count; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

bool is_empty(const int64_t* dims, size_t rank) {
  for (size_t d = 0; d < rank; ++d)
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

/// One buffer may be both, element on element.
bool same_layout(const CallShape::Slot& a, const CallShape::Slot& b) {
  if (a.dtype != b.dtype) return false;
  for (int32_t d = 0; d < a.rank; ++d)
    if (a.dims[d] != 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

/// Deletes a shape that its thread forgets, or leaves that to the calls that still hold it.
struct Forget {
  void operator()(CallShape* shape) const {
    if (shape->calls == 0)
      delete shape;
    else
      shape->forgotten = true;
  }
};

/// This thread's last shapes of dynamic ops, by binder.
struct Remembered {
  uint64_t binder = 0;
  std::unique_ptr<CallShape, Forget> shape;
};
constexpr size_t kRemembered = 8;
thread_local std::array<Remembered, kRemembered> remembered;

std::atomic<uint64_t> next_id{1};

}  // namespace

void Call::let_go() {
  if (--held->calls == 0 && held->forgotten) delete held;
  held = nullptr;
}

void Call::release() {
  if (held != nullptr) let_go();
  delete[] many;
}

Binder::Binder(const Op& op, const Plan& plan) : op_(op), plan_(plan), id_(next_id.fetch_add(1)), slots_(tensor_slots(op)) {}

Expected<Binder> Binder::make(const Op& op, const Plan& plan) {
  Binder binder(op, plan);
  const auto* scatter = std::get_if<Scatter>(&op);
  const int pairs = binder.pairs_ = scatter ? static_cast<int>(scatter->operands.size()) : 1;
  const int extras_at = scatter ? 3 * pairs + 1 : 3;
  const size_t extras = scatter ? scatter->extras.size() : std::get<Gather>(op).extras.size();
  binder.data_count_ = static_cast<size_t>(extras_at) + extras;
  binder.copies_ = scatter && scatter->init == InitKind::copy;
  bool dynamic = false;
  for (const TensorSlot& slot : binder.slots_) {
    dynamic = dynamic || is_dynamic(*slot.type);
    switch (slot.role) {
      case Role::result:
        binder.data_index_.push_back(static_cast<uint32_t>(slot.index));
        break;
      case Role::operand:
        binder.data_index_.push_back(static_cast<uint32_t>(pairs + slot.index));
        break;
      case Role::indices:
        binder.data_index_.push_back(static_cast<uint32_t>(2 * pairs));
        break;
      case Role::updates:
        binder.data_index_.push_back(static_cast<uint32_t>(2 * pairs + 1 + slot.index));
        break;
      case Role::extra:
        binder.data_index_.push_back(static_cast<uint32_t>(extras_at + slot.index));
        break;
    }
  }
  binder.count_ = static_cast<uint32_t>(binder.slots_.size());
  for (uint32_t i = 0; i < binder.data_count_ && binder.is_small(); ++i) {
    const std::vector<uint32_t>& bound = binder.data_index_;
    if (std::find(bound.begin(), bound.end(), i) == bound.end()) binder.unbound_[binder.unbound_count_++] = i;
  }
  const uint32_t count = static_cast<uint32_t>(binder.slots_.size());
  for (uint32_t r = 0; r < count && binder.slots_[r].role == Role::result; ++r) {
    for (uint32_t other = r + 1; other < count; ++other) {
      const TensorSlot& slot = binder.slots_[other];
      const bool own_operand = binder.copies_ && slot.role == Role::operand && slot.index == static_cast<int>(r);
      binder.overlaps_.push_back({r, other, own_operand});
    }
  }
  if (!dynamic) {
    CallShape shape;
    for (const TensorSlot& slot : binder.slots_) {
      const size_t rank = slot.type->dims.size(), at = shape.numbers.size();
      shape.numbers.insert(shape.numbers.end(), slot.type->dims.begin(), slot.type->dims.end());
      shape.numbers.resize(at + 2 * rank);
      int64_t* strides = shape.numbers.data() + at + rank;
      if (!slot.type->strides.empty())
        std::copy(slot.type->strides.begin(), slot.type->strides.end(), strides);
      else if (!row_major_strides(slot.type->dims.data(), rank, strides))
        return invalid_argument(binder.label(static_cast<size_t>(&slot - binder.slots_.data())) +
                                ": its elements do not fit 63 bits");
    }
    STREW_TRY(binder.fill_slots(shape));
    binder.static_shape_ = std::move(shape);
  }
  return binder;
}

std::string Binder::label(size_t slot) const {
  std::string text(name(slots_[slot].role));
  if (slots_[slot].role != Role::indices) text += " " + std::to_string(slots_[slot].index);
  return text;
}

/// Dtype, rank, dims and strides are exactly the slot's, whose dims and strides begin at `numbers`: its own pointers would cost the
/// loads of a call that finds nothing in the nearest cache one more step.
inline bool fits_slot(const TensorView& view, const CallShape::Slot& slot, const int64_t* numbers) {
  const int32_t rank = slot.rank;
  if (view.rank != rank) return false;
  if (rank != 0) {
    if (!view.dims || !same(view.dims, numbers, rank)) return false;
    if (view.strides ? !same(view.strides, numbers + rank, rank) : !slot.contiguous) return false;
  }
  // Not beside the rank: compilers would load both at once, which waits for a caller who has just stored them one by one.
  return view.dtype == slot.dtype;
}

/// Everything that follows from dims and strides: pointers into numbers, extents in bytes, dyn, counts.
Status Binder::fill_slots(CallShape& shape) const {
  constexpr __int128 kMost = __int128{1} << 62;  // far from the end of __int128, however many bits an element has
  const int64_t* at = shape.numbers.data();
  for (size_t i = 0; i < slots_.size(); ++i) {
    const TensorType& type = *slots_[i].type;
    const size_t rank = type.dims.size();
    CallShape::Slot slot{type.dtype, true, is_empty(at, rank), type.rank(), data_index_[i], at, at + rank, 0, 0, 0, 0};
    at += 2 * rank;
    int64_t run = 1;
    __int128 lo = 0, hi = 1;
    for (size_t d = rank; d-- > 0 && !slot.empty;) {
      if (slot.dims[d] != 1) slot.contiguous = slot.contiguous && slot.strides[d] == run;
      if (__builtin_mul_overflow(run, slot.dims[d], &run)) slot.contiguous = false;
      const __int128 reach = static_cast<__int128>(slot.strides[d]) * (slot.dims[d] - 1);
      (reach < 0 ? lo : hi) += reach;
      if (lo < -kMost || hi > kMost) break;
    }
    lo = slot.empty ? 0 : lo * bits(type.dtype);
    hi = slot.empty ? 0 : hi * bits(type.dtype);
    if (lo < -kMost || hi > kMost) return invalid_argument(label(i) + ": its byte extent does not fit 63 bits");
    slot.lo = static_cast<int64_t>((lo - 7) / 8);  // rounds away from zero: a packed element's whole byte
    slot.hi = static_cast<int64_t>((hi + 7) / 8);
    slot.least = slot.empty ? 0 : std::max<uintptr_t>(1, static_cast<uintptr_t>(-slot.lo));
    slot.span = std::numeric_limits<uintptr_t>::max() - static_cast<uintptr_t>(slot.hi) - slot.least;
    shape.slots.push_back(slot);
  }
  const int pairs = pairs_;
  for (const Symbol& symbol : plan_.symbols) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      // Operands that are not bound have their result's dims.
      const bool unbound =
          symbol.role == Role::operand && !plan_.tensors[static_cast<size_t>(pairs) + static_cast<size_t>(symbol.index)].bound;
      if (slots_[i].role != (unbound ? Role::result : symbol.role) || slots_[i].index != symbol.index) continue;
      shape.dyn.push_back(symbol.is_stride ? shape.slots[i].strides[symbol.dim] : shape.slots[i].dims[symbol.dim]);
      break;
    }
  }
  shape.operands_share = copies_;
  for (const Overlap& pair : overlaps_)
    if (pair.may_be_same && !same_layout(shape.slots[pair.result], shape.slots[pair.other])) shape.operands_share = false;
  if (shape.dyn.size() != plan_.symbols.size()) return internal_error("plan: a symbol names a tensor that is not bound");
  if (!plan_.tensors.empty()) {
    shape.positions = position_count(plan_, shape.dyn.data());
    shape.splits = split_count(plan_, shape.dyn.data());
    const bool as_it_is = plan_.gather || plan_.init_kind == InitKind::in_place || overwrites_all(plan_, shape.dyn.data());
    shape.init = as_it_is ? 0 : init_count(plan_, shape.dyn.data());
  }
  return {};
}

Status Binder::check_type(const TensorView& view, size_t slot) const {
  const TensorType& type = *slots_[slot].type;
  if (view.dtype != type.dtype)
    return invalid_argument(label(slot) + ": dtype " + std::string(name(view.dtype)) + ", expected " +
                            std::string(name(type.dtype)));
  if (view.rank != type.rank())
    return invalid_argument(label(slot) + ": rank " + std::to_string(view.rank) + ", expected " + std::to_string(type.rank()));
  if (view.rank > 0 && !view.dims)
    return invalid_argument(label(slot) + ": dims is null, expected " + std::to_string(view.rank) + " extents");
  return {};
}

/// Against what the type fixes: dims, and strides where they matter.
Status Binder::check_static(const TensorView& view, size_t slot) const {
  const TensorType& type = *slots_[slot].type;
  const size_t rank = type.dims.size();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t expected = type.dims[d];
    if (expected != kDynamic ? view.dims[d] == expected : view.dims[d] >= 0) continue;
    return invalid_argument(label(slot) + ": dim " + std::to_string(d) + " is " + std::to_string(view.dims[d]) + ", expected " +
                            (expected != kDynamic ? std::to_string(expected) : ">= 0"));
  }
  if (is_empty(view.dims, rank)) return {};
  std::array<int64_t, 64> buffer;  // kMaxRank
  if (!row_major_strides(view.dims, rank, buffer.data()))
    return invalid_argument(label(slot) + ": its elements do not fit 63 bits");
  const int64_t* given = view.strides ? view.strides : buffer.data();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t expected = type.strides.empty() ? buffer[d] : type.strides[d];
    if (view.dims[d] == 1 || expected == kDynamic || given[d] == expected) continue;
    return invalid_argument(label(slot) + ": stride " + std::to_string(d) + " is " + std::to_string(given[d]) + ", expected " +
                            std::to_string(expected) + (type.strides.empty() ? " (contiguous)" : ""));
  }
  return {};
}

Expected<CallShape> Binder::make_shape(std::span<const TensorView> tensors) const {
  CallShape shape;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const TensorView& view = tensors[i];
    STREW_TRY(check_static(view, i));
    const size_t rank = static_cast<size_t>(view.rank), at = shape.numbers.size();
    shape.numbers.insert(shape.numbers.end(), view.dims, view.dims + rank);
    shape.numbers.resize(at + 2 * rank);
    int64_t* strides = shape.numbers.data() + at + rank;
    if (view.strides)
      std::copy(view.strides, view.strides + rank, strides);
    else if (!row_major_strides(view.dims, rank, strides))
      return invalid_argument(label(i) + ": its elements do not fit 63 bits");
  }
  STREW_TRY(fill_slots(shape));
  STREW_ASSIGN(const Op op, specialise(op_, tensors));
  STREW_TRY(verify(op));  // how the tensors' dims relate, and that the results' strides are injective
  return shape;
}

/// Dtypes, ranks, dims and strides are exactly those of `shape`.
bool Binder::fits(const CallShape& shape, std::span<const TensorView> tensors) const {
  const int64_t* numbers = shape.numbers.data();
  for (size_t i = 0; i < tensors.size(); numbers += ptrdiff_t{2} * tensors[i].rank, ++i)
    if (!fits_slot(tensors[i], shape.slots[i], numbers)) return false;
  return true;
}

/// What fits() refused, or has not seen: an error, a harmless difference, or new dims of a dynamic op.
Status Binder::find_shape(std::span<const TensorView> tensors, Call& call) const {
  for (size_t i = 0; i < tensors.size(); ++i) STREW_TRY(check_type(tensors[i], i));
  if (static_shape_) {
    for (size_t i = 0; i < tensors.size(); ++i) STREW_TRY(check_static(tensors[i], i));
    call.shape = &*static_shape_;
    return {};
  }
  Remembered& memory = remembered[id_ % kRemembered];
  if (memory.binder != id_ || !fits(*memory.shape, tensors)) {
    STREW_ASSIGN(CallShape shape, make_shape(tensors));
    memory.binder = 0;
    memory.shape.reset(new CallShape(std::move(shape)));
    memory.binder = id_;
  }
  call.shape = memory.shape.get();
  call.hold(*call.shape);
  return {};
}

Status Binder::overlap_error(std::span<const TensorView> tensors, const Call& call, const Overlap& pair) const {
  const auto bytes = [&](size_t s) {
    const CallShape::Slot& slot = call.shape->slots[s];
    const uintptr_t base = reinterpret_cast<uintptr_t>(tensors[s].data);
    return StridedBytes{base, bits(slots_[s].type->dtype) / 8, tensors[s].rank, slot.dims, slot.strides};
  };
  const size_t r = pair.result, o = pair.other;
  // Packed elements share bytes: for them the intervals decide alone.
  const bool packed = bits(slots_[r].type->dtype) < 8 || bits(slots_[o].type->dtype) < 8;
  if (!packed && disjoint(bytes(r), bytes(o))) return {};
  const bool operand_of_copy = pair.may_be_same;
  return invalid_argument(label(r) + " overlaps " + label(o) + ": expected disjoint buffers" +
                          (operand_of_copy ? ", or one buffer with the same dtype and strides" : ""));
}

Status Binder::check_addresses(std::span<const TensorView> tensors, Call& call) const {
  const CallShape& shape = *call.shape;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const CallShape::Slot& slot = shape.slots[i];
    call.data[slot.data_index] = tensors[i].data;
    if (slot.empty) continue;
    const uintptr_t base = reinterpret_cast<uintptr_t>(tensors[i].data);
    if (base == 0) return invalid_argument(label(i) + ": data is null, expected " + std::to_string(slot.hi - slot.lo) + " bytes");
    if (base - slot.least > slot.span) return invalid_argument(label(i) + ": its byte extent wraps around the address space");
  }
  int same_buffers = 0;
  for (const Overlap& pair : overlaps_) {
    const size_t r = pair.result, o = pair.other;
    const CallShape::Slot &a = shape.slots[r], &b = shape.slots[o];
    if (a.empty || b.empty) continue;
    const uintptr_t at = reinterpret_cast<uintptr_t>(tensors[r].data), bt = reinterpret_cast<uintptr_t>(tensors[o].data);
    if (at + static_cast<uintptr_t>(a.hi) <= bt + static_cast<uintptr_t>(b.lo) ||
        bt + static_cast<uintptr_t>(b.hi) <= at + static_cast<uintptr_t>(a.lo))
      continue;
    if (pair.may_be_same && at == bt && same_layout(a, b)) {
      ++same_buffers;
      continue;
    }
    STREW_TRY(overlap_error(tensors, call, pair));
  }
  call.result_is_operand = copies_ && same_buffers > 0 && same_buffers == pairs_;
  return {};
}

/// Everything is as in `shape`, and no result meets another tensor but its own operand. False: something is not, or needs a closer look.
bool Binder::bind_as(const CallShape& shape, const TensorView* tensors, Call& call) const {
  struct Bytes {
    uintptr_t begin, end;
  };
  Bytes bytes[kSmall + 1];  // NOLINT(modernize-avoid-c-arrays): its end is pointed at
  // Locals, because what is written to `call` could be any of them for all the compiler knows.
  void** const data = call.few.data();
  const CallShape::Slot* const slots = shape.slots.data();
  const int64_t* numbers = shape.numbers.data();
  const uint32_t count = count_, results = static_cast<uint32_t>(pairs_);
  for (uint32_t i = 0; i < count; ++i) {
    const CallShape::Slot& slot = slots[i];
    const TensorView& view = tensors[i];
    const uintptr_t base = reinterpret_cast<uintptr_t>(view.data);
    if (!fits_slot(view, slot, numbers) || base - slot.least > slot.span) return false;
    numbers += ptrdiff_t{2} * slot.rank;
    bytes[i] = {base + static_cast<uintptr_t>(slot.lo), base + static_cast<uintptr_t>(slot.hi)};
    data[slot.data_index] = view.data;
  }
  for (uint32_t i = 0; i < unbound_count_; ++i) data[unbound_[i]] = nullptr;
  uint32_t same_buffers = 0;
  for (uint32_t r = 0; r < results; ++r) {
    const Bytes result = bytes[r];
    for (const Bytes* other = &bytes[r + 1]; other != &bytes[count]; ++other) {
      if (result.end <= other->begin || other->end <= result.begin) continue;
      const bool own_operand =
          shape.operands_share && other == &bytes[results + r] && tensors[r].data == tensors[results + r].data;
      if (!own_operand) return false;
      ++same_buffers;
    }
  }
  call.data = data;
  call.shape = &shape;
  call.result_is_operand = same_buffers == results;
  return true;
}

/// The shape that this call most likely has: the op's, or the one of this thread's last call. Null: none is known.
const CallShape* Binder::expected_shape() const {
  if (static_shape_) return &*static_shape_;
  const Remembered& memory = remembered[id_ % kRemembered];
  return memory.binder == id_ ? memory.shape.get() : nullptr;
}

Status Binder::bind(std::span<const TensorView> tensors, Call& call) const {
  if (tensors.size() == count_ && is_small()) {
    const CallShape* shape = expected_shape();
    if (shape != nullptr && bind_as(*shape, tensors.data(), call)) {
      if (!static_shape_) call.hold(*shape);
      return {};
    }
  }
  return bind_step_by_step(tensors, call);
}

Status Binder::bind_step_by_step(std::span<const TensorView> tensors, Call& call) const {
  if (tensors.size() != slots_.size()) {
    std::string expected;
    for (size_t i = 0; i < slots_.size(); ++i) expected += (i ? ", " : "") + label(i);
    return invalid_argument("tensors: " + std::to_string(tensors.size()) + " given, expected " + std::to_string(slots_.size()) +
                            ": " + expected);
  }
  if (static_shape_ && fits(*static_shape_, tensors))
    call.shape = &*static_shape_;
  else
    STREW_TRY(find_shape(tensors, call));
  if (data_count_ <= call.few.size()) {
    call.data = call.few.data();
  } else {
    delete[] call.many;
    call.many = nullptr;
    call.many = new void*[data_count_];
    call.data = call.many;
  }
  std::fill(call.data, call.data + data_count_, nullptr);
  return check_addresses(tensors, call);
}

}  // namespace strew
