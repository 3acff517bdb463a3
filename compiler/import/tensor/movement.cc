// Operations of the tensor dialect that only move elements or tell an extent: cast, dim, reshape, expand_shape, collapse_shape, extract_slice,
// insert_slice, concat, from_elements; and the two that repeat a scalar, tensor.splat and linalg.fill. What is known at the call only (offsets, several open dims of a result) makes
// the operation a boundary. Tested by tests/unit/tensor_boundary_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinTypes.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "base/checked.h"
#include "base/number.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/op_list.h"

namespace strew::inline v0 {
namespace {

/// A reshape keeps the number of elements; at the call that tells one open extent.
Status keeps_count(const TensorType& from, const TensorType& to) {
  if (std::count(to.dims.begin(), to.dims.end(), kDynamic) > 1)
    return invalid_argument("several extents of the result are open, expected one at most");
  return is_static(from) && is_static(to) ? same_count(from, to) : Status();
}

/// Checks that operand 0 and the result are ranked tensors of one element type.
Status read_ends(mlir::Operation* op, TensorType& from, TensorType& to) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument(fmt::format("{} operands, {} results and {} regions, expected an operand, 1 and 0",
                                        op->getNumOperands(), op->getNumResults(), op->getNumRegions()));
  STREW_TRY(same_element(op->getOperand(0).getType(), op->getResult(0).getType(), "result"));
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

/// The offsets, sizes and strides of a slice of a tensor of the type `whole`.
struct SliceNumbers {
  std::vector<int64_t> offsets, sizes, strides;
};

/// Reads the numbers of an operation with so many tensors as operands; the operands beyond them are numbers that only the call knows.
Status read_slice(mlir::Operation* op, unsigned tensors, const TensorType& whole, SliceNumbers& out) {
  if (op->getNumOperands() != tensors) return invalid_argument("offsets, sizes or strides are known at the call only");
  const Attributes attributes(op);
  STREW_ASSIGN(out.offsets, attributes.integers("static_offsets"));
  STREW_ASSIGN(out.sizes, attributes.integers("static_sizes"));
  STREW_ASSIGN(out.strides, attributes.integers("static_strides"));
  const size_t rank = whole.dims.size();
  if (out.offsets.size() != rank || out.sizes.size() != rank || out.strides.size() != rank)
    return invalid_argument(fmt::format("offsets, sizes and strides, expected {} of each", rank));
  for (size_t d = 0; d < rank; ++d) {
    const int64_t offset = out.offsets[d], size = out.sizes[d], stride = out.strides[d], extent = whole.dims[d];
    const bool is_slice = offset >= 0 && size >= 0 && stride >= 1;
    const bool fits =
        is_slice &&
        (extent == kDynamic || (size == 0 ? offset <= extent : offset < extent && (size - 1) <= (extent - 1 - offset) / stride));
    if (!fits)
      return invalid_argument(
          fmt::format("dim {}: {} elements from {} on with stride {} are not inside the tensor", d, size, offset, stride));
  }
  return {};
}

/// Reads the slice, whose result keeps all dims of the source; `to` is the type of the operation's result, which may lack dims of 1.
Status read_extract_slice(mlir::Operation* op, Compute& slice, TensorType& to) {
  TensorType from;
  SliceNumbers numbers;
  STREW_TRY(read_ends(op, from, to));
  STREW_TRY(read_slice(op, 1, from, numbers));
  if (!is_static(to) || without_ones(numbers.sizes) != without_ones(to.dims))
    return invalid_argument("the result's extents are not the sizes");
  slice.op = ComputeOp::slice;
  slice.results = {{from.dtype, std::move(numbers.sizes), {}}};
  slice.dims = std::move(numbers.offsets);
  slice.strides = std::move(numbers.strides);
  return {};
}

/// Reads the update of the destination, operand 1; `part` is the type of what is inserted, with all dims of the destination.
Status read_insert_slice(mlir::Operation* op, Compute& update, TensorType& part) {
  TensorType from, to;
  SliceNumbers numbers;
  STREW_TRY(read_ends(op, from, to));
  if (op->getNumOperands() < 2 || op->getOperand(1).getType() != op->getResult(0).getType())
    return invalid_argument("expected a source, and a destination of the result's type");
  STREW_TRY(read_slice(op, 2, to, numbers));
  if (std::any_of(numbers.strides.begin(), numbers.strides.end(), [](int64_t stride) { return stride != 1; }))
    return invalid_argument("strides, expected 1");
  if (!is_static(from) || without_ones(numbers.sizes) != without_ones(from.dims))
    return invalid_argument("the source's extents are not the sizes");
  part = {from.dtype, std::move(numbers.sizes), {}};
  update.op = ComputeOp::update;
  update.dims = std::move(numbers.offsets);
  update.results = {std::move(to)};
  return {};
}

Compute reshape_to(const TensorType& result) {
  Compute out;
  out.op = ComputeOp::reshape;
  out.results = {result};
  return out;
}

/// `value`, or its elements in a tensor of the type `to` if it has another.
int reshaped(Translation& t, mlir::Operation* op, int value, const TensorType& to) {
  if (t.out.values[static_cast<size_t>(value)].type == to) return value;
  Compute reshape = reshape_to(to);
  reshape.arguments = {value};
  return t.add_step(op, std::move(reshape));
}

Status read_concat(mlir::Operation* op, Compute& compute) { return read_concatenation(op, "dim", compute); }

/// Checks that there is a scalar for every element of the result.
Status read_from_elements(mlir::Operation* op, TensorType& to) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument("expected elements and one result");
  STREW_ASSIGN(to, result_type(op, 0));
  if (!is_static(to) || checked::product(to.dims) != op->getNumOperands())
    return invalid_argument(fmt::format("{} elements, expected as many as the result has", op->getNumOperands()));
  for (const mlir::Type type : op->getOperandTypes())
    if (type != element_of(op->getResult(0).getType()))
      return invalid_argument(
          fmt::format("element {}, expected {}", text_of(type), text_of(element_of(op->getResult(0).getType()))));
  return {};
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
  STREW_TRY(t.parsed.at(op, unify_dims({&both, &from}, "shape of the operand")));
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
  STREW_TRY(t.parsed.at(op, keeps_count(from, to)));
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
  t.bind(op->getResult(0), reshaped(t, op, t.add_step(op, std::move(slice)), to));
  return {};
}

Status import_insert_slice(Translation& t, mlir::Operation* op) {
  Compute update;
  TensorType part;
  STREW_TRY(t.parsed.at(op, read_insert_slice(op, update, part)));
  update.arguments = {t.operand(op, 1), reshaped(t, op, t.operand(op, 0), part)};
  t.bind(op->getResult(0), t.add_step(op, std::move(update)));
  return {};
}

Status import_concat(Translation& t, mlir::Operation* op) { return import_with(t, op, read_concat); }

Status import_from_elements(Translation& t, mlir::Operation* op) {
  TensorType to;
  STREW_TRY(t.parsed.at(op, read_from_elements(op, to)));
  Compute all;
  all.op = ComputeOp::concatenate;
  all.dims = {0};
  all.results = {{to.dtype, {op->getNumOperands()}, {}}};
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    all.arguments.push_back(reshaped(t, op, t.operand(op, i), {to.dtype, {1}, {}}));
  t.bind(op->getResult(0), reshaped(t, op, t.add_step(op, std::move(all)), to));
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
