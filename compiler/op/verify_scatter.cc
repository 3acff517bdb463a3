// Verifies a scatter: StableHLO's constraints C1-C25, labelled scatter_c1 to scatter_c25, and strew's own:
// scatter_index_dtype, scatter_combiner, scatter_extras, scatter_in_place, scatter_fill, scatter_policy,
// scatter_accumulate, and the op_* labels of verify_common.cc. docs/op_text.md lists all labels.
//
// strew accepts more than StableHLO: dtypes may differ wherever a conversion exists (C6, C23), and an indices batching
// dim may be smaller than the operand's (C18) unless VerifyOptions forbids it. The checks have an order: a list is
// checked to be in range before other checks index with it. Tested by tests/unit/compiler/op/verify_scatter_test.cc, one test per
// label.
#include "compiler/op/combiner.h"
#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

Status check_tensors(const Scatter& s) {
  STREW_TRY(check_enum("init", s.init));
  STREW_TRY(check_enum("oob", s.oob));
  STREW_TRY(check_enum("combiner", s.combiner));
  STREW_TRY(check_enum("order", s.order));
  STREW_TRY(check_enum("accumulate", s.accumulate));
  const size_t n = s.operands.size();
  if (n == 0 || s.updates.size() != n)
    return violated("scatter_c5", "{} operands and {} updates; expected the same number of both, at least 1", n,
                    s.updates.size());
  if (s.results.size() != n) return violated("scatter_c24", "{} results; expected {}, one per operand", s.results.size(), n);
  if (n > kMaxPairs) return violated("op_limits", "{} operands; expected at most {}", n, kMaxPairs);
  for (size_t i = 0; i < n; ++i) {
    STREW_TRY(check_tensor(Field("operand[", i, "]"), s.operands[i]));
    STREW_TRY(check_tensor(Field("updates[", i, "]"), s.updates[i]));
    STREW_TRY(check_tensor(Field("result[", i, "]"), s.results[i]));
  }
  STREW_TRY(check_indices("scatter_index_dtype", s.indices, s.more_indices, s.dims.index_vector_dim));
  for (size_t i = 0; i < n; ++i) {
    STREW_TRY(check_dims("scatter_c1", Field("operand[", i, "]"), s.operands[i], s.operands[0].dims, "the dims of operand[0]"));
    STREW_TRY(check_dims("scatter_c3", Field("updates[", i, "]"), s.updates[i], s.updates[0].dims, "the dims of updates[0]"));
    STREW_TRY(check_dims("scatter_c24", Field("result[", i, "]"), s.results[i], s.operands[i].dims, "the dims of its operand"));
  }
  return {};
}

/// Elements of a result lie apart; where it holds one value per row, rows do.
Status check_strides(const Scatter& s, const AccessDims& dims) {
  for (size_t i = 0; i < s.results.size(); ++i) {
    const bool repeats = dims.repeats_along_window(s.results[i]);
    STREW_TRY(check_result_strides(Field("result[", i, "]"), s.results[i], repeats ? dims.window : std::vector<int64_t>()));
  }
  return {};
}

Status check_update_shape(const Scatter& s, const AccessDims& dims) {
  STREW_TRY(check_slices("scatter_c4", "updates[0]", s.updates[0], s.indices, dims, "update_window_dims", "update_window_dims",
                         s.dims.window_dims));
  for (const int64_t d : dims.window) {
    const AccessDims::OperandDim& dim = dims.operand[d];
    int64_t most = s.operands[0].dims[d];
    unify(most, s.results[0].dims[d]);
    if (dim.window == kDynamic || most == kDynamic || dim.window <= most) continue;
    return violated("scatter_c4", "updates[0] is {}; expected its window dim {} to be at most {}, dim {} of operand {}",
                    s.updates[0], dim.slices_dim, most, d, s.operands[0]);
  }
  return {};
}

