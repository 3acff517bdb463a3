// See index.h and docs/semantics.md section 3. Indices of 64 bits are clamped before anything is added to them, so no addition overflows and
// bounds are as if computed in unbounded integers. Where a bound is known to be non-negative, indices are compared as unsigned numbers: one
// comparison then finds negative ones, too. Tested by tests/differential with indices at the extremes of every index type.
#include "backends/llvm/address/index.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace strew::inline v0 {
using llvm::Value;
using lowered::kIndexLanes;

Value* load_component(Frame& f, const Pointers& p, const Component& c) {
  Value* element = f.advance(c.tensor, p[static_cast<size_t>(c.tensor)], f.e.i64(1), c.index_offset);
  Value* raw = f.load_element(c.tensor, element, 1);
  return is_signed_integer(c.dtype) ? f.e.b.CreateSExt(raw, f.e.b.getInt64Ty()) : f.e.b.CreateZExt(raw, f.e.b.getInt64Ty());
}

Value* largest_start(Frame& f, const Component& c) {
  Value* window = f.term(c.window);
  return f.e.b.CreateSub(f.term(c.dim), window);
}

namespace {

/// Applies the policy to one index component after the other and collects the Placement. Values are i64; or, if `lanes` is given, vectors of
/// that type, whose integers hold every dim (backends/lower/walk.cc makes sure).
class Placer {
 public:
  Placer(Frame& frame, Placement& out, llvm::FixedVectorType* lanes = nullptr)
      : f_(frame), e_(frame.e), out_(out), lanes_(lanes) {}

  /// The next component, which `value` was loaded of.
  void add(Value* value) {
    const size_t k = out_.components.size();
    const Component& c = out_.source.components[k];
    value = normalise(c, value);
    ComponentPlace place;
    place.start = value;
    switch (out_.placing.rules[k]) {
      case PlaceRule::trusted:
        break;
      case PlaceRule::fits:
        require(fits(c, value));
        break;
      case PlaceRule::clamped: {
        Value* largest = like(largest_start(f_, c));
        place.start = e_.smin(e_.smax(saturate(c, value), number(0)), largest);
        require(e_.b.CreateICmpSGE(largest, number(0)));
        break;
      }
      case PlaceRule::inside: {
        Value* good = e_.b.CreateICmpULT(value, dim_of(c));
        require(good);
        require_whole(good);
        break;
      }
      case PlaceRule::cut:
        cut(c, value, place);
        break;
      case PlaceRule::wrapped:
      case PlaceRule::split:
        place.start = lanes_ != nullptr ? wrapped_lanes(c, value) : wrapped(c, value);
        if (out_.placing.rules[k] == PlaceRule::split)
          place.split = e_.smin(e_.b.CreateSub(f_.term(c.dim), place.start), f_.term(c.window));
        break;
    }
    out_.components.push_back(place);
  }

 private:
  /// An i64 converted to the type of this placer's values.
  Value* like(Value* scalar) {
    if (lanes_ == nullptr) return scalar;
    return e_.b.CreateVectorSplat(lanes_->getElementCount(), e_.b.CreateTrunc(scalar, lanes_->getElementType()));
  }
  Value* number(int64_t n) { return like(e_.i64(n)); }
  Value* dim_of(const Component& c) { return like(f_.term(c.dim)); }

  Value* saturate(const Component& c, Value* value) {
    if (c.dtype != DType::u64) return value;
    return e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, value, e_.i64(std::numeric_limits<int64_t>::max()));
  }
  void require(Value* condition) { out_.inside = out_.inside ? e_.b.CreateAnd(out_.inside, condition) : condition; }
  void require_whole(Value* condition) { out_.whole = out_.whole ? e_.b.CreateAnd(out_.whole, condition) : condition; }

  Value* normalise(const Component& c, Value* value) {
    if (!c.normalize_negative) return value;
    Value* wrapped = e_.b.CreateAdd(value, dim_of(c));
    return e_.b.CreateSelect(e_.b.CreateICmpSLT(value, number(0)), wrapped, value);
  }

  Value* fits(const Component& c, Value* value) {
    Value* largest = like(largest_start(f_, c));
    Value* below = e_.b.CreateICmpULE(value, largest);
    return e_.b.CreateAnd(below, e_.b.CreateICmpSGE(largest, number(0)));
  }

  void cut(const Component& c, Value* value, ComponentPlace& place) {
    Value* dim = f_.term(c.dim);
    Value* window = f_.term(c.window);
    Value* before = e_.b.CreateNeg(window);
    place.start = e_.smin(e_.smax(saturate(c, value), before), dim);
    place.lo = e_.smax(e_.b.CreateNeg(place.start), e_.i64(0));
    place.hi = e_.smin(e_.b.CreateSub(dim, place.start), window);
    require(e_.b.CreateICmpSLT(place.lo, place.hi));
    require_whole(e_.b.CreateICmpEQ(e_.b.CreateSub(place.hi, place.lo), window));
  }

