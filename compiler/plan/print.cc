// Prints a plan, for `strew explain` and the golden tests (tests/golden/plan_test.cc). One line per loop, with strides
// by the tensor's name; zero strides are left out.
#include <fmt/format.h>

#include <string>

#include "compiler/plan/plan.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

std::string print(const Term& term) {
  if (term.is_static()) return std::to_string(term.factor);
  return fmt::format("{}s{}", term.factor == 1 ? "" : std::to_string(term.factor) + "*", fmt::join(term.symbols, "*s"));
}

std::string strides(const Plan& plan, const std::vector<Term>& terms) {
  std::string text;
  for (size_t t = 0; t < terms.size(); ++t)
    if (const PlanTensor& tensor = plan.tensors[t]; !terms[t].is(0))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", print_name(tensor.role, tensor.index), print(terms[t]));
  return text.empty() ? "-" : text;
}

/// Empty for the only source.
std::string of_source(const Plan& plan, size_t s) { return plan.sources.size() == 1 ? "" : fmt::format(" of source {}", s); }

void add_loops(std::string& out, const Plan& plan, std::string_view title, const std::vector<Loop>& loops) {
  out += fmt::format("  {}:{}\n", title, loops.empty() ? " one" : "");
  for (const Loop& loop : loops) {
    out += fmt::format("    for {}: {}", print(loop.extent), strides(plan, loop.strides));
    for (size_t s = 0; s < loop.moves.size(); ++s) {
      const LoopMove& move = loop.moves[s];
      if (move.is_bounded) out += fmt::format("; bounded by component {}{}", move.component, of_source(plan, s));
      if (move.is_bounded && !move.scale.is(1)) out += " in steps of " + print(move.scale);
      if (!move.is_bounded && move.touches) out += "; indexed" + of_source(plan, s);
    }
    out += "\n";
  }
}

void add_source(std::string& out, const Plan& plan, size_t s) {
  const IndexSource& source = plan.sources[s];
  for (uint32_t d = 0; d < 32; ++d)
    if ((source.repeated_dims >> d & 1) != 0)
      out += fmt::format("  the window has dim {} of indices, which repeat along it\n", d);
  const bool normalizes = std::ranges::any_of(source.components, &Component::normalize_negative);
  out += fmt::format("  components{}: policy {}{}\n", of_source(plan, s), name(source.oob),
                     normalizes ? ", negative indices count from the end" : "");
  for (size_t k = 0; k < source.components.size(); ++k) {
    const Component& c = source.components[k];
    const PlanTensor& tensor = plan.tensors[static_cast<size_t>(c.tensor)];
    out += fmt::format("    {}: {} +{} moves dim {} of {}, window {}: {}\n", k, print_name(tensor.role, tensor.index),
                       print(c.index_offset), c.operand_dim, print(c.dim), print(c.window), strides(plan, c.strides));
  }
}

std::string fact(const Fact& f) { return f.holds ? "yes (" + f.source + ")" : "no"; }

}  // namespace

std::string print_name(Role role, int index) {
  return role == Role::indices && index == 0 ? "indices" : fmt::format("{}{}", name(role), index);
}

std::string_view name(PlanKind kind) { return name_among({"slice_update", "row", "element", "general"}, kind); }

std::string print(const Plan& plan) {
  std::string out = fmt::format("plan {} {}\n", plan.gather ? "gather" : "scatter", name(plan.kind));
  if (!plan.symbols.empty()) out += "  symbols:\n";
  for (size_t s = 0; s < plan.symbols.size(); ++s) {
    const Symbol& symbol = plan.symbols[s];
    out += fmt::format("    s{} = {}.{}[{}]\n", s, print_name(symbol.role, symbol.index), symbol.is_stride ? "stride" : "dim",
                       symbol.dim);
  }
  out += "  tensors:";
  for (size_t t = 0; t < plan.tensors.size(); ++t)
    if (const PlanTensor& tensor = plan.tensors[t]; tensor.bound)
      out += fmt::format("{} {} {}", t == 0 ? "" : ",", print_name(tensor.role, tensor.index), name(tensor.dtype));
  out += "\n";
  add_loops(out, plan, "positions", plan.positions);
  for (size_t s = 0; s < plan.sources.size(); ++s) add_source(out, plan, s);
  add_loops(out, plan, "window", plan.window);
  out += fmt::format("  combine: {}{}\n", print(plan.combine), plan.pure_move ? " (moves bytes)" : "");
  for (size_t k = 0; k < plan.locals.size(); ++k)
    out += fmt::format("  row-local {}: {} of {}, from {}, {} lanes\n", k, name(plan.locals[k].fold), print(plan.locals[k].value),
                       print(plan.locals[k].initial), plan.locals[k].lanes);
  if (plan.per_row) out += "  results: one value per row\n";
  if (!plan.gather) {
    out += fmt::format("  init: {}\n", name(plan.init_kind));
    if (plan.init_kind != InitKind::in_place) add_loops(out, plan, "init loops", plan.init);
    out += fmt::format("  order: {}, accumulate: {}\n", name(plan.order), name(plan.accumulate));
  }
  out += "  facts: unique: " + fact(plan.unique);
  for (size_t s = 0; s < plan.sources.size(); ++s) {
    const IndexSource& source = plan.sources[s];
    out += fmt::format("; sorted{0}: {1}; in bounds{0}: {2}; checks every index{0} first: {3}", of_source(plan, s),
                       fact(source.sorted), fact(source.in_bounds), source.checks_first ? "yes" : "no");
  }
  return out + "\n";
}

}  // namespace strew::inline v0
