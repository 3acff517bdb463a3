// See combiner.h. Recognition is exact: current and update may change places only where the result's bits do not depend on it (a NaN's payload
// is unspecified anyway), so subtract(update, current) stays a graph. The update may come through the conversion to the element type that
// promotion puts there (tests/unit/stablehlo_region_test.cc).
#include "compiler/op/combiner.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/number.h"

namespace strew {
namespace {

using E = ExprOp;
using K = CombinerKind;
using D = CombinerDomain;

// A difference takes updates away: its folds begin with 0 and hold what is taken, so they merge by addition.
constexpr std::array kTable{
    //             op          name        domain      commutes idempotent order-free merges by
    CombinerTraits{E::add, K::add, D::all, true, false, false, E::add},
    CombinerTraits{E::sub, K::sub, D::numbers, false, false, false, E::add},
    CombinerTraits{E::mul, K::mul, D::all, true, false, false, E::mul},
    CombinerTraits{E::div, K::div, D::numbers, false, false, false, E::div},
    CombinerTraits{E::min, K::min, D::ordered, true, true, true, E::min},
    CombinerTraits{E::max, K::max, D::ordered, true, true, true, E::max},
    CombinerTraits{E::bit_and, K::bit_and, D::bitwise, true, true, true, E::bit_and},
    CombinerTraits{E::bit_or, K::bit_or, D::bitwise, true, true, true, E::bit_or},
    CombinerTraits{E::bit_xor, K::bit_xor, D::bitwise, true, false, true, E::bit_xor},
};

/// The largest value, or the smallest: an infinity; in a narrow dtype without infinities the last code before the NaNs.
uint64_t extreme(DType dtype, bool largest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto is_nan = [&](uint64_t code) { return std::isnan(decode(dtype, code)); };
  uint64_t code = encode(dtype, largest ? kInfinity : -kInfinity);
  if (!is_nan(code)) return code;
  code = ~uint64_t{0} >> (64 - bits(dtype) + (largest ? 1 : 0));
  while (is_nan(code)) --code;
  return code;
}

std::optional<uint64_t> float_identity(ExprOp op, DType dtype) {
  if (op == ExprOp::add || op == ExprOp::sub) return encode(dtype, -0.0);
  if (op == ExprOp::mul) return encode(dtype, 1.0);
  if (op == ExprOp::min) return extreme(dtype, true);
  if (op == ExprOp::max) return extreme(dtype, false);
  return std::nullopt;
}

std::optional<uint64_t> integer_identity(ExprOp op, DType dtype) {
  const int width = dtype == DType::boolean ? 1 : bits(dtype);
  const uint64_t ones = ~uint64_t{0} >> (64 - width), sign = uint64_t{1} << (width - 1);
  const bool has_sign = is_signed_integer(dtype);
  if (op == ExprOp::add || op == ExprOp::sub || op == ExprOp::bit_or || op == ExprOp::bit_xor) return 0;
  if (op == ExprOp::mul) return 1;
  if (op == ExprOp::bit_and) return ones;
  if (op == ExprOp::min) return has_sign ? ones ^ sign : ones;
  if (op == ExprOp::max) return has_sign ? sign : 0;
  return std::nullopt;
}

const ExprNode& at(const Expr& expr, int32_t node) { return expr.nodes[static_cast<size_t>(node)]; }

bool is_current(const Expr& expr, int32_t node, int32_t pair) {
  return at(expr, node).op == ExprOp::current && at(expr, node).index == pair;
}

bool is_update(const Expr& expr, int32_t node, int32_t pair, DType dtype) {
  const ExprNode* n = &at(expr, node);
  if (n->op == ExprOp::convert && n->dtype == dtype) n = &at(expr, n->args[0]);
  return n->op == ExprOp::update && n->index == pair;
}

int32_t push(Expr& graph, ExprNode node) {
  graph.nodes.push_back(std::move(node));
  return static_cast<int32_t>(graph.nodes.size()) - 1;
}

int32_t input(Expr& graph, ExprOp op, int index, DType from, DType to) {
  const int32_t node = push(graph, {op, from, {}, index, {}});
  return from == to ? node : push(graph, {ExprOp::convert, to, {node}, 0, {}});
}

}  // namespace

std::span<const CombinerTraits> combiner_traits() { return kTable; }

const CombinerTraits* find_combiner(ExprOp op) {
  for (const CombinerTraits& row : kTable)
    if (row.op == op) return &row;
  return nullptr;
}

const CombinerTraits* find_combiner(CombinerKind kind) {
  for (const CombinerTraits& row : kTable)
    if (row.kind == kind) return &row;
  return nullptr;
}

bool takes(const CombinerTraits& row, DType dtype) {
  const DTypeInfo& type = info(dtype);
  if (!type.arithmetic) return false;
  switch (row.domain) {
    case CombinerDomain::all:
      return true;
    case CombinerDomain::numbers:
      return type.kind != DTypeKind::boolean;
    case CombinerDomain::ordered:
      return type.kind != DTypeKind::complex;
    case CombinerDomain::bitwise:
      break;
  }
  return type.kind == DTypeKind::boolean || is_integer(dtype);
}

bool regroups_exactly(ExprOp op, DType dtype) {
  const CombinerTraits* const row = find_combiner(op);
  return row != nullptr && identity_bits(op, dtype) && (row->order_free || !is_float(dtype));
}

std::optional<uint64_t> identity_bits(ExprOp op, DType dtype) {
  const CombinerTraits* const row = find_combiner(op);
  if (row == nullptr || !takes(*row, dtype) || is_complex(dtype)) return std::nullopt;
  return is_float(dtype) ? float_identity(op, dtype) : integer_identity(op, dtype);
}

ExprOp merge_of(ExprOp op) {
  const CombinerTraits* const row = find_combiner(op);
  return row != nullptr ? row->merges_by : op;
}

Expr combine_graph(const Op& op) {
  Expr graph;
  if (const auto* g = std::get_if<Gather>(&op)) {
    if (!g->expr.empty()) return g->expr;
    graph.results = {input(graph, ExprOp::current, 0, g->operand.dtype, g->result.dtype)};
    return graph;
  }
  const auto& s = std::get<Scatter>(op);
  if (s.combiner.kind == CombinerKind::expr) return s.combiner.expr;
  const CombinerTraits* const row = find_combiner(s.combiner.kind);
  for (size_t i = 0; i < s.results.size(); ++i) {
    const DType dtype = s.results[i].dtype;
    const int index = static_cast<int>(i);
    int32_t result = input(graph, ExprOp::update, index, s.updates[i].dtype, dtype);
    if (row != nullptr) {
      const int32_t current = push(graph, {ExprOp::current, dtype, {}, index, {}});
      result = push(graph, {row->op, dtype, {current, result}, 0, {}});
    }
    graph.results.push_back(result);
  }
  return graph;
}

std::optional<ExprOp> operator_of(const Expr& graph, int32_t pair) {
  const int32_t result = graph.results[static_cast<size_t>(pair)];
  const ExprNode& node = at(graph, result);
  if (is_update(graph, result, pair, node.dtype)) return ExprOp::update;
  const CombinerTraits* const row = find_combiner(node.op);
  if (row == nullptr) return std::nullopt;
  const int32_t a = node.args[0], b = node.args[1];
  const bool folds = is_current(graph, a, pair) && is_update(graph, b, pair, node.dtype);
  const bool turned = row->commutes && is_update(graph, a, pair, node.dtype) && is_current(graph, b, pair);
  return folds || turned ? std::optional(node.op) : std::nullopt;
}

Combiner named_combiner(Expr graph) {
  std::optional<ExprOp> all;
  for (size_t pair = 0; pair < graph.results.size(); ++pair) {
    const std::optional<ExprOp> op = operator_of(graph, static_cast<int32_t>(pair));
    if (!op || (all && *all != *op)) return {CombinerKind::expr, std::move(graph)};
    all = op;
  }
  const CombinerTraits* const row = all ? find_combiner(*all) : nullptr;
  return {row != nullptr ? row->kind : CombinerKind::assign, {}};
}

}  // namespace strew
