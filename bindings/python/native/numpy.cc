// The one file that includes NumPy's headers. Tested by tests/python/arrays_test.py.
#include "bindings/python/native/numpy.h"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION  // NOLINT(cppcoreguidelines-macro-usage): NumPy's
#include <numpy/arrayobject.h>

#include <array>
#include <string_view>

#include "bindings/python/native/dtypes.h"
#include "strew/strew_rt.h"

namespace strew::python {
namespace {

static_assert(sizeof(npy_intp) == sizeof(int64_t));

bool is_there = false;

constexpr int kNone = -1;
constexpr int kUnknown = -2;  ///< not looked up yet

/// strew's dtype of a number of NumPy's own; kNone if it has none.
constexpr int dtype_of_number(int number) {
  switch (number) {
    case NPY_BOOL:
      return STREW_BOOL;
    case NPY_BYTE:
      return STREW_I8;
    case NPY_UBYTE:
      return STREW_U8;
    case NPY_SHORT:
      return STREW_I16;
    case NPY_USHORT:
      return STREW_U16;
    case NPY_INT:
      return STREW_I32;
    case NPY_UINT:
      return STREW_U32;
    case NPY_LONG:
      return sizeof(long) == 4 ? STREW_I32 : STREW_I64;
    case NPY_ULONG:
      return sizeof(long) == 4 ? STREW_U32 : STREW_U64;
    case NPY_LONGLONG:
      return STREW_I64;
    case NPY_ULONGLONG:
      return STREW_U64;
    case NPY_HALF:
      return STREW_F16;
    case NPY_FLOAT:
      return STREW_F32;
    case NPY_DOUBLE:
      return STREW_F64;
    case NPY_CFLOAT:
      return STREW_COMPLEX64;
    case NPY_CDOUBLE:
      return STREW_COMPLEX128;
    default:
      return kNone;
  }
}

/// The dtype whose NumPy name this is, by strew's list.
int dtype_by_name(PyArray_Descr* descr) {
  const Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(descr), "name"));
  const char* const text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
  const DTypeNames* const found = text != nullptr ? dtype_named(text) : nullptr;
  PyErr_Clear();
  return found != nullptr ? found->dtype : kNone;
}

/// strew's dtype of the elements. Libraries such as ml_dtypes register dtypes, which get numbers from NPY_USERDEF on; these are looked up by name, once.
int dtype_of(PyArray_Descr* descr) {
  const int number = descr->type_num;
  if (number < NPY_USERDEF) return dtype_of_number(number);
  static std::array<int, 256> registered = [] {
    std::array<int, 256> all;
    all.fill(kUnknown);
    return all;
  }();
  const auto at = static_cast<size_t>(number - NPY_USERDEF);
  if (at >= registered.size()) return kNone;
  if (registered[at] == kUnknown) registered[at] = dtype_by_name(descr);
  return registered[at];
}

}  // namespace

void load_numpy() {
  is_there = PyArray_ImportNumPyAPI() == 0;
  PyErr_Clear();
}

bool view_numpy(PyObject* object, NumpyArray& out) {
  if (!is_there || !PyArray_Check(object)) return false;
  auto* const array = reinterpret_cast<PyArrayObject*>(object);
  const int dtype = dtype_of(PyArray_DESCR(array));
  if (dtype == kNone || !PyArray_ISNOTSWAPPED(array)) return false;
  out = {PyArray_DATA(array),
         PyArray_NDIM(array),
         reinterpret_cast<const int64_t*>(PyArray_DIMS(array)),
         reinterpret_cast<const int64_t*>(PyArray_STRIDES(array)),
         dtype,
         PyArray_ISWRITEABLE(array) == 0};
  return true;
}

Ref new_numpy(PyObject* like, int dtype, const int64_t* dims, int rank) {
  if (!is_there) return {};
  PyArray_Descr* descr = nullptr;
  if (like != nullptr && PyArray_Check(like)) {
    descr = PyArray_DESCR(reinterpret_cast<PyArrayObject*>(like));
    Py_INCREF(reinterpret_cast<PyObject*>(descr));
  } else {
    for (int number = 0; number < NPY_OBJECT && descr == nullptr; ++number)
      if (dtype_of_number(number) == dtype) descr = PyArray_DescrFromType(number);
  }
  if (descr == nullptr) return {};
  return Ref(
      PyArray_NewFromDescr(&PyArray_Type, descr, rank, reinterpret_cast<const npy_intp*>(dims), nullptr, nullptr, 0, nullptr));
}

}  // namespace strew::python
