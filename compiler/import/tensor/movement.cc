// Operations of the tensor dialect that only move elements or tell an extent: cast, dim, reshape, expand_shape, collapse_shape, extract_slice,
// insert_slice, concat, from_elements; and the two that repeat a scalar, tensor.splat and linalg.fill. What is known at the call only (offsets,
// several open dims of a result) makes the operation a boundary. MLIR's verifier has checked the operations of tensor, but not linalg.fill. Tested
// by tests/unit/compiler/import/tensor/tensor_boundary_test.cc.
#include <algorithm>

#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/op_list.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// The offsets, sizes and strides of a slice.
struct SliceNumbers {
  std::vector<int64_t> offsets, sizes, strides;
};

/// Reads the numbers of an operation with so many tensors as operands; the operands beyond them are numbers that only the call knows.
Expected<SliceNumbers> read_slice(OpReader& r, unsigned tensors) {
  if (r.op()->getNumOperands() != tensors) return invalid_argument("offsets, sizes or strides are known at the call only");
  SliceNumbers out;
  STREW_ASSIGN(out.offsets, r.attributes.integers("static_offsets"));
  STREW_ASSIGN(out.sizes, r.attributes.integers("static_sizes"));
  STREW_ASSIGN(out.strides, r.attributes.integers("static_strides"));
  return out;
}

/// Checks that operand 0 and the result are ranked tensors, and returns the result's type.
Expected<TensorType> read_ends(OpReader& r) {
  STREW_TRY(operand_type(r.op(), 0).status());
  return result_type(r.op(), 0);
}

}  // namespace

Expected<int> read_cast(OpReader& r) {
  STREW_TRY(read_ends(r).status());
  return r.operand(0);
}

Expected<int> read_dim(OpReader& r) {
  STREW_ASSIGN(const TensorType type, operand_type(r.op(), 0));
  const std::optional<std::vector<int64_t>> dim = r.build.integers(r.operand(1));
  if (!dim || dim->size() != 1 || dim->front() < 0 || dim->front() >= type.rank())
    return invalid_argument("the number of the dim, expected a constant inside the rank");
  return r.build.extent(r.operand(0), dim->front());
}

/// The other operands, if there are any, are the extents of the result.
Expected<int> read_reshaped(OpReader& r) {
  STREW_ASSIGN(const TensorType to, read_ends(r));
  return r.build.reshape(r.operand(0), to.dims);
}

Expected<int> read_extract_slice(OpReader& r) {
  STREW_ASSIGN(const TensorType to, read_ends(r));
  STREW_ASSIGN(SliceNumbers numbers, read_slice(r, 1));
  return r.build.reshape(
      r.build.slice(r.operand(0), std::move(numbers.offsets), std::move(numbers.sizes), std::move(numbers.strides)), to.dims);
}

Expected<int> read_insert_slice(OpReader& r) {
  STREW_TRY(read_ends(r).status());
  STREW_ASSIGN(SliceNumbers numbers, read_slice(r, 2));
  if (std::any_of(numbers.strides.begin(), numbers.strides.end(), [](int64_t stride) { return stride != 1; }))
    return invalid_argument("strides, expected 1");
  STREW_ASSIGN(const int part, r.build.reshape(r.operand(0), std::move(numbers.sizes)));
  return r.build.update(r.operand(1), part, std::move(numbers.offsets));
}

Expected<int> read_concat(OpReader& r) {
  STREW_ASSIGN(const TensorType to, read_ends(r));
  STREW_ASSIGN(const int64_t dim, r.dim("dim", to.rank()));
  return r.build.concatenate(r.operands(), dim);
}

Expected<int> read_from_elements(OpReader& r) {
  if (r.op()->getNumOperands() == 0) return invalid_argument("no elements, expected some");
  STREW_ASSIGN(const TensorType to, result_type(r.op(), 0));
  return r.build.reshape(r.build.stack(r.operands(), to.dtype), to.dims);
}

Expected<int> read_filled(OpReader& r) {
  if (r.op()->getNumOperands() == 0 || r.op()->getNumResults() != 1 || r.op()->getNumRegions() != 0)
    return invalid_argument("expected a scalar that fills one tensor");
  STREW_ASSIGN(const TensorType to, result_type(r.op(), 0));
  if (!is_static(to.dims)) return invalid_argument("extents of the result are known at the call only");
  if (r.operand_type(0) != element_of(r.result_type()))
    return invalid_argument("{} fills {}, expected one of its elements", text_of(r.operand_type(0)), text_of(r.result_type()));
  return r.build.broadcast(r.operand(0), to.dims);
}

}  // namespace strew::inline v0
