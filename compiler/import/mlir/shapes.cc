// In StableHLO tensor<?x4xf32> may be used as tensor<3x4xf32>, whereas an Op has one set of dims for its operands and results. So extents
// that are open in one tensor are taken from the others before the op is verified. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/shapes.h"

#include "compiler/import/mlir/types.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

Expected<TensorType> named_type(mlir::Type type, std::string_view what, unsigned index) {
  auto out = tensor_type(type);
  return out.ok() ? out : out.status().with_prefix(fmt::format("{} {}", what, index));
}

}  // namespace

Status refused(std::string message, std::string_view label) {
  return label.empty() ? invalid_argument(std::move(message)) : violated(label, std::move(message));
}

Expected<TensorType> operand_type(mlir::Operation* op, unsigned index) {
  return named_type(op->getOperand(index).getType(), "operand", index);
}

Expected<TensorType> result_type(mlir::Operation* op, unsigned index) {
  return named_type(op->getResult(index).getType(), "result", index);
}

Status check_counts(mlir::Operation* op, unsigned operands, bool or_more) {
  const unsigned given = op->getNumOperands(), results = op->getNumResults(), regions = op->getNumRegions();
  if ((given == operands || (or_more && given > operands)) && results == 1 && regions == 0) return {};
  return invalid_argument("{} operands, {} results and {} regions, expected {}{}, 1 and 0", given, results, regions,
                          or_more ? "at least " : "", operands);
}

Status unify_dims(const std::vector<TensorType*>& types, std::string_view what, std::string_view label) {
  std::vector<int64_t> dims = types.front()->dims;
  for (const TensorType* type : types) {
    const Status status = unify_dims(dims, type->dims, what);
    if (!status.ok()) return refused(status.message(), label);
  }
  for (TensorType* type : types) type->dims = dims;
  return {};
}

Status same_element(mlir::Type a, mlir::Type b, std::string_view what, std::string_view label) {
  if (element_of(a) == element_of(b)) return {};
  return refused(fmt::format("{} {}, expected element type {}", what, text_of(b), text_of(element_of(a))), label);
}

void infer_index_vector(TensorType& indices, int64_t index_vector_dim, size_t components) {
  if (index_vector_dim < 0 || index_vector_dim >= indices.rank()) return;
  int64_t& extent = indices.dims[index_vector_dim];
  if (extent == kDynamic) extent = static_cast<int64_t>(components);
}

}  // namespace strew::inline v0
