// See combiner.h. operator_of() accepts swapped arguments only of operators that commute, so subtract(update, current)
// stays a graph. It accepts an update that is converted to the result's dtype, because StableHLO's promotion inserts
// this conversion. Tested by tests/unit/combiner_test.cc and tests/unit/stablehlo_region_test.cc.
#include "compiler/op/combiner.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/number.h"

namespace strew::inline v0 {
namespace {

using E = ExprOp;
using K = CombinerKind;
using D = CombinerDomain;

// A partial result of sub starts from 0 and is minus the sum of its updates, so partial results are merged by add.
constexpr std::array kTable{
    //             op          name        domain      commutes order-free merges by
    CombinerTraits{E::add, K::add, D::all, true, false, E::add},
    CombinerTraits{E::sub, K::sub, D::numbers, false, false, E::add},
    CombinerTraits{E::mul, K::mul, D::all, true, false, E::mul},
    CombinerTraits{E::div, K::div, D::numbers, false, false, E::div},
    CombinerTraits{E::min, K::min, D::ordered, true, true, E::min},
    CombinerTraits{E::max, K::max, D::ordered, true, true, E::max},
    CombinerTraits{E::bit_and, K::bit_and, D::bitwise, true, true, E::bit_and},
    CombinerTraits{E::bit_or, K::bit_or, D::bitwise, true, true, E::bit_or},
    CombinerTraits{E::bit_xor, K::bit_xor, D::bitwise, true, true, E::bit_xor},
};

/// The largest or smallest value of a float dtype: an infinity, or, in a dtype without infinities, the last bit pattern
/// before the NaNs.
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

/// The pair's update if `node` is this update or its conversion to `dtype`; otherwise null.
const ExprNode* update_of(const Expr& expr, int32_t node, int32_t pair, DType dtype) {
  const ExprNode* n = &at(expr, node);
  if (n->op == ExprOp::convert && n->dtype == dtype) n = &at(expr, n->args[0]);
  return n->op == ExprOp::update && n->index == pair ? n : nullptr;
}

int32_t push(Expr& graph, ExprNode node) {
  graph.nodes.push_back(std::move(node));
  return static_cast<int32_t>(graph.nodes.size()) - 1;
}

int32_t input(Expr& graph, ExprOp op, int index, DType from, DType to) {
  const int32_t node = push(graph, {op, from, {}, index, {}});
  return from == to ? node : push(graph, {ExprOp::convert, to, {node}, 0, {}});
}

/// Appends the result `current op update`, with the update converted to the result's dtype.
void add_fold(Expr& graph, ExprOp op, DType update, DType result) {
  const auto index = static_cast<int>(graph.results.size());
  const int32_t converted = input(graph, ExprOp::update, index, update, result);
  const int32_t current = push(graph, {ExprOp::current, result, {}, index, {}});
  graph.results.push_back(push(graph, {op, result, {current, converted}, 0, {}}));
}

/// A result that is `op` of its pair's current value and update.
struct Fold {
  ExprOp op;  ///< ExprOp::update: the result is the update
  DType update, result;
};

std::optional<Fold> fold_of(const Expr& graph, int32_t pair) {
  const int32_t result = graph.results[static_cast<size_t>(pair)];
  const ExprNode& node = at(graph, result);
  if (const ExprNode* update = update_of(graph, result, pair, node.dtype)) return Fold{ExprOp::update, update->dtype, node.dtype};
  const CombinerTraits* const row = find_combiner(node.op);
  if (row == nullptr) return std::nullopt;
  const bool turned = row->commutes && is_current(graph, node.args[1], pair);
  const int32_t current = node.args[turned ? 1 : 0], other = node.args[turned ? 0 : 1];
  const ExprNode* const update = update_of(graph, other, pair, node.dtype);
  if (update == nullptr || !is_current(graph, current, pair)) return std::nullopt;
  return Fold{node.op, update->dtype, node.dtype};
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

Expr spelled(const Scatter& op, CombinerKind kind) {
  Expr graph;
  const CombinerTraits* const row = find_combiner(kind);
  if (row == nullptr) return graph;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const DType result = op.results[i].dtype;
    add_fold(graph, row->op, i < op.updates.size() ? op.updates[i].dtype : result, result);
  }
  return graph;
}

CombinerKind combiner_kind(const Scatter& op) {
  if (op.combiner == Expr{}) return CombinerKind::assign;
  if (op.combiner.empty()) return CombinerKind::expr;
  const CombinerTraits* const row = find_combiner(op.combiner.nodes.back().op);
  return row != nullptr && op.combiner == spelled(op, row->kind) ? row->kind : CombinerKind::expr;
}

Expr combine_graph(const Op& op) {
  Expr graph;
  if (const auto* g = std::get_if<Gather>(&op)) {
    if (!g->expr.empty()) return g->expr;
    graph.results = {input(graph, ExprOp::current, 0, g->operand.dtype, g->result.dtype)};
    return graph;
  }
  const auto& s = std::get<Scatter>(op);
  if (!s.combiner.empty()) return s.combiner;
  for (size_t i = 0; i < s.results.size(); ++i)
    graph.results.push_back(input(graph, ExprOp::update, static_cast<int>(i), s.updates[i].dtype, s.results[i].dtype));
  return graph;
}

std::optional<ExprOp> operator_of(const Expr& graph, int32_t pair) {
  const std::optional<Fold> fold = fold_of(graph, pair);
  return fold ? std::optional(fold->op) : std::nullopt;
}

Expr named_combiner(Expr graph) {
  Expr plain;
  std::optional<ExprOp> all;
  for (size_t pair = 0; pair < graph.results.size(); ++pair) {
    const std::optional<Fold> fold = fold_of(graph, static_cast<int32_t>(pair));
    if (!fold || (all && *all != fold->op)) return graph;
    all = fold->op;
    if (fold->op != ExprOp::update) add_fold(plain, fold->op, fold->update, fold->result);
  }
  return plain;
}

bool sums_floats(const Scatter& scatter) {
  const CombinerKind kind = combiner_kind(scatter);
  const CombinerTraits* const row = find_combiner(kind);
  const bool depends_on_order = row != nullptr ? !row->order_free : kind == CombinerKind::expr;
  return depends_on_order && (is_float(scatter.results[0].dtype) || is_complex(scatter.results[0].dtype));
}

}  // namespace strew::inline v0
