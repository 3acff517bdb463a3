// stablehlo.gather and dynamic_gather. dynamic_gather takes its slice sizes as a tensor: a constant enters the op, another tensor is read
// at the call. The element types of result and operand must be equal (constraint C23, checked on MLIR's types); verify() checks the other
// constraints. Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/dimension_numbers.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// Reads all fields of a gather but its slice sizes.
Status read_common(mlir::Operation* op, unsigned operands, Gather& gather) {
  STREW_TRY(check_counts(op, operands));
  STREW_ASSIGN(gather.operand, operand_type(op, 0));
  STREW_ASSIGN(gather.indices, operand_type(op, 1));
  STREW_ASSIGN(gather.result, result_type(op, 0));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result", "gather_c23"));
  STREW_ASSIGN(gather.dims, gather_dims_from(Attributes(op).get("dimension_numbers")));
  infer_index_vector(gather.indices, gather.dims.index_vector_dim, gather.dims.index_map.size());
  STREW_ASSIGN(gather.indices_are_sorted, Attributes(op).flag("indices_are_sorted"));
  gather.oob = OobPolicy::clamp;
  return {};
}

}  // namespace

Status import_gather(Translation& t, mlir::Operation* op) {
  Gather gather;
  STREW_TRY(Attributes(op).only({"dimension_numbers", "slice_sizes", "indices_are_sorted"}));
  STREW_TRY(read_common(op, 2, gather));
  STREW_ASSIGN(gather.slice_sizes, Attributes(op).integers("slice_sizes"));
  return t.add_kernel(op, std::move(gather), {t.operand(op, 0), t.operand(op, 1)});
}

/// The slice sizes as far as they are known: all of them if they are a constant; otherwise 1 in dims that are collapsed or batching, and open
/// (kDynamic) in the others.
Status import_dynamic_gather(Translation& t, mlir::Operation* op) {
  Gather gather;
  STREW_TRY(Attributes(op).only({"dimension_numbers", "indices_are_sorted"}));
  STREW_TRY(read_common(op, 3, gather));
  STREW_ASSIGN(const TensorType sizes, operand_type(op, 2));
  if (!is_integer(sizes.dtype) || bits(sizes.dtype) < 8 || sizes.rank() != 1 || sizes.dims[0] != gather.operand.rank())
    return invalid_argument("slice_sizes is {}, expected one integer per dim of the operand: {}",
                            text_of(op->getOperand(2).getType()), gather.operand.rank());
  const std::optional<std::vector<int64_t>> known = ProgramBuilder(t.out, "").integers(t.operand(op, 2));
  const AccessDims dims(gather);
  for (size_t d = 0; d < dims.operand.size(); ++d) {
    const bool is_window = dims.operand[d].kind == OperandDimKind::window;
    gather.slice_sizes.push_back(known ? (*known)[d] : is_window ? kDynamic : 1);
    if (known && (*known)[d] < 0) return invalid_argument("slice_sizes[{}] is {}, expected 0 or more", d, (*known)[d]);
  }
  STREW_TRY(t.add_kernel(op, std::move(gather), {t.operand(op, 0), t.operand(op, 1)}));
  if (!known)
    t.out.edit_kernel(static_cast<int>(t.out.kernels().size()) - 1)
        ->arguments.push_back({ArgumentUse::slice_sizes, t.operand(op, 2)});
  return {};
}

}  // namespace strew::inline v0
