// See scalar.h. A full definition has at most 200 symbols. Beyond that, and beyond what a polynomial may have, a scalar becomes an unknown symbol. Tested by tests/unit/compiler/import/pto/pto_import_test.cc.
#include "compiler/import/pto/scalar.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"

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
      for (const SymbolId id : term.symbols) weight += symbols_[id].weight;
  if (weight > kMaxWeight) {
    add(SymbolKind::unknown, "a value too large to follow");
  } else {
    constexpr const char* kNames[] = {"min", "max", "floor", "ceil", "rem"};
    const bool quotient = kind == SymbolKind::quotient || kind == SymbolKind::ceil_quotient;
    const char* const name = kNames[static_cast<int>(kind) - static_cast<int>(SymbolKind::minimum)];
    symbols_.push_back({kind, fmt::format("{}({}{}{})", name, text(a), quotient ? " / " : ", ", text(b)), 0, a, b, weight,
                        bit(kind) | kinds(a) | kinds(b)});
  }
  return Poly::symbol(place->second);
}

Poly Scalars::extreme(SymbolKind kind, const Poly& a, const Poly& b) {
  if (a == b) return a;
  const std::optional<int64_t> x = a.constant(), y = b.constant();
  if (x && y) return kind == SymbolKind::minimum ? std::min(*x, *y) : std::max(*x, *y);
  return derived(kind, std::min(a, b), std::max(a, b));
}

/// A quotient is rounded towards zero. Programs write (x + 15) / 16 for a quotient rounded up, so that form becomes a ceil_quotient.
Poly Scalars::divided(SymbolKind kind, const Poly& a, const Poly& b) {
  const std::optional<int64_t> divisor = b.constant(), value = a.constant();
  if (!divisor || *divisor <= 0) return derived(kind, a, b);
  if (value && kind == SymbolKind::quotient) return *value / *divisor;
  if (value && kind == SymbolKind::remainder) return *value % *divisor;
  if (value && *value >= 0) return checked::ceil_div(*value, *divisor);
  if (const std::optional<Poly> exact = a.divided_by(*divisor)) return kind == SymbolKind::remainder ? Poly(0) : *exact;
  for (const Term& term : a.terms())
    if (kind == SymbolKind::quotient && term.symbols.empty() && term.factor >= *divisor - 1)
      return ceil_quotient(subtract(a, *divisor - 1), b);
  return derived(kind, a, b);
}

Poly Scalars::result(Opcode opcode, const Poly& a, const Poly& b) {
  using O = Opcode;
  using K = SymbolKind;
  constexpr std::pair<O, K> kDerived[] = {
      {O::divsi, K::quotient},  {O::divui, K::quotient},  {O::ceildivsi, K::ceil_quotient}, {O::ceildivui, K::ceil_quotient},
      {O::remsi, K::remainder}, {O::remui, K::remainder}, {O::minsi, K::minimum},           {O::minui, K::minimum},
      {O::maxsi, K::maximum},   {O::maxui, K::maximum},
  };
  if (opcode == O::addi) return add(a, b);
  if (opcode == O::subi) return subtract(a, b);
  if (opcode == O::muli) return multiply(a, b);
  for (const auto& [derives, kind] : kDerived)
    if (derives == opcode) return kind == K::minimum || kind == K::maximum ? extreme(kind, a, b) : divided(kind, a, b);
  return a;  // casts
}

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
  constexpr uint32_t kOthers =
      bit(SymbolKind::block_idx) | bit(SymbolKind::block_num) | bit(SymbolKind::loop) | bit(SymbolKind::unknown);
  return (kinds(poly) & kOthers) == 0;
}

bool Scalars::moves(const Poly& poly) const { return (kinds(poly) & (bit(SymbolKind::loop) | bit(SymbolKind::block_idx))) != 0; }

}  // namespace strew::inline v0::pto
