// Calls of functions, replaced in the text by what the functions do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/mlir_text.h"
#include "strew/status.h"

namespace strew::inline v0 {

inline constexpr size_t kMaxInlinedBytes = size_t{1} << 24;  ///< that a text may grow by

struct InlinedText {
  std::string text;
  std::vector<int> lines;  ///< per line of the text, from 1 on: the line of the original that it comes from
};

/// Is there a call that can be inlined? Not those of functions that call themselves, have no body or several blocks.
bool has_calls(const TextIndex& index);

/// The text with these calls inlined. Private functions that nothing names any more are left out. Fails if the text grows by more than
/// kMaxInlinedBytes.
Expected<InlinedText> inline_calls(std::string_view text, const TextIndex& index);

}  // namespace strew::inline v0
