// DYNAMIC_UPDATE_SLICE, SCATTER_ND and SPARSE_TO_DENSE.
//
// DYNAMIC_UPDATE_SLICE has inputs operand, update and start_indices, a vector of [rank] elements of i32 or i64. The start is clamped so
// that the update fits. All element types are accepted.
//
// SCATTER_ND has inputs indices, updates and shape. The result starts as zeros, to which every update is added, so duplicates sum up. A
// negative index or one out of bounds is an error; LiteRT checks the linear position only, so there an index may reach into the next row.
// `shape` may be computed when the model runs: it is evaluated before the result is allocated.
//
// SPARSE_TO_DENSE has inputs indices, output_shape, values and default_value: the result is filled with the default, and the values are written
// to the elements that the index vectors name. An index out of bounds is an error; LiteRT does not check. Tested by
// tests/unit/compiler/import/tflite/tflite_import_test.cc and tests/oracle/litert_models.py.
#include "compiler/import/builder/forms.h"
#include "compiler/import/node/tensors.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/dims.h"
#include "compiler/op/limits.h"
#include "strew/forms.h"
#include "strew/text.h"

namespace strew::inline v0::tflite {
namespace {

Status same_dtype(const Node& node, const TensorType& update, const TensorType& operand) {
  if (update.dtype == operand.dtype) return {};
  return node.error("update has element type {}, expected operand's {}", name(update.dtype), name(operand.dtype));
}

/// Refuses an update that is larger than the operand: no clamped start exists for it.
Status check_fits(const Node& node, const TensorType& update, const TensorType& operand) {
  if (update.rank() != operand.rank())
    return node.error("update has rank {}, expected operand's {}", update.rank(), operand.rank());
  for (size_t d = 0; d < update.dims.size(); ++d) {
    if (update.dims[d] == kDynamic || operand.dims[d] == kDynamic || update.dims[d] <= operand.dims[d]) continue;
    return node.error("update's dim {} is {}, expected at most operand's {}", d, update.dims[d], operand.dims[d]);
  }
  return {};
}

/// The shape of a filled result: an input, of which some elements may be known.
struct Shape {
  int value = -1;
  std::vector<int64_t> dims;
  bool is_known() const { return is_static(dims); }
};

Expected<Shape> shape_input(Node& node, int i) {
  const int value = node[static_cast<size_t>(i)];
  const std::string what = node.describe(i);
  STREW_TRY(node.check_index_type(value, what));
  const TensorType type = node.type(value);
  if (type.rank() != 1) return node.error("{} has rank {}, expected 1", what, type.rank());
  if (type.dims[0] == kDynamic) return node.refuse("{} is {}, expected a known number of elements", what, print(type));
  if (type.dims[0] > kMaxRank) return node.error("shape has {} elements, expected at most {}", type.dims[0], kMaxRank);
  Shape out{value, node.builder().known(value)};
  STREW_TRY(check_extents(out.dims, "shape"));
  return out;
}

/// The windows of SCATTER_ND are as large as the result's dims: what one of them leaves open, the other may know, and if none does, they are
/// compared at the call.
Status fit_windows(Node& node, const TensorType& indices, int updates, Shape& shape, KernelParts& parts) {
  const std::vector<int64_t> given = node.type(updates).dims;
  const size_t outer = indices.dims.empty() ? 0 : indices.dims.size() - 1;
  const int64_t vector = indices.dims.empty() ? kDynamic : indices.dims.back();
  if (vector == kDynamic) return {};  // the op refuses it
  for (size_t d = static_cast<size_t>(vector); d < shape.dims.size(); ++d) {
    const size_t from = outer + d - static_cast<size_t>(vector);
    if (from >= given.size() || shape.dims[d] != kDynamic) continue;
    shape.dims[d] = given[from];
    if (given[from] != kDynamic) continue;
    STREW_ASSIGN(const int wanted, node.builder().element(shape.value, static_cast<int64_t>(d)));
    parts.equal_scalars.push_back({wanted, node.builder().extent(updates, static_cast<int64_t>(from)),
                                   fmt::format("element {} of shape", d), fmt::format(", dim {} of updates", from)});
  }
  return {};
}

}  // namespace

Expected<int> import_dynamic_update_slice(Node& node) {
  const TensorType operand = node.type(node[0]), update = node.type(node[1]);
  TensorType indices = node.type(node[2]);
  STREW_TRY(same_dtype(node, update, operand));
  STREW_TRY(check_fits(node, update, operand));
  const int64_t rank = operand.rank();
  if (indices.rank() == 1 && indices.dims[0] == kDynamic) indices.dims[0] = rank;
  if (indices.rank() != 1 || indices.dims[0] != rank)
    return node.error("start_indices has rank {}{}, expected rank 1 and one element per dim of operand: {}", indices.rank(),
                      indices.rank() == 1 ? fmt::format(" and {} elements", indices.dims[0]) : "", rank);
  return node.kernel(dynamic_update_slice(operand, indices, update).build(),
                     {.arguments = {node[0], node[2], node[1]},
                      .notes = {"in place if the caller binds operand and output to one buffer"},
                      .fixed_policy = true});
}

Expected<int> import_scatter_nd(Node& node) {
  const int indices = node[0], updates = node[1];
  STREW_ASSIGN(Shape shape, shape_input(node, 2));
  KernelParts parts{.arguments = {indices, updates}};
  if (!shape.is_known()) {
    parts.result_shape = shape.value;
    STREW_TRY(fit_windows(node, node.type(indices), updates, shape, parts));
  }
  const TensorType type = node.type(updates);
  ScatterBuilder op = scatter_nd({type.dtype, std::move(shape.dims), {}}, node.type(indices), type);
  op.normalize_negative(false).combine(CombinerKind::add).fill({Scalar{type.dtype}});
  return node.kernel(op.build(), std::move(parts));
}

/// Indices are [n, rank], or without the second dim for a result of rank 1, or one of these without the first; so are values.
Expected<int> import_sparse_to_dense(Node& node) {
  int indices = node[0], values = node[2];
  const int otherwise = node[3];
  STREW_ASSIGN(const Shape shape, shape_input(node, 1));
  STREW_TRY(same_dtype(node, node.type(values), node.type(otherwise)));
  ProgramBuilder& builder = node.builder();
  const int rank = node.type(indices).rank();
  if (rank > 2 || (rank < 2 && shape.dims.size() != 1) || node.type(values).rank() > 1 || node.type(otherwise).rank() != 0)
    return node.error("indices {}, values {} and default_value {}, expected indices [n,{}], values [n] or one, and one default",
                      print(node.type(indices)), print(node.type(values)), print(node.type(otherwise)), shape.dims.size());
  const int64_t count = rank == 0 ? 1 : node.type(indices).dims[0];
  if (rank < 2) {
    STREW_ASSIGN(indices, builder.reshape(indices, {count, 1}));
  }
  if (node.type(values).rank() == 0) {
    STREW_ASSIGN(values, builder.broadcast_to(values, builder.shape(indices, 0, 1)));
  }
  ScatterBuilder op = scatter_nd({node.type(values).dtype, shape.dims, {}}, node.type(indices), node.type(values));
  op.normalize_negative(false);
  KernelParts parts{.arguments = {indices, values}};
  const std::optional<Scalar> fill = builder.constant(otherwise);
  if (fill) {
    op.fill({*fill});
    if (!shape.is_known()) parts.result_shape = shape.value;
  } else {
    STREW_ASSIGN(const int operand, builder.broadcast_to(otherwise, shape.value));
    parts.arguments.insert(parts.arguments.begin(), operand);
  }
  return node.kernel(op.build(), std::move(parts));
}

}  // namespace strew::inline v0::tflite
