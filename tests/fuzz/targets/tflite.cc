// Fuzz target tflite: TensorFlow Lite models (flatbuffers). check.h says what holds of a file.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strew::fuzz::check_file({reinterpret_cast<const char*>(data), size}, ".tflite");
  return 0;
}
