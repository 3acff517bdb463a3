// Scalars of a program: integers as polynomials over symbols, the integers that the program text does not determine (arguments, core
// number, loop variables, and minima, quotients and remainders of those).
//
// Polynomials suffice to see that the tiles r, r + step * cores, ... cover a view exactly once. Every other integer becomes an unknown
// symbol, equal only to itself. Arithmetic is taken as exact: programs whose i32 arithmetic wraps are not supported.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/term.h"
#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

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
  const Symbol& operator[](SymbolId id) const { return symbols_[id]; }
  SymbolId block_idx();
  SymbolId block_num();
  bool uses_cores() const { return block_idx_ >= 0; }

  Poly add(const Poly& a, const Poly& b) { return or_unknown(sum(a, b)); }
  Poly subtract(const Poly& a, const Poly& b) { return or_unknown(sum(a, b, -1)); }
  Poly multiply(const Poly& a, const Poly& b) { return or_unknown(product(a, b)); }
  Poly ceil_quotient(const Poly& a, const Poly& b) { return divided(SymbolKind::ceil_quotient, a, b); }
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
  Poly extreme(SymbolKind kind, const Poly& a, const Poly& b);  ///< minimum or maximum
  Poly divided(SymbolKind kind, const Poly& a, const Poly& b);  ///< quotient, ceil_quotient or remainder
  Poly derived(SymbolKind kind, const Poly& a, const Poly& b);

  std::vector<Symbol> symbols_;
  std::map<std::pair<SymbolKind, std::pair<Poly, Poly>>, SymbolId> derived_;
  SymbolId block_idx_ = -1, block_num_ = -1;
};

}  // namespace strew::inline v0::pto
