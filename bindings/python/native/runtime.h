// Ops, kernels, the runtime of the process, programs, tuning and kernel libraries as Python sees them. Tested by tests/python.
#pragma once

#include <nanobind/nanobind.h>

namespace strew::python {

void add_runtime(nanobind::module_& module);
void add_programs(nanobind::module_& module);
void add_tuning(nanobind::module_& module);

}  // namespace strew::python
