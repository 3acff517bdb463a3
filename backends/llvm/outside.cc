// See outside.h. Only the fields that Halide's code reads are stored: its asserts and bounds queries are off, so that is the address, the
// dims, the min of the first, and the strides that are no numbers.
// Tested by tests/unit/halide_test.cc and tests/differential.
#include "backends/llvm/outside.h"

#include <cstddef>

namespace strew {
namespace {
using llvm::Value;

// halide_buffer_t and halide_dimension_t, which are the same on every 64-bit machine.
constexpr int64_t kHost = 16, kDims = 40, kHeader = 56;
constexpr int64_t kDimBytes = 16, kStrideInDim = 8;
constexpr int64_t kPiece = 1 << 30;

}  // namespace

Outside::Outside(Frame& frame, const Form& form, const std::string& symbol)
    : f_(frame), e_(frame.e), form_(form), symbol_(symbol), extents_(frame.plan.window.size(), nullptr) {
  make_buffers();
}

void Outside::make_buffers() {
  static const FormBuffer list = {-1, 0, 32, false, {}};
  buffers_.push_back({&list, nullptr});
  for (const auto* forms : {&form_.inputs, &form_.results})
    for (const FormBuffer& form : *forms) buffers_.push_back({&form, nullptr});
  llvm::IRBuilder<>& b = e_.b;
  for (Buffer& buffer : buffers_) {
    const auto dims = static_cast<int64_t>(buffer.form->dims.size());
    auto* slot = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), static_cast<uint64_t>(kHeader + kDimBytes * dims) / 8));
    slot->setAlignment(llvm::Align(16));
    buffer.header = slot;
    Value* first = e_.at(slot, e_.i64(kHeader));
    b.CreateStore(first, e_.at(slot, e_.i64(kDims)));
    if (buffer.form->packed) continue;  // its strides are arguments
    for (int64_t d = 0; d < dims; ++d) {
      const Term& stride = buffer.form->dims[static_cast<size_t>(d)].stride;
      Value* dim = e_.at(first, e_.i64(d * kDimBytes));
      if (d == 0) b.CreateAlignedStore(b.getInt64(0), dim, llvm::Align(8));  // min, extent
      if (stride.is_static()) continue;                                      // the pipeline knows it
      b.CreateAlignedStore(b.CreateTrunc(f_.term(stride), b.getInt32Ty()), e_.at(dim, e_.i64(kStrideInDim)), llvm::Align(4));
    }
  }
  one_ = new llvm::GlobalVariable(*e_.function.getParent(), b.getInt64Ty(), true, llvm::GlobalValue::PrivateLinkage,
                                  b.getInt64(0), symbol_ + "_one");
}

bool Outside::has_packed() const {
  for (const Buffer& buffer : buffers_)
    if (buffer.form->packed) return true;
  return false;
}

Value* Outside::within_limit(Value* number) {
  Value* low = e_.b.CreateICmpSGE(number, e_.i64(-kHalideLimit));
  return e_.b.CreateAnd(low, e_.b.CreateICmpSLE(number, e_.i64(kHalideLimit)));
}

/// All bits set where a stride of the indexed tensors is negative: keys are not.
Value* Outside::largest_key() {
  const Plan& plan = f_.plan;
  const auto indexed = static_cast<size_t>(plan.gather ? plan.operand(0) : plan.result(0));
  Value* least = e_.i64(0);
  const auto reach = [&](const Term& extent, const Term& stride) {
    Value* steps = stride.is_static() ? e_.i64(stride.factor / form_.unit) : f_.term(stride);
    least = e_.smin(least, steps);
    return e_.times(steps, f_.term(extent));
  };
  Value* sum = e_.i64(0);
  if (!plan.positions.empty()) sum = e_.add(sum, reach(plan.positions.back().extent, plan.positions.back().strides[indexed]));
  for (const Component& c : plan.components) sum = e_.add(sum, reach(c.dim, c.strides[indexed]));
  return e_.b.CreateSelect(e_.b.CreateICmpSLT(least, e_.i64(0)), e_.i64(-1), sum);
}

/// The largest coordinate that a dim of a whole list sees, or more.
Value* Outside::steps_of(const FormDim& dim, Value* keys) {
  if (dim.walks == FormDim::Walks::key) return keys;
  if (dim.walks == FormDim::Walks::window) return f_.term(f_.plan.window[static_cast<size_t>(dim.loop)].extent);
  return f_.plan.positions.empty() ? e_.i64(1) : f_.term(f_.plan.positions.back().extent);
}

Value* Outside::fits() {
  Value* good = e_.b.getTrue();
  const auto require = [&](Value* condition) { good = e_.b.CreateAnd(good, condition); };
  for (size_t l = 0; l < f_.plan.window.size(); ++l)
    if (!form_.fixed[l]) require(e_.b.CreateICmpSLE(f_.term(f_.plan.window[l].extent), e_.i64(kPiece)));
  Value* keys = largest_key();
  require(e_.b.CreateICmpSGE(keys, e_.i64(0)));
  require(within_limit(keys));
  for (const Buffer& buffer : buffers_) {
    Value* span = e_.i64(0);
    for (const FormDim& dim : buffer.form->dims) {
      Value* stride = f_.term(dim.stride);
      require(within_limit(stride));
      if (!buffer.form->packed) continue;
      Value* steps = steps_of(dim, keys);
      require(within_limit(steps));  // so the product does not overflow
      span = e_.add(span, e_.times(e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, stride, e_.b.getFalse()), steps));
    }
    if (buffer.form->packed) require(within_limit(span));
  }
  return good;
}

