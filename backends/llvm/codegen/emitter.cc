// See emitter.h. IRBuilder folds constants; the emitter adds a few identities (x+0, x*1, x*0), so that the IR is readable before any pass runs.
// Tested by tests/differential, through every kernel, and tests/golden/machine_code_test.cc.
#include "backends/llvm/codegen/emitter.h"

namespace strew::inline v0 {
using llvm::BasicBlock;
using llvm::Value;

Emitter::Emitter(llvm::Module& module, llvm::Function& f) : b(module.getContext()), function(f) {
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", &f));
  llvm::MDBuilder md(module.getContext());
  llvm::MDNode* domain = md.createAnonymousAliasScopeDomain("kernel");
  llvm::MDNode* scope = md.createAnonymousAliasScope(domain, "results");
  result_scope_ = llvm::MDNode::get(module.getContext(), {scope});
}

void Emitter::loop(Value* begin, Value* end, const LoopOptions& options, llvm::function_ref<void(Value*)> body) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first != nullptr && last != nullptr) {
    if (first->getSExtValue() >= last->getSExtValue()) return;
    if (first->getSExtValue() + options.step >= last->getSExtValue()) return body(begin);
  }
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock* header = BasicBlock::Create(context(), "loop", &function);
  BasicBlock* after = BasicBlock::Create(context(), "after", &function);
  if (first != nullptr && last != nullptr)
    b.CreateBr(header);
  else
    b.CreateCondBr(b.CreateICmpSLT(begin, end), header, after);
  b.SetInsertPoint(header);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2, "i");
  i->addIncoming(begin, before);
  body(i);
  Value* next = b.CreateAdd(i, i64(options.step), "next", /*HasNUW=*/false, /*HasNSW=*/true);
  llvm::BranchInst* back = b.CreateCondBr(b.CreateICmpSLT(next, end), header, after);
  i->addIncoming(next, b.GetInsertBlock());
  llvm::SmallVector<llvm::Metadata*, 4> properties = {nullptr};
  if (options.unroll > 1)
    properties.push_back(
        llvm::MDNode::get(context(), {llvm::MDString::get(context(), "llvm.loop.unroll.count"),
                                      llvm::ConstantAsMetadata::get(b.getInt32(static_cast<uint32_t>(options.unroll)))}));
  else if (options.unroll == 1)
    properties.push_back(llvm::MDNode::get(context(), llvm::MDString::get(context(), "llvm.loop.unroll.disable")));
  if (properties.size() > 1) {
    llvm::MDNode* id = llvm::MDNode::getDistinct(context(), properties);
    id->replaceOperandWith(0, id);
    back->setMetadata(llvm::LLVMContext::MD_loop, id);
  }
  b.SetInsertPoint(after);
}

void Emitter::loop_in_groups(Value* begin, Value* end, int size, llvm::function_ref<void(Value*)> group,
                             llvm::function_ref<void(Value*)> one) {
  Value* count = smax(b.CreateSub(end, begin), i64(0));
  Value* rest = add(begin, b.CreateAnd(count, i64(-int64_t{size})));
  loop(begin, rest, {size, 1}, group);
  loop(rest, end, {1, 1}, one);
}

void Emitter::when_likely(Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  when(condition, then, otherwise, llvm::MDBuilder(context()).createLikelyBranchWeights());
}

void Emitter::when(Value* condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise,
                   llvm::MDNode* weights) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne())
      then();
    else
      otherwise();
    return;
  }
  BasicBlock* yes = BasicBlock::Create(context(), "then", &function);
  BasicBlock* no = BasicBlock::Create(context(), "else", &function);
  BasicBlock* after = BasicBlock::Create(context(), "endif", &function);
  b.CreateCondBr(condition, yes, no, weights);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(no);
  otherwise();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

llvm::AllocaInst* Emitter::slot(llvm::Type* type) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type);
  at_entry.CreateStore(llvm::Constant::getNullValue(type), memory);
  return memory;
}

Value* Emitter::smin(Value* a, Value* c) { return a == c ? a : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, c); }
Value* Emitter::smax(Value* a, Value* c) { return a == c ? a : b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, c); }

namespace {
bool is_constant(const Value* v, int64_t wanted) {
  const auto* c = llvm::dyn_cast<llvm::ConstantInt>(v);
  return c != nullptr && c->getSExtValue() == wanted;
}
}  // namespace

Value* Emitter::add(Value* a, Value* c) {
  if (is_constant(a, 0)) return c;
  if (is_constant(c, 0)) return a;
  return b.CreateAdd(a, c);
}

Value* Emitter::times(Value* a, Value* c) {
  if (is_constant(a, 1) || is_constant(c, 0)) return c;
  if (is_constant(c, 1) || is_constant(a, 0)) return a;
  return b.CreateMul(a, c);
}

Value* Emitter::at(Value* pointer, Value* byte_offset) {
  return is_constant(byte_offset, 0) ? pointer : b.CreateGEP(b.getInt8Ty(), pointer, byte_offset);
}

bool Emitter::is_masked(llvm::Type* type) const {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return mask != nullptr && vector != nullptr &&
         vector->getNumElements() == llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
}

Value* Emitter::load(llvm::Type* type, Value* pointer, Access access, uint64_t align) {
  llvm::Instruction* load = is_masked(type) ? static_cast<llvm::Instruction*>(b.CreateMaskedLoad(
                                                  type, pointer, llvm::Align(align), mask, llvm::Constant::getNullValue(type)))
                                            : b.CreateAlignedLoad(type, pointer, llvm::Align(align));
  load->setMetadata(access == Access::result ? llvm::LLVMContext::MD_alias_scope : llvm::LLVMContext::MD_noalias, result_scope_);
  return load;
}

void Emitter::store(Value* value, Value* pointer, uint64_t align, bool nontemporal) {
  llvm::Instruction* store = is_masked(value->getType())
                                 ? static_cast<llvm::Instruction*>(b.CreateMaskedStore(value, pointer, llvm::Align(align), mask))
                                 : b.CreateAlignedStore(value, pointer, llvm::Align(align));
  store->setMetadata(llvm::LLVMContext::MD_alias_scope, result_scope_);
  if (nontemporal)
    store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                       llvm::MDNode::get(context(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
}

}  // namespace strew::inline v0
