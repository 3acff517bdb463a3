// See body.h. A run of constant length and at most kStraight vectors becomes straight-line code. A longer one is a loop over `unroll` vectors,
// followed by one vector of which some lanes are masked (AVX-512), or by at most one vector of half the width, one of a quarter, and so on: there
// is no scalar loop for the tail. Moves of many bytes call memcpy, which knows the fastest copy of the machine.
// Tested by tests/differential (row lengths 1..70 and more) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/body.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "backends/llvm/compute/evaluate.h"
#include "backends/lower/lower_numeric.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

// Most vectors of straight-line code for a run of constant length, and most expression nodes in these vectors together: LLVM's instruction
// selection takes time that grows faster than the block.
constexpr int64_t kStraight = 16;
constexpr int64_t kStraightNodes = 64;
// Moves of fewer bytes are loops, because memcpy's dispatch and string instructions cost more (bench/suite, dus_ cases, on Zen 3, as ratios to
// the hand-written limit: 1.16 with memcpy, 1.03 with a loop at 40 KiB; 1.48 and 1.33 at 8 KiB; a tie at 128 KiB).
constexpr int64_t kMemcpyBytes = 256 << 10;

std::optional<int64_t> constant_of(Value* v) {
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(v)) return c->getSExtValue();
  return std::nullopt;
}

/// Emits one run.
class RunEmitter {
 public:
  RunEmitter(Frame& frame, const Body& body, const Pointers& p, const Loop& loop)
      : f_(frame), e_(frame.e), body_(body), p_(p), loop_(loop) {}

  void emit(Value* lo, Value* hi) {
    if (body_.move && body_.current == nullptr && unit_stride_moves()) return move(lo, hi);
    if (can_vectorise()) return vectors(lo, hi);
    e_.loop(lo, hi, {1, f_.schedule.unroll}, [&](Value* i) { elements(i, 1); });
  }

 private:
  std::vector<int> tensors() const {
    std::vector<int> list = body_.results;
    for (const ExprNode& node : body_.expr->nodes) {
      const auto i = static_cast<size_t>(node.index);
      if (node.op == ExprOp::current && body_.current == nullptr) list.push_back(body_.currents[i]);
      if (node.op == ExprOp::update) list.push_back(body_.updates[i]);
      if (node.op == ExprOp::extra) list.push_back(body_.extras[i]);
    }
    return list;
  }
  const Term& stride(int tensor) const { return loop_.strides[static_cast<size_t>(tensor)]; }
  int source(size_t i) const { return body_.updates.empty() ? body_.currents[i] : body_.updates[i]; }

  bool unit_stride_moves() const {
    for (size_t i = 0; i < body_.results.size(); ++i)
      if (f_.packed(body_.results[i]) || !stride(body_.results[i]).is(1) || !stride(source(i)).is(1)) return false;
    return true;
  }
  bool can_vectorise() const {
    for (int t : tensors()) {
      if (f_.packed(t)) return false;
      const bool result = std::find(body_.results.begin(), body_.results.end(), t) != body_.results.end();
      if (!stride(t).is(1) && (result || !stride(t).is(0))) return false;
    }
    return lanes() > 1;
  }
  /// Elements per vector: as many as fill a register with the widest type that the expression computes in.
  int lanes() const {
    int64_t widest = 1;
    for (int t : tensors()) widest = std::max(widest, f_.element_bytes(t));
    for (const ExprNode& node : body_.expr->nodes)
      widest = std::max<int64_t>(widest, rounds_after(node.dtype) ? 4 : bits(node.dtype) / 8);
    return static_cast<int>(std::max<int64_t>(1, f_.schedule.vector_bytes / widest));
  }

  void elements(Value* i, int lanes) {
    std::vector<bool> splats(p_.size(), false);
    Pointers at = p_;
    for (int t : tensors()) {
      const auto n = static_cast<size_t>(t);
      splats[n] = stride(t).is(0);
      at[n] = f_.advance(t, p_[n], i, stride(t));
    }
    if (!graph_) graph_ = lower_numeric(*body_.expr, f_.numeric.natives());
    evaluate(f_, body_, *graph_, at, lanes, splats);
  }

