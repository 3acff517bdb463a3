// Ranks, element types and static extents are checked on import, because the interpreter relies on them to stay in bounds. Tested by
// tests/unit/stablehlo_module_test.cc.
#include "compiler/import/mlir/operands.h"

#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>

#include "base/checked.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

bool is_static(const TensorType& type) { return std::find(type.dims.begin(), type.dims.end(), kDynamic) == type.dims.end(); }

Status same_count(const TensorType& from, const TensorType& to) {
  STREW_ASSIGN(const int64_t before, element_count(from.dims));
  STREW_ASSIGN(const int64_t after, element_count(to.dims));
  return before == after ? Status() : invalid_argument(fmt::format("{} elements become {}", before, after));
}

Status counts(mlir::Operation* op, unsigned operands) {
  if (op->getNumOperands() == operands && op->getNumResults() == 1 && op->getNumRegions() == 0) return {};
  return invalid_argument(fmt::format("{} operands, {} results and {} regions, expected {}, 1 and 0", op->getNumOperands(),
                                      op->getNumResults(), op->getNumRegions(), operands));
}

Expected<int64_t> dim_attribute(mlir::Operation* op, llvm::StringRef name, int rank) {
  const auto value = llvm::dyn_cast_or_null<mlir::IntegerAttr>(Attributes(op).get(name));
  if (!value) return invalid_argument(fmt::format("attribute '{}', expected an integer", name.str()));
  const int64_t dim = value.getValue().getSExtValue();
  if (dim >= 0 && dim < rank) return dim;
  return invalid_argument(fmt::format("{} is {}, expected 0 to {}", name.str(), dim, rank - 1));
}

Status check_dims(const std::vector<int64_t>& dims, size_t count, int rank, std::string_view what) {
  if (dims.size() != count) return invalid_argument(fmt::format("{} {}, expected {}", dims.size(), what, count));
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t d : dims) {
    if (d < 0 || d >= rank || seen[static_cast<size_t>(d)])
      return invalid_argument(fmt::format("{} holds {}, expected each of 0 to {} once at most", what, d, rank - 1));
    seen[static_cast<size_t>(d)] = true;
  }
  return {};
}

Status same_elements(mlir::Operation* op) {
  for (const mlir::Value operand : op->getOperands())
    STREW_TRY(same_element(operand.getType(), op->getResult(0).getType(), "result"));
  return {};
}

Status read_concatenation(mlir::Operation* op, llvm::StringRef attribute, Compute& compute) {
  STREW_TRY(Attributes(op).only({attribute}));
  if (op->getNumOperands() == 0) return invalid_argument("no operands, expected at least 1");
  STREW_TRY(counts(op, op->getNumOperands()));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(TensorType result, result_type(op, 0));
  STREW_ASSIGN(const int64_t dim, dim_attribute(op, attribute, result.rank()));
  const auto along = static_cast<size_t>(dim);
  int64_t total = 0;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    STREW_ASSIGN(TensorType operand, operand_type(op, i));
    if (operand.dims.size() != result.dims.size())
      return invalid_argument(fmt::format("operand {} has rank {}, expected {}", i, operand.rank(), result.rank()));
    const int64_t extent = operand.dims[along], whole = result.dims[along];
    const std::optional<int64_t> sum = total == kDynamic || extent == kDynamic ? kDynamic : checked::add(total, extent);
    if (!sum) return invalid_argument(fmt::format("the sum of the extents in dim {} does not fit 63 bits", dim));
    total = *sum;
    operand.dims[along] = whole;
    STREW_TRY(unify_dims({&result, &operand}, fmt::format("shape of operand {}", i)));
  }
  if (total != kDynamic && result.dims[along] == kDynamic) result.dims[along] = total;
  if (total != kDynamic && result.dims[along] != total)
    return invalid_argument(fmt::format("result dim {} is {}, expected {}", dim, result.dims[along], total));
  compute.op = ComputeOp::concatenate;
  compute.dims = {dim};
  compute.results = {std::move(result)};
  return {};
}

Status import_with(Translation& t, mlir::Operation* op, Status (*read)(mlir::Operation*, Compute&)) {
  Compute compute;
  STREW_TRY(t.parsed.at(op, read(op, compute)));
  return t.add_compute(op, std::move(compute));
}

}  // namespace strew::inline v0
