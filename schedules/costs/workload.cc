// See workload.h.
#include "schedules/costs/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>

#include "base/machine.h"
#include "schedules/strategies/strategy.h"

namespace strew::inline v0 {
namespace {

double value_of(const Term& term, double open) {
  if (term.is_static()) return std::abs(static_cast<double>(term.factor));
  return std::abs(static_cast<double>(term.factor)) * std::pow(open, static_cast<double>(term.symbols.size()));
}

double count(std::span<const Loop> loops, double open) {
  double product = 1;
  for (const Loop& loop : loops) product *= value_of(loop.extent, open);
  return product;
}

/// A lower bound of a tensor's elements: the farthest that any loop or indexed dim alone reaches. `source`: that places the tensor.
double reach(const Plan& plan, size_t tensor, const IndexSource& source, const OpenExtents& open) {
  double most = 1;
  for (const Component& c : source.components)
    most = std::max(most, value_of(c.dim, open.table) * value_of(c.strides[tensor], open.table));
  for (const auto* loops : {&plan.positions, &plan.window})
    for (const Loop& loop : *loops)
      most = std::max(most, value_of(loop.extent, open.moved) * value_of(loop.strides[tensor], open.moved));
  return most;
}

/// Instructions per vector: one per operator, and conversions where 16-bit floats are computed in f32.
double operations_of(const Plan& plan) {
  if (plan.pure_move) return 0;
  constexpr double kConversions = 6;
  double operations = 0;
  const auto count = [&](const Expr& graph) {
    for (const ExprNode& node : graph.nodes) {
      if (node.args.empty()) continue;
      operations += is_float(node.dtype) && bits(node.dtype) <= 16 ? 1 + kConversions : 1;
    }
  };
  if (!plan.per_row) count(plan.combine);
  for (const RowLocal& local : plan.locals) {
    count(local.value);
    ++operations;
  }
  return operations;
}

bool reads_current(const Plan& plan) {
  return std::any_of(plan.combine.nodes.begin(), plan.combine.nodes.end(),
                     [](const ExprNode& node) { return node.op == ExprOp::current; });
}

/// Indices are no part of a vector.
bool has_lanes(const Plan& plan) {
  return std::all_of(plan.tensors.begin(), plan.tensors.end(), [](const PlanTensor& tensor) {
    return tensor.role == Role::indices || (bits(tensor.dtype) >= 8 && bits(tensor.dtype) <= 64 && !is_complex(tensor.dtype));
  });
}

}  // namespace

bool moves_static(const Plan& plan) {
  const auto known = [](const Loop& loop) { return loop.extent.is_static(); };
  return std::ranges::all_of(plan.positions, known) && std::ranges::all_of(plan.window, known);
}

bool has_open_extents(const Plan& plan) {
  return !moves_static(plan) ||
         std::ranges::any_of(plan.primary().components, [](const Component& c) { return !c.dim.is_static(); });
}

Workload workload_of(const Plan& plan, const OpenExtents& open) {
  const size_t indexed = static_cast<size_t>(plan.indexed());
  Workload w;
  w.gathers = plan.gather;
  w.moves = plan.pure_move;
  w.has_lanes = has_lanes(plan);
  w.is_element = plan.window.empty();
  w.reads_table = !plan.gather && reads_current(plan);
  w.is_open = has_open_extents(plan);
  w.positions = count(plan.positions, open.moved);
  w.components = std::max<double>(1, static_cast<double>(plan.primary().components.size()));
  w.element_bytes = bits(plan.tensors[indexed].dtype) / 8.0;
  const double window = count(plan.window, open.moved);
  const bool has_runs = !plan.window.empty() && plan.window.back().strides[indexed].is(1);
  w.run_bytes = (has_runs ? value_of(plan.window.back().extent, open.moved) : 1) * w.element_bytes;
  w.window_bytes = window * w.element_bytes;
  w.runs = plan.per_row ? 1 : w.window_bytes / std::max(w.run_bytes, 1e-9);
  // A run that is no multiple of a line starts anywhere in one, so that it touches part of one line more.
  const double line = kLineBytes, whole = std::fmod(w.run_bytes, line) == 0 ? 0 : (line - w.element_bytes) / line;
  w.lines = w.runs * (w.run_bytes / line + (w.run_bytes < line ? std::max(whole, 1 - w.run_bytes / line) : whole));
  if (const Loop* const columns = column_loop(plan)) w.columns = value_of(columns->extent, open.moved);
  w.columns_are_positions = plan.window.empty();
  w.table_bytes = reach(plan, indexed, plan.primary(), open) * w.element_bytes;
  for (size_t t = 0; t < plan.tensors.size(); ++t)
    if (const int source = plan.tensors[t].source; source > 0)
      w.lookup_bytes += reach(plan, t, plan.sources[static_cast<size_t>(source)], open) * bits(plan.tensors[t].dtype) / 8.0;
  w.moved_bytes = w.positions * w.window_bytes;
  if (plan.primary().sorted.holds) w.in_order = std::min(1.0, w.positions * w.lines * kLineBytes / std::max(1.0, w.table_bytes));
  if (plan.kind == PlanKind::slice_update && w.runs <= 1) w.in_order = 1;
  const bool cuts_slabs = plan.gather || plan.kind == PlanKind::slice_update || plan.unique.holds;
  w.slabs = cuts_slabs ? w.positions : count({plan.positions.data(), slab_loops(plan)}, open.moved);
  if (const Component* mover = clip_mover(plan)) w.coordinates = value_of(mover->dim, open.table);
  w.regroups = !plan.gather && combines_exactly(plan);
  w.operations = operations_of(plan);
  if (!plan.init.empty()) w.init_bytes = count(plan.init, open.table) * w.element_bytes;
  w.is_filled = plan.init_kind == InitKind::fill;
  for (int i = 1; i < plan.pairs; ++i) {  // further pairs are as large as the first, or nearly
    const double more = bits(plan.tensors[static_cast<size_t>(plan.result(i))].dtype) / 8.0 / w.element_bytes;
    w.lines += w.lines / i * more;
    w.moved_bytes += w.positions * window * w.element_bytes * more;
  }
  return w;
}

}  // namespace strew::inline v0
