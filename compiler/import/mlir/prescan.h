// Prescan: checks a text before MLIR's parser reads it, and finds the dialects that it names.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

inline constexpr int kMaxBracketDepth = 256;
inline constexpr size_t kMaxNameLength = 1024;
inline constexpr size_t kMaxTextBytes = size_t{1} << 31;
inline constexpr size_t kMaxDialects = 256;

/// Fails ("FILE:LINE: ...") on text that would overflow the parser's stack or take it too long, and on bytes that are not text. `dialects`
/// gets what stands before a dot where a dialect may stand ("linalg" of `linalg.matmul`), the first kMaxDialects of them.
Status prescan_mlir(std::string_view text, const std::string& path, std::set<std::string>& dialects);

}  // namespace strew::inline v0
