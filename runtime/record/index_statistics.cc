// See index_statistics.h.
#include "runtime/record/index_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/number.h"
#include "base/strides.h"
#include "compiler/op/access_dims.h"

namespace strew::inline v0 {
namespace {

const TensorView& view_of(const Op& op, std::span<const TensorView> tensors, Role role) {
  const std::vector<TensorSlot> slots = tensor_slots(op);
  size_t at = 0;
  while (slots[at].role != role || slots[at].index != 0) ++at;
  return tensors[at];
}

/// The places of the first positions, in their order: the index vector as one number, in row-major order of the operand's dims.
std::vector<int64_t> places_of(const Op& op, const TensorView& table, const TensorView& indices, int64_t& rows) {
  const AccessDims dims(op);
  std::vector<int64_t> weights(dims.components.size());
  rows = 1;
  for (size_t d = dims.operand.size(); d-- > 0;) {
    if (dims.operand[d].component < 0) continue;
    weights[static_cast<size_t>(dims.operand[d].component)] = rows;
    rows *= std::max<int64_t>(1, table.dims[d]);
  }
  const std::vector<int64_t> extents(indices.dims, indices.dims + indices.rank);
  const std::vector<int64_t> strides = indices.strides != nullptr
                                           ? std::vector<int64_t>(indices.strides, indices.strides + indices.rank)
                                           : contiguous_strides(extents);
  const auto vector_dim = static_cast<size_t>(dims.index_vector_dim);
  const int64_t step = dims.scalar_indices ? 0 : strides[vector_dim];
  std::vector<int64_t> at(extents.size(), 0), places;
  const bool is_empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  while (!is_empty && static_cast<int64_t>(places.size()) < kMostPositions) {
    int64_t element = 0, place = 0;
    for (size_t d = 0; d < at.size(); ++d) element += at[d] * strides[d];
    for (size_t k = 0; k < weights.size(); ++k) {
      const Scalar value = load_element(indices.dtype, indices.data, element + static_cast<int64_t>(k) * step);
      place += decode_i64(indices.dtype, value.bits[0]) * weights[k];
    }
    places.push_back(place);
    size_t d = at.size();
    for (; d > 0; --d) {
      if (!dims.scalar_indices && d - 1 == vector_dim) continue;
      if (++at[d - 1] < extents[d - 1]) break;
      at[d - 1] = 0;
    }
    if (d == 0) break;
  }
  return places;
}

/// The slope of log(count) over log(rank) for the most frequent places: counts of less than three say little.
double fitted_exponent(const std::vector<int64_t>& counts) {
  constexpr size_t kRanks = 64;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (size_t rank = 0; rank < std::min(kRanks, counts.size()) && counts[rank] >= 3; ++rank) {
    const double a = std::log(static_cast<double>(rank + 1)), b = std::log(static_cast<double>(counts[rank]));
    n += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  const double spread = n * xx - x * x;
  return n < 4 || spread <= 0 ? 0 : std::max(0.0, -(n * xy - x * y) / spread);
}

std::string with_number(const char* name, double number) {
  char text[48];
  std::snprintf(text, sizeof text, "%s(%.2f)", name, number);
  return text;
}

}  // namespace

IndexStatistics index_statistics(const Op& op, std::span<const TensorView> tensors) {
  IndexStatistics out;
  const TensorView& table = view_of(op, tensors, is_scatter(op) ? Role::result : Role::operand);
  const std::vector<int64_t> places = places_of(op, table, view_of(op, tensors, Role::indices), out.rows);
  out.positions = static_cast<int64_t>(places.size());
  if (places.empty()) return out;
  std::unordered_map<int64_t, int64_t> by_place;
  int64_t runs = 1, ascending = 1;
  for (size_t i = 0; i < places.size(); ++i) {
    ++by_place[places[i]];
    if (i == 0) continue;
    runs += places[i] != places[i - 1] ? 1 : 0;
    ascending += places[i] >= places[i - 1] ? 1 : 0;
  }
  std::vector<int64_t> counts;
  for (const auto& [place, count] : by_place) counts.push_back(count);
  std::sort(counts.rbegin(), counts.rend());
  const auto all = static_cast<double>(places.size());
  out.distinct = static_cast<int64_t>(counts.size());
  out.top_share = static_cast<double>(counts[0]) / all;
  out.second_share = counts.size() > 1 ? static_cast<double>(counts[1]) / all : 0;
  out.ascending = static_cast<double>(ascending) / all;
  out.run_length = all / static_cast<double>(runs);
  out.zipf = fitted_exponent(counts);
  return out;
}

std::string distribution_of(const IndexStatistics& s) {
  if (s.positions < 2) return "uniform";
  const auto n = static_cast<double>(s.positions);
  if (s.ascending > 0.999 && s.distinct > 1) return "sorted";
  // Of independent draws, a run is as long as two that follow one another are the same place by chance.
  const double same = s.top_share * s.top_share + s.second_share * s.second_share, by_chance = 1 / std::max(1e-9, 1 - same);
  if (s.run_length > 1.5 * by_chance && s.distinct > 1) return with_number("runs", s.run_length);
  if (s.top_share > 0.1 && s.second_share < s.top_share / 16) return with_number("hot", s.top_share);
  if (s.zipf > 0.4 && s.top_share > 4 / std::max(1.0, static_cast<double>(s.rows))) return with_number("zipf", s.zipf);
  // So many pairs of equal places would be expected of independent draws.
  const double expected_pairs = n * n / 2 / static_cast<double>(std::max<int64_t>(1, s.rows));
  return s.distinct == s.positions && expected_pairs > 5 ? "permutation" : "uniform";
}

}  // namespace strew::inline v0
