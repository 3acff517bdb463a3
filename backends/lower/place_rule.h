// PlaceRule: what an out-of-bounds policy makes of one component of an index vector (docs/semantics.md section 3). This is the one place
// where policies become rules; code generators write rules. The reference reads policies itself (backends/reference/policy.h).
#pragma once

#include <cstdint>

#include "compiler/plan/plan.h"

namespace strew::inline v0 {

/// v is the component after normalisation, in unbounded integers; `dim` and `window` are those of Component.
enum class PlaceRule : uint8_t {
  trusted,  ///< the window starts at v
  fits,     ///< the window starts at v; the position is kept if 0 <= v <= dim - window
  clamped,  ///< the window starts at v clamped to [0, dim - window]; the position is kept if dim >= window
  inside,   ///< the window, of one coordinate, is at v; the position is kept if 0 <= v < dim
  cut,      ///< coordinates of the window that are in [0, dim) are kept; the position is kept if there are some
  wrapped,  ///< the window, of one coordinate, is at v mod dim; the position is kept if dim > 0
  split,    ///< the window starts at v mod dim, and goes on at 0 where the dim ends; the position is kept if dim > 0
};

/// The rule for a component whose window has this extent.
constexpr PlaceRule place_rule(OobPolicy policy, const Term& window) {
  switch (policy) {
    case OobPolicy::undefined:
    case OobPolicy::error:
      return PlaceRule::trusted;
    case OobPolicy::skip_window:
    case OobPolicy::fill_window:
      return PlaceRule::fits;
    case OobPolicy::clamp:
      return PlaceRule::clamped;
    case OobPolicy::skip_element:
    case OobPolicy::fill_element:
      return window.is(1) ? PlaceRule::inside : PlaceRule::cut;
    case OobPolicy::wrap:
      return window.is(1) ? PlaceRule::wrapped : PlaceRule::split;
  }
  return PlaceRule::trusted;
}
std::string_view name(PlaceRule rule);

/// What is done with a position, or a part of its window, that the policy does not keep.
enum class Dropped : uint8_t {
  nothing,  ///< nothing is written (policies without fill)
  filled,   ///< the whole window is filled instead
  parted,   ///< the window is filled unless all of it is in bounds; then the part in bounds is written
};
constexpr Dropped dropped(OobPolicy policy) {
  switch (policy) {
    case OobPolicy::fill_window:
      return Dropped::filled;
    case OobPolicy::fill_element:
      return Dropped::parted;
    case OobPolicy::undefined:
    case OobPolicy::error:
    case OobPolicy::skip_window:
    case OobPolicy::skip_element:
    case OobPolicy::clamp:
    case OobPolicy::wrap:
      break;
  }
  return Dropped::nothing;
}

}  // namespace strew::inline v0
