// strew's statuses as Python exceptions. Tested by tests/python/arrays_test.py.
#pragma once

#include <Python.h>

#include "strew/strew_rt.h"

namespace strew::python {

/// Sets the exception for a failure, and frees it. `bad_index`: of a call, which says more about an index out of bounds; may be null. Returns null.
PyObject* raise(strew_status status, const strew_bad_index* bad_index = nullptr);

/// Reads the exception classes from strew._errors. False with an exception.
bool load_errors();

}  // namespace strew::python
