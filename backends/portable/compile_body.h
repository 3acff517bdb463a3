// compile_body(): makes a Body of a lowered one (backends/lower/kernel.h). What only moves or combines values goes straight from slot to slot; the rest becomes
// steps over blocks of elements. A column holds a number per element: a whole one, or a part of a complex number or of an element of 128 bits;
// packed elements have a byte each. Tested by tests/differential.
#pragma once

#include <vector>

#include "backends/lower/kernel.h"
#include "backends/portable/program.h"

namespace strew::inline v0::portable {

/// `slots`: the body's begin with these.
Body compile_body(const lowered::Body& body, const Plan& plan, const Loops& table, std::vector<Slot> slots = {});

/// log2 of the elements of a dtype per byte: 0 for whole bytes.
uint8_t log2_per_byte(DType dtype);
/// The distance in places between elements of a dtype: their bytes, or 1 if they have less than one.
int64_t place_unit(DType dtype);

}  // namespace strew::inline v0::portable
