// STABLEHLO_SCATTER and STABLEHLO_GATHER: StableHLO's scatter and gather as TensorFlow Lite stores them, with one operand and without
// batching dims. The scatter's region is another subgraph. It has no operator (then the update is the result) or one operator of kCombiners
// on its two inputs, whose order counts in subtract and divide. The policies are those of StableHLO: skip_element and clamp.
//
// LiteRT treats every region without operators as an assignment, whatever the region returns; this importer requires that it returns its
// second input. Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/error/tflite_error_test.cc and
// tests/oracle/litert_models.py.
#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"
#include "compiler/op/combiner.h"
#include "strew/builder.h"

namespace strew::inline v0::tflite {
namespace {

using Builtin = schema::BuiltinOperator;

struct CombinerRow {
  Builtin op;
  CombinerKind kind;
};
constexpr CombinerRow kCombiners[] = {
    {Builtin::STABLEHLO_ADD, CombinerKind::add},
    {Builtin::STABLEHLO_MULTIPLY, CombinerKind::mul},
    {Builtin::STABLEHLO_MAXIMUM, CombinerKind::max},
    {Builtin::STABLEHLO_MINIMUM, CombinerKind::min},
    {Builtin::STABLEHLO_AND, CombinerKind::bit_and},
    {Builtin::STABLEHLO_OR, CombinerKind::bit_or},
    {Builtin::ADD, CombinerKind::add},
    {Builtin::MUL, CombinerKind::mul},
    {Builtin::MAXIMUM, CombinerKind::max},
    {Builtin::MINIMUM, CombinerKind::min},
    {Builtin::STABLEHLO_SUBTRACT, CombinerKind::sub},
    {Builtin::STABLEHLO_DIVIDE, CombinerKind::div},
};

std::vector<int32_t> numbers(const flatbuffers::Vector<int32_t>* list) {
  return list == nullptr ? std::vector<int32_t>() : std::vector<int32_t>(list->begin(), list->end());
}

/// The number of the function that the operator applies to its result; 0: none.
int fused_activation(const schema::Operator& op) {
  const schema::ActivationOptions *add = op.builtin_options_as_AddOptions(), *mul = op.builtin_options_as_MulOptions();
  return add != nullptr ? add->fused_activation_function() : mul != nullptr ? mul->fused_activation_function() : 0;
}

/// The combiner kind of the region's only operator.
Expected<CombinerKind> combiner_of(const Node& node, const schema::Operator& op, const std::string& what,
                                   const std::vector<int32_t>& inputs, int32_t output) {
  STREW_ASSIGN(const std::string name, operator_name(node.graph().model(), op, node.location() + ": " + what));
  const auto code = static_cast<Builtin>(operator_code(*node.graph().model().operator_codes()->Get(op.opcode_index())));
  for (const CombinerRow& row : kCombiners) {
    if (row.op != code) continue;
    const std::vector<int32_t> read = numbers(op.inputs()), swapped = {inputs[1], inputs[0]};
    const bool commutes = find_combiner(row.kind)->commutes;
    if (fused_activation(op) != 0) {
      return node.refuse(what + " (" + name + ") has fused activation " + std::to_string(fused_activation(op)) +
                         ", expected none (0)");
    }
    if ((read != inputs && !(commutes && read == swapped)) || numbers(op.outputs()) != std::vector<int32_t>{output}) {
      return node.error(what + " (" + name +
                        ") does not combine the region's two inputs into its output, expected current and update" +
                        (commutes ? "" : " in this order"));
    }
    return row.kind;
  }
  std::string known;
  for (const CombinerRow& row : kCombiners)
    known += (known.empty() ? "" : ", ") + std::string(schema::EnumNameBuiltinOperator(row.op));
  return Status(Code::unsupported, node.location() + ": " + what + " (" + name + ") is no combiner, expected one of: " + known);
}

Expected<CombinerKind> read_region(Node& node, int32_t number) {
  const auto& subgraphs = *node.graph().model().subgraphs();
  if (number < 1 || static_cast<uint32_t>(number) >= subgraphs.size()) {
    return node.error("update_computation_subgraph_index is " + std::to_string(number) + ", expected from 1 to " +
                      std::to_string(static_cast<int64_t>(subgraphs.size()) - 1));
  }
  node.graph().mark_region(number);
  const schema::SubGraph& region = *subgraphs.Get(static_cast<uint32_t>(number));
  const std::string where = "its region, subgraph " + std::to_string(number) + ", ";
  const std::vector<int32_t> inputs = numbers(region.inputs()), outputs = numbers(region.outputs());
  if (inputs.size() != 2 || outputs.size() != 1 || inputs[0] == inputs[1]) {
    return node.error(where + "has " + std::to_string(inputs.size()) + " inputs and " + std::to_string(outputs.size()) +
                      " outputs, expected two tensors (current, update) and 1");
  }
  const uint32_t count = region.operators() == nullptr ? 0 : region.operators()->size();
  if (count > 1) {
    return Status(Code::unsupported,
                  node.location() + ": " + where + "has " + std::to_string(count) + " operators, expected at most 1");
  }
  if (count == 1) return combiner_of(node, *region.operators()->Get(0), where + "operator 0", inputs, outputs[0]);
  if (outputs[0] != inputs[1]) {
    return node.error(where + "has no operator and returns tensor " + std::to_string(outputs[0]) +
                      ", expected its second input, " + std::to_string(inputs[1]) + ", or one operator");
  }
  return CombinerKind::assign;
}

}  // namespace

Status import_stablehlo_scatter(Node& node) {
  STREW_TRY(node.check_signature(3, 1));
  const schema::StablehloScatterOptions* options = node.op().builtin_options_2_as_StablehloScatterOptions();
  if (options == nullptr) return node.error("it has no StablehloScatterOptions, expected them in builtin_options_2");
  STREW_ASSIGN(const CombinerKind kind, read_region(node, options->update_computation_subgraph_index()));
  STREW_ASSIGN(const int operand, node.input(0, "input"));
  STREW_ASSIGN(const int indices, node.input(1, "scatter_indices"));
  STREW_ASSIGN(const int updates, node.input(2, "updates"));
  if (node.type(updates).dtype != node.type(operand).dtype) {
    return node.error("updates has element type " + std::string(name(node.type(updates).dtype)) + ", expected input's " +
                      std::string(name(node.type(operand).dtype)));
  }
  const Expected<Scatter> op = ScatterBuilder()
                                   .operand(node.type(operand))
                                   .indices(node.type(indices))
                                   .updates(node.type(updates))
                                   .update_window_dims(list_of(options->update_window_dims()))
                                   .inserted_window_dims(list_of(options->inserted_window_dims()))
                                   .scatter_dims_to_operand_dims(list_of(options->scatter_dims_to_operand_dims()))
                                   .index_vector_dim(options->index_vector_dim())
                                   .combine(kind)
                                   .oob(OobPolicy::skip_element)
                                   .indices_are_sorted(options->indices_are_sorted())
                                   .unique_indices(options->unique_indices())
                                   .build();
  return node.add_kernel(op, {.arguments = {operand, indices, updates}});
}

Status import_stablehlo_gather(Node& node) {
  STREW_TRY(node.check_signature(2, 1));
  const schema::StablehloGatherOptions* options = node.op().builtin_options_2_as_StablehloGatherOptions();
  if (options == nullptr) return node.error("it has no StablehloGatherOptions, expected them in builtin_options_2");
  STREW_ASSIGN(const int operand, node.input(0, "operand"));
  STREW_ASSIGN(const int indices, node.input(1, "start_indices"));
  const Expected<Gather> op = GatherBuilder()
                                  .operand(node.type(operand))
                                  .indices(node.type(indices))
                                  .offset_dims(list_of(options->offset_dims()))
                                  .collapsed_slice_dims(list_of(options->collapsed_slice_dims()))
                                  .start_index_map(list_of(options->start_index_map()))
                                  .index_vector_dim(options->index_vector_dim())
                                  .slice_sizes(list_of(options->slice_sizes()))
                                  .oob(OobPolicy::clamp)
                                  .indices_are_sorted(options->indices_are_sorted())
                                  .build();
  return node.add_kernel(op, {.arguments = {operand, indices}});
}

}  // namespace strew::inline v0::tflite
