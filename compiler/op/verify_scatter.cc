// Verifies a scatter: StableHLO's constraints C1-C25, labelled scatter_c1 to scatter_c25, and strew's own:
// scatter_index_dtype, scatter_combiner, scatter_extras, scatter_in_place, scatter_fill, scatter_policy,
// scatter_accumulate, and the op_* labels of verify_common.cc. docs/op_text.md lists all labels.
//
// strew accepts more than StableHLO: dtypes may differ wherever a conversion exists (C6, C23), and an indices batching
// dim may be smaller than the operand's (C18) unless VerifyOptions forbids it. The checks have an order: a list is
// checked to be in range before other checks index with it. Tested by tests/unit/compiler/op/verify_scatter_test.cc, one test per
// label.
#include <string>

#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"
#include "strew/text.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

Status check_tensors(const Scatter& s) {
  STREW_TRY(check_enum("init", s.init, InitKind::fill));
  STREW_TRY(check_enum("oob", s.oob, OobPolicy::fill_window));
  STREW_TRY(check_enum("combiner", s.combiner, CombinerKind::expr));
  STREW_TRY(check_enum("order", s.order, Order::relaxed));
  STREW_TRY(check_enum("accumulate", s.accumulate, Accumulate::wide_f64));
  const size_t n = s.operands.size();
  if (n == 0 || s.updates.size() != n) {
    return violated("scatter_c5", std::to_string(n) + " operands and " + std::to_string(s.updates.size()) +
                                      " updates; expected the same number of both, at least 1");
  }
  if (s.results.size() != n) {
    return violated("scatter_c24",
                    std::to_string(s.results.size()) + " results; expected " + std::to_string(n) + ", one per operand");
  }
  if (n > static_cast<size_t>(kMaxPairs)) {
    return violated("op_limits", std::to_string(n) + " operands; expected at most " + std::to_string(kMaxPairs));
  }
  for (size_t i = 0; i < n; ++i) {
    STREW_TRY(check_tensor(Field("operand[", i, "]"), s.operands[i]));
    STREW_TRY(check_tensor(Field("updates[", i, "]"), s.updates[i]));
    STREW_TRY(check_tensor(Field("result[", i, "]"), s.results[i]));
  }
  STREW_TRY(check_tensor("indices", s.indices));
  STREW_TRY(check_index_dtype("scatter_index_dtype", s.indices));
  for (size_t i = 0; i < n; ++i) {
    STREW_TRY(check_dims("scatter_c1", Field("operand[", i, "]"), s.operands[i], s.operands[0].dims, "the dims of operand[0]"));
    STREW_TRY(check_dims("scatter_c3", Field("updates[", i, "]"), s.updates[i], s.updates[0].dims, "the dims of updates[0]"));
    STREW_TRY(check_dims("scatter_c24", Field("result[", i, "]"), s.results[i], s.operands[i].dims, "the dims of its operand"));
    STREW_TRY(check_result_strides(Field("result[", i, "]"), s.results[i]));
  }
  return {};
}

Status check_update_shape(const Scatter& s, const AccessDims& dims) {
  const TensorType& updates = s.updates[0];
  const TensorType& operand = s.operands[0];
  const size_t positions = dims.positions.size(), window = dims.window.size();
  if (updates.dims.size() != positions + window) {
    return violated("scatter_c4", "updates[0] is " + print(updates) + " of rank " + std::to_string(updates.rank()) +
                                      "; expected rank " + std::to_string(positions + window) + ": " + std::to_string(positions) +
                                      " dims of indices " + print(s.indices) + " and " + std::to_string(window) +
                                      " update_window_dims");
  }
  for (const AccessDims::Position& position : dims.positions) {
    const int64_t want = s.indices.dims[static_cast<size_t>(position.indices_dim)];
    if (dims_agree(updates.dims[static_cast<size_t>(position.slices_dim)], want)) continue;
    return violated("scatter_c4", "updates[0] is " + print(updates) + "; expected its dim " +
                                      std::to_string(position.slices_dim) + " to be " + std::to_string(want) + ", as indices " +
                                      print(s.indices) + " has");
  }
  for (const int64_t d : dims.window) {
    const AccessDims::OperandDim& dim = dims.operand[static_cast<size_t>(d)];
    const int64_t most = operand.dims[static_cast<size_t>(d)];
    if (dim.window == kDynamic || most == kDynamic || dim.window <= most) continue;
    return violated("scatter_c4", "updates[0] is " + print(updates) + "; expected its window dim " +
                                      std::to_string(dim.slices_dim) + " to be at most " + std::to_string(most) + ", dim " +
                                      std::to_string(d) + " of operand " + print(operand));
  }
  return {};
}

/// The dtypes that the operator takes, for a message; empty if `dtype` is one of them.
std::string_view combiner_needs(CombinerKind kind, DType dtype) {
  const CombinerTraits* const row = find_combiner(kind);
  if (row == nullptr || takes(*row, dtype)) return {};
  if (!info(dtype).arithmetic) return "a dtype with arithmetic (this one takes assign only)";
  switch (row->domain) {
    case CombinerDomain::numbers:
      return "an integer, float or complex dtype";
    case CombinerDomain::ordered:
      return "a bool, integer or float dtype";
    case CombinerDomain::all:
    case CombinerDomain::bitwise:
      break;
  }
  return "a bool or integer dtype";
}