Status check_combiner(const Scatter& s) {
  const bool has_graph = s.combiner == CombinerKind::expr;
  if (has_graph)
    STREW_TRY(check_graph("scatter_c23", "scatter_c25", s.expr, s.results, s.updates, readable_extras(s, s.row_reductions.size()),
                          s.results));
  if (!has_graph && s.expr != Expr{})
    return violated("scatter_combiner", "combiner is {} with an expression graph; expected one with combiner expr only",
                    s.combiner);
  const CombinerTraits* const row = find_combiner(s.combiner);
  for (size_t i = 0; i < s.operands.size(); ++i) {
    const Field field("result[", i, "]");
    const DType result = s.results[i].dtype;
    if (s.init != InitKind::fill)
      STREW_TRY(check_converts("scatter_c23", Field("operand[", i, "]"), s.operands[i].dtype, field, result));
    if (!has_graph) STREW_TRY(check_converts("scatter_c6", Field("updates[", i, "]"), s.updates[i].dtype, field, result));
    if (row != nullptr && !takes(row->op, result))
      return violated("scatter_combiner", "combiner is {} and {} is {}; expected {}", s.combiner, field, result,
                      expected_dtypes(row->op, result));
  }
  return {};
}

Status check_init(const Scatter& s) {
  const size_t values = s.init == InitKind::fill ? s.results.size() : 0;
  if (s.fill.size() != values)
    return violated("scatter_fill", "init is {} with {} fill values; expected {}", s.init, s.fill.size(), values);
  for (size_t i = 0; i < values; ++i)
    STREW_TRY(check_scalar("scatter_fill", Field("fill[", i, "]"), s.fill[i], s.results[i].dtype));
  for (size_t i = 0; s.init == InitKind::in_place && i < s.results.size(); ++i)
    if (s.results[i] != s.operands[i])
      return violated("scatter_in_place", "{} is {}; expected {}, its operand's type: in place they are one buffer",
                      Field("result[", i, "]"), s.results[i], s.operands[i]);
  return {};
}

Status check_modes(const Scatter& s) {
  if (is_fill(s.oob))
    return violated("scatter_policy", "oob is {}; expected undefined, skip_element, skip_window, clamp, wrap or error", s.oob);
  if (s.accumulate == Accumulate::native) return {};
  if (s.combiner != CombinerKind::add && s.combiner != CombinerKind::sub && s.combiner != CombinerKind::mul)
    return violated("scatter_accumulate", "accumulate is {} with combiner {}; expected add, sub or mul", s.accumulate,
                    s.combiner);
  for (size_t i = 0; i < s.results.size(); ++i) {
    const DType dtype = s.results[i].dtype;
    const bool f64 = s.accumulate == Accumulate::wide_f64;
    if (f64 ? dtype == DType::f32 : is_float(dtype) && info(dtype).arithmetic && (bits(dtype) == 8 || bits(dtype) == 16))
      continue;
    return violated("scatter_accumulate", "accumulate is {} and {} is {}; expected {}", s.accumulate, Field("result[", i, "]"),
                    dtype, f64 ? "f32" : "f16, bf16, or an f8 with arithmetic");
  }
  return {};
}

}  // namespace

Expected<AccessDims> verified_access(const Scatter& s, const VerifyOptions& options) {
  STREW_TRY(check_tensors(s));
  STREW_TRY(check_dimension_numbers(s, options.equal_batching_dims));
  AccessDims dims(s);
  STREW_TRY(check_strides(s, dims));
  STREW_TRY(check_update_shape(s, dims));
  STREW_TRY(check_extras("scatter_extras", s.extras, s.combiner == CombinerKind::expr, s.updates[0], s.indices, s.dims, dims));
  STREW_TRY(check_row_reductions(s));
  STREW_TRY(check_combiner(s));
  STREW_TRY(check_init(s));
  STREW_TRY(check_modes(s));
  STREW_TRY(check_lookups(s, dims));
  STREW_TRY(check_rows(s, dims));
  return dims;
}

}  // namespace strew::inline v0
