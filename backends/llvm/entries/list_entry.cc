// The entries keys and list, for the strategies owner and radix. keys computes the destination of every position once; list applies chosen
// positions at destinations computed so.
//
// A key is 32 bits: the number of the window's destination (KeyForm, compiler/plan/plan.h), which serves all results; all bits are set where the
// policy drops the position. Destinations of row and element plans are never cut, so an entry of the list needs no bounds but those of look-ups.
// An external body (external_body.h) reads the list in the same layout, so it is passed as it is.
// Tested by tests/differential with every number of threads, tests/unit/runtime/call/strategies/owner_test.cc and radix_test.cc.
#include <cstddef>
#include <optional>

#include "backends/llvm/address/window.h"
#include "backends/llvm/entries/entries.h"
#include "backends/llvm/entries/external_body.h"
#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;
using lowered::kIndexLanes;

constexpr int64_t kKeyBytes = 4;
constexpr int64_t kListBytes = 8;
constexpr int kKeyUnroll = 4;

/// Computes keys and writes them to the array strew_args.key.
class Keys {
 public:
  explicit Keys(Frame& frame)
      : f_(frame),
        result_(static_cast<size_t>(frame.plan.result(0))),
        form_(*frame.plan.keys),
        keys_(frame.pointer_argument(offsetof(strew_args, key))),
        first_(frame.argument(offsetof(strew_args, n_list))) {}

  /// Writes the key of `position`. p: pointers at that position.
  void store(const Pointers& p, Value* position) const {
    const Placement placement = place(f_, 0, p);
    Value* key = row_key(p);
    for (size_t k = 0; k < placement.components.size(); ++k)
      key = f_.e.add(key, f_.e.times(placement.components[k].start, f_.term(form_.components[k])));
    key = f_.e.b.CreateTrunc(key, f_.e.b.getInt32Ty());
    Value* to = slot(position);
    f_.e.store(f_.e.b.CreateSelect(placement.inside, key, f_.e.b.getInt32(~0u)), to, kKeyBytes);
  }

  /// Writes the keys of kIndexLanes positions, of which `position` is the first. p: pointers at the first.
  void store_lanes(const Pointers& p, Value* position) const {
    const Placement placement = place_lanes(f_, p);
    const auto all = [&](Value* scalar) { return f_.e.b.CreateVectorSplat(kIndexLanes, scalar); };
    llvm::Type* lanes = llvm::FixedVectorType::get(f_.e.b.getInt32Ty(), kIndexLanes);
    Value* key = all(f_.e.b.CreateTrunc(row_key(p), f_.e.b.getInt32Ty()));
    for (size_t k = 0; k < placement.components.size(); ++k) {
      Value* start = f_.e.b.CreateTrunc(placement.components[k].start, lanes);
      Value* step = f_.e.b.CreateTrunc(f_.term(form_.components[k]), f_.e.b.getInt32Ty());
      key = f_.e.b.CreateAdd(key, f_.e.b.CreateMul(start, all(step)));
    }
    if (placement.inside != nullptr) key = f_.e.b.CreateSelect(placement.inside, key, all(f_.e.b.getInt32(~0u)));
    f_.e.store(key, slot(position), kKeyBytes);
  }

 private:
  /// The part of the key that comes from batching dims, which have moved p already. The division is exact, because every stride is a multiple
  /// of the unit. A unit that is known at the call only may be 0, where the result has one destination.
  Value* row_key(const Pointers& p) const {
    if (p[result_] == f_.bases()[result_]) return f_.e.i64(0);
    Value* unit = f_.bytes(form_.units[0], f_.plan.result(0));
    if (!form_.units[0].is_static()) unit = f_.e.b.CreateSelect(f_.e.b.CreateICmpEQ(unit, f_.e.i64(0)), f_.e.i64(1), unit);
    return f_.e.b.CreateExactSDiv(f_.e.b.CreatePtrDiff(f_.e.b.getInt8Ty(), p[result_], f_.bases()[result_]), unit);
  }
  Value* slot(Value* position) const {
    return f_.e.at(keys_, f_.e.times(f_.e.b.CreateSub(position, first_), f_.e.i64(kKeyBytes)));
  }

  Frame& f_;
  size_t result_;
  const KeyForm& form_;
  Value *keys_, *first_;
};

