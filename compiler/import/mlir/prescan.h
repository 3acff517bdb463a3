// Prescan: checks a text before MLIR's parser reads it, and finds the dialects and operations in it that the parser must be prepared for.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

inline constexpr int kMaxBracketDepth = 256;
inline constexpr size_t kMaxNameLength = 1024;
inline constexpr size_t kMaxTextBytes = size_t{1} << 31;
inline constexpr size_t kMaxDialects = 256;
inline constexpr uint64_t kMaxVectorElements = 1 << 16;
inline constexpr int kMaxOperators = 256;

/// What stands in a text, outside strings and comments.
struct Prescanned {
  std::set<std::string> dialects;  ///< what stands before a dot where a dialect may stand ("linalg" of `linalg.matmul`)
  std::vector<size_t> own_forms;   ///< where an operation stands whose pretty form MLIR's parser must not read (shim_forms.cc)
};

/// `text` without spaces and comments at its start.
llvm::StringRef without_blanks(llvm::StringRef text);

/// Fails ("FILE:LINE: ...") on text that would overflow the parser's stack or take it too long, and on bytes that are not text. Only the first
/// kMaxDialects dialects are kept.
Expected<Prescanned> prescan_mlir(std::string_view text, const std::string& path);

}  // namespace strew::inline v0
