// The text of the pipeline's first stages for `strew explain`, the same for all targets. Tested by
// tests/error/cli_test.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "backends/pipeline.h"

namespace strew::cli {

/// The rewrites that were applied, one line each.
std::string rewrites_text(const Compiled& stages);
nlohmann::ordered_json rewrites_json(const Compiled& stages);
/// The text with every line indented by four more spaces.
std::string indented(const std::string& text);

}  // namespace strew::cli
