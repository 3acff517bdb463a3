// How calls from Python run: on how many threads, with or without the interpreter, and how their kernels are compiled.
#pragma once

#include <cstdint>
#include <span>

#include "bindings/python/native/arrays.h"
#include "strew/strew.h"

namespace strew::python {

/// What strew.set_threads said, or the innermost `with strew.threads(n):` of this thread. Both return what was set before; 0 stands for "not set".
int32_t set_process_threads(int32_t threads);
int32_t set_thread_threads(int32_t threads);

/// The options of a call from this thread, which fills `bad_index` if an index is out of bounds.
strew_call_options options_of_call(strew_bad_index& bad_index);

/// How a kernel is compiled: as `asked`; where that is null, in the background, unless the environment says otherwise (docs/options.md), for which null
/// stands.
const char* compile_mode(const char* asked);
/// What functions ask for.
strew_request request_of_functions();

/// Whether a call on these arrays keeps the interpreter: giving it away and taking it back costs what such a call takes.
bool is_quick(std::span<const Array> arrays);

}  // namespace strew::python
