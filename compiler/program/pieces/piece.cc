// See piece.h. First the dims of all members follow from those of the leaves. Then the graph is built from the last operation down: movement on the way to
// a leaf becomes the leaf's view. A value that is read in two views is computed in each of them.
//
// The first tensor that has an element for each of the result's becomes the updates; the others are extra inputs with strides, 0 along a broadcast dim.
#include "compiler/program/pieces/piece.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/number.h"
#include "compiler/op/combiner.h"
#include "compiler/op/limits.h"
#include "compiler/op/ordered.h"
#include "compiler/program/interpret/interpret.h"
#include "compiler/program/pieces/view.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {
namespace {

using Dims = std::vector<int64_t>;

/// What an expression reads.
struct Source {
  int value = -1, constant = -1;
  View view;
  bool is_scalar = false;  ///< of rank 0, in an expression of another rank
  friend bool operator==(const Source&, const Source&) = default;
};

/// A node of the expression: a source, a constant, or a function of other nodes.
struct Node {
  static Node of(int source) { return {source, std::nullopt, nullptr, {}}; }
  static Node of(const Scalar& literal) { return {-1, literal, nullptr, {}}; }
  int source = -1;
  std::optional<Scalar> literal;
  const Expr* function = nullptr;
  std::vector<int> arguments;
};

/// Makes the op's one window begin where the values `starts` say. It is an error if it leaves the tensor.
template <class Access>
void place(Access& op, const std::vector<int>& starts, const std::function<const Tensor&(int value)>& tensor) {
  for (size_t d = 0; d < starts.size(); ++d) {
    const TensorType type{tensor(starts[d]).dtype, {}, {}};
    if (d == 0)
      op.indices = type;
    else
      op.more_indices.push_back(type);
    op.dims.index_map.push_back(static_cast<int64_t>(d));
  }
  op.oob = OobPolicy::error;
}

class PieceBuilder {
 public:
  PieceBuilder(const Program& program, const Region& region, const std::function<const Tensor&(int)>& tensor,
               const PiecePlace& placement, bool has_literals)
      : program_(program), region_(region), tensor_(tensor), placement_(placement), has_literals_(has_literals) {
    const Compute* const last = region.members.empty() ? nullptr : &program.compute(region.last());
    if (last != nullptr && last->as<ReduceOp>() != nullptr) reduction_ = last;
  }

  std::variant<NoPiece, Alias, Piece> build() {
    if (!find_dims()) return NoPiece{};
    frame_ = dims_.at(reduction_ != nullptr ? reduction_->arguments[0] : region_.value);
    int64_t elements = 1;
    for (const int64_t extent : frame_) elements *= extent;
    if (elements == 0) return NoPiece{};
    std::vector<int> roots;
    if (reduction_ != nullptr)
      for (size_t i = 0; i < reduction_->results.size(); ++i) roots.push_back(node_of(reduction_->arguments[i], 0));
    else
      roots.push_back(node_of(region_.value, 0));
    if (apart_ >= 0 || is_bad_) return NoPiece{apart_};
    if (sources_.empty()) return NoPiece{};
    if (reduction_ == nullptr && placement_.is_all() && is_copy(roots[0]))
      return Alias{sources_[0].value, sources_[0].view.first, frame_};
    return emit(roots, elements);
  }
  bool has_no_source() const { return sources_.empty(); }
  std::optional<Dims> result_dims() {
    if (!find_dims()) return std::nullopt;
    return dims_.at(region_.value);
  }

 private:
  /// Movement on the way from the result to a value, the last one first: paths_[0] is none.
  struct Path {
    const Compute* move = nullptr;
    int value = -1;  ///< what the movement gives
    int outer = -1;
  };

  bool is_member(int value) const {
    const Value& v = program_.value(value);
    return v.kind == ValueKind::compute && std::ranges::find(region_.members, v.index) != region_.members.end();
  }

