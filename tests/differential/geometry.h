// Geometry: a concrete op's dimension numbers as loops over coordinates, and which destinations a scatter touches.
//
// A third reading of semantics.md, next to the reference's and the planner's, but only as far as the tests need it: to choose index
// values with a purpose, to keep hints true, and to know which results must keep their bits.
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
  std::vector<bool> has_window;     ///< per operand dim: a window dim
  std::vector<int64_t> positions;   ///< extents of the index positions
  std::vector<int> batch_position;  ///< per operand dim: the position dim that gives its coordinate, or -1
  std::vector<int> component;       ///< per operand dim: index component or -1
  std::vector<int64_t> map;         ///< component -> operand dim
  OobPolicy oob = OobPolicy::undefined;
  bool normalize = false;
  DType index_dtype = DType::i64;

  int64_t position_count() const;
  int64_t window_count() const;
  int64_t bound(size_t k) const {  ///< largest in-bounds start of component k; < 0: none
    const auto d = static_cast<size_t>(map[k]);
    return operand[d] - window[d];
  }
};
Geometry geometry_of(const Op& concrete);

/// Index values, row-major [position][component].
using IndexValues = std::vector<Wide>;
/// Element number of component k of each position in the indices tensor, same order.
std::vector<int64_t> index_elements(const Op& concrete);
IndexValues load_indices(const Op& concrete, const std::byte* origin);
void store_indices(const Op& concrete, std::byte* origin, const IndexValues& values);

struct Touched {
  std::vector<uint8_t> element;  ///< per result element, row-major: how often touched, saturating
  bool twice = false;            ///< some element is touched by two positions
  bool any_bad = false;          ///< some component is out of bounds
};
Touched touched_by(const Geometry& geometry, const IndexValues& values);

/// Calls `visit` for every element of the result that an update reaches, in the order of semantics.md section 2 (index positions row-major,
/// then the window). True: some index is out of bounds; under policy `error` nothing is then visited.
using Visit = std::function<void(const std::vector<int64_t>& position, const std::vector<int64_t>& window, int64_t element)>;
bool visit_touched(const Geometry& geometry, const IndexValues& values, const Visit& visit);

}  // namespace strew::test
