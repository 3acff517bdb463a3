// Tested by tests/python/kernel_test.py.
#include "bindings/python/native/threads.h"

#include <atomic>
#include <utility>

namespace strew::python {
namespace {

std::atomic<int32_t> of_process{0};
thread_local int32_t of_thread = 0;

}  // namespace

int32_t call_threads() { return of_thread != 0 ? of_thread : of_process.load(std::memory_order_relaxed); }
int32_t set_process_threads(int32_t threads) { return of_process.exchange(threads, std::memory_order_relaxed); }
int32_t set_thread_threads(int32_t threads) { return std::exchange(of_thread, threads); }

}  // namespace strew::python
