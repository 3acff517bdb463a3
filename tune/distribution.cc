// See distribution.h.
#include "tune/distribution.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "tune/random.h"

namespace strew::inline v0 {
namespace {

struct KindRow {
  Distribution::Kind kind;
  std::string_view name;
  double least, most;  ///< bounds of the parameter; equal: there is none
};
constexpr KindRow kKinds[] = {
    {Distribution::Kind::uniform, "uniform", 0, 0}, {Distribution::Kind::zipf, "zipf", 1e-3, 16},
    {Distribution::Kind::sorted, "sorted", 0, 0},   {Distribution::Kind::runs, "runs", 1, 1e9},
    {Distribution::Kind::hot, "hot", 0, 1},         {Distribution::Kind::permutation, "permutation", 0, 0},
};
constexpr std::string_view kExpected =
    "expected uniform, zipf(s) with s from 0.001 to 16, sorted, runs(n) with n from 1 to 1e9, hot(p) with p from 0 to 1, "
    "permutation, or a "
    "file whose name ends in .npy";

/// A permutation of [0, rows) that takes no memory: a Feistel network over the next power of four, walked until it is in range.
class Permutation {
 public:
  Permutation(int64_t rows, uint64_t seed) : rows_(static_cast<uint64_t>(rows)), seed_(seed) {
    half_bits_ = static_cast<int>(std::bit_width(std::max<uint64_t>(rows_, 2) - 1) + 1) / 2;
  }
  int64_t operator[](int64_t at) const {
    auto value = static_cast<uint64_t>(at);
    do value = step(value);
    while (value >= rows_);
    return static_cast<int64_t>(value);
  }

 private:
  uint64_t step(uint64_t value) const {
    const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
    uint64_t left = value >> half_bits_, right = value & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (mixed(right + (round << 60) + seed_) & mask);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  uint64_t rows_, seed_;
  int half_bits_;
};

/// Draws ranks 1..n with probabilities proportional to rank^-s, by rejection-inversion (Hoermann and Derflinger, 1996): the area below
/// the curve x^-s is inverted, and a rank is rejected where its bar lies below the curve.
class ZipfRanks {
 public:
  ZipfRanks(int64_t n, double s) : n_(static_cast<double>(n)), s_(s) {
    first_ = area(1.5) - 1;
    last_ = area(n_ + 0.5);
  }
  int64_t draw(Random& random) const {
    for (;;) {
      const double at = last_ + random.unit() * (first_ - last_), x = inverse(at);
      const double rank = std::clamp(std::floor(x + 0.5), 1.0, n_);
      if (at >= area(rank + 0.5) - std::pow(rank, -s_)) return static_cast<int64_t>(rank);
    }
  }

 private:
  // (x^(1-s) - 1) / (1-s), which becomes log(x) where s becomes 1; exact near 1, too.
  double area(double x) const { return s_ == 1 ? std::log(x) : std::expm1((1 - s_) * std::log(x)) / (1 - s_); }
  double inverse(double y) const { return s_ == 1 ? std::exp(y) : std::exp(std::log1p(y * (1 - s_)) / (1 - s_)); }
  double n_, s_, first_, last_;
};

/// Each row about `length` times in a row: a new row begins with the probability that gives this mean.
std::vector<int64_t> draw_runs(int64_t count, int64_t rows, double length, Random& random) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  int64_t row = random.below(rows);
  for (int64_t& each : out) {
    if (random.unit() * length < 1) row = random.below(rows);
    each = row;
  }
  return out;
}

Status illegal(std::string_view text) {
  return invalid_argument("indices: '" + std::string(text) + "', " + std::string(kExpected));
}

}  // namespace

Expected<Distribution> parse_distribution(std::string_view text) {
  if (text.ends_with(".npy")) return Distribution{Distribution::Kind::file, 0, std::string(text)};
  const size_t open = text.find('(');
  const std::string_view name = text.substr(0, open);
  for (const KindRow& row : kKinds) {
    if (name != row.name) continue;
    const bool takes_parameter = row.least < row.most;
    if (takes_parameter != (open != std::string_view::npos)) return illegal(text);
    Distribution out{row.kind, 0, {}};
    if (!takes_parameter) return out;
    if (!text.ends_with(')')) return illegal(text);
    const std::string_view number = text.substr(open + 1, text.size() - open - 2);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.parameter);
    const bool is_good = error == std::errc() && end == number.data() + number.size();
    if (!is_good || !(out.parameter >= row.least && out.parameter <= row.most)) return illegal(text);
    return out;
  }
  return illegal(text);
}

std::string print(const Distribution& distribution) {
  if (distribution.kind == Distribution::Kind::file) return distribution.file;
  for (const KindRow& row : kKinds) {
    if (row.kind != distribution.kind) continue;
    if (row.least == row.most) return std::string(row.name);
    std::array<char, 32> number;
    const auto end = std::to_chars(number.data(), number.data() + number.size(), distribution.parameter).ptr;
    return std::string(row.name) + "(" + std::string(number.data(), end) + ")";
  }
  return "invalid";
}

Expected<std::vector<int64_t>> draw_rows(const Distribution& distribution, int64_t count, int64_t rows, uint64_t seed) {
  using Kind = Distribution::Kind;
  if (count < 0 || (rows <= 0 && count > 0))
    return invalid_argument("indices: " + std::to_string(count) + " of " + std::to_string(rows) +
                            " rows, expected a row at least");
  Random random(seed);
  if (count == 0) return std::vector<int64_t>();
  if (distribution.kind == Kind::runs) return draw_runs(count, rows, distribution.parameter, random);
  if (distribution.kind == Kind::permutation && count > rows)
    return invalid_argument("indices: a permutation of " + std::to_string(rows) + " rows has no " + std::to_string(count) +
                            " different ones, expected another distribution or a larger table");
  std::vector<int64_t> out(static_cast<size_t>(count));
  const Permutation scattered(rows, seed);
  if (distribution.kind == Kind::permutation) {
    for (int64_t i = 0; i < count; ++i) out[static_cast<size_t>(i)] = scattered[i];
  } else if (distribution.kind == Kind::zipf) {
    const ZipfRanks ranks(rows, distribution.parameter);
    for (int64_t& each : out) each = scattered[ranks.draw(random) - 1];
  } else {
    const double hot = distribution.kind == Kind::hot ? distribution.parameter : 0;
    for (int64_t& each : out) each = random.unit() < hot ? 0 : random.below(rows);
  }
  if (distribution.kind == Kind::sorted) std::sort(out.begin(), out.end());
  return out;
}

}  // namespace strew::inline v0
