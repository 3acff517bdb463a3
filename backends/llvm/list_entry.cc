// The entries of strategy owner: keys resolves every position's destination once; list applies chosen positions at resolved keys.
//
// A key is the place of the window's first destination in result 0, in units of key_unit (compiler/plan), so it fits 32 bits; all bits set
// where the policy drops the position. It also serves results 1..N-1, which owner_legal (runtime/strategies/owner.h) admits only with the
// same strides. Windows of row and element plans are never cut, so the list needs no bounds. Loops made elsewhere (outside.h) take the
// list as it is: the two have one layout. Tested by tests/differential under every
// thread count.
#include <cstddef>
#include <optional>

#include "backends/llvm/entries.h"
#include "backends/llvm/outside.h"
#include "backends/llvm/prefetch.h"
#include "backends/llvm/window.h"
#include "runtime/abi.h"

namespace strew {
namespace {
using llvm::Value;

constexpr int64_t kKeyBytes = 4;
constexpr int64_t kListBytes = 8;
constexpr int kKeyUnroll = 4;

void emit_whole_list(Frame& f, Outside& outside, Value* list, Value* first) {
  const Pointers p = f.beside_results(first);
  f.e.loop(f.begin(), f.end(), {Outside::kMostEntries, 1}, [&](Value* j) {
    Value* count = f.e.smin(f.e.i64(Outside::kMostEntries), f.e.b.CreateSub(f.end(), j));
    outside.apply(p, f.e.at(list, f.e.times(j, f.e.i64(kListBytes))), count);
  });
}

}  // namespace

void emit_keys(llvm::Module& module, const BuildRequest& request, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  const auto result = static_cast<size_t>(f.plan.result(0));
  const int64_t unit = key_unit(f.plan);
  Value* keys = f.pointer_argument(offsetof(strew_args, key));
  Value* first = f.argument(offsetof(strew_args, n_list));
  f.for_each(f.plan.positions, f.begin(), f.end(), {1, kKeyUnroll}, [&](const Pointers& p, Value* position) {
    const Placement placement = place(f, p);
    // Batching dims have moved the result already; an exact division, because every stride is a multiple of the unit.
    Value* key = f.e.i64(0);
    if (p[result] != f.bases()[result])
      key = f.e.b.CreateExactSDiv(f.e.b.CreatePtrDiff(f.e.b.getInt8Ty(), p[result], f.bases()[result]),
                                  f.e.i64(unit * f.element_bytes(f.plan.result(0))));
    for (size_t k = 0; k < f.plan.components.size(); ++k)
      key = f.e.add(key, f.e.times(placement.components[k].start, f.e.i64(f.plan.components[k].strides[result].factor / unit)));
    Value* slot = f.e.at(keys, f.e.times(f.e.b.CreateSub(position, first), f.e.i64(kKeyBytes)));
    f.e.store(f.e.b.CreateSelect(placement.inside, f.e.b.CreateTrunc(key, f.e.b.getInt32Ty()), f.e.b.getInt32(~0u)), slot,
              kKeyBytes);
  });
  f.finish();
}

void emit_list(llvm::Module& module, const BuildRequest& request, const std::string& name, const Form* form) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  std::optional<Outside> outside;
  if (form != nullptr) outside.emplace(f, *form, request.symbol);
  Value* list = f.pointer_argument(offsetof(strew_args, pos));
  Value* first = f.argument(offsetof(strew_args, n_list));
  const Term unit = constant(key_unit(f.plan));
  const auto entry = [&](Value* j) {
    return f.e.load(f.e.b.getInt64Ty(), f.e.at(list, f.e.times(j, f.e.i64(kListBytes))), Access::input, kListBytes);
  };
  const auto other_tensors = [&](Value* entry) {
    return f.beside_results(f.e.add(first, f.e.b.CreateAnd(entry, f.e.i64(0xffffffff))));
  };
  const auto destination = [&](int i, Value* entry) {
    const int result = f.plan.result(i);
    return f.advance(result, f.bases()[static_cast<size_t>(result)], f.e.b.CreateLShr(entry, f.e.i64(32)), unit);
  };
  Emitter::LoopOptions options;
  if (f.plan.kind == PlanKind::element) options.unroll = f.schedule.unroll;
  const auto at = [&](Value* j) {
    if (f.schedule.prefetch > 0) {
      Value* ahead = entry(f.e.smin(f.e.add(j, f.e.i64(f.schedule.prefetch)), f.e.b.CreateSub(f.end(), f.e.i64(1))));
      prefetch_run(f, f.plan.result(0), destination(0, ahead), true);
      const int update = f.plan.update(0);
      if (f.plan.kind != PlanKind::element) prefetch_run(f, update, other_tensors(ahead)[static_cast<size_t>(update)], false);
    }
    Value* now = entry(j);
    Pointers p = other_tensors(now);
    for (int i = 0; i < f.plan.pairs; ++i) p[static_cast<size_t>(f.plan.result(i))] = destination(i, now);
    outside ? outside->apply_one(p, nullptr, WindowCut::none) : emit_whole_window(f, p);
  };
  const auto one_by_one = [&] { f.e.loop(f.begin(), f.end(), options, at); };
  f.e.when(
      outside && form->listed ? outside->fits() : f.e.b.getFalse(), [&] { emit_whole_list(f, *outside, list, first); },
      one_by_one);
  f.finish();
}

}  // namespace strew
