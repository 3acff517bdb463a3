// See dims.h. Tested by tests/unit/compiler/op/dims_test.cc.
#include "compiler/op/dims.h"

#include <algorithm>
#include <numeric>

#include "compiler/op/message.h"
#include "strew/op.h"

namespace strew::inline v0 {

std::string extent_text(int64_t extent) { return extent == kDynamic ? "?" : std::to_string(extent); }

std::string dims_text(const std::vector<int64_t>& dims) {
  constexpr size_t kMostShown = 16;
  std::string text = "[";
  for (size_t i = 0; i < dims.size() && i < kMostShown; ++i) text += (i > 0 ? "," : "") + extent_text(dims[i]);
  return text + (dims.size() > kMostShown ? ",...]" : "]");
}

std::vector<int64_t> all_dims(size_t rank) {
  std::vector<int64_t> out(rank);
  std::iota(out.begin(), out.end(), int64_t{0});
  return out;
}

bool is_static(const std::vector<int64_t>& dims) { return std::find(dims.begin(), dims.end(), kDynamic) == dims.end(); }

bool unify(int64_t& extent, int64_t other) {
  if (extent == kDynamic) extent = other;
  return other == kDynamic || extent == other;
}

Status unify_dims(std::vector<int64_t>& dims, const std::vector<int64_t>& other, std::string_view what) {
  std::vector<int64_t> both = dims;
  bool agree = dims.size() == other.size();
  for (size_t d = 0; agree && d < both.size(); ++d) agree = unify(both[d], other[d]);
  if (!agree) return invalid_argument(message("{} {}, expected {}", what, other, dims));
  dims = std::move(both);
  return {};
}

Status check_dim(int64_t dim, size_t rank, std::string_view what) {
  const auto end = static_cast<int64_t>(rank);
  if (dim >= 0 && dim < end) return {};
  return invalid_argument(message("{} is {}, expected 0 to {}", what, dim, end - 1));
}

Status check_dims(const std::vector<int64_t>& dims, size_t rank, std::string_view what) {
  const auto end = static_cast<int64_t>(rank);
  std::vector<bool> seen(rank);
  for (const int64_t dim : dims) {
    if (dim < 0 || dim >= end || seen[dim])
      return invalid_argument(message("{} holds {}, expected each of 0 to {} once at most", what, dim, end - 1));
    seen[dim] = true;
  }
  return {};
}

}  // namespace strew::inline v0
