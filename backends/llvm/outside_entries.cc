// The range and list entries around loops made elsewhere (outside.h).
//
// range resolves a block of positions at a time to a list in the first-level cache, without branches: every entry is written, the end moves
// on where the policy keeps the position. So policies reach the other side resolved. A block is also how far prefetching looks ahead.
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
constexpr int64_t kBlock = 256;           // positions: 2 KiB of list
constexpr int64_t kPrefetchedBlock = 32;  // positions whose lines are asked for before the first is touched

/// A list on the stack and how much of it is filled.
class Queue {
 public:
  Queue(Emitter& e, int64_t capacity) : e_(e) {
    llvm::IRBuilder<> entry(&e.function.getEntryBlock(), e.function.getEntryBlock().begin());
    list = entry.CreateAlloca(llvm::ArrayType::get(e.b.getInt64Ty(), static_cast<uint64_t>(capacity)));
    count_ = entry.CreateAlloca(e.b.getInt64Ty());
  }
  void clear() { e_.b.CreateStore(e_.i64(0), count_); }
  void add(Value* entry, Value* wanted) {
    Value* at = count();
    e_.b.CreateStore(entry, e_.at(list, e_.times(at, e_.i64(kEntryBytes))));
    e_.b.CreateStore(e_.add(at, e_.b.CreateZExt(wanted, e_.b.getInt64Ty())), count_);
  }
  Value* count() { return e_.b.CreateLoad(e_.b.getInt64Ty(), count_); }

  llvm::AllocaInst* list;

 private:
  Emitter& e_;
  llvm::AllocaInst* count_;
};

class RangeEmitter {
 public:
  RangeEmitter(Frame& f, const Form& form, const std::string& symbol)
      : f_(f), e_(f.e), form_(form), outside_(f, form, symbol), indexed_(f.plan.gather ? f.plan.operand(0) : f.plan.result(0)) {
    for (const Loop& loop : f.plan.window) cuts_ |= loop.component >= 0;
  }

  void emit() {
    Value* fits = cuts_ ? e_.b.getFalse() : outside_.fits();
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

  void blocks(const Pointers& row, Value* lo, Value* hi) {
    const int64_t size = f_.schedule.prefetch > 0 ? kPrefetchedBlock : kBlock;
    Queue kept(e_, size), filled(e_, form_.fills ? size : 1);
    e_.loop(lo, hi, {size, 1}, [&](Value* first) {
      kept.clear();
      filled.clear();
      Value* count = e_.smin(e_.i64(size), e_.b.CreateSub(hi, first));
      e_.loop(e_.i64(0), count, {1, 4}, [&](Value* n) {
        Value* i = e_.add(first, n);
        const Placement placement = place(f_, at(row, i));
        Value* key = outside_.key(i, placement);
        if (f_.schedule.prefetch > 0 && !f_.packed(indexed_))
          prefetch_run(f_, indexed_, f_.advance(indexed_, row[static_cast<size_t>(indexed_)], key, constant(form_.unit)),
                       !f_.plan.gather);
        Value* entry = e_.b.CreateOr(n, e_.b.CreateShl(key, e_.i64(32)));
        kept.add(entry, placement.inside);
        if (form_.fills) filled.add(entry, is_filled(placement));
      });
      Pointers p = at(row, first);
      for (size_t t = 0; t < p.size(); ++t)
        if (f_.plan.is_indexed(static_cast<int>(t))) p[t] = row[t];
      if (form_.fills)
        e_.when(e_.b.CreateICmpNE(filled.count(), e_.i64(0)), [&] { outside_.apply(p, filled.list, filled.count(), true); });
      outside_.apply(p, kept.list, kept.count(), false);
    });
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
  bool cuts_ = false;
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
