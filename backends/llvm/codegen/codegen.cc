// See codegen.h. The pass pipeline is short because the emitter already wrote vectors and straight-line code: stack slots to registers (SROA),
// common subexpressions, simplification, hoisting out of loops (LICM), the unrolling that the emitter asked for, simplification again. LLVM's O2
// takes three times as long per kernel and gains nothing.
//
// Making a TargetMachine costs 0.4 ms, so each thread keeps the last one it used. Loop strength reduction is left out of code generation for
// x86-64: it takes a quarter of a kernel's compile time, mostly for scalar evolution, and does not improve the addresses that the emitter wrote.
// AArch64 needs it, because no address there is a register plus an index plus a constant.
// Tested by tests/golden/machine_code_test.cc and tests/differential.
#include "backends/llvm/codegen/codegen.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#ifdef __SANITIZE_THREAD__
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#endif

#include <atomic>
#include <mutex>

#include "backends/llvm/codegen/failures.h"
#include "backends/llvm/compute/blend_stores.h"
#include "backends/llvm/compute/one_lane_stores.h"
#include "base/module.h"
#include "strew/export.h"

namespace strew::inline v0 {
namespace {

/// The name of the target's CPU and its features as LLVM takes them, which has no CPU armv8.2-a.
constexpr std::string_view kArm82 = "armv8.2-a";
std::string llvm_cpu(const Target& target) { return target.cpu == kArm82 ? "generic" : target.cpu; }
std::string feature_string(const Target& target) {
  std::string text = target.cpu == kArm82 ? "+v8.2a" : "";
  for (const std::string& feature : target.features) text += (text.empty() ? "" : ",") + feature;
  return text;
}

/// The TargetMachine of this thread's last build, and the target that it is for.
thread_local std::unique_ptr<llvm::TargetMachine> last_machine;
thread_local std::string last_text;

Expected<llvm::TargetMachine*> machine_for(const Target& target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
  });
  const std::string text = target.arch + "|" + target.cpu + "|" + feature_string(target);
  if (last_machine && text == last_text) return last_machine.get();
  llvm::Triple triple(target.arch + "-unknown-linux-gnu");
  std::string why;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, why);
  if (found == nullptr) return unsupported("target: arch '" + target.arch + "': " + why);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  last_machine.reset(found->createTargetMachine(triple, llvm_cpu(target), feature_string(target), options, llvm::Reloc::PIC_,
                                                llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/false));
  if (!last_machine) return unsupported("target: LLVM has no machine for " + text);
  last_text = text;
  return last_machine.get();
}

/// Leaves loop strength reduction out of code generation for x86-64, without a process-wide option: LLVM asks the context's gate before it runs a
/// pass, and identifies the pass by its name, here as the LLVM version that we build with spells it. An LLVM that spells it otherwise would run the
/// pass without a word, so the gate counts how often it kept the pass out, and tests/unit/backends/llvm/codegen/pass_gate_test.cc looks at
/// the count.
class PassGate : public llvm::OptPassGate {
 public:
  [[nodiscard]] bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef /*description*/) const override {
    // The first build makes static objects of LLVM pass by pass. exit() must wait for builds before it destroys those.
    constexpr int kPassesOfABuild = 300;
    static std::atomic<int> passes{0};
    if (passes.load(std::memory_order_relaxed) < kPassesOfABuild) {
      ++passes;
      register_for_exit_again();
    }
    if (pass != "Loop Strength Reduction") return true;
    kept_out.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  mutable std::atomic<uint64_t> kept_out{0};
};
PassGate& pass_gate() {
  static PassGate& gate = *new PassGate;
  return gate;
}

#ifdef __SANITIZE_THREAD__
struct MarkForSanitizer : llvm::PassInfoMixin<MarkForSanitizer> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& /*analyses*/) {
    function.addFnAttr(llvm::Attribute::SanitizeThread);
    return llvm::PreservedAnalyses::all();
  }
};
#endif

