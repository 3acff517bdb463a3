// How many threads calls from Python may use: what strew.set_threads said, or the innermost `with strew.threads(n):` of this thread.
#pragma once

#include <cstdint>

namespace strew::python {

/// 0: as many as the kernel may use.
int32_t call_threads();
/// Both return what was set before. 0 stands for "not set".
int32_t set_process_threads(int32_t threads);
int32_t set_thread_threads(int32_t threads);

}  // namespace strew::python