Value* Outside::key(Value* i, const Placement& placement) {
  const Plan& plan = f_.plan;
  const auto indexed = static_cast<size_t>(plan.gather ? plan.operand(0) : plan.result(0));
  const auto steps = [&](const Term& stride) {
    return stride.is_static() ? e_.i64(stride.factor / form_.unit) : f_.term(stride);
  };
  Value* key = e_.i64(0);
  if (!plan.positions.empty()) key = e_.add(key, e_.times(i, steps(plan.positions.back().strides[indexed])));
  for (size_t k = 0; k < plan.components.size(); ++k)
    key = e_.add(key, e_.times(placement.components[k].start, steps(plan.components[k].strides[indexed])));
  return key;
}

/// Iterations of a window loop that one call may take: their reach must fit. With packed tensors only dense ones do for certain.
Value* Outside::piece(size_t level) {
  Value* good = e_.b.getTrue();
  for (const Buffer& buffer : buffers_)
    for (const FormDim& dim : buffer.form->dims) {
      if (dim.walks != FormDim::Walks::window || dim.loop != static_cast<int>(level)) continue;
      if (has_packed() && !dim.stride.is(1)) return e_.i64(1);
      good = e_.b.CreateAnd(good, within_limit(f_.term(dim.stride)));
    }
  return e_.b.CreateSelect(good, e_.i64(kPiece), e_.i64(1));
}

void Outside::nest(const Pointers& p, const Placement* placement, size_t level, bool fill) {
  if (level == f_.plan.window.size()) return call(p, one_, e_.i64(1), fill);
  if (form_.fixed[level]) return nest(p, placement, level + 1, fill);
  const Loop& loop = f_.plan.window[level];
  for_segments(f_, placement, p, level, cut_of(f_.schedule), [&](const Pointers& from, Value* lo, Value* hi) {
    Value* most = piece(level);
    Value* pieces = e_.b.CreateUDiv(e_.add(e_.smax(e_.b.CreateSub(hi, lo), e_.i64(0)), e_.b.CreateSub(most, e_.i64(1))), most);
    e_.loop(e_.i64(0), pieces, {1, 1}, [&](Value* n) {
      Value* start = e_.add(lo, e_.times(n, most));
      extents_[level] = e_.b.CreateTrunc(e_.smin(most, e_.b.CreateSub(hi, start)), e_.b.getInt32Ty());
      nest(f_.step(from, loop.strides, start), placement, level + 1, fill);
    });
  });
}

void Outside::apply_one(const Pointers& p, const Placement* placement, bool fill) { nest(p, placement, 0, fill); }

void Outside::apply(const Pointers& p, Value* list, Value* count, bool fill) {
  Pointers at = p;
  for (size_t l = 0; l < f_.plan.window.size(); ++l) {
    if (form_.fixed[l]) continue;
    for_segments(f_, nullptr, at, l, cut_of(f_.schedule), [&](const Pointers& from, Value* lo, Value* hi) {
      extents_[l] = e_.b.CreateTrunc(e_.b.CreateSub(hi, lo), e_.b.getInt32Ty());
      at = f_.step(from, f_.plan.window[l].strides, lo);
    });
  }
  call(at, list, count, fill);
}

void Outside::call(const Pointers& p, Value* list, Value* count, bool fill) {
  llvm::IRBuilder<>& b = e_.b;
  std::vector<Value*> arguments = {buffers_[0].header, b.CreateTrunc(count, b.getInt32Ty())};
  b.CreateStore(list, e_.at(buffers_[0].header, e_.i64(kHost)));
  for (Value* extent : extents_)
    if (extent != nullptr) arguments.push_back(extent);
  for (const Buffer& buffer : buffers_) {
    if (buffer.form->tensor < 0) continue;
    Value* host = p[static_cast<size_t>(buffer.form->tensor)];
    if (buffer.form->packed) {
      const Frame::PackedPlace place = f_.packed_place(buffer.form->tensor, host);
      host = place.byte;
      const int width = bits(f_.plan.tensors[static_cast<size_t>(buffer.form->tensor)].dtype);
      arguments.push_back(b.CreateUDiv(b.CreateZExt(place.shift, b.getInt32Ty()), b.getInt32(static_cast<uint32_t>(width))));
      for (const FormDim& dim : buffer.form->dims)
        if (!dim.stride.is_static()) arguments.push_back(b.CreateTrunc(f_.term(dim.stride), b.getInt32Ty()));
    } else {
      host = e_.at(host, e_.i64(int64_t{8} * buffer.form->half));
    }
    b.CreateStore(host, e_.at(buffer.header, e_.i64(kHost)));
  }
  for (size_t n = 1; n < buffers_.size(); ++n) arguments.push_back(buffers_[n].header);
  std::vector<llvm::Type*> types;
  types.reserve(arguments.size());
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionCallee callee = e_.function.getParent()->getOrInsertFunction(
      symbol_ + (fill ? "_fill" : "_apply"), llvm::FunctionType::get(b.getInt32Ty(), types, false));
  llvm::CallInst* made = b.CreateCall(callee, arguments);
  made->setDoesNotThrow();
}

}  // namespace strew
