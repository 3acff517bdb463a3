// Operations that only move elements: iota, broadcast_in_dim, reshape, transpose, slice, reverse, concatenate, pad; those whose last operand is
// the shape of the result, as jax.export writes them; and get_dimension_size. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_module_test.cc and tests/unit/compiler/import/stablehlo/stablehlo_dynamic_test.cc.

#include "compiler/import/builder/forms.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// Quantized numbers are counted in their scale, which strew does not know.
Status check_plain(mlir::Type type) {
  return is_quantized(type) ? invalid_argument("result {}, expected numbers", text_of(type)) : Status();
}

/// Operand `index`, the shape of the result: one integer per dim of it.
Expected<int> shape_operand(OpReader& r, unsigned index) {
  STREW_ASSIGN(const TensorType result, result_type(r.op(), 0));
  STREW_ASSIGN(const TensorType shape, operand_type(r.op(), index));
  if (is_integer(shape.dtype) && bits(shape.dtype) >= 8 && shape.rank() == 1)
    if (const Expected<int> list = r.build.declared(r.operand(index), {result.rank()}); list.ok()) return list;
  return invalid_argument("the shape is {}, expected one integer per dim of the result: {}", text_of(r.operand_type(index)),
                          result.rank());
}

}  // namespace

Expected<int> read_iota(OpReader& r) {
  STREW_TRY(r.has(0, {"iota_dimension"}));
  STREW_ASSIGN(const TensorType result, r.static_result());
  STREW_TRY(check_plain(r.result_type()));
  STREW_ASSIGN(const int64_t dim, r.dim("iota_dimension", result.rank()));
  return r.build.iota(result, dim);
}

Expected<int> read_dynamic_iota(OpReader& r) {
  STREW_TRY(r.has(1, {"iota_dimension"}));
  STREW_ASSIGN(const TensorType result, result_type(r.op(), 0));
  STREW_TRY(check_plain(r.result_type()));
  STREW_ASSIGN(const int64_t dim, r.dim("iota_dimension", result.rank()));
  STREW_ASSIGN(const int shape, shape_operand(r, 0));
  return r.build.iota_to(result.dtype, shape, dim);
}

Expected<int> read_broadcast_in_dim(OpReader& r) {
  STREW_TRY(r.moves(1, {"broadcast_dimensions"}));
  STREW_ASSIGN(const TensorType result, r.static_result());
  STREW_ASSIGN(const std::vector<int64_t> targets, r.dims("broadcast_dimensions", result.rank()));
  return r.build.broadcast(r.operand(0), result.dims, targets);
}

Expected<int> read_dynamic_broadcast_in_dim(OpReader& r) {
  STREW_TRY(r.has(2, {"broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"}));
  STREW_TRY(same_element(r.operand_type(0), r.result_type(), "result"));
  STREW_ASSIGN(const TensorType result, result_type(r.op(), 0));
  STREW_ASSIGN(const std::vector<int64_t> targets, r.dims("broadcast_dimensions", result.rank()));
  STREW_ASSIGN(const int shape, shape_operand(r, 1));
  return r.build.broadcast_to(r.operand(0), shape, targets);
}

Expected<int> read_reshape(OpReader& r) {
  STREW_TRY(r.moves(1, {}));
  STREW_ASSIGN(const TensorType result, r.static_result());
  return r.build.reshape(r.operand(0), result.dims);
}

Expected<int> read_dynamic_reshape(OpReader& r) {
  STREW_TRY(r.has(2, {}));
  STREW_TRY(same_element(r.operand_type(0), r.result_type(), "result"));
  STREW_ASSIGN(const int shape, shape_operand(r, 1));
  STREW_TRY(r.build.extents(shape).status());
  return r.build.reshape_to(r.operand(0), shape, /*allow_zero=*/true);
}

Expected<int> read_transpose(OpReader& r) {
  STREW_TRY(r.moves(1, {"permutation"}));
  STREW_ASSIGN(const std::vector<int64_t> permutation, r.dims("permutation", r.operand_rank(0)));
  return r.build.transpose(r.operand(0), permutation);
}

Expected<int> read_slice(OpReader& r) {
  STREW_TRY(r.moves(1, {"start_indices", "limit_indices", "strides"}));
  STREW_ASSIGN(std::vector<int64_t> starts, r.attributes.integers("start_indices"));
  STREW_ASSIGN(std::vector<int64_t> sizes, r.attributes.integers("limit_indices"));
  STREW_ASSIGN(std::vector<int64_t> strides, r.attributes.integers("strides"));
  const std::vector<int64_t> dims = r.build.type(r.operand(0)).dims;
  for (size_t d = 0; d < std::min({dims.size(), starts.size(), sizes.size(), strides.size()}); ++d) {
    const int64_t start = starts[d], limit = sizes[d], stride = strides[d];
    if (start < 0 || limit < start || stride < 1 || (dims[d] != kDynamic && limit > dims[d]))
      return invalid_argument("dim {}: {}:{}:{}, expected 0 <= start <= limit <= extent and stride >= 1", d, start, limit,
                              stride);
    sizes[d] = limit == start ? 0 : (limit - start - 1) / stride + 1;
  }
  return r.build.slice(r.operand(0), std::move(starts), std::move(sizes), std::move(strides));
}

Expected<int> read_reverse(OpReader& r) {
  STREW_TRY(r.moves(1, {"dimensions"}));
  STREW_ASSIGN(const std::vector<int64_t> dims, r.dims("dimensions", r.operand_rank(0)));
  return r.build.reverse(r.operand(0), dims);
}

Expected<int> read_concatenate(OpReader& r) {
  STREW_TRY(r.moves(r.op()->getNumOperands(), {"dimension"}));
  STREW_ASSIGN(const TensorType result, result_type(r.op(), 0));
  STREW_ASSIGN(const int64_t dim, r.dim("dimension", result.rank()));
  return r.build.concatenate(r.operands(), dim);
}

Expected<int> read_pad(OpReader& r) {
  STREW_TRY(r.moves(2, {"edge_padding_low", "edge_padding_high", "interior_padding"}));
  STREW_ASSIGN(const std::vector<int64_t> low, r.attributes.integers("edge_padding_low"));
  STREW_ASSIGN(const std::vector<int64_t> high, r.attributes.integers("edge_padding_high"));
  STREW_ASSIGN(const std::vector<int64_t> interior, r.attributes.integers("interior_padding"));
  return pad(r.build, r.operand(0), low, high, interior, r.operand(1));
}

Expected<int> read_get_dimension_size(OpReader& r) {
  STREW_TRY(r.has(1, {"dimension"}));
  STREW_ASSIGN(const TensorType operand, operand_type(r.op(), 0));
  STREW_ASSIGN(const TensorType result, result_type(r.op(), 0));
  if (result.rank() != 0 || (result.dtype != DType::i32 && result.dtype != DType::i64))
    return invalid_argument("result {}, expected tensor<i32>", text_of(r.result_type()));
  STREW_ASSIGN(const int64_t dim, r.dim("dimension", operand.rank()));
  return r.build.convert(r.build.extent(r.operand(0), dim), result.dtype);
}

}  // namespace strew::inline v0
