// In StableHLO tensor<?x4xf32> may be used as tensor<3x4xf32>, whereas an Op has one set of dims for its operands and results. So extents
// that are open in one tensor are taken from the others before the op is verified. Tested by tests/unit/stablehlo_import_test.cc.
#include "compiler/import/mlir/shapes.h"

#include <fmt/format.h>

#include "compiler/import/mlir/types.h"

namespace strew::inline v0 {
namespace {

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size() && i < 16; ++i)
    text += (i ? "," : "") + (dims[i] == kDynamic ? "?" : std::to_string(dims[i]));
  return text + (dims.size() > 16 ? ",...]" : "]");
}

}  // namespace

Expected<TensorType> operand_type(mlir::Operation* op, unsigned index) {
  auto type = tensor_type(op->getOperand(index).getType());
  if (!type.ok()) return invalid_argument(fmt::format("operand {}: {}", index, type.status().message()));
  return type;
}

Expected<TensorType> result_type(mlir::Operation* op, unsigned index) {
  auto type = tensor_type(op->getResult(index).getType());
  if (!type.ok()) return invalid_argument(fmt::format("result {}: {}", index, type.status().message()));
  return type;
}

Status unify_dims(const std::vector<TensorType*>& types, std::string_view label, std::string_view what) {
  std::vector<int64_t> dims = types.front()->dims;
  for (const TensorType* type : types) {
    bool agree = type->dims.size() == dims.size();
    for (size_t i = 0; agree && i < dims.size(); ++i) {
      if (dims[i] == kDynamic) dims[i] = type->dims[i];
      agree = type->dims[i] == kDynamic || type->dims[i] == dims[i];
    }
    if (!agree)
      return invalid_argument(fmt::format("{}: {} {}, expected {}", label, what, dims_text(type->dims), dims_text(dims)));
  }
  for (TensorType* type : types) type->dims = dims;
  return {};
}

Status same_element(mlir::Type a, mlir::Type b, std::string_view label, std::string_view what) {
  if (element_of(a) == element_of(b)) return {};
  return invalid_argument(fmt::format("{}: {} {}, expected element type {}", label, what, text_of(b), text_of(element_of(a))));
}

void infer_index_vector(TensorType& indices, int64_t index_vector_dim, size_t components) {
  if (index_vector_dim < 0 || index_vector_dim >= indices.rank()) return;
  int64_t& extent = indices.dims[static_cast<size_t>(index_vector_dim)];
  if (extent == kDynamic) extent = static_cast<int64_t>(components);
}

}  // namespace strew::inline v0