  /// Sets dims_ of every value in the region. False if an operand does not fit: the interpreter has the message.
  bool find_dims() {
    for (const int leaf : region_.leaves) dims_[leaf] = tensor_(leaf).dims;
    return std::ranges::all_of(region_.members, [&](int number) {
      const Compute& compute = program_.compute(number);
      std::optional<Dims> dims;
      if (compute.as<ReduceOp>() != nullptr)
        dims = reduced_dims(compute);
      else if (compute.as<MapOp>() != nullptr)
        dims = mapped_dims(compute);
      else if (compute.as<IotaOp>() != nullptr)
        dims = counted_dims(compute);
      else
        dims = moved_dims(compute);
      if (!dims || !check_extents(*dims, compute.results[0], "").ok()) return false;
      dims_[program_.result_of(number)] = std::move(*dims);
      return true;
    });
  }
  std::optional<Dims> mapped_dims(const Compute& compute) const {
    std::optional<Dims> dims;
    for (const int argument : compute.arguments) {
      const Dims& own = dims_.at(argument);
      if (own.empty() && !compute.results[0].dims.empty()) continue;
      if (dims && *dims != own) return std::nullopt;
      dims = own;
    }
    return dims;
  }
  std::optional<Dims> moved_dims(const Compute& compute) const {
    View view = View::of(dims_.at(compute.arguments[0]));
    TensorType type = compute.results[0];
    if (compute.takes_shape()) {
      Expected<Dims> taken = taken_dims(compute, view.dims, tensor_(shape_of(compute)));
      if (!taken.ok()) return std::nullopt;
      type.dims = *std::move(taken);
    }
    if (!move(compute, type, view)) return std::nullopt;
    return std::move(view.dims);
  }
  std::optional<Dims> counted_dims(const Compute& compute) const {
    if (!compute.takes_shape()) return compute.results[0].dims;
    Expected<Dims> taken = taken_dims(compute, {}, tensor_(shape_of(compute)));
    if (!taken.ok()) return std::nullopt;
    return *std::move(taken);
  }
  std::optional<Dims> reduced_dims(const Compute& compute) const {
    const Dims& from = dims_.at(compute.arguments[0]);
    for (size_t i = 1; i < compute.results.size(); ++i)
      if (dims_.at(compute.arguments[i]) != from) return std::nullopt;
    Dims kept;
    for (size_t d = 0; d < from.size(); ++d)
      if (!is_reduced(compute, d)) kept.push_back(from[d]);
    return kept;
  }
  static bool is_reduced(const Compute& compute, size_t d) {
    return std::ranges::find(compute.as<ReduceOp>()->dims, static_cast<int64_t>(d)) != compute.as<ReduceOp>()->dims.end();
  }

  // ---- The graph.

  int add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  int node_of(int value, int path) {
    const auto [known, is_new] = known_.try_emplace({value, path}, -1);
    if (!is_new) return known->second;
    const int node = make_node(value, path);
    return known_[{value, path}] = node;
  }

  int make_node(int value, int path) {
    if (!is_member(value)) return leaf(value, path);
    const Compute& compute = program_.compute(program_.value(value).index);
    if (const auto* map = compute.as<MapOp>(); map != nullptr) {
      Node node{-1, std::nullopt, &map->function, {}};
      for (const int argument : compute.arguments) {
        const bool is_scalar = dims_.at(argument).empty() && !dims_.at(value).empty();
        node.arguments.push_back(is_scalar ? scalar(argument) : node_of(argument, path));
      }
      return add(std::move(node));
    }
    if (const auto* iota = compute.as<IotaOp>(); iota != nullptr)
      return count(*iota, {compute.results[0].dtype, dims_.at(value), {}}, path);
    paths_.push_back({&compute, value, path});
    return node_of(compute.arguments[0], static_cast<int>(paths_.size()) - 1);
  }

  int source(Source made) {
    auto at = std::ranges::find(sources_, made);
    if (at == sources_.end()) at = sources_.insert(at, std::move(made));
    return add(Node::of(static_cast<int>(at - sources_.begin())));
  }

  /// A constant whose elements are all the same.
  std::optional<Scalar> constant(int value) const {
    const Value& v = program_.value(value);
    if (!has_literals_ || v.kind != ValueKind::constant || is_complex(v.type.dtype)) return std::nullopt;
    const Tensor& tensor = tensor_(value);
    if (!program_.constant(v.index).splat && tensor.elements() != 1) return std::nullopt;
    return load_element(tensor.dtype, tensor.data.data(), 0);
  }

  int scalar(int value) {
    if (const std::optional<Scalar> literal = constant(value)) return add(Node::of(*literal));
    if (is_member(value)) is_bad_ = true;  // a region has members of rank 0 only if all are
    return source({.value = value, .view = View::of({}), .is_scalar = true});
  }

