// ProgramBatch: several programs for one chip, as `--emit pto-cpp` and `--emit pto-host` write them, compiled by the host's C++ compiler against
// tests/pto_cpu into one shared object, and opened. A compiler takes much longer to start than to compile a program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/pto/program.h"
#include "strew/status.h"
#include "tests/pto_cpu/machine/launch.h"

namespace strew::test {

/// Is there a C++ compiler? Its name is in the environment variable CXX, else it is c++.
bool has_compiler();

class ProgramBatch {
 public:
  /// The kernels' names must differ. The files are written into `folder`, which is made.
  static Expected<ProgramBatch> compile(std::vector<pto::TileProgram> programs, const std::filesystem::path& folder);
  ProgramBatch(ProgramBatch&&) = default;

  const std::vector<pto::TileProgram>& programs() const { return programs_; }
  /// The C++ of the kernels: line 1 is the first.
  const std::vector<std::string>& lines() const { return lines_; }
  /// Calls the launcher of program `i`: an address or a number for each of its arguments, in their order.
  struct Argument {
    void* memory = nullptr;
    int32_t number = 0;
  };
  void launch(size_t i, std::vector<Argument> arguments, pto_cpu::Launch& launch, int blocks) const;

 private:
  ProgramBatch() = default;
  using Entry = void (*)(const Argument*, void* stream, int blocks);
  std::vector<pto::TileProgram> programs_;
  std::vector<std::string> lines_;
  std::vector<Entry> entries_;  ///< the object stays open: a process opens few
};

}  // namespace strew::test
