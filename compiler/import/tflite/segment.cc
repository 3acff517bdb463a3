// SEGMENT_SUM and UNSORTED_SEGMENT_SUM, _PROD, _MAX, _MIN: rows of data are combined into the row of the result that their segment id names.
//
// The number of rows of the result is the last id + 1, or an input: it is worked out before the result is allocated. As in LiteRT, the ids of
// SEGMENT_SUM must begin with 0 and each must be its predecessor or 1 more; of the others, negative ids are left out, and ids from the number
// of segments on are errors. Rows that no id names hold the value from which the combination starts. Tested by
// tests/unit/compiler/import/tflite/tflite_segment_test.cc and tests/models.
#include <algorithm>
#include <limits>

#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/dims.h"
#include "strew/forms.h"

namespace strew::inline v0::tflite {
namespace {

/// The rows of the result, and the shape of one.
Expected<int> result_shape(Node& node, int rows, int data, int64_t ids_rank) {
  ProgramBuilder builder = node.builder();
  std::vector<int> dims{rows};
  for (int64_t d = ids_rank; d < builder.type(data).rank(); ++d) dims.push_back(builder.extent(data, d));
  return builder.stack(dims, DType::i64);
}

/// The number of elements that are true, of which there must be none. `what`: they are "`what` is 3".
Status require_none(Node& node, int wrong, const std::string& what, KernelParts& parts) {
  ProgramBuilder builder = node.builder();
  STREW_ASSIGN(int count, builder.convert(wrong, DType::i64));
  std::vector<int64_t> all;
  for (int d = 0; d < builder.type(count).rank(); ++d) all.push_back(d);
  if (!all.empty()) {
    STREW_ASSIGN(count, builder.reduce(ExprOp::add, count, all, false));
  }
  const auto known = builder.integers(count);
  if (known && known->front() == 0) return {};
  if (known) return invalid_argument(what + " is " + std::to_string(known->front()) + ", expected 0");
  parts.equal_scalars.push_back({count, builder.integer(0), what, ""});
  return {};
}

Status add(Node& node, int data, int ids, CombinerKind kind, Scalar fill, OobPolicy oob, bool is_sorted, KernelParts parts) {
  ProgramBuilder builder = node.builder();
  const TensorType type = node.type(data);
  TensorType result{type.dtype, known_elements(builder, parts.result_shape), {}};
  if (is_static(result.dims)) parts.result_shape = -1;
  parts.arguments = {ids, data};
  return node.add_kernel(scatter_rows(result, node.type(ids), type)
                             .normalize_negative(false)
                             .combine(kind)
                             .fill({fill})
                             .oob(oob)
                             .indices_are_sorted(is_sorted)
                             .build(),
                         std::move(parts));
}

Status check_ids(const Node& node, int data, int ids) {
  STREW_TRY(node.check_index_type(ids, "segment_ids"));
  const TensorType &type = node.type(data), &id_type = node.type(ids);
  if (id_type.rank() > type.rank())
    return node.error("segment_ids has rank " + std::to_string(id_type.rank()) + ", expected at most data's " +
                      std::to_string(type.rank()));
  return {};
}

/// The least or largest number of the dtype: that of floats is finite, as in LiteRT.
Scalar extreme(DType dtype, bool is_least) {
  if (is_integer(dtype)) {
    const int width = static_cast<int>(bits(dtype));
    const uint64_t ones = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1, top = uint64_t{1} << (width - 1);
    if (is_unsigned_integer(dtype)) return {dtype, {is_least ? 0 : ones, 0}};
    return {dtype, {is_least ? top : ones & ~top, 0}};
  }
  const double most = dtype == DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return Scalar::of(dtype, is_least ? -most : most);
}

}  // namespace

/// The sum of the rows of each segment. That the ids are sorted is checked, so the kernel may rely on it.
Status import_segment_sum(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  STREW_TRY(node.check_not_quantized());
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(const int ids, node.input(1, "segment_ids"));
  STREW_TRY(check_ids(node, data, ids));
  if (node.type(ids).rank() != 1)
    return node.error("segment_ids has rank " + std::to_string(node.type(ids).rank()) + ", expected 1");
  ProgramBuilder builder = node.builder();
  STREW_ASSIGN(const int wide, builder.convert(ids, DType::i64));
  const int minus_one = builder.integer(-1);
  // The largest id before each, or -1. An id is wrong unless it is that or 1 more; that it is not -1 is checked by the policy.
  STREW_ASSIGN(int before, builder.scan(ExprOp::max, wide, 0, {.exclusive = true}));
  STREW_ASSIGN(before, builder.apply(ExprOp::max, {before, minus_one}));
  STREW_ASSIGN(const int step, builder.apply(ExprOp::sub, {wide, before}));
  STREW_ASSIGN(const int is_back, builder.apply(ExprOp::lt, {step, builder.integer(0)}));
  STREW_ASSIGN(const int is_far, builder.apply(ExprOp::gt, {step, builder.integer(1)}));
  STREW_ASSIGN(const int is_wrong, builder.apply(ExprOp::bit_or, {is_back, is_far}));
  KernelParts parts;
  const Status none =
      require_none(node, is_wrong, "the number of segment ids that are neither the one before nor 1 more (the first: 0)", parts);
  if (!none.ok()) return node.at(none);
  STREW_ASSIGN(int rows, builder.reduce(ExprOp::max, wide, {0}, false));
  STREW_ASSIGN(rows, builder.apply(ExprOp::max, {rows, minus_one}));
  STREW_ASSIGN(rows, builder.apply(ExprOp::add, {rows, builder.integer(1)}));
  STREW_ASSIGN(parts.result_shape, result_shape(node, rows, data, 1));
  return add(node, data, ids, CombinerKind::add, Scalar{node.type(data).dtype}, OobPolicy::error, true, std::move(parts));
}

Status import_unsorted_segment(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  STREW_TRY(node.check_not_quantized());
  STREW_ASSIGN(const int data, node.input(0, "data"));
  STREW_ASSIGN(const int ids, node.input(1, "segment_ids"));
  STREW_ASSIGN(const int count, node.input(2, "num_segments"));
  STREW_TRY(check_ids(node, data, ids));
  STREW_TRY(node.check_index_type(count, "num_segments"));
  ProgramBuilder builder = node.builder();
  const Expected<int> scalar = builder.reshape(count, {});
  if (!scalar.ok()) return node.at(scalar.status().with_prefix("num_segments"));
  STREW_ASSIGN(const int rows, builder.convert(*scalar, DType::i64));
  STREW_ASSIGN(const int wide, builder.convert(ids, DType::i64));
  STREW_ASSIGN(const int is_outside, builder.apply(ExprOp::ge, {wide, rows}));
  KernelParts parts;
  const Status none = require_none(node, is_outside, "the number of segment ids that are not less than num_segments", parts);
  if (!none.ok()) return node.at(none);
  STREW_ASSIGN(parts.result_shape, result_shape(node, rows, data, node.type(ids).rank()));
  const DType dtype = node.type(data).dtype;
  if (dtype == DType::boolean) return node.error("data has element type bool, expected numbers");
  CombinerKind kind = CombinerKind::add;
  Scalar fill{dtype};
  if (node.code() == schema::BuiltinOperator::UNSORTED_SEGMENT_PROD) {
    kind = CombinerKind::mul;
    fill = Scalar::of(dtype, 1);
  } else if (node.code() == schema::BuiltinOperator::UNSORTED_SEGMENT_MAX) {
    kind = CombinerKind::max;
    fill = extreme(dtype, true);
  } else if (node.code() == schema::BuiltinOperator::UNSORTED_SEGMENT_MIN) {
    kind = CombinerKind::min;
    fill = extreme(dtype, false);
  }
  return add(node, data, ids, kind, fill, OobPolicy::skip_element, false, std::move(parts));
}

}  // namespace strew::inline v0::tflite
