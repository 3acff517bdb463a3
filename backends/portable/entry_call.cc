// See entry_call.h.
#include "backends/portable/entry_call.h"

#include <algorithm>

namespace strew::inline v0::portable {
namespace {

constexpr int64_t kLine = 64;

/// Hands out pieces, each on a cache line.
class Carver {
 public:
  template <class T>
  Piece<T> take(int64_t count) {
    const int64_t at = bytes_;
    bytes_ += (count * static_cast<int64_t>(sizeof(T)) + kLine - 1) / kLine * kLine;
    return {at};
  }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

int64_t most_slots(const InterpretedKernel& p) {
  size_t slots = p.body.slots.size() + p.indices.size();
  slots = std::max(slots, p.fill.slots.size());
  for (const Init& init : p.init) slots = std::max(slots, init.body.slots.size());
  return static_cast<int64_t>(slots);
}

/// Bytes of the columns of a body, which its row-local values use one after the other.
int64_t columns_of(const Body& body) {
  int64_t bytes = body.column_bytes * body.lanes;
  for (const RowFold& fold : body.folds) bytes = std::max(bytes, fold.value.column_bytes * fold.value.lanes);
  return bytes;
}

int64_t most_columns(const InterpretedKernel& p) {
  int64_t bytes = columns_of(p.body);
  for (const Init& init : p.init) bytes = std::max(bytes, columns_of(init.body));
  for (const Body& body : p.merge) bytes = std::max(bytes, columns_of(body));
  return bytes;
}

bool keeps_starts_apart(const InterpretedKernel& p) { return p.has_cut_windows; }

}  // namespace

int64_t block_positions(const InterpretedKernel& p) {
  constexpr int64_t kBlockBytes = 24 << 10, kMost = 128, kLeast = 8;
  const auto slots = most_slots(p), components = static_cast<int64_t>(p.components.size());
  const int64_t lists = 2 * slots + (p.fill.outputs.empty() ? 0 : slots) + components * (keeps_starts_apart(p) ? 3 : 1) + 1;
  return std::clamp<int64_t>(kBlockBytes / (lists * static_cast<int64_t>(sizeof(int64_t))), kLeast, kMost);
}

CallMemory lay_out(const InterpretedKernel& p) {
  Carver carver;
  CallMemory m;
  const int64_t slots = most_slots(p), block = p.positions_per_block, components = static_cast<int64_t>(p.components.size());
  m.numbers = carver.take<int64_t>(p.dynamic.empty() ? 0 : static_cast<int64_t>(p.numbers.size()));
  m.bases = carver.take<int64_t>(slots);
  m.row = carver.take<int64_t>(slots);
  m.coordinates = carver.take<int64_t>(std::max(p.positions.loops, p.init.empty() ? 0 : p.init[0].nest.loops));
  m.places = carver.take<int64_t>(slots * block);
  m.values = carver.take<int64_t>(components * block);
  const int64_t bounds = keeps_starts_apart(p) ? components * block : 0;
  m.lo = carver.take<int64_t>(bounds);
  m.hi = carver.take<int64_t>(bounds);
  m.inside = carver.take<uint8_t>(block);
  m.whole = carver.take<uint8_t>(block);
  m.rows = carver.take<int64_t>(slots * block);
  m.fill_rows = carver.take<int64_t>(p.fill.outputs.empty() ? 0 : slots * block);
  m.filling = carver.take<uint64_t>(p.fills.empty() ? 0 : block);
  m.steps = carver.take<int64_t>(p.fills.empty() ? 0 : slots);
  m.walk = carver.take<int64_t>(slots * static_cast<int64_t>(1 + p.window.loops + p.segments));
  m.seen = carver.take<uint32_t>(p.body.reads_results ? kSeen : 0);
  m.fill_seen = carver.take<uint32_t>(p.fill.reads_results ? kSeen : 0);
  m.columns = carver.take<char>(most_columns(p));
  m.fill_columns = carver.take<char>(columns_of(p.fill));
  m.bytes = carver.bytes() + kLine;  // the stack's piece may begin anywhere
  return m;
}

EntryCall::EntryCall(const strew_args& arguments, char* memory, bool may_stream)
    : p(*static_cast<const InterpretedKernel*>(arguments.program)), args(arguments), loops(*p.loops), streams(may_stream) {
  memory_ = memory + (-reinterpret_cast<intptr_t>(memory) & (kLine - 1));
  numbers_ = p.numbers.data();
  if (p.dynamic.empty()) return;
  int64_t* const numbers = (*this)(p.memory.numbers);
  std::copy(p.numbers.begin(), p.numbers.end(), numbers);
  for (const InterpretedKernel::Dynamic& each : p.dynamic) {
    auto value = static_cast<uint64_t>(each.factor);
    for (const int symbol : each.symbols) value *= static_cast<uint64_t>(args.dyn[symbol]);
    numbers[each.at] = static_cast<int64_t>(value);
  }
  numbers_ = numbers;
}

NestRows::NestRows(const EntryCall& call, const Nest& nest, size_t slots, int64_t begin, int64_t end)
    : call_(call), nest_(nest), slots_(slots), row_(call.bases()), at_(begin), end_(end) {
  if (nest_.loops == 0 || begin >= end) return;
  inner_ = call_.extent(nest_, nest_.loops - 1);
  inner_strides_ = call_.strides(nest_, nest_.loops - 1, slots_);
  if (nest_.loops == 1) {
    lo = hi = begin;
    return;
  }
  row_ = call_.row();
  std::copy_n(call_.bases(), slots_, row_);
  lo = hi = begin % inner_;
  int64_t rest = begin / inner_;
  for (size_t l = nest_.loops - 1; l-- > 0;) {
    const int64_t extent = call_.extent(nest_, l), coordinate = l == 0 ? rest : rest % extent;
    rest /= extent;
    call_.coordinates()[l] = coordinate;
    const int64_t* const strides = call_.strides(nest_, l, slots_);
    for (size_t s = 0; s < slots_; ++s) row_[s] += coordinate * strides[s];
  }
}

void NestRows::advance() {
  for (size_t l = nest_.loops - 1; l-- > 0;) {
    const int64_t* const strides = call_.strides(nest_, l, slots_);
    const int64_t extent = call_.extent(nest_, l);
    const bool carries = ++call_.coordinates()[l] == extent && l > 0;
    if (carries) call_.coordinates()[l] = 0;
    const int64_t steps = carries ? 1 - extent : 1;
    for (size_t s = 0; s < slots_; ++s) row_[s] += steps * strides[s];
    if (!carries) return;
  }
}

bool NestRows::next() {
  if (at_ >= end_) return false;
  if (nest_.loops <= 1) {  // one row
    hi = nest_.loops == 0 ? end_ - at_ : end_;
    at_ = end_;
    return true;
  }
  if (!is_first_) {
    advance();
    lo = 0;
  }
  is_first_ = false;
  hi = std::min(inner_, lo + (end_ - at_));
  at_ += hi - lo;
  lo = std::max(lo, from_);
  hi = std::max(lo, std::min(hi, to_));
  return true;
}

}  // namespace strew::inline v0::portable
