// npu-a3 and npu-a5: the op becomes the program that `strew compile --emit pto-cpp` writes, and a call simulates it, a few cores taking turns
// after every statement. For trying a program out where there is no chip: named, never chosen by `auto`. Where the program finds an index
// out of bounds, the reference says which. Tested by tests/unit/npu_backend_test.cc.
#include "backends/pto/backend.h"

#include "backends/pto/program.h"
#include "backends/pto/simulate/launch.h"
#include "backends/reference/reference.h"

namespace strew {
namespace {

constexpr int kMostCores = 8;
constexpr uint64_t kEachInTurn = 2;

class Simulation final : public Interpreter {
 public:
  explicit Simulation(pto::Program program) : program_(std::move(program)) {}

  Status run(const VerifiedOp& op, std::span<const TensorView> tensors, strew_fault* fault) const override {
    pto::SimulateOptions options;
    options.blocks = std::min(program_.blocks, kMostCores);
    options.seed = kEachInTurn;
    options.max_steps = int64_t{1} << 40;
    STREW_ASSIGN(const pto::Launched launched, pto::launch(program_, program_.module, tensor_slots(op), tensors, options));
    return launched.fault ? run_reference(op, tensors, fault) : Status();
  }

 private:
  pto::Program program_;
};

class NpuBackend final : public Backend {
 public:
  NpuBackend(std::string_view name, pto::Chip chip) : name_(name), chip_(chip) {}

  std::string_view name() const override { return name_; }
  bool interprets() const override { return true; }
  Status can_build(const BuildRequest& request) const override { return plan(request).status(); }
  Expected<Artifact> build(const BuildRequest& request) const override {
    STREW_ASSIGN(pto::Program program, plan(request));
    Artifact artifact;
    artifact.interpreted = true;
    artifact.interpreter = std::make_shared<Simulation>(std::move(program));
    return artifact;
  }
  Expected<std::string> emit_text(const BuildRequest&, std::string_view kind) const override {
    return unsupported("backend " + std::string(name_) + ": --emit " + std::string(kind) + ", expected --target " +
                       std::string(name_) + " with --emit pto-as, pto-ir or pto-cpp");
  }

 private:
  Expected<pto::Program> plan(const BuildRequest& request) const {
    pto::ProgramOptions options;
    options.output = pto::Output::pto_cpp;
    return pto::plan_program(request.op, request.plan, chip_, options);
  }

  std::string_view name_;
  pto::Chip chip_;
};

}  // namespace

const Backend* npu_a3_backend() {
  static const NpuBackend backend("npu-a3", pto::Chip::a3);
  return &backend;
}
const Backend* npu_a5_backend() {
  static const NpuBackend backend("npu-a5", pto::Chip::a5);
  return &backend;
}

}  // namespace strew
