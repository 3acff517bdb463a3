// The Halide backend. This folder is compiled into libstrew, so that asking whether Halide could build a plan opens no library. A kernel of this
// backend is one object: Halide compiles the loop bodies to bitcode, and LLVM emits the entries, links the bitcode in and generates the code.
// Tested by tests/unit/backends/halide/halide_test.cc.
#include <utility>

#include "backends/halide/can_build/body_signature.h"
#include "backends/halide/can_build/can_build.h"
#include "backends/modules.h"

namespace strew::inline v0 {
namespace {

class HalideBackend final : public Backend {
 public:
  std::string_view name() const override { return "halide"; }
  Status can_build(const BuildRequest& request) const override {
    if (!has_halide()) return unsupported("backend halide: not part of this build (STREW_WITH_HALIDE)");
    STREW_TRY(find_halide_module());
    for (const BuildRequest& unit : units_of(request)) STREW_TRY(halide_can_build(unit.plan, unit.schedule, unit.target));
    return {};
  }
  Expected<Artifact> build(const BuildRequest& request) const override {
    return with_bodies(request,
                       [&](const LlvmModule& llvm, std::span<const ObjectUnit> units) { return llvm.build(request, units); });
  }
  Expected<std::vector<Schedule>> propose(const BuildRequest& request) const override {
    STREW_TRY(can_build(request));
    STREW_ASSIGN(const HalideModule* halide, open_halide_module());
    const BuildRequest& unit = units_of(request).front();
    return halide->propose(unit, body_signature(unit.plan, unit.schedule));
  }
  Expected<std::string> emit_text(const BuildRequest& request, std::string_view kind) const override {
    STREW_TRY(can_build(request));
    if (kind == "halide") {
      STREW_ASSIGN(const HalideModule* halide, open_halide_module());
      std::string text;
      for (const BuildRequest& unit : units_of(request)) {
        STREW_ASSIGN(const std::string part, halide->emit_text(unit, body_signature(unit.plan, unit.schedule)));
        text += part;
      }
      return text;
    }
    if (kind != "ll" && kind != "asm")
      return unsupported("--emit " + std::string(kind) + ": the halide backend emits halide, ll, asm and obj");
    return with_bodies(
        request, [&](const LlvmModule& llvm, std::span<const ObjectUnit> units) { return llvm.emit_text(request, units, kind); });
  }

 private:
  /// Compiles the loop body of every unit and returns use(LLVM's module, the units with their bodies).
  template <class Use>
  static auto with_bodies(const BuildRequest& request, const Use& use)
      -> decltype(use(std::declval<const LlvmModule&>(), std::declval<std::span<const ObjectUnit>>())) {
    STREW_ASSIGN(const HalideModule* halide, open_halide_module());
    STREW_ASSIGN(const LlvmModule* llvm, open_llvm_module());
    const std::span<const BuildRequest> requests = units_of(request);
    std::vector<BodySignature> signatures;
    std::vector<std::string> bitcode;
    for (const BuildRequest& unit : requests) {
      signatures.push_back(body_signature(unit.plan, unit.schedule));
      STREW_ASSIGN(std::string made, halide->build(unit, signatures.back()));
      bitcode.push_back(std::move(made));
    }
    std::vector<ExternalBodyCode> bodies;
    for (size_t i = 0; i < requests.size(); ++i) bodies.push_back({signatures[i], bitcode[i]});
    std::vector<ObjectUnit> units;
    for (size_t i = 0; i < requests.size(); ++i) units.push_back({requests[i], &bodies[i]});
    return use(*llvm, units);
  }
};

}  // namespace

const Backend* halide_backend() {
  static const HalideBackend& backend = *new const HalideBackend;
  return &backend;
}

bool has_halide() {
#ifdef STREW_HAS_HALIDE
  return true;
#else
  return false;
#endif
}

}  // namespace strew::inline v0
