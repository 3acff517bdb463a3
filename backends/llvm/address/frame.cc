// See frame.h. The values of the plan's symbols are loaded once, in the entry block. A nest of several loops is emitted as two: one over rows,
// which computes the coordinates of the outer loops by division, and one over a range of the innermost loop. So the inner loop is a plain
// strided walk, wherever [begin, end) cuts the nest. Tested by tests/differential.
#include "backends/llvm/address/frame.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <cstddef>

#include "strew/abi.h"

namespace strew::inline v0 {
using llvm::Value;

namespace {
llvm::Function* make_function(llvm::Module& module, const std::string& name, const Target& target) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type* ptr = llvm::PointerType::getUnqual(c);
  llvm::Type* i64 = llvm::Type::getInt64Ty(c);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(c), {ptr, i64, i64, ptr}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-trapping-math", "true");
  if (target.host_fp) function->addFnAttr("denormal-fp-math", "dynamic,dynamic");
  const char* names[] = {"args", "begin", "end", "fault"};
  for (unsigned i = 0; i < 4; ++i) function->getArg(i)->setName(names[i]);
  return function;
}
}  // namespace

Frame::Frame(llvm::Module& module, const std::string& name, const lowered::Kernel& k, const lowered::Entry& one, const Target& t)
    : e(module, *make_function(module, name, t)),
      numeric(e, t),
      kernel(k),
      entry(one),
      plan(k.plan),
      schedule(k.schedule),
      target(t) {
  llvm::Type* ptr = e.b.getPtrTy();
  Value* args = e.function.getArg(0);
  Value* data = e.load(ptr, e.at(args, e.i64(offsetof(strew_args, data))), Access::input, 8);
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    Value* base = nullptr;
    if (plan.tensors[i].bound) base = e.load(ptr, e.at(data, e.i64(static_cast<int64_t>(8 * i))), Access::input, 8);
    addresses_.push_back(base);
    bases_.push_back(base != nullptr && packed(static_cast<int>(i)) ? e.i64(0) : base);
  }
  if (plan.symbols.empty()) return;
  Value* dyn = e.load(ptr, e.at(args, e.i64(offsetof(strew_args, dyn))), Access::input, 8);
  for (size_t i = 0; i < plan.symbols.size(); ++i)
    dyn_.push_back(e.load(e.b.getInt64Ty(), e.at(dyn, e.i64(static_cast<int64_t>(8 * i))), Access::input, 8));
}

Value* Frame::begin() { return e.function.getArg(1); }
Value* Frame::end() { return e.function.getArg(2); }

Value* Frame::argument(unsigned byte_offset) {
  return e.load(e.b.getInt64Ty(), e.at(e.function.getArg(0), e.i64(byte_offset)), Access::input, 8);
}

Value* Frame::pointer_argument(unsigned byte_offset) {
  return e.load(e.b.getPtrTy(), e.at(e.function.getArg(0), e.i64(byte_offset)), Access::input, 8);
}

Value* Frame::term(const Term& term) {
  Value* value = e.i64(term.factor);
  for (int symbol : term.symbols) value = e.times(value, dyn_[static_cast<size_t>(symbol)]);
  return value;
}

Value* Frame::bytes(const Term& t, int tensor) { return term(t * constant(element_bytes(tensor))); }

Value* Frame::advance(int tensor, Value* p, Value* index, const Term& stride) {
  if (packed(tensor)) return e.add(p, e.times(index, term(stride)));
  return e.at(p, e.times(index, bytes(stride, tensor)));
}

Pointers Frame::step(const Pointers& p, const std::vector<Term>& strides, Value* index) {
  Pointers moved = p;
  for (size_t t = 0; t < p.size(); ++t)
    if (p[t] != nullptr && !strides[t].is(0)) moved[t] = advance(static_cast<int>(t), p[t], index, strides[t]);
  return moved;
}

Frame::PackedPlace Frame::packed_place(int tensor, Value* element) {
  const int width = bits(plan.tensors[static_cast<size_t>(tensor)].dtype);
  const int per_byte = 8 / width;
  Value* byte = e.b.CreateAShr(element, e.i64(per_byte == 2 ? 1 : 2));
  Value* within = e.b.CreateTrunc(e.b.CreateAnd(element, e.i64(per_byte - 1)), e.b.getInt8Ty());
  return {e.at(addresses_[static_cast<size_t>(tensor)], byte), e.b.CreateMul(within, e.b.getInt8(static_cast<uint8_t>(width)))};
}

