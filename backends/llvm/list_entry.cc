// The entries of strategy owner: keys resolves every position's destination once; list applies chosen positions at resolved keys.
//
// A key is the element offset of the window's first destination in result 0, or -1 where the policy drops the position. It also serves
// results 1..N-1, which owner_legal (runtime/strategies/owner.h) admits only with the same strides. Windows of row and element plans
// are never cut, so the list needs no bounds. Tested by tests/differential under every thread count.
#include <cstddef>

#include "backends/llvm/entries.h"
#include "backends/llvm/prefetch.h"
#include "backends/llvm/window.h"
#include "runtime/abi.h"

namespace strew {
namespace {
using llvm::Value;

constexpr int64_t kKeyBytes = 8;

/// Pointers of the other tensors at linear position p; results stay at their base.
Pointers other_tensors_at(Frame& f, Value* position) {
  Pointers at = f.bases();
  Value* rest = position;
  for (size_t l = f.plan.positions.size(); l-- > 0;) {
    const Loop& loop = f.plan.positions[l];
    Value* coordinate = rest;
    if (l > 0) {
      Value* extent = f.e.smax(f.term(loop.extent), f.e.i64(1));
      coordinate = f.e.b.CreateURem(rest, extent);
      rest = f.e.b.CreateUDiv(rest, extent);
    }
    std::vector<Term> strides = loop.strides;
    for (int i = 0; i < f.plan.pairs; ++i) strides[static_cast<size_t>(f.plan.result(i))] = constant(0);
    at = f.step(at, strides, coordinate);
  }
  return at;
}

}  // namespace

void emit_keys(llvm::Module& module, const BuildRequest& request, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  const auto result = static_cast<size_t>(f.plan.result(0));
  Value* keys = f.pointer_argument(offsetof(strew_args, key));
  Value* first = f.argument(offsetof(strew_args, n_list));
  f.for_each(f.plan.positions, f.begin(), f.end(), {}, [&](const Pointers& p, Value* position) {
    const Placement placement = place(f, p);
    Value* moved = p[result];
    for (size_t k = 0; k < f.plan.components.size(); ++k)
      moved = f.advance(f.plan.result(0), moved, placement.components[k].start, f.plan.components[k].strides[result]);
    Value* bytes = f.e.b.CreatePtrDiff(f.e.b.getInt8Ty(), moved, f.bases()[result]);
    Value* key = f.e.b.CreateExactSDiv(bytes, f.e.i64(f.element_bytes(f.plan.result(0))));
    Value* slot = f.e.at(keys, f.e.times(f.e.b.CreateSub(position, first), f.e.i64(kKeyBytes)));
    f.e.store(f.e.b.CreateSelect(placement.inside, key, f.e.i64(-1)), slot, kKeyBytes);
  });
  f.finish();
}

void emit_list(llvm::Module& module, const BuildRequest& request, const std::string& name) {
  Frame f(module, name, request.plan, request.schedule, request.target);
  Value* positions = f.pointer_argument(offsetof(strew_args, pos));
  Value* keys = f.pointer_argument(offsetof(strew_args, key));
  const auto number = [&](Value* array, Value* j) {
    return f.e.load(f.e.b.getInt64Ty(), f.e.at(array, f.e.times(j, f.e.i64(kKeyBytes))), Access::input, kKeyBytes);
  };
  const auto destination = [&](int i, Value* key) {
    const int result = f.plan.result(i);
    return f.advance(result, f.bases()[static_cast<size_t>(result)], key, constant(1));
  };
  f.e.loop(f.begin(), f.end(), [&](Value* j) {
    if (f.schedule.prefetch > 0) {
      Value* ahead = f.e.smin(f.e.add(j, f.e.i64(f.schedule.prefetch)), f.e.b.CreateSub(f.end(), f.e.i64(1)));
      prefetch_run(f, f.plan.result(0), destination(0, number(keys, ahead)), true);
      const int update = f.plan.update(0);
      prefetch_run(f, update, other_tensors_at(f, number(positions, ahead))[static_cast<size_t>(update)], false);
    }
    Pointers p = other_tensors_at(f, number(positions, j));
    Value* key = number(keys, j);
    for (int i = 0; i < f.plan.pairs; ++i) p[static_cast<size_t>(f.plan.result(i))] = destination(i, key);
    emit_whole_window(f, p);
  });
  f.finish();
}

}  // namespace strew
