// Arithmetic on extents that files and calls give: counts, sums and products that may not fit 64 bits. Every extent that is computed, when a
// file is read, a program is run or a plan is made, is computed by these, so an overflow is an error with a message and never a small number
// that passes the checks behind it. Tested by tests/unit/base/checked_test.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace strew::inline v0::checked {

/// The exact results; nothing if they do not fit.
inline std::optional<int64_t> add(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}
inline std::optional<int64_t> sub(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_sub_overflow(a, b, &out)) return std::nullopt;
  return out;
}
inline std::optional<int64_t> mul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// How many steps of `step` >= 1 it takes to cover `length`: length / step, rounded up. 0 if `length` is negative.
constexpr int64_t ceil_div(int64_t length, int64_t step) {
  return length <= 0 ? 0 : length / step + (length % step != 0 ? 1 : 0);
}

/// |value|, which fits an unsigned number even of the least int64_t.
constexpr uint64_t magnitude(int64_t value) {
  return value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
}

/// How many elements there are from `first` on in steps of `step` (not 0) before `last` is reached or passed, as of a range in Python.
/// Nothing if the count does not fit.
inline std::optional<int64_t> steps(int64_t first, int64_t last, int64_t step) {
  const bool goes_up = step > 0;
  if (goes_up ? first >= last : first <= last) return 0;
  const auto from = static_cast<uint64_t>(first), to = static_cast<uint64_t>(last);
  const uint64_t length = goes_up ? to - from : from - to, each = magnitude(step);  // both exact: at most 2^64 - 1
  const uint64_t count = length / each + (length % each != 0 ? 1 : 0);
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(count);
}

/// The product of extents, all 0 or more. 0 if one is 0, even where the others alone would not fit.
inline std::optional<int64_t> product(std::span<const int64_t> extents) {
  std::optional<int64_t> out = 1;
  bool is_empty = false;
  for (const int64_t extent : extents) {
    is_empty = is_empty || extent == 0;
    if (out && extent != 0) out = mul(*out, extent);
  }
  return is_empty ? 0 : out;
}

}  // namespace strew::inline v0::checked
