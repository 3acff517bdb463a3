// What explain prints of the pipeline's first stages, the same for every target.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "backends/pipeline.h"

namespace strew::cli {

/// The rewrites that were applied, a line each.
std::string rewrites_text(const Compiled& stages);
nlohmann::ordered_json rewrites_json(const Compiled& stages);
/// Every line four spaces further in.
std::string indented(const std::string& text);

}  // namespace strew::cli
