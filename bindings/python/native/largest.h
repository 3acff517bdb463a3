// Passes over integers that functions need before they call a kernel.
#pragma once

#include <nanobind/nanobind.h>

namespace strew::python {

/// Adds count_below(x): one more than the largest of an array of NumPy's that has non-negative integers, one dim and no strides. None for others, which
/// the caller counts or refuses in another way.
void add_largest(nanobind::module_& module);

}  // namespace strew::python
