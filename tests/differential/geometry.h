// Geometry: the dimension numbers of a concrete op as loops over coordinates, and the destinations that a scatter
// writes.
//
// This is a third implementation of docs/semantics.md, beside the reference and the planner, but it covers only what
// the tests need: to choose index values for a purpose, to make hints true, and to know which results must keep their
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "strew/op.h"

namespace strew::test {

using Wide = __int128;

struct Geometry {
  bool scatter = true;
  std::vector<int64_t> operand;     ///< extents
  std::vector<int64_t> window;      ///< per operand dim; 1 where inserted, collapsed or batching
  std::vector<bool> has_window;     ///< per operand dim: it is a window dim
  std::vector<int64_t> positions;   ///< extents of the index positions
  std::vector<int> batch_position;  ///< per operand dim: the position dim that gives its coordinate, or -1
  std::vector<int> component;       ///< per operand dim: index component or -1
  std::vector<int64_t> map;         ///< component -> operand dim
  OobPolicy oob = OobPolicy::undefined;
  bool normalize = false;
  std::vector<DType> index_dtypes;  ///< per component

  int64_t position_count() const;
  int64_t window_count() const;
  int64_t bound(size_t k) const {  ///< largest in-bounds start of component k; negative if there is none
    const auto d = static_cast<size_t>(map[k]);
    return operand[d] - window[d];
  }
};
Geometry geometry_of(const Op& concrete);

/// Index values in row-major order [position][component].
using IndexValues = std::vector<Wide>;
/// `origins`: elements 0 of the op's own index tensors.
IndexValues load_indices(const Op& concrete, const std::vector<std::byte*>& origins);
void store_indices(const Op& concrete, const std::vector<std::byte*>& origins, const IndexValues& values);

struct Touched {
  std::vector<uint8_t> element;  ///< per result element, row-major: how many updates reach it, saturating
  bool twice = false;            ///< two positions reach the same element
  bool any_bad = false;          ///< some component is out of bounds
};
Touched touched_by(const Geometry& geometry, const IndexValues& values);

/// Calls `visit` for every element of the result that an update reaches, in the order of docs/semantics.md section 2
/// (index positions row-major, then the window). Returns true if some index is out of bounds; under policy `error`
/// nothing is visited then.
using Visit = std::function<void(const std::vector<int64_t>& position, const std::vector<int64_t>& window, int64_t element)>;
bool visit_touched(const Geometry& geometry, const IndexValues& values, const Visit& visit);

}  // namespace strew::test
