// See build_id.h.
#include "runtime/disk_cache/build_id.h"

#include "strew_build_id.h"

namespace strew::inline v0 {

std::string_view build_id() { return STREW_BUILD_ID; }

}  // namespace strew::inline v0
