// Deletes flags and barriers of a compiled program, to test that the machine's monitor (tests/pto_cpu/machine/core.h) notices.
#pragma once

#include <optional>
#include <string>

#include "tests/differential/npu_compiled/compiled_call.h"

namespace strew::test {

/// How many deletions were tried, and how many of them the monitor or the comparison noticed.
struct DeletionCount {
  int64_t tried = 0, noticed = 0;
};
struct Deletions {
  DeletionCount lines;     ///< one set_flag or wait_flag: the core hangs, or a flag is left
  DeletionCount flags;     ///< every line of one flag: what it ordered runs in any order, if it ordered anything in this call
  DeletionCount barriers;  ///< one pipe_barrier, but for the last
};

/// Tries every deletion in the part of the program that a call with `options` executes. Returns the deletion of a single line that was not
/// noticed, if there is one: that is never right.
std::optional<std::string> delete_flags(const ProgramBatch& batch, size_t program, const NpuData& data, CallOptions options,
                                        Deletions& count);

}  // namespace strew::test
