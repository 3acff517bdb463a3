// Prints a plan, for `strew explain` and the golden tests (tests/golden/plan_test.cc). One line per loop, with strides
// by the tensor's name; zero strides are left out.
#include <string>

#include "compiler/plan/plan.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

std::string tensor_name(const PlanTensor& t) {
  std::string text(name(t.role));
  if (t.role != Role::indices) text += std::to_string(t.index);
  return text;
}

std::string print(const Term& term) {
  if (term.is_static()) return std::to_string(term.factor);
  std::string text = term.factor == 1 ? "" : std::to_string(term.factor) + "*";
  for (size_t i = 0; i < term.symbols.size(); ++i) text += (i ? "*s" : "s") + std::to_string(term.symbols[i]);
  return text;
}

std::string strides(const Plan& plan, const std::vector<Term>& terms) {
  std::string text;
  for (size_t t = 0; t < terms.size(); ++t)
    if (!terms[t].is(0)) text += (text.empty() ? "" : ", ") + tensor_name(plan.tensors[t]) + " " + print(terms[t]);
  return text.empty() ? "-" : text;
}

void add_loops(std::string& out, const Plan& plan, const char* title, const std::vector<Loop>& loops) {
  out += "  " + std::string(title) + ":";
  if (loops.empty()) out += " one";
  out += "\n";
  for (const Loop& loop : loops) {
    out += "    for " + print(loop.extent) + ": " + strides(plan, loop.strides);
    if (loop.component >= 0) {
      out += "; bounded by component " + std::to_string(loop.component);
      if (!loop.scale.is(1)) out += " in steps of " + print(loop.scale);
    } else if (loop.touches_indexed) {
      out += "; indexed";
    }
    out += "\n";
  }
}

std::string fact(const char* what, const Fact& f) {
  return std::string(what) + ": " + (f.holds ? "yes (" + f.source + ")" : "no");
}

}  // namespace

std::string_view name(PlanKind kind) {
  switch (kind) {
    case PlanKind::slice_update:
      return "slice_update";
    case PlanKind::row:
      return "row";
    case PlanKind::element:
      return "element";
    case PlanKind::general:
      return "general";
  }
  return "?";
}

std::string print(const Plan& plan) {
  std::string out = std::string("plan ") + (plan.gather ? "gather " : "scatter ") + std::string(name(plan.kind)) + "\n";
  if (!plan.symbols.empty()) {
    out += "  symbols:\n";
    for (size_t s = 0; s < plan.symbols.size(); ++s) {
      const Symbol& symbol = plan.symbols[s];
      out += "    s" + std::to_string(s) + " = " + tensor_name({symbol.role, symbol.index, DType::f32, ExtraKind::scalar, true}) +
             (symbol.is_stride ? ".stride[" : ".dim[") + std::to_string(symbol.dim) + "]\n";
    }
  }
  out += "  tensors:";
  for (size_t t = 0; t < plan.tensors.size(); ++t)
    if (plan.tensors[t].bound)
      out += (t ? ", " : " ") + tensor_name(plan.tensors[t]) + " " + std::string(name(plan.tensors[t].dtype));
  out += "\n";
  add_loops(out, plan, "positions", plan.positions);
  for (uint32_t d = 0; d < 32; ++d)
    if ((plan.repeated_dims >> d & 1) != 0)
      out += "  the window has dim " + std::to_string(d) + " of indices, which repeat along it\n";
  out += "  components: policy " + std::string(name(plan.oob)) +
         (plan.normalize_negative ? ", negative indices count from the end" : "") + "\n";
  for (size_t k = 0; k < plan.components.size(); ++k) {
    const Component& c = plan.components[k];
    out += "    " + std::to_string(k) + ": indices +" + print(c.index_offset) + " moves dim " + std::to_string(c.operand_dim) +
           " of " + print(c.dim) + ", window " + print(c.window) + ": " + strides(plan, c.strides) + "\n";
  }
  add_loops(out, plan, "window", plan.window);
  out += "  combine: " + print(plan.combine) + (plan.pure_move ? " (moves bytes)" : "") + "\n";
  if (!plan.gather) {
    out += "  init: " + std::string(name(plan.init_kind)) + "\n";
    if (plan.init_kind != InitKind::in_place) add_loops(out, plan, "init loops", plan.init);
    out += "  order: " + std::string(name(plan.order)) + ", accumulate: " + std::string(name(plan.accumulate)) + "\n";
  }
  out += "  facts: " + fact("unique", plan.unique) + "; " + fact("sorted", plan.sorted) + "; " +
         fact("in bounds", plan.in_bounds) + "; checks every index first: " + (plan.checks_first ? "yes" : "no") + "\n";
  return out;
}

}  // namespace strew::inline v0
