// Region: a tree of elementwise operations that only one kernel needs. GraphBuilder turns it into nodes of that kernel's expression graph.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/import/fusion/steps.h"
#include "compiler/op/access_dims.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::fusion {

inline constexpr size_t kMaxFused = 256;  ///< how many nodes operations may add to one graph

/// The dims over which a kernel's graph is evaluated: those of a scatter's updates or of a gather's result.
struct Frame {
  std::vector<int64_t> dims;
  std::vector<int> positions, window;  ///< which of `dims` walk index positions, which walk the window
  /// `access`: the dims of the op whose updates or result have this shape.
  Frame(const std::vector<int64_t>& shape, const AccessDims& access);
};

struct Region {
  /// Results of elementwise operations over the frame's dims, in order. Only the region reads them; the last one only the kernel reads.
  std::vector<int> values;
  std::map<int, int> leaves;  ///< values that the region reads from outside, and how often
};
/// The region whose last operation gives `root`, which the kernel reads `readers` times. Empty if `root` is not the result of an
/// elementwise operation over `dims` or has other readers.
Region region_of(const FusionContext& context, int root, int readers, const std::vector<int64_t>& dims);

/// A tensor that the graph reads, and how its extra input is indexed.
struct Input {
  ExtraKind kind = ExtraKind::per_element;
  int value = -1;
};
/// The narrowest way to read `value` at each element of the frame; nullopt if `value` is a constant.
std::optional<Input> input_of(const FusionContext& context, const Frame& frame, int value);

/// Chooses the leaf that becomes a scatter's update tensor: a value of the frame's shape that is not `except`, preferably one that is not
/// interpreted. -1: there is none.
int choose_update(const FusionContext& context, const Frame& frame, const Region& region, int except = -1);

class GraphBuilder {
 public:
  GraphBuilder(const FusionContext& context, Frame frame, std::vector<Extra> before)
      : extras(std::move(before)), context_(context), frame_(std::move(frame)) {}

  ExprBuilder graph;
  std::vector<Extra> extras;
  std::vector<int> added;  ///< values of the new extras, in their order

  /// From now on `value` is computed by `node`.
  void set(int value, int32_t node) { known_[value] = node; }
  int32_t known(int value) const { return known_.at(value); }
  /// Adds the nodes of the region's operations. Returns the node of the last operation, or nullopt if the graph would need more than
  /// kMaxExtras extras.
  std::optional<int32_t> build(const Region& region);

 private:
  std::optional<int32_t> leaf(int value);
  std::optional<int32_t> extra(const Input& input);

  const FusionContext& context_;
  Frame frame_;
  std::map<int, int32_t> known_;
  std::map<std::pair<ExtraKind, int>, int32_t> inputs_;
};

}  // namespace strew::inline v0::fusion
