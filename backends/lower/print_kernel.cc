// Prints a lowered kernel, for `strew explain --emit lowered` and the golden tests (tests/golden/lowered_test.cc).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/lower/kernel.h"
#include "strew/text.h"

namespace strew::inline v0::lowered {
namespace {

std::string name_of(const Plan& plan, int t) {
  const PlanTensor& tensor = plan.tensors[static_cast<size_t>(t)];
  return print_name(tensor.role, tensor.index);
}

std::string print(const Plan& plan, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::tensor:
      return name_of(plan, operand.number);
    case Operand::Kind::table:
      return "private table of " + name_of(plan, operand.number);
    case Operand::Kind::constant:
      return print(operand.value);
    case Operand::Kind::local:
      return fmt::format("local {}", operand.number);
  }
  return {};
}

void add_inputs(std::string& out, const Plan& plan, std::string_view what, const std::vector<Operand>& list) {
  for (size_t i = 0; i < list.size(); ++i)
    out += fmt::format("{}{} {} = {}", out.empty() ? "" : ", ", what, i, print(plan, list[i]));
}

std::string print(const Plan& plan, std::string_view title, const Body& body) {
  std::string inputs, results;
  add_inputs(inputs, plan, "current", body.currents);
  add_inputs(inputs, plan, "update", body.updates);
  add_inputs(inputs, plan, "extra", body.extras);
  for (const int result : body.results) results += (results.empty() ? "" : ", ") + name_of(plan, result);
  std::string out = fmt::format("  {}: {} = {}{}\n    reads {}\n", title, results, print(*body.graph),
                                body.moves ? " (moves bits)" : "", inputs.empty() ? "nothing" : inputs);
  for (size_t k = 0; k < body.locals.size(); ++k)
    out += fmt::format("    local {}: {} of {}, from {}, {} lanes\n", k, name(body.locals[k]->fold), print(body.locals[k]->value),
                       print(body.locals[k]->initial), body.locals[k]->lanes);
  return out;
}

std::string_view name(WindowCut cut) {
  return name_among({"", ", iterations [w0, w1)", ", iterations [w0, w1) in [k0, k1)"}, cut);
}

std::string print(const Walk& walk) {
  constexpr std::string_view kWays[] = {"window after window",   "elements with a register",
                                        "rows in registers",     "rows folded side by side",
                                        "offsets in vectors",    "elements with equal indices as rows",
                                        "rows packed in vectors"};
  std::string out(kWays[static_cast<size_t>(walk.way)]);
  if (walk.tile.size > 0)
    out += fmt::format(", in tiles of {0} x {0} over window loop {1} and the innermost{2}", walk.tile.size, walk.tile.rows,
                       walk.tile.rows_inside ? ", that loop inside" : "");
  if (walk.panels > 1) out += fmt::format(", in {} panels", walk.panels);
  if (walk.together > 1) out += fmt::format(", {} positions at a time", walk.together);
  if (walk.unroll > 0) out += fmt::format(", unrolled by {}", walk.unroll);
  if (walk.sinks) out += ", dropped elements go to a sink";
  if (walk.look_ahead != Walk::LookAhead::nothing)
    out += fmt::format(", prefetches {}{} ahead {}", walk.fetches_indexed ? "" : "look-ups ", walk.ahead,
                       walk.look_ahead == Walk::LookAhead::to_the_end ? "up to the end" : "in the first of two loops");
  return out;
}

std::string print(const Kernel& kernel, const Entry& entry) {
  const Plan& plan = kernel.plan;
  std::string what;
  switch (entry.kind) {
    case EntryKind::range:
    case EntryKind::stream:
    case EntryKind::clip:
      what =
          fmt::format("for positions: {}update{}: {}", plan.sources.empty() ? "" : "place, ", name(entry.cut), print(entry.walk));
      break;
    case EntryKind::check:
      what = "for positions: the first index that does not fit, of one source";
      break;
    case EntryKind::keys:
      what = "for positions: the destination's number: " + print(entry.walk);
      break;
    case EntryKind::list:
      what = "for positions with destinations: update";
      break;
    case EntryKind::init:
      what = "for elements of the results: init";
      break;
    case EntryKind::merge:
      what = "for elements of the private tables: merge";
      break;
  }
  return fmt::format("  entry {}: {}{}\n", name(entry.kind), what, entry.nontemporal ? "; stores bypass the caches" : "");
}

}  // namespace

std::string print(const Kernel& kernel) {
  const Plan& plan = kernel.plan;
  std::string out = "lowered kernel\n";
  for (size_t s = 0; s < kernel.placings.size(); ++s) {
    const IndexSource& source = plan.sources[s];
    std::string tensors;
    for (size_t t = 0; t < plan.tensors.size(); ++t)
      if (plan.tensors[t].source == static_cast<int>(s))
        tensors += (tensors.empty() ? "" : ", ") + name_of(plan, static_cast<int>(t));
    constexpr std::string_view kDropped[] = {"nothing is written", "the window is filled", "what is out of bounds is filled"};
    out += fmt::format("  source {} places {}; where the policy drops: {}{}\n", s, tensors,
                       kDropped[static_cast<size_t>(kernel.placings[s].dropped)], source.checks_first ? "; checked first" : "");
    for (size_t k = 0; k < source.components.size(); ++k)
      out += fmt::format("    component {} of {}: {}{}\n", k, name_of(plan, source.components[k].tensor),
                         source.components[k].normalize_negative ? "normalised, " : "", name(kernel.placings[s].rules[k]));
  }
  for (size_t s = 0; s < kernel.placings.size(); ++s)
    for (size_t l = 0; l < plan.window.size(); ++l)
      if (const Bounds bounds = kernel.placings[s].bounds[l]; bounds != Bounds::whole)
        out += fmt::format("  window loop {} is {} by component {}{}\n", l, bounds == Bounds::cut ? "cut" : "split",
                           plan.window[l].moves[s].component, s == 0 ? "" : fmt::format(" of source {}", s));
  out += print(plan, "update", kernel.update);
  if (const std::optional<WideSum>& wide = kernel.wide)
    out += fmt::format("    sums in {}, from {}: {}; stored: {}\n", name(wide->dtype),
                       wide->start.in_memory() ? name_of(plan, wide->start.number) : print(wide->start.value),
                       print(*wide->widen), print(*wide->narrow));
  if (kernel.fill) out += print(plan, "fill", *kernel.fill);
  for (size_t m = 0; m < kernel.filled.size(); ++m) {
    std::string sources;
    for (size_t i = 0; i < kernel.fills.size(); ++i)
      if (((m + 1) >> i & 1) != 0) sources += fmt::format(" {}", kernel.fills[i]);
    out += print(plan, "update where these sources fill:" + sources, kernel.filled[m]);
  }
  for (const Body& body : kernel.init) out += print(plan, "init", body);
  for (const Body& body : kernel.merge) out += print(plan, "merge", body);
  for (const Entry& entry : kernel.entries) out += print(kernel, entry);
  return out;
}

}  // namespace strew::inline v0::lowered
