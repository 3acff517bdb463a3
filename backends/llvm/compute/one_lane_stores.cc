// See one_lane_stores.h. With AVX-512, LLVM 22.1's code generation folds a truncation into a masked store (vpmovdb, vpmovwb), and turns a masked
// store of a constant mask with one lane into a store of that lane. Where both meet it forgets the truncation and writes a whole element of the
// wide type: four bytes instead of one for f8 (issue 179489 of llvm-project, mended after 22.1.8). The pass writes the lane itself.
#include "backends/llvm/compute/one_lane_stores.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>
#include <vector>

namespace strew::inline v0 {
namespace {

/// The lane that a masked store writes, if its mask is a constant with one true lane.
std::optional<uint64_t> only_lane(const llvm::IntrinsicInst& store) {
  const auto* mask = llvm::dyn_cast<llvm::Constant>(store.getArgOperand(2));
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(store.getArgOperand(2)->getType());
  if (mask == nullptr || type == nullptr) return {};
  std::optional<uint64_t> found;
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    const llvm::Constant* bit = mask->getAggregateElement(lane);
    if (bit == nullptr || (!bit->isNullValue() && !bit->isOneValue())) return {};
    if (bit->isNullValue()) continue;
    if (found) return {};
    found = lane;
  }
  return found;
}

struct OneLaneStores : llvm::PassInfoMixin<OneLaneStores> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& /*analyses*/) {
    std::vector<llvm::IntrinsicInst*> stores;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::masked_store && only_lane(*call)) stores.push_back(call);
    }
    for (llvm::IntrinsicInst* store : stores) {
      llvm::IRBuilder<> b(store);
      llvm::Value* value = store->getArgOperand(0);
      const uint64_t lane = only_lane(*store).value_or(0);
      llvm::Type* element = llvm::cast<llvm::FixedVectorType>(value->getType())->getElementType();
      llvm::Value* place = b.CreateConstInBoundsGEP1_64(element, store->getArgOperand(1), lane);
      const llvm::Align align = llvm::commonAlignment(store->getParamAlign(1).valueOrOne(),
                                                      lane * (element->getPrimitiveSizeInBits().getFixedValue() / 8));
      b.CreateAlignedStore(b.CreateExtractElement(value, lane), place, align)->copyMetadata(*store);
      store->eraseFromParent();
    }
    return stores.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
  }
};

}  // namespace

void add_one_lane_store_pass(llvm::FunctionPassManager& passes, const Target& target) {
  if (target.arch == "x86_64") passes.addPass(OneLaneStores());
}

}  // namespace strew::inline v0
