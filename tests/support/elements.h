// Elements in memory, for tests: load and store one element of any dtype by its number, walk a strided tensor, recognise NaNs.
//
// Deliberately bit by bit and independent of the code under test. Element e of a packed dtype stands in bits [e*bits, e*bits+bits)
// counted from the lowest bit of the first byte; element numbers may be negative (negative strides).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strew/dtype.h"
#include "strew/op.h"
#include "strew/scalar.h"

namespace strew::test {

Scalar load_element(const std::byte* origin, DType dtype, int64_t element);
void store_element(std::byte* origin, const Scalar& value, int64_t element);

/// Element number of every element of a tensor, row-major. Strides in elements.
std::vector<int64_t> element_numbers(std::span<const int64_t> dims, std::span<const int64_t> strides);
std::vector<int64_t> contiguous_strides(std::span<const int64_t> dims);
/// The strides of `type`, whose dims are all known: its own or the contiguous ones.
std::vector<int64_t> strides_of(const TensorType& type);
int64_t count_of(std::span<const int64_t> dims);

/// Bytes a strided tensor reaches, relative to the byte of element 0: [first, end). Both 0 when it has no elements.
struct Extent {
  int64_t first = 0, end = 0;
};
Extent byte_extent(const TensorType& type);

/// Is this float (or this part of a complex number) a NaN?
bool is_nan(DType dtype, uint64_t bits);
/// Equal bits, or for floats and each part of complex numbers: both NaN.
bool same_value(const Scalar& a, const Scalar& b);
/// "0x7fc0 (bf16)", high word first.
std::string bits_text(const Scalar& value);

}  // namespace strew::test
