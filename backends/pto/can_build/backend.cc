// Backends npu-a3 and npu-a5. Both are compiled into libstrew and open libstrew_pto when they are first asked. They plan
// the op as a PTO program. For the target of the same name, BuildRequest::program has the options of the program that
// `strew compile` writes. Without it, a call on this machine simulates the program, which is planned as for output
// pto-cpp. `auto` never chooses these backends. Tested by tests/unit/backends/pto/npu_backend_test.cc.
#include "backends/modules.h"
#include "backends/pto/program.h"

namespace strew::inline v0 {
namespace {

class Simulation final : public Interpreter {
 public:
  Simulation(const PtoModule& module, std::shared_ptr<const pto::TileProgram> program)
      : module_(module), program_(std::move(program)) {}

  Expected<bool> run(std::span<const TensorView> tensors) const override { return module_.simulate(*program_, tensors); }

 private:
  const PtoModule& module_;
  std::shared_ptr<const pto::TileProgram> program_;
};

class NpuBackend final : public Backend {
 public:
  NpuBackend(std::string_view name, pto::Chip chip) : name_(name), chip_(chip) {}

  std::string_view name() const override { return name_; }
  bool interprets() const override { return true; }
  Status can_build(const BuildRequest& request) const override { return plan(request).status(); }
  Expected<Artifact> build(const BuildRequest& request) const override {
    STREW_ASSIGN(const PtoModule* const module, open_pto_module());
    STREW_ASSIGN(pto::TileProgram program, plan(request));
    Artifact artifact;
    artifact.interpreted = true;
    artifact.program = std::make_shared<pto::TileProgram>(std::move(program));
    artifact.interpreter = std::make_shared<Simulation>(*module, artifact.program);
    return artifact;
  }
  Expected<std::string> emit_text(const BuildRequest&, std::string_view kind) const override {
    return unsupported("backend " + std::string(name_) + ": --emit " + std::string(kind) + ", expected --target " +
                       std::string(name_) + " with --emit op, plan, pto-as, pto-ir or pto-cpp");
  }

 private:
  Expected<pto::TileProgram> plan(const BuildRequest& request) const {
    STREW_ASSIGN(const PtoModule* const module, open_pto_module());
    pto::ProgramOptions simulated;
    simulated.output = pto::Output::pto_cpp;
    return module->plan_program(request.tensors, request.plan, chip_, request.program != nullptr ? *request.program : simulated);
  }

  std::string_view name_;
  pto::Chip chip_;
};

}  // namespace

const Backend* npu_a3_backend() {
  static const NpuBackend& backend = *new const NpuBackend("npu-a3", pto::Chip::a3);
  return &backend;
}
const Backend* npu_a5_backend() {
  static const NpuBackend& backend = *new const NpuBackend("npu-a5", pto::Chip::a5);
  return &backend;
}

}  // namespace strew::inline v0
