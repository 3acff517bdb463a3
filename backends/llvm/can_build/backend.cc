// The LLVM backend. This folder is compiled into libstrew, so that the question whether LLVM could build a plan does not load LLVM, which takes
// 15 ms. build() and emit_text() open libstrew_llvm (backends/modules.h).
// Tested by tests/unit/backends/kernel_test.cc and tests/unit/backends/llvm/can_build/can_build_test.cc; the differential test prints which share of
// ops is declined.
#include <algorithm>
#include <string>

#include "backends/arithmetic.h"
#include "backends/llvm/can_build/can_build.h"
#include "backends/lower/kernel.h"
#include "backends/modules.h"

namespace strew::inline v0 {

namespace {

/// A look-up that fills doubles the code of a window.
Status check_fills(const Plan& plan) {
  size_t fills = 0;
  for (size_t s = 1; s < plan.sources.size(); ++s) {
    if (dropped(plan.sources[s].oob) == Dropped::nothing || ++fills <= lowered::kMostFills) continue;
    const PlanTensor& table = *std::ranges::find(plan.tensors, static_cast<int>(s), &PlanTensor::source);
    return unsupported("backend llvm: the look-up of " + std::string(name(table.role)) + " " + std::to_string(table.index) +
                       " is one of more than " + std::to_string(lowered::kMostFills) + " that fill (policy " +
                       std::string(name(plan.sources[s].oob)) + "), which is not generated");
  }
  return {};
}

}  // namespace

Status llvm_can_build(const Plan& plan, const Schedule&, const Target& target) {
  if (target.arch != "x86_64" && target.arch != "aarch64")
    return unsupported("backend llvm: architecture " + target.arch + " is not generated, only x86_64 and aarch64");
  STREW_TRY(check_row_values(plan, "llvm"));
  STREW_TRY(check_fills(plan));
  STREW_TRY(check_host_fp(plan, target, "llvm"));
  return check_arithmetic(plan, "llvm");
}

namespace {

class LlvmBackend final : public Backend {
 public:
  std::string_view name() const override { return "llvm"; }
  bool has_host_fp() const override { return true; }
  bool sums_in_registers() const override { return true; }
  Status can_build(const BuildRequest& request) const override {
    for (const BuildRequest& unit : units_of(request)) STREW_TRY(llvm_can_build(unit.plan, unit.schedule, unit.target));
    return {};
  }
  Expected<Artifact> build(const BuildRequest& request) const override {
    STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
    return module->build(request, units(request));
  }
  Expected<std::string> emit_text(const BuildRequest& request, std::string_view kind) const override {
    STREW_TRY(can_build(request));
    STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
    return module->emit_text(request, units(request), kind);
  }

 private:
  static std::vector<ObjectUnit> units(const BuildRequest& request) {
    std::vector<ObjectUnit> list;
    for (const BuildRequest& unit : units_of(request)) list.push_back({unit});
    return list;
  }
};

}  // namespace

const Backend* llvm_backend() {
  static const LlvmBackend& backend = *new const LlvmBackend;
  return &backend;
}

}  // namespace strew::inline v0
