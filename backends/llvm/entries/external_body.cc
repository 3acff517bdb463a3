// See external_body.h. Of a halide_buffer_t only the fields are stored that the body reads. Its asserts and bounds queries are off
// (backends/halide/module.cc), so these are the base address, the dims, the min of dim 0, and the strides that are known at the call only. Each
// buffer and each array of dims has a stack slot of its own, so that SROA can split it into registers once the body is inlined.
// Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
#include "backends/llvm/entries/external_body.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "backends/llvm/codegen/link_bitcode.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

// Offsets and sizes in bytes of halide_buffer_t and halide_dimension_t (HalideRuntime.h), which are the same on every 64-bit machine.
constexpr int64_t kHost = 16, kDims = 40, kHeader = 56;
constexpr int64_t kDimBytes = 16, kStrideInDim = 8;
constexpr int64_t kPiece = 1 << 30;  // most iterations of a window loop in one call of the body

}  // namespace

ExternalBody::ExternalBody(Frame& frame, const ExternalCode& code)
    : f_(frame), e_(frame.e), signature_(code.signature), symbol_(code.symbol), extents_(frame.plan.window.size(), nullptr) {
  static const auto& list = *new const SignatureBuffer{-1, 0, 32, false, {}};
  if (signature_.listed) buffers_.push_back(&list);
  for (const auto* buffers : {&signature_.inputs, &signature_.results})
    for (const SignatureBuffer& buffer : *buffers) buffers_.push_back(&buffer);
  if (signature_.listed)
    one_ = new llvm::GlobalVariable(*e_.function.getParent(), e_.b.getInt64Ty(), true, llvm::GlobalValue::PrivateLinkage,
                                    e_.b.getInt64(0), symbol_ + "_one");
}

bool ExternalBody::has_packed() const {
  for (const SignatureBuffer* buffer : buffers_)
    if (buffer->packed) return true;
  return false;
}

Value* ExternalBody::within_limit(Value* number) {
  Value* low = e_.b.CreateICmpSGE(number, e_.i64(-kHalideLimit));
  return e_.b.CreateAnd(low, e_.b.CreateICmpSLE(number, e_.i64(kHalideLimit)));
}

/// An upper bound of the keys of this call, i64. -1 if the indexed tensors have a negative stride: the body takes non-negative keys only, so
/// fits() then refuses lists.
Value* ExternalBody::largest_key() {
  const Plan& plan = f_.plan;
  const auto indexed = static_cast<size_t>(f_.indexed());
  Value* least = e_.i64(0);
  const auto reach = [&](const Term& extent, const Term& stride) {
    Value* steps = stride.is_static() ? e_.i64(stride.factor / signature_.unit) : f_.term(stride);
    least = e_.smin(least, steps);
    return e_.times(steps, f_.term(extent));
  };
  Value* sum = e_.i64(0);
  if (!plan.positions.empty()) sum = e_.add(sum, reach(plan.positions.back().extent, plan.positions.back().strides[indexed]));
  for (const Component& c : plan.primary().components) sum = e_.add(sum, reach(c.dim, c.strides[indexed]));
  return e_.b.CreateSelect(e_.b.CreateICmpSLT(least, e_.i64(0)), e_.i64(-1), sum);
}

/// An upper bound of the coordinates that `dim` takes over a whole list, i64. `keys`: that bound for keys.
Value* ExternalBody::steps_of(const SignatureDim& dim, Value* keys) {
  if (dim.walks == SignatureDim::Walks::key) return keys;
  if (dim.walks == SignatureDim::Walks::window) return f_.term(f_.plan.window[static_cast<size_t>(dim.loop)].extent);
  return f_.plan.positions.empty() ? e_.i64(1) : f_.term(f_.plan.positions.back().extent);
}

Value* ExternalBody::fits() {
  Value* good = e_.b.getTrue();
  const auto require = [&](Value* condition) { good = e_.b.CreateAnd(good, condition); };
  for (size_t l = 0; l < f_.plan.window.size(); ++l)
    if (!signature_.fixed[l]) require(e_.b.CreateICmpSLE(f_.term(f_.plan.window[l].extent), e_.i64(kPiece)));
  Value* keys = largest_key();
  require(e_.b.CreateICmpSGE(keys, e_.i64(0)));
  require(within_limit(keys));
  for (const SignatureBuffer* buffer : buffers_) {
    Value* span = e_.i64(0);
    for (const SignatureDim& dim : buffer->dims) {
      Value* stride = f_.term(dim.stride);
      require(within_limit(stride));
      if (!buffer->packed) continue;
      Value* steps = steps_of(dim, keys);
      require(within_limit(steps));  // so that the product below does not overflow
      span = e_.add(span, e_.times(e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, stride, e_.b.getFalse()), steps));
    }
    if (buffer->packed) require(within_limit(span));
  }
  return good;
}

