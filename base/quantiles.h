// Quantiles, and a median with its confidence interval: what a measurement tells of many samples. All of it is in this header, because
// benchmarks link only what libstrew exports. Tested by tests/unit/tune/turns_test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace strew::inline v0 {

/// 0 if there are no values.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// A median, and an interval that contains the median of all possible samples with a probability of 95 %, whatever their
/// distribution. With fewer than six values, the interval is from the least to the largest of them.
struct MedianRange {
  double median = 0, low = 0, high = 0;
};
/// Ratios that follow one another: of the last to the first.
inline MedianRange operator*(const MedianRange& a, const MedianRange& b) {
  return {a.median * b.median, a.low * b.low, a.high * b.high};
}
inline MedianRange inverse(const MedianRange& ratio) { return {1 / ratio.median, 1 / ratio.high, 1 / ratio.low}; }

inline MedianRange median_range(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  // The number of values below the true median is binomial: mean n/2, standard deviation sqrt(n)/2.
  const auto n = static_cast<double>(values.size());
  const double reach = 1.96 * std::sqrt(n) / 2;
  const auto low = static_cast<size_t>(std::max(0.0, std::floor((n - 1) / 2 - reach)));
  return {values[values.size() / 2], values[low], values[values.size() - 1 - low]};
}

}  // namespace strew::inline v0
