// Tiles: windows that are read in one order of dims and written in another. A tile is as many rows as columns of elements, each row a vector; tensors whose
// elements lie side by side along the rows' loop are transposed in registers, so that lines are read and written whole. Code generators that have no
// such tiles take no notice. Tested by tests/unit/backends/lower/lower_kernel_test.cc, tests/golden/lowered_test.cc and tests/golden/machine_code_test.cc.
#pragma once

#include <algorithm>

#include "backends/lower/kernel.h"

namespace strew::inline v0::lowered {

/// Walk::Tile of an entry. Size 0: its windows are not done in tiles, or that would not be faster.
STREW_API Walk::Tile tile_of(const Kernel& kernel, const Entry& entry);

/// Is the tensor transposed in tiles: do its elements lie side by side along `rows`, and not along `columns`, the loop of the lanes?
inline bool is_transposed(int tensor, const Loop& rows, const Loop& columns) {
  const auto t = static_cast<size_t>(tensor);
  return rows.strides[t].is(1) && !columns.strides[t].is(0) && !columns.strides[t].is(1);
}

}  // namespace strew::inline v0::lowered
