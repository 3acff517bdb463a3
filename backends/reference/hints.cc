// See hints.h. check_unique_elements() keeps a hash table from each element written to the position that wrote it;
// check_sorted_starts() keeps the last start of each batch. Both are simple and slow like the rest of the reference: they are
// for finding out why a result is wrong. Tested by tests/unit/backends/reference/hints_test.cc.
#include "backends/reference/hints.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/reference/geometry.h"
#include "backends/reference/policy.h"

namespace strew::inline v0 {
namespace {
using namespace reference;

std::string text_of(__int128 value) {
  return value < 0 ? std::to_string(static_cast<int64_t>(value)) : std::to_string(static_cast<uint64_t>(value));
}

template <class Number>
std::string list_of(const std::vector<Number>& numbers) {
  std::string text = "[";
  for (const Number& number : numbers) text += (text.size() > 1 ? "," : "") + text_of(number);
  return text + "]";
}

/// The indices of one call, and what the loops over them need.
struct Walk {
  Geometry shape;
  Indices indices;
  OobPolicy oob;
  bool normalize_negative;
};

Walk walk_of(const Op& op, std::span<const TensorView> tensors) {
  const Bound bound(op, tensors);
  return std::visit(
      [&](const auto& access) -> Walk {
        Geometry shape = geometry_of(op, bound);
        Indices starts(shape, bound.sources[0]);
        return {std::move(shape), std::move(starts), access.oob, access.normalize_negative};
      },
      op);
}

Status check_unique_elements(const Walk& walk) {
  const Geometry& shape = walk.shape;
  if (is_empty(shape.positions) || is_empty(shape.window)) return {};
  Policy policy(shape, walk.oob, walk.normalize_negative);
  // From an element of the result to the position that wrote it; both row-major numbers
  std::unordered_map<int64_t, int64_t> writer;
  Coords position(shape.positions.size(), 0), in_window(shape.window.size(), 0), target(shape.target.size(), 0);
  int64_t number = 0;
  do {
    policy.start(walk.indices, position);
    const bool dropped = walk.oob == OobPolicy::skip_window && !policy.window_inside();
    do {
      if (dropped || !policy.resolve(in_window, target)) continue;
      const auto [first, is_new] = writer.try_emplace(linear(shape.target, target), number);
      if (!is_new)
        return invalid_argument("unique_indices: update positions " + std::to_string(first->second) + " and " +
                                std::to_string(number) + " both write result element " + list_of(target) +
                                ", expected every element written once; drop the hint, or the duplicates");
    } while (next(shape.window, in_window));
    ++number;
  } while (next(shape.positions, position));
  return {};
}

Status check_sorted_starts(const Walk& walk) {
  const Geometry& shape = walk.shape;
  if (is_empty(shape.positions)) return {};
  struct Last {
    int64_t number;
    std::vector<__int128> start;
  };
  std::map<Coords, Last> last;  // for each batch, its last position so far
  Coords position(shape.positions.size(), 0);
  int64_t number = 0;
  do {
    Coords batch;
    std::vector<__int128> start;
    for (size_t d = 0; d < shape.target.size(); ++d) {
      if (shape.batch[d] >= 0) batch.push_back(position[static_cast<size_t>(shape.batch[d])]);
      if (shape.component[d] >= 0) start.push_back(walk.indices.load(position, static_cast<size_t>(shape.component[d])));
    }
    const auto [before, is_new] = last.try_emplace(batch, Last{number, start});
    if (!is_new && start < before->second.start)
      return invalid_argument("indices_are_sorted: position " + std::to_string(number) + " starts at " + list_of(start) +
                              ", before " + list_of(before->second.start) + " of position " +
                              std::to_string(before->second.number) +
                              ", expected starts that never decrease; drop the hint, or sort");
    before->second = {number++, std::move(start)};
  } while (next(shape.positions, position));
  return {};
}

}  // namespace

bool has_hints(const Op& op) {
  const auto* scatter = std::get_if<Scatter>(&op);
  return has_sorted_indices(op) || (scatter != nullptr && scatter->unique_indices);
}

Status check_hints(const Op& op, std::span<const TensorView> tensors) {
  const Walk walk = walk_of(op, tensors);
  const auto* scatter = std::get_if<Scatter>(&op);
  if (scatter != nullptr && scatter->unique_indices) STREW_TRY(check_unique_elements(walk));
  return has_sorted_indices(op) ? check_sorted_starts(walk) : Status();
}

}  // namespace strew::inline v0