  int leaf(int value, int path) {
    if (const std::optional<Scalar> literal = constant(value)) return add(Node::of(*literal));
    View view = View::of(dims_.at(value));
    if (!follow(path, view)) return -1;
    return source({.value = value, .view = std::move(view)});
  }

  /// The tensor 0, 1, 2, …, of which an iota is a view.
  int count(const IotaOp& iota, const TensorType& type, int path) {
    const auto dim = static_cast<size_t>(iota.dim);
    Expected<Tensor> numbers = evaluate(IotaOp{}, {type.dtype, {type.dims[dim]}, {}}, {});
    View view{type.dims, 0, Dims(type.dims.size(), 0)};
    view.strides[dim] = 1;
    if (!numbers.ok() || !follow(path, view)) {
      is_bad_ = true;
      return -1;
    }
    constants_.push_back(std::move(*numbers));
    return source({.constant = static_cast<int>(constants_.size()) - 1, .view = std::move(view)});
  }

  /// Applies the movement of the path, the innermost first. A reshape that strides cannot say is kept apart from what it reads.
  bool follow(int path, View& view) {
    for (; path != 0; path = paths_[static_cast<size_t>(path)].outer) {
      const Path& step = paths_[static_cast<size_t>(path)];
      const Compute& compute = *step.move;
      if (move(compute, {compute.results[0].dtype, dims_.at(step.value), {}}, view)) continue;
      apart_ = compute.arguments[0];
      is_bad_ = is_bad_ || !is_member(apart_);
      return false;
    }
    return true;
  }

  /// Is the result the elements of a value, one after the other?
  bool is_copy(int root) const {
    const Node& node = nodes_[static_cast<size_t>(root)];
    return node.source == 0 && sources_[0].value >= 0 && sources_[0].view.is_contiguous();
  }

  // ---- The op.

  std::variant<NoPiece, Alias, Piece> emit(const std::vector<int>& roots, int64_t elements) {
    Scatter s;
    reduction_ != nullptr ? fold_into(s) : compute_all(s);
    std::vector<Piece::Read> of_updates, of_extras;
    std::vector<int> updates;
    for (const int root : roots) {
      updates.push_back(best_update(root));
      const Source& from = sources_[static_cast<size_t>(updates.back())];
      s.updates.push_back({dtype_of(from), frame_, strides_of(from)});
      of_updates.push_back({from.value, from.constant, from.view.first});
    }
    std::map<int, int32_t> extras;
    for (size_t k = 0; k < sources_.size(); ++k) {
      if (std::ranges::find(updates, static_cast<int>(k)) != updates.end()) continue;
      const Source& from = sources_[k];
      extras[static_cast<int>(k)] = static_cast<int32_t>(s.extras.size());
      s.extras.push_back(from.is_scalar ? Extra{ExtraKind::scalar, {dtype_of(from), {}, {}}}
                                        : Extra{ExtraKind::per_element, {dtype_of(from), frame_, strides_of(from)}});
      of_extras.push_back({from.value, from.constant, from.view.first});
    }
    if (s.extras.size() > static_cast<size_t>(kMaxExtras)) return NoPiece{};
    set_combiner(s, graph(roots, updates, extras));
    Expected<VerifiedOp> op = VerifiedOp::of(Op(std::move(s)));
    if (!op.ok()) return NoPiece{};
    std::vector<Piece::Read> reads;
    for (const TensorSlot& slot : tensor_slots(*op)) {
      const auto number = static_cast<size_t>(slot.index);
      if (slot.role == Role::updates) reads.push_back(of_updates[number]);
      if (slot.role == Role::extra) reads.push_back(of_extras[number]);
      if (slot.role == Role::indices && !placement_.starts.empty()) reads.push_back({placement_.starts[number], -1, 0});
    }
    return Piece{std::move(*op), std::move(reads), std::move(constants_), elements};
  }

