// Fuzz target stablehlo: StableHLO and tensor-dialect text. check.h says what holds of a file. Spliced, a text is one that MLIR parses.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "strew/splice.h"
#include "tests/fuzz/check.h"

namespace {

void check_spliced(std::string_view text, strew::SpliceLevel level) {
  const strew::Expected<strew::Spliced> spliced = strew::splice(text, "fuzz.mlir", {level, true, true});
  if (!spliced.ok()) return strew::fuzz::check_refusal(spliced.status());
  if (spliced->calls.empty() != (spliced->text == text)) strew::fuzz::broken("a text has calls, or it is the input's");
  const strew::Expected<strew::Spliced> again = strew::splice(spliced->text, "again.mlir", {level, true, true});
  if (!again.ok()) strew::fuzz::broken("a spliced text is refused: " + again.status().message());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  strew::fuzz::check_file(text, ".mlir");
  check_spliced(text, strew::SpliceLevel::operators);
  check_spliced(text, strew::SpliceLevel::fused);
  return 0;
}
