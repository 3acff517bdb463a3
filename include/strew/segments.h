// segment_ids: the number of the segment that each row is in, of segments that are given by their lengths or by where they begin.
//
//   lengths [S]        2     1   0 3        rows per segment; the sum is E
//   starts  [S]        0     2   3 3        where each segment begins; the last one ends at E
//   offsets [S + 1]    0     2   3 3     6  and where the last one ends, which is E
//   ids     [E]        0 0   1     3 3 3
//
// A scatter whose indices are the ids reduces each segment (docs/fusion.md, "Segments"); they are sorted (hint indices_are_sorted). Tested by
// tests/unit/runtime/call/csr/segments_test.cc.
#pragma once

#include <cstdint>

#include "strew/export.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// What says where segments are.
enum class SegmentBounds : uint8_t { lengths, starts, offsets };

/// Checks the bounds of S segments of E rows and writes the number of each row's segment.
///
/// `bounds`: [S], or [S + 1] of offsets, an integer dtype of 8 to 64 bits. Lengths are 0 or more and their sum is E. Starts and offsets begin with 0 and none
/// is less than the one before or more than E; the last of the offsets is E.
/// `ids`: [E], i32 or i64.
/// Either has one dim and any stride (ids: any but 0), or is contiguous and has leading dims, which both have: then each of these has segments of its own, and
/// all segments are numbered in row-major order.
///
/// Fails with code invalid_argument and nothing written: if a view is wrong, if ids overlaps bounds, or if a bound is wrong, of which the message has the first.
/// Thread-safe; it runs on the calling thread.
STREW_API Status segment_ids(const TensorView& bounds, SegmentBounds kind, const TensorView& ids);

}  // namespace strew::inline v0
