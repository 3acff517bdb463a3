// libstrew_llvm's one exported function, and the builds behind it: request -> IR -> object. Each build has its own LLVMContext, so
// builds on several threads never meet.
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "backends/llvm/codegen.h"
#include "backends/llvm/entries.h"
#include "backends/llvm/failures.h"
#include "backends/llvm/graft.h"
#include "backends/llvm/link/orc.h"
#include "backends/modules.h"
#include "base/headroom.h"
#include "base/own_stack.h"
#include "schedules/strategies/strategy.h"

namespace strew {

std::vector<EntryKind> entries_of(const Plan& plan, const Schedule& schedule) {
  std::vector<EntryKind> list = {EntryKind::range};
  if (plan.checks_first) list.push_back(EntryKind::check);
  if (!plan.gather && plan.init_kind != InitKind::in_place) list.push_back(EntryKind::init);
  if (uses_owners(schedule.strategy)) list.insert(list.end(), {EntryKind::keys, EntryKind::list});
  if (schedule.strategy == Strategy::runs) list.push_back(EntryKind::keys);
  if (wants_clip(plan, schedule)) list.push_back(EntryKind::clip);
  if (schedule.strategy == Strategy::private_tables) list.push_back(EntryKind::merge);
  return list;
}

namespace {

/// `loops`: range and list call these; null: they have their own.
Status emit(llvm::Module& module, const BuildRequest& request, const OutsideLoops* loops) {
  if (request.plan.accumulate != Accumulate::native)
    return unsupported("accumulate " + std::string(name(request.plan.accumulate)) +
                       " is two kernels, a fold and a narrowing (compiler/rewrite/split_wide); emit those one by one");
  STREW_TRY(prepare(module, request.target));
  const Form* form = loops == nullptr ? nullptr : &loops->form;
  for (EntryKind entry : entries_of(request.plan, request.schedule)) {
    const std::string symbol = request.symbol + "_" + std::string(name(entry));
    switch (entry) {
      case EntryKind::range:
        emit_range(module, request, symbol, form);
        break;
      case EntryKind::check:
        emit_check(module, request, symbol);
        break;
      case EntryKind::init:
        emit_init(module, request, symbol);
        break;
      case EntryKind::keys:
        emit_keys(module, request, symbol);
        break;
      case EntryKind::list:
        emit_list(module, request, symbol, form);
        break;
      case EntryKind::clip:
        // The owner strategies have clip for hot rows only: there Halide's windows stay whole, their length a constant.
        emit_clip(module, request, symbol, uses_owners(request.schedule.strategy) ? nullptr : form);
        break;
      case EntryKind::merge:
        emit_merge(module, request, symbol);
        break;
    }
  }
  if (loops != nullptr) {
    // Halide's own unrolling of a run whose length it does not know guards every vector.
    const bool known = form->fixed.empty() || form->fixed.back();
    STREW_TRY(graft(module, loops->bitcode, known ? 1 : request.schedule.unroll));
  }
  return optimise(module, request.target, /*grafted=*/loops != nullptr);
}

/// The IR of one build. Left alone, with the thread's TargetMachine, when LLVM fails in the midst of it.
struct Build {
  explicit Build(const std::string& symbol) : module(symbol, context) {}
  llvm::LLVMContext context;
  llvm::Module module;
};

/// function(module), with what LLVM throws and does not find room for as a Status.
template <class Function>
auto with_module(const BuildRequest& request, const Function& function) -> decltype(function(std::declval<llvm::Module&>())) {
  constexpr std::string_view kWhat = "backend llvm";
  STREW_TRY(check_headroom(kWhat, kBuildBytes, kBuildMappings));
  bool finished = false;
  auto answer = catching(kWhat, [&] {
    const Leaked<Build> build(request.symbol);
    auto made = function(build->module);
    finished = true;
    return made;
  });
  if (!finished) leak_machine();
  return answer;
}

Expected<Artifact> build(const BuildRequest& request, const OutsideLoops* loops) {
  return with_module(request, [&](llvm::Module& module) -> Expected<Artifact> {
    STREW_TRY(emit(module, request, loops));
    Artifact artifact;
    STREW_ASSIGN(std::string object, generate(module, request.target, CodegenOutput::object));
    artifact.objects.push_back(std::move(object));
    artifact.entries = entries_of(request.plan, request.schedule);
    return artifact;
  });
}

Expected<std::string> emit_text(const BuildRequest& request, const OutsideLoops* loops, std::string_view kind) {
  return with_module(request, [&](llvm::Module& module) -> Expected<std::string> {
    STREW_TRY(emit(module, request, loops));
    if (kind == "asm") return generate(module, request.target, CodegenOutput::assembly);
    if (kind == "ll") {
      std::string text;
      llvm::raw_string_ostream stream(text);
      module.print(stream, nullptr);
      return text;
    }
    return unsupported("--emit " + std::string(kind) + ": the llvm backend emits ll, asm and obj");
  });
}

/// LLVM recurses over the values of a function: as deep as the op's expression.
size_t stack_bytes(const BuildRequest& request) { return compiler_stack_bytes(request.plan.combine.nodes.size()); }

Expected<Artifact> build_on_stack(const BuildRequest& request, const OutsideLoops* loops) {
  return with_stack<Artifact>(stack_bytes(request), [&] { return build(request, loops); });
}

Expected<std::string> emit_text_on_stack(const BuildRequest& request, const OutsideLoops* loops, std::string_view kind) {
  return with_stack<std::string>(stack_bytes(request), [&] { return emit_text(request, loops, kind); });
}

}  // namespace
}  // namespace strew

extern "C" const strew::LlvmModule* strew_llvm_module() {
  strew::install_llvm_handlers();
  static const strew::LlvmModule module = {strew::build_on_stack, strew::emit_text_on_stack, strew::process_linker};
  return &module;
}
