// Prescan: checks a text before MLIR's parser reads it.
#pragma once

#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

inline constexpr int kMaxBracketDepth = 256;
inline constexpr size_t kMaxNameLength = 1024;
inline constexpr size_t kMaxTextBytes = size_t{1} << 31;

/// Fails ("FILE:LINE: ...") on text that would overflow the parser's stack or take it too long, and on bytes that are not text.
Status prescan_mlir(std::string_view text, const std::string& path);

}  // namespace strew::inline v0
