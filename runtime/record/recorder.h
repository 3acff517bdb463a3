// The recorder: under STREW_RECORD, every process leaves a file that says how its kernels were called, for `strew tune` (docs/tuning.md,
// "Recording"). Tested by tests/unit/runtime/record/record_test.cc.
#pragma once

#include <span>
#include <string>

#include "runtime/kernel_state.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// Counts the call, which used up to `threads` threads, and looks at its indices if it is one of the first few of its kind or its number is
/// a power of two. `tensors` are bound. Does nothing if there is no memory.
void record_call(const std::string& folder, const Kernel::State& state, std::span<const TensorView> tensors,
                 int threads) noexcept;

/// Writes the file now, if there was a call. It is also written when the process ends, and every half minute or so while it runs. An error is a warning, once.
void write_recording(const std::string& folder);
/// The file of this process in a folder: named by host, process and time, so that containers can share the folder.
std::string recording_path(const std::string& folder);

}  // namespace strew::inline v0