/// How many iterations of window loop `level` one call of the body may do, i64: the offsets it reaches must fit 32 bits. 1 where they may not,
/// and, in kernels with packed tensors, for loops of another stride than 1: a packed tensor numbers its elements over all loops together.
Value* ExternalBody::piece(size_t level) {
  Value* good = e_.b.getTrue();
  for (const SignatureBuffer* buffer : buffers_)
    for (const SignatureDim& dim : buffer->dims) {
      if (dim.walks != SignatureDim::Walks::window || dim.loop != static_cast<int>(level)) continue;
      if (has_packed() && !dim.stride.is(1)) return e_.i64(1);
      good = e_.b.CreateAnd(good, within_limit(f_.term(dim.stride)));
    }
  return e_.b.CreateSelect(good, e_.i64(kPiece), e_.i64(1));
}

void ExternalBody::nest(const Pointers& p, const Placements& placements, size_t level) {
  if (level == f_.plan.window.size()) return call(p, one_, e_.i64(1));
  if (signature_.fixed[level]) return nest(p, placements, level + 1);
  const Loop& loop = f_.plan.window[level];
  for_segments(f_, &placements, p, {}, level, f_.entry.cut, [&](const Pointers& from, const Found&, Value* lo, Value* hi) {
    Value* most = piece(level);
    Value* before_next = e_.b.CreateSub(most, e_.i64(1));
    Value* pieces = e_.b.CreateUDiv(e_.add(e_.smax(e_.b.CreateSub(hi, lo), e_.i64(0)), before_next), most);
    e_.loop(e_.i64(0), pieces, {1, 1}, [&](Value* n) {
      Value* start = e_.add(lo, e_.times(n, most));
      extents_[level] = e_.b.CreateTrunc(e_.smin(most, e_.b.CreateSub(hi, start)), e_.b.getInt32Ty());
      nest(f_.step(from, loop.strides, start), placements, level + 1);
    });
  });
}

void ExternalBody::apply_one(const Pointers& p, const Placements& placements) { nest(p, placements, 0); }

void ExternalBody::apply(const Pointers& p, Value* list, Value* count) {
  Pointers at = p;
  for (size_t l = 0; l < f_.plan.window.size(); ++l) {
    if (signature_.fixed[l]) continue;
    for_segments(f_, nullptr, at, {}, l, f_.entry.cut, [&](const Pointers& from, const Found&, Value* lo, Value* hi) {
      extents_[l] = e_.b.CreateTrunc(e_.b.CreateSub(hi, lo), e_.b.getInt32Ty());
      at = f_.step(from, f_.plan.window[l].strides, lo);
    });
  }
  call(at, list, count);
}

void ExternalBody::call(const Pointers& p, Value* list, Value* count) {
  llvm::IRBuilder<>& b = e_.b;
  const auto narrow = [&](Value* number) { return b.CreateTrunc(number, b.getInt32Ty()); };
  std::vector<Value*> scalars, hosts, strides;
  if (signature_.listed) {
    scalars = {narrow(count)};
    hosts = {list};
  } else {
    scalars = {b.getInt32(0), b.getInt32(0)};  // position and key: the base pointers point at the window already
  }
  for (Value* extent : extents_)
    if (extent != nullptr) scalars.push_back(extent);
  for (const SignatureBuffer* buffer : buffers_) {
    if (buffer->tensor < 0) continue;
    Value* host = p[static_cast<size_t>(buffer->tensor)];
    if (buffer->packed) {
      const Frame::PackedPlace place = f_.packed_place(buffer->tensor, host);
      host = place.byte;
      const int width = bits(f_.plan.tensors[static_cast<size_t>(buffer->tensor)].dtype);
      scalars.push_back(b.CreateUDiv(b.CreateZExt(place.shift, b.getInt32Ty()), b.getInt32(static_cast<uint32_t>(width))));
    } else {
      host = e_.at(host, e_.i64(int64_t{8} * buffer->half));
    }
    hosts.push_back(host);
    for (const SignatureDim& dim : buffer->dims)
      if (!dim.stride.is_static()) (buffer->packed ? scalars : strides).push_back(narrow(f_.term(dim.stride)));
  }
  std::vector<Value*> arguments = scalars;
  arguments.insert(arguments.end(), hosts.begin(), hosts.end());
  arguments.insert(arguments.end(), strides.begin(), strides.end());
  const auto enter = [&](bool stream) { b.CreateCall(trampoline(arguments, scalars.size(), stream), arguments); };
  if (list != one_ || !may_stream()) return enter(false);  // a list's positions are not known here, so neither is their alignment
  Value* places = e_.i64(0);
  for (int i = 0; i < f_.plan.pairs; ++i)
    places = b.CreateOr(places, b.CreatePtrToInt(p[static_cast<size_t>(f_.plan.result(i))], b.getInt64Ty()));
  Value* within = b.CreateAnd(places, e_.i64(f_.schedule.vector_bytes - 1));
  e_.when(
      b.CreateICmpEQ(within, e_.i64(0)), [&] { enter(true); }, [&] { enter(false); });
}

