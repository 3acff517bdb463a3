// See blocks.h and docs/semantics.md section 3. Indices of 64 bits are clamped before anything is added to them, so bounds are as if computed in
// unbounded integers. Values that are out of bounds are compared as unsigned numbers, so that one comparison finds negative ones, too.
// Tested by tests/differential with indices at the extremes of every index type.
#include "backends/portable/blocks.h"

#include <algorithm>
#include <cstring>

namespace strew::inline v0::portable {

namespace {

/// loops.line, but for a few elements without a call: a call of one position is over in a tenth of a microsecond.
inline void line(const Loops& loops, int64_t* out, int64_t first, int64_t step, int64_t n) {
  constexpr int64_t kFew = 8;
  if (n > kFew) return loops.line(out, first, step, n);
  for (int64_t i = 0; i < n; ++i) out[i] = first + i * step;
}

}  // namespace

void set_bases(const EntryCall& f) {
  int64_t* at = f.bases();
  for (const Slot& slot : f.p.body.slots) *at++ = f.base(slot);
  for (const Slot& slot : f.p.indices) *at++ = f.base(slot);
}

/// Where iteration `iteration` of the row is in a slot.
inline int64_t PositionBlocks::place_in_row(size_t slot, int64_t iteration) const {
  const int64_t* const strides = rows_.inner_strides();
  return rows_.row()[slot] + (strides == nullptr ? 0 : iteration * strides[slot]);
}

/// Keeps the places of the index tensors, as the block goes on in the next row.
void PositionBlocks::leave_row() {
  const int64_t* const strides = rows_.inner_strides();
  for (size_t slot = slots_; slot < slots_ + f_.p.indices.size(); ++slot)
    f_.loops.line(f_.places(slot), place_in_row(slot, block_lo_), strides == nullptr ? 0 : strides[slot], count);
  is_in_row_ = false;
}

bool PositionBlocks::next() {
  const int64_t most = f_.p.positions_per_block;
  first = done_;
  count = 0;
  is_in_row_ = true;
  while (count < most) {
    if (lo_ == hi_) {
      if (is_in_row_ && count > 0 && first + count < end_) leave_row();
      if (!rows_.next()) break;
      lo_ = rows_.lo;
      hi_ = rows_.hi;
    }
    const int64_t take = std::min(most - count, hi_ - lo_), lo = lo_;
    int64_t* const places = f_.places() + count;
    const int64_t *const row = rows_.row(), *const strides = rows_.inner_strides();
    const auto add = [&](size_t from, size_t end) {
      for (size_t slot = from; slot < end; ++slot) {
        const int64_t stride = strides == nullptr ? 0 : strides[slot];
        line(f_.loops, places + static_cast<int64_t>(slot) * most, row[slot] + lo * stride, stride, take);
      }
    };
    add(0, wanted_);
    if (!is_in_row_) add(slots_, slots_ + f_.p.indices.size());
    if (count == 0) block_lo_ = lo;
    lo_ += take;
    count += take;
  }
  done_ += count;
  return count > 0;
}

int64_t* PositionBlocks::load(size_t k) {
  const ComponentNumbers& c = f_.p.components[k];
  const size_t slot = slots_ + c.index;
  const int64_t *const strides = rows_.inner_strides(), offset = f_.at(c.index_offset);
  const Side from = is_in_row_ ? Side{nullptr, place_in_row(slot, block_lo_) + offset, strides == nullptr ? 0 : strides[slot], 0}
                               : Side{f_.places(slot), offset, 0, 0};
  int64_t* const values = f_.values(k);
  f_.loops.index[static_cast<size_t>(c.dtype)](values, from, count);
  return values;
}

/// Sets the flags of all positions, unless some may be clear already.
void PositionBlocks::begin_flags() {
  if (drops) return;
  drops = true;
  std::memset(f_.inside(), 1, static_cast<size_t>(count));
  std::memset(f_.whole(), 1, static_cast<size_t>(count));
  if (!f_.p.fills.empty()) std::memset(f_.filling(), 0, static_cast<size_t>(count) * sizeof(uint64_t));
}

/// Clears the flags of positions whose value is not in [0, largest].
void PositionBlocks::require(uint8_t* flags, const int64_t* values, int64_t largest) {
  begin_flags();
  if (largest < 0)
    std::memset(flags, 0, static_cast<size_t>(count));
  else
    f_.loops.bound(flags, values, static_cast<uint64_t>(largest), count);
}

/// What a policy does with whole windows whose value is not in [0, largest]: it drops the position or, of look-up number `fill`, fills.
void PositionBlocks::keep(int fill, const int64_t* values, int64_t largest) {
  if (fill < 0) return require(f_.inside(), values, largest);
  if (largest >= 0 && !f_.loops.any_beyond(values, static_cast<uint64_t>(largest), count)) return;
  begin_flags();
  const uint64_t bit = uint64_t{1} << fill;
  for (int64_t j = 0; j < count; ++j) f_.filling()[j] |= values[j] < 0 || values[j] > largest ? bit : 0;
}

/// PlaceRule::cut.
void PositionBlocks::cut(size_t k, int64_t dim, int64_t window) {
  const int64_t at = static_cast<int64_t>(k) * f_.p.positions_per_block;
  int64_t *const start = f_.values() + at, *const lo = f_.lo() + at, *const hi = f_.hi() + at;
  begin_flags();
  if (f_.p.components[k].dtype == DType::u64) f_.loops.saturate(start, count);
  f_.loops.clamp(start, -window, dim, count);
  const bool fills = f_.p.fill_of(f_.p.components[k].source) >= 0;
  for (int64_t j = 0; j < count; ++j) {
    lo[j] = std::max<int64_t>(-start[j], 0);
    hi[j] = std::min(dim - start[j], window);
    f_.inside()[j] = static_cast<uint8_t>(f_.inside()[j] & (fills || lo[j] < hi[j] ? 1 : 0));
    if (f_.p.gather) f_.whole()[j] = static_cast<uint8_t>(f_.whole()[j] & (hi[j] - lo[j] == window ? 1 : 0));
  }
}

void PositionBlocks::apply_rule(size_t k, int64_t* values) {
  const ComponentNumbers& c = f_.p.components[k];
  const int64_t dim = f_.at(c.dim), window = f_.at(c.window), largest = dim - window;
  if (c.normalize_negative) f_.loops.fold(values, dim, count);
  const int fill = f_.p.fill_of(c.source);
  switch (c.rule) {
    case PlaceRule::trusted:
      return;
    case PlaceRule::fits:
      return keep(fill, values, largest);
    case PlaceRule::clamped:
      if (c.dtype == DType::u64) f_.loops.saturate(values, count);
      f_.loops.clamp(values, 0, largest, count);
      if (largest < 0) require(f_.inside(), values, largest);
      return;
    case PlaceRule::inside:
      keep(fill, values, dim - 1);
      if (f_.p.gather) require(f_.whole(), values, dim - 1);
      return;
    case PlaceRule::cut:
      return cut(k, dim, window);
    case PlaceRule::wrapped:
    case PlaceRule::split: {
      if (dim <= 0) return require(f_.inside(), values, -1);
      f_.loops.wrap(values, dim, c.dtype == DType::u64, count);
      if (c.rule == PlaceRule::wrapped) return;
      int64_t* const hi = f_.hi() + (values - f_.values());
      for (int64_t j = 0; j < count; ++j) hi[j] = std::min(dim - values[j], window);
      return;
    }
  }
}

void PositionBlocks::place_lookups(int64_t positions) {
  count = positions;
  is_in_row_ = false;
  place(1);
}

void PositionBlocks::place(int first_source) {
  drops = false;
  const Slot* const slots = f_.p.body.slots.data();
  for (size_t k = 0; k < f_.p.components.size(); ++k) {
    const ComponentNumbers& c = f_.p.components[k];
    if (c.source < first_source || c.source >= sources_) continue;
    int64_t* const values = load(k);
    apply_rule(k, values);
    const int64_t* const strides = f_.from(c.strides);
    for (size_t slot = 0; slot < wanted_; ++slot)
      if (slots[slot].source == c.source) f_.loops.advance(f_.places(slot), values, strides[slot], count);
  }
}

bool PositionBlocks::find_bad(const SourceComponents& source, strew_fault* fault) {
  bool any = false;
  const auto largest_of = [&](size_t k) { return f_.at(f_.p.components[k].dim) - f_.at(f_.p.components[k].window); };
  for (size_t k = source.first; k < source.end; ++k) {
    const ComponentNumbers& c = f_.p.components[k];
    load(k);
    int64_t* const values = f_.values(k);
    if (c.normalize_negative) f_.loops.fold(values, f_.at(c.dim), count);
    const int64_t largest = largest_of(k);
    any |= largest < 0 || f_.loops.any_beyond(values, static_cast<uint64_t>(largest), count);
  }
  if (!any) return false;
  for (int64_t j = 0; j < count; ++j) {
    for (size_t k = source.first; k < source.end; ++k) {
      const int64_t* const values = f_.values(k);
      const int64_t largest = largest_of(k);
      if (largest >= 0 && static_cast<uint64_t>(values[j]) <= static_cast<uint64_t>(largest)) continue;
      *fault = {first + j, static_cast<int64_t>(k - source.first), load(k)[j], largest, f_.args.source};
      return true;
    }
  }
  return false;
}

void places_beside_results(const EntryCall& f, int64_t position, int64_t* places) {
  const size_t slots = f.p.body.slots.size() + f.p.indices.size();
  std::copy_n(f.bases(), slots, places);
  int64_t rest = position;
  for (size_t l = f.p.positions.loops; l-- > 0;) {
    const int64_t extent = f.extent(f.p.positions, l), coordinate = l == 0 ? rest : rest % extent;
    if (l > 0) rest /= extent;
    const int64_t* const strides = f.strides(f.p.positions, l, slots);
    for (size_t s = static_cast<size_t>(f.p.pairs); s < slots; ++s) places[s] += coordinate * strides[s];
  }
}

}  // namespace strew::inline v0::portable
