// See index_values.h. A row is a number that counts the places of a window in row-major order of the operand's dims; it is taken apart into the
// starts of the index components.
#include "tune/index_values.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/number.h"
#include "base/strides.h"
#include "compiler/op/access_dims.h"
#include "tune/usage.h"

namespace strew::inline v0 {
namespace {

std::vector<int64_t> strides_of(const TensorType& type) {
  return type.strides.empty() ? contiguous_strides(type.dims) : type.strides;
}

/// The index positions of an op, one after another in row-major order.
class Positions {
 public:
  /// `strides`: those of the index tensor.
  Positions(const Op& op, std::vector<int64_t> strides) : dims_(op), strides_(std::move(strides)) {
    for (const AccessDims::Position& position : dims_.positions) {
      extents_.push_back(indices_of(op).dims[static_cast<size_t>(position.indices_dim)]);
      is_batch_.push_back(position.operand_dim >= 0);
    }
    at_.assign(extents_.size(), 0);
  }
  int64_t count() const { return product(extents_); }
  int64_t batches() const { return count_of(true); }
  int64_t in_batch() const { return count_of(false); }
  const AccessDims& dims() const { return dims_; }

  void next() {
    for (size_t d = at_.size(); d-- > 0;) {
      if (++at_[d] < extents_[d]) return;
      at_[d] = 0;
    }
  }
  /// The number of the position's batch, and its number within the batch.
  int64_t batch() const { return number_of(true); }
  int64_t within() const { return number_of(false); }
  /// The element of the indices that has the component of this position.
  int64_t element(size_t component) const {
    int64_t out = 0;
    for (size_t d = 0; d < at_.size(); ++d) out += at_[d] * strides_[static_cast<size_t>(dims_.positions[d].indices_dim)];
    if (!dims_.scalar_indices) out += static_cast<int64_t>(component) * strides_[static_cast<size_t>(dims_.index_vector_dim)];
    return out;
  }

 private:
  int64_t count_of(bool batch) const {
    int64_t out = 1;
    for (size_t d = 0; d < extents_.size(); ++d)
      if (is_batch_[d] == batch) out *= extents_[d];
    return out;
  }
  int64_t number_of(bool batch) const {
    int64_t out = 0;
    for (size_t d = 0; d < extents_.size(); ++d)
      if (is_batch_[d] == batch) out = out * extents_[d] + at_[d];
    return out;
  }

  AccessDims dims_;
  std::vector<int64_t> strides_, extents_, at_;
  std::vector<bool> is_batch_;
};

/// The components in the order of the operand dims that they move.
std::vector<size_t> components_in_order(const AccessDims& dims) {
  std::vector<size_t> order(dims.components.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return dims.components[a] < dims.components[b]; });
  return order;
}

}  // namespace

int64_t product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Status write_indices(const Op& sized, size_t tensor, const Distribution& distribution, uint64_t seed, std::byte* first) {
  const std::vector<const TensorType*> tensors = std::visit([](const auto& op) { return index_tensors(op); }, sized);
  Positions position(sized, strides_of(*tensors[tensor]));
  if (position.count() == 0) return {};
  const std::vector<int64_t> starts = starts_of(sized);
  const std::vector<size_t> order = components_in_order(position.dims());
  const DType dtype = tensors[tensor]->dtype;
  const bool unique = is_scatter(sized) && std::get<Scatter>(sized).unique_indices;
  std::vector<std::vector<int64_t>> rows;
  for (int64_t batch = 0; batch < position.batches(); ++batch) {
    STREW_ASSIGN(std::vector<int64_t> drawn,
                 draw_rows(distribution, position.in_batch(), product(starts), seed + static_cast<uint64_t>(batch)));
    if (has_sorted_indices(sized)) std::sort(drawn.begin(), drawn.end());  // the op says so, whatever the distribution
    rows.push_back(std::move(drawn));
  }
  for (int64_t i = 0; i < position.count(); ++i, position.next()) {
    int64_t row = rows[static_cast<size_t>(position.batch())][static_cast<size_t>(position.within())];
    for (size_t k = order.size(); k-- > 0; row /= starts[k]) {
      if (tensors.size() > 1 && order[k] != tensor) continue;
      const auto dim = static_cast<size_t>(position.dims().components[order[k]]);
      const int64_t start = row % starts[k] * (unique ? std::max<int64_t>(1, position.dims().operand[dim].window) : 1);
      Scalar value;
      value.dtype = dtype;
      value.bits[0] = encode_i64(dtype, start);
      store_element(dtype, first, position.element(order[k]), value);
    }
  }
  return {};
}

Status check_indices_in_bounds(const Op& sized, const std::byte* first) {
  Positions position(sized, strides_of(indices_of(sized)));
  const DType dtype = indices_of(sized).dtype;
  const bool wraps = normalizes_negative(sized);
  for (int64_t i = 0; i < position.count(); ++i, position.next()) {
    for (size_t k = 0; k < position.dims().components.size(); ++k) {
      const auto dim = static_cast<size_t>(position.dims().components[k]);
      const int64_t extent = table_of(sized).dims[dim], most = extent - position.dims().operand[dim].window;
      const int64_t value = decode_i64(dtype, load_element(dtype, first, position.element(k)).bits[0]);
      if ((value >= 0 && value <= most) || (wraps && value < 0 && value >= -extent && value + extent <= most)) continue;
      return invalid_argument("indices: component " + std::to_string(k) + " of position " + std::to_string(i) + " is " +
                              std::to_string(value) + ", expected 0.." + std::to_string(most));
    }
  }
  return {};
}

}  // namespace strew::inline v0
