// The operators that become kernels, but for those of StableHLO (stablehlo.cc): gathers, scatters and sums of segments.
//
// GATHER, GATHER_ND and EMBEDDING_LOOKUP: an index out of bounds is an error, and so is a negative index: TensorFlow Lite does not count from
// the end. All element types are accepted (LiteRT has fewer); indices are i16, i32 or i64. A negative axis counts from the rank of the operand,
// a negative batch_dims from the rank of the indices.
//
// DYNAMIC_UPDATE_SLICE has inputs operand, update and start_indices, a vector of [rank] elements of i32 or i64. The start is clamped so
// that the update fits. All element types are accepted.
//
// SCATTER_ND has inputs indices, updates and shape. The result starts as zeros, to which every update is added, so duplicates sum up. A
// negative index or one out of bounds is an error; LiteRT checks the linear position only, so there an index may reach into the next row.
// `shape` may be computed when the model runs: it is evaluated before the result is allocated.
//
// SPARSE_TO_DENSE has inputs indices, output_shape, values and default_value: the result is filled with the default, and the values are written
// to the elements that the index vectors name. An index out of bounds is an error; LiteRT does not check.
//
// SEGMENT_SUM and UNSORTED_SEGMENT_SUM, _PROD, _MAX, _MIN: rows of data are combined into the row of the result that their segment id names.
// The number of rows of the result is the last id + 1, or an input: it is worked out before the result is allocated. As in LiteRT, the ids of
// SEGMENT_SUM must begin with 0 and each must be its predecessor or 1 more; of the others, negative ids are left out, and ids from the number
// of segments on are errors. Rows that no id names hold the value from which the combination starts.
//
// Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/unit/compiler/import/tflite/tflite_segment_test.cc,
// tests/oracle/litert_models.py and tests/models.
#include <limits>

#include "compiler/import/node/operations.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "compiler/op/limits.h"
#include "strew/forms.h"

