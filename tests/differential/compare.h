// Are two images of an op's results the same, as semantics.md section 2 defines it?
#pragma once

#include <optional>
#include <string>

#include "tests/differential/call.h"
#include "tests/differential/geometry.h"

namespace strew::test {

/// The first difference, in words: tensor, coordinates, expected and actual bits; or the byte, where it belongs to no element.
/// Computed floats may be any NaN; moved and untouched ones keep their bits. `touched`: of a scatter, else empty.
std::optional<std::string> first_difference(const Call& call, const Call::Image& expected, const Call::Image& actual,
                                            const Touched& touched);
/// The first byte (or part of a byte) outside the results' elements that changed.
std::optional<std::string> first_stray_write(const Call& call, const Call::Image& before, const Call::Image& after);

}  // namespace strew::test
