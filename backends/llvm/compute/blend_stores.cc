// See blend_stores.h. The pass puts an empty piece of inline assembly between the select and the store. Code generation cannot look through it,
// and it costs no instruction. On AMD's Zen 3 a masked store of AVX takes 18 operations for eight floats, a blend and a store take two; Intel's
// masked stores are no faster than that. AVX-512 has fast ones. Tested by tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/blend_stores.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "base/cpus.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {

bool loads_from(const llvm::Value* value, const llvm::Value* pointer) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  return load != nullptr && load->getPointerOperand()->stripPointerCasts() == pointer->stripPointerCasts();
}

/// Does the type fill an XMM or YMM register with elements of 32 or 64 bits? Only such vectors have masked stores, and only they fit the
/// constraint of the inline assembly: vectors of i128 are in general registers.
bool fills_a_register(const llvm::Type* type) {
  const uint64_t bits = type->getPrimitiveSizeInBits().getKnownMinValue(), element = type->getScalarSizeInBits();
  return type->isVectorTy() && (element == 32 || element == 64) && (bits == 128 || bits == 256);
}

bool would_be_masked(const llvm::StoreInst& store) {
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(store.getValueOperand());
  if (select == nullptr || !fills_a_register(select->getType())) return false;
  return loads_from(select->getTrueValue(), store.getPointerOperand()) ||
         loads_from(select->getFalseValue(), store.getPointerOperand());
}

struct BlendStores : llvm::PassInfoMixin<BlendStores> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& /*analyses*/) {
    std::vector<llvm::StoreInst*> stores;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store != nullptr && would_be_masked(*store))
        stores.push_back(store);
    for (llvm::StoreInst* store : stores) {
      llvm::Type* type = store->getValueOperand()->getType();
      auto* opaque = llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "", "=x,0", false);
      store->setOperand(0, llvm::CallInst::Create(opaque, {store->getValueOperand()}, "", store->getIterator()));
    }
    return stores.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
  }
};

}  // namespace

void add_blend_store_pass(llvm::FunctionPassManager& passes, const Target& target) {
  const FeatureSet has = features_of(target);
  const bool masks = (has & feature_bit("avx")) != 0, masks_well = (has & feature_bit("avx512vl")) != 0;
  if (target.arch == "x86_64" && masks && !masks_well) passes.addPass(BlendStores());
}

}  // namespace strew::inline v0
