// See random_indices.h. Tested by tests/unit/differential/differential_test.cc.
#include "tests/differential/random_indices.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/support/elements.h"

namespace strew::test {
namespace {

class Maker {
 public:
  Maker(Rng& rng, const Geometry& g) : rng_(rng), g_(g), components_(g.map.size()) {
    for (const DType dtype : g.index_dtypes) {
      const bool is_signed = is_signed_integer(dtype);
      const Wide past = static_cast<Wide>(1) << (bits(dtype) - (is_signed ? 1 : 0));
      least_.push_back(is_signed ? -past : 0);
      most_.push_back(past - 1);
    }
  }

  IndexValues make(Pattern pattern);
  IndexValues sorted_in_every_component(bool in_range);

 private:
  Wide inside(size_t k) {
    const Wide last = std::min<Wide>(g_.bound(k), most_[k]);
    return last <= 0 ? 0 : static_cast<Wide>(rng_.below(static_cast<int64_t>(last) + 1));
  }
  Wide representable(Wide value, size_t k) { return value < least_[k] || value > most_[k] ? inside(k) : value; }
  /// The negative value that means the same start, if the op normalises negative indices.
  Wide spelled(Wide value, size_t k) {
    const Wide other = value - g_.operand[static_cast<size_t>(g_.map[k])];
    return g_.normalize && other >= least_[k] && rng_.chance(40) ? other : value;
  }
  Wide outside(size_t k, Pattern pattern);
  Wide extreme(size_t k);
  std::vector<Wide> tuple();
  IndexValues from_tuples(const std::vector<std::vector<Wide>>& tuples, bool respell);
  IndexValues distinct();
  std::vector<std::vector<Wide>> tuples(int64_t count) {
    std::vector<std::vector<Wide>> out;
    for (int64_t i = 0; i < count; ++i) out.push_back(tuple());
    return out;
  }