void emit_whole_list(Frame& f, ExternalBody& external_body, Value* list, Value* first) {
  const Pointers p = f.beside_results(first);
  f.e.loop(f.begin(), f.end(), {ExternalBody::kMostEntries, 1}, [&](Value* j) {
    Value* count = f.e.smin(f.e.i64(ExternalBody::kMostEntries), f.e.b.CreateSub(f.end(), j));
    external_body.apply(p, f.e.at(list, f.e.times(j, f.e.i64(kListBytes))), count);
  });
}

}  // namespace

void emit_keys(llvm::Module& module, const EntryRequest& request) {
  Frame f(module, request.symbol, request.kernel, request.entry, request.target);
  const Keys keys(f);
  const bool has_lanes = f.entry.walk.way == lowered::Walk::Way::index_lanes;
  f.for_rows(f.plan.positions, f.begin(), f.end(), [&](const Pointers& row, Value* before, Value* lo, Value* hi) {
    const auto one = [&](Value* i) {
      Value* position = f.e.add(before, i);
      keys.store(f.at_position(row, i), position);
    };
    const auto lanes = [&](Value* i) {
      Value* position = f.e.add(before, i);
      keys.store_lanes(f.at_position(row, i), position);
    };
    if (!has_lanes) return f.e.loop(lo, hi, {1, kKeyUnroll}, one);
    f.e.loop_in_groups(lo, hi, kIndexLanes, lanes, one);
  });
  f.finish();
}

void emit_list(llvm::Module& module, const EntryRequest& request) {
  Frame f(module, request.symbol, request.kernel, request.entry, request.target);
  std::optional<ExternalBody> external_body;
  if (request.external != nullptr) external_body.emplace(f, *request.external);
  Value* list = f.pointer_argument(offsetof(strew_args, pos));
  Value* first = f.argument(offsetof(strew_args, n_list));
  const auto entry = [&](Value* j) {
    return f.e.load(f.e.b.getInt64Ty(), f.e.at(list, f.e.times(j, f.e.i64(kListBytes))), Access::input, kListBytes);
  };
  const auto other_tensors = [&](Value* entry) {
    return f.beside_results(f.e.add(first, f.e.b.CreateAnd(entry, f.e.i64(0xffffffff))));
  };
  const auto destination = [&](int i, Value* entry) {
    const int result = f.plan.result(i);
    return f.advance(result, f.bases()[static_cast<size_t>(result)], f.e.b.CreateLShr(entry, f.e.i64(32)),
                     f.plan.keys->units[static_cast<size_t>(i)]);
  };
  Emitter::LoopOptions options;
  if (f.plan.kind == PlanKind::element) options.unroll = f.schedule.unroll;
  const auto at = [&](Value* j) {
    if (f.schedule.prefetch > 0) {
      Value* last = f.e.b.CreateSub(f.end(), f.e.i64(1));
      Value* ahead = entry(f.e.smin(f.e.add(j, f.e.i64(f.schedule.prefetch)), last));
      prefetch_row(f, f.plan.result(0), destination(0, ahead), true);
      const int update = f.plan.update(0);
      if (f.plan.kind != PlanKind::element && !f.packed(update) && !f.plan.is_indexed(update))
        prefetch_row(f, update, other_tensors(ahead)[static_cast<size_t>(update)], false);
      if (f.plan.sources.size() > 1) prefetch_lookups(f, other_tensors(ahead));
    }
    Value* now = entry(j);
    Pointers p = other_tensors(now);
    for (int i = 0; i < f.plan.pairs; ++i) p[static_cast<size_t>(f.plan.result(i))] = destination(i, now);
    if (!external_body) return emit_listed_window(f, p);
    emit_listed_window(f, p, [&](const lowered::Body&, const Pointers& at, const Placements& placements) {
      external_body->apply_one(at, placements);
    });
  };
  const auto one_by_one = [&] { f.e.loop(f.begin(), f.end(), options, at); };
  f.e.when(
      external_body && request.external->signature.listed ? external_body->fits() : f.e.b.getFalse(),
      [&] { emit_whole_list(f, *external_body, list, first); }, one_by_one);
  f.finish();
}

}  // namespace strew::inline v0
