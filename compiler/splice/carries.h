// Loop carries: an argument of a loop's body that operations write to on its way to the same place of what the body returns, so that the loop keeps one
// tensor. If XLA writes to it and then a call of strew does, XLA copies it in each step (measured, JAX 0.10.2: 256 MB, 17.5 ms against 0.03), so all of them
// are strew's or none. Tested by tests/unit/compiler/splice/policy_test.cc.
#pragma once

#include <vector>

#include "compiler/splice/graph.h"

namespace strew::inline v0 {

struct Carry {
  std::vector<int> kernels;  ///< those that write to it, the last one first
  bool has_others = false;   ///< does an indexed operation that strew does not run write to it, too?
};

/// The carries that kernels write to.
std::vector<Carry> carries_of(const Program& program, const FileGraph& graph);

}  // namespace strew::inline v0
