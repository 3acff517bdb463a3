// Compares two images of an op's results, as docs/semantics.md section 2 defines equality.
#pragma once

#include <optional>
#include <string>

#include "tests/differential/call.h"
#include "tests/differential/geometry.h"

namespace strew::test {

/// The first difference as text: tensor, coordinates, expected and actual bits; or the byte, if it belongs to no
/// element. Floats that were computed may be any NaN; elements that were moved or not touched must keep their bits.
/// `touched`: of a scatter, else empty.
std::optional<std::string> first_difference(const Call& call, const Call::Image& expected, const Call::Image& actual,
                                            const Touched& touched);
/// The first byte (or part of a byte) that changed and belongs to no element of the results.
std::optional<std::string> first_stray_write(const Call& call, const Call::Image& before, const Call::Image& after);

}  // namespace strew::test
