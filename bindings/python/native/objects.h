// Small helpers for Python's C interface: owned references. The rest of the module uses nanobind; the calls that must cost nothing, arrays.cc,
// function.cc and kernel.cc, use the C interface itself.
#pragma once

#include <Python.h>

#include <utility>

namespace strew::python {

/// An owned reference, or null.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  static Ref borrowed(PyObject* object) { return Ref(Py_XNewRef(object)); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Gives the interpreter to other threads while it lives, if it was taken.
class Unlocked {
 public:
  Unlocked() = default;
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() { end(); }
  void begin() {
    if (state_ == nullptr) state_ = PyEval_SaveThread();
  }
  void end() {
    if (state_ != nullptr) PyEval_RestoreThread(std::exchange(state_, nullptr));
  }

 private:
  PyThreadState* state_ = nullptr;
};

}  // namespace strew::python
