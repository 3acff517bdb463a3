// Out-of-bounds policies (semantics.md section 3), in integers wide enough that nothing wraps.
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

  /// The first bad index in row-major order of positions, then by component; nothing if all windows lie inside. Positions count
  /// even where the window has no element.
  std::optional<strew_fault> find_fault(const Indices& indices) const;

  /// Takes up an index position: its window starts there from now on.
  void start(const Indices& indices, const Coords& position);
  /// Every index component of the current position leaves the whole window inside.
  bool window_inside() const { return window_inside_; }
  /// The target coordinate of a window element, or false: the policy gives it none, or it would lie outside.
  bool resolve(const Coords& in_window, Coords& target) const;

 private:
  __int128 normalized(__int128 value, int64_t dim) const;

  const Geometry& geometry_;
  OobPolicy policy_;
  bool normalize_negative_;
  std::vector<__int128> start_;  // per target dim
  bool window_inside_ = true;
};

}  // namespace strew::inline v0::reference
