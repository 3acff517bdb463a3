// See op_blueprint.h. Finds out which dims of the op must be equal, gives each group a variable, and chooses values
// for the open ones. Tested by tests/unit/differential/differential_test.cc and the replay of failing_seeds.txt.
#include "tests/differential/op_blueprint.h"

#include <algorithm>
#include <cstdlib>

namespace strew::test {
namespace {

constexpr int64_t kOperandExtent = 9, kPositions = 5, kWindow = 4;

class Reader {
 public:
  explicit Reader(const Op& op) : op_(op) { out_.frame = op; }
  Blueprint run();

 private:
  int variable(int64_t most, int at_most, bool position) {
    out_.variables.push_back({most, at_most, position});
    return static_cast<int>(out_.variables.size()) - 1;
  }
  /// The first static extent among those that must be equal; `open` if there is none.
  static int64_t known(const std::vector<int64_t>& extents, int64_t open) {
    for (int64_t extent : extents)
      if (extent != kDynamic) return extent;
    return open;
  }
  TensorPlan plan(const TensorType& type, const std::vector<int>& variables) const;
  void operand_dims();
  void position_dims();
  void window_dims();
  void extras(const std::vector<Extra>& list);
  void lookups(const std::vector<Lookup>& list);

  const Op& op_;
  Blueprint out_;
  std::vector<TensorType> indexed_, window_side_;  // of a scatter: operands and results; updates. Of a gather: operand; result
  DimensionNumbers numbers_;
  std::vector<int> operand_, positions_, window_, window_side_variables_;  // numbers of variables; window_ has one per window dim
};

TensorPlan Reader::plan(const TensorType& type, const std::vector<int>& variables) const {
  TensorPlan t;
  t.dtype = type.dtype;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    const bool open = type.dims[d] == kDynamic;
    const int v = variables[d];
    // A static extent that differs from its variable's (a smaller batch) stays a constant.
    if (!open && (v < 0 || out_.variables[static_cast<size_t>(v)].most != type.dims[d]))
      t.dims.push_back({-1, type.dims[d], false});
    else
      t.dims.push_back({v, 0, open});
  }
  if (type.strides.empty()) return t;
  t.layout.contiguous = false;
  t.layout.given = type.strides;
  for (int64_t stride : type.strides) t.layout.dynamic.push_back(stride == kDynamic);
  return t;
}

void Reader::operand_dims() {
  for (size_t d = 0; d < indexed_[0].dims.size(); ++d) {
    std::vector<int64_t> extents;
    for (const TensorType& t : indexed_) extents.push_back(t.dims[d]);
    operand_.push_back(variable(known(extents, kOperandExtent), -1, false));
  }
}

void Reader::position_dims() {
  const TensorType& indices = indices_of(op_);
  std::vector<size_t> scatter_dims;
  for (size_t d = 0; d < window_side_[0].dims.size(); ++d)
    if (std::find(numbers_.window_dims.begin(), numbers_.window_dims.end(), static_cast<int64_t>(d)) ==
        numbers_.window_dims.end())
      scatter_dims.push_back(d);
  size_t nth = 0;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == numbers_.index_vector_dim) continue;
    std::vector<int64_t> extents{indices.dims[static_cast<size_t>(d)]};
    for (const TensorType& t : window_side_) extents.push_back(t.dims[scatter_dims[nth]]);
    ++nth;
    const auto batch = std::find(numbers_.indices_batching_dims.begin(), numbers_.indices_batching_dims.end(), d) -
                       numbers_.indices_batching_dims.begin();
    int same = -1;
    if (batch < static_cast<ptrdiff_t>(numbers_.operand_batching_dims.size()))
      same = operand_[static_cast<size_t>(numbers_.operand_batching_dims[static_cast<size_t>(batch)])];
    const int64_t open = same >= 0 ? out_.variables[static_cast<size_t>(same)].most : kPositions;
    const int64_t extent = known(extents, open);
    positions_.push_back(same >= 0 && extent == open ? same : variable(extent, same, true));
  }
}

void Reader::window_dims() {
  const Gather* gather = std::get_if<Gather>(&op_);
  size_t nth = 0;
  for (size_t d = 0; d < operand_.size(); ++d) {
    const auto has = [&](const std::vector<int64_t>& list) {
      return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
    };
    if (has(numbers_.removed_dims) || has(numbers_.operand_batching_dims)) {
      out_.window.push_back({-1, gather != nullptr ? gather->slice_sizes[d] : 1, false});
      continue;
    }
    std::vector<int64_t> extents;
    for (const TensorType& t : window_side_) extents.push_back(t.dims[static_cast<size_t>(numbers_.window_dims[nth])]);
    if (gather != nullptr) extents.push_back(gather->slice_sizes[d]);
    const int64_t most = out_.variables[static_cast<size_t>(operand_[d])].most;
    window_.push_back(variable(known(extents, std::min(kWindow, most)), operand_[d], false));
    out_.window.push_back({window_.back(), 0, false});
    ++nth;
  }
}