  /// One position, whose window is the whole result. Every element is written, so the result's buffer may hold anything.
  void compute_all(Scatter& s) const {
    const bool is_placed = !placement_.starts.empty();
    s.results = {{program_.value(region_.value).type.dtype, is_placed ? placement_.whole : frame_, placement_.strides}};
    s.operands = s.results;
    s.init = InitKind::in_place;
    s.oob = OobPolicy::undefined;
    s.indices = {DType::i32, {0}, {}};
    s.dims.window_dims.resize(frame_.size());
    std::iota(s.dims.window_dims.begin(), s.dims.window_dims.end(), 0);
    if (is_placed) place(s, placement_.starts, [this](int value) -> const Tensor& { return tensor_(value); });
  }

  /// The dims behind all that are reduced are the window, the others are positions; those that are kept are batching dims.
  void fold_into(Scatter& s) const {
    size_t behind = frame_.size();
    while (behind > 0 && !is_reduced(*reduction_, behind - 1)) --behind;
    Dims kept;
    s.indices.dtype = DType::i32;
    s.indices_are_sorted = true;
    bool is_behind = false;
    for (size_t d = 0; d < frame_.size(); ++d) {
      if (d >= behind) {
        s.dims.window_dims.push_back(static_cast<int64_t>(d));
      } else {
        is_behind = is_behind || is_reduced(*reduction_, d);
        if (!is_reduced(*reduction_, d)) {
          if (is_behind) s.indices_are_sorted = false;
          s.dims.operand_batching_dims.push_back(static_cast<int64_t>(kept.size()));
          s.dims.indices_batching_dims.push_back(s.indices.rank());
        }
        s.indices.dims.push_back(frame_[d]);
      }
      if (!is_reduced(*reduction_, d)) kept.push_back(frame_[d]);
    }
    s.dims.index_vector_dim = s.indices.rank();
    s.indices.dims.push_back(0);
    s.init = InitKind::fill;
    for (size_t i = 0; i < reduction_->results.size(); ++i) {
      const Tensor& initial = tensor_(reduction_->arguments[reduction_->results.size() + i]);
      s.results.push_back({reduction_->results[i].dtype, kept, {}});
      s.fill.push_back(convert(load_element(initial.dtype, initial.data.data(), 0), s.results.back().dtype));
    }
    s.operands = s.results;
  }

  DType dtype_of(const Source& from) const {
    return from.value >= 0 ? tensor_(from.value).dtype : constants_[static_cast<size_t>(from.constant)].dtype;
  }
  Dims strides_of(const Source& from) const {
    if (from.is_scalar) return Dims(frame_.size(), 0);
    return from.view.is_contiguous() ? Dims() : from.view.strides;
  }

  /// The source that the node reads with the most strides; any other source if it reads none.
  int best_update(int root) const {
    int best = -1;
    int64_t most = -1;
    const auto consider = [&](int k) {
      const Source& from = sources_[static_cast<size_t>(k)];
      const int64_t moved =
          from.is_scalar ? 0 : 1 + std::ranges::count_if(from.view.strides, [](int64_t stride) { return stride != 0; });
      if (moved > most) {
        most = moved;
        best = k;
      }
    };
    std::vector<int> open{root};
    std::vector<bool> seen(nodes_.size());
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      if (seen[static_cast<size_t>(node)]) continue;
      seen[static_cast<size_t>(node)] = true;
      if (nodes_[static_cast<size_t>(node)].source >= 0) consider(nodes_[static_cast<size_t>(node)].source);
      open.insert(open.end(), nodes_[static_cast<size_t>(node)].arguments.begin(),
                  nodes_[static_cast<size_t>(node)].arguments.end());
    }
    for (int k = 0; best < 0 && k < static_cast<int>(sources_.size()); ++k) consider(k);
    return best;
  }

