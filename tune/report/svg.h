// Parts of SVG pictures: text that is safe in markup, a logarithmic axis, and durations as people read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strew::inline v0 {

/// The text with &, <, >, quotes and control characters replaced, so that it is text in markup and in attributes.
std::string escaped(std::string_view text);
/// "12.3 us"
std::string duration_text(double nanoseconds);

/// Maps values to [begin, end] of a picture, logarithmically.
class LogAxis {
 public:
  /// Covers the values, which must be positive, with a little room on both sides.
  LogAxis(double least, double most, double begin, double end);
  double at(double value) const;
  /// 1, 2 and 5 times powers of ten within the axis; without the 2s and 5s if there are many.
  std::vector<double> ticks() const;

 private:
  double low_, high_, begin_, end_;
};

}  // namespace strew::inline v0
