// The text of programs, in every form that `--emit` has (docs/npu.md).
// Tested by tests/golden/pto_program_test.cc and tests/unit/backends/pto/pto_cpp_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/pto/program.h"

namespace strew::inline v0::pto {

/// The text of all programs of one file, which must be for the same chip. `kind`: pto-as (one program only), pto-ir,
/// pto-ir-generic, pto-cpp or pto-host.
Expected<std::string> program_text(const std::vector<TileProgram>& programs, std::string_view kind);

/// The programs as C++ over the pto-isa headers.
std::string print_cpp(const std::vector<TileProgram>& programs);

/// A C++ header with a function per program that launches it. Its comments say what to pass and what to guarantee.
std::string print_host(const std::vector<TileProgram>& programs);

}  // namespace strew::inline v0::pto
