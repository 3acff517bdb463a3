// See scalar.h. A full definition has at most 200 symbols. Beyond that, and beyond what a polynomial may have, a scalar becomes an unknown symbol. Tested by tests/unit/compiler/import/pto/pto_import_test.cc.
#include "compiler/import/pto/scalar.h"

#include <algorithm>

#include "base/partial_switch.h"

namespace strew::inline v0::pto {
namespace {

constexpr int kMaxWeight = 200;
constexpr size_t kMaxShownText = 200;

constexpr uint32_t bit(SymbolKind kind) { return uint32_t{1} << static_cast<uint32_t>(kind); }

}  // namespace

SymbolId Scalars::add(SymbolKind kind, std::string name, int argument) {
  const bool written = kind == SymbolKind::argument || kind == SymbolKind::loop;
  symbols_.push_back({kind, (written ? "%" : "") + std::move(name), argument, {}, {}, 1, bit(kind)});
  return static_cast<SymbolId>(symbols_.size()) - 1;
}

SymbolId Scalars::block_idx() {
  if (block_idx_ < 0) block_idx_ = add(SymbolKind::block_idx, "get_block_idx");
  return block_idx_;
}
SymbolId Scalars::block_num() {
  if (block_num_ < 0) block_num_ = add(SymbolKind::block_num, "get_block_num");
  return block_num_;
}

Poly Scalars::or_unknown(std::optional<Poly> poly) {
  return poly ? std::move(*poly) : Poly::symbol(add(SymbolKind::unknown, "a value too large to follow"));
}

Poly Scalars::derived(SymbolKind kind, const Poly& a, const Poly& b) {
  const auto [place, fresh] = derived_.try_emplace({kind, {a, b}}, static_cast<SymbolId>(symbols_.size()));
  if (!fresh) return Poly::symbol(place->second);
  int weight = 1;
  for (const Poly* poly : {&a, &b})
    for (const Term& term : poly->terms())
      for (const SymbolId id : term.symbols) weight += symbols_[static_cast<size_t>(id)].weight;
  if (weight > kMaxWeight) {
    add(SymbolKind::unknown, "a value too large to follow");
  } else {
    constexpr const char* kNames[] = {"min", "max", "floor", "ceil", "rem"};
    const bool quotient = kind == SymbolKind::quotient || kind == SymbolKind::ceil_quotient;
    const std::string name = std::string(kNames[static_cast<size_t>(kind) - static_cast<size_t>(SymbolKind::minimum)]) + "(" +
                             text(a) + (quotient ? " / " : ", ") + text(b) + ")";
    symbols_.push_back({kind, name, 0, a, b, weight, bit(kind) | kinds(a) | kinds(b)});
  }
  return Poly::symbol(place->second);
}

Poly Scalars::minimum(const Poly& a, const Poly& b) {
  if (a == b) return a;
  if (a.constant() && b.constant()) return std::min(*a.constant(), *b.constant());
  return a < b ? derived(SymbolKind::minimum, a, b) : derived(SymbolKind::minimum, b, a);
}

Poly Scalars::maximum(const Poly& a, const Poly& b) {
  if (a == b) return a;
  if (a.constant() && b.constant()) return std::max(*a.constant(), *b.constant());
  return a < b ? derived(SymbolKind::maximum, a, b) : derived(SymbolKind::maximum, b, a);
}

/// The quotient rounded towards zero. Programs write (x + 15) / 16 for a quotient rounded up, so that form becomes a ceil_quotient.
Poly Scalars::quotient(const Poly& a, const Poly& b) {
  const std::optional<int64_t> divisor = b.constant();
  if (!divisor || *divisor <= 0) return derived(SymbolKind::quotient, a, b);
  if (a.constant()) return *a.constant() / *divisor;
  if (const std::optional<Poly> exact = a.divided_by(*divisor)) return *exact;
  for (const Term& term : a.terms())
    if (term.symbols.empty() && term.factor >= *divisor - 1) return ceil_quotient(subtract(a, *divisor - 1), b);
  return derived(SymbolKind::quotient, a, b);
}

Poly Scalars::ceil_quotient(const Poly& a, const Poly& b) {
  const std::optional<int64_t> divisor = b.constant();
  if (!divisor || *divisor <= 0) return derived(SymbolKind::ceil_quotient, a, b);
  if (a.constant() && *a.constant() >= 0) return *a.constant() / *divisor + (*a.constant() % *divisor != 0 ? 1 : 0);
  if (const std::optional<Poly> exact = a.divided_by(*divisor)) return *exact;
  return derived(SymbolKind::ceil_quotient, a, b);
}

Poly Scalars::remainder(const Poly& a, const Poly& b) {
  const std::optional<int64_t> divisor = b.constant();
  if (divisor && *divisor > 0 && a.constant()) return *a.constant() % *divisor;
  if (divisor && *divisor > 0 && a.divided_by(*divisor)) return 0;
  return derived(SymbolKind::remainder, a, b);
}

STREW_PARTIAL_SWITCHES

Poly Scalars::result(Opcode opcode, const Poly& a, const Poly& b) {
  switch (opcode) {
    case Opcode::addi:
      return add(a, b);
    case Opcode::subi:
      return subtract(a, b);
    case Opcode::muli:
      return multiply(a, b);
    case Opcode::divsi:
    case Opcode::divui:
      return quotient(a, b);
    case Opcode::ceildivsi:
    case Opcode::ceildivui:
      return ceil_quotient(a, b);
    case Opcode::remsi:
    case Opcode::remui:
      return remainder(a, b);
    case Opcode::minsi:
    case Opcode::minui:
      return minimum(a, b);
    case Opcode::maxsi:
    case Opcode::maxui:
      return maximum(a, b);
    default:
      return a;  // casts
  }
}

STREW_END_PARTIAL_SWITCHES

std::string Scalars::text(const Poly& poly) const {
  if (poly.constant()) return std::to_string(*poly.constant());
  std::string out;
  for (const Term& term : poly.terms()) {
    std::string one;
    if (term.factor != 1 || term.symbols.empty()) one = std::to_string(term.factor);
    for (const SymbolId id : term.symbols) one += (one.empty() ? "" : " * ") + (*this)[id].name;
    out += (out.empty() ? "" : " + ") + one;
  }
  return out.size() > kMaxShownText ? out.substr(0, kMaxShownText) + "..." : out;
}

uint32_t Scalars::kinds(const Poly& poly) const {
  uint32_t out = 0;
  for (const Term& term : poly.terms())
    for (const SymbolId id : term.symbols) out |= (*this)[id].kinds;
  return out;
}

bool Scalars::only_arguments(const Poly& poly) const {
  constexpr uint32_t kDerived = bit(SymbolKind::minimum) | bit(SymbolKind::maximum) | bit(SymbolKind::quotient) |
                                bit(SymbolKind::ceil_quotient) | bit(SymbolKind::remainder);
  return (kinds(poly) & ~(kDerived | bit(SymbolKind::argument))) == 0;
}

bool Scalars::moves(const Poly& poly) const { return (kinds(poly) & (bit(SymbolKind::loop) | bit(SymbolKind::block_idx))) != 0; }

}  // namespace strew::inline v0::pto
