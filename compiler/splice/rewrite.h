// A module's text with calls of strew in the place of what they do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/mlir_text.h"
#include "compiler/splice/call.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Statements whose results only the calls made needed are gone. Statements of a block are in another order only where a call has to wait for what
/// it reads.
Expected<std::string> with_calls(std::string_view text, const TextIndex& index, const std::vector<PlannedCall>& calls);

}  // namespace strew::inline v0
