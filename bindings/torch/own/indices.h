// What strew's own operators ask of index tensors, and what is found in their numbers. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace strew::aten {

/// Raises unless it is int32 or int64 of so many dims. `name`: the operator. `argument`: which one it is.
void check_index(const char* name, const char* argument, const at::Tensor& index, int64_t dims = 1);

/// Raises unless both are on the same device: of tensors of two, PyTorch calls the kernel of one of them.
void check_device(const char* name, const at::Tensor& one, const at::Tensor& other);

/// Of an index of one dim: the first place whose number is less than `least` or not less than `end`.
std::optional<int64_t> first_outside(const at::Tensor& index, int64_t least, int64_t end);
/// Of an index of one dim: whether no number is less than the one before.
bool is_sorted(const at::Tensor& index);

}  // namespace strew::aten
