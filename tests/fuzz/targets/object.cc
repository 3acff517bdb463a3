// Fuzz target object: the loader's reading of an object (backends/loader). Whatever the bytes are, the answer is code in memory, which is not run, or a
// Status; and the memory is given back.
#include <cstddef>
#include <cstdint>

#include "backends/loader/loader.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto loaded = strew::load_object({reinterpret_cast<const char*>(data), size}, {});
  if (!loaded.ok()) strew::fuzz::check_refusal(loaded.status());
  return 0;
}
