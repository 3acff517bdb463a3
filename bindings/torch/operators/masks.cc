// masked_scatter, and what indexing by masks shares with it.
#include "bindings/torch/operators/masks.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/DimVector.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// How many of the last dims the mask has one value for, as `mask[:, None].expand_as(self)` of a mask of rows.
int64_t dims_of_row(const at::Tensor& mask) {
  int64_t count = 0;
  while (count < mask.dim() && (mask.stride(mask.dim() - 1 - count) == 0 || mask.size(mask.dim() - 1 - count) == 1)) ++count;
  return count;
}

}  // namespace

at::Tensor places_of(const at::Tensor& mask) {
  const at::Tensor kept = mask.contiguous();
  const auto* const values = static_cast<const uint8_t*>(kept.const_data_ptr());
  const int64_t most = kept.numel(), count = std::count_if(values, values + most, [](uint8_t value) { return value != 0; });
  at::Tensor result(at::detail::empty_cpu({count}, c10::ScalarType::Long));
  auto* const places = static_cast<int64_t*>(result.mutable_data_ptr());
  constexpr int64_t kStep = 8, kFew = 16;
  const bool are_few = count < most / kFew;
  // Without a branch on the values, which nothing can predict, unless most are false.
  for (int64_t place = 0, at = 0; at < count; ++place) {
    uint64_t eight = 0;
    while (are_few && place + kStep <= most) {
      std::memcpy(&eight, values + place, sizeof eight);
      if (eight != 0) break;
      place += kStep;
    }
    places[at] = place;
    at += values[place] != 0 ? 1 : 0;
  }
  return result;
}

std::optional<at::Tensor> merge_dims(const at::Tensor& tensor, int64_t first, int64_t count) {
  if (count == 1) return tensor;
  at::DimVector sizes(tensor.sizes().begin(), tensor.sizes().begin() + first);
  sizes.push_back(c10::multiply_integers(tensor.sizes().slice(static_cast<size_t>(first), static_cast<size_t>(count))));
  sizes.append(tensor.sizes().begin() + first + count, tensor.sizes().end());
  const std::optional<at::DimVector> strides = at::detail::computeStride(tensor.sizes(), tensor.strides(), sizes);
  return strides ? std::optional(tensor.as_strided(sizes, *strides)) : std::nullopt;
}

Reason masked_scatter(Target& target, const at::Tensor& self, const at::Tensor& mask, const at::Tensor& source) {
  if (const Reason reason = plain_all(self, source); reason != Reason::none) return reason;
  if (const Reason reason = plain(mask, true); reason != Reason::none) return reason;
  if (!moves_alike(self.scalar_type()) || source.scalar_type() != self.scalar_type()) return Reason::dtype;
  if (mask.scalar_type() != c10::ScalarType::Bool) return Reason::index_dtype;
  if (mask.dim() > self.dim() || static_cast<size_t>(self.dim()) > kMostDims || !at::is_expandable_to(mask.sizes(), self.sizes()))
    return Reason::shape;
  if (!source.is_contiguous()) return Reason::layout;
  Written written;
  if (const Reason reason = written_by(target, self, written, mask, source); reason != Reason::none) return reason;
  const at::Tensor whole = mask.sizes() == self.sizes() ? mask : mask.expand(self.sizes());
  const int64_t row = std::min(dims_of_row(whole), self.dim() - 1), leading = self.dim() - row;
  const size_t kept = static_cast<size_t>(leading);
  const at::Tensor of_rows = row == 0 ? whole : whole.as_strided(whole.sizes().slice(0, kept), whole.strides().slice(0, kept));
  const std::optional<at::Tensor> result = merge_dims(self, 0, leading);
  if (!result) return Reason::layout;
  const at::Tensor places = places_of(of_rows);
  const int64_t count = places.numel();
  if (count == 0) return Reason::empty;
  // Of single elements PyTorch is faster where it predicts the mask.
  if (row == 0 && count > self.numel() - self.numel() / 8) return Reason::slower;
  // One row for each place, one after the other.
  std::array<int64_t, kMostDims> dims, strides;
  int64_t stride = 1;
  for (int64_t d = result->dim() - 1; d >= 0; --d) {
    dims[static_cast<size_t>(d)] = d == 0 ? count : result->size(d);
    strides[static_cast<size_t>(d)] = stride;
    stride *= dims[static_cast<size_t>(d)];
  }
  if (source.numel() < stride) return Reason::shape;
  Tensors tensors;
  tensors.add_result(*result);
  tensors.add_input(places);
  tensors.add_view(source, dims.data(), strides.data(), result->dim());
  return run({}, tensors, {raise_index_error, 0, result->size(0)});
}

}  // namespace strew::aten
