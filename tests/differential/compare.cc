// See compare.h. Bytes are compared first, elements only if bytes differ. Tested by tests/unit/differential/differential_test.cc.
#include "tests/differential/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/elements.h"

namespace strew::test {
namespace {

std::vector<int64_t> coordinates(int64_t number, const std::vector<int64_t>& dims) {
  std::vector<int64_t> at(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    at[d] = number % dims[d];
    number /= dims[d];
  }
  return at;
}

/// A mask of the bits that belong to elements.
std::vector<std::byte> owned_bits(const TensorType& type, size_t bytes, int64_t origin) {
  std::vector<std::byte> mask(bytes, std::byte{0});
  Scalar ones;
  ones.dtype = type.dtype;
  ones.bits = {~0ull, ~0ull};
  for (int64_t element : element_numbers(type.dims, strides_of(type))) store_element(mask.data() + origin, ones, element);
  return mask;
}

struct Strictness {
  bool touched = false, untouched = false;  ///< "untouched" results must keep all bits
};

Strictness strictness(const Op& op, int i) {
  const auto n = static_cast<size_t>(i);
  if (const Gather* g = std::get_if<Gather>(&op)) {
    const bool moves = g->expr.empty() && g->operand.dtype == g->result.dtype;
    return {moves, moves};
  }
  const Scatter& s = std::get<Scatter>(op);
  const DType result = s.results[n].dtype;
  const bool moves = s.combiner == CombinerKind::assign && s.updates[n].dtype == result,
             keeps = s.init != InitKind::copy || s.operands[n].dtype == result;
  // A look-up may drop what reaches an element by the op's own indices.
  return {moves && (s.lookups.empty() || keeps), keeps};
}

std::optional<std::string> stray_in(const TensorType& type, const std::vector<std::byte>& before,
                                    const std::vector<std::byte>& after, int64_t origin, int i) {
  const std::vector<std::byte> mask = owned_bits(type, before.size(), origin);
  for (size_t b = 0; b < before.size(); ++b) {
    const std::byte changed = (before[b] ^ after[b]) & ~mask[b];
    if (changed == std::byte{0}) continue;
    return fmt::format("result {}: byte {} from element 0, outside every element, changed from 0x{:02x} to 0x{:02x}", i,
                       static_cast<int64_t>(b) - origin, static_cast<int>(before[b]), static_cast<int>(after[b]));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> first_stray_write(const Call& call, const Call::Image& before, const Call::Image& after) {
  for (int i = 0; i < call.result_count(); ++i) {
    const auto n = static_cast<size_t>(i);
    if (before[n] == after[n]) continue;
    if (auto stray = stray_in(*call.slots()[n].type, before[n], after[n], call.origin_offset(i), i)) return stray;
  }
  return std::nullopt;
}

std::optional<std::string> first_difference(const Call& call, const Call::Image& expected, const Call::Image& actual,
                                            const Touched& touched) {
  for (int i = 0; i < call.result_count(); ++i) {
    const auto n = static_cast<size_t>(i);
    if (expected[n] == actual[n]) continue;
    const TensorType& type = *call.slots()[n].type;
    const int64_t origin = call.origin_offset(i);
    const Strictness strict = strictness(call.op(), i);
    const std::vector<int64_t> elements = element_numbers(type.dims, strides_of(type));
    for (size_t e = 0; e < elements.size(); ++e) {
      const Scalar want = load_element(expected[n].data() + origin, type.dtype, elements[e]);
      const Scalar got = load_element(actual[n].data() + origin, type.dtype, elements[e]);
      if (want == got) continue;
      const bool was_touched = touched.element.empty() || touched.element[e] != 0;
      const bool exact = was_touched ? strict.touched : strict.untouched;
      if (!exact && same_value(want, got)) continue;
      return fmt::format("result {} [{}]: expected {}, got {}{}", i,
                         fmt::join(coordinates(static_cast<int64_t>(e), type.dims), ","), bits_text(want), bits_text(got),
                         was_touched ? "" : " (no update reaches it)");
    }
    if (auto stray = stray_in(type, expected[n], actual[n], origin, i)) return stray;
  }
  return std::nullopt;
}

}  // namespace strew::test
