// Policy: out-of-bounds policies and normalize_negative (docs/semantics.md, section 3). It computes in 128-bit
// integers, so nothing overflows. Tested by tests/unit/backends/reference/reference_scatter_test.cc, every policy on both sides of both
// bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/reference/geometry.h"
#include "strew/abi.h"
#include "strew/op.h"

namespace strew::inline v0::reference {

class Policy {
 public:
  Policy(const Geometry& geometry, OobPolicy policy, bool normalize_negative);

  /// The first index out of bounds, in row-major order of positions and then by component; nothing if all windows lie
  /// inside. Positions are checked even if the window has no element.
  std::optional<strew_fault> find_fault(const Indices& indices) const;

  /// Makes `position` the current position: computes where its window starts.
  void start(const Indices& indices, const Coords& position);
  /// Does the whole window of the current position lie inside, before the policy changes anything?
  bool window_inside() const { return window_inside_; }
  /// Computes the target coordinate of a window element. Returns false if the policy drops the element or its
  /// coordinate lies outside.
  bool resolve(const Coords& in_window, Coords& target) const;

 private:
  __int128 normalized(__int128 value, int64_t dim) const;

  const Geometry& geometry_;
  OobPolicy policy_;
  bool normalize_negative_;
  std::vector<__int128> start_;  // of the current window, for each target dim
  bool window_inside_ = true;
};

}  // namespace strew::inline v0::reference
