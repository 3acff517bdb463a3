// The entry init: elements [begin, end) of the results are copied from the operands (converted where dtypes differ) or filled.
//
// Copying a whole operand often costs far more than the update that follows. So the code for a dense copy exists twice: memcpy, and a copy with
// non-temporal stores, which runs if the caller passes STREW_STREAM because the result is larger than the caches. For such results the second
// is 1.4 to 1.7 times faster; for results that fit the caches it is several times slower (bench/suite, cases _copied).
// Tested by tests/differential, tests/unit/backends/llvm/entries/init_test.cc and tests/unit/backends/kernel_test.cc.
#include <llvm/IR/IntrinsicsX86.h>

#include <cstddef>

#include "backends/llvm/compute/body.h"
#include "backends/llvm/entries/entries.h"
#include "schedules/stores.h"
#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

constexpr int64_t kStoredLine = 64;

/// The copy with non-temporal stores.
class Streamer {
 public:
  explicit Streamer(Frame& frame) : f_(frame), e_(frame.e) {}

  /// i1: does the caller ask for it?
  Value* wanted() {
    Value* flags =
        e_.load(e_.b.getInt32Ty(), e_.at(e_.function.getArg(0), e_.i64(offsetof(strew_args, flags))), Access::input, 4);
    return e_.b.CreateICmpNE(e_.b.CreateAnd(flags, e_.b.getInt32(STREW_STREAM)), e_.b.getInt32(0));
  }

  /// Copies whole cache lines of the destination with non-temporal stores, and what lies before the first and after the last with memcpy. A
  /// fence at the end orders these stores before whatever the caller publishes next.
  void copy(Value* to, Value* from, Value* bytes) {
    Value* address = e_.b.CreatePtrToInt(to, e_.b.getInt64Ty());
    Value* head = e_.smin(e_.b.CreateAnd(e_.b.CreateNeg(address), e_.i64(kStoredLine - 1)), bytes);
    Value* lines = e_.b.CreateAnd(e_.b.CreateSub(bytes, head), e_.i64(-kStoredLine));
    Value* tail = e_.b.CreateSub(e_.b.CreateSub(bytes, head), lines);
    memcpy(to, from, head);
    to = e_.at(to, head);
    from = e_.at(from, head);
    e_.loop(e_.i64(0), lines, {kStoredLine, kUnroll}, [&](Value* i) {
      Value* source = e_.at(from, i);
      line(e_.at(to, i), source);
    });
    Value* rest = e_.at(from, lines);
    memcpy(e_.at(to, lines), rest, tail);
    if (f_.target.arch == "x86_64") e_.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
  }

 private:
  static constexpr int kUnroll = 4;

  void memcpy(Value* to, Value* from, Value* bytes) { e_.b.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), bytes); }

  void line(Value* to, Value* from) {
    const int64_t width = f_.schedule.vector_bytes;
    llvm::Type* type = llvm::FixedVectorType::get(e_.b.getInt8Ty(), static_cast<unsigned>(width));
    llvm::SmallVector<Value*, 4> vectors;
    for (int64_t at = 0; at < kStoredLine; at += width) vectors.push_back(e_.load(type, e_.at(from, e_.i64(at)), Access::input));
    for (size_t v = 0; v < vectors.size(); ++v)
      e_.store(vectors[v], e_.at(to, e_.i64(static_cast<int64_t>(v) * width)), static_cast<uint64_t>(width), true);
  }

  Frame& f_;
  Emitter& e_;
};

/// Do result and operand i both have stride 1 in the innermost init loop, in elements of whole bytes?
bool is_dense(const Frame& f, int i) {
  const int result = f.plan.result(i), operand = f.plan.operand(i);
  if (f.plan.init.empty() || f.packed(result)) return false;
  const std::vector<Term>& strides = f.plan.init.back().strides;
  return strides[static_cast<size_t>(result)].is(1) && strides[static_cast<size_t>(operand)].is(1);
}

/// Small results get no second copy of the code: runtime/call passes STREW_STREAM only if a thread's share of the result exceeds a quarter of
/// the last-level cache.
bool is_small(const Plan& plan) {
  int64_t bytes = bits(plan.tensors[static_cast<size_t>(plan.result(0))].dtype) / 8;
  for (const Loop& loop : plan.init)
    if (!loop.extent.is_static() || __builtin_mul_overflow(bytes, loop.extent.factor, &bytes)) return false;
  return bytes <= kNeverStreamed;
}

}  // namespace

void emit_init(llvm::Module& module, const EntryRequest& request) {
  Frame f(module, request.symbol, request.kernel, request.entry, request.target);
  const Plan& plan = f.plan;
  Streamer streamer(f);
  const bool small = is_small(plan);
  Value* streams = small ? f.e.b.getFalse() : streamer.wanted();
  f.for_rows(plan.init, f.begin(), f.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
    for (int i = 0; i < plan.pairs; ++i) {
      const lowered::Body& body = f.kernel.init[static_cast<size_t>(i)];
      const auto cached = [&] { emit_lane_loop(f, body, row, plan.init.empty() ? nullptr : &plan.init.back(), lo, hi); };
      const bool copies = body.moves && body.currents[0].is(lowered::Operand::Kind::tensor);
      if (!copies || !is_dense(f, i) || small) {
        cached();
        continue;
      }
      const auto result = static_cast<size_t>(plan.result(i)), operand = static_cast<size_t>(plan.operand(i));
      Value* size = f.e.i64(f.element_bytes(plan.result(i)));
      Value* start = f.e.times(lo, size);
      f.e.when(
          streams,
          [&] {
            Value* bytes = f.e.times(f.e.b.CreateSub(hi, lo), size);
            Value* source = f.e.at(row[operand], start);
            streamer.copy(f.e.at(row[result], start), source, bytes);
          },
          cached);
    }
  });
  f.finish();
}

}  // namespace strew::inline v0
