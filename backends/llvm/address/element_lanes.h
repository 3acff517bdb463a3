// ElementLanes: computes where the elements of lowered::kIndexLanes consecutive positions lie in vector instructions: indices are loaded, the policy is
// applied and offsets are multiplied for all of them at once. Each element is then combined on its own. Where it is done: Walk::Way::index_lanes.
// Tested by tests/differential and tests/golden/machine_code_test.cc.
#pragma once

#include "backends/llvm/address/index.h"

namespace strew::inline v0 {

class ElementLanes {
 public:
  /// Emits the computation for lowered::kIndexLanes positions. p: pointers at the first of them.
  ElementLanes(Frame& frame, const Pointers& p);
  /// p: pointers at position number `lane` of these. Returns them with the indexed tensor's pointer moved to that position's element, or to a sink if the policy drops it.
  Pointers moved(Pointers p, int lane) const;

 private:
  Frame& f_;
  llvm::Value* offsets_;  ///< a vector of i64: per position, bytes from the indexed tensor's pointer to the element
  /// A vector of pointers: per position, the element or its sink; null: the policy drops nothing.
  llvm::Value* addresses_ = nullptr;
};

}  // namespace strew::inline v0
