// See index_statistics.h.
#include "runtime/record/index_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
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

/// Walks the index positions in row-major order, and finds the place of each: its index vector as one number, in row-major order of the
/// operand's dims.
class Places {
 public:
  Places(const Op& op, const TensorView& table, const TensorView& indices)
      : dims_(op), indices_(indices), extents_(indices.dims, indices.dims + indices.rank), at_(extents_.size(), 0) {
    strides_ = indices.strides != nullptr ? std::vector<int64_t>(indices.strides, indices.strides + indices.rank)
                                          : contiguous_strides(extents_);
    wraps_ = normalizes_negative(op);
    components_.resize(dims_.components.size());
    for (size_t d = dims_.operand.size(); d-- > 0;) {
      if (dims_.operand[d].component < 0) continue;
      components_[static_cast<size_t>(dims_.operand[d].component)] = {rows_, table.dims[d]};
      rows_ *= std::max<int64_t>(1, table.dims[d]);
    }
    for (const AccessDims::Position& position : dims_.positions)
      if (position.operand_dim >= 0) batch_dims_.push_back(static_cast<size_t>(position.indices_dim));
    is_done_ = std::find(extents_.begin(), extents_.end(), 0) != extents_.end();
  }

  int64_t rows() const { return rows_; }
  bool is_done() const { return is_done_; }
  /// The number of the position's batch, in row-major order of the batching dims.
  int64_t batch() const {
    int64_t out = 0;
    for (const size_t d : batch_dims_) out = out * extents_[d] + at_[d];
    return out;
  }
  /// -1: the index vector is outside of the table.
  int64_t place() const {
    int64_t element = 0, out = 0;
    for (size_t d = 0; d < at_.size(); ++d) element += at_[d] * strides_[d];
    const int64_t step = dims_.scalar_indices ? 0 : strides_[static_cast<size_t>(dims_.index_vector_dim)];
    for (const Component& component : components_) {
      int64_t value = decode_i64(indices_.dtype, load_element(indices_.dtype, indices_.data, element).bits[0]);
      if (wraps_ && value < 0 && value >= -component.extent) value += component.extent;
      if (value < 0 || value >= component.extent) return -1;
      out += value * component.weight;
      element += step;
    }
    return out;
  }
  void next() {
    for (size_t d = at_.size(); d-- > 0;) {
      if (!dims_.scalar_indices && static_cast<int64_t>(d) == dims_.index_vector_dim) continue;
      if (++at_[d] < extents_[d]) return;
      at_[d] = 0;
    }
    is_done_ = true;
  }

 private:
  struct Component {
    int64_t weight = 0, extent = 0;
  };
  AccessDims dims_;
  const TensorView& indices_;
  std::vector<int64_t> extents_, strides_, at_;
  std::vector<size_t> batch_dims_;
  std::vector<Component> components_;
  int64_t rows_ = 1;
  bool wraps_ = false, is_done_ = false;
};

/// Of several batches, the places of the same rank in frequency are counted together: each batch has its own frequent rows.
std::vector<int64_t> counts_by_rank(const std::map<int64_t, std::unordered_map<int64_t, int64_t>>& batches) {
  std::vector<int64_t> all;
  for (const auto& [batch, places] : batches) {
    std::vector<int64_t> counts;
    for (const auto& [place, count] : places) counts.push_back(count);
    std::sort(counts.rbegin(), counts.rend());
    all.resize(std::max(all.size(), counts.size()));
    for (size_t rank = 0; rank < counts.size(); ++rank) all[rank] += counts[rank];
  }
  return all;
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
  Places at(op, view_of(op, tensors, is_scatter(op) ? Role::result : Role::operand), view_of(op, tensors, Role::indices));
  out.rows = at.rows();
  std::map<int64_t, std::unordered_map<int64_t, int64_t>> batches;
  int64_t runs = 0, run = 0, ascending = 0, last_place = -1, last_batch = -1;
  const auto end_run = [&] {
    if (run > 0) ++out.runs[std::min<size_t>(std::bit_width(static_cast<uint64_t>(run)) - 1, out.runs.size() - 1)];
    run = 0;
  };
  for (; !at.is_done() && out.positions + out.outside < kMostPositions; at.next()) {
    const int64_t place = at.place(), batch = at.batch();
    if (place < 0) {
      ++out.outside;
      continue;
    }
    ++out.positions;
    ++batches[batch][place];
    const bool follows = batch == last_batch;
    ascending += !follows || place >= last_place ? 1 : 0;
    if (!follows || place != last_place) {
      end_run();
      ++runs;
    }
    ++run;
    last_place = place;
    last_batch = batch;
  }
  end_run();
  if (out.positions == 0) return out;
  const std::vector<int64_t> counts = counts_by_rank(batches);
  const auto all = static_cast<double>(out.positions);
  out.batches = static_cast<int64_t>(batches.size());
  for (const auto& [batch, places] : batches) out.distinct += static_cast<int64_t>(places.size());
  out.top_share = static_cast<double>(counts[0]) / all;
  out.second_share = counts.size() > 1 ? static_cast<double>(counts[1]) / all : 0;
  out.ascending = static_cast<double>(ascending) / all;
  out.run_length = all / static_cast<double>(runs);
  out.zipf = fitted_exponent(counts);
  return out;
}

std::string distribution_of(const IndexStatistics& s) {
  if (s.positions < 2 * s.batches || s.positions < 2) return "uniform";
  const auto n = static_cast<double>(s.positions), in_batch = n / static_cast<double>(s.batches);
  if (s.ascending > 0.999 && s.distinct > s.batches) return "sorted";
  // Of independent draws, a run is as long as two that follow one another are the same place by chance.
  const double same = s.top_share * s.top_share + s.second_share * s.second_share, by_chance = 1 / std::max(1e-9, 1 - same);
  if (s.run_length > 1.5 * by_chance && s.distinct > s.batches) return with_number("runs", s.run_length);
  if (s.top_share > 0.1 && s.second_share < s.top_share / 16) return with_number("hot", s.top_share);
  if (s.zipf > 0.4 && s.top_share > 4 / std::max(1.0, static_cast<double>(s.rows))) return with_number("zipf", s.zipf);
  // So many pairs of equal places would be expected of independent draws.
  const double expected_pairs = n * in_batch / 2 / static_cast<double>(std::max<int64_t>(1, s.rows));
  return s.distinct == s.positions && expected_pairs > 5 ? "permutation" : "uniform";
}

}  // namespace strew::inline v0
