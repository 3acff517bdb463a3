// See policy.h. start() resolves the start of a window for each index component, resolve() the elements for each target
// dim. Whatever the policy is, resolve() compares the coordinate with the extent last: so policy `undefined` drops an
// element that is out of bounds, and a dim of extent 0 has no elements. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#include "backends/reference/policy.h"

#include <algorithm>

namespace strew::inline v0::reference {
namespace {

bool start_inside(__int128 start, int64_t dim, int64_t window) {
  return start >= 0 && start <= static_cast<__int128>(dim) - window;
}

__int128 floor_mod(__int128 value, int64_t modulus) {
  const __int128 remainder = value % modulus;
  return remainder < 0 ? remainder + modulus : remainder;
}

}  // namespace

Policy::Policy(const Geometry& geometry, OobPolicy policy, bool normalize_negative)
    : geometry_(geometry), policy_(policy), normalize_negative_(normalize_negative), start_(geometry.target.size(), 0) {}

__int128 Policy::normalized(__int128 value, int64_t dim) const { return normalize_negative_ && value < 0 ? value + dim : value; }

std::optional<strew_fault> Policy::find_fault(const Indices& indices) const {
  if (is_empty(geometry_.positions) || geometry_.target_of_component.empty()) return std::nullopt;
  Coords position(geometry_.positions.size(), 0);
  int64_t number = 0;
  do {
    for (size_t k = 0; k < geometry_.target_of_component.size(); ++k) {
      const auto d = static_cast<size_t>(geometry_.target_of_component[k]);
      const int64_t dim = geometry_.target[d], window = geometry_.window_extent(d);
      const __int128 value = indices.load(position, k);
      if (start_inside(normalized(value, dim), dim, window)) continue;
      return strew_fault{number, static_cast<int64_t>(k), static_cast<int64_t>(value), dim - window};
    }
    ++number;
  } while (next(geometry_.positions, position));
  return std::nullopt;
}

void Policy::start(const Indices& indices, const Coords& position) {
  window_inside_ = true;
  for (size_t d = 0; d < geometry_.target.size(); ++d) {
    start_[d] = geometry_.batch[d] < 0 ? 0 : position[static_cast<size_t>(geometry_.batch[d])];
    if (geometry_.component[d] < 0) continue;
    const int64_t dim = geometry_.target[d], window = geometry_.window_extent(d);
    start_[d] = normalized(indices.load(position, static_cast<size_t>(geometry_.component[d])), dim);
    if (!start_inside(start_[d], dim, window)) window_inside_ = false;
    if (policy_ == OobPolicy::clamp) start_[d] = std::clamp<__int128>(start_[d], 0, std::max<int64_t>(dim - window, 0));
  }
}

bool Policy::resolve(const Coords& in_window, Coords& target) const {
  for (size_t d = 0; d < geometry_.target.size(); ++d) {
    const int64_t dim = geometry_.target[d];
    __int128 coordinate = start_[d];
    if (geometry_.window_dim[d] >= 0) coordinate += in_window[static_cast<size_t>(geometry_.window_dim[d])];
    if (policy_ == OobPolicy::wrap && geometry_.component[d] >= 0 && dim > 0) coordinate = floor_mod(coordinate, dim);
    if (coordinate < 0 || coordinate >= dim) return false;
    target[d] = static_cast<int64_t>(coordinate);
  }
  return true;
}

}  // namespace strew::inline v0::reference