  void vectors(Value* lo, Value* hi) {
    const int width = lanes();
    const auto first = constant_of(lo), last = constant_of(hi);
    if (first && last) {
      const int64_t vectors = (*last - *first) / width;
      if (vectors <= kStraight && vectors * static_cast<int64_t>(body_.expr->nodes.size()) <= kStraightNodes)
        return straight(*first, *last, width);
    }
    Value* length = e_.b.CreateSub(hi, lo);
    Value* whole = e_.b.CreateAnd(length, e_.i64(-width));
    Value* body_end = e_.add(lo, whole);
    e_.loop(lo, body_end, {width, f_.schedule.unroll}, [&](Value* i) { elements(i, width); });
    if (can_mask()) return masked(body_end, e_.b.CreateSub(hi, body_end), width);
    Value* at = body_end;
    for (int part = width / 2; part >= 1; part /= 2) {
      Value* has = e_.b.CreateICmpNE(e_.b.CreateAnd(length, e_.i64(part)), e_.i64(0));
      e_.when(has, [&] { elements(at, part); });
      at = e_.add(at, e_.b.CreateAnd(length, e_.i64(part)));
    }
  }

  void straight(int64_t i, int64_t end, int width) {
    while (i < end) {
      const auto rest = static_cast<uint64_t>(end - i);
      if (i + width > end && std::popcount(rest) > 1 && can_mask())
        return masked(e_.i64(i), e_.i64(end - i), static_cast<int>(std::bit_ceil(rest)));
      while (i + width > end) width /= 2;
      elements(e_.i64(i), width);
      i += width;
    }
  }

  /// Can the target mask lanes, and has every tensor elements that a mask can have?
  bool can_mask() const {
    constexpr int kLanes = 2;
    const auto has_lanes = [&](int tensor) {
      const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(
          f_.numeric.storage_type(f_.plan.tensors[static_cast<size_t>(tensor)].dtype, kLanes));
      return type != nullptr && type->getNumElements() == kLanes && type->getScalarSizeInBits() <= 64;
    };
    const std::vector<int> list = tensors();
    return has_masks(f_.target) && std::all_of(list.begin(), list.end(), has_lanes);
  }

