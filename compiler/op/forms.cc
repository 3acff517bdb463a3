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

#include "compiler/op/dims.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

using Dims = std::vector<int64_t>;

/// [begin, end)
Dims range(int64_t begin, int64_t end) {
  Dims out;
  for (int64_t i = begin; i < end; ++i) out.push_back(i);
  return out;
}

template <class... Args>
Status refused(MessageText<Args...> text, const Args&... args) {
  return invalid_argument(message(text, args...));
}

/// The dim that `axis` stands for.
Expected<int64_t> resolve(std::string_view form, int64_t axis, int64_t rank) {
  const int64_t dim = axis < 0 ? axis + rank : axis;
  if (dim >= 0 && dim < rank) return dim;
  return refused("{}: axis is {}; expected from {} to {} for an operand of rank {}", form, axis, -rank, rank - 1, rank);
}

/// Extent of the last dim of indices, which holds the index vectors. Fails if the extent is dynamic or larger than `most`.
Expected<int64_t> last_extent(std::string_view form, const TensorType& indices, int64_t most) {
  const std::string what = message("{}: the last dim of indices, the length of its index vectors, ", form);
  if (indices.dims.empty()) return refused("{}is missing: indices has rank 0; expected at least 1", what);
  const int64_t k = indices.dims.back();
  if (k == kDynamic) return refused("{}is ?; expected a static extent", what);
  if (k < 0 || k > most) return refused("{}is {}; expected from 0 to {}", what, k, std::max<int64_t>(most, 0));
  return k;
}

// The dimension numbers of a form.

Expected<DimensionNumbers> slice(const TensorType& operand) {
  const Dims all = range(0, operand.rank());
  return DimensionNumbers{.window_dims = all, .index_map = all};
}

Expected<DimensionNumbers> rows(std::string_view form, const TensorType& operand, const TensorType& indices) {
  const int64_t positions = indices.rank();
  STREW_TRY(resolve(form, 0, operand.rank()).status());
  return DimensionNumbers{range(positions, positions + operand.rank() - 1), {0}, {}, {}, {0}, positions};
}

Expected<DimensionNumbers> elements(std::string_view form, const TensorType& operand, const TensorType& indices, int64_t axis) {
  STREW_ASSIGN(const int64_t dim, resolve(form, axis, operand.rank()));
  Dims others = range(0, operand.rank());
  others.erase(others.begin() + dim);
  return DimensionNumbers{{}, {dim}, others, others, {dim}, indices.rank()};
}

Expected<DimensionNumbers> nd(std::string_view form, const TensorType& operand, const TensorType& indices, int64_t batch) {
  const int64_t positions = indices.rank() - 1, rank = operand.rank();
  STREW_ASSIGN(const int64_t k, last_extent(form, indices, rank - batch));
  const Dims batching = range(0, batch), indexed = range(batch, batch + k);
  return DimensionNumbers{range(positions, positions + rank - batch - k), indexed, batching, batching, indexed, positions};
}

/// `indices`: a tensor per dim of the operand, from dim 0 on.
Expected<DimensionNumbers> at(std::string_view form, const TensorType& operand, const std::vector<TensorType>& indices) {
  const auto count = static_cast<int64_t>(indices.size());
  const int64_t rank = operand.rank();
  if (count < 1 || count > rank)
    return refused("{}: {} index tensors; expected from 1 to {}, the rank of operand", form, count, rank);
  const int64_t positions = indices[0].rank();
  return DimensionNumbers{range(positions, positions + rank - count), range(0, count), {}, {}, range(0, count), positions};
}

template <class Builder>
Builder with_more(Builder b, const std::vector<TensorType>& indices) {
  for (size_t k = 1; k < indices.size(); ++k) b.more_indices(indices[k]);
  return b;
}

