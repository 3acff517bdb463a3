// fault_status: the error for an index that is out of bounds. All backends use it, so the message does not depend on
// which of them found the index. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "strew/abi.h"
#include "strew/bad_index.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// The properties of the op that the message depends on.
struct FaultRule {
  /// Of what the message gives the position: of an "update" (scatter), an "index" (gather), or a "look-up of updates 0,"
  std::string position_of = "update";
  bool counts_from_end = false;  ///< a negative value v stands for v + dim
  bool is_u64 = false;           ///< indices are u64: strew_fault.value holds their bits
};

/// The error for `fault`: "index out of bounds: update position [1,2] (linear 5), component 0: value 9, expected 0 <=
/// v <= 7". If values count from the end, the message has the negative range, too. `position_dims`: the dims of the
/// indices without the index vector. `dim`: the extent that the bad component indexes.
Status fault_status(const FaultRule& rule, const strew_fault& fault, std::span<const int64_t> position_dims, int64_t dim);

/// Positions are counted without the dims of `repeated` (bit d: dims[d]), along which indices repeat: the number of position number `position` when
/// they are counted with all of `dims`, where it has coordinate 0 in these.
int64_t full_position(int64_t position, std::span<const int64_t> dims, uint64_t repeated);

/// What a caller receives for `fault`. `source`: the number of the indices among the tensors of the call.
inline BadIndex bad_index_of(const strew_fault& fault, uint32_t source) {
  return {static_cast<int32_t>(source), fault.position, fault.component, fault.value, fault.bound};
}

/// Fails unless no element of the tensor is negative: signed integers of a byte or more, row-major. Names the first one that is, as an index of a scatter.
Status check_non_negative(const TensorView& tensor);

/// Fails unless the elements of two tensors of rank 0 are the same integer: "`what` is 3, expected 4`where`".
Status check_equal(const TensorView& tensor, const TensorView& other, const std::string& what, const std::string& where);

}  // namespace strew::inline v0
