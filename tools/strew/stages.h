// The text of the pipeline's first stages for `strew explain` and `strew compile`. Tested by tests/error/cli_test.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backends/pipeline.h"

namespace strew::cli {

/// The rewrites that were applied, one line each.
std::string rewrites_text(const Compiled& stages);
nlohmann::ordered_json rewrites_json(const Compiled& stages);
/// What --emit STAGE writes: `op`, `plan`, `lowered`, or `lowered:PASS`, the lowered kernel after that pass over it (`none`: before all).
bool is_stage(const std::string& stage);
/// The stages, for messages and completion.
std::vector<std::string> stage_names();
/// The stage of a kernel for a CPU; with wide accumulation the lowered kernels of its parts. Fails if there is no such pass, or no legal schedule.
Expected<std::string> stage_text(const Compiled& stages, const std::string& stage);
/// The text with every line indented by four more spaces.
std::string indented(const std::string& text);

}  // namespace strew::cli
