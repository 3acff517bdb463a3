// Verifies a gather: StableHLO's constraints C1-C23, labelled gather_c1 to gather_c23, and strew's own:
// gather_index_dtype, gather_extras, gather_fill, gather_policy, gather_empty, and the op_* labels of verify_common.cc.
// docs/op_text.md lists all labels.
//
// strew accepts more than StableHLO: the result may have another dtype (C23), an indices batching dim may be smaller
// than the operand's (C17), and a slice size may be known only at the call. The checks have an order: a list is checked
// to be in range before other checks index with it. Tested by tests/unit/compiler/op/verify_gather_test.cc, one test per label.
#include "compiler/op/verify_common.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

Status check_tensors(const Gather& g) {
  STREW_TRY(check_enum("oob", g.oob));
  STREW_TRY(check_tensor("operand", g.operand));
  STREW_TRY(check_indices("gather_index_dtype", g.indices, g.more_indices, g.dims.index_vector_dim));
  STREW_TRY(check_tensor("result", g.result));
  return check_result_strides("result", g.result);
}

/// Slice sizes of dims that have no dim in the result are 0 or 1, and static.
Status check_unit_slices(std::string_view label, const Gather& g, std::string_view field, const std::vector<int64_t>& dims) {
  for (const int64_t d : dims)
    if (const int64_t size = g.slice_sizes[d]; size != 0 && size != 1)
      return violated(label, "slice_sizes is {}; expected entry {} to be 0 or 1: dim {} is in {} {}", g.slice_sizes, d, d, field,
                      dims);
  return {};
}

Status check_slice_sizes(const Gather& g) {
  if (g.slice_sizes.size() != g.operand.dims.size())
    return violated("gather_c20", "slice_sizes is {}; expected {} entries, the rank of operand", g.slice_sizes, g.operand.rank());
  for (size_t d = 0; d < g.slice_sizes.size(); ++d) {
    const int64_t size = g.slice_sizes[d], most = g.operand.dims[d];
    if (size == kDynamic || (size >= 0 && (most == kDynamic || size <= most))) continue;
    return violated("gather_c21", "slice_sizes is {}; expected entry {} from 0 to {}, dim {} of operand {}", g.slice_sizes, d,
                    extent_text(most), d, g.operand);
  }
  STREW_TRY(check_unit_slices("gather_c9", g, "collapsed_slice_dims", g.dims.removed_dims));
  return check_unit_slices("gather_c12", g, "operand_batching_dims", g.dims.operand_batching_dims);
}

/// A collapsed or batching dim contributes one coordinate to every element of the result, which a slice size of 0 does
/// not provide. So slice size 0 is legal only if the result has no elements, or if the operand's dim is empty, an index
/// component moves it (so that every index is out of bounds), and the policy (fill, error) does not read the operand.
Status check_empty(const Gather& g, const AccessDims& dims) {
  for (const int64_t dim : g.result.dims)
    if (dim == 0 || dim == kDynamic) return {};
  const bool answers = is_fill(g.oob) || is_skip(g.oob) || g.oob == OobPolicy::error;
  for (size_t d = 0; d < g.slice_sizes.size(); ++d) {
    const bool moved = !dims.is_fixed(static_cast<int64_t>(d));
    if (g.slice_sizes[d] != 0 || (answers && moved && dims_agree(g.operand.dims[d], 0))) continue;
    return violated("gather_empty",
                    "result is {} and takes its elements from a slice of size 0 of dim {} of operand {} with oob {}; expected a "
                    "slice with elements, an empty result, or (for an empty dim in start_index_map) fill or error",
                    g.result, d, g.operand, g.oob);
  }
  return {};
}

Status check_values(const Gather& g, const AccessDims& dims) {
  STREW_TRY(check_extras("gather_extras", g.extras, !g.expr.empty(), g.result, g.indices, g.dims, dims));
  if (g.expr == Expr{}) return check_converts("gather_c23", "operand", g.operand.dtype, "result", g.result.dtype);
  return check_graph("gather_c23", "gather_c23", g.expr, {&g.operand, 1}, {}, g.extras, {&g.result, 1});
}

Status check_policy(const Gather& g, bool is_lookup) {
  if (!is_lookup && is_skip(g.oob))
    return violated("gather_policy", "oob is {}; expected undefined, clamp, wrap, error, fill_element or fill_window", g.oob);
  if (is_fill(g.oob)) return check_scalar("gather_fill", "fill", g.fill, g.operand.dtype);
  if (!g.fill.has_value()) return {};
  return violated("gather_fill", "fill is {} with oob {}; expected none: only fill_element and fill_window read it", g.fill,
                  g.oob);
}

}  // namespace

Expected<AccessDims> verified_access(const Gather& g, const VerifyOptions& options) {
  return verified_access(g, options, /*is_lookup=*/false);
}

Expected<AccessDims> verified_access(const Gather& g, const VerifyOptions& options, bool is_lookup) {
  STREW_TRY(check_tensors(g));
  STREW_TRY(check_dimension_numbers(g, options.equal_batching_dims));
  STREW_TRY(check_slice_sizes(g));
  AccessDims dims(g);
  STREW_TRY(check_slices("gather_c22", "result", g.result, g.indices, dims, "offset_dims", "slice_sizes", g.slice_sizes));
  STREW_TRY(check_values(g, dims));
  STREW_TRY(check_policy(g, is_lookup));
  STREW_TRY(check_empty(g, dims));
  return dims;
}

}  // namespace strew::inline v0
