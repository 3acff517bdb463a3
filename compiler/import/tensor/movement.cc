// Operations of the tensor dialect that only move elements or tell an extent: cast, dim, reshape, expand_shape, collapse_shape, extract_slice;
// and the two that repeat a scalar, tensor.splat and linalg.fill. What is known at the call only (offsets, several open dims of a result) makes
// the operation a boundary. Tested by tests/unit/tensor_boundary_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinTypes.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "base/number.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/op_list.h"

namespace strew::inline v0 {
namespace {

int64_t product(const TensorType& type) {
  return std::accumulate(type.dims.begin(), type.dims.end(), int64_t{1}, std::multiplies<>());  // tensor_type() has bounded it
}

/// A reshape keeps the number of elements; at the call that tells one open extent.
Status same_count(const TensorType& from, const TensorType& to) {
  if (std::count(to.dims.begin(), to.dims.end(), kDynamic) > 1)
    return invalid_argument("several extents of the result are open, expected one at most");
  if (!is_static(from) || !is_static(to) || product(from) == product(to)) return {};
  return invalid_argument(fmt::format("{} elements become {}", product(from), product(to)));
}

/// Checks that operand 0 and the result are ranked tensors of one element type.
Status read_ends(mlir::Operation* op, TensorType& from, TensorType& to) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument(fmt::format("{} operands, {} results and {} regions, expected an operand, 1 and 0",
                                        op->getNumOperands(), op->getNumResults(), op->getNumRegions()));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "element type", "result"));
  STREW_ASSIGN(from, operand_type(op, 0));
  STREW_ASSIGN(to, result_type(op, 0));
  return {};
}

/// A map whose function is its argument: the elements stay as they are, and the interpreter checks the extents.
Compute identity(const TensorType& result) {
  ExprNode same;
  same.op = ExprOp::extra;
  same.dtype = result.dtype;
  Compute out;
  out.function.nodes = {same};
  out.function.results = {0};
  out.results = {result};
  return out;
}

/// The sizes that `dims` has besides those of 1.
std::vector<int64_t> without_ones(std::vector<int64_t> dims) {
  std::erase(dims, 1);
  return dims;
}

/// Reads the slice, whose result keeps all dims of the source; `to` is the type of the operation's result, which may lack dims of 1.
Status read_extract_slice(mlir::Operation* op, Compute& slice, TensorType& to) {
  TensorType from;
  STREW_TRY(read_ends(op, from, to));
  if (op->getNumOperands() != 1) return invalid_argument("offsets, sizes or strides are known at the call only");
  const Attributes attributes(op);
  STREW_ASSIGN(slice.dims, attributes.integers("static_offsets"));
  STREW_ASSIGN(const std::vector<int64_t> sizes, attributes.integers("static_sizes"));
  STREW_ASSIGN(slice.strides, attributes.integers("static_strides"));
  const size_t rank = from.dims.size();
  if (slice.dims.size() != rank || sizes.size() != rank || slice.strides.size() != rank)
    return invalid_argument(fmt::format("offsets, sizes and strides, expected {} of each", rank));
  for (size_t d = 0; d < rank; ++d) {
    const int64_t offset = slice.dims[d], size = sizes[d], stride = slice.strides[d], extent = from.dims[d];
    const bool is_slice = offset >= 0 && size >= 0 && stride >= 1;
    const bool fits =
        is_slice &&
        (extent == kDynamic || (size == 0 ? offset <= extent : offset < extent && (size - 1) <= (extent - 1 - offset) / stride));
    if (!fits)
      return invalid_argument(
          fmt::format("dim {}: {} elements from {} on with stride {} are not inside the source", d, size, offset, stride));
  }
  if (!is_static(to) || without_ones(sizes) != without_ones(to.dims))
    return invalid_argument("the result's extents are not the sizes");
  slice.op = ComputeOp::slice;
  slice.results = {{from.dtype, sizes, {}}};
  return {};
}

Compute reshape_to(const TensorType& result) {
  Compute out;
  out.op = ComputeOp::reshape;
  out.results = {result};
  return out;
}

