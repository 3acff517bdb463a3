// NumPy's arrays by NumPy's own C interface: reading one costs a small call less than the buffer protocol does. Its header's structs are the same in all
// versions since 1.23. Where the interface cannot be had, arrays go by the buffer protocol and numpy.empty. Tested by tests/python/arrays_test.py.
#pragma once

#include <Python.h>

#include <cstdint>

#include "bindings/python/native/objects.h"

namespace strew::python {

/// Loads NumPy's interface, when the module is imported. Without it there are other ways, so that nothing is said.
void load_numpy();

/// What a NumPy array says of itself. The pointers are valid until another thread changes the array's shape.
struct NumpyArray {
  void* data = nullptr;
  int rank = 0;
  const int64_t* dims = nullptr;
  const int64_t* byte_strides = nullptr;
  int dtype = 0;  ///< strew's
  bool read_only = false;
};

/// False, without an exception, for arrays that have to be read otherwise: in another order of bytes, of dtypes that strew does not have, of no NumPy
/// array, and everywhere if the interface is not there.
bool view_numpy(PyObject* object, NumpyArray& out);

/// A new array, contiguous and not initialised, with the dtype of `like` or, where that is null, with strew's `dtype`. Null without an exception if it has
/// to be made otherwise.
Ref new_numpy(PyObject* like, int dtype, const int64_t* dims, int rank);

}  // namespace strew::python
