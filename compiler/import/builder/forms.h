// Operations around the kernels that are made of several of ProgramBuilder's. Like those they return the number of the value with the result,
// and errors without the location.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/import/builder/program_builder.h"

namespace strew::inline v0 {

/// The quotient rounded down, of integers or floats (these are divided as f64).
Expected<int> floor_div(ProgramBuilder& builder, int a, int b);
/// The remainder of floor_div: it has the sign of the divisor.
Expected<int> floor_rem(ProgramBuilder& builder, int a, int b);
/// The value repeated along each dim d as element d of `repeats` says, a rank-1 tensor of integers.
Expected<int> tile(ProgramBuilder& builder, int value, int repeats);
/// The rank-0 value `with` low[d] times before, high[d] times after and interior[d] times between the elements of each dim d. What is below 0
/// at the edges takes elements away.
STREW_API Expected<int> pad(ProgramBuilder& builder, int value, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                            const std::vector<int64_t>& interior, int with);
/// A new dim `axis` of extent `depth`: `on` where its coordinate is the index, `off` elsewhere.
Expected<int> one_hot(ProgramBuilder& builder, int indices, int64_t depth, int64_t axis, int on, int off);
/// The coordinates of the elements of a constant that are not zero, in row-major order: i64 [count, rank].
Expected<int> nonzero_coordinates(ProgramBuilder& builder, int value);

}  // namespace strew::inline v0
