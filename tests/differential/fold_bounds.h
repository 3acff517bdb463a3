// FoldBounds: which results may a scatter of order `relaxed` have where float updates meet at one destination?
//
// Such folds may be regrouped, so the reference's bits are only one of several right answers. For each destination with two or more updates
// this computes the fold in long double and a bound that every order and grouping obeys: each of the n combines rounds once, with unit
// roundoff u, so a sum is off by at most ((1 + u)^n - 1) * sum |x| and a product or quotient by ((1 + u)^n - 1) * |product|, as long as no
// partial result can overflow (Higham, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4). A NaN among the values makes
// every order's result a NaN. Destinations whose partial results may overflow are not compared.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "tests/differential/call.h"
#include "tests/differential/geometry.h"

namespace strew::test {

/// Does the order of the op's updates change bits that its order `relaxed` leaves open? Not for exact combiners (integers, min and max).
bool order_is_open(const Op& op);

class FoldBounds {
 public:
  /// Reads the call's inputs, before any engine has written results. order_is_open(call.op()).
  FoldBounds(const Call& call, const Geometry& geometry, const IndexValues& values);

  /// Is element `number` (row-major) of result `i` one that this bounds: two updates or more?
  bool is_open(size_t i, size_t number) const { return folds_[i][number].updates > 1; }
  /// The first element outside its bound, in words.
  std::optional<std::string> first_outside(const Call& call, const Call::Image& actual) const;
  /// Copies those elements that are bounded only, so that what is left can be compared bit for bit.
  void copy_open(const Call& call, const Call::Image& from, Call::Image& to) const;
  int64_t bounded() const;  ///< elements that first_outside() looks at

 private:
  using Complex = std::complex<long double>;
  struct Fold {
    int updates = 0;
    bool nan = false, infinite = false;
    Complex value;           ///< of sums and products
    long double weight = 0;  ///< sums: sum |x|; products: the largest that a partial product's modulus may be
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
  std::optional<DType> accumulator_;  ///< of wide accumulation
  std::vector<DType> results_;
  std::vector<std::vector<Fold>> folds_;  ///< per result and element
};

}  // namespace strew::test
