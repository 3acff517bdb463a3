// The list entry around loops made elsewhere (outside.h): it hands over its list as it is, the two have one layout; with prefetching in
// blocks, whose lines are asked for while the block in front is applied. Tested by tests/unit/halide_test.cc and tests/differential.
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
constexpr int64_t kLeastBlock = 4;

class ListEmitter {
 public:
  ListEmitter(Frame& f, const Form& form, const std::string& symbol)
      : f_(f),
        e_(f.e),
        form_(form),
        outside_(f, form, symbol),
        list_(f.pointer_argument(offsetof(strew_args, pos))),
        first_(f.argument(offsetof(strew_args, n_list))) {}

  void emit() {
    if (f_.plan.positions.size() > 1) return one_by_one();  // positions of one list have no stride in common
    e_.when(
        outside_.fits(), [&] { blocks(); }, [&] { one_by_one(); });
  }

 private:
  Value* address(Value* j) { return e_.at(list_, e_.times(j, e_.i64(kEntryBytes))); }

  Pointers place_of(Value* j) {
    Value* entry = e_.load(e_.b.getInt64Ty(), address(j), Access::input, kEntryBytes);
    Pointers p = f_.beside_results(e_.add(first_, e_.b.CreateAnd(entry, e_.i64(0xffffffff))));
    for (int i = 0; i < f_.plan.pairs; ++i) {
      Value*& at = p[static_cast<size_t>(f_.plan.result(i))];
      at = f_.advance(f_.plan.result(i), at, e_.b.CreateLShr(entry, e_.i64(32)), constant(form_.unit));
    }
    return p;
  }

  void blocks() {
    const int64_t ahead = f_.schedule.prefetch;
    const int64_t block = ahead > 0 ? std::max(kLeastBlock, ahead / 2) : Outside::kMostEntries;
    const Pointers p = f_.beside_results(first_);
    const int result = f_.plan.result(0), update = f_.plan.update(0);
    e_.loop(f_.begin(), f_.end(), {block, 1}, [&](Value* j) {
      if (ahead > 0 && !f_.packed(result)) {
        Value* from = e_.smin(e_.add(j, e_.i64(block)), f_.end());
        e_.loop(from, e_.smin(e_.add(from, e_.i64(block)), f_.end()), [&](Value* next) {
          const Pointers there = place_of(next);
          prefetch_run(f_, result, there[static_cast<size_t>(result)], true);
          if (f_.plan.kind != PlanKind::element && !f_.packed(update))
            prefetch_run(f_, update, there[static_cast<size_t>(update)], false);
        });
      }
      outside_.apply(p, address(j), e_.smin(e_.i64(block), e_.b.CreateSub(f_.end(), j)));
    });
  }

  void one_by_one() {
    e_.loop(f_.begin(), f_.end(), [&](Value* j) { outside_.apply_one(place_of(j), nullptr, WindowCut::none); });
  }

  Frame& f_;
  Emitter& e_;
  const Form& form_;
  Outside outside_;
  Value *list_, *first_;
};

}  // namespace

void emit_list_outside(llvm::Module& module, const BuildRequest& request, const Form& form, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  ListEmitter(f, form, request.symbol).emit();
  f.finish();
}

}  // namespace strew