Value* Frame::load_element(int tensor, Value* p, int lanes) {
  const PlanTensor& t = plan.tensors[static_cast<size_t>(tensor)];
  const Access access = t.role == Role::result ? Access::result : Access::input;
  if (!packed(tensor)) return e.load(numeric.storage_type(t.dtype, lanes), p, access);
  const PackedPlace place = packed_place(tensor, p);
  return e.b.CreateTrunc(e.b.CreateLShr(e.load(e.b.getInt8Ty(), place.byte, access), place.shift),
                         numeric.storage_type(t.dtype, 1));
}

void Frame::store_element(int tensor, Value* p, Value* storage) {
  if (!packed(tensor)) return e.store(storage, p);
  const PackedPlace place = packed_place(tensor, p);
  const int width = bits(plan.tensors[static_cast<size_t>(tensor)].dtype);
  Value* mask = e.b.CreateShl(e.b.getInt8(static_cast<uint8_t>((1 << width) - 1)), place.shift);
  Value* others = e.b.CreateNot(mask);
  Value* neighbours = e.b.CreateAnd(e.load(e.b.getInt8Ty(), place.byte, Access::result), others);
  Value* ours = e.b.CreateShl(e.b.CreateZExt(storage, e.b.getInt8Ty()), place.shift);
  e.store(e.b.CreateOr(neighbours, ours), place.byte);
}

Pointers Frame::beside_results(Value* position) {
  Pointers at = bases_;
  Value* rest = position;
  for (size_t l = plan.positions.size(); l-- > 0;) {
    const Loop& loop = plan.positions[l];
    Value* coordinate = rest;
    if (l > 0) {
      Value* extent = e.smax(term(loop.extent), e.i64(1));
      coordinate = e.b.CreateURem(rest, extent);
      rest = e.b.CreateUDiv(rest, extent);
    }
    std::vector<Term> strides = loop.strides;
    for (int i = 0; i < plan.pairs; ++i) strides[static_cast<size_t>(plan.result(i))] = constant(0);
    at = step(at, strides, coordinate);
  }
  return at;
}

Pointers Frame::at_row(const std::vector<Loop>& loops, Value* row) {
  Pointers p = bases_;
  for (size_t l = loops.size() - 1; l-- > 0;) {
    Value* coordinate = row;
    if (l > 0) {
      Value* extent = e.smax(term(loops[l].extent), e.i64(1));
      coordinate = e.b.CreateURem(row, extent);
      row = e.b.CreateUDiv(row, extent);
    }
    p = step(p, loops[l].strides, coordinate);
  }
  return p;
}

void Frame::for_rows(const std::vector<Loop>& loops, Value* first, Value* last,
                     llvm::function_ref<void(const Pointers&, Value*, Value*, Value*)> body) {
  if (loops.size() <= 1) return body(bases_, e.i64(0), first, last);
  Value* inner = e.smax(term(loops.back().extent), e.i64(1));
  Value* first_row = e.b.CreateUDiv(first, inner);
  Value* end_row = e.b.CreateUDiv(e.add(last, e.b.CreateSub(inner, e.i64(1))), inner);
  e.loop(first_row, end_row, [&](Value* row) {
    const Pointers p = at_row(loops, row);
    Value* before = e.times(row, inner);
    Value* lo = e.smax(e.b.CreateSub(first, before), e.i64(0));
    Value* hi = e.smin(e.b.CreateSub(last, before), inner);
    body(p, before, lo, hi);
  });
}

void Frame::for_each(const std::vector<Loop>& loops, Value* first, Value* last, const Emitter::LoopOptions& options,
                     llvm::function_ref<void(const Pointers&, Value*)> body) {
  for_rows(loops, first, last, [&](const Pointers& row, Value* before, Value* lo, Value* hi) {
    e.loop(lo, hi, options, [&](Value* i) {
      Value* position = e.add(before, i);
      body(loops.empty() ? row : step(row, loops.back().strides, i), position);
    });
  });
}

void Frame::finish() {
  if (entry.nontemporal && target.arch == "x86_64") e.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
  e.b.CreateRet(e.b.getInt32(STREW_OK));
}

}  // namespace strew::inline v0
