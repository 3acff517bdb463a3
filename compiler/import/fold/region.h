// Region: elementwise operations that only one kernel needs, and the graph they make inside it.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/import/fold/folds.h"
#include "compiler/op/access_dims.h"

namespace strew::fold {

inline constexpr size_t kMaxFused = 256;  ///< nodes that operations bring into one graph

/// The shape one element of the graph stands in: updates, or what a gather gives.
struct Frame {
  std::vector<int64_t> dims;
  std::vector<int> positions, window;  ///< dims of either kind
  /// `access`: of the op whose slices have this shape.
  Frame(const std::vector<int64_t>& shape, const AccessDims& access);
};

struct Region {
  std::vector<int> values;    ///< maps of the frame's dims that nothing outside reads (the last but by the kernel), in order
  std::map<int, int> leaves;  ///< what they read, and how often
};
/// The region that ends in `root`, which the kernel reads `readers` times; no values if root is no such map or read elsewhere too.
Region region_of(const FoldContext& context, int root, int readers, const std::vector<int64_t>& dims);

/// A tensor as the graph reads it.
struct Input {
  ExtraKind kind = ExtraKind::per_element;
  int value = -1;
};
/// The narrowest way to read `value` per element of the frame; nothing: it is a constant.
std::optional<Input> input_of(const FoldContext& context, const Frame& frame, int value);

class GraphBuilder {
 public:
  GraphBuilder(const FoldContext& context, Frame frame, std::vector<Extra> before)
      : extras(std::move(before)), context_(context), frame_(std::move(frame)) {}

  Expr expr;
  std::vector<Extra> extras;
  std::vector<int> added;  ///< values of the extras that are new, in their order

  int32_t push(ExprNode node);
  /// `value` is what node stands for.
  void set(int value, int32_t node) { known_[value] = node; }
  /// The nodes of the region's operations; that of its last, or nothing where extras run out.
  std::optional<int32_t> build(const Region& region);

 private:
  std::optional<int32_t> leaf(int value);
  std::optional<int32_t> extra(const Input& input);

  const FoldContext& context_;
  Frame frame_;
  std::map<int, int32_t> known_;
  std::map<std::pair<ExtraKind, int>, int32_t> inputs_;
};

}  // namespace strew::fold