ScatterBuilder scatter_of(const TensorType& operand, const TensorType& indices, const TensorType& updates,
                          Expected<DimensionNumbers> numbers) {
  ScatterBuilder b;
  b.operand(operand).indices(indices).updates(updates);
  return numbers.ok() ? b.dimension_numbers(*std::move(numbers)) : b.fail(numbers.status());
}

/// The slices are whole, except that they have one element (none of an empty dim) in dims that have none in the result.
GatherBuilder gather_of(const TensorType& operand, const TensorType& indices, Expected<DimensionNumbers> numbers) {
  GatherBuilder b;
  b.operand(operand).indices(indices);
  if (!numbers.ok()) return b.fail(numbers.status());
  Dims sizes = operand.dims;
  for (const Dims* list : {&numbers->removed_dims, &numbers->operand_batching_dims})
    for (const int64_t d : *list) sizes[d] = sizes[d] == 0 ? 0 : 1;
  return b.dimension_numbers(*std::move(numbers)).slice_sizes(std::move(sizes));
}

/// Negative indices count from the end, and others that are out of bounds are errors.
template <class Builder>
Builder as_in_onnx(Builder b) {
  return b.normalize_negative().oob(OobPolicy::error);
}

}  // namespace

ScatterBuilder dynamic_update_slice(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  return scatter_of(operand, indices, updates, slice(operand)).oob(OobPolicy::clamp);
}

GatherBuilder dynamic_slice(const TensorType& operand, const TensorType& indices, std::vector<int64_t> slice_sizes) {
  return gather_of(operand, indices, slice(operand)).slice_sizes(std::move(slice_sizes)).oob(OobPolicy::clamp);
}

ScatterBuilder tensor_scatter(const TensorType& operand, const TensorType& indices, const TensorType& updates, int64_t axis,
                              bool circular) {
  const int64_t rank = operand.rank();
  const auto numbers = [&]() -> Expected<DimensionNumbers> {
    STREW_ASSIGN(const int64_t dim, resolve("tensor_scatter", axis, rank));
    if (dim != 0) return DimensionNumbers{range(1, rank), {}, {0}, {0}, {dim}, indices.rank()};
    return refused("tensor_scatter: axis is {}, which is dim 0 of an operand of rank {}; expected another: dim 0 is the batch",
                   axis, rank);
  };
  return scatter_of(operand, indices, updates, numbers()).oob(circular ? OobPolicy::wrap : OobPolicy::error);
}

ScatterBuilder scatter_rows(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  return scatter_of(operand, indices, updates, rows("scatter_rows", operand, indices));
}

GatherBuilder gather_rows(const TensorType& operand, const TensorType& indices) {
  return gather_of(operand, indices, rows("gather_rows", operand, indices));
}

ScatterBuilder scatter_elements(const TensorType& operand, const TensorType& indices, const TensorType& updates, int64_t axis) {
  return as_in_onnx(scatter_of(operand, indices, updates, elements("scatter_elements", operand, indices, axis)));
}

GatherBuilder gather_elements(const TensorType& operand, const TensorType& indices, int64_t axis) {
  return as_in_onnx(gather_of(operand, indices, elements("gather_elements", operand, indices, axis)));
}

ScatterBuilder scatter_nd(const TensorType& operand, const TensorType& indices, const TensorType& updates) {
  return as_in_onnx(scatter_of(operand, indices, updates, nd("scatter_nd", operand, indices, 0)));
}

GatherBuilder gather_nd(const TensorType& operand, const TensorType& indices, int64_t batch_dims) {
  const int64_t most = std::clamp<int64_t>(indices.rank() - 1, 0, operand.rank());
  const bool fits = batch_dims >= 0 && batch_dims <= most && batch_dims < indices.rank();
  return as_in_onnx(gather_of(operand, indices,
                              fits ? nd("gather_nd", operand, indices, batch_dims)
                                   : refused("gather_nd: batch_dims is {}; expected from 0 to {}, less than the rank of indices "
                                             "and at most the rank of operand",
                                             batch_dims, most)));
}

