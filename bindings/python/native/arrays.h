// Arrays of Python as strew's tensors, without a copy: NumPy's by its C interface (numpy.h), PyTorch's by its table of C functions for DLPack, JAX's by
// the buffer protocol or __dlpack__, and whatever else speaks one of these or __array_interface__. Tested by
// tests/python/arrays_test.py.
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "bindings/c/runtime/dlpack.h"
#include "bindings/python/native/objects.h"
#include "strew/strew_rt.h"

namespace strew::python {

constexpr int kMaxRank = 64;  // of strew

/// Whose array it is: results come back as the same.
enum class Host : uint8_t { numpy, torch, jax, other };

/// A tensor on the memory of a Python object, which must live as long.
class Array {
 public:
  Array() {}  // NOLINT(modernize-use-equals-default): or else a vector of them would be zeroed
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (has_buffer_) PyBuffer_Release(&buffer_);
  }

  /// False with an exception that begins with `what`, such as "indices".
  bool read(PyObject* object, const char* what);
  /// As read(), for a tensor that is written. It refuses what must not change: arrays of JAX, read-only arrays, tensors that require grad.
  bool read_result(PyObject* object, const char* what);

  /// Reads a list by making a NumPy array of it, which must have integers. False, without an exception, if that is not possible.
  bool read_list(PyObject* list);
  /// Reads a float or an int of Python as a tensor without dims of this dtype. False, without an exception, if the dtype does not have exactly this number.
  bool read_number(PyObject* number, int dtype);

  /// Makes an input a view of the same elements with these dims, as NumPy broadcasts. False, without an exception, if it cannot.
  bool broadcast(const int64_t* dims, int rank);

  /// A new array of the host's, contiguous and not initialised, for the result of a call whose first input is this array, read from `object`.
  Ref new_like(PyObject* object, int dtype, const int64_t* dims, int rank) const;

  strew_tensor tensor{};
  Host host = Host::other;
  int64_t elements = 0;

 private:
  bool read_any(PyObject* object, const char* what);
  bool is_aligned() const;
  bool read_numpy(PyObject* object, const char* what);
  bool read_buffer(PyObject* object, const char* what);
  bool read_interface(PyObject* object, const char* what);
  bool read_exchange(PyObject* object, const void* api, const char* what);
  bool read_capsule(PyObject* object, const char* what);
  bool take_strides(const int64_t* bytes, const char* what);
  void finish();

  Py_buffer buffer_;
  bool has_buffer_ = false;
  dlpack::DataType exchange_dtype_;  ///< of a tensor that was read by a table of C functions
  Ref kept_;                         ///< what else keeps the memory
  alignas(8) std::array<std::byte, 8> number_;
  std::array<int64_t, kMaxRank> dims_;
  std::array<int64_t, kMaxRank> strides_;
};

/// The library whose array the object is; `other` for what is no array that strew knows.
Host host_of(PyObject* object);

/// Tells PyTorch that its tensor was written, so that autograd notices. False with an exception.
bool was_written(PyObject* object, Host host);
/// An array of the host's that has what a NumPy array holds; the array itself where the host is NumPy.
Ref as_host(Ref numpy_array, Host host);

}  // namespace strew::python
