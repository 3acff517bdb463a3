// Kernel: one op, compiled, that is called with arrays. Tested by tests/python/kernel_test.py.
#pragma once

#include <Python.h>

#include "strew/strew.h"

namespace strew::python {

/// Adds the type to the module. False with an exception.
bool add_kernel_type(PyObject* module);
/// A new Kernel, which owns both. `how`: a dict of how it was asked for. Null with an exception.
PyObject* new_kernel(strew_kernel_ref* kernel, strew_op* op, PyObject* how);

}  // namespace strew::python
