// See directed_op.h. The generator gets what the cell determines; the op's plan tells whether the op is in the cell.
// Tested by every differential run with --require-coverage, and by the iterations that start from a strategy.
#include "tests/differential/directed_op.h"

#include "backends/pipeline.h"
#include "schedules/target.h"
#include "tests/differential/fold_bounds.h"
#include "tests/differential/random_combiner.h"
#include "tests/differential/random_op.h"

namespace strew::test {
namespace {

constexpr int kCellTries = 80, kSplitTries = 200;

/// Sets the wishes and fields that `strategy` needs to be legal, as far as they are known before there is a plan.
Blueprint aimed_at(Rng& rng, Strategy strategy, OpWishes wishes) {
  using S = Strategy;
  if (!wishes.shape && traits_of(strategy).needs_keys()) wishes.shape = rng.chance(50) ? Shape::row : Shape::element;
  if (strategy == S::clip) wishes.shape = Shape::general;
  if (strategy == S::private_tables) wishes.combiner = CombinerKind::add;
  const bool scatters = strategy != S::sequential && strategy != S::positions && strategy != S::window;
  if (scatters) wishes.scatter = true;
  Blueprint blueprint = random_blueprint(rng, wishes);
  if (Scatter* s = std::get_if<Scatter>(&blueprint.frame)) {
    if (strategy == S::private_tables) s->order = Order::relaxed;
    if (order_is_open(make_op(blueprint))) drop_lookups(blueprint);  // bounds of sums are not computed from look-ups
    if (strategy == S::runs) s->indices_are_sorted = true, s->normalize_negative = false;
    if (strategy == S::positions) s->unique_indices = true;
  }
  return blueprint;
}

}  // namespace

Blueprint op_for_cell(const EngineRoom& room, uint64_t seed, size_t number) {
  const Cell& cell = legal_cells()[number];
  Rng rng = Rng::stream(seed, number * 2 + 1);
  const OpWishes wishes{!cell.gather, static_cast<Shape>(cell.kind), cell.oob, cell.combiner, cell.dtype};
  Blueprint blueprint;
  for (int tries = 0; tries < kCellTries; ++tries) {
    blueprint = random_blueprint(rng, wishes);
    const Op op = make_op(blueprint);
    const Expected<Cell> got = room.cell(op);
    if (got.ok() && *got == cell && is_promised(op)) break;
  }
  return blueprint;
}

Blueprint op_for_lookup(uint64_t seed, size_t number) {
  const LookupCell& cell = legal_lookups()[number];
  Rng rng = Rng::stream(seed, number * 2 + 0x100c5);
  OpWishes wishes;
  wishes.scatter = true;
  wishes.lookups = true;
  wishes.lookup_oob = cell.oob;
  wishes.lookup_parts = cell.cuts;
  Blueprint blueprint;
  for (int tries = 0; tries < kCellTries; ++tries) {
    blueprint = random_blueprint(rng, wishes);
    const Op op = make_op(blueprint);
    const auto is_in_cell = [&](const Lookup& lookup) { return cell_of(lookup) == cell; };
    if (is_promised(op) && std::ranges::any_of(lookups_of(op), is_in_cell)) break;
  }
  return blueprint;
}

Blueprint op_for_split(const EngineRoom& room, uint64_t seed, size_t number) {
  const SplitCell& cell = legal_splits()[number];
  Rng rng = Rng::stream(seed, number * 2 + 0x5911f);
  OpWishes wishes{!cell.gather, {}, cell.oob, {}, cell.dtype};
  Blueprint blueprint;
  for (int tries = 0; tries < kSplitTries; ++tries) {
    do wishes.combiner = static_cast<CombinerKind>(rng.below(static_cast<int64_t>(CombinerKind::expr) + 1));
    while (!combines(*wishes.combiner, cell.dtype) || (cell.gather && *wishes.combiner != CombinerKind::assign));
    blueprint = aimed_at(rng, cell.strategy, wishes);
    const Op op = make_op(blueprint);
    if (is_promised(op) && room.allows(op, cell.strategy)) break;
  }
  return blueprint;
}

bool sums_in_registers(const Op& op) {
  const Scatter* const s = std::get_if<Scatter>(&op);
  if (s == nullptr || s->accumulate == Accumulate::native || !s->indices_are_sorted) return false;
  KernelOptions options;
  options.target = *parse_target("x86-64");  // the fewest and shortest registers
  options.backend = BackendChoice::llvm;
  const auto verified = VerifiedOp::of(op);
  const auto planned = verified.ok() ? plan_kernel(*verified, options) : Expected<Compiled>(verified.status());
  return planned.ok() && std::ranges::find(planned->parts, STREW_SUMS, &Compiled::part) != planned->parts.end();
}

PhaseOp op_for_phase(const EngineRoom& room, Rng& rng, PhaseKind phase) {
  using K = PhaseKind;
  using S = Strategy;
  const std::vector<std::pair<K, S>> strategies{{K::positions, S::positions},
                                                {K::clip, S::clip},
                                                {K::columns, S::owner},
                                                {K::owner, S::owner},
                                                {K::radix_count, S::radix},
                                                {K::radix_add, S::radix},
                                                {K::radix_place, S::radix},
                                                {K::radix_scatter, S::radix},
                                                {K::radix_apply, S::radix},
                                                {K::runs, S::runs},
                                                {K::private_apply, S::private_tables},
                                                {K::wide_sparse, S::owner},
                                                {K::wide_order, S::runs},
                                                {K::wide_sums, S::runs},
                                                {K::private_merge, S::private_tables}};
  const bool wide = phase >= K::wide_start, in_registers = phase == K::wide_order || phase == K::wide_sums;
  PhaseOp out;
  for (const auto& [kind, strategy] : strategies)
    if (kind == phase) out.strategy = strategy;
  for (int tries = 0; tries < kSplitTries; ++tries) {
    OpWishes wishes;
    if (phase == K::check) wishes.oob = OobPolicy::error;
    if (phase == K::init || wide) wishes.scatter = true;
    if (phase == K::columns || in_registers) wishes.shape = Shape::row;
    if (wide) wishes.combiner = CombinerKind::add, wishes.dtype = rng.chance(50) ? DType::bf16 : DType::f16;
    out.blueprint = aimed_at(rng, out.strategy, wishes);
    Scatter* s = std::get_if<Scatter>(&out.blueprint.frame);
    if (wide && s != nullptr) {
      // A pair whose dtypes differ cannot accumulate wide. If all tries fail, the op is used as it is: it is legal, but does
      // not run the wanted phase.
      const bool converts = out.blueprint.operands[0].dtype != out.blueprint.results[0].dtype;
      if (out.blueprint.results.size() > 1 || (phase == K::wide_start && (!converts || s->init != InitKind::copy))) continue;
      s->accumulate = Accumulate::wide;
    }
    const Op op = make_op(out.blueprint);
    if (in_registers && !sums_in_registers(op)) continue;
    if ((is_promised(op) || phase == K::wide_start) && room.allows(op, out.strategy)) break;
  }
  return out;
}

Blueprint op_for_strategy(const EngineRoom& room, Rng& rng, Strategy strategy) {
  Blueprint blueprint;
  for (int tries = 0; tries < kSplitTries; ++tries) {
    blueprint = aimed_at(rng, strategy, {});
    const Op op = make_op(blueprint);
    if (is_promised(op) && room.allows(op, strategy)) break;
  }
  return blueprint;
}

}  // namespace strew::test
