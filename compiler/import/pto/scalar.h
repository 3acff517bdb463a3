// Scalars of a program: integers as polynomials over symbols, the integers that the program text does not determine (arguments, core
// number, loop variables, and minima, quotients and remainders of those).
//
// Polynomials suffice to see that the tiles r, r + step * cores, ... cover a view exactly once. Every other integer becomes an unknown
// symbol, equal only to itself. Arithmetic is taken as exact: programs whose i32 arithmetic wraps are not supported.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

using SymbolId = int32_t;

struct Term {
  std::vector<SymbolId> factors;  ///< sorted; a power is a repeated factor
  int64_t coefficient = 0;        ///< never 0
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
  /// If every term has `id` at most once: the polynomial that `id` is multiplied by; `rest` gets the terms without `id`.
  std::optional<Poly> factor_of(SymbolId id, Poly& rest) const;
  /// The polynomial divided by `divisor`; nullopt if a coefficient is no multiple of it.
  std::optional<Poly> divided_by(int64_t divisor) const;
  /// The symbol, if the polynomial is exactly one symbol.
  std::optional<SymbolId> alone() const;

  friend auto operator<=>(const Poly&, const Poly&) = default;

 private:
  friend std::optional<Poly> sum(const Poly& a, const Poly& b, int64_t sign);
  friend std::optional<Poly> product(const Poly& a, const Poly& b);
  std::vector<Term> terms_;  ///< sorted by factors
};

/// Both return nullopt if a coefficient overflows or the result has too many terms (see scalar.cc).
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
  std::string name;    ///< argument, loop: its name in the text; otherwise its name in messages
  int argument = 0;    ///< argument: its number
  Poly a, b;           ///< minimum to remainder: the operands
  int weight = 1;      ///< how many symbols the symbol's full definition contains
  uint32_t kinds = 0;  ///< a bit for every SymbolKind in the symbol's full definition
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
  /// The result of a scalar statement.
  Poly result(Opcode opcode, const Poly& a, const Poly& b);

  /// The polynomial as text: "16 * %n + 3".
  std::string text(const Poly& poly) const;
  /// only_arguments: does `poly` contain no symbols but arguments? moves: does it contain a loop variable or the core number?
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

}  // namespace strew::inline v0::pto
