// How far integers go, in one pass at the speed of memory. Tested by tests/python/numpy_test.py.
#include "bindings/python/native/largest.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "bindings/python/native/arrays.h"
#include "bindings/python/native/calls.h"
#include "bindings/python/native/objects.h"

namespace nb = nanobind;

namespace strew::python {
namespace {

// Compiled for several CPUs, of which the loader chooses one.
#if defined(__x86_64__)
#define STREW_FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STREW_FOR_EACH_CPU
#endif

/// CMakeLists.txt has this file compiled with -O3, which makes it a loop over vectors.
template <class T>
[[gnu::always_inline]] inline uint64_t loop(const T* numbers, int64_t count) {
  T largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, numbers[i]);
  return largest;
}
STREW_FOR_EACH_CPU uint64_t largest_of(const uint8_t* numbers, int64_t count) { return loop(numbers, count); }
STREW_FOR_EACH_CPU uint64_t largest_of(const uint16_t* numbers, int64_t count) { return loop(numbers, count); }
STREW_FOR_EACH_CPU uint64_t largest_of(const uint32_t* numbers, int64_t count) { return loop(numbers, count); }
STREW_FOR_EACH_CPU uint64_t largest_of(const uint64_t* numbers, int64_t count) { return loop(numbers, count); }

/// The largest of integers, where negative ones count as very large, so that one comparison per number finds both. The largest possible number for
/// elements that are no integers.
uint64_t largest_of(const strew_tensor& tensor, int64_t count) {
  switch (tensor.dtype) {
    case STREW_I8:
    case STREW_U8:
      return largest_of(static_cast<const uint8_t*>(tensor.data), count);
    case STREW_I16:
    case STREW_U16:
      return largest_of(static_cast<const uint16_t*>(tensor.data), count);
    case STREW_I32:
    case STREW_U32:
      return largest_of(static_cast<const uint32_t*>(tensor.data), count);
    case STREW_I64:
    case STREW_U64:
      return largest_of(static_cast<const uint64_t*>(tensor.data), count);
    default:
      return UINT64_MAX;
  }
}

/// Nothing for arrays that are not plain integers of one dim, and where one is negative or too large to be counted.
nb::object count_below(nb::handle object) {
  Array array;
  if (host_of(object.ptr()) != Host::numpy || !array.read(object.ptr(), "x")) return PyErr_Clear(), nb::none();
  if (array.tensor.rank != 1 || array.tensor.strides != nullptr) return nb::none();
  if (array.elements == 0) return nb::none();
  uint64_t largest = 0;
  {
    Unlocked unlocked;
    if (!is_quick(std::span(&array, 1))) unlocked.begin();
    largest = largest_of(array.tensor, array.elements);
  }
  const int bits = strew_dtype_bits(static_cast<strew_dtype>(array.tensor.dtype));
  const bool is_signed = array.tensor.dtype == STREW_I8 || array.tensor.dtype == STREW_I16 || array.tensor.dtype == STREW_I32 ||
                         array.tensor.dtype == STREW_I64;
  const uint64_t bound = is_signed ? uint64_t{1} << (bits - 1) : uint64_t{1} << 62;
  if (largest >= bound) return nb::none();
  return nb::int_(largest + 1);
}

}  // namespace

void add_largest(nb::module_& module) { module.def("count_below", count_below); }

}  // namespace strew::python
