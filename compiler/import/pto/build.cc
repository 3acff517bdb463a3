// See build.h. Each scalar of the program becomes one expression graph over the scalar arguments. A graph repeats the definitions of a
// polynomial's symbols; scalar.cc bounds how many there are. Tested by tests/unit/compiler/import/pto/pto_import_test.cc.
#include "compiler/import/pto/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/op/dims.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::pto {

std::string Builder::location(Position at, std::string_view statement) const {
  return fmt::format("{}:{}:{}: {}", path_, at.line, at.column, statement);
}

std::vector<int64_t> Builder::static_dims(const std::vector<Poly>& dims) {
  std::vector<int64_t> out;
  for (const Poly& dim : dims) out.push_back(dim.constant().value_or(kDynamic));
  return out;
}

int Builder::input(TensorType type, std::vector<std::string> symbols) {
  Value value;
  value.kind = ValueKind::input;
  value.symbols = std::move(symbols);
  value.type = std::move(type);
  value.index = -1;
  return imported_.add_value(std::move(value));
}

Expected<ShapedValue> Builder::reshaped(const ShapedValue& from, const std::vector<Poly>& dims, const std::string& where,
                                        int like) {
  if (from.dims == dims) return from;
  ProgramBuilder build(imported_, where);
  const std::vector<int64_t> known = static_dims(dims);
  if (like < 0 || std::count(known.begin(), known.end(), kDynamic) <= 1) {
    STREW_ASSIGN(const int value, build.reshape(from.value, known));
    return ShapedValue{value, dims};
  }
  std::vector<int> extents;
  for (size_t d = 0; d < known.size(); ++d)
    extents.push_back(known[d] == kDynamic ? build.extent(like, static_cast<int64_t>(d)) : build.integer(known[d]));
  STREW_ASSIGN(const int value, build.reshape_to(from.value, build.stack(extents, DType::i64), /*allow_zero=*/true));
  return ShapedValue{value, dims};
}

/// The starts as rank-0 values; none where all are numbers.
Expected<std::vector<int>> Builder::starts(const std::vector<Poly>& begin, const std::string& where) {
  std::vector<int> out;
  if (is_static(static_dims(begin))) return out;
  for (const Poly& start : begin) {
    STREW_ASSIGN(out.emplace_back(), scalar(start, where));
  }
  return out;
}

Expected<ShapedValue> Builder::part(const ShapedValue& from, const std::vector<Poly>& begin, const std::vector<Poly>& dims,
                                    const std::string& where) {
  if (from.dims == dims && std::all_of(begin.begin(), begin.end(), [](const Poly& p) { return p.is(0); })) return from;
  ProgramBuilder build(imported_, where);
  STREW_ASSIGN(const std::vector<int> first, starts(begin, where));
  STREW_ASSIGN(const int value, first.empty() ? build.slice(from.value, static_dims(begin), static_dims(dims),
                                                            std::vector<int64_t>(begin.size(), 1))
                                              : build.slice_from(from.value, first, static_dims(dims)));
  return ShapedValue{value, dims};
}

Expected<ShapedValue> Builder::placed(const ShapedValue& into, const ShapedValue& part, const std::vector<Poly>& begin,
                                      const std::string& where) {
  if (into.dims == part.dims) return part;
  ProgramBuilder build(imported_, where);
  STREW_ASSIGN(const std::vector<int> first, starts(begin, where));
  STREW_ASSIGN(const int value, first.empty() ? build.update(into.value, part.value, static_dims(begin))
                                              : build.update_from(into.value, part.value, first));
  return ShapedValue{value, into.dims};
}

Expected<ShapedValue> Builder::as_u32(const ShapedValue& from, DType dtype, const std::string& where) {
  if (dtype == DType::u32) return from;
  ExprBuilder e;
  const int32_t bits = e.bitcast(e.extra(0, dtype), DType::u32);
  STREW_ASSIGN(const int value, ProgramBuilder(imported_, where).map(e.returns({bits}), {from.value}));
  return ShapedValue{value, from.dims};
}

int Builder::integer(int64_t value) {
  const auto [place, fresh] = integers_.try_emplace(value, -1);
  if (fresh) place->second = ProgramBuilder(imported_, "").integer(value);
  return place->second;
}

namespace {

int32_t literal(ExprBuilder& e, int64_t value) { return e.literal({DType::i64, {static_cast<uint64_t>(value), 0}}); }

}  // namespace

int32_t Builder::node_of_symbol(ExprBuilder& e, SymbolId id, std::vector<int>& inputs) {
  const Symbol s = scalars_[id];
  if (s.kind == SymbolKind::argument) {
    const int value = arguments[s.argument];
    const auto found = std::find(inputs.begin(), inputs.end(), value);
    const auto number = static_cast<int32_t>(found - inputs.begin());
    if (found == inputs.end()) inputs.push_back(value);
    return e.as(e.extra(number, imported_.value(value).type.dtype), DType::i64);
  }
  // Each of these calls adds nodes. They are separate statements, because C++ does not define the order in which arguments are evaluated.
  const int32_t a = node(e, s.a, inputs), b = node(e, s.b, inputs);
  constexpr ExprOp kOps[] = {ExprOp::min, ExprOp::max, ExprOp::div, ExprOp::div, ExprOp::rem};  // from SymbolKind::minimum on
  if (s.kind < SymbolKind::minimum || s.kind > SymbolKind::remainder) return a;  // the numbers of an op depend on arguments alone
  if (s.kind != SymbolKind::ceil_quotient)
    return e.apply(kOps[static_cast<int>(s.kind) - static_cast<int>(SymbolKind::minimum)], {a, b});
  const int32_t one = literal(e, 1), sum = e.add(a, b), more = e.sub(sum, one);
  return e.apply(ExprOp::div, {more, b});
}

/// Adds i64 nodes that compute `poly` and returns the last. A symbol used twice is computed twice; a graph has at most a few hundred nodes.
int32_t Builder::node(ExprBuilder& e, const Poly& poly, std::vector<int>& inputs) {
  int32_t total = -1;
  for (const Term& term : poly.terms()) {
    int32_t one = literal(e, term.factor);
    for (const SymbolId id : term.symbols) one = e.mul(one, node_of_symbol(e, id, inputs));
    total = total < 0 ? one : e.add(total, one);
  }
  return total < 0 ? literal(e, 0) : total;
}

Expected<int> Builder::scalar(const Poly& poly, const std::string& where, int64_t divisor) {
  if (poly.constant() && divisor == 0) return integer(*poly.constant());
  ExprBuilder e;
  std::vector<int> inputs;
  int32_t value = node(e, poly, inputs);
  if (divisor != 0) value = e.apply(ExprOp::rem, {value, literal(e, divisor)});
  return ProgramBuilder(imported_, where).map(e.returns({value}), std::move(inputs));
}

}  // namespace strew::inline v0::pto
