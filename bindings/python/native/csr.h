// Sorting by index and the numbers of segments, for strew/_csr.py and strew/_segments.py.
#pragma once

#include <nanobind/nanobind.h>

namespace strew::python {

/// Adds csr(indices, offsets, permutation) and segment_ids(bounds, kind, ids): strew_csr and strew_segment_ids on arrays.
void add_csr(nanobind::module_& module);

}  // namespace strew::python
