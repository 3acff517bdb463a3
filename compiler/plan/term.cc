// See term.h.
#include "compiler/plan/term.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/checked.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMaxTerms = 8, kMaxSymbols = 4;

}  // namespace

Term constant(int64_t value) { return {value, {}}; }

Term operator*(const Term& a, const Term& b) {
  Term product;
  product.factor = static_cast<int64_t>(static_cast<uint64_t>(a.factor) * static_cast<uint64_t>(b.factor));
  if (product.factor == 0) return product;
  product.symbols.resize(a.symbols.size() + b.symbols.size());
  std::merge(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(), product.symbols.begin());
  return product;
}

Term common_factor(const std::vector<Term>& terms) {
  Term common = constant(0);
  bool has_positive = false;
  for (const Term& term : terms) {
    if (term.factor == 0) continue;
    has_positive |= term.factor > 0;
    std::vector<SymbolId> shared;
    std::ranges::set_intersection(common.symbols, term.symbols, std::back_inserter(shared));
    common = {std::gcd(common.factor, term.factor), common.factor == 0 ? term.symbols : shared};
  }
  if (common.factor == 0) return constant(1);
  if (!has_positive) common.factor = -common.factor;
  return common;
}

std::optional<Term> quotient(const Term& a, const Term& b) {
  if (a.factor == 0 && b.factor != 0) return constant(0);
  if (b.factor == 0 || a.factor % b.factor != 0 || !std::ranges::includes(a.symbols, b.symbols)) return std::nullopt;
  Term out{a.factor / b.factor, {}};
  std::ranges::set_difference(a.symbols, b.symbols, std::back_inserter(out.symbols));
  return out;
}

int64_t evaluate(const Term& term, const int64_t* values) {
  uint64_t value = static_cast<uint64_t>(term.factor);
  for (int symbol : term.symbols) value *= static_cast<uint64_t>(values[symbol]);
  return static_cast<int64_t>(value);
}

Poly::Poly(int64_t constant) {
  if (constant != 0) terms_.push_back({constant, {}});
}

Poly Poly::symbol(SymbolId id) {
  Poly out;
  out.terms_.push_back({1, {id}});
  return out;
}

std::optional<int64_t> Poly::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].symbols.empty()) return terms_[0].factor;
  return std::nullopt;
}

bool Poly::has(SymbolId id) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const Term& t) { return std::binary_search(t.symbols.begin(), t.symbols.end(), id); });
}

std::optional<Poly> Poly::factor_of(SymbolId id, Poly& rest) const {
  Poly factor;
  rest = Poly();
  for (const Term& term : terms_) {
    const auto found = std::lower_bound(term.symbols.begin(), term.symbols.end(), id);
    if (found == term.symbols.end() || *found != id) {
      rest.terms_.push_back(term);
      continue;
    }
    Term without = term;
    without.symbols.erase(without.symbols.begin() + (found - term.symbols.begin()));
    if (std::binary_search(without.symbols.begin(), without.symbols.end(), id)) return std::nullopt;
    factor.terms_.push_back(std::move(without));
  }
  std::sort(factor.terms_.begin(), factor.terms_.end());
  return factor;
}

std::optional<Poly> Poly::divided_by(int64_t divisor) const {
  if (divisor <= 0) return std::nullopt;
  Poly out = *this;
  for (Term& term : out.terms_) {
    if (term.factor % divisor != 0) return std::nullopt;
    term.factor /= divisor;
  }
  return out;
}

std::optional<SymbolId> Poly::alone() const {
  if (terms_.size() != 1 || terms_[0].factor != 1 || terms_[0].symbols.size() != 1) return std::nullopt;
  return terms_[0].symbols[0];
}

std::optional<Poly> sum(const Poly& a, const Poly& b, int64_t sign) {
  Poly out = a;
  for (const Term& term : b.terms_) {
    const std::optional<int64_t> more = checked::mul(term.factor, sign);
    if (!more) return std::nullopt;
    const auto place =
        std::find_if(out.terms_.begin(), out.terms_.end(), [&](const Term& t) { return t.symbols == term.symbols; });
    if (place == out.terms_.end()) {
      out.terms_.push_back({*more, term.symbols});
      continue;
    }
    const std::optional<int64_t> both = checked::add(place->factor, *more);
    if (!both) return std::nullopt;
    place->factor = *both;
    if (*both == 0) out.terms_.erase(place);
  }
  if (out.terms_.size() > kMaxTerms) return std::nullopt;
  std::sort(out.terms_.begin(), out.terms_.end());
  return out;
}

std::optional<Poly> product(const Poly& a, const Poly& b) {
  std::optional<Poly> out = Poly();
  for (const Term& left : a.terms_) {
    for (const Term& right : b.terms_) {
      if (!checked::mul(left.factor, right.factor) || left.symbols.size() + right.symbols.size() > kMaxSymbols)
        return std::nullopt;
      Poly one;
      one.terms_ = {left * right};
      out = sum(*out, one);
      if (!out) return std::nullopt;
    }
  }
  return out;
}

}  // namespace strew::inline v0
