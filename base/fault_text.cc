// See fault_text.h. The generated code reports a fault as four integers (strew_fault); the caller adds the shapes and
// the rules that the message needs. Tested by tests/unit/backends/reference/reference_scatter_test.
#include "base/fault_text.h"

#include <cstddef>
#include <string>
#include <vector>

#include "base/number.h"

namespace strew::inline v0 {
namespace {

std::string position_text(int64_t position, std::span<const int64_t> dims) {
  std::vector<int64_t> coord(dims.size());
  int64_t rest = position;
  for (size_t d = dims.size(); d-- > 0;) {
    coord[d] = dims[d] > 0 ? rest % dims[d] : 0;
    rest = dims[d] > 0 ? rest / dims[d] : 0;
  }
  std::string text = "[";
  for (size_t d = 0; d < coord.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(coord[d]);
  return text + "] (linear " + std::to_string(position) + ")";
}

/// The values that are legal, as the user would write them: 0 <= v <= bound and, if `negatives`, -dim <= v <= bound -
/// dim, which count from the end.
std::string expected_text(int64_t bound, int64_t dim, bool negatives) {
  if (bound < 0) return "no value: the indexed dim has extent " + std::to_string(dim);
  const std::string upper = " <= v <= " + std::to_string(bound);
  if (!negatives || dim == 0) return "0" + upper;
  if (bound >= dim - 1) return std::to_string(-dim) + upper;  // the two ranges are adjacent
  return "0" + upper + " or " + std::to_string(-dim) + " <= v <= " + std::to_string(bound - dim);
}

}  // namespace

int64_t full_position(int64_t position, std::span<const int64_t> dims, uint64_t repeated) {
  if (repeated == 0) return position;
  int64_t full = 0, stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if ((repeated >> d & 1) == 0 && dims[d] > 0) {
      full += position % dims[d] * stride;
      position /= dims[d];
    }
    stride *= dims[d];
  }
  return full;
}

Status fault_status(const FaultRule& rule, const strew_fault& fault, std::span<const int64_t> position_dims, int64_t dim) {
  const std::string value = rule.is_u64 ? std::to_string(static_cast<uint64_t>(fault.value)) : std::to_string(fault.value);
  return out_of_bounds("index out of bounds: " + rule.position_of + " position " + position_text(fault.position, position_dims) +
                       ", component " + std::to_string(fault.component) + ": value " + value + ", expected " +
                       expected_text(fault.bound, dim, rule.counts_from_end));
}

namespace {

int64_t integer_at(const TensorView& tensor, int64_t i) {
  return decode_i64(tensor.dtype, load_element(tensor.dtype, static_cast<const std::byte*>(tensor.data), i).bits[0]);
}

}  // namespace

Status check_non_negative(const TensorView& tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.dims[d];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = integer_at(tensor, i);
    if (value >= 0) continue;
    const std::string position = std::to_string(i);
    return out_of_bounds("index out of bounds: update position [" + position + "] (linear " + position +
                         "), component 0: value " + std::to_string(value) + ", expected 0 <= v");
  }
  return {};
}

Status check_equal(const TensorView& tensor, const TensorView& other, const std::string& what, const std::string& where) {
  const int64_t have = integer_at(tensor, 0), want = integer_at(other, 0);
  if (have == want) return {};
  return invalid_argument(what + " is " + std::to_string(have) + ", expected " + std::to_string(want) + where);
}

}  // namespace strew::inline v0
