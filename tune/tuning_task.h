// TuningTask: an op with its usage, which is what the tuner is asked to find a schedule for.
#pragma once

#include <string>
#include <vector>

#include "strew/verified.h"
#include "tune/usage.h"

namespace strew::inline v0 {

struct TuningTask {
  std::string name;  ///< for messages and reports
  VerifiedOp op;
  Usage usage;                     ///< `threads` is not 0
  std::vector<std::string> notes;  ///< what was invented of the usage
};

}  // namespace strew::inline v0
