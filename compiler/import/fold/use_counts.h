// UseCounts: how many readers each value of an imported program has, kept up to date while the folds rewire the program. A Compute that
// nobody reads any more has been merged into a kernel.
#pragma once

#include <vector>

#include "strew/import.h"

namespace strew::inline v0::fold {

class UseCounts {
 public:
  explicit UseCounts(Imported& imported);

  /// How many arguments of kernels, live Computes and opaque operations, outputs, and `parts` or `like` of other values read `value`.
  int readers(int value) const { return readers_[static_cast<size_t>(value)]; }
  bool is_live(int compute) const { return live_[static_cast<size_t>(compute)] > 0; }
  /// The value that holds result 0 of `compute`.
  int value_of(int compute) const { return values_[static_cast<size_t>(compute)]; }
  /// The last kernel that must have run before `value` is known; -1: `value` needs no kernel.
  int last_kernel(int value) const { return last_kernel_[static_cast<size_t>(value)]; }

  int add_value(Value value);
  /// Adds `compute` and the value that holds its result. Its arguments must already be values of the program.
  int add_compute(Compute compute);
  /// Makes `arguments` the kernel's arguments. Computes that nobody reads after that get `disposition` and this kernel.
  void rewire(int kernel, std::vector<int> arguments, ComputeDisposition disposition);
  /// Makes `use`, which kernel `kernel` counts as a reader (each_use), the value `to`. What nobody reads after that is folded into the kernel.
  void move_use(int& use, int to, int kernel);
  /// Makes `value`, so far the result of a Compute, result 0 of the kernel. That Compute, and those that only it read, get
  /// `disposition` and this kernel.
  void becomes_result(int value, int kernel, ComputeDisposition disposition);

 private:
  template <class Use>
  void each_source(int value, Use use) const;
  void acquire(int value);
  void release(int value, ComputeDisposition disposition, int kernel);
  int last_kernel_of(const Value& value) const;

  Imported& imported_;
  std::vector<int> readers_;      ///< per value
  std::vector<int> live_;         ///< per compute: how many of its results have readers
  std::vector<int> last_kernel_;  ///< per value
  std::vector<int> values_;       ///< per compute: the value that holds its result 0
};

}  // namespace strew::inline v0::fold
