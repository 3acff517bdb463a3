// TensorView: a caller's buffer with its dtype, dims and strides, described the way DLPack describes one.
//
// A view owns nothing: the buffer, the dims and the strides must live until the call that takes the view returns. A
// view made from a pointer to const can only be an input: a call that binds it to a result fails. Constructors check
// nothing but the number of strides; calls check the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "strew/dtype.h"
#include "strew/scalar.h"

namespace strew::inline v0 {

struct TensorView {
  // The members are those of C's strew_tensor (strew_rt.h), in the same places.
  void* data = nullptr;              ///< address of element [0, ..., 0]. Inputs are never written
  const int64_t* dims = nullptr;     ///< rank extents, in elements
  const int64_t* strides = nullptr;  ///< rank strides, in elements; null: contiguous, row-major
  /// Number of dims; kWrongStrides if the constructor was given strides, but not as many as dims, which every call refuses.
  int32_t rank = 0;
  DType dtype = DType::f32;
  uint8_t read_only = 0;  ///< not 0: the view can only be an input: binding it to a result is an error

  static constexpr int32_t kWrongStrides = -1;

  constexpr TensorView() = default;

  /// A tensor whose elements are C++ objects: TensorView(weights, dims) with `float* weights` has dtype f32. Without
  /// `strides` it is contiguous and row-major.
  template <class T>
  requires(!std::is_void_v<T>) TensorView(T* data, std::span<const int64_t> dims, std::span<const int64_t> strides = {})
      : TensorView(data, dtype_of<std::remove_const_t<T>>(), dims, strides) {}

  /// A tensor of any dtype. `data` points to its elements as dtype.h says: those of less than a byte are packed.
  TensorView(void* data, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides = {})
      : TensorView(data, dtype, rank_of(dims, strides), dims.data(), strides.empty() ? nullptr : strides.data()) {}
  TensorView(const void* data, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides = {})
      : TensorView(const_cast<void*>(data), dtype, dims, strides) {
    read_only = 1;
  }

  /// From the parts of a C structure, such as a DLTensor. `strides` may be null.
  TensorView(void* data, DType dtype, int32_t rank, const int64_t* dims, const int64_t* strides = nullptr)
      : data(data), dims(dims), strides(strides), rank(rank), dtype(dtype) {}

 private:
  static int32_t rank_of(std::span<const int64_t> dims, std::span<const int64_t> strides) {
    return strides.empty() || strides.size() == dims.size() ? static_cast<int32_t>(dims.size()) : kWrongStrides;
  }
};

/// A view and the name of the slot that it is for: "result 0", "operand 0", "indices", "updates 0", "extra 0"
/// (Kernel::run_by_name).
struct NamedTensor {
  std::string_view name;
  TensorView view;
};

}  // namespace strew::inline v0