/// May the body's vectors be stored non-temporally (knob nontemporal)? Such a store must be aligned to the size of its vector: that holds for
/// all vectors of a window if it holds for the first one and every outer stride is a multiple of the vector's size.
bool ExternalBody::may_stream() const {
  const Plan& plan = f_.plan;
  if (!f_.entry.nontemporal || !plan.pure_move) return false;
  for (int i = 0; i < plan.pairs; ++i) {
    const int result = plan.result(i);
    if (f_.packed(result)) return false;
    for (size_t l = 0; l + 1 < plan.window.size(); ++l) {
      const Term& stride = plan.window[l].strides[static_cast<size_t>(result)];
      if (!stride.is_static() || stride.factor * f_.element_bytes(result) % f_.schedule.vector_bytes != 0) return false;
    }
  }
  return true;
}

llvm::Function* ExternalBody::trampoline(const std::vector<Value*>& arguments, size_t scalars, bool stream) {
  llvm::Module& module = *e_.function.getParent();
  const std::string callee = symbol_ + "_apply", name = callee + (stream ? "_stream" : "_trampoline");
  if (llvm::Function* made = module.getFunction(name)) return made;
  std::vector<llvm::Type*> types;
  types.reserve(arguments.size());
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(e_.b.getVoidTy(), types, false);
  auto* trampoline = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  trampoline->addFnAttr(llvm::Attribute::NoUnwind);
  trampoline->addFnAttr(llvm::Attribute::AlwaysInline);
  if (stream) trampoline->addFnAttr(kStreamAttribute);
  trampoline->addFnAttr("no-trapping-math", "true");
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", trampoline));
  const auto at = [&](Value* p, int64_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), p, offset); };
  const auto slot = [&](int64_t bytes) {
    llvm::AllocaInst* made = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), static_cast<uint64_t>(bytes) / 8));
    made->setAlignment(llvm::Align(8));
    return made;
  };
  std::vector<Value*> given;
  for (llvm::Argument& argument : trampoline->args()) given.push_back(&argument);
  std::vector<Value*> passed(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(scalars)), headers;
  size_t host = scalars, stride = scalars + buffers_.size();
  for (const SignatureBuffer* buffer : buffers_) {
    Value *header = slot(kHeader), *dims = slot(kDimBytes * std::max<int64_t>(1, static_cast<int64_t>(buffer->dims.size())));
    b.CreateStore(dims, at(header, kDims));
    b.CreateStore(given[host++], at(header, kHost));
    b.CreateAlignedStore(b.getInt64(0), dims, llvm::Align(8));  // min and extent of dim 0
    for (size_t d = 0; d < buffer->dims.size() && !buffer->packed; ++d) {
      const Term& steps = buffer->dims[d].stride;
      if (steps.is_static() && std::abs(steps.factor) <= kHalideLimit) continue;  // the body has this stride as a constant
      // A constant stride beyond 32 bits is never used: piece() makes every call one iteration long in that dim. So 0 is as good.
      Value* known = steps.is_static() ? b.getInt32(0) : given[stride++];
      b.CreateAlignedStore(known, at(dims, static_cast<int64_t>(d) * kDimBytes + kStrideInDim), llvm::Align(4));
    }
    headers.push_back(header);
  }
  if (signature_.listed) passed.insert(passed.begin(), headers[0]);
  passed.insert(passed.end(), headers.begin() + (signature_.listed ? 1 : 0), headers.end());
  types.clear();
  for (Value* argument : passed) types.push_back(argument->getType());
  b.CreateCall(module.getOrInsertFunction(callee, llvm::FunctionType::get(b.getInt32Ty(), types, false)), passed);
  b.CreateRetVoid();
  return trampoline;
}

}  // namespace strew::inline v0