  Value* wrapped(const Component& c, Value* value) {
    Value* dim = f_.term(c.dim);
    Value* has_room = e_.b.CreateICmpSGT(dim, e_.i64(0));
    require(has_room);
    // A branch, not a select: the division costs tens of cycles and real indices are almost always inside.
    llvm::BasicBlock* inside = e_.b.GetInsertBlock();
    llvm::BasicBlock* fold = llvm::BasicBlock::Create(e_.context(), "fold", &e_.function);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(e_.context(), "folded", &e_.function);
    e_.b.CreateCondBr(e_.b.CreateAnd(e_.b.CreateICmpUGE(value, dim), has_room), fold, after);
    e_.b.SetInsertPoint(fold);
    Value* folded = c.dtype == DType::u64 ? e_.b.CreateURem(value, dim) : e_.b.CreateSRem(value, dim);
    if (c.dtype != DType::u64) {
      Value* raised = e_.b.CreateAdd(folded, dim);
      folded = e_.b.CreateSelect(e_.b.CreateICmpSLT(folded, e_.i64(0)), raised, folded);
    }
    e_.b.CreateBr(after);
    e_.b.SetInsertPoint(after);
    llvm::PHINode* start = e_.b.CreatePHI(e_.b.getInt64Ty(), 2, "start");
    start->addIncoming(value, inside);
    start->addIncoming(folded, fold);
    return start;
  }

  /// The dim is a constant, so LLVM turns the division into multiplications, and no branch is needed.
  Value* wrapped_lanes(const Component& c, Value* value) {
    Value* folded = e_.b.CreateSRem(value, dim_of(c));
    Value* raised = e_.b.CreateAdd(folded, dim_of(c));
    return e_.b.CreateSelect(e_.b.CreateICmpSLT(folded, number(0)), raised, folded);
  }

  Frame& f_;
  Emitter& e_;
  Placement& out_;
  llvm::FixedVectorType* lanes_;
};

/// Loads the component of kIndexLanes consecutive positions: one load of all components, and a shuffle that selects this one if there are
/// several.
Value* load_lanes(Frame& f, const Pointers& p, const Component& c) {
  const int64_t stride = f.plan.positions.back().strides[static_cast<size_t>(c.tensor)].factor;
  Value* first = p[static_cast<size_t>(c.tensor)];
  if (stride == 1) return f.load_element(c.tensor, f.advance(c.tensor, first, f.e.i64(1), c.index_offset), kIndexLanes);
  Value* all = f.load_element(c.tensor, first, static_cast<int>(kIndexLanes * stride));
  std::vector<int> lanes;
  for (int64_t lane = 0; lane < kIndexLanes; ++lane) lanes.push_back(static_cast<int>(lane * stride + c.index_offset.factor));
  return f.e.b.CreateShuffleVector(all, lanes);
}

}  // namespace

Placement place(Frame& f, size_t source, const Pointers& p) {
  Placement out{f.plan.sources[source], f.kernel.placings[source]};
  Placer placer(f, out);
  for (const Component& c : out.source.components) placer.add(load_component(f, p, c));
  if (out.inside == nullptr) out.inside = f.e.b.getTrue();
  if (out.whole == nullptr) out.whole = f.e.b.getTrue();
  return out;
}

Pointers moved(Frame& f, const Pointers& p, const Placement& placement) {
  Pointers at = p;
  for (size_t k = 0; k < placement.components.size(); ++k)
    at = f.step(at, placement.source.components[k].strides, placement.components[k].start);
  return at;
}

Placement place_lanes(Frame& f, const Pointers& p) {
  Placement out{f.plan.primary(), f.kernel.primary()};
  llvm::Type* element = out.source.components.front().dtype == DType::i32 ? f.e.b.getInt32Ty() : f.e.b.getInt64Ty();
  Placer placer(f, out, llvm::FixedVectorType::get(element, kIndexLanes));
  for (const Component& c : out.source.components) placer.add(load_lanes(f, p, c));
  return out;
}

Value* has_equal_indices(Frame& f, const Pointers& p, int count) {
  const Component& c = f.plan.primary().components.front();
  Value* const all =
      f.load_element(c.tensor, f.advance(c.tensor, p[static_cast<size_t>(c.tensor)], f.e.i64(1), c.index_offset), count);
  Value* const first = f.e.b.CreateVectorSplat(static_cast<unsigned>(count), f.e.b.CreateExtractElement(all, uint64_t{0}));
  return f.e.b.CreateNot(f.e.b.CreateOrReduce(f.e.b.CreateICmpNE(all, first)));
}

Value* is_bad(Frame& f, const Component& c, Value* value) {
  Emitter& e = f.e;
  Value* largest = largest_start(f, c);
  Value* too_big = e.b.CreateICmpUGT(value, largest);
  if (c.normalize_negative) {
    Value* folded = e.b.CreateAdd(value, f.term(c.dim));
    Value* negative_bad = e.b.CreateICmpUGT(folded, largest);
    too_big = e.b.CreateSelect(e.b.CreateICmpSLT(value, e.i64(0)), negative_bad, too_big);
  }
  return e.b.CreateOr(too_big, e.b.CreateICmpSLT(largest, e.i64(0)));
}

}  // namespace strew::inline v0
