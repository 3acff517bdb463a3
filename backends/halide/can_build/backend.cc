// Compiled into libstrew, so that asking costs no library. Halide's loops become part of the
// object with LLVM's entries that call them.
// Tested by tests/unit/halide_test.cc.
#include "backends/halide/can_build/backend.h"

#include <utility>

#include "backends/halide/can_build/can_build.h"
#include "backends/halide/can_build/form.h"
#include "backends/modules.h"

namespace strew {
namespace {

class HalideBackend final : public Backend {
 public:
  std::string_view name() const override { return "halide"; }
  Status can_build(const BuildRequest& request) const override {
    if (!has_halide()) return unsupported("backend halide: not part of this build (STREW_WITH_HALIDE)");
    return halide_can_build(request.plan, request.schedule, request.target);
  }
  Expected<Artifact> build(const BuildRequest& request) const override {
    return with_loops(request, [&](const LlvmModule& llvm, const OutsideLoops& loops) { return llvm.build(request, &loops); });
  }
  Expected<std::string> emit_text(const BuildRequest& request, std::string_view kind) const override {
    STREW_TRY(can_build(request));
    if (kind == "halide") {
      STREW_ASSIGN(const HalideModule* halide, open_halide_module());
      return halide->emit_text(request, form_of(request.plan, request.schedule));
    }
    if (kind != "ll" && kind != "asm")
      return unsupported("--emit " + std::string(kind) + ": the halide backend emits halide, ll, asm and obj");
    return with_loops(request,
                      [&](const LlvmModule& llvm, const OutsideLoops& loops) { return llvm.emit_text(request, &loops, kind); });
  }

 private:
  /// use(LLVM's module, Halide's loops)
  template <class Use>
  static auto with_loops(const BuildRequest& request, const Use& use)
      -> decltype(use(std::declval<const LlvmModule&>(), std::declval<const OutsideLoops&>())) {
    STREW_ASSIGN(const HalideModule* halide, open_halide_module());
    STREW_ASSIGN(const LlvmModule* llvm, open_llvm_module());
    const Form form = form_of(request.plan, request.schedule);
    STREW_ASSIGN(const std::string bitcode, halide->build(request, form));
    return use(*llvm, OutsideLoops{form, bitcode});
  }
};

}  // namespace

const Backend* halide_backend() {
  static const HalideBackend backend;
  return &backend;
}

bool has_halide() {
#ifdef STREW_HAS_HALIDE
  return true;
#else
  return false;
#endif
}

}  // namespace strew