  /// i1 per lane: the first `rest` of them, less than `lanes`, hold.
  Value* first_lanes(Value* rest, int lanes) {
    auto& b = e_.b;
    const auto count = static_cast<unsigned>(lanes);
    if (lanes >= 8) {  // as many bits of a mask register
      Value* bits = b.CreateLShr(e_.i64(-1), b.CreateSub(e_.i64(64), rest));
      return b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(count)), llvm::FixedVectorType::get(b.getInt1Ty(), count));
    }
    llvm::SmallVector<llvm::Constant*, 8> numbers;
    for (unsigned lane = 0; lane < count; ++lane) numbers.push_back(b.getInt64(lane));
    return b.CreateICmpULT(llvm::ConstantVector::get(numbers), b.CreateVectorSplat(count, rest));
  }

  /// Emits `body` with the first `rest` of `lanes` lanes, if there are any.
  template <class Emit>
  void in_first_lanes(Value* rest, int lanes, const Emit& body) {
    const auto emit = [&] {
      e_.mask = first_lanes(rest, lanes);
      body();
      e_.mask = nullptr;
    };
    if (const auto known = constant_of(rest)) {
      if (*known > 0) emit();
      return;
    }
    e_.when(e_.b.CreateICmpNE(rest, e_.i64(0)), emit);
  }

  /// `rest` iterations from `at` on in one vector; less than `lanes`. A power of two that is known now needs no mask, and must have none: where
  /// just one lane holds, LLVM 22 makes a scalar store of as many bytes as the value had before it was truncated (f64 updates of bf16).
  void masked(Value* at, Value* rest, int lanes) {
    const auto known = constant_of(rest);
    if (known && *known > 0 && std::has_single_bit(static_cast<uint64_t>(*known))) return elements(at, static_cast<int>(*known));
    in_first_lanes(rest, lanes, [&] { elements(at, lanes); });
  }

  void move(Value* lo, Value* hi) {
    for (size_t i = 0; i < body_.results.size(); ++i) {
      const int to = body_.results[i];
      const auto t = static_cast<size_t>(to), s = static_cast<size_t>(source(i));
      Value* size = e_.i64(f_.element_bytes(to));
      Value* offset = e_.times(lo, size);
      Value* length = e_.times(e_.b.CreateSub(hi, lo), size);
      Value* from = e_.at(p_[s], offset);
      copy(e_.at(p_[t], offset), from, length);
    }
  }

  void copy(Value* to, Value* from, Value* length) {
    const auto known = constant_of(length);
    if (body_.bulk) return memcpy(to, from, length);
    if (f_.schedule.nontemporal) return streaming_copy(to, from, length);
    if (known && *known <= kStraight * f_.schedule.vector_bytes) return straight_copy(to, from, *known);
    if (known && *known < kMemcpyBytes) return loop_copy(to, from, length);
    if (known) return memcpy(to, from, length);
    e_.when(
        e_.b.CreateICmpSGE(length, e_.i64(kMemcpyBytes)), [&] { memcpy(to, from, length); },
        [&] { loop_copy(to, from, length); });
  }

  void memcpy(Value* to, Value* from, Value* length) { e_.b.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), length); }

  void move_bytes(Value* to, Value* from, Value* offset, int64_t width, bool nontemporal = false) {
    llvm::Type* type = width > 8
                           ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(e_.b.getInt8Ty(), static_cast<unsigned>(width)))
                           : e_.b.getIntNTy(static_cast<unsigned>(8 * width));
    Value* v = e_.load(type, e_.at(from, offset), Access::input);
    e_.store(v, e_.at(to, offset), nontemporal ? static_cast<uint64_t>(width) : 1, nontemporal);
  }

  /// Copies a constant number of bytes in whole vectors. The last vector overlaps the one before if the length is no multiple; it stores the
  /// same bytes again, since source and destination are disjoint.
  void straight_copy(Value* to, Value* from, int64_t length) {
    int64_t width = f_.schedule.vector_bytes;
    int64_t i = 0;
    while (i < length) {
      while (width > length) width /= 2;
      const int64_t at = std::min(i, length - width);
      move_bytes(to, from, e_.i64(at), width);
      i = at + width;
    }
  }

  void loop_copy(Value* to, Value* from, Value* length) {
    const int64_t width = f_.schedule.vector_bytes;
    Value* whole = e_.b.CreateAnd(length, e_.i64(-width));
    e_.loop(e_.i64(0), whole, {width, f_.schedule.unroll}, [&](Value* i) { move_bytes(to, from, i, width); });
    tail_copy(to, from, whole, length, width);
  }

  void tail_copy(Value* to, Value* from, Value* at, Value* length, int64_t width) {
    if (has_masks(f_.target))
      return in_first_lanes(e_.b.CreateAnd(length, e_.i64(width - 1)), static_cast<int>(width),
                            [&] { move_bytes(to, from, at, width); });
    for (int64_t part = width / 2; part >= 1; part /= 2) {
      Value* piece = e_.b.CreateAnd(length, e_.i64(part));
      e_.when(e_.b.CreateICmpNE(piece, e_.i64(0)), [&] { move_bytes(to, from, at, part); });
      at = e_.add(at, piece);
    }
  }

  /// Copies with non-temporal stores if the destination is aligned to whole vectors, else as usual. The entry ends with a fence (Frame::finish).
  void streaming_copy(Value* to, Value* from, Value* length) {
    const int64_t width = f_.schedule.vector_bytes;
    Value* address = e_.b.CreatePtrToInt(to, e_.b.getInt64Ty());
    Value* aligned = e_.b.CreateICmpEQ(e_.b.CreateAnd(address, e_.i64(width - 1)), e_.i64(0));
    e_.when(
        aligned,
        [&] {
          Value* whole = e_.b.CreateAnd(length, e_.i64(-width));
          e_.loop(e_.i64(0), whole, {width, f_.schedule.unroll}, [&](Value* i) { move_bytes(to, from, i, width, true); });
          tail_copy(to, from, whole, length, width);
        },
        [&] { loop_copy(to, from, length); });
  }

  Frame& f_;
  Emitter& e_;
  const Body& body_;
  const Pointers& p_;
  const Loop& loop_;
  std::optional<lowered::Graph> graph_;  ///< the body's, once it is needed
};

}  // namespace

Body range_body(const Plan& plan, bool fill) {
  Body body;
  body.expr = &plan.combine;
  body.move = plan.pure_move;
  if (fill) body.current = &plan.primary().fill;
  int extras = 0;
  for (const PlanTensor& t : plan.tensors) extras += t.role == Role::extra;
  for (int i = 0; i < plan.pairs; ++i) {
    body.results.push_back(plan.result(i));
    body.currents.push_back(plan.gather ? plan.operand(i) : plan.result(i));
    if (!plan.gather) body.updates.push_back(plan.update(i));
  }
  for (int i = 0; i < extras; ++i) body.extras.push_back(plan.extra(i));
  return body;
}

void emit_run(Frame& frame, const Body& body, const Pointers& p, const Loop* loop, Value* lo, Value* hi) {
  Loop one;
  if (loop == nullptr) {
    one.extent = constant(1);
    one.strides.assign(p.size(), constant(1));
    loop = &one;
  }
  RunEmitter(frame, body, p, *loop).emit(lo, hi);
}

}  // namespace strew::inline v0
