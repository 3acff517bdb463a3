// What strew's own operators ask of index tensors, and what is found in their numbers. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace strew::aten {

/// Raises unless it is int32 or int64 of so many dims. `name`: the operator. `argument`: which one it is.
void check_index(const char* name, const char* argument, const at::Tensor& index, int64_t dims = 1);

/// Raises unless it lies in the CPU's memory (or has none, as fake tensors) and is neither sparse, quantised nor nested.
void check_strided(const char* name, const at::Tensor& tensor);
/// And unless the other one is on the same device: of tensors of two, PyTorch calls the kernel of one of them.
void check_device(const char* name, const at::Tensor& one, const at::Tensor& other);

/// Calls `see` with the places and numbers of an index of one dim until it returns true, and returns the place.
template <class T, class See>
std::optional<int64_t> each_number_of(const at::Tensor& index, const See& see) {
  const T* const numbers = index.const_data_ptr<T>();
  const int64_t count = index.numel(), stride = index.stride(0);
  for (int64_t i = 0; i < count; ++i)
    if (see(i, static_cast<int64_t>(numbers[i * stride]))) return i;
  return std::nullopt;
}
template <class See>
std::optional<int64_t> each_number(const at::Tensor& index, const See& see) {
  return index.scalar_type() == c10::ScalarType::Int ? each_number_of<int32_t>(index, see) : each_number_of<int64_t>(index, see);
}

/// Of an index of one dim: the first place whose number is less than `least` or not less than `end`.
std::optional<int64_t> first_outside(const at::Tensor& index, int64_t least, int64_t end);
/// Throws unless the index of one dim, one number per edge, is in [0, rows).
void require_rows(const at::Tensor& index, int64_t rows);
/// Of an index of one dim: whether no number is less than the one before.
bool is_sorted(const at::Tensor& index);

/// rows[i] = table[numbers[i]]
at::Tensor select_rows(const at::Tensor& table, const at::Tensor& numbers);

}  // namespace strew::aten
