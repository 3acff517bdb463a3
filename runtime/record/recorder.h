// The recorder: under STREW_RECORD, every process leaves a file that says how its kernels were called, for `strew tune` (docs/tuning.md,
// "Recording"). Tested by tests/unit/runtime/record/record_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernel_state.h"
#include "strew/op.h"
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

/// How the index vectors of a call are spread, in a few numbers, from which `strew tune` makes indices of the same kind. The indices themselves are
/// not kept.
struct IndexStatistics {
  int64_t positions = 0;  ///< that were looked at, of the first kMostPositions of a call; those outside of the table do not count
  int64_t outside = 0;    ///< positions whose index vector is outside of the table
  int64_t batches = 0;    ///< elements of the batching dims among them; what follows is told of each, and summed up
  int64_t rows = 0;       ///< places that a window can have
  int64_t distinct = 0;   ///< places that occur
  double top_share = 0;   ///< part of the positions with the most frequent place
  double second_share = 0;            ///< and with the next
  double ascending = 0;               ///< part of the positions whose place is not before that of the position before
  double run_length = 0;              ///< mean length of runs of one place
  std::array<int64_t, 16> runs = {};  ///< how many runs are of length 1, 2..3, 4..7, and so on; the last: and all longer ones
  double zipf = 0;                    ///< exponent that fits the most frequent places best; 0: none
};
inline constexpr int64_t kMostPositions = 1 << 16;

/// Of a call of the op: of its own indices, then of those of each look-up. `tensors`: as Kernel::run takes them, bound and checked.
std::vector<IndexStatistics> index_statistics(const Op& op, std::span<const TensorView> tensors);

/// The distribution that describes them best, as `strew tune --indices` takes it: "zipf(1.1)".
std::string distribution_of(const IndexStatistics& statistics);

}  // namespace strew::inline v0
