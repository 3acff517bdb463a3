// dynamic_slice and dynamic_update_slice: a gather and a scatter with one index vector over all dims, one window, and policy clamp.
// StableHLO gives the start as one rank-0 tensor per dim; these become one rank-1 value of kind stack. The labels in messages are those of
// the specification (dynamic_slice C1-C5, dynamic_update_slice C1-C6). Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.

#include "base/violated.h"
#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// Checks the operands from `first` on, which must be one rank-0 integer per dim, all of one type. Returns the type of the rank-1 tensor
/// that they form.
Expected<TensorType> start_type(mlir::Operation* op, unsigned first, int rank, std::string_view count_label,
                                std::string_view type_label) {
  const int starts = static_cast<int>(op->getNumOperands() - first);
  if (starts != rank) return violated(count_label, "{} start indices, expected one per dim of the operand: {}", starts, rank);
  TensorType stack{DType::i64, {rank}, {}};
  for (unsigned i = first; i < op->getNumOperands(); ++i) {
    const mlir::Type type = op->getOperand(i).getType();
    STREW_ASSIGN(const TensorType own, operand_type(op, i));
    if (own.rank() != 0 || !is_integer(own.dtype))
      return invalid_argument("start index {} is {}, expected a rank-0 integer", i - first, text_of(type));
    if (type != op->getOperand(first).getType())
      return violated(type_label, "start index {} is {}, expected {}", i - first, text_of(type),
                      text_of(op->getOperand(first).getType()));
    stack.dtype = own.dtype;
  }
  return stack;
}

int add_stack(Translation& t, mlir::Operation* op, unsigned first, DType dtype) {
  std::vector<int> starts = t.operands(op);
  starts.erase(starts.begin(), starts.begin() + first);
  return ProgramBuilder(t.out, t.location(op)).stack(starts, dtype);
}

/// Refuses a window that is larger than the operand: no clamped start exists for it.
Status fits(const std::vector<int64_t>& window, const std::vector<int64_t>& dims, std::string_view what, std::string_view label) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (window[d] != kDynamic && (window[d] < 0 || (dims[d] != kDynamic && window[d] > dims[d])))
      return violated(label, "{}[{}] is {}, expected 0 to {}", what, d, window[d],
                      dims[d] == kDynamic ? "the operand's extent" : std::to_string(dims[d]));
  return {};
}

/// A slice of an operand with scales along an axis would need the scales of its own elements, which the specification does not say.
Status check_one_scale(mlir::Operation* op) {
  const mlir::Type type = op->getOperand(0).getType();
  if (!has_several_scales(type)) return {};
  return invalid_argument("operand is {}, expected plain numbers or one scale for all elements", text_of(type));
}

}  // namespace

Status import_dynamic_slice(Translation& t, mlir::Operation* op) {
  Gather gather;
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"slice_sizes"}));
  STREW_TRY(check_counts(op, 1, /*or_more=*/true));
  STREW_TRY(check_one_scale(op));
  STREW_ASSIGN(gather.operand, operand_type(op, 0));
  STREW_ASSIGN(gather.result, result_type(op, 0));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result", "dynamic_slice_c1"));
  STREW_ASSIGN(gather.slice_sizes, attributes.integers("slice_sizes"));
  const int rank = gather.operand.rank();
  STREW_ASSIGN(gather.indices, start_type(op, 1, rank, "dynamic_slice_c2", "dynamic_slice_c3"));
  if (static_cast<int>(gather.slice_sizes.size()) != rank)
    return violated("dynamic_slice_c2", "{} slice_sizes, expected {}", gather.slice_sizes.size(), rank);
  STREW_TRY(fits(gather.slice_sizes, gather.operand.dims, "slice_sizes", "dynamic_slice_c4"));
  TensorType window{gather.operand.dtype, gather.slice_sizes, {}};
  STREW_TRY(unify_dims({&window, &gather.result}, "shape of the result", "dynamic_slice_c5"));
  gather.dims.window_dims = gather.dims.index_map = all_dims(static_cast<size_t>(rank));
  gather.oob = OobPolicy::clamp;
  const int start = add_stack(t, op, 1, gather.indices.dtype);
  return t.add_kernel(op, std::move(gather), {t.operand(op, 0), start}, /*fixed_policy=*/true);
}

Status import_dynamic_update_slice(Translation& t, mlir::Operation* op) {
  Scatter scatter;
  STREW_TRY(Attributes(op).only({}));
  STREW_TRY(check_counts(op, 2, /*or_more=*/true));
  STREW_TRY(check_one_scale(op));
  STREW_ASSIGN(TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(const TensorType update, operand_type(op, 1));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result", "dynamic_update_slice_c1"));
  STREW_TRY(unify_dims({&operand, &result}, "shape of the result", "dynamic_update_slice_c1"));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getOperand(1).getType(), "update", "dynamic_update_slice_c2"));
  if (update.rank() != operand.rank())
    return violated("dynamic_update_slice_c3", "update has rank {}, expected {}", update.rank(), operand.rank());
  STREW_ASSIGN(scatter.indices, start_type(op, 2, operand.rank(), "dynamic_update_slice_c4", "dynamic_update_slice_c5"));
  STREW_TRY(fits(update.dims, operand.dims, "shape of update", "dynamic_update_slice_c6"));
  scatter.dims.window_dims = scatter.dims.index_map = all_dims(operand.dims.size());
  scatter.operands = {std::move(operand)};
  scatter.updates = {update};
  scatter.results = {std::move(result)};
  scatter.oob = OobPolicy::clamp;
  const int start = add_stack(t, op, 2, scatter.indices.dtype);
  return t.add_kernel(op, std::move(scatter), {t.operand(op, 0), start, t.operand(op, 1)}, /*fixed_policy=*/true);
}

}  // namespace strew::inline v0
