// See fold_bounds.h. long double has eleven more bits than f64 on x86-64 (sixty more on AArch64), so its own rounding
// is less than a hundredth of the bound. Tested by tests/unit/differential/fold_bounds_test.cc.
#include "tests/differential/fold_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number.h"
#include "tests/support/elements.h"

namespace strew::test {
namespace {

/// The range and precision of a float dtype.
struct Range {
  long double roundoff, largest, smallest;  ///< half an ulp of 1; largest finite value; smallest positive value
};

Range range_of(DType dtype) {
  const DTypeInfo& row = info(part_dtype(dtype));
  Range range{std::ldexp(1.0L, -row.mantissa_bits - 1), 0, std::ldexp(1.0L, 1 - row.bias - row.mantissa_bits)};
  // In some formats the largest code is an infinity or a NaN. Then the first finite code below is taken.
  const uint64_t top = (uint64_t{1} << (row.exponent_bits + row.mantissa_bits)) - 1;
  for (uint64_t code = top, step = 0; step < 2; ++step, code = (top >> row.mantissa_bits << row.mantissa_bits) - 1) {
    range.largest = decode(row.dtype, code);
    if (std::isfinite(range.largest)) return range;
  }
  return range;
}

std::complex<long double> number(const Scalar& value) {
  const DType part = part_dtype(value.dtype);
  return {decode(part, real_bits(value)), is_complex(value.dtype) ? decode(part, imaginary_bits(value)) : 0.0};
}

bool is_product(CombinerKind kind) { return kind == CombinerKind::mul || kind == CombinerKind::div; }

/// The element numbers of the result's tensor, in row-major order.
std::vector<int64_t> elements_of(const TensorType& type) { return element_numbers(type.dims, strides_of(type)); }

}  // namespace

bool order_is_open(const Op& op) {
  const Scatter* s = std::get_if<Scatter>(&op);
  if (s == nullptr || s->order == Order::in_order) return false;
  using K = CombinerKind;
  const K kind = s->combiner;
  if (kind == K::expr || kind == K::div) return true;
  if (kind != K::add && kind != K::sub && kind != K::mul) return false;
  return std::any_of(s->results.begin(), s->results.end(),
                     [](const TensorType& t) { return is_float(t.dtype) || is_complex(t.dtype); });
}

FoldBounds::FoldBounds(const Call& call, const Geometry& geometry, const IndexValues& values) {
  const Scatter& op = std::get<Scatter>(call.op());
  kind_ = op.combiner;
  if (op.accumulate != Accumulate::native) accumulator_ = op.accumulate == Accumulate::wide_f64 ? DType::f64 : DType::f32;
  const size_t pairs = op.results.size();
  for (size_t i = 0; i < pairs; ++i) {
    results_.push_back(op.results[i].dtype);
    start(call, i);
  }
  const size_t first_update = (op.init == InitKind::copy ? 2 : 1) * pairs + 1;
  std::vector<std::vector<int64_t>> strides;
  for (size_t i = 0; i < pairs; ++i) strides.push_back(strides_of(op.updates[i]));
  const std::vector<int64_t>& window_dims = op.dims.window_dims;
  visit_touched(geometry, values, [&](const std::vector<int64_t>& position, const std::vector<int64_t>& window, int64_t element) {
    for (size_t i = 0; i < pairs; ++i) {
      int64_t at = 0;
      size_t p = 0, w = 0;
      for (size_t d = 0; d < strides[i].size(); ++d) {
        const bool in_window = std::find(window_dims.begin(), window_dims.end(), d) != window_dims.end();
        while (in_window && !geometry.has_window[w]) ++w;
        at += strides[i][d] * (in_window ? window[w++] : position[p++]);
      }
      const auto* updates = static_cast<const std::byte*>(call.views()[first_update + i].data);
      add(folds_[i][static_cast<size_t>(element)],
          convert(load_element(updates, op.updates[i].dtype, at), accumulator_.value_or(results_[i])));
    }
  });
}

/// Starts the folds with the values of the result before the first update.
void FoldBounds::start(const Call& call, size_t i) {
  const Scatter& op = std::get<Scatter>(call.op());
  const TensorType& type = op.init == InitKind::copy ? op.operands[i] : op.results[i];
  const auto* from = static_cast<const std::byte*>(call.views()[op.init == InitKind::copy ? op.results.size() + i : i].data);
  std::vector<Fold>& folds = folds_.emplace_back();
  for (const int64_t at : elements_of(type)) {
    const Scalar value = op.init == InitKind::fill ? op.fill[i] : convert(load_element(from, type.dtype, at), results_[i]);
    Fold fold;
    fold.value = number(value);
    fold.nan = std::isnan(fold.value.real()) || std::isnan(fold.value.imag());
    fold.infinite = std::isinf(fold.value.real()) || std::isinf(fold.value.imag());
    fold.weight =
        is_product(kind_) ? std::max(1.0L, std::abs(fold.value)) : std::abs(fold.value.real()) + std::abs(fold.value.imag());
    folds.push_back(fold);
  }
}

void FoldBounds::add(Fold& fold, const Scalar& update) const {
  Complex x = number(update);
  ++fold.updates;
  fold.nan = fold.nan || std::isnan(x.real()) || std::isnan(x.imag());
  fold.infinite = fold.infinite || std::isinf(x.real()) || std::isinf(x.imag());
  if (fold.nan || fold.infinite) return;
  if (kind_ == CombinerKind::div) {
    if (x == Complex(0)) {
      fold.infinite = true;
      return;
    }
    x = Complex(1) / x;
  }
  if (is_product(kind_)) {
    fold.value *= x;
    // Partial quotients are bounded by means of the divisors, which multiply the result by 1 / |x|.
    fold.weight *= std::max({1.0L, std::abs(x), kind_ == CombinerKind::div ? 1 / std::abs(x) : 1.0L});
  } else {
    fold.value += kind_ == CombinerKind::sub ? -x : x;
    fold.weight += std::abs(x.real()) + std::abs(x.imag());
  }
}

/// The value that the fold has in long double, and how far any order may be from it.
FoldBounds::Element FoldBounds::element(const Fold& fold, size_t i) const {
  Element out;
  if (kind_ == CombinerKind::expr || !(is_float(results_[i]) || is_complex(results_[i]))) return out;
  const Range range = range_of(accumulator_.value_or(results_[i])), narrow = range_of(results_[i]);
  // A complex product or quotient has about a dozen roundings.
  const long double roundings = static_cast<long double>(fold.updates) * (is_complex(results_[i]) && is_product(kind_) ? 12 : 1);
  const long double relative = std::expm1(roundings * std::log1p(range.roundoff));
  if (fold.nan) out.bounded = out.nan = !is_complex(results_[i]) || !is_product(kind_);
  if (fold.nan || fold.infinite) return out;
  const long double most = fold.weight * (1 + relative);
  if (!(most < std::min(range.largest, narrow.largest) / 4)) return out;
  out.bounded = true;
  out.value = fold.value;
  out.error =
      is_product(kind_) ? relative * std::abs(fold.value) + roundings * 4 * range.smallest * fold.weight : relative * fold.weight;
  if (accumulator_) out.error += narrow.roundoff * (std::abs(fold.value) + out.error) + narrow.smallest;
  out.error *= 1.01L;
  return out;
}

int64_t FoldBounds::bounded() const {
  int64_t count = 0;
  for (size_t i = 0; i < folds_.size(); ++i)
    for (const Fold& fold : folds_[i]) count += fold.updates > 1 && element(fold, i).bounded;
  return count;
}

std::optional<std::string> FoldBounds::first_outside(const Call& call, const Call::Image& actual) const {
  const Scatter& op = std::get<Scatter>(call.op());
  for (size_t i = 0; i < actual.size(); ++i) {
    const std::vector<int64_t> elements = elements_of(op.results[i]);
    for (size_t e = 0; e < elements.size(); ++e) {
      if (!is_open(i, e)) continue;
      const Element want = element(folds_[i][e], i);
      if (!want.bounded) continue;
      const Scalar scalar = load_element(actual[i].data() + call.origin_offset(static_cast<int>(i)), results_[i], elements[e]);
      const Complex got = number(scalar);
      const bool is_nan = std::isnan(got.real()) || std::isnan(got.imag());
      if (want.nan ? is_nan : std::abs(got - want.value) <= want.error) continue;
      return fmt::format("result {}: element {} (row-major) of {} updates in any order: expected {}, got {}", i, e,
                         folds_[i][e].updates,
                         want.nan ? "a NaN" : fmt::format("{}{:+}i within {}", want.value.real(), want.value.imag(), want.error),
                         fmt::format("{}{:+}i = {}", got.real(), got.imag(), bits_text(scalar)));
    }
  }
  return std::nullopt;
}

void FoldBounds::copy_open(const Call& call, const Call::Image& from, Call::Image& to) const {
  const Scatter& op = std::get<Scatter>(call.op());
  for (size_t i = 0; i < to.size(); ++i) {
    const std::vector<int64_t> elements = elements_of(op.results[i]);
    const int64_t origin = call.origin_offset(static_cast<int>(i));
    for (size_t e = 0; e < elements.size(); ++e)
      if (is_open(i, e))
        store_element(to[i].data() + origin, load_element(from[i].data() + origin, results_[i], elements[e]), elements[e]);
  }
}

}  // namespace strew::test
