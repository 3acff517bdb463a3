// Data for a PtoProgram: numbers whose sums round, indices with duplicates and, where the mode says what happens, out of bounds.
#include <algorithm>
#include <bit>

#include "base/number.h"
#include "tests/support/pto_program.h"

namespace strew::test {
namespace {

uint32_t mask_of(DType dtype) { return bits(dtype) == 32 ? ~0u : (1u << bits(dtype)) - 1; }

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

}  // namespace strew::test