/// In builds of strew with ThreadSanitizer, whose compiler instruments strew's own code, instruments the kernels with LLVM's pass of the same name;
/// backends/llvm/link resolves their calls into the sanitizer's runtime. The pass ignores accesses of more than 16 bytes, so vectors are split into
/// scalars first. In builds with AddressSanitizer kernels are not instrumented: the guard pages of the differential test see every access without
/// it. Tested by tests/unit/backends/llvm/codegen/sanitize_test.cc, which plants a race.
void add_sanitizer_passes([[maybe_unused]] llvm::FunctionPassManager& passes) {
#ifdef __SANITIZE_THREAD__
  llvm::ScalarizerPassOptions split;
  split.ScalarizeMinBits = 128;
  split.ScalarizeLoadStore = true;
  passes.addPass(llvm::ScalarizerPass(split));
  passes.addPass(MarkForSanitizer());
  passes.addPass(llvm::ThreadSanitizerPass());
#endif
}

/// The analyses and passes for one module.
struct Pipeline {
  explicit Pipeline(llvm::TargetMachine* machine) : builder(machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(sccs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, sccs, modules);
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  llvm::FunctionPassManager passes;
};

}  // namespace

void leak_machine() {
  static_cast<void>(last_machine.release());
  last_text.clear();
}

Status prepare(llvm::Module& module, const Target& target) {
  STREW_ASSIGN(llvm::TargetMachine * machine, machine_for(target));
  if (target.arch == "x86_64") module.getContext().setOptPassGate(pass_gate());
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  return {};
}

Status optimise(llvm::Module& module, const Target& target, bool has_bitcode) {
  STREW_ASSIGN(llvm::TargetMachine * machine, machine_for(target));
#ifndef NDEBUG
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  if (llvm::verifyModule(module, &stream)) return internal_error("generated IR is malformed: " + broken);
#endif
  const Leaked<Pipeline> pipeline(machine);
  llvm::FunctionPassManager& passes = pipeline->passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  // A second time, for slots whose address was stored in a slot that the first run removed (external_body.cc).
  if (has_bitcode) passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  // The body's loop over a list, which runs once where the list has one entry.
  if (has_bitcode) passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopDeletionPass()));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  llvm::LoopUnrollOptions unroll(2, /*OnlyWhenForced=*/true);
  passes.addPass(llvm::LoopUnrollPass(unroll));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  add_blend_store_pass(passes, target);
  add_one_lane_store_pass(passes, target);
  add_sanitizer_passes(passes);
  // Collected first, because a sanitizer's pass adds declarations to the module while it runs.
  std::vector<llvm::Function*> defined;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) defined.push_back(&function);
  for (llvm::Function* function : defined) passes.run(*function, pipeline->functions);
  return {};
}

namespace {

/// Instructions of a basic block up to which a module is generated with optimisation; no ordinary op has more. Beyond that the time of several
/// passes, the machine scheduler among them, grows with the square of the block: 25 s for an expression of 4,096 bf16 operations.
constexpr size_t kMostOptimised = 4096;

bool has_huge_block(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function)
      if (block.size() > kMostOptimised) return true;
  return false;
}

}  // namespace

Expected<std::string> generate(llvm::Module& module, const Target& target, CodegenOutput output) {
  STREW_ASSIGN(llvm::TargetMachine * machine, machine_for(target));
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  const Leaked<llvm::legacy::PassManager> emission;
  const auto kind = output == CodegenOutput::object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  machine->setO0WantsFastISel(false);
  machine->setOptLevel(has_huge_block(module) ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default);
  if (machine->addPassesToEmitFile(*emission, stream, nullptr, kind))
    return internal_error("LLVM cannot emit code for " + target.cpu);
  emission->run(module);
  return std::string(bytes);
}

}  // namespace strew::inline v0

/// For the test: how often the gate has kept its pass out.
extern "C" STREW_API uint64_t strew_llvm_passes_kept_out(void) {
  return strew::pass_gate().kept_out.load(std::memory_order_relaxed);
}
