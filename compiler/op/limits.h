// The largest ops that are accepted. The limits are far above what real ops need; they bound the memory and time that a
// hostile text or file can cost. parse_op() and verify() (label op_limits) both enforce them.
#pragma once

#include <cstddef>

namespace strew::inline v0 {

inline constexpr int kMaxRank = 64;
inline constexpr int kMaxPairs = 64;  ///< N: operands, updates and results of one scatter
inline constexpr int kMaxExtras = 64;
inline constexpr int kMaxRowReductions = 8;
inline constexpr int kMaxReductionLanes = 64;
inline constexpr int kMaxExprNodes = 4096;
inline constexpr size_t kMaxOpText = size_t{1} << 20;

}  // namespace strew::inline v0
