// WorkloadData: the tensors of the calls that are measured: as many sets of indices, and of tables if the workload is cold, as it
// takes. The numbers are made from a seed, small, and such that repeated in-place updates stay finite. Tested by
// tests/unit/workload_data_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strew/status.h"
#include "strew/tensor.h"
#include "strew/tensor_view.h"
#include "strew/verified.h"
#include "tune/usage.h"

namespace strew::inline v0 {

class WorkloadData {
 public:
  /// Fails if the usage is illegal for the op, a file does not fit, or memory is short: it then names the bytes that are needed.
  /// `max_bytes`: the most memory to take.
  static Expected<WorkloadData> make(const VerifiedOp& op, const Usage& usage, uint64_t seed, int64_t max_bytes);

  /// Calls go round the sets.
  int64_t sets() const { return sets_; }
  /// The tensors of a call, in the order that Kernel::run takes them. `set` in [0, sets()).
  std::span<const TensorView> call(int64_t set) const;
  /// Gives results that calls update in place the contents that they had at first.
  void restore();
  int64_t bytes() const { return bytes_; }              ///< of all buffers
  int64_t bytes_moved() const { return bytes_moved_; }  ///< by one call, at least: read and written
  /// What the result tensors of call(set) hold, one after the other.
  std::vector<std::byte> results(int64_t set) const;

 private:
  int64_t sets_ = 1, bytes_ = 0, bytes_moved_ = 0;
  // The implementation adds its members.
};

}  // namespace strew::inline v0
