// stablehlo.gather. The result's element type is the operand's (C23, checked on MLIR's types); verify() does the rest.
// Covered by tests/unit/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include <fmt/format.h>

#include "compiler/import/stablehlo/attributes.h"
#include "compiler/import/stablehlo/dimension_numbers.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/shapes.h"
#include "compiler/import/stablehlo/translation.h"

namespace strew {
namespace {

Status read_gather(mlir::Operation* op, Gather& gather) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"dimension_numbers", "slice_sizes", "indices_are_sorted"}));
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument(
        fmt::format("{} operands, {} results and {} regions, expected operand and start_indices, 1 result and no region",
                    op->getNumOperands(), op->getNumResults(), op->getNumRegions()));
  STREW_ASSIGN(gather.operand, operand_type(op, 0));
  STREW_ASSIGN(gather.indices, operand_type(op, 1));
  STREW_ASSIGN(gather.result, result_type(op, 0));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "gather_c23", "result"));
  STREW_ASSIGN(gather.dims, gather_dims_from(attributes.get("dimension_numbers")));
  STREW_ASSIGN(gather.slice_sizes, attributes.integers("slice_sizes"));
  STREW_ASSIGN(gather.indices_are_sorted, attributes.flag("indices_are_sorted"));
  gather.oob = OobPolicy::clamp;
  return {};
}

}  // namespace

Status import_gather(Translation& t, mlir::Operation* op) {
  Gather gather;
  STREW_TRY(t.parsed.at(op, read_gather(op, gather)));
  return t.add_kernel(op, std::move(gather), {t.operand(op, 0), t.operand(op, 1)});
}

}  // namespace strew
