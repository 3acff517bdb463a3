// See kernel.h. Tested by tests/golden/lowered_test.cc and tests/unit/backends/lower/lower_kernel_test.cc.
#include <algorithm>

#include "backends/lower/kernel.h"
#include "compiler/rewrite/split_wide.h"
#include "schedules/stores.h"
#include "schedules/strategies/strategy.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {

std::string_view name(PlaceRule rule) {
  return name_among({"trusted", "fits", "clamped", "inside", "cut", "wrapped", "split"}, rule);
}

namespace lowered {
namespace {

Operand tensor(int number) { return {Operand::Kind::tensor, number, {}}; }
Operand constant_operand(const Scalar& value) { return {Operand::Kind::constant, -1, value}; }

Body update_body(const Plan& plan) {
  Body body;
  body.graph = &plan.combine;
  body.moves = plan.pure_move;
  body.once = plan.per_row;
  for (int i = 0; i < plan.pairs; ++i) {
    body.results.push_back(plan.result(i));
    body.currents.push_back(tensor(plan.gather ? plan.operand(i) : plan.result(i)));
    if (!plan.gather) body.updates.push_back(tensor(plan.update(i)));
  }
  const auto extras = std::ranges::count(plan.tensors, Role::extra, &PlanTensor::role);
  for (int i = 0; i < extras; ++i) body.extras.push_back(tensor(plan.extra(i)));
  for (const RowLocal& local : plan.locals) {
    body.extras.push_back({Operand::Kind::local, static_cast<int>(body.locals.size()), {}});
    body.locals.push_back(&local);
  }
  return body;
}

/// The element of a gather's window that the policy fills: what the gathered element would be is the fill value.
Body fill_body(const Plan& plan, const Body& update) {
  Body body = update;
  body.currents = {constant_operand(plan.primary().fill)};
  return body;
}

/// The update where the look-ups of the sources in `filling`, a bit for each of Kernel::fills, have no element and give their fill values.
Body filled_body(const Kernel& kernel, size_t filling) {
  Body body = kernel.update;
  const auto fill_in = [&](std::vector<Operand>& inputs) {
    for (Operand& input : inputs) {
      if (!input.is(Operand::Kind::tensor)) continue;
      for (size_t i = 0; i < kernel.fills.size(); ++i) {
        const bool is_table = kernel.plan.tensors[static_cast<size_t>(input.number)].source == static_cast<int>(kernel.fills[i]);
        if (!is_table || (filling >> i & 1) == 0) continue;
        input = constant_operand(kernel.plan.sources[kernel.fills[i]].fill);
        break;
      }
    }
  };
  fill_in(body.updates);
  fill_in(body.extras);
  return body;
}

/// An element that init writes: an operand's element or the fill value, converted to the result's dtype.
Body init_body(Kernel& kernel, int i) {
  const Plan& plan = kernel.plan;
  const auto dtype_of = [&](int t) { return plan.tensors[static_cast<size_t>(t)].dtype; };
  const bool fills = plan.init_kind == InitKind::fill;
  const DType to = dtype_of(plan.result(i)), from = fills ? to : dtype_of(plan.operand(i));
  ExprBuilder e;
  const int32_t current = e.current(0, from);
  kernel.graphs.push_back(e.returns({e.as(current, to)}));
  Body body;
  body.graph = &kernel.graphs.back();
  body.results = {plan.result(i)};
  body.currents = {fills ? constant_operand(plan.init_fill[static_cast<size_t>(i)]) : tensor(plan.operand(i))};
  body.once = plan.per_row && !plan.init.empty() && plan.init.back().strides[static_cast<size_t>(plan.result(i))].is(0);
  body.moves = from == to;
  body.bulk = true;
  return body;
}

/// Makes the update combine sums in the wider dtype, to which it converts updates directly, as the fold of split_wide() does.
void widen_update(Kernel& kernel) {
  const Plan& plan = kernel.plan;
  const auto dtype_of = [&](int t) { return plan.tensors[static_cast<size_t>(t)].dtype; };
  const DType narrow = dtype_of(plan.result(0)), wide = wide_dtype(plan.accumulate);
  const auto graph = [&](const auto& result) {
    ExprBuilder e;
    const int32_t value = result(e);
    kernel.graphs.push_back(e.returns({value}));
    return &kernel.graphs.back();
  };
  kernel.update.graph = graph([&](ExprBuilder& e) {
    const int32_t sum = e.current(0, wide), update = e.as(e.update(0, dtype_of(plan.update(0))), wide);
    return e.apply(combiner_of(plan, 0), {sum, update});
  });
  const bool fills = plan.init_kind == InitKind::fill;
  kernel.wide = WideSum{wide, fills ? constant_operand(plan.init_fill[0]) : tensor(plan.result(0)),
                        graph([&](ExprBuilder& e) { return e.convert(e.current(0, narrow), wide); }),
                        graph([&](ExprBuilder& e) { return e.convert(e.current(0, wide), narrow); })};
}

Body merge_body(Kernel& kernel, int i) {
  const Plan& plan = kernel.plan;
  kernel.graphs.push_back(merge_graph(plan, i));
  Body body;
  body.graph = &kernel.graphs.back();
  body.results = {plan.result(i)};
  body.currents = {tensor(plan.result(i))};
  body.updates = {{Operand::Kind::table, plan.result(i), {}}};
  return body;
}

Bounds bounds_of(const Placing& placing, const LoopMove& move) {
  if (!move.is_bounded) return Bounds::whole;
  const PlaceRule rule = placing.rules[static_cast<size_t>(move.component)];
  return rule == PlaceRule::split || rule == PlaceRule::wrapped ? Bounds::split : Bounds::cut;
}

Placing placing_of(const Plan& plan, size_t number) {
  const IndexSource& source = plan.sources[number];
  Placing placing;
  for (const Component& c : source.components) placing.rules.push_back(place_rule(source.oob, c.window));
  for (const Loop& loop : plan.window) placing.bounds.push_back(bounds_of(placing, loop.moves[number]));
  placing.dropped = dropped(source.oob);
  return placing;
}

/// Where calls choose how to store, the entry range leaves stores that bypass the caches to the entry stream.
Entry entry_of(const Kernel& kernel, EntryKind kind) {
  const Schedule& schedule = kernel.schedule;
  Entry entry{kind, WindowCut::none, schedule.nontemporal, {}};
  switch (kind) {
    case EntryKind::range:
      entry.nontemporal = schedule.nontemporal && !chooses_stores(kernel.plan, schedule);
      [[fallthrough]];
    case EntryKind::stream:
      entry.cut = traits_of(schedule.strategy).share == WindowShare::columns ? WindowCut::columns : WindowCut::none;
      entry.nontemporal |= kind == EntryKind::stream;
      break;
    case EntryKind::clip:
      entry.cut = WindowCut::owned;
      break;
    case EntryKind::init:  // the knob is about updates; for init the caller decides (STREW_STREAM)
      entry.nontemporal = false;
      break;
    case EntryKind::check:
    case EntryKind::keys:
    case EntryKind::list:
    case EntryKind::merge:
      break;
  }
  return entry;
}

}  // namespace

const Entry* Kernel::find(EntryKind kind) const {
  const auto at = std::ranges::find(entries, kind, &Entry::kind);
  return at == entries.end() ? nullptr : &*at;
}

Kernel lower_kernel(const Plan& plan, const Schedule& schedule) {
  Kernel kernel{plan, schedule, {}, update_body(plan), {}, {}, {}, {}, {}, {}, {}, {}};
  if (plan.accumulate != Accumulate::native) widen_update(kernel);
  for (size_t s = 0; s < plan.sources.size(); ++s) kernel.placings.push_back(placing_of(plan, s));
  for (const EntryKind kind : entries_of(plan, schedule)) kernel.entries.push_back(entry_of(kernel, kind));
  if (plan.gather && kernel.primary().dropped != Dropped::nothing) kernel.fill = fill_body(plan, kernel.update);
  for (size_t s = 1; s < plan.sources.size(); ++s)
    if (kernel.placings[s].dropped != Dropped::nothing) kernel.fills.push_back(s);
  for (size_t filling = 1; kernel.fills.size() <= kMostFills && filling < size_t{1} << kernel.fills.size(); ++filling)
    kernel.filled.push_back(filled_body(kernel, filling));
  for (int i = 0; i < plan.pairs; ++i) {
    if (kernel.find(EntryKind::init) != nullptr) kernel.init.push_back(init_body(kernel, i));
    if (kernel.find(EntryKind::merge) != nullptr) kernel.merge.push_back(merge_body(kernel, i));
  }
  return kernel;
}

}  // namespace lowered
}  // namespace strew::inline v0
