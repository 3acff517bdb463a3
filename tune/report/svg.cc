// See svg.h.
#include "tune/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strew::inline v0 {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string duration_text(double nanoseconds) {
  if (nanoseconds < 999.5) return fmt::format("{:.3g} ns", nanoseconds);
  if (nanoseconds < 999.5e3) return fmt::format("{:.3g} µs", nanoseconds / 1e3);
  if (nanoseconds < 999.5e6) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  return fmt::format("{:.3g} s", nanoseconds / 1e9);
}

LogAxis::LogAxis(double least, double most, double begin, double end) : begin_(begin), end_(end) {
  constexpr double kRoom = 0.03;
  const double low = std::log10(std::max(least, 1e-3)), high = std::max(std::log10(std::max(most, 1e-3)), low + 0.1);
  low_ = low - kRoom * (high - low);
  high_ = high + kRoom * (high - low);
}

double LogAxis::at(double value) const {
  const double part = (std::log10(std::max(value, 1e-3)) - low_) / (high_ - low_);
  return begin_ + std::clamp(part, 0.0, 1.0) * (end_ - begin_);
}

std::vector<double> LogAxis::ticks() const {
  std::vector<double> out;
  const bool is_wide = high_ - low_ > 2.5;
  for (double power = std::floor(low_); power <= high_; power += 1) {
    for (const double step : {1.0, 2.0, 3.0, 5.0, 7.0}) {
      const bool is_fine = high_ - low_ < 0.7;
      if ((is_wide && step > 1) || (!is_fine && (step == 3 || step == 7))) continue;
      const double value = step * std::pow(10, power);
      if (std::log10(value) >= low_ && std::log10(value) <= high_) out.push_back(value);
    }
  }
  return out;
}

}  // namespace strew::inline v0
