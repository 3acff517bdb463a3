// What a run of the tuner found, as text and as JSON: a block per kernel and a last line that names the winner. `strew tune`, `strew wisdom
// replay` and the C interface hand it out. Tested by tests/error/tune_test.cc.
#pragma once

#include <string>

#include "tune/tuning_result.h"

namespace strew::inline v0 {

std::string tuning_text(const TuningResult& result);
std::string tuning_json(const TuningResult& result);
/// "1.25 ms", with the digits that measuring gives.
std::string tuning_duration(double nanoseconds);

}  // namespace strew::inline v0
