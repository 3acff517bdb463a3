// Fusion: elementwise operations become nodes of a kernel's expression graph. The graph rounds every node to its own dtype, as the
// interpreter does (semantics.md section 4), and evaluates the nodes once per update or element, so the results keep every bit.
//
// A tensor that the graph reads becomes an extra input of the narrowest kind that fits: scalar, per_window (a bias), per_position (a weight
// per row), or per_element. Operations on tensors smaller than the frame stay interpreted: in the graph they would be computed again for
// every element. So does an operation whose result has another reader.
//
// A scatter needs an update tensor of its own shape, so updates computed from constants and biases alone are not fused. Tested by
// tests/unit/compiler/import/fusion/fusion_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/fusion/region.h"
#include "compiler/op/combiner.h"
#include "compiler/op/ordered.h"

namespace strew::inline v0::fusion {
namespace {

/// The graph of `s`, with update j computed from the value updates[j] by regions[j]. An empty region leaves its update as it is.
std::optional<Expr> graph_of(const FusionContext& context, const Scatter& s, const std::vector<Region>& regions,
                             const std::vector<int>& updates, GraphBuilder& builder) {
  const Expr before = combine_graph(Op(s));
  std::vector<int32_t> moved;
  for (const ExprNode& node : before.nodes) {
    const auto pair = static_cast<size_t>(node.index);
    if (node.op != ExprOp::update || regions[pair].values.empty()) {
      moved.push_back(builder.graph.copy(node, moved));
      continue;
    }
    builder.set(updates[pair], builder.graph.update(node.index, context.reader.type(updates[pair]).dtype));
    const auto result = builder.build(regions[pair]);
    if (!result) return std::nullopt;
    moved.push_back(*result);
  }
  std::vector<int32_t> results;
  for (const int32_t result : before.results) results.push_back(moved[result]);
  return ordered(builder.graph.returns(std::move(results)));
}

}  // namespace

void fuse_updates(const FusionContext& context, int number) {
  const auto* scatter = std::get_if<Scatter>(&*context.kernel(number).op);
  if (scatter == nullptr || scatter->accumulate != Accumulate::native) return;
  Scatter fused = *scatter;
  const Frame frame(fused.updates[0].dims, context.kernel(number).op.access());
  const std::vector<int> before = context.kernel(number).tensors();
  std::vector<int> arguments = before;
  const size_t first = indices_slot(context.kernel(number).op) + 1;
  std::vector<Region> regions(fused.updates.size());
  std::vector<int> updates(fused.updates.size(), -1);
  size_t count = 0;
  for (size_t j = 0; j < regions.size(); ++j) {
    const int root = before[first + j];
    const auto readers = static_cast<int>(std::count(before.begin(), before.end(), root));
    Region region = region_of(context, root, readers, frame.dims);
    if (region.values.empty() || (updates[j] = choose_update(context, frame, region)) < 0) continue;
    count += region.values.size();
    regions[j] = std::move(region);
    arguments[first + j] = updates[j];
    fused.updates[j] = context.reader.type(updates[j]);
  }
  if (count == 0) return;
  GraphBuilder builder(context, frame, fused.extras);
  auto expr = graph_of(context, *scatter, regions, updates, builder);
  if (!expr) return;
  set_combiner(fused, std::move(*expr));
  fused.extras = std::move(builder.extras);
  arguments.insert(arguments.end(), builder.added.begin(), builder.added.end());
  replace_op(context, number, std::move(fused), arguments, ComputeDisposition::fused,
             "fused: " + operations(count) + " on the updates");
}

size_t fuse_result(const FusionContext& context, int compute) {
  const Compute& last = context.program.compute(compute);
  if (!context.program.is_needed(compute) || last.as<MapOp>() == nullptr) return 0;
  const int root = context.program.result_of(compute);
  const Region region = region_of(context, root, context.program.readers(root), last.results[0].dims);
  int number = -1, gathered = -1;
  for (const auto& [leaf, count] : region.leaves) {
    const int gather = context.gather_of(leaf, count);
    if (gather <= number || std::get<Gather>(*context.kernel(gather).op).result.dims != last.results[0].dims) continue;
    number = gather;
    gathered = leaf;
  }
  const size_t seen = region.values.size();
  if (number < 0) return seen;
  Gather fused = std::get<Gather>(*context.kernel(number).op);
  GraphBuilder builder(context, Frame(fused.result.dims, context.kernel(number).op.access()), fused.extras);
  const Expr before = combine_graph(Op(fused));
  std::vector<int32_t> moved;
  for (const ExprNode& node : before.nodes) moved.push_back(builder.graph.copy(node, moved));
  builder.set(gathered, moved[before.results[0]]);
  const auto result = builder.build(region);
  if (!result) return seen;
  for (const int value : builder.added)
    if (context.program.last_kernel(value) >= number) return seen;
  fused.expr = ordered(builder.graph.returns({*result}));
  fused.extras = std::move(builder.extras);
  fused.result = last.results[0];
  std::vector<int> arguments = context.kernel(number).tensors();
  arguments.insert(arguments.end(), builder.added.begin(), builder.added.end());
  if (replace_op(context, number, std::move(fused), arguments, ComputeDisposition::fused,
                 "fused: " + operations(region.values.size()) + " on what is gathered"))
    context.program.become_result(root, number, ComputeDisposition::fused);
  return seen;
}

}  // namespace strew::inline v0::fusion
