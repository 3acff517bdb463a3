// regions_of(), see graph.h. The region of a STABLEHLO_SCATTER is also read by its import function, which says what is wrong
// with it. Tested by tests/unit/compiler/import/tflite/tflite_regions_test.cc.
#include <functional>
#include <optional>

#include "compiler/import/tflite/graph.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;
using Options = schema::BuiltinOptions;

/// The number of a subgraph in the operator's options; none if its options are of another kind.
using Number = std::function<std::optional<int64_t>(const Node&)>;
/// `kind`: of options in builtin_options; those in builtin_options_2 need none.
template <class Table, class Field, class... Kind>
Number field(Field (Table::*number)() const, Kind... kind) {
  return [=](const Node& node) -> std::optional<int64_t> {
    const Table* options = node.options<Table>(kind...);
    return options == nullptr ? std::nullopt : std::optional<int64_t>((options->*number)());
  };
}

struct Row {
  Builtin code;
  std::string role;
  Number number;
  bool is_function = false;
};
const std::vector<Row>& rows() {
  using Two = schema::TwoSubgraphsOptions;
  static const auto& list = *new const std::vector<Row>{
      {Builtin::IF, "then", field(&Two::first, Options::IfOptions)},
      {Builtin::IF, "else", field(&Two::second, Options::IfOptions)},
      {Builtin::WHILE, "cond", field(&Two::first, Options::WhileOptions)},
      {Builtin::WHILE, "body", field(&Two::second, Options::WhileOptions)},
      {Builtin::CALL, "call", field(&schema::CallOptions::subgraph, Options::CallOptions)},
      {Builtin::CALL_ONCE, "init", field(&schema::CallOnceOptions::init_subgraph_index, Options::CallOnceOptions)},
      {Builtin::STABLEHLO_WHILE, "cond", field(&schema::StablehloWhileOptions::first)},
      {Builtin::STABLEHLO_WHILE, "body", field(&schema::StablehloWhileOptions::second)},
      {Builtin::STABLEHLO_COMPOSITE, "body", field(&schema::CompositeOptions::decomposition_subgraph_index)},
      {Builtin::STABLEHLO_REDUCE, "body", field(&schema::StablehloReduceOptions::body_subgraph_index), true},
      {Builtin::STABLEHLO_REDUCE_WINDOW, "body", field(&schema::StablehloReduceWindowOptions::body_subgraph_index), true},
      {Builtin::STABLEHLO_SCATTER, "body", field(&schema::StablehloScatterOptions::update_computation_subgraph_index), true},
      {Builtin::STABLEHLO_SORT, "comparator", field(&schema::StablehloSortOptions::comparator_subgraph_index), true},
  };
  return list;
}

}  // namespace

Expected<std::vector<Region>> regions_of(const Node& node) {
  const schema::Model& model = node.graph().model();
  const Builtin code = code_of(model, node.op());
  std::vector<Region> out;
  const auto add = [&](int64_t number, const std::string& role, bool is_function) -> Status {
    const int64_t count = model.subgraphs()->size();
    const bool is_subgraph = number >= 1 && number < count;
    if (is_subgraph) out.push_back({static_cast<int32_t>(number), role, is_function});
    if (is_subgraph || code == Builtin::STABLEHLO_SCATTER) return {};
    return node.error("its {} is subgraph {}, expected from 1 to {}", role, number, count - 1);
  };
  for (const Row& row : rows())
    if (const auto number = row.code == code ? row.number(node) : std::nullopt)
      STREW_TRY(add(*number, row.role, row.is_function));
  const auto* branches = node.options<schema::StablehloCaseOptions>();
  if (code == Builtin::STABLEHLO_CASE && branches != nullptr)
    for (const int64_t number : list_of(branches->branch_subgraph_indices()))
      STREW_TRY(add(number, "branch_" + std::to_string(out.size()), false));
  return out;
}

}  // namespace strew::inline v0::tflite
