// See carries.h. Tested by tests/unit/compiler/splice/policy_test.cc.
#include "compiler/splice/carries.h"

#include <utility>

namespace strew::inline v0 {
namespace {

/// The arguments of the body, and what it returns: pairs of value numbers. A condition's region comes first, if it was translated at all.
std::vector<std::pair<int, int>> carried(const Program& program, int loop, const std::vector<int>& arguments, size_t count) {
  const std::vector<int>& yields = program.opaque(loop).yields;
  std::vector<std::pair<int, int>> out;
  if (arguments.size() < count || yields.size() < count) return out;
  for (size_t i = 0; i < count; ++i) out.emplace_back(arguments[arguments.size() - count + i], yields[yields.size() - count + i]);
  return out;
}

/// What is written on the way back from `value` to `argument`; nothing if the way does not lead there.
Carry written_between(const Program& program, const FileGraph& graph, int argument, int value) {
  Carry out;
  for (value = graph.memory_of(value); value != argument; value = graph.memory_of(value)) {
    const Value& v = program.value(value);
    if (v.kind == ValueKind::result && is_scatter(program.kernel(v.index).op) &&
        std::get<Scatter>(*program.kernel(v.index).op).init != InitKind::fill) {
      out.kernels.push_back(v.index);
      value = program.kernel(v.index).tensor(static_cast<size_t>(v.result));
    } else if (v.kind == ValueKind::opaque && program.opaque(v.index).indexed &&
               static_cast<size_t>(v.result) < program.opaque(v.index).arguments.size()) {
      out.has_others = true;
      value = program.opaque(v.index).arguments[static_cast<size_t>(v.result)];
    } else {
      return {};
    }
  }
  return out;
}

}  // namespace

std::vector<Carry> carries_of(const Program& program, const FileGraph& graph) {
  std::vector<std::vector<int>> arguments(program.opaques().size());
  std::vector<size_t> results(program.opaques().size(), 0);
  for (size_t v = 0; v < program.values().size(); ++v) {
    const Value& value = program.values()[v];
    if (value.kind != ValueKind::opaque) continue;
    const int node = graph.maker(static_cast<int>(v));
    if (node < 0)
      arguments[value.index].push_back(static_cast<int>(v));
    else
      results[value.index] = program.nodes()[static_cast<size_t>(node)].results.size();
  }
  std::vector<Carry> out;
  for (size_t o = 0; o < program.opaques().size(); ++o) {
    if (program.opaques()[o].operation != "stablehlo.while") continue;
    for (const auto& [argument, value] : carried(program, static_cast<int>(o), arguments[o], results[o]))
      if (Carry carry = written_between(program, graph, argument, value); !carry.kernels.empty()) out.push_back(std::move(carry));
  }
  return out;
}

}  // namespace strew::inline v0
