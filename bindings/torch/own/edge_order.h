// The order of edges by destination, for edges that calls give again and again, as the layers and the steps of a model do: sums along sorted edges take less time
// (docs/fusion.md, "Sorted destinations"). Tested by tests/torch/own_operators_test.py.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace strew::aten {

/// Index tensors with a number per edge, the destinations first, sorted stably by these.
struct EdgeOrder {
  at::Tensor order;                ///< i64: which of the edges comes at each place
  std::vector<at::Tensor> sorted;  ///< the index tensors in that order
};

/// The order of these edges, if it is known by now and is expected to save time: it is found when the same numbers were given several times. What is known is compared
/// with the numbers of this call. `indices`: one dim each, of one extent. `rows`: how many rows each of them counts; null if a number is not in these, too. `row_bytes`:
/// of a row that is added. `moved_bytes`: of what else an edge has, which the caller brings into this order (select_rows).
std::shared_ptr<const EdgeOrder> known_order(const std::vector<at::Tensor>& indices, const std::vector<int64_t>& rows,
                                             int64_t row_bytes, int64_t moved_bytes);

}  // namespace strew::aten
