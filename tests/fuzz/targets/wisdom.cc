// Fuzz target wisdom: a line of a wisdom file. What parses prints to a line that parses to the same record.
#include <cstddef>
#include <cstdint>

#include "schedules/wisdom/record.h"
#include "tests/fuzz/check.h"

namespace strew::fuzz {
namespace {

void check_wisdom_line(std::string_view line) {
  const Expected<WisdomRecord> record = parse_wisdom_record(line);
  if (!record.ok()) return check_refusal(record.status());
  const std::string printed = print(*record);
  const Expected<WisdomRecord> again = parse_wisdom_record(std::string_view(printed).substr(0, printed.size() - 1));
  if (!again.ok()) broken("the line of a record is refused: " + again.status().message());
  if (print(*again) != printed) broken("the line of a record changes: " + printed + " and " + print(*again));
}

}  // namespace
}  // namespace strew::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strew::fuzz::check_wisdom_line({reinterpret_cast<const char*>(data), size});
  return 0;
}
