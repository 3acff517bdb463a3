// Finds a region from its root. A value comes after the values it is made of, so visiting values by descending number meets all readers of
// a value before the value itself; the value joins the region if the region holds all of its readers. Tested by
// tests/unit/compiler/import/fusion/fusion_test.cc.
#include "compiler/import/fusion/region.h"

#include <algorithm>
#include <numeric>

#include "compiler/op/limits.h"

namespace strew::inline v0::fusion {
namespace {

bool covers(const Reader& reader, const Frame& frame, const Element& element, const std::vector<int>& dims) {
  const std::vector<int64_t>& own = reader.type(element.value).dims;
  if (own.size() != dims.size()) return false;
  for (size_t d = 0; d < own.size(); ++d) {
    const int64_t extent = frame.dims[dims[d]];
    if (own[d] != extent || (own[d] != 1 && element.at[d].dim != dims[d])) return false;
  }
  return true;
}

/// The elementwise operation that gives `value`, if it may be part of a graph over `dims`; else null.
const Compute* map_over(const FusionContext& context, int value, const std::vector<int64_t>& dims) {
  const Program& program = context.program;
  const Compute* const map = program.type(value).dims == dims ? program.compute_of<MapOp>(value) : nullptr;
  const bool is_refused = map != nullptr && context.is_refused(program.value(value).index, map->as<MapOp>()->function);
  return is_refused ? nullptr : map;
}

/// Has the input one element per point of the frame? If it is read per position, the frame has no window dims.
bool is_whole(const FusionContext& context, const Frame& frame, const Input& input) {
  return context.reader.type(input.value).dims == frame.dims;
}

}  // namespace

Frame::Frame(const std::vector<int64_t>& shape, const AccessDims& access) : dims(shape) {
  for (size_t d = 0; d < access.slices.size(); ++d)
    (access.slices[d].operand_dim >= 0 ? window : positions).push_back(static_cast<int>(d));
}

Region region_of(const FusionContext& context, int root, int readers, const std::vector<int64_t>& dims) {
  Region out;
  std::map<int, int, std::greater<>> open{{root, readers}};
  size_t nodes = 0;
  while (!open.empty()) {
    const auto [value, seen] = *open.begin();
    open.erase(open.begin());
    const Compute* map = map_over(context, value, dims);
    const size_t added = map == nullptr ? 0 : map->as<MapOp>()->function.nodes.size();
    const bool enters = map != nullptr && context.program.readers(value) == seen && nodes + added <= kMaxFused;
    if (!enters) {
      out.leaves[value] += seen;
      continue;
    }
    nodes += added;
    out.values.push_back(value);
    for (int argument : map->arguments) ++open[argument];
  }
  std::reverse(out.values.begin(), out.values.end());
  return out;
}

std::optional<Input> input_of(const FusionContext& context, const Frame& frame, int value) {
  const Reader& reader = context.reader;
  const Quantity quantity = reader.quantity(reader.elements_of(value));
  if (reader.constant(quantity)) return std::nullopt;
  const int from = quantity.element.value;
  std::vector<int> all(frame.dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (reader.is_value(quantity)) {
    if (reader.type(from).dims.empty()) return Input{ExtraKind::scalar, from};
    if (covers(reader, frame, quantity.element, frame.window)) return Input{ExtraKind::per_window, from};
    if (covers(reader, frame, quantity.element, frame.positions)) return Input{ExtraKind::per_position, from};
    if (covers(reader, frame, quantity.element, all)) return Input{ExtraKind::per_element, from};
  }
  return Input{reader.type(value).dims.empty() ? ExtraKind::scalar : ExtraKind::per_element, value};
}

int choose_update(const FusionContext& context, const Frame& frame, const Region& region, int except) {
  int chosen = -1;
  for (const auto& [leaf, count] : region.leaves) {
    const auto input = input_of(context, frame, leaf);
    if (!input || input->value == except || !is_whole(context, frame, *input)) continue;
    const bool computed = context.program.value(input->value).kind == ValueKind::compute;
    if (chosen < 0 || !computed) chosen = input->value;
    if (!computed) break;
  }
  return chosen;
}

std::optional<int32_t> GraphBuilder::extra(const Input& input) {
  const auto known = inputs_.find({input.kind, input.value});
  if (known != inputs_.end()) return known->second;
  if (extras.size() >= static_cast<size_t>(kMaxExtras)) return std::nullopt;
  const TensorType& type = context_.reader.type(input.value);
  const int32_t node = graph.extra(static_cast<int32_t>(extras.size()), type.dtype);
  extras.push_back({input.kind, type});
  added.push_back(input.value);
  inputs_[{input.kind, input.value}] = node;
  return node;
}

std::optional<int32_t> GraphBuilder::leaf(int value) {
  const auto input = input_of(context_, frame_, value);
  if (!input) {
    const Scalar constant = *context_.reader.constant(context_.reader.quantity(context_.reader.elements_of(value)));
    return graph.literal(constant);
  }
  const auto known = is_whole(context_, frame_, *input) ? known_.find(input->value) : known_.end();
  return known != known_.end() ? known->second : extra(*input);
}

std::optional<int32_t> GraphBuilder::build(const Region& region) {
  for (const int value : region.values) {
    const Compute& map = *context_.program.compute_of(value);
    const Expr& function = map.as<MapOp>()->function;
    std::vector<int32_t> moved;
    for (const ExprNode& node : function.nodes) {
      if (node.op != ExprOp::extra) {
        moved.push_back(graph.copy(node, moved));
        continue;
      }
      const int argument = map.arguments[node.index];
      if (!known_.contains(argument)) {
        const auto found = leaf(argument);
        if (!found) return std::nullopt;
        known_[argument] = *found;
      }
      moved.push_back(known_[argument]);
    }
    known_[value] = moved[function.results[0]];
  }
  return known_[region.values.back()];
}

}  // namespace strew::inline v0::fusion
