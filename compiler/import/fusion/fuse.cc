// Fusion: elementwise operations become nodes of a kernel's expression graph. The graph rounds every node to its own dtype, as the
// interpreter does (semantics.md section 4), and evaluates the nodes once per update or element, so the results keep every bit.
//
// A tensor that the graph reads becomes an extra input of the narrowest kind that fits: scalar, per_window (a bias), per_position (a weight
// per row), or per_element. Operations on tensors smaller than the frame stay interpreted: in the graph they would be computed again for
// every element. So does an operation whose result has another reader, unless all of them are scatters that have it as updates: then each computes it, if
// what it is computed from has fewer bytes than storing it and reading it again moves. That rule is the same on every machine (see lookups.cc).
//
// A scatter needs an update tensor of its own shape, so updates computed from constants and biases alone are not fused. Tested by
// tests/unit/compiler/import/fusion/fusion_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/import/fusion/region.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "compiler/op/expr_math.h"
#include "compiler/op/ordered.h"
#include "strew/tensor.h"

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

/// Bytes that are moved for updates that `readers` scatters read: computed in each of them, or once, and stored.
struct UpdateBytes {
  int64_t computed_again, stored;
};
/// Nothing if the region should not be computed more than once: it is long, calls functions, or has open dims.
std::optional<UpdateBytes> bytes_of(const FusionContext& context, const Frame& frame, const Region& region, int readers) {
  constexpr size_t kMostNodes = 16;
  size_t nodes = 0;
  for (const int value : region.values)
    for (const ExprNode& node : context.program.compute_of(value)->as<MapOp>()->function.nodes)
      if (find_math_function(node.op) != nullptr || (!is_input(node.op) && ++nodes > kMostNodes)) return std::nullopt;
  if (!is_static(frame.dims)) return std::nullopt;
  const auto bytes = [&](int value) {
    const TensorType& type = context.reader.type(value);
    return is_static(type.dims) ? storage_bytes(type.dtype, element_count(type.dims).value_or(0)) : 0;
  };
  int64_t read = 0;
  std::set<int> seen;
  for (const auto& [leaf, count] : region.leaves)
    if (const auto input = input_of(context, frame, leaf); input && seen.insert(input->value).second) read += bytes(input->value);
  return UpdateBytes{readers * read, read + (readers + 1) * bytes(region.values.back())};
}

class UpdateFusion {
 public:
  explicit UpdateFusion(const FusionContext& context) : context_(context) {
    for (int k = 0; k < static_cast<int>(context.program.kernels().size()); ++k)
      if (const auto* scatter = scatter_of(k))
        for (size_t j = 0; j < scatter->updates.size(); ++j) ++reads_[context.kernel(k).tensor(first_update(k) + j)];
  }

  void run() {
    for (int k = 0; k < static_cast<int>(context_.program.kernels().size()); ++k)
      if (scatter_of(k) != nullptr) fuse(k);
  }

 private:
  const Scatter* scatter_of(int number) const {
    const auto* scatter = std::get_if<Scatter>(&*context_.kernel(number).op);
    return scatter != nullptr && scatter->accumulate == Accumulate::native ? scatter : nullptr;
  }
  size_t first_update(int number) const { return indices_slot(context_.kernel(number).op) + 1; }

  /// The operations that compute `root`, which the kernel reads `own` times; those that other scatters need, too, if they are worth computing again.
  Region region(const Frame& frame, int root, int own, std::string& note) const {
    const int readers = context_.program.readers(root);
    const auto known = reads_.find(root);
    if (readers == own || known == reads_.end() || known->second != readers) return region_of(context_, root, own, frame.dims);
    Region out = region_of(context_, root, readers, frame.dims);
    if (out.values.empty()) return out;
    const std::optional<UpdateBytes> bytes = bytes_of(context_, frame, out, readers);
    if (!bytes || bytes->computed_again > bytes->stored) return {};
    note += fmt::format(", which {} scatters compute: {} bytes are moved, where stored updates would make it {}", readers,
                        bytes->computed_again, bytes->stored);
    return out;
  }

  void fuse(int number) {
    const Scatter scatter = *scatter_of(number);
    Scatter fused = scatter;
    const Frame frame(fused.updates[0].dims, context_.kernel(number).op.access());
    const std::vector<int> before = context_.kernel(number).tensors();
    std::vector<int> arguments = before;
    const size_t first = first_update(number);
    std::vector<Region> regions(fused.updates.size());
    std::vector<int> updates(fused.updates.size(), -1);
    size_t count = 0;
    std::string shared;
    for (size_t j = 0; j < regions.size(); ++j) {
      const int root = before[first + j];
      Region found = region(frame, root, static_cast<int>(std::count(before.begin(), before.end(), root)), shared);
      if (found.values.empty() || (updates[j] = choose_update(context_, frame, found)) < 0) continue;
      count += found.values.size();
      regions[j] = std::move(found);
      arguments[first + j] = updates[j];
      fused.updates[j] = context_.reader.type(updates[j]);
    }
    if (count == 0) return;
    GraphBuilder builder(context_, frame, fused.extras);
    auto expr = graph_of(context_, scatter, regions, updates, builder);
    if (!expr) return;
    set_combiner(fused, std::move(*expr));
    fused.extras = std::move(builder.extras);
    arguments.insert(arguments.end(), builder.added.begin(), builder.added.end());
    if (!replace_op(context_, number, std::move(fused), arguments, ComputeDisposition::fused,
                    "fused: " + operations(count) + " on the updates" + shared))
      return;
    for (size_t j = 0; j < regions.size(); ++j) --reads_[before[first + j]];
    for (size_t j = 0; j < regions.size(); ++j) ++reads_[arguments[first + j]];
  }

  const FusionContext& context_;
  std::map<int, int> reads_;  ///< per value: how often scatters read it as updates
};

}  // namespace

void fuse_updates(const FusionContext& context) { UpdateFusion(context).run(); }

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
