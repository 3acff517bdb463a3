// See regions.h. The region of a STABLEHLO_SCATTER is also read by its import function, which says what is wrong
// with it. Tested by tests/unit/compiler/import/tflite/tflite_regions_test.cc.
#include "compiler/import/tflite/regions.h"

#include "base/partial_switch.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

STREW_PARTIAL_SWITCHES

std::vector<Region> listed(const Node& node) {
  const schema::Operator& op = node.op();
  switch (code_of(node.graph().model(), op)) {
    case Builtin::IF:
      if (const auto* o = op.builtin_options_as_IfOptions()) return {{o->first(), "then"}, {o->second(), "else"}};
      return {};
    case Builtin::WHILE:
      if (const auto* o = op.builtin_options_as_WhileOptions()) return {{o->first(), "cond"}, {o->second(), "body"}};
      return {};
    case Builtin::CALL:
      if (const auto* o = op.builtin_options_as_CallOptions()) return {{static_cast<int32_t>(o->subgraph()), "call"}};
      return {};
    case Builtin::CALL_ONCE:
      if (const auto* o = op.builtin_options_as_CallOnceOptions()) return {{o->init_subgraph_index(), "init"}};
      return {};
    case Builtin::STABLEHLO_WHILE:
      if (const auto* o = op.builtin_options_2_as_StablehloWhileOptions()) return {{o->first(), "cond"}, {o->second(), "body"}};
      return {};
    case Builtin::STABLEHLO_COMPOSITE:
      if (const auto* o = op.builtin_options_2_as_CompositeOptions()) return {{o->decomposition_subgraph_index(), "body"}};
      return {};
    case Builtin::STABLEHLO_REDUCE:
      if (const auto* o = op.builtin_options_2_as_StablehloReduceOptions()) return {{o->body_subgraph_index(), "body", true}};
      return {};
    case Builtin::STABLEHLO_REDUCE_WINDOW:
      if (const auto* o = op.builtin_options_2_as_StablehloReduceWindowOptions())
        return {{o->body_subgraph_index(), "body", true}};
      return {};
    case Builtin::STABLEHLO_SCATTER: {
      const auto* o = op.builtin_options_2_as_StablehloScatterOptions();
      const int32_t number = o == nullptr ? 0 : o->update_computation_subgraph_index();
      if (number < 1 || number >= static_cast<int64_t>(node.graph().model().subgraphs()->size())) return {};
      return {{number, "body", true}};
    }
    case Builtin::STABLEHLO_SORT:
      if (const auto* o = op.builtin_options_2_as_StablehloSortOptions())
        return {{o->comparator_subgraph_index(), "comparator", true}};
      return {};
    case Builtin::STABLEHLO_CASE: {
      std::vector<Region> out;
      const auto* o = op.builtin_options_2_as_StablehloCaseOptions();
      for (const int64_t number : list_of(o == nullptr ? nullptr : o->branch_subgraph_indices()))
        out.push_back({static_cast<int32_t>(number), "branch_" + std::to_string(out.size())});
      return out;
    }
    default:
      return {};
  }
}

STREW_END_PARTIAL_SWITCHES

}  // namespace

Expected<std::vector<Region>> regions_of(const Node& node) {
  std::vector<Region> out = listed(node);
  const auto count = static_cast<int64_t>(node.graph().model().subgraphs()->size());
  for (const Region& region : out) {
    if (region.subgraph >= 1 && region.subgraph < count) continue;
    return node.error("its {} is subgraph {}, expected from 1 to {}", region.role, region.subgraph, count - 1);
  }
  return out;
}

}  // namespace strew::inline v0::tflite
