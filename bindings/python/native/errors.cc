// Which exception stands for which code. The classes are Python's own where it has one that fits, else those of strew/_errors.py. Tested by
// tests/python/arrays_test.py.
#include "bindings/python/native/errors.h"

#include "bindings/python/native/objects.h"

namespace strew::python {
namespace {

/// Classes of strew/_errors.py, which live as long as the process.
struct Classes {
  PyObject* out_of_bounds = nullptr;
  PyObject* compile = nullptr;
  PyObject* cancelled = nullptr;
};
Classes classes;

PyObject* class_of(strew_code code) {
  switch (code) {
    case STREW_CODE_OK:
      break;  // no failure: raise() is not called with it
    case STREW_CODE_INVALID_ARGUMENT:
      return PyExc_ValueError;
    case STREW_CODE_UNSUPPORTED:
      return PyExc_NotImplementedError;
    case STREW_CODE_OUT_OF_BOUNDS:
      return classes.out_of_bounds;
    case STREW_CODE_IO:
      return PyExc_OSError;
    case STREW_CODE_INTERNAL:
      return classes.compile;
    case STREW_CODE_CANCELLED:
      return classes.cancelled;
    case STREW_CODE_DEADLINE_EXCEEDED:
      return PyExc_TimeoutError;
    case STREW_CODE_RESOURCE_EXHAUSTED:
      return PyExc_MemoryError;
  }
  return PyExc_SystemError;
}

}  // namespace

PyObject* raise(strew_status status, const strew_bad_index* bad_index) {
  const strew_code code = strew_status_code(status);
  const char* const message = strew_status_message(status);
  if (code == STREW_CODE_OUT_OF_BOUNDS && bad_index != nullptr) {
    const auto number = [](int64_t value) { return static_cast<long long>(value); };
    const Ref made(PyObject_CallFunction(class_of(code), "sLLLLi", message, number(bad_index->position),
                                         number(bad_index->component), number(bad_index->value), number(bad_index->bound),
                                         bad_index->source));
    if (made) PyErr_SetObject(class_of(code), made.get());
  } else {
    PyErr_SetString(class_of(code), message);
  }
  strew_status_free(status);
  return nullptr;
}

bool load_errors() {
  const Ref module(PyImport_ImportModule("strew._errors"));
  if (!module) return false;
  classes.out_of_bounds = PyObject_GetAttrString(module.get(), "OutOfBoundsError");
  classes.compile = PyObject_GetAttrString(module.get(), "CompileError");
  classes.cancelled = PyObject_GetAttrString(module.get(), "CancelledError");
  return classes.out_of_bounds != nullptr && classes.compile != nullptr && classes.cancelled != nullptr;
}

}  // namespace strew::python
