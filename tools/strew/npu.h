// NPU targets: `strew compile --emit pto-*` and `strew explain --target npu-*`. Tested by tests/error/cli_test.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/pto/program.h"
#include "strew/import.h"
#include "tools/strew/options.h"

namespace strew::cli {

/// Is `kind` text of a PTO program (pto-as, pto-ir, pto-ir-generic, pto-cpp, pto-host)?
bool is_program_kind(std::string_view kind);
/// The program of one kernel, or the reason why there is none.
Expected<std::shared_ptr<const pto::TileProgram>> program_of(const ProgramKernel& kernel, const Options& options,
                                                             pto::Output output);

/// `strew compile --emit pto-*`: writes the text, and if it goes to a file OUT also the JSON description OUT.json; both
/// or neither. Returns the exit status.
int compile_programs(const Options& options, const Program& imported, const std::vector<int>& kernels);
/// `strew explain --target npu-*`.
int explain_programs(const Options& options, const Program& imported, const std::vector<int>& kernels);

}  // namespace strew::cli
