// csr: sorts the positions of an index tensor by their index, and counts them: compressed sparse rows.
//
//   indices [E]        2 0 2 1 0
//   offsets [S + 1]    0 2 3 5        segment s has the positions permutation[offsets[s]] ... permutation[offsets[s + 1] - 1]
//   permutation [E]    1 4 3 0 2      in order of their index; those of one index in their own order
//
// A scatter whose edges are sorted by destination takes less time than one whose edges are not (docs/performance.md). A program that scatters along the
// same edges many times sorts them once: it moves what belongs to the edges by `permutation`, a gather of rows, and gives later ops the sorted indices.
// Tested by tests/unit/runtime/call/csr/csr_test.cc.
#pragma once

#include "strew/call_options.h"
#include "strew/export.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// Sorts the positions of `indices` by their index, stably, and counts how many there are of each. The results are the same on any number of threads.
///
/// `indices`: [E], an integer dtype of 8 to 64 bits, any stride, also negative or 0. Every index must be in [0, S).
/// `offsets`: [S + 1], i32 or i64, any stride but 0. offsets[s] becomes the number of indices less than s; so offsets[0] is 0 and offsets[S] is E.
/// `permutation`: [E], i32 or i64, any stride but 0. Becomes the positions 0 to E - 1 in order of their index.
/// An i32 result must be able to hold its numbers: E is at most 2^31 in `permutation` and less in `offsets`.
/// `options`: threads 0 stands for all of the executor's, and a null executor for process_executor().
///
/// Fails with nothing written: with code invalid_argument if a view is wrong or a result overlaps another tensor; with out_of_bounds if an index is not in
/// [0, S): the first one by position is in the message, and in options.bad_index with source 0; with resource_exhausted if there is no memory for scratch,
/// which takes at most 12 bytes per position, 48 KiB per thread and the size of the second-level cache. With 2^31 positions or 2^32 segments and more
/// it takes 8 bytes per position and segment.
/// Thread-safe; the calling thread takes part in the work.
STREW_API Status csr(const TensorView& indices, const TensorView& offsets, const TensorView& permutation,
                     const CallOptions& options = {});

}  // namespace strew::inline v0