void Reader::extras(const std::vector<Extra>& list) {
  for (const Extra& extra : list) {
    switch (extra.kind) {
      case ExtraKind::per_element:
        out_.extras.push_back(plan(extra.type, window_side_variables_));
        break;
      case ExtraKind::per_position:
        out_.extras.push_back(plan(extra.type, positions_));
        break;
      case ExtraKind::per_window:
        out_.extras.push_back(plan(extra.type, window_));
        break;
      case ExtraKind::scalar:
        out_.extras.push_back(plan(extra.type, {}));
        break;
    }
  }
}

void Reader::lookups(const std::vector<Lookup>& list) {
  for (const Lookup& lookup : list) {
    const Gather& g = lookup.gather;
    const auto has = [](const std::vector<int64_t>& dims, size_t d) {
      return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
    };
    LookupPlan plan_of;
    std::vector<int> of_table;
    size_t w = 0, b = 0;
    for (size_t d = 0; d < g.operand.dims.size(); ++d) {
      DimRef window{-1, g.slice_sizes[d], false};
      if (has(g.dims.operand_batching_dims, d)) {
        const int64_t indices_dim = g.dims.indices_batching_dims[b++];
        of_table.push_back(positions_[static_cast<size_t>(indices_dim - (g.dims.index_vector_dim < indices_dim ? 1 : 0))]);
      } else if (has(g.dims.removed_dims, d)) {
        of_table.push_back(variable(known({g.operand.dims[d]}, kOperandExtent), -1, false));
      } else {
        of_table.push_back(window_[w++]);
        if (g.slice_sizes[d] == kDynamic) window = {of_table.back(), 0, true};
      }
      plan_of.window.push_back(window);
    }
    plan_of.table = plan(g.operand, of_table);
    std::vector<int> of_indices = positions_;
    if (g.dims.index_vector_dim < g.indices.rank()) of_indices.insert(of_indices.begin() + g.dims.index_vector_dim, -1);
    plan_of.indices = plan(g.indices, of_indices);
    for (const TensorType& type : g.more_indices) plan_of.more_indices.push_back(plan(type, of_indices));
    out_.lookups.push_back(std::move(plan_of));
  }
}

Blueprint Reader::run() {
  const Scatter* s = std::get_if<Scatter>(&op_);
  const Gather* g = std::get_if<Gather>(&op_);
  if (s != nullptr) {
    indexed_ = s->operands;
    indexed_.insert(indexed_.end(), s->results.begin(), s->results.end());
    window_side_ = s->updates;
  } else {
    indexed_ = {g->operand};
    window_side_ = {g->result};
  }
  numbers_ = dims_of(op_);
  operand_dims();
  position_dims();
  window_dims();
  size_t p = 0, w = 0;
  for (size_t d = 0; d < window_side_[0].dims.size(); ++d) {
    const bool is_window = std::find(numbers_.window_dims.begin(), numbers_.window_dims.end(), static_cast<int64_t>(d)) !=
                           numbers_.window_dims.end();
    window_side_variables_.push_back(is_window ? window_[w++] : positions_[p++]);
  }
  std::vector<int> index_variables = positions_;
  if (numbers_.index_vector_dim < indices_of(op_).rank())
    index_variables.insert(index_variables.begin() + numbers_.index_vector_dim, -1);
  out_.indices = plan(indices_of(op_), index_variables);
  for (const TensorType& type : std::visit([](const auto& each) { return each.more_indices; }, op_))
    out_.more_indices.push_back(plan(type, index_variables));
  out_.dynamic_slice.assign(operand_.size(), false);
  if (s != nullptr) {
    for (const TensorType& t : s->operands) out_.operands.push_back(plan(t, operand_));
    for (const TensorType& t : s->results) out_.results.push_back(plan(t, operand_));
    for (const TensorType& t : s->updates) out_.updates.push_back(plan(t, window_side_variables_));
    extras(s->extras);
    lookups(s->lookups);
  } else {
    out_.operands.push_back(plan(g->operand, operand_));
    out_.results.push_back(plan(g->result, window_side_variables_));
    extras(g->extras);
    for (size_t d = 0; d < operand_.size(); ++d) out_.dynamic_slice[d] = g->slice_sizes[d] == kDynamic;
  }
  return std::move(out_);
}

}  // namespace

Blueprint blueprint_of(const Op& op) { return Reader(op).run(); }

}  // namespace strew::test
