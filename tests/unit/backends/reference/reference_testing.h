// Runs the reference on canonical text: tensors come in and go out as lists of scalars, so a test reads like a worked example.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strew::testing_reference {

/// Runs the op `text` on `tensors` (in binding order without the results; with init in_place the results come first), each
/// "1 2 3" in row-major order, or "[2,0] ..." to give the extents of a dynamic type. Buffers are as strided as the types say; gaps hold
/// canaries. Returns the results' elements ("1 2 3", several results joined by " | "); NaNs print as "nan".
/// A failure returns its message, or what was written in spite of it; "gap overwritten" where a canary died.
std::string run(std::string_view text, const std::vector<std::string>& tensors);
/// The same, NaNs printed as their bits.
std::string run_bits(std::string_view text, const std::vector<std::string>& tensors);

/// `count` copies of `value`, space-separated; and first, first + 1, ...
std::string repeat(std::string_view value, int count);
std::string count_from(int first, int count);

}  // namespace strew::testing_reference
