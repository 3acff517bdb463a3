// See tensors.h.
#include "compiler/import/node/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/import/file_constant.h"
#include "compiler/op/limits.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

Status check_rank(size_t rank, const std::string& what) {
  if (rank <= static_cast<size_t>(kMaxRank)) return {};
  return invalid_argument(fmt::format("{}: rank is {}, expected at most {}", what, rank, kMaxRank));
}

Expected<int64_t> count_elements(const std::vector<int64_t>& dims, const std::string& what) {
  STREW_TRY(check_rank(dims.size(), what));
  const Expected<int64_t> count = element_count(dims);
  return count.ok() ? count : count.status().with_prefix(what);
}

Status check_extents(std::vector<int64_t> dims, const std::string& what) {
  std::replace(dims.begin(), dims.end(), kDynamic, int64_t{1});
  return count_elements(dims, what).status();
}

Status read_bytes(Constant& constant, int64_t count, std::string_view bytes, int64_t expected, const std::string& field,
                  const std::shared_ptr<const void>& owner) {
  if (static_cast<uint64_t>(expected) != bytes.size())
    return invalid_argument(fmt::format("{} has {} bytes, expected {} for {} elements of {}", field, bytes.size(), expected,
                                        count, name(constant.type.dtype)));
  set_bytes(constant, std::as_bytes(std::span(bytes)), owner);
  return {};
}

void make_canonical(Constant& constant, int64_t count) {
  if (constant.type.dtype == DType::boolean)
    for (std::byte& b : constant.data) b = std::byte(b != std::byte{0});
  const int used = static_cast<int>(count * bits(constant.type.dtype) % 8);
  if (bits(constant.type.dtype) < 8 && used != 0 && !constant.data.empty()) constant.data.back() &= std::byte((1 << used) - 1);
}

}  // namespace strew::inline v0
