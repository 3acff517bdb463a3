// TuningProgressBar: shows where `strew tune` is. Tested by tests/error/tune_test.cc.
#pragma once

#include "tune/tuner.h"

namespace strew::cli {

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
