// See init.h; in_place needs nothing.
#include "backends/reference/init.h"

namespace strew::reference {

void init_copy(const BoundTensor& result, const BoundTensor& operand) {
  if (is_empty(result.dims)) return;
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

}  // namespace strew::reference
