// A kernel's descriptor (strew/abi.h) as JSON and as one line of text, for `strew explain`. Tested by
// tests/golden/descriptor_test.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "backends/pipeline.h"

namespace strew::cli {

/// Every field, terms as products of symbols ("4*s0*s1"), parts with theirs. Null where no backend was found.
nlohmann::ordered_json descriptor_json(const Compiled& kernel);
/// One line: its name, how much of what there is, the entries.
std::string descriptor_text(const Compiled& kernel);

}  // namespace strew::cli
