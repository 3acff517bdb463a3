// Scalars of a program: integers known as polynomials over what the program does not fix (arguments, core number, loop variables).
//
// Enough to see that tiles r, r + step * cores, ... cover a view exactly once; anything else becomes a symbol of its own that equals only
// itself. Arithmetic is taken as exact: an i32 that wraps is outside of what is lifted.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pto/ast.h"

namespace strew::pto {

using SymbolId = int32_t;

struct Term {
  std::vector<SymbolId> factors;  ///< sorted; a power is a repetition
  int64_t coefficient = 0;        ///< not 0
  friend auto operator<=>(const Term&, const Term&) = default;
};

class Poly {
 public:
  Poly() = default;
  Poly(int64_t constant);  // NOLINT(google-explicit-constructor): numbers are polynomials
  static Poly symbol(SymbolId id);

  const std::vector<Term>& terms() const { return terms_; }
  std::optional<int64_t> constant() const;
  bool is(int64_t value) const { return constant() == std::optional(value); }
  bool has(SymbolId id) const;
  /// The factor of `id`, when every term has it at most once; the rest goes to `rest`.
  std::optional<Poly> factor_of(SymbolId id, Poly& rest) const;
  /// this / divisor where every coefficient allows it.
  std::optional<Poly> divided_by(int64_t divisor) const;
  /// The symbol, if it is one alone.
  std::optional<SymbolId> alone() const;

  friend auto operator<=>(const Poly&, const Poly&) = default;

 private:
  friend std::optional<Poly> sum(const Poly& a, const Poly& b, int64_t sign);
  friend std::optional<Poly> product(const Poly& a, const Poly& b);
  std::vector<Term> terms_;  ///< sorted by factors
};

/// Nothing when a coefficient overflows or the polynomial grows beyond a few terms.
std::optional<Poly> sum(const Poly& a, const Poly& b, int64_t sign = 1);
std::optional<Poly> product(const Poly& a, const Poly& b);

enum class SymbolKind : uint8_t {
  argument,
  block_idx,
  block_num,
  loop,
  minimum,
  maximum,
  quotient,
  ceil_quotient,
  remainder,
  unknown
};

struct Symbol {
  SymbolKind kind = SymbolKind::unknown;
  std::string name;    ///< argument, loop: its name in the text; else what a message calls it
  int argument = 0;    ///< argument: which
  Poly a, b;           ///< minimum ... remainder: of what
  int weight = 1;      ///< how many symbols it takes to write it out
  uint32_t kinds = 0;  ///< a bit for every SymbolKind that stands in it
};

class Scalars {
 public:
  SymbolId add(SymbolKind kind, std::string name, int argument = 0);
  const Symbol& operator[](SymbolId id) const { return symbols_[static_cast<size_t>(id)]; }
  SymbolId block_idx();
  SymbolId block_num();
  bool uses_cores() const { return block_idx_ >= 0; }

  Poly add(const Poly& a, const Poly& b) { return or_unknown(sum(a, b)); }
  Poly subtract(const Poly& a, const Poly& b) { return or_unknown(sum(a, b, -1)); }
  Poly multiply(const Poly& a, const Poly& b) { return or_unknown(product(a, b)); }
  Poly minimum(const Poly& a, const Poly& b);
  Poly maximum(const Poly& a, const Poly& b);
  Poly quotient(const Poly& a, const Poly& b);
  Poly ceil_quotient(const Poly& a, const Poly& b);
  Poly remainder(const Poly& a, const Poly& b);
  /// What a scalar statement gives.
  Poly result(Opcode opcode, const Poly& a, const Poly& b);

  /// "16 * %n + 3".
  std::string text(const Poly& poly) const;
  /// Does nothing but arguments stand in it? Does a loop's variable or a core's number?
  bool only_arguments(const Poly& poly) const;
  bool moves(const Poly& poly) const;

 private:
  Poly or_unknown(std::optional<Poly> poly);
  uint32_t kinds(const Poly& poly) const;
  Poly derived(SymbolKind kind, const Poly& a, const Poly& b);

  std::vector<Symbol> symbols_;
  std::map<std::pair<SymbolKind, std::pair<Poly, Poly>>, SymbolId> derived_;
  SymbolId block_idx_ = -1, block_num_ = -1;
};

}  // namespace strew::pto
