// See link_bitcode.h. The bitcode has been optimised by its own compiler. What it says about the target (attributes, module flags) is removed,
// because our TargetMachine generates the code. After inlining, optimise() (codegen.cc) splits the structs that the functions took their
// arguments in into registers, and deletes loops over a list of one entry.
// Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
#include "backends/llvm/codegen/link_bitcode.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <utility>
#include <vector>

namespace strew::inline v0 {
namespace {

/// Removes from `body` all that belongs to the target it was made for, and gives it the target of `module`.
void strip(llvm::Module& body, const llvm::Module& module) {
  body.setTargetTriple(module.getTargetTriple());
  body.setDataLayout(module.getDataLayout());
  while (!body.named_metadata_empty()) body.eraseNamedMetadata(&*body.named_metadata_begin());
  for (llvm::Function& function : body) {
    if (function.isIntrinsic()) continue;
    function.setComdat(nullptr);
    llvm::AttributeMask texts;
    for (const llvm::Attribute& attribute : function.getAttributes().getFnAttrs())
      if (attribute.isStringAttribute()) texts.addAttribute(attribute.getKindAsString());
    function.removeFnAttrs(texts);
    if (!function.isDeclaration()) function.addFnAttr("no-trapping-math", "true");
  }
}

/// Replaces calls of the C library's rounding functions and sqrt by the intrinsics. Halide uses intrinsics for vectors but library names for
/// scalars; an intrinsic becomes one instruction.
void use_intrinsics(llvm::Module& body) {
  static constexpr std::pair<const char*, llvm::Intrinsic::ID> kNames[] = {
      {"floor", llvm::Intrinsic::floor}, {"ceil", llvm::Intrinsic::ceil},           {"trunc", llvm::Intrinsic::trunc},
      {"rint", llvm::Intrinsic::rint},   {"nearbyint", llvm::Intrinsic::nearbyint}, {"roundeven", llvm::Intrinsic::roundeven},
      {"sqrt", llvm::Intrinsic::sqrt},
  };
  for (const auto& [name, intrinsic] : kNames)
    for (const char* suffix : {"", "f"}) {
      llvm::Function* function = body.getFunction(std::string(name) + suffix);
      if (function == nullptr || !function->isDeclaration()) continue;
      function->replaceAllUsesWith(llvm::Intrinsic::getOrInsertDeclaration(&body, intrinsic, {function->getReturnType()}));
      function->eraseFromParent();
    }
}

/// Makes all vector stores of the function non-temporal and aligned to their own size.
void stream_vectors(llvm::Function& function) {
  llvm::LLVMContext& context = function.getContext();
  llvm::MDNode* one =
      llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 1)));
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store == nullptr || !store->getValueOperand()->getType()->isVectorTy()) continue;
    store->setAlignment(
        llvm::Align(function.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue()));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, one);
  }
}

/// Marks every innermost loop that stores vectors for unrolling by `times` (metadata that optimise() acts on).
void unroll_vectors(llvm::Function& function, int times) {
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  llvm::LLVMContext& context = function.getContext();
  const auto stores_vectors = [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      return store != nullptr && store->getValueOperand()->getType()->isVectorTy();
    });
  };
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || llvm::none_of(loop->blocks(), stores_vectors)) continue;
    llvm::Metadata* count =
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<uint64_t>(times)));
    llvm::MDNode* property = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.count"), count});
    llvm::MDNode* id = llvm::MDNode::getDistinct(context, {nullptr, property});
    id->replaceOperandWith(0, id);
    loop->setLoopID(id);
  }
}

/// Inlines every call of the function and deletes it.
Status inline_into_callers(llvm::Function& function) {
  while (!function.use_empty()) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(*function.user_begin());
    if (call == nullptr) return internal_error("function " + function.getName().str() + " is not only called");
    llvm::InlineFunctionInfo info;
    if (const llvm::InlineResult result = llvm::InlineFunction(*call, info); !result.isSuccess())
      return internal_error("function " + function.getName().str() + " cannot be inlined: " + result.getFailureReason());
  }
  function.eraseFromParent();
  return {};
}

}  // namespace

Status link_bitcode(llvm::Module& module, std::string_view bitcode, int unroll) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bitcode.data(), bitcode.size()), "loops");
  llvm::Expected<std::unique_ptr<llvm::Module>> body = llvm::parseBitcodeFile(buffer, module.getContext());
  if (!body) return internal_error("bitcode of the loops: " + llvm::toString(body.takeError()));
  strip(**body, module);
  use_intrinsics(**body);
  std::vector<std::string> names;
  for (const llvm::Function& function : **body)
    if (!function.isDeclaration()) names.push_back(function.getName().str());
  if (llvm::Linker::linkModules(module, std::move(*body))) return internal_error("bitcode of the loops does not link");
  for (const std::string& name : names) {
    llvm::Function* function = module.getFunction(name);
    if (function == nullptr) continue;
    if (unroll > 1) unroll_vectors(*function, unroll);
    STREW_TRY(inline_into_callers(*function));
  }
  std::vector<llvm::Function*> trampolines;
  for (llvm::Function& function : module)
    if (function.hasFnAttribute(llvm::Attribute::AlwaysInline)) trampolines.push_back(&function);
  for (llvm::Function* trampoline : trampolines) {
    if (trampoline->hasFnAttribute(kStreamAttribute)) stream_vectors(*trampoline);
    STREW_TRY(inline_into_callers(*trampoline));
  }
  return {};
}

}  // namespace strew::inline v0