/// The number that `value` is; nothing if it is no constant of rank 0.
std::optional<int64_t> number_of(const Translation& t, int value) {
  const Value& v = t.out.values[static_cast<size_t>(value)];
  if (v.kind != ValueKind::constant || !v.type.dims.empty() || !is_integer(v.type.dtype)) return std::nullopt;
  const Constant& constant = t.out.constants[static_cast<size_t>(v.index)];
  return decode_i64(v.type.dtype, load_element(v.type.dtype, constant.bytes().data(), 0).bits[0]);
}

}  // namespace

Status import_cast(Translation& t, mlir::Operation* op) {
  TensorType from, to;
  STREW_TRY(t.parsed.at(op, read_ends(op, from, to)));
  TensorType both = to;
  STREW_TRY(t.parsed.at(op, unify_dims({&both, &from}, "cast", "operand")));
  const bool forgets = std::equal(to.dims.begin(), to.dims.end(), from.dims.begin(),
                                  [](int64_t wanted, int64_t known) { return wanted == kDynamic || wanted == known; });
  if (!forgets) return t.add_compute(op, identity(to));
  t.bind(op->getResult(0), t.operand(op, 0));
  return {};
}

Status import_dim(Translation& t, mlir::Operation* op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return t.parsed.fail(op, "expected a tensor and the number of a dim");
  Expected<TensorType> type = operand_type(op, 0);
  if (!type.ok()) return t.parsed.at(op, type.status());
  const std::optional<int64_t> dim = number_of(t, t.operand(op, 1));
  if (!dim || *dim < 0 || *dim >= type->rank())
    return t.parsed.fail(op, "the number of the dim, expected a constant inside the rank");
  Value value;
  value.kind = ValueKind::extent;
  value.type = {DType::i64, {}, {}};
  value.like = t.operand(op, 0);
  value.like_dim = static_cast<int>(*dim);
  t.bind(op->getResult(0), t.add_value(std::move(value)));
  return {};
}

Status import_reshaped(Translation& t, mlir::Operation* op) {
  TensorType from, to;
  STREW_TRY(t.parsed.at(op, read_ends(op, from, to)));
  STREW_TRY(t.parsed.at(op, same_count(from, to)));
  Compute reshape = reshape_to(to);
  reshape.arguments = {t.operand(op, 0)};  // the other operands are the extents of the result
  t.bind(op->getResult(0), t.add_step(op, std::move(reshape)));
  return {};
}

Status import_extract_slice(Translation& t, mlir::Operation* op) {
  Compute slice;
  TensorType to;
  STREW_TRY(t.parsed.at(op, read_extract_slice(op, slice, to)));
  slice.arguments = {t.operand(op, 0)};
  const bool is_whole = slice.results[0] == to;
  int value = t.add_step(op, std::move(slice));
  if (!is_whole) {
    Compute reshape = reshape_to(to);
    reshape.arguments = {value};
    value = t.add_step(op, std::move(reshape));
  }
  t.bind(op->getResult(0), value);
  return {};
}

Status import_filled(Translation& t, mlir::Operation* op) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return t.parsed.fail(op, "expected a scalar that fills one tensor");
  Expected<TensorType> to = result_type(op, 0);
  if (!to.ok()) return t.parsed.at(op, to.status());
  if (!is_static(*to)) return t.parsed.fail(op, "extents of the result are known at the call only");
  if (op->getOperand(0).getType() != element_of(op->getResult(0).getType()))
    return t.parsed.fail(op, fmt::format("{} fills {}, expected one of its elements", text_of(op->getOperand(0).getType()),
                                         text_of(op->getResult(0).getType())));
  Compute broadcast;
  broadcast.op = ComputeOp::broadcast;
  broadcast.arguments = {t.operand(op, 0)};
  broadcast.results = {std::move(*to)};
  t.bind(op->getResult(0), t.add_step(op, std::move(broadcast)));
  return {};
}

}  // namespace strew::inline v0
