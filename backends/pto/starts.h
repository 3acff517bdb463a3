// StartCode: writes the scalar instructions that compute where the window of one position starts, for programs of
// windows (windows.cc): read the index components from memory and apply the policy. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <string>
#include <vector>

#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

/// The iterations [from, to) of a window loop that the policy does not drop.
struct LoopSpan {
  Number from, to;
};

class StartCode {
 public:
  explicit StartCode(Frame& frame) : frame_(frame), plan_(frame.plan), b_(frame.build) {}

  /// Reads all components at `position` and sets `starts`, `spans` and `valid`.
  void read_all();
  /// Policy error: 1 if a component is out of bounds at `position`, else 0.
  Number faults();

  std::vector<Number> position;  ///< the variables of the position loops; the caller sets them
  std::vector<Number> starts;    ///< for each component: the coordinate at which the window starts, after the policy
  std::vector<LoopSpan> spans;   ///< for each component: the window's coordinates that the policy does not drop
  Number valid;                  ///< 0: the policy drops the whole window; else 1

 private:
  Number packed_index(const Component& c, const Number& at, const std::string& hint);
  Number load_index(size_t k);
  Number sign(const Number& value);
  Number clamp(const Number& value, const Number& limit, Number& outside);
  void drop_if_no_place(const Number& places);
  Number divisor(size_t k);
  Number start(size_t k);
  void bound(size_t k, const Number& value);

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
};

}  // namespace strew::inline v0::pto
