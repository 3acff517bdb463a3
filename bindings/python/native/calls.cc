// Tested by tests/python/kernel_test.py.
#include "bindings/python/native/calls.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "strew/strew.h"

namespace strew::python {
namespace {

std::atomic<int32_t> of_process{0};
thread_local int32_t of_thread = 0;

}  // namespace

int32_t set_process_threads(int32_t threads) { return of_process.exchange(threads, std::memory_order_relaxed); }
int32_t set_thread_threads(int32_t threads) { return std::exchange(of_thread, threads); }

strew_call_options options_of_call(strew_bad_index& bad_index) {
  strew_call_options options = STREW_CALL_OPTIONS_INIT;
  options.threads = of_thread != 0 ? of_thread : of_process.load(std::memory_order_relaxed);
  options.bad_index = &bad_index;
  return options;
}

const char* compile_mode(const char* asked) {
  static const bool environment_says = [] {
    const char* const text = std::getenv("STREW_COMPILE");
    return text != nullptr && std::strcmp(text, strew_options_from_environment().compile) == 0;  // else it is no mode
  }();
  return asked != nullptr || environment_says ? asked : "background";
}

strew_request request_of_functions() {
  strew_request request = STREW_REQUEST_INIT;
  request.compile = compile_mode(nullptr);
  return request;
}

bool is_quick(std::span<const Array> arrays) {
  constexpr int64_t kQuickBytes = 64 << 10;
  int64_t bytes = 0;
  for (const Array& each : arrays) bytes += each.elements * (strew_dtype_bits(static_cast<strew_dtype>(each.tensor.dtype)) / 8);
  return bytes < kQuickBytes;
}

}  // namespace strew::python
