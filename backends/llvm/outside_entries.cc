// The range and list entries around loops made elsewhere (outside.h).
//
// range resolves a block of positions at a time to a list in the first-level cache, without branches: every entry is written, the end moves
// on where the policy keeps the position. So policies reach the other side resolved. Prefetching looks a block ahead.
// list hands its list over as it is: the two have one layout. Tested by tests/unit/halide_test.cc and tests/differential.
#include <algorithm>
#include <cstddef>

#include "backends/llvm/entries.h"
#include "backends/llvm/outside.h"
#include "backends/llvm/prefetch.h"
#include "runtime/abi.h"

namespace strew {
namespace {
using llvm::Value;

constexpr int64_t kEntryBytes = 8;
constexpr int64_t kBlock = 256;  // positions: 2 KiB of list
constexpr int64_t kLeastBlock = 4;

/// Lists on the stack, used in turn: one is being filled while another waits to be applied.
class Queue {
 public:
  Queue(Emitter& e, int64_t capacity, int64_t lists) : e_(e), capacity_(capacity) {
    llvm::IRBuilder<> entry(&e.function.getEntryBlock(), e.function.getEntryBlock().begin());
    const auto slots = [&](int64_t count) {
      return entry.CreateAlloca(llvm::ArrayType::get(e.b.getInt64Ty(), static_cast<uint64_t>(count)));
    };
    lists_ = slots(capacity * lists);
    counts_ = slots(lists);
    filled_ = entry.CreateAlloca(e.b.getInt64Ty());
  }
  void begin(Value* list) {
    at_ = this->list(list);
    e_.b.CreateStore(e_.i64(0), filled_);
  }
  void add(Value* entry, Value* wanted) {
    Value* filled = e_.b.CreateLoad(e_.b.getInt64Ty(), filled_);
    e_.b.CreateStore(entry, e_.at(at_, e_.times(filled, e_.i64(kEntryBytes))));
    e_.b.CreateStore(e_.add(filled, e_.b.CreateZExt(wanted, e_.b.getInt64Ty())), filled_);
  }
  void end(Value* list) { e_.b.CreateStore(e_.b.CreateLoad(e_.b.getInt64Ty(), filled_), count_slot(list)); }

  Value* list(Value* number) { return e_.at(lists_, e_.times(number, e_.i64(capacity_ * kEntryBytes))); }
  Value* count(Value* number) { return e_.b.CreateLoad(e_.b.getInt64Ty(), count_slot(number)); }

 private:
  Value* count_slot(Value* number) { return e_.at(counts_, e_.times(number, e_.i64(kEntryBytes))); }

  Emitter& e_;
  int64_t capacity_;
  llvm::AllocaInst *lists_, *counts_, *filled_;
  Value* at_ = nullptr;
};

class RangeEmitter {
 public:
  RangeEmitter(Frame& f, const Form& form, const std::string& symbol)
      : f_(f), e_(f.e), form_(form), outside_(f, form, symbol), indexed_(f.plan.gather ? f.plan.operand(0) : f.plan.result(0)) {
    singly_ = form.one_by_one;
    for (const Loop& loop : f.plan.window) singly_ |= loop.component >= 0;  // cut, by a policy
  }

  void emit() {
    Value* fits = singly_ ? e_.b.getFalse() : outside_.fits();
    f_.for_rows(f_.plan.positions, f_.begin(), f_.end(), [&](const Pointers& row, Value*, Value* lo, Value* hi) {
      e_.when(
          fits, [&] { blocks(row, lo, hi); }, [&] { e_.loop(lo, hi, [&](Value* i) { one(at(row, i)); }); });
    });
  }

 private:
  Pointers at(const Pointers& row, Value* i) {
    return f_.plan.positions.empty() ? row : f_.step(row, f_.plan.positions.back().strides, i);
  }

  Value* is_filled(const Placement& placement) {
    return e_.b.CreateNot(f_.plan.oob == OobPolicy::fill_window ? placement.inside : placement.whole);
  }

  int64_t block() const { return f_.schedule.prefetch > 0 ? std::max<int64_t>(kLeastBlock, f_.schedule.prefetch / 2) : kBlock; }

