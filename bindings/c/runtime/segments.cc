// Segments of the C interface. Tested by tests/c_api.
#include "strew/segments.h"

#include "bindings/c/runtime/handles.h"

using namespace strew;         // NOLINT(google-build-using-namespace): the definition below is C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

static_assert(STREW_SEGMENT_LENGTHS == static_cast<int>(SegmentBounds::lengths) &&
              STREW_SEGMENT_STARTS == static_cast<int>(SegmentBounds::starts) &&
              STREW_SEGMENT_OFFSETS == static_cast<int>(SegmentBounds::offsets));

strew_status strew_segment_ids(const strew_tensor* bounds, int32_t kind, const strew_tensor* ids) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(bounds, "bounds"));
    STREW_TRY(check_not_null(ids, "ids"));
    if (kind < STREW_SEGMENT_LENGTHS || kind > STREW_SEGMENT_OFFSETS)
      return invalid_argument("kind: number " + std::to_string(kind) +
                              ", expected STREW_SEGMENT_LENGTHS, STREW_SEGMENT_STARTS or STREW_SEGMENT_OFFSETS");
    return segment_ids(as_views(bounds, 1)[0], static_cast<SegmentBounds>(kind), as_views(ids, 1)[0]);
  });
}
