// check_partitions: parts of random programs, some operations of which are left to a host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "strew/partition.h"
#include "strew/tensor.h"
#include "tests/support/rng.h"

namespace strew::test {

/// Runs a program on its inputs.
using RunsProgram = std::function<Expected<std::vector<Tensor>>(const Program&, const std::vector<Tensor>&)>;

struct PartitionTally {
  int64_t parts = 0, kept = 0, runs = 0;  ///< parts that were found; operations left to the host; programs that were run in parts
};

/// Draws operations that are left to a host, and checks that the parts of the others are disjoint, hold all of them, could not be larger, and make what
/// others read. Then runs the parts one after the other, with the other operations in between, and compares the results. What is wrong, or nothing.
/// The program has no opaque operations, and none of its values stands for a node of a file.
std::optional<std::string> check_partitions(const Program& program, const std::vector<Tensor>& inputs, const RunsProgram& run,
                                            Rng& rng, PartitionTally& tally);

}  // namespace strew::test