  /// With prefetching each block is resolved, and its lines asked for, before the block in front of it is applied.
  void blocks(const Pointers& row, Value* lo, Value* hi) {
    const bool ahead = f_.schedule.prefetch > 0;
    const int64_t size = block();
    Queue kept(e_, size, ahead ? 2 : 1), filled(e_, form_.fills ? size : 1, ahead ? 2 : 1);
    const auto list_of = [&](Value* first) {
      if (!ahead) return e_.i64(0);
      return e_.b.CreateAnd(e_.b.CreateUDiv(e_.b.CreateSub(first, lo), e_.i64(size)), e_.i64(1));
    };
    if (ahead) resolve(row, lo, hi, list_of(lo), kept, filled);
    e_.loop(lo, hi, {size, 1}, [&](Value* first) {
      Value* next = ahead ? e_.add(first, e_.i64(size)) : first;
      resolve(row, next, hi, list_of(next), kept, filled);
      Pointers p = at(row, first);
      for (size_t t = 0; t < p.size(); ++t)
        if (f_.plan.is_indexed(static_cast<int>(t))) p[t] = row[t];
      Value* number = list_of(first);
      if (form_.fills) {
        Value* count = filled.count(number);
        e_.when(e_.b.CreateICmpNE(count, e_.i64(0)), [&] { outside_.apply(p, filled.list(number), count, true); });
      }
      outside_.apply(p, kept.list(number), kept.count(number), false);
    });
  }

  void resolve(const Pointers& row, Value* first, Value* hi, Value* list, Queue& kept, Queue& filled) {
    Value* count = e_.smin(e_.i64(block()), e_.b.CreateSub(hi, first));
    kept.begin(list);
    filled.begin(list);
    e_.loop(e_.i64(0), count, {1, 4}, [&](Value* n) {
      Value* i = e_.add(first, n);
      const Placement placement = place(f_, at(row, i));
      Value* key = outside_.key(i, placement);
      if (f_.schedule.prefetch > 0 && !f_.packed(indexed_)) {
        Value* target = f_.advance(indexed_, row[static_cast<size_t>(indexed_)], key, constant(form_.unit));
        prefetch_run(f_, indexed_, target, !f_.plan.gather);
      }
      Value* entry = e_.b.CreateOr(n, e_.b.CreateShl(key, e_.i64(32)));
      kept.add(entry, placement.inside);
      if (form_.fills) filled.add(entry, is_filled(placement));
    });
    kept.end(list);
    filled.end(list);
  }

  void one(const Pointers& p) {
    const Placement placement = place(f_, p);
    if (form_.fills) e_.when(is_filled(placement), [&] { outside_.apply_one(p, nullptr, true); });
    e_.when(placement.inside, [&] {
      Pointers moved = p;
      for (size_t k = 0; k < f_.plan.components.size(); ++k)
        moved = f_.step(moved, f_.plan.components[k].strides, placement.components[k].start);
      outside_.apply_one(moved, &placement, false);
    });
  }

  Frame& f_;
  Emitter& e_;
  const Form& form_;
  Outside outside_;
  int indexed_;
  bool singly_ = false;
};

}  // namespace

void emit_range_outside(llvm::Module& module, const BuildRequest& request, const Form& form, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  RangeEmitter(f, form, request.symbol).emit();
  f.finish();
}

void emit_list_outside(llvm::Module& module, const BuildRequest& request, const Form& form, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  Outside outside(f, form, request.symbol);
  Value* list = f.pointer_argument(offsetof(strew_args, pos));
  Value* first = f.argument(offsetof(strew_args, n_list));
  const auto address = [&](Value* j) { return f.e.at(list, f.e.times(j, f.e.i64(kEntryBytes))); };
  const auto whole_list = [&] {
    const Pointers p = f.beside_results(first);
    f.e.loop(f.begin(), f.end(), {Outside::kMostEntries, 1}, [&](Value* j) {
      outside.apply(p, address(j), f.e.smin(f.e.i64(Outside::kMostEntries), f.e.b.CreateSub(f.end(), j)), false);
    });
  };
  const auto one_by_one = [&] {
    f.e.loop(f.begin(), f.end(), [&](Value* j) {
      Value* entry = f.e.load(f.e.b.getInt64Ty(), address(j), Access::input, kEntryBytes);
      Pointers p = f.beside_results(f.e.add(first, f.e.b.CreateAnd(entry, f.e.i64(0xffffffff))));
      for (int i = 0; i < f.plan.pairs; ++i) {
        Value*& at = p[static_cast<size_t>(f.plan.result(i))];
        at = f.advance(f.plan.result(i), at, f.e.b.CreateLShr(entry, f.e.i64(32)), constant(form.unit));
      }
      outside.apply_one(p, nullptr, false);
    });
  };
  if (f.plan.positions.size() > 1)
    one_by_one();
  else
    f.e.when(outside.fits(), whole_list, one_by_one);
  f.finish();
}

}  // namespace strew
