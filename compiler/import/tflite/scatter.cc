// DYNAMIC_UPDATE_SLICE and SCATTER_ND.
//
// DYNAMIC_UPDATE_SLICE has inputs operand, update and start_indices, a vector of [rank] elements of i32 or i64. The start is clamped so
// that the update fits. All element types are accepted.
//
// SCATTER_ND has inputs indices, updates and shape. The result starts as zeros, to which every update is added, so duplicates sum up. A
// negative index or one out of bounds is an error; LiteRT checks the linear position only, so there an index may reach into the next row.
// `shape` must be a constant, because it is the shape of the kernel's result. Tested by tests/unit/tflite_import_test.cc and
// tests/oracle/litert_models.py.
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/limits.h"
#include "strew/forms.h"
#include "strew/tensor.h"

namespace strew::inline v0::tflite {
namespace {

Status add(Node& node, const Expected<Scatter>& op, std::vector<int> arguments, std::vector<std::string> notes,
           bool fixed_policy) {
  if (!op.ok()) return node.at(op.status());
  return node.add_kernel(*op, std::move(arguments), std::move(notes), fixed_policy);
}

Status same_dtype(const Node& node, const TensorType& update, const TensorType& operand) {
  if (update.dtype == operand.dtype) return {};
  return node.error("update has element type " + std::string(name(update.dtype)) + ", expected operand's " +
                    std::string(name(operand.dtype)));
}

/// Refuses an update that is larger than the operand: no clamped start exists for it.
Status check_fits(const Node& node, const TensorType& update, const TensorType& operand) {
  if (update.rank() != operand.rank()) {
    return node.error("update has rank " + std::to_string(update.rank()) + ", expected operand's " +
                      std::to_string(operand.rank()));
  }
  for (size_t d = 0; d < update.dims.size(); ++d) {
    if (update.dims[d] == kDynamic || operand.dims[d] == kDynamic || update.dims[d] <= operand.dims[d]) continue;
    return node.error("update's dim " + std::to_string(d) + " is " + std::to_string(update.dims[d]) +
                      ", expected at most operand's " + std::to_string(operand.dims[d]));
  }
  return {};
}

}  // namespace

Status import_dynamic_update_slice(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  STREW_ASSIGN(const int operand, node.input(0, "operand"));
  STREW_ASSIGN(const int update, node.input(1, "update"));
  STREW_ASSIGN(const int start, node.input(2, "start_indices"));
  STREW_TRY(same_dtype(node, node.type(update), node.type(operand)));
  STREW_TRY(check_fits(node, node.type(update), node.type(operand)));
  STREW_TRY(node.check_index_type(start, "start_indices"));
  TensorType indices = node.type(start);
  const int64_t rank = node.type(operand).rank();
  if (indices.rank() == 1 && indices.dims[0] == kDynamic) indices.dims[0] = rank;
  if (indices.rank() != 1 || indices.dims[0] != rank) {
    return node.error("start_indices has rank " + std::to_string(indices.rank()) +
                      (indices.rank() == 1 ? " and " + std::to_string(indices.dims[0]) + " elements" : "") +
                      ", expected rank 1 and one element per dim of operand: " + std::to_string(rank));
  }
  return add(node, dynamic_update_slice(node.type(operand), indices, node.type(update)).build(), {operand, start, update},
             {"in place if the caller binds operand and output to one buffer"}, /*fixed_policy=*/true);
}

Status import_scatter_nd(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  STREW_ASSIGN(const int indices, node.input(0, "indices"));
  STREW_ASSIGN(const int updates, node.input(1, "updates"));
  STREW_ASSIGN(std::vector<int64_t> shape, node.constant_integers(2, "shape"));
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    return node.error("shape has " + std::to_string(shape.size()) + " elements, expected at most " + std::to_string(kMaxRank));
  }
  if (const Expected<int64_t> count = element_count(shape); !count.ok()) return node.error("shape: " + count.status().message());
  const TensorType& type = node.type(updates);
  const TensorType result{type.dtype, std::move(shape), {}};
  return add(node,
             scatter_nd(result, node.type(indices), type)
                 .normalize_negative(false)
                 .combine(CombinerKind::add)
                 .fill({Scalar{type.dtype}})
                 .build(),
             {indices, updates}, {}, /*fixed_policy=*/false);
}

}  // namespace strew::inline v0::tflite
