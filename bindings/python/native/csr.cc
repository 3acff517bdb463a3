// See csr.h. Tested by tests/python/numpy_test.py.
#include "bindings/python/native/csr.h"

#include <array>

#include "bindings/python/native/arrays.h"
#include "bindings/python/native/calls.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/objects.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

void csr(nb::handle indices, nb::handle offsets, nb::handle permutation) {
  std::array<Array, 3> arrays;
  if (!arrays[0].read(indices.ptr(), "indices") || !arrays[1].read_result(offsets.ptr(), "offsets") ||
      !arrays[2].read_result(permutation.ptr(), "permutation"))
    throw nb::python_error();
  strew_bad_index bad_index = STREW_BAD_INDEX_INIT;
  const strew_call_options options = options_of_call(bad_index);
  strew_status status = nullptr;
  {
    Unlocked unlocked;
    if (!is_quick(arrays)) unlocked.begin();
    status = strew_csr(&arrays[0].tensor, &arrays[1].tensor, &arrays[2].tensor, &options);
  }
  if (status == nullptr) return;
  raise(status, &bad_index);
  throw nb::python_error();
}

void segment_ids(nb::handle bounds, int kind, nb::handle ids) {
  std::array<Array, 2> arrays;
  if (!arrays[0].read(bounds.ptr(), "bounds") || !arrays[1].read_result(ids.ptr(), "ids")) throw nb::python_error();
  strew_status status = nullptr;
  {
    Unlocked unlocked;
    if (!is_quick(arrays)) unlocked.begin();
    status = strew_segment_ids(&arrays[0].tensor, kind, &arrays[1].tensor);
  }
  if (status == nullptr) return;
  raise(status, nullptr);
  throw nb::python_error();
}

}  // namespace

void add_csr(nb::module_& module) {
  module.def("csr", csr);
  module.def("segment_ids", segment_ids);
}

}  // namespace strew::python
