// StridedTensor: the elements of a contiguous tensor in the layout that an op's type asks for.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/op.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// Copies `count` consecutive elements, from element number `from_at` of `from` to element number `to_at` of `to`.
/// Other elements in the same byte are kept.
void copy_elements(DType dtype, int64_t count, const std::byte* from, int64_t from_at, std::byte* to, int64_t to_at);

/// A view of a contiguous tensor, which must outlive the view, or a copy of the tensor in another layout.
struct StridedTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims, strides;  ///< strides empty: contiguous, a view
  Buffer buffer;                       ///< of a copy; empty: `data` belongs to the contiguous tensor
  void* data = nullptr;
  TensorView view() const;
};

/// Lays out `tensor` as `type` says: a view if the type is contiguous or has dynamic strides, a copy if its strides are static.
Expected<StridedTensor> lay_out(const Tensor& tensor, const TensorType& type);
/// Copies the elements back to the contiguous tensor after a kernel has written the layout. Does nothing for views.
void collect_layout(const StridedTensor& from, Tensor& to);

}  // namespace strew::inline v0
