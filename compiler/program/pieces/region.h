// Region: operations around the kernels (Computes) that become one kernel, because only they read each other's results. Tested by
// tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <set>
#include <vector>

#include "strew/program.h"

namespace strew::inline v0 {

/// Operations that one kernel does: elementwise ones (MapOp), movement and counting (IotaOp) before them, and at the end perhaps a reduction. A value that
/// is put together (a concatenation, a tensor with a part written into it) has a region for each tensor that it is made of.
struct Region {
  int value = -1;  ///< the first one that the region gives
  /// Numbers of Computes. Each comes after those that it reads, and the last one gives the region's results. Those of the parts are among them. Empty: the
  /// value is a leaf.
  std::vector<int> members;
  std::vector<int> leaves;  ///< the values that the members read from outside
  /// If the last member puts its result together: per argument that has elements of it, the region that gives them.
  std::vector<Region> parts;
  int last() const { return members.back(); }
};

/// The region that ends with computes[last]: what only it reads joins it, unless the value is in `apart`. Operations of other kinds, of elements of less
/// than a byte and of strings are regions of their own.
Region region_of(const Program& program, int last, const std::set<int>& apart);

/// The value whose elements are the dims of the operation's result, which are known only when it runs; -1: there is none.
inline int shape_of(const Compute& compute) { return compute.takes_shape() ? compute.arguments.back() : -1; }

/// Can a kernel do what the region does, as far as kinds and types of its operations tell?
bool can_compile(const Program& program, const Region& region);

}  // namespace strew::inline v0
