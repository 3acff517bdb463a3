// What `strew tune` and `strew wisdom replay` print: a block per kernel and a last line that names the winner. Tested by
// tests/error/tune_test.cc.
#pragma once

#include <string>

#include "tune/tuner.h"

namespace strew::cli {

std::string tuning_text(const TuningResult& result);
std::string tuning_json(const TuningResult& result);

/// Shows where the tuner is: on a terminal a bar with the best so far and the time left, which the next one overwrites; elsewhere a line
/// per wave, at most one a second.
class TuningProgressBar {
 public:
  void show(const TuningProgress& progress);
  void clear();  ///< before other output

 private:
  double last_ = -1;
  bool is_shown_ = false;
};

}  // namespace strew::cli
