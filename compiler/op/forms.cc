// See forms.h. Each function writes the dimension numbers of one row of docs/semantics.md section 7. A function records
// a failure in its builder only if no dimension numbers describe its arguments; shapes that do not fit are found by
// verify(), which build() calls.
//
// A dim that is indexed one element at a time becomes an inserted dim (scatter) or a collapsed dim (gather). A gather's
// full window over a dynamic dim has slice size `?`, which the result gives at the call. A collapsed dim of extent 0
// has slice size 0, because constraint C21 requires a slice size that is not larger than the dim. Tested by
// tests/unit/compiler/op/builder_test.cc.
#include "strew/forms.h"

#include <algorithm>

namespace strew::inline v0 {
namespace {

using Dims = std::vector<int64_t>;

/// [begin, end)
Dims range(int64_t begin, int64_t end) {
  Dims out;
  for (int64_t i = begin; i < end; ++i) out.push_back(i);
  return out;
}

Dims without(Dims list, int64_t value) {
  list.erase(std::remove(list.begin(), list.end(), value), list.end());
  return list;
}

/// `axis` counted from 0, or -1 if there is no such dim.
int64_t resolve(int64_t axis, int64_t rank) {
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? axis : -1;
}

Status bad_axis(const char* form, int64_t axis, int64_t rank) {
  return invalid_argument(std::string(form) + ": axis is " + std::to_string(axis) + "; expected from " + std::to_string(-rank) +
                          " to " + std::to_string(rank - 1) + " for an operand of rank " + std::to_string(rank));
}

/// Slice size of a dim that is indexed one element at a time.
int64_t unit(const TensorType& operand, int64_t dim) { return operand.dims[static_cast<size_t>(dim)] == 0 ? 0 : 1; }

/// Extent of the last dim of indices, which holds the index vectors. Fails if the extent is dynamic or larger than `most`.
Expected<int64_t> last_extent(const char* form, const TensorType& indices, int64_t most) {
  const std::string what = std::string(form) + ": the last dim of indices, the length of its index vectors, ";
  if (indices.dims.empty()) return invalid_argument(what + "is missing: indices has rank 0; expected at least 1");
  const int64_t k = indices.dims.back();
  if (k == kDynamic) return invalid_argument(what + "is ?; expected a static extent");
  if (k < 0 || k > most) {
    return invalid_argument(what + "is " + std::to_string(k) + "; expected from 0 to " +
                            std::to_string(std::max<int64_t>(most, 0)));
  }
  return k;
}

ScatterBuilder scatter_of(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  ScatterBuilder b;
  b.operand(operand).indices(indices).updates(updates);
  return b;
}

GatherBuilder gather_of(const TensorType& operand, const TensorType& indices) {
  GatherBuilder b;
  b.operand(operand).indices(indices);
  return b;
}

}  // namespace

ScatterBuilder dynamic_update_slice(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  const Dims all = range(0, operand.rank());
  return scatter_of(operand, indices, updates).update_window_dims(all).scatter_dims_to_operand_dims(all).oob(OobPolicy::clamp);
}

GatherBuilder dynamic_slice(const TensorType& operand, const TensorType& indices, std::vector<int64_t> slice_sizes) {
  const Dims all = range(0, operand.rank());
  return gather_of(operand, indices)
      .offset_dims(all)
      .start_index_map(all)
      .slice_sizes(std::move(slice_sizes))
      .oob(OobPolicy::clamp);
}

ScatterBuilder tensor_scatter(const TensorType& operand, const TensorType& indices, const TensorType& updates, int64_t axis,
                              bool circular) {
  ScatterBuilder b = scatter_of(operand, indices, updates);
  const int64_t dim = resolve(axis, operand.rank());
  if (dim < 0) return b.fail(bad_axis("tensor_scatter", axis, operand.rank()));
  if (dim == 0) {
    return b.fail(invalid_argument("tensor_scatter: axis is " + std::to_string(axis) + ", which is dim 0 of an operand of rank " +
                                   std::to_string(operand.rank()) + "; expected another: dim 0 is the batch"));
  }
  return b.update_window_dims(range(1, operand.rank()))
      .batching_dims({0}, {0})
      .scatter_dims_to_operand_dims({dim})
      .index_vector_dim(indices.rank())
      .oob(circular ? OobPolicy::wrap : OobPolicy::error);
}

ScatterBuilder scatter_rows(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  return scatter_of(operand, indices, updates)
      .update_window_dims(range(indices.rank(), indices.rank() + operand.rank() - 1))
      .inserted_window_dims({0})
      .scatter_dims_to_operand_dims({0})
      .index_vector_dim(indices.rank());
}

GatherBuilder gather_rows(const TensorType& operand, const TensorType& indices) {
  if (operand.rank() == 0) return gather_of(operand, indices).fail(bad_axis("gather_rows", 0, 0));
  Dims sizes = operand.dims;
  sizes[0] = unit(operand, 0);
  return gather_of(operand, indices)
      .offset_dims(range(indices.rank(), indices.rank() + operand.rank() - 1))
      .collapsed_slice_dims({0})
      .start_index_map({0})
      .index_vector_dim(indices.rank())
      .slice_sizes(std::move(sizes));
}

ScatterBuilder scatter_elements(const TensorType& operand, const TensorType& indices, const TensorType& updates, int64_t axis) {
  ScatterBuilder b = scatter_of(operand, indices, updates);
  const int64_t dim = resolve(axis, operand.rank());
  if (dim < 0) return b.fail(bad_axis("scatter_elements", axis, operand.rank()));
  const Dims others = without(range(0, operand.rank()), dim);
  return b.inserted_window_dims({dim})
      .batching_dims(others, others)
      .scatter_dims_to_operand_dims({dim})
      .index_vector_dim(indices.rank())
      .normalize_negative()
      .oob(OobPolicy::error);
}

GatherBuilder gather_elements(const TensorType& operand, const TensorType& indices, int64_t axis) {
  GatherBuilder b = gather_of(operand, indices);
  const int64_t dim = resolve(axis, operand.rank());
  if (dim < 0) return b.fail(bad_axis("gather_elements", axis, operand.rank()));
  const Dims others = without(range(0, operand.rank()), dim);
  Dims sizes;
  for (int64_t d = 0; d < operand.rank(); ++d) sizes.push_back(unit(operand, d));
  return b.collapsed_slice_dims({dim})
      .batching_dims(others, others)
      .start_index_map({dim})
      .index_vector_dim(indices.rank())
      .slice_sizes(std::move(sizes))
      .normalize_negative()
      .oob(OobPolicy::error);
}

ScatterBuilder scatter_nd(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  ScatterBuilder b = scatter_of(operand, indices, updates);
  const Expected<int64_t> k = last_extent("scatter_nd", indices, operand.rank());
  if (!k.ok()) return b.fail(k.status());
  const int64_t positions = indices.rank() - 1;
  return b.update_window_dims(range(positions, positions + operand.rank() - *k))
      .inserted_window_dims(range(0, *k))
      .scatter_dims_to_operand_dims(range(0, *k))
      .index_vector_dim(positions)
      .normalize_negative()
      .oob(OobPolicy::error);
}

GatherBuilder gather_nd(const TensorType& operand, const TensorType& indices, int64_t batch_dims) {
  GatherBuilder b = gather_of(operand, indices);
  const int64_t positions = indices.rank() - 1;
  if (batch_dims < 0 || batch_dims > positions || batch_dims > operand.rank()) {
    return b.fail(invalid_argument("gather_nd: batch_dims is " + std::to_string(batch_dims) + "; expected from 0 to " +
                                   std::to_string(std::clamp<int64_t>(positions, 0, operand.rank())) +
                                   ", less than the rank of indices and at most the rank of operand"));
  }
  const Expected<int64_t> k = last_extent("gather_nd", indices, operand.rank() - batch_dims);
  if (!k.ok()) return b.fail(k.status());
  const Dims batching = range(0, batch_dims), indexed = range(batch_dims, batch_dims + *k);
  Dims sizes = operand.dims;
  for (int64_t d = 0; d < batch_dims + *k; ++d) sizes[static_cast<size_t>(d)] = unit(operand, d);
  return b.offset_dims(range(positions, positions + operand.rank() - batch_dims - *k))
      .collapsed_slice_dims(indexed)
      .batching_dims(batching, batching)
      .start_index_map(indexed)
      .index_vector_dim(positions)
      .slice_sizes(std::move(sizes))
      .normalize_negative()
      .oob(OobPolicy::error);
}

GatherBuilder gather(const TensorType& operand, const TensorType& indices, int64_t axis, int64_t batch_dims) {
  GatherBuilder b = gather_of(operand, indices);
  const int64_t dim = resolve(axis, operand.rank());
  if (dim < 0) return b.fail(bad_axis("gather", axis, operand.rank()));
  if (batch_dims < 0 || batch_dims > dim || batch_dims > indices.rank()) {
    return b.fail(invalid_argument("gather: batch_dims is " + std::to_string(batch_dims) + "; expected from 0 to " +
                                   std::to_string(std::min<int64_t>(dim, indices.rank())) +
                                   ", at most axis and the rank of indices"));
  }
  const Dims batching = range(0, batch_dims);
  Dims sizes = operand.dims;
  for (int64_t d = 0; d < batch_dims; ++d) sizes[static_cast<size_t>(d)] = unit(operand, d);
  sizes[static_cast<size_t>(dim)] = unit(operand, dim);
  // result: batch, operand dims before axis, the other dims of indices, operand dims after axis
  Dims offsets = range(batch_dims, dim);
  const int64_t after = dim + indices.rank() - batch_dims;
  for (int64_t d : range(after, after + operand.rank() - dim - 1)) offsets.push_back(d);
  return b.offset_dims(std::move(offsets))
      .collapsed_slice_dims({dim})
      .batching_dims(batching, batching)
      .start_index_map({dim})
      .index_vector_dim(indices.rank())
      .slice_sizes(std::move(sizes))
      .normalize_negative()
      .oob(OobPolicy::error);
}

}  // namespace strew::inline v0
