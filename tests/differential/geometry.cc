// See geometry.h. Tested by tests/unit/differential/differential_test.cc.
#include "tests/differential/geometry.h"

#include <algorithm>
#include <utility>

#include "tests/support/elements.h"

namespace strew::test {
namespace {

bool contains(const std::vector<int64_t>& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Moves a coordinate to the next one in row-major order; false after the last.
bool step(std::vector<int64_t>& at, const std::vector<int64_t>& dims) {
  for (size_t d = dims.size(); d-- > 0;) {
    if (++at[d] < dims[d]) return true;
    at[d] = 0;
  }
  return false;
}

Wide floor_mod(Wide a, Wide b) {
  const Wide r = a % b;
  return r < 0 ? r + b : r;
}

/// Visits the elements of the window at `start` that the policy keeps.
class Walker {
 public:
  Walker(const Geometry& g, const Visit& visit) : g_(g), visit_(visit), strides_(contiguous_strides(g.operand)) {}

  void walk(const std::vector<int64_t>& position, const std::vector<Wide>& start) {
    if (g_.window_count() == 0) return;
    std::vector<int64_t> w(g_.window.size(), 0);
    do {
      int64_t number = 0;
      bool inside = true;
      for (size_t d = 0; d < w.size() && inside; ++d) {
        Wide c = start[d] + w[d];
        if (g_.oob == OobPolicy::wrap && g_.component[d] >= 0 && g_.operand[d] > 0) c = floor_mod(c, g_.operand[d]);
        inside = c >= 0 && c < g_.operand[d];
        if (inside) number += static_cast<int64_t>(c) * strides_[d];
      }
      if (inside) visit_(position, w, number);
    } while (step(w, g_.window));
  }

 private:
  const Geometry& g_;
  const Visit& visit_;
  std::vector<int64_t> strides_;
};

}  // namespace

int64_t Geometry::position_count() const { return count_of(positions); }
int64_t Geometry::window_count() const { return count_of(window); }

namespace {

/// The index tensor that has component k, and its number among the op's own.
std::pair<size_t, const TensorType*> tensor_of_component(const Op& op, size_t k) {
  const std::vector<const TensorType*> tensors = std::visit([](const auto& each) { return index_tensors(each); }, op);
  const size_t number = tensors.size() > 1 ? k : 0;
  return {number, tensors[number]};
}

/// Calls visit(number of the value, number of the tensor, its dtype, number of the element) for all index values, in the order of IndexValues.
template <class Visit>
void for_components(const Op& op, const Visit& visit) {
  const size_t components = dims_of(op).index_map.size();
  const auto vector_dim = static_cast<size_t>(dims_of(op).index_vector_dim);
  std::vector<int64_t> positions = indices_of(op).dims;
  if (vector_dim < positions.size()) positions.erase(positions.begin() + static_cast<ptrdiff_t>(vector_dim));
  std::vector<std::vector<int64_t>> elements;  // per component
  for (size_t k = 0; k < components; ++k) {
    const TensorType& type = *tensor_of_component(op, k).second;
    std::vector<int64_t> strides = strides_of(type);
    int64_t first = 0;
    if (vector_dim < strides.size()) {
      first = static_cast<int64_t>(k) * strides[vector_dim];
      strides.erase(strides.begin() + static_cast<ptrdiff_t>(vector_dim));
    }
    elements.push_back(element_numbers(positions, strides));
    for (int64_t& element : elements.back()) element += first;
  }
  size_t number = 0;
  for (size_t p = 0; components > 0 && p < elements[0].size(); ++p)
    for (size_t k = 0; k < components; ++k) {
      const auto& [tensor, type] = tensor_of_component(op, k);
      visit(number++, tensor, type->dtype, elements[k][p]);
    }
}

}  // namespace

Geometry geometry_of(const Op& op) {
  Geometry g;
  const DimensionNumbers& numbers = dims_of(op);
  const Scatter* s = std::get_if<Scatter>(&op);
  const Gather* gather = std::get_if<Gather>(&op);
  g.scatter = s != nullptr;
  g.operand = s != nullptr ? s->operands[0].dims : gather->operand.dims;
  g.oob = s != nullptr ? s->oob : gather->oob;
  g.normalize = s != nullptr ? s->normalize_negative : gather->normalize_negative;
  g.map = numbers.index_map;
  const TensorType& indices = indices_of(op);
  for (size_t k = 0; k < g.map.size(); ++k) g.index_dtypes.push_back(tensor_of_component(op, k).second->dtype);
  for (int64_t d = 0; d < indices.rank(); ++d)
    if (d != numbers.index_vector_dim) g.positions.push_back(indices.dims[static_cast<size_t>(d)]);
  g.component.assign(g.operand.size(), -1);
  g.batch_position.assign(g.operand.size(), -1);
  for (size_t k = 0; k < g.map.size(); ++k) g.component[static_cast<size_t>(g.map[k])] = static_cast<int>(k);
  for (size_t b = 0; b < numbers.operand_batching_dims.size(); ++b) {
    const int64_t dim = numbers.indices_batching_dims[b];
    g.batch_position[static_cast<size_t>(numbers.operand_batching_dims[b])] =
        static_cast<int>(dim - (numbers.index_vector_dim < dim ? 1 : 0));
  }
  size_t next = 0;
  for (size_t d = 0; d < g.operand.size(); ++d) {
    const bool is_window = !contains(numbers.removed_dims, static_cast<int64_t>(d)) &&
                           !contains(numbers.operand_batching_dims, static_cast<int64_t>(d));
    g.has_window.push_back(is_window);
    if (gather != nullptr) {
      g.window.push_back(gather->slice_sizes[d]);
    } else {
      g.window.push_back(is_window ? s->updates[0].dims[static_cast<size_t>(numbers.window_dims[next++])] : 1);
    }
  }
  return g;
}

IndexValues load_indices(const Op& op, const std::vector<std::byte*>& origins) {
  IndexValues values;
  for_components(op, [&](size_t, size_t tensor, DType dtype, int64_t element) {
    const uint64_t bits_read = load_element(origins[tensor], dtype, element).bits[0];
    const int width = bits(dtype);
    Wide value = static_cast<Wide>(bits_read);
    if (is_signed_integer(dtype) && ((bits_read >> (width - 1)) & 1) != 0) value -= static_cast<Wide>(1) << width;
    values.push_back(value);
  });
  return values;
}

void store_indices(const Op& op, const std::vector<std::byte*>& origins, const IndexValues& values) {
  for_components(op, [&](size_t i, size_t tensor, DType dtype, int64_t element) {
    const int width = bits(dtype);
    Scalar value;
    value.dtype = dtype;
    value.bits[0] = static_cast<uint64_t>(values[i]) & (width == 64 ? ~0ull : (1ull << width) - 1);
    store_element(origins[tensor], value, element);
  });
}

Touched touched_by(const Geometry& g, const IndexValues& values) {
  Touched out;
  out.element.assign(static_cast<size_t>(count_of(g.operand)), 0);
  out.any_bad = visit_touched(g, values, [&](const std::vector<int64_t>&, const std::vector<int64_t>&, int64_t number) {
    uint8_t& times = out.element[static_cast<size_t>(number)];
    if (times != 0) out.twice = true;
    times = static_cast<uint8_t>(std::min(times + 1, 255));
  });
  return out;
}

bool visit_touched(const Geometry& g, const IndexValues& values, const Visit& visit) {
  bool any_bad = false;
  const int64_t positions = g.position_count();
  const size_t k_count = g.map.size();
  std::vector<std::pair<std::vector<int64_t>, std::vector<Wide>>> starts;  // starts of windows, with their positions
  std::vector<int64_t> at(g.positions.size(), 0);
  for (int64_t p = 0; p < positions; ++p) {
    std::vector<Wide> start(g.operand.size(), 0);
    for (size_t d = 0; d < start.size(); ++d)
      if (g.batch_position[d] >= 0) start[d] = at[static_cast<size_t>(g.batch_position[d])];
    bool bad = false;
    for (size_t k = 0; k < k_count; ++k) {
      const auto d = static_cast<size_t>(g.map[k]);
      Wide value = values[static_cast<size_t>(p) * k_count + k];
      if (g.normalize && value < 0) value += g.operand[d];
      bad |= value < 0 || value > g.bound(k);
      if (g.oob == OobPolicy::clamp) value = std::max<Wide>(0, std::min<Wide>(value, g.bound(k)));
      start[d] = value;
    }
    any_bad |= bad;
    if (!bad || g.oob == OobPolicy::skip_element || g.oob == OobPolicy::clamp || g.oob == OobPolicy::wrap) {
      starts.emplace_back(at, std::move(start));
    }
    step(at, g.positions);
  }
  if (g.oob == OobPolicy::error && any_bad) return true;
  Walker walker(g, visit);
  for (const auto& [position, start] : starts) walker.walk(position, start);
  return any_bad;
}

}  // namespace strew::test
