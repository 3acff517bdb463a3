// Verifies what a scatter computes of whole rows (op.h: RowReduction, and results that hold one value per row). Labels: row_reductions, row_window,
// row_results; docs/op_text.md lists them. Tested by tests/unit/compiler/op/verify_rows_test.cc, one test per label.
#include <algorithm>
#include <bit>

#include "compiler/op/combiner.h"
#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"

namespace strew::inline v0 {
namespace {

/// "row_reductions[0]", the reduction that messages are about.
Field reduction_field(size_t number) { return {"row_reductions[", number, "]"}; }

/// `extras`: those that the reduction's value may read.
Status check_reduction(const Scatter& s, size_t number, const std::vector<Extra>& extras) {
  const RowReduction& reduction = s.row_reductions[number];
  STREW_TRY(check_enum(Field("fold of row_reductions[", number, "],"), static_cast<int>(reduction.fold),
                       static_cast<int>(expr_ops().size())));
  if (reduction.lanes < 1 || reduction.lanes > kMaxReductionLanes || !std::has_single_bit(static_cast<unsigned>(reduction.lanes)))
    return violated("row_reductions", "{} has {} lanes; expected a power of two from 1 to {}", reduction_field(number),
                    reduction.lanes, kMaxReductionLanes);
  const Expr& value = reduction.value;
  for (const ExprNode& node : value.nodes)
    if (node.op == ExprOp::current)
      return violated("row_reductions", "{} reads current {}; expected updates, extras and earlier reductions",
                      reduction_field(number), node.index);
  // The graph has one result, whatever the number of pairs is: it is checked as one of a single current value, which it does not read.
  if (value.results.size() != 1)
    return violated("row_reductions", "{} returns {} values; expected 1", reduction_field(number), value.results.size());
  const TensorType& any = s.results[0];
  if (const Status graph = check_graph("row_reductions", "row_reductions", value, {&any, 1}, s.updates, extras, {}); !graph.ok())
    return invalid_argument("{}: {}", reduction_field(number), graph.message());
  const DType dtype = value.result().dtype;
  if (bits(dtype) < 8)
    return violated("row_reductions", "{} folds {}; expected a dtype of whole bytes (add a convert)", reduction_field(number),
                    dtype);
  if (reduction.fold == merge_of(reduction.fold) && identity_bits(reduction.fold, dtype)) return {};
  return violated("row_reductions",
                  "{} folds {} by {}; expected add, multiply, minimum, maximum, and, or, xor, of a dtype that they take and that "
                  "is not complex",
                  reduction_field(number), dtype, reduction.fold);
}

/// Rows are whole: nothing cuts a window, so that a row has a value.
Status check_windows(const Scatter& s, const AccessDims& dims) {
  const auto moved = [](const AccessDims& access) {
    return std::ranges::find_if(access.window, [&](int64_t d) { return access.operand[static_cast<size_t>(d)].component >= 0; });
  };
  if (const auto d = moved(dims); d != dims.window.end())
    return violated("row_window",
                    "an index moves window dim {} of operand {}; expected indices of inserted dims only, so that rows are whole",
                    *d, s.operands[0]);
  for (size_t l = 0; l < s.lookups.size(); ++l) {
    const AccessDims access(s.lookups[l].gather);
    if (const auto d = moved(access); d != access.window.end())
      return violated(
          "row_window",
          "lookups[{}] moves window dim {} of table {}; expected indices of collapsed dims only, so that rows are whole", l, *d,
          s.lookups[l].gather.operand);
  }
  return {};
}

/// Does the node read a single element of a row?
bool reads_element(const Scatter& s, const ExprNode& node) {
  if (node.op == ExprOp::update) return true;
  const auto index = static_cast<size_t>(node.index);
  if (node.op != ExprOp::extra || index >= s.extras.size()) return false;
  const ExtraKind kind = s.extras[index].kind;
  return kind == ExtraKind::per_element || kind == ExtraKind::per_window;
}

Status check_results_per_row(const Scatter& s, const AccessDims& dims) {
  const auto may_repeat = [&](const TensorType& type) {
    return std::ranges::all_of(dims.window, [&](int64_t d) {
      const auto at = static_cast<size_t>(d);
      return type.dims[at] == 1 || (!type.strides.empty() && type.strides[at] == 0);
    });
  };
  for (size_t i = 0; i < s.results.size(); ++i) {
    if (!may_repeat(s.results[i]))
      return violated("row_results", "{} is {}; expected stride 0 in the window dims, as other results have",
                      Field("result[", i, "]"), s.results[i]);
    if (s.init == InitKind::copy && !may_repeat(s.operands[i]))
      return violated("row_results", "{} is {}; expected stride 0 in the window dims, as its result has: it is a value per row",
                      Field("operand[", i, "]"), s.operands[i]);
  }
  if (s.combiner != CombinerKind::expr)
    return violated("row_results", "combiner is {}, of each element, and results hold a value per row; expected an expression",
                    s.combiner);
  for (size_t n = 0; n < s.expr.nodes.size(); ++n)
    if (reads_element(s, s.expr.nodes[n]))
      return violated(
          "row_results",
          "expr node %{} reads {} {}, a value per element, and results hold a value per row; expected reductions, extras "
          "per position and scalars",
          n, s.expr.nodes[n].op, s.expr.nodes[n].index);
  return {};
}

}  // namespace

std::vector<Extra> readable_extras(const Scatter& s, size_t reductions) {
  std::vector<Extra> all = s.extras;
  for (size_t k = 0; k < std::min(reductions, s.row_reductions.size()); ++k) {
    const Expr& value = s.row_reductions[k].value;
    const bool has_result =
        value.results.size() == 1 && value.results[0] >= 0 && static_cast<size_t>(value.results[0]) < value.nodes.size();
    all.push_back({ExtraKind::per_position, {has_result ? value.result().dtype : DType::f32, {}, {}}});
  }
  return all;
}

Status check_row_reductions(const Scatter& s) {
  if (s.row_reductions.empty()) return {};
  if (s.row_reductions.size() > kMaxRowReductions)
    return violated("op_limits", "{} row_reductions; expected at most {}", s.row_reductions.size(), kMaxRowReductions);
  if (s.combiner != CombinerKind::expr)
    return violated("row_reductions", "combiner is {}; expected an expression, which reads the reductions as extras", s.combiner);
  for (size_t k = 0; k < s.row_reductions.size(); ++k) STREW_TRY(check_reduction(s, k, readable_extras(s, k)));
  return {};
}

Status check_rows(const Scatter& s, const AccessDims& dims) {
  const bool per_row = dims.holds_rows(s);
  if (s.row_reductions.empty() && !per_row) return {};
  STREW_TRY(check_windows(s, dims));
  return per_row ? check_results_per_row(s, dims) : Status();
}

}  // namespace strew::inline v0
