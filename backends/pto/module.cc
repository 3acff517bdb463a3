// The one function that libstrew_pto exports. It returns a table of functions (PtoModule in backends/modules.h) that
// plan programs, write them as text, and simulate calls. A call is simulated on at most kMostCores cores that take
// turns after every statement. Tested by tests/unit/backends/pto/npu_backend_test.cc.
#include "base/module.h"

#include <algorithm>

#include "backends/modules.h"
#include "backends/pto/program.h"
#include "backends/pto/simulate/simulate.h"
#include "strew/export.h"

namespace strew::inline v0 {
namespace {

constexpr int kMostCores = 8;
constexpr uint64_t kEachInTurn = 2;  // SimulateOptions::seed: the cores execute one statement each in turn

Expected<bool> simulate_call(const pto::TileProgram& program, std::span<const TensorView> tensors) {
  pto::SimulateOptions options;
  options.blocks = std::min(program.blocks, kMostCores);
  options.seed = kEachInTurn;
  options.max_steps = int64_t{1} << 40;
  STREW_ASSIGN(const pto::Launched launched, pto::launch(program, program.module, tensors, options));
  return !launched.fault;
}

}  // namespace
}  // namespace strew::inline v0

extern "C" STREW_API const strew::PtoModule* strew_pto_module() {
  static const strew::PtoModule module = {strew::kModuleVersion, strew::pto::plan_program, strew::pto::program_text,
                                          strew::simulate_call};
  return &module;
}
