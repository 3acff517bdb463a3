// See graph.h. Tested by tests/unit/backends/lower.
#include "backends/lower/graph.h"

namespace strew::inline v0::lowered {
namespace {

constexpr PrimitiveInfo kTable[] = {
#define STREW_PRIMITIVE(op, arity, takes, gives, domain) {#op, arity, Takes::takes, Gives::gives, Domain::domain, false},
#define STREW_COMPOUND(op, arity, takes, gives, domain) {#op, arity, Takes::takes, Gives::gives, Domain::domain, true},
    STREW_PRIMITIVES(STREW_PRIMITIVE) STREW_COMPOUNDS(STREW_COMPOUND)
#undef STREW_PRIMITIVE
#undef STREW_COMPOUND
};
static_assert(std::size(kTable) <= 64, "Natives has a bit for each");

}  // namespace

std::string_view name(Machine type) {
  constexpr std::string_view kNames[] = {"i1", "i8", "i16", "i32", "i64", "f32", "f64"};
  return kNames[static_cast<size_t>(type)];
}

const PrimitiveInfo& info(Primitive op) { return kTable[static_cast<size_t>(op)]; }

std::string print(const Graph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    text += "%" + std::to_string(i) + " = " + std::string(info(node.op).name) + " " + std::string(name(node.type));
    if (node.op == Primitive::input) text += " " + std::to_string(node.input) + "." + std::to_string(node.part);
    if (node.op == Primitive::constant) text += " " + std::to_string(node.bits);
    if (node.function != ExprOp::literal) text += " " + std::string(name(node.function));
    for (const int32_t arg : node.args)
      if (arg >= 0) text += " %" + std::to_string(arg);
    text += "\n";
  }
  for (const Graph::Result& result : graph.results) {
    text += "result " + std::string(name(result.dtype));
    if (result.moved >= 0) text += " input " + std::to_string(result.moved);
    for (const int32_t part : result.parts)
      if (part >= 0) text += " %" + std::to_string(part);
    text += "\n";
  }
  return text;
}

}  // namespace strew::inline v0::lowered
