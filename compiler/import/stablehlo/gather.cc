// stablehlo.gather and dynamic_gather. dynamic_gather takes its slice sizes as a tensor: a constant enters the op, another tensor is read
// at the call. The element types of result and operand must be equal (constraint C23, checked on MLIR's types); verify() checks the other
// constraints. Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include <fmt/format.h>

#include "base/number.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/literals.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/dimension_numbers.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/op/access_dims.h"

namespace strew::inline v0 {
namespace {

/// Reads all fields of a gather but its slice sizes.
Status read_common(mlir::Operation* op, unsigned operands, Gather& gather) {
  const Attributes attributes(op);
  if (op->getNumOperands() != operands || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument(
        fmt::format("{} operands, {} results and {} regions, expected operand{} start_indices{}, 1 result and no region",
                    op->getNumOperands(), op->getNumResults(), op->getNumRegions(), operands == 2 ? " and" : ",",
                    operands == 2 ? "" : " and slice_sizes"));
  STREW_ASSIGN(gather.operand, operand_type(op, 0));
  STREW_ASSIGN(gather.indices, operand_type(op, 1));
  STREW_ASSIGN(gather.result, result_type(op, 0));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result", "gather_c23"));
  STREW_ASSIGN(gather.dims, gather_dims_from(attributes.get("dimension_numbers")));
  infer_index_vector(gather.indices, gather.dims.index_vector_dim, gather.dims.index_map.size());
  STREW_ASSIGN(gather.indices_are_sorted, attributes.flag("indices_are_sorted"));
  gather.oob = OobPolicy::clamp;
  return {};
}

Status read_gather(mlir::Operation* op, Gather& gather) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"dimension_numbers", "slice_sizes", "indices_are_sorted"}));
  STREW_TRY(read_common(op, 2, gather));
  STREW_ASSIGN(gather.slice_sizes, attributes.integers("slice_sizes"));
  return {};
}

/// Reads the slice sizes as far as they are known: all of them if they are a constant; otherwise 1 in dims that are collapsed or batching,
/// and open (kDynamic) in the others.
Status read_dynamic_gather(mlir::Operation* op, Gather& gather, bool& is_constant) {
  STREW_TRY(Attributes(op).only({"dimension_numbers", "indices_are_sorted"}));
  STREW_TRY(read_common(op, 3, gather));
  STREW_ASSIGN(const TensorType sizes, operand_type(op, 2));
  if (!is_integer(sizes.dtype) || bits(sizes.dtype) < 8 || sizes.rank() != 1 || sizes.dims[0] != gather.operand.rank())
    return invalid_argument(fmt::format("slice_sizes is {}, expected one integer per dim of the operand: {}",
                                        text_of(op->getOperand(2).getType()), gather.operand.rank()));
  mlir::Operation* source = op->getOperand(2).getDefiningOp();
  is_constant = source && source->getName().getStringRef() == "stablehlo.constant";
  if (is_constant) {
    STREW_ASSIGN(const Constant constant, constant_from(Attributes(source).get("value"), sizes));
    for (int64_t i = 0; i < sizes.dims[0]; ++i) {
      const int64_t size = decode_i64(sizes.dtype, load_element(sizes.dtype, constant.data.data(), i).bits[0]);
      if (size < 0) return invalid_argument(fmt::format("slice_sizes[{}] is {}, expected 0 or more", i, size));
      gather.slice_sizes.push_back(size);
    }
    return {};
  }
  for (const AccessDims::OperandDim& dim : AccessDims(gather).operand)
    gather.slice_sizes.push_back(dim.kind == OperandDimKind::window ? kDynamic : 1);
  return {};
}

}  // namespace

Status import_gather(Translation& t, mlir::Operation* op) {
  Gather gather;
  STREW_TRY(t.parsed.at(op, read_gather(op, gather)));
  return t.add_kernel(op, std::move(gather), {t.operand(op, 0), t.operand(op, 1)});
}

Status import_dynamic_gather(Translation& t, mlir::Operation* op) {
  Gather gather;
  bool is_constant = false;
  STREW_TRY(t.parsed.at(op, read_dynamic_gather(op, gather, is_constant)));
  STREW_TRY(t.add_kernel(op, std::move(gather), {t.operand(op, 0), t.operand(op, 1)}));
  if (!is_constant)
    t.out.edit_kernel(static_cast<int>(t.out.kernels().size()) - 1)
        ->arguments.push_back({ArgumentUse::slice_sizes, t.operand(op, 2)});
  return {};
}

}  // namespace strew::inline v0
