// Backend portable: kernels without generated code. A kernel is a program (program.h) that entries interpret which were compiled with strew, so making
// one takes microseconds, needs neither LLVM nor executable memory, and works on CPUs for which there is no code generator. Calls run as
// those of generated code do: with every strategy and any number of threads. Tested by tests/unit/backends/portable/portable_test.cc and
// tests/differential.
#include "backends/modules.h"
#include "backends/portable/entries.h"
#include "backends/portable/program.h"

namespace strew::inline v0 {
namespace {

class PortableBackend final : public Backend {
 public:
  std::string_view name() const override { return "portable"; }
  bool is_precompiled() const override { return true; }
  Status can_build(const BuildRequest& request) const override {
    for (const BuildRequest& unit : units_of(request)) STREW_TRY(portable::portable_can_build(unit.plan));
    return {};
  }
  Expected<Artifact> build(const BuildRequest& request) const override {
    STREW_TRY(can_build(request));
    Artifact artifact;
    for (const BuildRequest& unit : units_of(request)) {
      std::shared_ptr<const portable::InterpretedKernel> program = portable::make_program(unit.plan, unit.schedule);
      const size_t bytes = program->bytes();
      artifact.precompiled.push_back({unit.symbol, std::move(program), bytes, portable::entry_of});
    }
    return artifact;
  }
  Expected<std::string> emit_text(const BuildRequest&, std::string_view kind) const override {
    return unsupported("--emit " + std::string(kind) + ": the portable backend generates no code");
  }
};

}  // namespace

const Backend* portable_backend() {
  static const PortableBackend& backend = *new const PortableBackend;
  return &backend;
}

}  // namespace strew::inline v0
