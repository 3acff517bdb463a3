// StridedTensor: a contiguous tensor laid out as an op's type says, where that type has static strides of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/op/op.h"
#include "compiler/program/tensor.h"

namespace strew {

/// Copies `count` consecutive elements between positions counted in elements; sub-byte elements leave their neighbours alone.
void copy_elements(DType dtype, int64_t count, const std::byte* from, int64_t from_at, std::byte* to, int64_t to_at);

/// Either a view of a contiguous tensor, which must live as long, or a copy of it in a layout of its own.
struct StridedTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims, strides;  ///< strides empty: contiguous
  Buffer buffer;                       ///< empty: `data` is the contiguous tensor's
  void* data = nullptr;
  TensorView view() const;
};

/// Contiguous types and dynamic strides: a view. Static strides: a copy, every element of `tensor` in its place.
Expected<StridedTensor> lay_out(const Tensor& tensor, const TensorType& type);
/// The way back, after a kernel has written the layout. No-op for views.
void collect_layout(const StridedTensor& from, Tensor& to);

}  // namespace strew
