// Fuzz target pto_ir: programs in PTO IR. check_pto.cc says what holds of them.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strew::fuzz::check_pto({reinterpret_cast<const char*>(data), size}, strew::pto::Spelling::ir);
  return 0;
}
