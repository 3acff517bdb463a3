// Region: operations around the kernels (Computes) that become one kernel, because only they read each other's results. Tested by
// tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <set>
#include <vector>

#include "strew/program.h"

namespace strew::inline v0 {

/// Operations that one kernel does: elementwise ones (MapOp), movement and counting (IotaOp) before them, and at the end perhaps a reduction.
struct Region {
  /// Numbers of Computes. Each comes after those that it reads, and the last one gives the region's results.
  std::vector<int> members;
  std::vector<int> leaves;  ///< the values that the members read from outside
  int last() const { return members.back(); }
};

/// The region that ends with computes[last]: what only it reads joins it, unless the value is in `apart`. Operations of other kinds, of elements of less
/// than a byte and of strings are regions of their own.
Region region_of(const Program& program, int last, const std::set<int>& apart);

/// Can a kernel do what the region does, as far as kinds and types of its operations tell?
bool can_compile(const Program& program, const Region& region);

}  // namespace strew::inline v0
