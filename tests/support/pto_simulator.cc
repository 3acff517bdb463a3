// What the chips do, written down once more: an index is cast to 32 bits without sign; out of bounds it is dropped, becomes the last slot, or
// is reduced; a gather may give zero instead. Duplicates of a tile act in order. Numbers are added in their own precision.
#include <bit>

#include "compiler/op/number.h"
#include "tests/support/pto_program.h"

namespace strew::test {
namespace {

uint32_t mask_of(DType dtype) { return bits(dtype) == 32 ? ~0u : (1u << bits(dtype)) - 1; }

int64_t as_integer(DType dtype, uint32_t value) {
  if (!is_signed_integer(dtype)) return value;
  const int shift = 32 - bits(dtype);
  return static_cast<int32_t>(value << shift) >> shift;
}

uint32_t combine(const PtoProgram& p, uint32_t old, uint32_t update) {
  if (p.atomic == "none") return update;
  if (is_integer(p.dtype)) {
    if (p.atomic == "add") return (old + update) & mask_of(p.dtype);
    const bool less = as_integer(p.dtype, old) < as_integer(p.dtype, update);
    return less == (p.atomic == "max") ? update : old;
  }
  if (p.dtype == DType::f32) {
    const auto a = std::bit_cast<float>(old), b = std::bit_cast<float>(update);
    const float r = p.atomic == "add" ? a + b : p.atomic == "max" ? (a < b ? b : a) : (b < a ? b : a);
    return std::bit_cast<uint32_t>(r);
  }
  // f16, bf16: the sum of two is exact in double, so this rounds once.
  return static_cast<uint32_t>(encode(p.dtype, decode(p.dtype, old) + decode(p.dtype, update)));
}

/// The slot of an index, or -1 for none.
int64_t slot_of(const PtoProgram& p, int32_t index) {
  const auto value = static_cast<uint32_t>(index);
  const auto capacity = static_cast<uint64_t>(p.capacity());
  if (value < capacity) return value;
  if (p.oob == "clamp") return p.capacity() - 1;
  if (p.oob == "wrap") return static_cast<int64_t>(value % capacity);
  return -1;
}

}  // namespace

PtoData make_data(const PtoProgram& p, Rng& rng) {
  PtoData out;
  const auto element = [&]() -> uint32_t {
    if (p.dtype == DType::f32) return std::bit_cast<uint32_t>(static_cast<float>(rng.between(-1000, 1000)) / 7.0f);
    if (p.atomic != "none" && !is_integer(p.dtype))
      return static_cast<uint32_t>(encode(p.dtype, static_cast<double>(rng.between(-1000, 1000)) / 64.0));
    return static_cast<uint32_t>(rng.next()) & mask_of(p.dtype);
  };
  for (int64_t i = 0; i < p.table_rows * p.width(); ++i) out.table.push_back(element());
  for (int64_t i = 0; i < p.count * p.width(); ++i) out.data.push_back(element());
  const int64_t capacity = p.capacity();
  for (int64_t i = 0; i < p.index_count(); ++i) {
    int64_t index = rng.below(capacity);
    if (rng.chance(30)) index = rng.below(std::min<int64_t>(capacity, 3));  // duplicates
    if (p.oob != "undefined" && rng.chance(35))
      index = rng.pick<int64_t>({-1, -capacity, capacity, capacity + 1, 2 * capacity, INT32_MIN, INT32_MAX, -2});
    out.indices.push_back(static_cast<int32_t>(index));
  }
  return out;
}

void simulate(const PtoProgram& p, PtoData& d) {
  const int64_t width = p.width();
  for (int64_t first = 0; first < p.count; first += p.rows) {
    for (int64_t r = first; r < std::min(first + p.rows, p.count); ++r) {
      for (int64_t c = 0; c < width; ++c) {
        const auto at = static_cast<size_t>(r * width + c);
        int64_t slot = slot_of(p, d.indices[p.by_row ? static_cast<size_t>(r) : at]);
        if (slot >= 0 && p.by_row) slot = slot * width + c;
        if (!p.scatters) {
          d.data[at] = slot < 0 ? 0 : d.table[static_cast<size_t>(slot)];
        } else if (slot >= 0) {
          uint32_t& target = d.table[static_cast<size_t>(slot)];
          target = combine(p, target, d.data[at]);
        }
      }
    }
  }
}

}  // namespace strew::test
