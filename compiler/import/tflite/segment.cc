// SEGMENT_SUM and UNSORTED_SEGMENT_SUM, _PROD, _MAX, _MIN: rows of data are combined into the row of the result that their segment id names.
//
// The number of rows of the result is the last id + 1, or an input: it is worked out before the result is allocated. As in LiteRT, the ids of
// SEGMENT_SUM must begin with 0 and each must be its predecessor or 1 more; of the others, negative ids are left out, and ids from the number
// of segments on are errors. Rows that no id names hold the value from which the combination starts. Tested by
// tests/unit/compiler/import/tflite/tflite_segment_test.cc and tests/models.
#include <limits>

#include "compiler/import/builder/forms.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "strew/forms.h"

namespace strew::inline v0::tflite {
namespace {

/// The number of elements that are true, of which there must be none. `what`: they are "`what` is 3".
Status require_none(ProgramBuilder& builder, int wrong, const std::string& what, KernelParts& parts) {
  STREW_ASSIGN(int count, builder.convert(wrong, DType::i64));
  if (builder.type(count).rank() > 0) {
    STREW_ASSIGN(count, builder.reduce(ExprOp::add, count, all_dims(builder.type(count).dims.size()), false));
  }
  const auto known = builder.integers(count);
  if (known && known->front() == 0) return {};
  if (known) return invalid_argument(fmt::format("{} is {}, expected 0", what, known->front()));
  parts.equal_scalars.push_back({count, builder.integer(0), what, ""});
  return {};
}

/// Adds the kernel, whose result has `rows` rows.
Expected<int> add(Node& node, int rows, CombinerKind kind, Scalar fill, OobPolicy oob, bool is_sorted, KernelParts parts) {
  ProgramBuilder& builder = node.builder();
  const TensorType data = node.type(node[0]), ids = node.type(node[1]);
  std::vector<int> dims{rows};
  for (int64_t d = ids.rank(); d < data.rank(); ++d) dims.push_back(builder.extent(node[0], d));
  const int shape = builder.stack(dims, DType::i64);
  const TensorType result{data.dtype, builder.known(shape), {}};
  if (!is_static(result.dims)) parts.result_shape = shape;
  parts.arguments = {node[1], node[0]};
  ScatterBuilder op = scatter_rows(result, ids, data).normalize_negative(false).combine(kind).fill({fill});
  return node.kernel(op.oob(oob).indices_are_sorted(is_sorted).build(), std::move(parts));
}

Status check_ids(const Node& node) {
  const int rank = node.type(node[1]).rank(), most = node.type(node[0]).rank();
  if (rank <= most) return {};
  return node.error("segment_ids has rank {}, expected at most data's {}", rank, most);
}

/// From where a combination by max or min starts: the least or largest number of the dtype, of floats a finite one, as in LiteRT.
Scalar extreme(DType dtype, ExprOp op) {
  if (is_integer(dtype)) return {dtype, {identity_bits(op, dtype).value_or(0), 0}};
  const double most = dtype == DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  return Scalar::of(dtype, op == ExprOp::max ? -most : most);
}

}  // namespace

/// The sum of the rows of each segment. That the ids are sorted is checked, so the kernel may rely on it.
Expected<int> import_segment_sum(Node& node) {
  STREW_TRY(check_ids(node));
  if (node.type(node[1]).rank() != 1) return node.error("segment_ids has rank {}, expected 1", node.type(node[1]).rank());
  ProgramBuilder& builder = node.builder();
  STREW_ASSIGN(const int wide, builder.convert(node[1], DType::i64));
  const int minus_one = builder.integer(-1);
  // The largest id before each, or -1. An id is wrong unless it is that or 1 more; that it is not -1 is checked by the policy.
  const Expected<int> before = builder.apply(ExprOp::max, {builder.scan(ExprOp::max, wide, 0, {.exclusive = true}), minus_one});
  const Expected<int> step = builder.apply(ExprOp::sub, {wide, before});
  const Expected<int> is_back = builder.apply(ExprOp::lt, {step, builder.integer(0)});
  const Expected<int> is_far = builder.apply(ExprOp::gt, {step, builder.integer(1)});
  STREW_ASSIGN(const int is_wrong, builder.apply(ExprOp::bit_or, {is_back, is_far}));
  KernelParts parts;
  STREW_TRY(require_none(builder, is_wrong, "the number of segment ids that are neither the one before nor 1 more (the first: 0)",
                         parts));
  const Expected<int> last = builder.apply(ExprOp::max, {builder.reduce(ExprOp::max, wide, {0}, false), minus_one});
  STREW_ASSIGN(const int rows, builder.apply(ExprOp::add, {last, builder.integer(1)}));
  return add(node, rows, CombinerKind::add, Scalar{node.type(node[0]).dtype}, OobPolicy::error, true, std::move(parts));
}

Expected<int> import_unsorted_segment(Node& node) {
  STREW_TRY(check_ids(node));
  ProgramBuilder& builder = node.builder();
  const Expected<int> scalar = builder.reshape(node[2], {});
  if (!scalar.ok()) return scalar.status().with_prefix("num_segments");
  STREW_ASSIGN(const int rows, builder.convert(*scalar, DType::i64));
  STREW_ASSIGN(const int is_outside, builder.apply(ExprOp::ge, {builder.convert(node[1], DType::i64), rows}));
  KernelParts parts;
  STREW_TRY(require_none(builder, is_outside, "the number of segment ids that are not less than num_segments", parts));
  const DType dtype = node.type(node[0]).dtype;
  if (dtype == DType::boolean) return node.error("data has element type bool, expected numbers");
  const ExprOp op = node.form()->expr;
  Scalar fill{dtype};
  if (op == ExprOp::mul) fill = Scalar::of(dtype, 1);
  if (op == ExprOp::max || op == ExprOp::min) fill = extreme(dtype, op);
  return add(node, rows, find_combiner(op)->kind, fill, OobPolicy::skip_element, false, std::move(parts));
}

}  // namespace strew::inline v0::tflite