ScatterBuilder scatter_at(const TensorType& operand, const std::vector<TensorType>& indices, const TensorType& updates) {
  const TensorType first = indices.empty() ? TensorType() : indices[0];
  return as_in_onnx(with_more(scatter_of(operand, first, updates, at("scatter_at", operand, indices)), indices));
}

GatherBuilder gather_at(const TensorType& operand, const std::vector<TensorType>& indices) {
  const TensorType first = indices.empty() ? TensorType() : indices[0];
  return as_in_onnx(with_more(gather_of(operand, first, at("gather_at", operand, indices)), indices));
}

ScatterBuilder sddmm(const TensorType& lhs, const TensorType& lhs_ids, const TensorType& rhs, const TensorType& rhs_ids,
                     int lanes) {
  const int64_t positions = lhs_ids.rank();
  const auto rows_of = [&](const TensorType& table) {
    TensorType rows{table.dtype, lhs_ids.dims, {}};
    if (table.rank() > 0) rows.dims.insert(rows.dims.end(), table.dims.begin() + 1, table.dims.end());
    return rows;
  };
  const TensorType left = rows_of(lhs), right = rows_of(rhs);
  // A value per position: strides as of a tensor of positions, and 0 along rows.
  TensorType values{lhs.dtype, left.dims, Dims(left.dims.size(), 0)};
  int64_t run = 1;
  for (int64_t d = positions; d-- > 0;) {
    values.strides[d] = run;
    run = run == kDynamic || values.dims[d] == kDynamic ? kDynamic : run * values.dims[d];
  }
  TensorType none{DType::i32, lhs_ids.dims, {}};
  none.dims.push_back(0);
  const bool is_narrow = is_float(lhs.dtype) && bits(lhs.dtype) < 32;
  const DType wide = is_narrow ? DType::f32 : lhs.dtype;
  ExprBuilder of_element, of_row;
  const int32_t a = of_element.as(of_element.update(0, lhs.dtype), wide);
  const int32_t b = of_element.as(of_element.extra(0, rhs.dtype), wide);
  const int32_t product = of_element.mul(a, b);
  const int32_t sum = of_row.as(of_row.extra(1, wide), lhs.dtype);
  return scatter_of(values, none, left,
                    DimensionNumbers{range(positions, left.rank()), {}, range(0, positions), range(0, positions), {}, positions})
      .result(values)
      .extra(ExtraKind::per_element, right)
      .look_up(Role::updates, 0, gather_rows(lhs, lhs_ids).oob(OobPolicy::error))
      .look_up(Role::extra, 0, gather_rows(rhs, rhs_ids).oob(OobPolicy::error))
      .row_reduction(ExprOp::add, lanes, of_element.returns({product}))
      .combine(of_row.returns({sum}))
      .fill({Scalar{lhs.dtype, {0, 0}}});
}

GatherBuilder gather(const TensorType& operand, const TensorType& indices, int64_t axis, int64_t batch_dims) {
  const auto numbers = [&]() -> Expected<DimensionNumbers> {
    STREW_ASSIGN(const int64_t dim, resolve("gather", axis, operand.rank()));
    const int64_t most = std::min<int64_t>(dim, indices.rank());
    if (batch_dims < 0 || batch_dims > most)
      return refused("gather: batch_dims is {}; expected from 0 to {}, at most axis and the rank of indices", batch_dims, most);
    // result: batch, operand dims before axis, the other dims of indices, operand dims after axis
    Dims offsets = range(batch_dims, dim);
    const int64_t after = dim + indices.rank() - batch_dims;
    for (const int64_t d : range(after, after + operand.rank() - dim - 1)) offsets.push_back(d);
    const Dims batching = range(0, batch_dims);
    return DimensionNumbers{offsets, {dim}, batching, batching, {dim}, indices.rank()};
  };
  return as_in_onnx(gather_of(operand, indices, numbers()));
}

}  // namespace strew::inline v0
