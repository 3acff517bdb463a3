// WorkloadData: the tensors of the calls that are measured: several sets of indices, and, if the workload is cold, as many tables and
// updates as it takes to go round more than the last-level cache holds. The numbers are small, so that repeated updates in place stay
// finite. Tested by tests/unit/tune/workload_data_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  /// Fails if the usage is illegal for the op, its index tensor does not fit, or the data would take more than `max_bytes`: the message
  /// names both numbers.
  static Expected<WorkloadData> make(const VerifiedOp& op, const Usage& usage, uint64_t seed, int64_t max_bytes);

  /// Calls go round the sets.
  int64_t sets() const { return static_cast<int64_t>(calls_.size()); }
  /// The tensors of a call, in the order in which Kernel::run takes them. `set` is in [0, sets()).
  std::span<const TensorView> call(int64_t set) const { return calls_[static_cast<size_t>(set)]; }
  /// Gives the results the contents that they had at first.
  void restore();
  int64_t bytes() const { return bytes_; }              ///< of all buffers
  int64_t bytes_moved() const { return bytes_moved_; }  ///< by one call, at least: read and written
  /// The bytes of the result tensors of call(set), one after the other.
  std::vector<std::byte> results(int64_t set) const;
  /// The first byte of results(set) whose element differs from that of `expected`; -1 if none does. Any NaN equals any other.
  int64_t first_difference(int64_t set, std::span<const std::byte> expected) const;

 private:
  /// Memory of one tensor of one or more calls. `first` is the byte of element [0, ..., 0].
  struct Storage {
    Buffer buffer;
    int64_t first = 0;
    size_t slot = 0;
  };
  explicit WorkloadData(VerifiedOp sized);
  Status lay_out(const Usage& usage, int64_t max_bytes);
  Expected<size_t> allocate(size_t slot);
  Status fill_indices(const Usage& usage, uint64_t seed);
  void fill(const Storage& storage);
  void count_moved();

  // Slots and views refer to the types of this op, which stays where it is when this object is moved.
  std::unique_ptr<const VerifiedOp> sized_;
  std::vector<TensorSlot> slots_;
  std::vector<std::vector<std::byte>> patterns_;  ///< [slot]: what its storages are filled with; empty: not made yet
  std::vector<Storage> storages_;
  std::vector<std::vector<TensorView>> calls_;
  std::vector<std::vector<size_t>> storage_of_;  ///< [set][slot]
  int64_t bytes_ = 0, bytes_moved_ = 0;
};

}  // namespace strew::inline v0