  Rng& rng_;
  const Geometry& g_;
  size_t components_;
  std::vector<Wide> least_, most_;  // per component
};

std::vector<Wide> Maker::tuple() {
  std::vector<Wide> out;
  for (size_t k = 0; k < components_; ++k) out.push_back(inside(k));
  return out;
}

IndexValues Maker::from_tuples(const std::vector<std::vector<Wide>>& tuples, bool respell) {
  IndexValues values;
  for (const std::vector<Wide>& tuple : tuples)
    for (size_t k = 0; k < components_; ++k) values.push_back(respell ? spelled(tuple[k], k) : tuple[k]);
  return values;
}

/// A start just beyond either end, or one whose window hangs over an end.
Wide Maker::outside(size_t k, Pattern pattern) {
  const auto d = static_cast<size_t>(g_.map[k]);
  const Wide dim = g_.operand[d], window = g_.window[d], last = dim - window;
  switch (pattern) {
    case Pattern::low:
      return -1 - static_cast<Wide>(rng_.below(static_cast<int64_t>(dim + window) + 3));
    case Pattern::high:
      return std::max<Wide>(last, -1) + 1 + static_cast<Wide>(rng_.below(static_cast<int64_t>(dim + window) + 3));
    case Pattern::clipped: {
      const auto over = static_cast<Wide>(rng_.below(static_cast<int64_t>(std::max<Wide>(window, 1)))) + 1;
      return rng_.chance(50) ? -over : last + over;
    }
    default:
      break;
  }
  const std::array<Wide, 14> around{0,   1,       -1,   last,     last + 1, last - 1, dim - 1,
                                    dim, dim + 1, -dim, -dim - 1, -dim + 1, -window,  1 - window};
  return around[static_cast<size_t>(rng_.below(static_cast<int64_t>(around.size())))];
}

Wide Maker::extreme(size_t k) {
  const Wide dim = std::max<Wide>(g_.operand[static_cast<size_t>(g_.map[k])], 1);
  const Wide two32 = static_cast<Wide>(1) << 32, two31 = two32 / 2, two63 = two31 * two32;
  const std::array<Wide, 18> list{least_[k],
                                  most_[k],
                                  least_[k] + 1,
                                  most_[k] - 1,
                                  two31,
                                  two31 - 1,
                                  -two31,
                                  -two31 - 1,
                                  two32 - 1,
                                  two32 + inside(k),
                                  -two32 + inside(k),
                                  two63,
                                  two63 + inside(k),
                                  most_[k] - inside(k),
                                  least_[k] + inside(k),
                                  (most_[k] / dim) * dim,
                                  (most_[k] / dim) * dim - 1,
                                  (least_[k] / dim) * dim};
  return list[static_cast<size_t>(rng_.below(static_cast<int64_t>(list.size())))];
}

/// Windows on a grid of their own size, different for all positions of a batch; random ones if the grid has too few
/// cells.
IndexValues Maker::distinct() {
  std::vector<int64_t> cells;
  int64_t grid = 1;
  for (size_t k = 0; k < components_; ++k) {
    const auto d = static_cast<size_t>(g_.map[k]);
    const int64_t window = std::max<int64_t>(g_.window[d], 1);
    int64_t count = std::max<int64_t>(g_.operand[d] / window, 1);
    while (count > 1 && static_cast<Wide>(count - 1) * window > most_[k]) --count;
    cells.push_back(count);
    grid *= count;
  }
  std::vector<int64_t> strides = contiguous_strides(cells);
  std::vector<int64_t> order(static_cast<size_t>(std::min<int64_t>(grid, 100000)));
  std::iota(order.begin(), order.end(), 0);
  const int64_t positions = g_.position_count();
  std::vector<bool> batched(g_.positions.size(), false);
  for (int p : g_.batch_position)
    if (p >= 0) batched[static_cast<size_t>(p)] = true;
  const std::vector<int64_t> position_strides = contiguous_strides(g_.positions);
  rng_.shuffle(order);
  IndexValues values;
  for (int64_t p = 0; p < positions; ++p) {
    int64_t free = 0;
    for (size_t d = 0; d < batched.size(); ++d)
      if (!batched[d]) free = free * g_.positions[d] + p / position_strides[d] % g_.positions[d];
    const int64_t cell = order[static_cast<size_t>(free) % order.size()];
    for (size_t k = 0; k < components_; ++k) {
      const auto d = static_cast<size_t>(g_.map[k]);
      values.push_back(spelled(static_cast<Wide>(cell / strides[k] % cells[k]) * std::max<int64_t>(g_.window[d], 1), k));
    }
  }
  return values;
}

IndexValues Maker::make(Pattern pattern) {
  const int64_t positions = g_.position_count();
  if (pattern == Pattern::unique) return distinct();
  std::vector<std::vector<Wide>> list = tuples(positions);
  switch (pattern) {
    case Pattern::duplicated: {
      const std::vector<std::vector<Wide>> few = tuples(std::max<int64_t>(1, positions / 3));
      for (std::vector<Wide>& t : list) t = rng_.pick(few);
      return from_tuples(list, true);
    }
    case Pattern::sorted:
      std::sort(list.begin(), list.end());
      return from_tuples(list, false);
    case Pattern::reversed:
      std::sort(list.rbegin(), list.rend());
      return from_tuples(list, false);
    case Pattern::same:
      for (std::vector<Wide>& t : list) t = list[0];
      return from_tuples(list, rng_.chance(50));
    case Pattern::borders:
      for (std::vector<Wide>& t : list)
        for (size_t k = 0; k < components_; ++k) t[k] = rng_.chance(50) ? 0 : representable(std::max<Wide>(g_.bound(k), 0), k);
      return from_tuples(list, true);
    default:
      break;
  }
  IndexValues values = from_tuples(list, true);
  const size_t bad = positions > 0 ? static_cast<size_t>(rng_.below(positions)) : 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t k = i % components_;
    if (pattern == Pattern::random || (pattern == Pattern::one_bad && i / components_ != bad)) continue;
    if (pattern != Pattern::one_bad && pattern != Pattern::edges && rng_.chance(45)) continue;
    const Pattern how =
        pattern == Pattern::one_bad || pattern == Pattern::chaos
            ? static_cast<Pattern>(rng_.between(static_cast<int>(Pattern::low), static_cast<int>(Pattern::extremes)))
            : pattern;
    values[i] = representable(how == Pattern::extremes ? extreme(k) : outside(k, how), k);
  }
  return values;
}

IndexValues Maker::sorted_in_every_component(bool in_range) {
  const auto positions = static_cast<size_t>(g_.position_count());
  IndexValues values(positions * components_);
  for (size_t k = 0; k < components_; ++k) {
    std::vector<Wide> column;
    for (size_t p = 0; p < positions; ++p) {
      const Wide beyond = inside(k) + static_cast<Wide>(rng_.below(4)) * g_.operand[static_cast<size_t>(g_.map[k])] / 2;
      column.push_back(in_range ? inside(k) : representable(beyond, k));
    }
    std::sort(column.begin(), column.end());
    for (size_t p = 0; p < positions; ++p) values[p * components_ + k] = column[p];
  }
  return values;
}

}  // namespace

std::string_view name(Pattern pattern) {
  static constexpr std::array<std::string_view, kPatternCount> kNames{"random",  "duplicated", "sorted",  "reversed", "same",
                                                                      "unique",  "borders",    "low",     "high",     "edges",
                                                                      "clipped", "extremes",   "one_bad", "chaos"};
  return kNames[static_cast<size_t>(pattern)];
}

IndexValues random_indices(Rng& rng, const Geometry& geometry, Pattern pattern, bool sorted_hint) {
  Maker maker(rng, geometry);
  return sorted_hint ? maker.sorted_in_every_component(is_in_range(pattern)) : maker.make(pattern);
}

}  // namespace strew::test
