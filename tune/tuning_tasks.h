// The tuning tasks of a model file: one for each distinct kernel, which counts how often the file has it. Tested by
// tests/error/tune_test.cc.
#pragma once

#include <string>
#include <vector>

#include "strew/import.h"
#include "tune/tuning_task.h"

namespace strew::inline v0 {

/// `only`: the name of the kernel to tune; empty: all. Fails if the file has no kernel, none of that name, or one that `known` does not
/// suit; the message begins with the kernel's name.
Expected<std::vector<TuningTask>> tuning_tasks(const Program& imported, const std::string& only, const KnownUsage& known);

}  // namespace strew::inline v0