  /// The combiner's graph. Nodes stand after their arguments.
  Expr graph(const std::vector<int>& roots, const std::vector<int>& updates, const std::map<int, int32_t>& extras) const {
    ExprBuilder builder;
    std::vector<int32_t> made(nodes_.size(), -1);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (node.literal) {
        made[n] = builder.literal(*node.literal);
      } else if (node.source >= 0) {
        const DType dtype = dtype_of(sources_[static_cast<size_t>(node.source)]);
        const auto pair = std::ranges::find(updates, node.source);
        made[n] = pair != updates.end() ? builder.update(static_cast<int32_t>(pair - updates.begin()), dtype)
                                        : builder.extra(extras.at(node.source), dtype);
      } else {
        made[n] = inlined(builder, *node.function, [&](const ExprNode& input) -> int32_t {
          return made[static_cast<size_t>(node.arguments[static_cast<size_t>(input.index)])];
        });
      }
    }
    if (reduction_ == nullptr) return ordered(builder.returns({made[static_cast<size_t>(roots[0])]}));
    const Expr& function = reduction_->as<ReduceOp>()->function;
    std::vector<int32_t> moved, results;
    for (const ExprNode& node : function.nodes)
      moved.push_back(node.op == ExprOp::update ? made[static_cast<size_t>(roots[static_cast<size_t>(node.index)])]
                                                : builder.copy(node, moved));
    for (const int32_t result : function.results) results.push_back(moved[static_cast<size_t>(result)]);
    return ordered(builder.returns(std::move(results)));
  }
  /// The result of a map's function, whose arguments are its extra inputs.
  template <class Argument>
  static int32_t inlined(ExprBuilder& builder, const Expr& function, const Argument& argument) {
    std::vector<int32_t> moved;
    for (const ExprNode& node : function.nodes)
      moved.push_back(node.op == ExprOp::extra ? argument(node) : builder.copy(node, moved));
    return moved[static_cast<size_t>(function.results[0])];
  }

  const Program& program_;
  const Region& region_;
  const std::function<const Tensor&(int)>& tensor_;
  const PiecePlace& placement_;
  const bool has_literals_;
  const Compute* reduction_ = nullptr;  ///< the last member if it is one
  std::map<int, Dims> dims_;            ///< per value of the region
  Dims frame_;                          ///< of what is computed for each element
  std::vector<Path> paths_{Path{}};
  std::map<std::pair<int, int>, int> known_;  ///< by value and path
  std::vector<Node> nodes_;
  std::vector<Source> sources_;
  std::vector<Tensor> constants_;
  int apart_ = -1;
  bool is_bad_ = false;
};

}  // namespace

std::variant<NoPiece, Alias, Piece> make_slice(const Program& program, int number,
                                               const std::function<const Tensor&(int value)>& tensor) {
  const Compute& compute = program.compute(number);
  const auto& slice = *compute.as<SliceOp>();
  const Tensor& from = tensor(compute.arguments[0]);
  const Dims& sizes = compute.results[0].dims;
  const auto are_all = [](const Dims& list, int64_t value) {
    return std::ranges::all_of(list, [value](int64_t each) { return each == value; });
  };
  const bool has_elements = std::ranges::all_of(sizes, [](int64_t size) { return size > 0; });
  if (!has_elements || !are_all(slice.starts, 0) || !are_all(slice.strides, 1)) return NoPiece{};
  const std::vector<int> starts(compute.arguments.begin() + 1, compute.arguments.end());
  Gather gather;
  gather.operand = {from.dtype, from.dims, {}};
  gather.result = {from.dtype, sizes, {}};
  gather.slice_sizes = sizes;
  gather.dims.window_dims.resize(sizes.size());
  std::iota(gather.dims.window_dims.begin(), gather.dims.window_dims.end(), 0);
  place(gather, starts, tensor);
  Expected<VerifiedOp> op = VerifiedOp::of(Op(std::move(gather)));
  if (!op.ok()) return NoPiece{};
  std::vector<Piece::Read> reads;
  for (const TensorSlot& slot : tensor_slots(*op)) {
    if (slot.role == Role::operand) reads.push_back({compute.arguments[0], -1, 0});
    if (slot.role == Role::indices) reads.push_back({starts[static_cast<size_t>(slot.index)], -1, 0});
  }
  return Piece{std::move(*op), std::move(reads), {}, View::of(sizes).elements()};
}

std::optional<std::vector<int64_t>> dims_of_piece(const Program& program, const Region& region,
                                                  const std::function<const Tensor&(int value)>& tensor) {
  return PieceBuilder(program, region, tensor, {}, true).result_dims();
}

std::variant<NoPiece, Alias, Piece> make_piece(const Program& program, const Region& region,
                                               const std::function<const Tensor&(int value)>& tensor,
                                               const PiecePlace& placement) {
  PieceBuilder builder(program, region, tensor, placement, true);
  std::variant<NoPiece, Alias, Piece> piece = builder.build();
  // An op has updates, so a constant must be one where nothing else is read.
  if (!builder.has_no_source()) return piece;
  return PieceBuilder(program, region, tensor, placement, false).build();
}

}  // namespace strew::inline v0
