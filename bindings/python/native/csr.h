// Sorting by index, for strew/_csr.py.
#pragma once

#include <nanobind/nanobind.h>

namespace strew::python {

/// Adds csr(indices, offsets, permutation): strew_csr on arrays.
void add_csr(nanobind::module_& module);

}  // namespace strew::python
