// The index tensors of a workload. Tested by tests/unit/tune/workload_data_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "strew/op.h"
#include "strew/status.h"
#include "tune/distribution.h"

namespace strew::inline v0 {

/// The number of elements of a tensor with these dims, none of which is open.
int64_t product(const std::vector<int64_t>& dims);

/// Writes index vectors that are in bounds, drawn from the distribution, into index tensor number `tensor` of an op without open extents: all
/// components, or its own. `first`: the byte of element [0, ..., 0]. Each element of the batching dims has a draw of its own. Tensors of one call are
/// written with one seed.
Status write_indices(const Op& sized, size_t tensor, const Distribution& distribution, uint64_t seed, std::byte* first);
/// Fails if an index vector is out of bounds: the message names the position and the value. Limit: one index tensor.
Status check_indices_in_bounds(const Op& sized, const std::byte* first);

}  // namespace strew::inline v0
