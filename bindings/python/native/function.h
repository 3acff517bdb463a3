// Function: an operation of one form, with its fields set, on tensors of any dtypes and shapes. Python's functions (strew/_functions.py) are made of
// these. Tested by tests/python.
#pragma once

#include <Python.h>

namespace strew::python {

/// Adds the type to the module. False with an exception.
bool add_function_type(PyObject* module);

}  // namespace strew::python
