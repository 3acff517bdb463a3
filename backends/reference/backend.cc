// Backend reference. It is the last backend of the list and can build everything, so an op that no code
// generator takes still runs, slowly and correctly. Its artifact has only the flag `interpreted`, which makes
// Kernel::run call run_reference on the op as the user gave it. Tested by tests/unit/backends/kernel_test.cc.
#include "backends/backend.h"

namespace strew::inline v0 {
namespace {

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  bool interprets() const override { return true; }
  Status can_build(const BuildRequest&) const override { return {}; }
  Expected<Artifact> build(const BuildRequest&) const override {
    Artifact artifact;
    artifact.interpreted = true;
    return artifact;
  }
  Expected<std::string> emit_text(const BuildRequest&, std::string_view kind) const override {
    return unsupported("backend reference generates no code: --emit " + std::string(kind) + " needs backend llvm");
  }
};

}  // namespace

const Backend* reference_backend() {
  static const ReferenceBackend& backend = *new const ReferenceBackend;
  return &backend;
}

}  // namespace strew::inline v0
