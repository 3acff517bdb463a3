// UseCounts: who still reads what in an imported program while folds rewire it. What nothing reads any more became part of a kernel.
#pragma once

#include <vector>

#include "compiler/import/importer.h"

namespace strew::fold {

class UseCounts {
 public:
  explicit UseCounts(Imported& imported);

  /// How many arguments, outputs and parts read `value`, those of dead operations left out.
  int readers(int value) const { return readers_[static_cast<size_t>(value)]; }
  bool is_live(int compute) const { return live_[static_cast<size_t>(compute)] > 0; }
  /// The value that is result 0 of `compute`.
  int value_of(int compute) const { return values_[static_cast<size_t>(compute)]; }
  /// The last kernel that `value` needs, -1: none.
  int last_kernel(int value) const { return last_kernel_[static_cast<size_t>(value)]; }

  int add_value(Value value);
  /// A value that `compute` gives; its arguments are in place.
  int add_compute(Compute compute);
  /// The kernel reads `arguments` from now on. Operations that nothing reads after that are `fate` into it.
  void rewire(int kernel, std::vector<int> arguments, ComputeFate fate);
  /// `value`, an operation's, is the kernel's result 0 from now on.
  void becomes_result(int value, int kernel, ComputeFate fate);

 private:
  template <class Use>
  void each_source(int value, Use use) const;
  void acquire(int value);
  void release(int value, ComputeFate fate, int kernel);
  int last_kernel_of(const Value& value) const;

  Imported& imported_;
  std::vector<int> readers_;      ///< per value
  std::vector<int> live_;         ///< per compute: how many of its results are read
  std::vector<int> last_kernel_;  ///< per value
  std::vector<int> values_;       ///< per compute: its result 0
};

}  // namespace strew::fold
