// See init.h. This file has the reference's only optimisation: contiguous tensors of one dtype are copied by one
// memmove, because operands are caches and tables of many megabytes while updates are small. Tested by
// tests/unit/backends/reference/reference_scatter_test.cc.
#include "backends/reference/init.h"

#include <cstring>

namespace strew::inline v0::reference {
namespace {

/// Is the tensor row-major without gaps, and does every element take whole bytes?
bool is_block(const BoundTensor& tensor) {
  int64_t stride = 1;
  for (size_t d = tensor.dims.size(); d-- > 0; stride *= tensor.dims[d])
    if (tensor.strides[d] != stride) return false;
  return bits(tensor.dtype) >= 8;
}

}  // namespace

void init_copy(const BoundTensor& result, const BoundTensor& operand) {
  if (is_empty(result.dims)) return;
  if (result.dtype == operand.dtype && is_block(result) && is_block(operand)) {
    std::memmove(result.data, operand.data, static_cast<size_t>(storage_bytes(result.dtype, volume(result.dims))));
    return;
  }
  Coords coord(result.dims.size(), 0);
  do {
    result.store(dot(coord, result.strides), convert(operand.load(dot(coord, operand.strides)), result.dtype));
  } while (next(result.dims, coord));
}

void init_fill(const BoundTensor& result, const Scalar& value) {
  if (is_empty(result.dims)) return;
  Coords coord(result.dims.size(), 0);
  do {
    result.store(dot(coord, result.strides), value);
  } while (next(result.dims, coord));
}

}  // namespace strew::inline v0::reference