/// A combiner graph without a name: the graph is valid, and its inputs exist in the op.
Status check_graph(const Scatter& s) {
  const int n = static_cast<int>(s.operands.size());
  STREW_TRY(verify(s.expr, n, n, static_cast<int>(s.extras.size())));
  std::vector<DType> currents;
  for (const TensorType& result : s.results) currents.push_back(result.dtype);
  return check_expr_inputs("scatter_c23", s.expr, currents, s.updates, s.extras);
}

/// Result i of a combiner graph without a name.
Status check_returned(const Scatter& s, size_t i) {
  const DType result = s.results[i].dtype;
  const DType given = s.expr.nodes[static_cast<size_t>(s.expr.results[i])].dtype;
  if (given == result) return {};
  return violated("scatter_c25", "expr returns " + std::string(name(given)) + " for " + Field("result[", i, "]") + "; expected " +
                                     std::string(name(result)) + ", its dtype");
}

/// Result i of a combiner with a name.
Status check_named(const Scatter& s, size_t i) {
  const DType result = s.results[i].dtype;
  STREW_TRY(check_converts("scatter_c6", Field("updates[", i, "]"), s.updates[i].dtype, Field("result[", i, "]"), result));
  const std::string_view needs = combiner_needs(s.combiner, result);
  if (needs.empty()) return {};
  return violated("scatter_combiner", "combiner is " + std::string(name(s.combiner)) + " and " + Field("result[", i, "]") +
                                          " is " + std::string(name(result)) + "; expected " + std::string(needs));
}

Status check_combiner(const Scatter& s) {
  const bool has_name = s.combiner != CombinerKind::expr;
  if (!has_name) STREW_TRY(check_graph(s));
  if (has_name && s.expr != Expr{}) {
    return violated("scatter_combiner", "combiner is " + std::string(name(s.combiner)) +
                                            " with an expression graph; expected one with combiner expr only");
  }
  for (size_t i = 0; i < s.operands.size(); ++i) {
    if (s.init != InitKind::fill) {
      STREW_TRY(check_converts("scatter_c23", Field("operand[", i, "]"), s.operands[i].dtype, Field("result[", i, "]"),
                               s.results[i].dtype));
    }
    STREW_TRY(has_name ? check_named(s, i) : check_returned(s, i));
  }
  return {};
}

Status check_extra_inputs(const Scatter& s, const AccessDims& dims) {
  if (!s.extras.empty() && s.combiner != CombinerKind::expr) {
    return violated("scatter_extras", std::to_string(s.extras.size()) + " extras with combiner " + std::string(name(s.combiner)) +
                                          "; expected none: only an expression graph reads them");
  }
  return check_extras("scatter_extras", s.extras, s.updates[0].dims, dims.position_extents(s.indices.dims),
                      dims.window_extents());
}

Status check_init(const Scatter& s) {
  const bool fills = s.init == InitKind::fill;
  const size_t values = fills ? s.results.size() : 0;
  if (s.fill.size() != values) {
    return violated("scatter_fill", "init is " + std::string(name(s.init)) + " with " + std::to_string(s.fill.size()) +
                                        " fill values; expected " + std::to_string(values));
  }
  for (size_t i = 0; i < values; ++i)
    STREW_TRY(check_scalar("scatter_fill", Field("fill[", i, "]"), s.fill[i], s.results[i].dtype));
  for (size_t i = 0; s.init == InitKind::in_place && i < s.results.size(); ++i) {
    if (s.results[i] == s.operands[i]) continue;
    return violated("scatter_in_place", Field("result[", i, "]") + " is " + print(s.results[i]) + "; expected " +
                                            print(s.operands[i]) + ", its operand's type: in place they are one buffer");
  }
  return {};
}

Status check_modes(const Scatter& s) {
  if (s.oob == OobPolicy::fill_element || s.oob == OobPolicy::fill_window) {
    return violated("scatter_policy", "oob is " + std::string(name(s.oob)) +
                                          "; expected undefined, skip_element, skip_window, clamp, wrap or error");
  }
  if (s.accumulate == Accumulate::native) return {};
  const std::string mode = "accumulate is " + std::string(name(s.accumulate));
  if (s.combiner != CombinerKind::add && s.combiner != CombinerKind::sub) {
    return violated("scatter_accumulate", mode + " with combiner " + std::string(name(s.combiner)) + "; expected add or sub");
  }
  for (size_t i = 0; i < s.results.size(); ++i) {
    const DType dtype = s.results[i].dtype;
    const int width = bits(dtype);
    const bool f64 = s.accumulate == Accumulate::wide_f64;
    const bool fits = f64 ? dtype == DType::f32 : is_float(dtype) && info(dtype).arithmetic && (width == 8 || width == 16);
    if (fits) continue;
    return violated("scatter_accumulate", mode + " and " + Field("result[", i, "]") + " is " + std::string(name(dtype)) +
                                              "; expected " + (f64 ? "f32" : "f16, bf16, or an f8 with arithmetic"));
  }
  return {};
}

}  // namespace

Status verify(const Scatter& s, const VerifyOptions& options) {
  STREW_TRY(check_tensors(s));
  STREW_TRY(check_dimension_numbers(s, options.equal_batching_dims));
  const AccessDims dims(s);
  STREW_TRY(check_update_shape(s, dims));
  STREW_TRY(check_extra_inputs(s, dims));
  STREW_TRY(check_combiner(s));
  STREW_TRY(check_init(s));
  return check_modes(s);
}

Status verify(const Op& op, const VerifyOptions& options) {
  return std::visit([&](const auto& each) { return verify(each, options); }, op);
}

}  // namespace strew::inline v0
