// The module strew._native: what strew's Python package is made of, over the C interface. Tested by tests/python.
#include <nanobind/nanobind.h>

#include "bindings/python/native/calls.h"
#include "bindings/python/native/csr.h"
#include "bindings/python/native/dtypes.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/function.h"
#include "bindings/python/native/kernel.h"
#include "bindings/python/native/largest.h"
#include "bindings/python/native/numpy.h"
#include "bindings/python/native/runtime.h"
#include "bindings/python/native/splice.h"
#include "strew/strew.h"

namespace nb = nanobind;

NB_MODULE(_native, module) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw nb::import_error(
        "strew: it cannot be used in a sub-interpreter, because its kernels and its threads belong to the process");
  if (!strew::python::load_errors() || !strew::python::add_function_type(module.ptr()) ||
      !strew::python::add_kernel_type(module.ptr()))
    throw nb::python_error();
  strew::python::load_numpy();
  nb::dict dtypes;
  for (const strew::python::DTypeNames& each : strew::python::kDTypeNames)
    if (each.numpy != nullptr) dtypes[each.numpy] = strew_dtype_name(each.dtype);
  module.attr("dtypes") = dtypes;
  strew::python::add_runtime(module);
  strew::python::add_programs(module);
  strew::python::add_tuning(module);
  strew::python::add_largest(module);
  strew::python::add_csr(module);
  strew::python::add_splice(module);
  module.def("set_process_threads", strew::python::set_process_threads);
  module.def("set_thread_threads", strew::python::set_thread_threads);
}
