// Starts: where a window starts at one position. Index components are read as scalars and brought in bounds by the policy.
#pragma once

#include <string>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// What is left of a loop's iterations.
struct Span {
  Number from, to;
};

class StartCode {
 public:
  explicit StartCode(Frame& frame) : frame_(frame), plan_(frame.plan), b_(frame.build) {}

  /// Reads every component at `position` and fills what follows.
  void read_all();
  /// Policy error: a number that is not 0 where a component is out of bounds at `position`.
  Number faults();

  std::vector<Number> position;  ///< variables of the position loops
  std::vector<Number> starts;    ///< per component, in bounds
  std::vector<Span> spans;       ///< per component: which of the window's coordinates remain
  Number valid;                  ///< 0: the whole window is dropped

 private:
  Number packed_index(int width, const Number& at, const std::string& hint);
  Number load_index(size_t k);
  void exists(const Number& places);
  Number divisor(size_t k);
  Number start(size_t k);
  void bound(size_t k, const Number& value);

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
};

}  // namespace strew::inline v0::pto
