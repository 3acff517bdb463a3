// Single elements by kIndexLanes positions at a time: their places are worked out in vectors, then each is applied as it always is.
#pragma once

#include "backends/llvm/address/index.h"

namespace strew {

class ElementLanes {
 public:
  /// Does it pay? Scatters and gathers of one pair of whole-byte elements whose indices can be read in lanes, clamped or wrapped.
  static bool pay(const Frame& frame);

  /// Of the position where p stands and those after it.
  ElementLanes(Frame& frame, const Pointers& p);
  /// p, at the `lane`-th of those positions, moved to its element.
  Pointers moved(Pointers p, int lane) const;

 private:
  Frame& f_;
  llvm::Value* offsets_;  ///< bytes from the indexed tensor's pointer, a vector of i64
};

}  // namespace strew
