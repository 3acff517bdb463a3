// objects_of(): the relocatable objects in a file. Tested by tests/unit/load_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

/// The file itself if it is an object, or the members of an archive (.a). Fails if it is neither, if an object is not for the
/// architecture of this process, or if an archive is empty or only refers to its members (a thin archive).
Expected<std::vector<std::string>> objects_of(std::string_view file);

}  // namespace strew::inline v0