namespace strew::inline v0::tflite {
namespace {

Expected<int> add_gather(const Node& node, GatherBuilder op, KernelArguments arguments) {
  return node.kernel(op.normalize_negative(false).build(), std::move(arguments));
}

Expected<int> import_gather(Node& node) {
  constexpr auto kOptions = schema::BuiltinOptions::GatherOptions;
  const auto options = node.op().builtin_options_type();
  if (node.op().builtin_options() != nullptr && options != kOptions)
    return node.error("its options are number {}, expected GatherOptions (23)", static_cast<int>(options));
  const int64_t axis = node.option(kOptions, &schema::GatherOptions::axis);
  int64_t batch_dims = node.option(kOptions, &schema::GatherOptions::batch_dims);
  const TensorType operand = node.type(node[0]), indices = node.type(node[1]);
  if (batch_dims < -indices.rank())
    return node.error("batch_dims is {}, expected at least {}, the rank of indices", batch_dims, -indices.rank());
  if (batch_dims < 0) batch_dims += indices.rank();
  return add_gather(node, gather(operand, indices, axis, batch_dims), node.arguments());
}

Expected<int> import_gather_nd(Node& node) {
  return add_gather(node, gather_nd(node.type(node[0]), node.type(node[1])), node.arguments());
}

/// Rows of a table. A table that is quantized although its rows are not is refused: LiteRT scales what it reads from it.
Expected<int> import_embedding_lookup(Node& node) {
  return add_gather(node, gather(node.type(node[1]), node.type(node[0]), 0, 0), {node[1], node[0]});
}

/// The shape of a filled result: an input, of which some elements may be known.
Expected<std::vector<int64_t>> shape_input(Node& node, int i) {
  const int value = node[i];
  const std::string what = node.describe(i);
  STREW_TRY(node.check_index_type(value, what));
  const TensorType type = node.type(value);
  if (type.rank() != 1) return node.error("{} has rank {}, expected 1", what, type.rank());
  if (type.dims[0] == kDynamic) return node.refuse("{} is {}, expected a known number of elements", what, type);
  if (type.dims[0] > kMaxRank) return node.error("shape has {} elements, expected at most {}", type.dims[0], kMaxRank);
  std::vector<int64_t> dims = node.builder().known(value);
  STREW_TRY(check_extents(dims, "shape"));
  return dims;
}

/// The windows of SCATTER_ND are as large as the result's dims: what one of them leaves open, the other may know, and if none does, they are
/// compared at the call.
Status fit_windows(Node& node, const TensorType& indices, int updates, std::vector<int64_t>& shape, KernelArguments& arguments) {
  const std::vector<int64_t> given = node.type(updates).dims;
  const size_t outer = indices.dims.empty() ? 0 : indices.dims.size() - 1;
  const int64_t vector = indices.dims.empty() ? kDynamic : indices.dims.back();
  if (vector == kDynamic) return {};  // the op refuses it
  for (size_t d = static_cast<size_t>(vector); d < shape.size(); ++d) {
    const size_t from = outer + d - static_cast<size_t>(vector);
    if (from >= given.size() || shape[d] != kDynamic) continue;
    shape[d] = given[from];
    if (given[from] != kDynamic) continue;
    STREW_ASSIGN(const int wanted, node.builder().element(node[2], static_cast<int64_t>(d)));
    arguments.push_back(KernelArgument::equal_scalars(wanted, node.builder().extent(updates, static_cast<int64_t>(from)),
                                                      fmt::format("element {} of shape", d),
                                                      fmt::format(", dim {} of updates", from)));
  }
  return {};
}

Expected<int> import_dynamic_update_slice(Node& node) {
  const Operand into = operand(node, 0), update = operand(node, 1);
  TensorType indices = node.type(node[2]);
  STREW_TRY(check_same_dtype(node, update, into));
  const int64_t rank = into.type.rank();
  STREW_TRY(check_rank(node, update, rank, "operand's"));
  STREW_TRY(check_smaller(node, update, into));  // no clamped start exists for a larger one
  if (indices.rank() == 1 && indices.dims[0] == kDynamic) indices.dims[0] = rank;
  if (indices.rank() != 1 || indices.dims[0] != rank)
    return node.error("start_indices has rank {}{}, expected rank 1 and one element per dim of operand: {}", indices.rank(),
                      indices.rank() == 1 ? fmt::format(" and {} elements", indices.dims[0]) : "", rank);
  return node.kernel(dynamic_update_slice(into.type, indices, update.type).build(), {node[0], node[2], node[1]},
                     {"in place if the caller binds operand and output to one buffer"}, /*fixed_policy=*/true);
}

Expected<int> import_scatter_nd(Node& node) {
  const int indices = node[0], updates = node[1];
  STREW_ASSIGN(std::vector<int64_t> shape, shape_input(node, 2));
  KernelArguments arguments{indices, updates};
  if (!is_static(shape)) {
    arguments.push_back({ArgumentUse::result_shape, node[2]});
    STREW_TRY(fit_windows(node, node.type(indices), updates, shape, arguments));
  }
  const TensorType type = node.type(updates);
  ScatterBuilder op = scatter_nd({type.dtype, std::move(shape), {}}, node.type(indices), type);
  op.normalize_negative(false).combine(CombinerKind::add).fill({Scalar{type.dtype}});
  return node.kernel(op.build(), std::move(arguments));
}

/// Indices are [n, rank], or without the second dim for a result of rank 1, or one of these without the first; so are values.
Expected<int> import_sparse_to_dense(Node& node) {
  int indices = node[0], values = node[2];
  const int otherwise = node[3];
  STREW_ASSIGN(const std::vector<int64_t> shape, shape_input(node, 1));
  STREW_TRY(check_same_dtype(node, operand(node, 2), operand(node, 3)));
  ProgramBuilder& builder = node.builder();
  const int rank = node.type(indices).rank();
  if (rank > 2 || (rank < 2 && shape.size() != 1) || node.type(values).rank() > 1 || node.type(otherwise).rank() != 0)
    return node.error("indices {}, values {} and default_value {}, expected indices [n,{}], values [n] or one, and one default",
                      node.type(indices), node.type(values), node.type(otherwise), shape.size());
  const int64_t count = rank == 0 ? 1 : node.type(indices).dims[0];
  if (rank < 2) STREW_TRY(assign(indices, builder.reshape(indices, {count, 1})));
  if (node.type(values).rank() == 0) STREW_TRY(assign(values, builder.broadcast_to(values, builder.shape(indices, 0, 1))));
  ScatterBuilder op = scatter_nd({node.type(values).dtype, shape, {}}, node.type(indices), node.type(values));
  op.normalize_negative(false);
  KernelArguments arguments{indices, values};
  const std::optional<Scalar> fill = builder.constant(otherwise);
  if (fill) {
    op.fill({*fill});
    if (!is_static(shape)) arguments.push_back({ArgumentUse::result_shape, node[1]});
  } else {
    STREW_ASSIGN(const int operand, builder.broadcast_to(otherwise, node[1]));
    arguments.insert(arguments.begin(), operand);
  }
  return node.kernel(op.build(), std::move(arguments));
}

/// The number of elements that are true, of which there must be none. `what`: they are "`what` is 3".
Status require_none(ProgramBuilder& builder, int wrong, const std::string& what, KernelArguments& arguments) {
  STREW_ASSIGN(int count, builder.convert(wrong, DType::i64));
  if (builder.type(count).rank() > 0)
    STREW_TRY(assign(count, builder.reduce(ExprOp::add, count, all_dims(builder.type(count).dims.size()), false)));
  const auto known = builder.integers(count);
  if (known && known->front() == 0) return {};
  if (known) return invalid_argument("{} is {}, expected 0", what, known->front());
  arguments.push_back(KernelArgument::equal_scalars(count, builder.integer(0), what, ""));
  return {};
}

/// Adds the kernel, whose result has `rows` rows.
Expected<int> add(Node& node, int rows, CombinerKind kind, Scalar fill, OobPolicy oob, bool is_sorted,
                  KernelArguments arguments) {
  ProgramBuilder& builder = node.builder();
  const TensorType data = node.type(node[0]), ids = node.type(node[1]);
  std::vector<int> dims{rows};
  for (int64_t d = ids.rank(); d < data.rank(); ++d) dims.push_back(builder.extent(node[0], d));
  const int shape = builder.stack(dims, DType::i64);
  const TensorType result{data.dtype, builder.known(shape), {}};
  if (!is_static(result.dims)) arguments.push_back({ArgumentUse::result_shape, shape});
  ScatterBuilder op = scatter_rows(result, ids, data).normalize_negative(false).combine(kind).fill({fill});
  return node.kernel(op.oob(oob).indices_are_sorted(is_sorted).build(), std::move(arguments));
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
  KernelArguments arguments{node[1], node[0]};
  STREW_TRY(require_none(builder, is_wrong, "the number of segment ids that are neither the one before nor 1 more (the first: 0)",
                         arguments));
  const Expected<int> last = builder.apply(ExprOp::max, {builder.reduce(ExprOp::max, wide, {0}, false), minus_one});
  STREW_ASSIGN(const int rows, builder.apply(ExprOp::add, {last, builder.integer(1)}));
  return add(node, rows, CombinerKind::add, Scalar{node.type(node[0]).dtype}, OobPolicy::error, true, std::move(arguments));
}

Expected<int> import_unsorted_segment(Node& node) {
  STREW_TRY(check_ids(node));
  ProgramBuilder& builder = node.builder();
  const Expected<int> scalar = builder.reshape(node[2], {});
  if (!scalar.ok()) return scalar.status().with_prefix("num_segments");
  STREW_ASSIGN(const int rows, builder.convert(*scalar, DType::i64));
  STREW_ASSIGN(const int is_outside, builder.apply(ExprOp::ge, {builder.convert(node[1], DType::i64), rows}));
  KernelArguments arguments{node[1], node[0]};
  STREW_TRY(require_none(builder, is_outside, "the number of segment ids that are not less than num_segments", arguments));
  const DType dtype = node.type(node[0]).dtype;
  if (dtype == DType::boolean) return node.error("data has element type bool, expected numbers");
  const ExprOp op = node.form()->expr;
  Scalar fill{dtype};
  if (op == ExprOp::mul) fill = Scalar::of(dtype, 1);
  if (op == ExprOp::max || op == ExprOp::min) fill = extreme(dtype, op);
  return add(node, rows, find_combiner(op)->kind, fill, OobPolicy::skip_element, false, std::move(arguments));
}

}  // namespace

std::vector<Operator> indexed_operators() {
  using B = schema::BuiltinOperator;
  constexpr auto kStored = Quantized::as_stored, kRefused = Quantized::refused, kSame = Quantized::same;
  constexpr auto kForm = [](std::string_view inputs, ExprOp op = {}) {
    return OperatorForm{.inputs = inputs, .expr = op, .indexed = true};
  };
  constexpr std::string_view kSegments = "data segment_ids# num_segments#";
  return {
      {B::GATHER, kForm("params indices"), kStored, import_gather},
      {B::GATHER_ND, kForm("params indices"), kStored, import_gather_nd},
      {B::EMBEDDING_LOOKUP, kForm("lookup value"), kStored, import_embedding_lookup},
      {B::SCATTER_ND, kForm("indices updates shape"), kStored, import_scatter_nd},
      {B::SPARSE_TO_DENSE, kForm("indices# shape values default_value"), kSame, import_sparse_to_dense},
      {B::SEGMENT_SUM, kForm("data segment_ids#"), kRefused, import_segment_sum},
      {B::UNSORTED_SEGMENT_SUM, kForm(kSegments, ExprOp::add), kRefused, import_unsorted_segment},
      {B::UNSORTED_SEGMENT_PROD, kForm(kSegments, ExprOp::mul), kRefused, import_unsorted_segment},
      {B::UNSORTED_SEGMENT_MAX, kForm(kSegments, ExprOp::max), kRefused, import_unsorted_segment},
      {B::UNSORTED_SEGMENT_MIN, kForm(kSegments, ExprOp::min), kRefused, import_unsorted_segment},
      {B::DYNAMIC_UPDATE_SLICE, kForm("operand update start_indices#"), kStored, import_dynamic_update_slice},
      {B::STABLEHLO_SCATTER, kForm("input scatter_indices updates"), kStored, import_stablehlo_scatter},
      {B::STABLEHLO_GATHER, kForm("operand start_indices"), kStored, import_stablehlo_gather},
  };
}

}  // namespace strew::inline v0::tflite
