// Symbolic arithmetic: integers that are not known yet, as polynomials over symbols. A symbol is a number; who makes symbols keeps the table of
// what they stand for: extents and strides of tensors (Plan::symbols), or the scalars of a program for an NPU (compiler/import/pto/scalar.h).
//
// A Term, a number times a product of symbols, is all that planning needs: terms can be multiplied and compared exactly, which decides whether two
// loops over dynamic extents are contiguous. A Poly is a sum of terms. Tested by tests/unit/compiler/plan/term_test.cc and
// tests/golden/plan_test.cc.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "strew/export.h"

namespace strew::inline v0 {

using SymbolId = int;

/// factor * product of symbols. Zero has no symbols, so that equal terms compare equal.
struct Term {
  int64_t factor = 0;
  std::vector<SymbolId> symbols;  ///< sorted, with repeats

  bool is_static() const { return symbols.empty(); }
  bool is(int64_t value) const { return symbols.empty() && factor == value; }
  friend bool operator==(const Term&, const Term&) = default;
  friend auto operator<=>(const Term& a, const Term& b) {
    const auto order = a.symbols <=> b.symbols;
    return order != 0 ? order : a.factor <=> b.factor;
  }
};
STREW_API Term constant(int64_t value);
/// Of factors whose product fits 64 bits: the elements of tensors do.
STREW_API Term operator*(const Term& a, const Term& b);
/// The greatest term that divides all of them: the greatest common divisor of the factors, times the symbols that all have, and negative if no
/// factor is positive. Zeros count as divisible by anything; of nothing else it is 1.
Term common_factor(const std::vector<Term>& terms);
/// a / b, where b divides a whatever the symbols stand for.
STREW_API std::optional<Term> quotient(const Term& a, const Term& b);
/// The term's value. `values`: one number per symbol; may be null if the term is static.
int64_t evaluate(const Term& term, const int64_t* values);

/// A sum of at most 8 terms of at most 4 symbols. Equal polynomials compare equal, since their terms are sorted.
class Poly {
 public:
  Poly() = default;
  Poly(int64_t constant);  // NOLINT(google-explicit-constructor): numbers are polynomials
  static Poly symbol(SymbolId id);

  const std::vector<Term>& terms() const { return terms_; }
  std::optional<int64_t> constant() const;
  bool is(int64_t value) const { return constant() == std::optional(value); }
  bool has(SymbolId id) const;
  /// If every term has `id` at most once: the polynomial that `id` is multiplied by; `rest` gets the terms without `id`.
  std::optional<Poly> factor_of(SymbolId id, Poly& rest) const;
  /// The polynomial divided by `divisor`; nullopt if a factor is no multiple of it.
  std::optional<Poly> divided_by(int64_t divisor) const;
  /// The symbol, if the polynomial is exactly one symbol.
  std::optional<SymbolId> alone() const;

  friend auto operator<=>(const Poly&, const Poly&) = default;

 private:
  friend std::optional<Poly> sum(const Poly& a, const Poly& b, int64_t sign);
  friend std::optional<Poly> product(const Poly& a, const Poly& b);
  std::vector<Term> terms_;  ///< sorted by symbols, each list of symbols once, no factor 0
};

/// Both return nullopt if a factor overflows or the result has too many terms or symbols.
std::optional<Poly> sum(const Poly& a, const Poly& b, int64_t sign = 1);
std::optional<Poly> product(const Poly& a, const Poly& b);

}  // namespace strew::inline v0
