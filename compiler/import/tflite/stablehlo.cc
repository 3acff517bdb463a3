// STABLEHLO_SCATTER and STABLEHLO_GATHER: StableHLO's scatter and gather as TensorFlow Lite stores them, with one operand and without
// batching dims. The scatter's region is another subgraph. It has no operator (then the update is the result) or one operator that is a combiner
// on its two inputs, whose order counts in subtract and divide. The policies are those of StableHLO: skip_element and clamp.
//
// LiteRT treats every region without operators as an assignment, whatever the region returns; this importer requires that it returns its
// second input. Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/error/tflite_error_test.cc and
// tests/oracle/litert_models.py.
#include "compiler/import/node/operations.h"
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/combiner.h"
#include "strew/builder.h"

namespace strew::inline v0::tflite {
namespace {

/// The combiner that an operator of two operands computes; null if it computes none.
const CombinerTraits* find_combiner(const Operator& op) {
  return op.form.inputs == kOperands[2] ? strew::find_combiner(op.form.expr) : nullptr;
}

/// The combiner kind of the region's only operator.
Expected<CombinerKind> combiner_of(const Node& node, const schema::Operator& op, const std::string& what,
                                   const std::vector<int64_t>& inputs, int64_t output) {
  const schema::Model& model = node.graph().model();
  STREW_ASSIGN(const std::string name, operator_name(model, op, node.location() + ": " + what));
  const CombinerTraits* combiner = nullptr;
  std::vector<std::string_view> known;
  for (const Operator& row : operators()) {
    if (find_combiner(row) != nullptr) known.push_back(row.name);
    if (row.code == code_of(model, op)) combiner = find_combiner(row);
  }
  if (combiner == nullptr) return node.refuse("{} ({}) is no combiner, expected one of: {}", what, name, fmt::join(known, ", "));
  const std::vector<int64_t> read = list_of(op.inputs()), swapped = {inputs[1], inputs[0]};
  const bool commutes = combiner->commutes;
  if (const int activation = fused_activation(op); activation != 0)
    return node.refuse("{} ({}) has fused activation {}, expected none (0)", what, name, activation);
  if ((read != inputs && !(commutes && read == swapped)) || list_of(op.outputs()) != std::vector<int64_t>{output})
    return node.error("{} ({}) does not combine the region's two inputs into its output, expected current and update{}", what,
                      name, commutes ? "" : " in this order");
  return combiner->kind;
}

Expected<CombinerKind> read_region(Node& node, int32_t number) {
  const auto& subgraphs = *node.graph().model().subgraphs();
  if (number < 1 || static_cast<uint32_t>(number) >= subgraphs.size())
    return node.error("update_computation_subgraph_index is {}, expected from 1 to {}", number,
                      static_cast<int64_t>(subgraphs.size()) - 1);
  node.graph().mark_region(number);
  const schema::SubGraph& region = *subgraphs.Get(static_cast<uint32_t>(number));
  const std::string where = fmt::format("its region, subgraph {},", number);
  const std::vector<int64_t> inputs = list_of(region.inputs()), outputs = list_of(region.outputs());
  if (inputs.size() != 2 || outputs.size() != 1 || inputs[0] == inputs[1])
    return node.error("{} has {} inputs and {} outputs, expected two tensors (current, update) and 1", where, inputs.size(),
                      outputs.size());
  const uint32_t count = region.operators() == nullptr ? 0 : region.operators()->size();
  if (count > 1) return node.refuse("{} has {} operators, expected at most 1", where, count);
  if (count == 1) return combiner_of(node, *region.operators()->Get(0), where + " operator 0", inputs, outputs[0]);
  if (outputs[0] != inputs[1])
    return node.error("{} has no operator and returns tensor {}, expected its second input, {}, or one operator", where,
                      outputs[0], inputs[1]);
  return CombinerKind::assign;
}

}  // namespace

Expected<int> import_stablehlo_scatter(Node& node) {
  const auto* options = node.options<schema::StablehloScatterOptions>();
  if (options == nullptr) return node.error("it has no StablehloScatterOptions, expected them in builtin_options_2");
  STREW_ASSIGN(const CombinerKind kind, read_region(node, options->update_computation_subgraph_index()));
  const TensorType operand = node.type(node[0]), indices = node.type(node[1]), updates = node.type(node[2]);
  STREW_TRY(check_same_dtype(node, strew::operand(node, 2), strew::operand(node, 0)));
  const Expected<Scatter> op = ScatterBuilder()
                                   .operand(operand)
                                   .indices(indices)
                                   .updates(updates)
                                   .update_window_dims(list_of(options->update_window_dims()))
                                   .inserted_window_dims(list_of(options->inserted_window_dims()))
                                   .scatter_dims_to_operand_dims(list_of(options->scatter_dims_to_operand_dims()))
                                   .index_vector_dim(options->index_vector_dim())
                                   .combine(kind)
                                   .oob(OobPolicy::skip_element)
                                   .indices_are_sorted(options->indices_are_sorted())
                                   .unique_indices(options->unique_indices())
                                   .build();
  return node.kernel(op, node.arguments());
}

Expected<int> import_stablehlo_gather(Node& node) {
  const auto* options = node.options<schema::StablehloGatherOptions>();
  if (options == nullptr) return node.error("it has no StablehloGatherOptions, expected them in builtin_options_2");
  const Expected<Gather> op = GatherBuilder()
                                  .operand(node.type(node[0]))
                                  .indices(node.type(node[1]))
                                  .offset_dims(list_of(options->offset_dims()))
                                  .collapsed_slice_dims(list_of(options->collapsed_slice_dims()))
                                  .start_index_map(list_of(options->start_index_map()))
                                  .index_vector_dim(options->index_vector_dim())
                                  .slice_sizes(list_of(options->slice_sizes()))
                                  .oob(OobPolicy::clamp)
                                  .indices_are_sorted(options->indices_are_sorted())
                                  .build();
  return node.kernel(op, node.arguments());
}

}  // namespace strew::inline v0::tflite
