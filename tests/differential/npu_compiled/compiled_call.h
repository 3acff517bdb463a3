// CompiledCall: runs a compiled program on the tensors of a call, and compares with the reference.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "tests/differential/npu/npu_data.h"
#include "tests/differential/npu_compiled/program_batch.h"

namespace strew::test {

struct CallOptions {
  int blocks = 1;
  pto_cpu::BlockOrder order = pto_cpu::BlockOrder::forwards;
  bool threads_backwards = false;
  uint64_t seed = 0;
  std::set<int> deleted;  ///< lines of flags that are left out
  std::string text() const;
};

/// What a run gave: what is wrong with it, or nothing, and the lines of flags and barriers that were executed.
struct CallResult {
  std::optional<std::string> wrong;
  std::set<int> flag_lines;
};

CallResult call_compiled(const ProgramBatch& batch, size_t program, const NpuData& data, const CallOptions& options);

}  // namespace strew::test
