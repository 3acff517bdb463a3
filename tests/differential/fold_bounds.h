// FoldBounds: the results that a scatter of order `relaxed` may have where several float updates meet at one
// destination.
//
// Such folds may be regrouped, so the reference's bits are only one of several correct results. For each destination
// with two or more updates this class computes the fold in long double, and a bound that every order and grouping
// obeys. Each of the n combines rounds once, with unit roundoff u. So the error of a sum is at most ((1 + u)^n - 1) *
// sum |x|, and that of a product or quotient at most ((1 + u)^n - 1) * |product|, provided that no partial result can
// overflow (Higham, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4). If one of the values is a NaN,
// every order gives a NaN. Destinations whose partial results may overflow are not compared.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "tests/differential/call.h"
#include "tests/differential/geometry.h"

namespace strew::test {

/// Is the order of the op's updates open, that is, may it change bits? Not for exact combiners (integers, min and
/// max).
bool order_is_open(const Op& op);

class FoldBounds {
 public:
  /// Reads the call's inputs, so it must be made before an engine has written results. Requires
  /// order_is_open(call.op()).
  FoldBounds(const Call& call, const Geometry& geometry, const IndexValues& values);

  /// Is element `number` (row-major) of result `i` compared with a bound? It is if it has two or more updates.
  bool is_open(size_t i, size_t number) const { return folds_[i][number].updates > 1; }
  /// The first element that is outside its bound, as text.
  std::optional<std::string> first_outside(const Call& call, const Call::Image& actual) const;
  /// Copies the elements that have a bound from `from` to `to`, so that the remaining ones can be compared bit for
  /// bit.
  void copy_open(const Call& call, const Call::Image& from, Call::Image& to) const;
  int64_t bounded() const;  ///< how many elements first_outside() compares

 private:
  using Complex = std::complex<long double>;
  struct Fold {
    int updates = 0;
    bool nan = false, infinite = false;
    Complex value;           ///< the fold of a sum or product
    long double weight = 0;  ///< sums: sum |x|; products: the largest modulus that a partial product may have
  };
  struct Element {
    bool bounded = false, nan = false;
    Complex value;
    long double error = 0;
  };
  void start(const Call& call, size_t i);
  void add(Fold& fold, const Scalar& update) const;
  Element element(const Fold& fold, size_t i) const;

  CombinerKind kind_;
  std::optional<DType> accumulator_;  ///< dtype of the accumulator of wide accumulation
  std::vector<DType> results_;
  std::vector<std::vector<Fold>> folds_;  ///< per result and element
};

}  // namespace strew::test
