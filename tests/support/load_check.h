// Whether JITLink makes of an object what the loader (backends/loader) made of it: tests/compare_load/compare_load.cc.
#pragma once

#include <string_view>

#include "backends/loader/loader.h"
#include "strew/status.h"

namespace strew::test {

Status compare_load(std::string_view object, const LoadedLayout& layout);

/// From then on, every object that the loader links in this process is compared, and a difference fails the link.
void check_loads();

}  // namespace strew::test
