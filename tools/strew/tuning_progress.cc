// See tuning_progress.h.
#include "tools/strew/tuning_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "tools/strew/message.h"
#include "tune/tuning_text.h"

namespace strew::cli {

void TuningProgressBar::show(const TuningProgress& progress) {
  if (progress.best_ns <= 0) return;  // nothing has been measured yet
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const bool is_due = last_ < 0 || progress.seconds - last_ >= (is_terminal ? 0.1 : 1.0);
  if (!is_due) return;
  last_ = progress.seconds;
  const std::string left = std::isinf(progress.budget_seconds)
                               ? ""
                               : fmt::format(", {:.0f} s left", std::max(0.0, progress.budget_seconds - progress.seconds));
  const std::string text = fmt::format(
      "kernel {} of {}, {}: {} candidates, the fastest takes {} ({:.2f} of the default's time){}", progress.op_number + 1,
      progress.ops, printable(progress.op), progress.candidates, tuning_duration(progress.best_ns), progress.best_ratio, left);
  if (!is_terminal) {
    note(text);
    return;
  }
  constexpr int kWidth = 24;
  const double done = std::isinf(progress.budget_seconds) ? 0 : std::min(1.0, progress.seconds / progress.budget_seconds);
  const int filled = static_cast<int>(done * kWidth);
  fmt::print(stderr, "\r\x1b[K[{}{}] {}", std::string(static_cast<size_t>(filled), '#'),
             std::string(static_cast<size_t>(kWidth - filled), ' '), text.substr(0, 150));
  std::fflush(stderr);
  is_shown_ = true;
}

void TuningProgressBar::clear() {
  if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  is_shown_ = false;
}

}  // namespace strew::cli
