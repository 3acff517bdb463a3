// Fuzz target target: the text of --target. What parses prints to text that parses to a target with the same text and features.
#include "strew/target.h"

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check.h"

namespace strew::fuzz {
namespace {

void check_target_text(std::string_view text) {
  const Expected<Target> target = parse_target(text);
  if (!target.ok()) return check_refusal(target.status());
  const std::string printed = print(*target);
  const Expected<Target> again = parse_target(printed);
  if (!again.ok()) broken("the text of a target is refused: " + again.status().message());
  if (print(*again) != printed) broken("the text of a target changes: " + printed + " and " + print(*again));
  if (again->features != target->features || again->vector_bytes != target->vector_bytes || again->f16c != target->f16c)
    broken("the text of a target reads back as another one: " + printed);
}

}  // namespace
}  // namespace strew::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strew::fuzz::check_target_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
