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

class PieceBuilder {
 public:
  PieceBuilder(const Program& program, const Region& region, const std::function<const Tensor&(int)>& tensor, bool has_literals)
      : program_(program), region_(region), tensor_(tensor), has_literals_(has_literals), last_(program.compute(region.last())) {}

  std::variant<NoPiece, Alias, Piece> build() {
    if (!find_dims()) return NoPiece{};
    const auto* const reduce = last_.as<ReduceOp>();
    frame_ = reduce != nullptr ? dims_.at(last_.arguments[0]) : dims_.at(program_.result_of(region_.last()));
    int64_t elements = 1;
    for (const int64_t extent : frame_) elements *= extent;
    if (elements == 0) return NoPiece{};
    std::vector<int> roots;
    if (reduce != nullptr)
      for (size_t i = 0; i < last_.results.size(); ++i) roots.push_back(node_of(last_.arguments[i], 0));
    else
      roots.push_back(node_of(program_.result_of(region_.last()), 0));
    if (apart_ >= 0 || is_bad_) return NoPiece{apart_};
    if (sources_.empty()) return NoPiece{};
    if (reduce == nullptr && is_copy(roots[0])) return Alias{sources_[0].value, sources_[0].view.first, frame_};
    return emit(roots, elements);
  }
  bool has_no_source() const { return sources_.empty(); }

 private:
  /// Movement on the way from the result to a value, the last one first: paths_[0] is none.
  struct Path {
    const Compute* move = nullptr;
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
        dims = compute.results[0].dims;
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
    if (!move(compute, view)) return std::nullopt;
    return std::move(view.dims);
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
    if (const auto* iota = compute.as<IotaOp>(); iota != nullptr) return count(*iota, compute.results[0], path);
    paths_.push_back({&compute, path});
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
      const Compute& compute = *paths_[static_cast<size_t>(path)].move;
      if (move(compute, view)) continue;
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
    last_.as<ReduceOp>() != nullptr ? fold_into(s) : compute_all(s);
    std::vector<Piece::Read> reads;
    std::vector<int> updates;
    for (const int root : roots) {
      updates.push_back(best_update(root));
      const Source& from = sources_[static_cast<size_t>(updates.back())];
      s.updates.push_back({dtype_of(from), frame_, strides_of(from)});
      reads.push_back({from.value, from.constant, from.view.first});
    }
    std::map<int, int32_t> extras;
    for (size_t k = 0; k < sources_.size(); ++k) {
      if (std::ranges::find(updates, static_cast<int>(k)) != updates.end()) continue;
      const Source& from = sources_[k];
      extras[static_cast<int>(k)] = static_cast<int32_t>(s.extras.size());
      s.extras.push_back(from.is_scalar ? Extra{ExtraKind::scalar, {dtype_of(from), {}, {}}}
                                        : Extra{ExtraKind::per_element, {dtype_of(from), frame_, strides_of(from)}});
      reads.push_back({from.value, from.constant, from.view.first});
    }
    if (s.extras.size() > static_cast<size_t>(kMaxExtras)) return NoPiece{};
    set_combiner(s, graph(roots, updates, extras));
    Expected<VerifiedOp> op = VerifiedOp::of(Op(std::move(s)));
    if (!op.ok()) return NoPiece{};
    return Piece{std::move(*op), std::move(reads), std::move(constants_), elements};
  }

  /// One position, whose window is the whole result. Every element is written, so the result's buffer may hold anything.
  void compute_all(Scatter& s) const {
    s.results = {{last_.results[0].dtype, frame_, {}}};
    s.operands = s.results;
    s.init = InitKind::in_place;
    s.oob = OobPolicy::undefined;
    s.indices = {DType::i32, {0}, {}};
    s.dims.window_dims.resize(frame_.size());
    std::iota(s.dims.window_dims.begin(), s.dims.window_dims.end(), 0);
  }

  /// The dims behind all that are reduced are the window, the others are positions; those that are kept are batching dims.
  void fold_into(Scatter& s) const {
    size_t behind = frame_.size();
    while (behind > 0 && !is_reduced(last_, behind - 1)) --behind;
    Dims kept;
    s.indices.dtype = DType::i32;
    s.indices_are_sorted = true;
    bool is_behind = false;
    for (size_t d = 0; d < frame_.size(); ++d) {
      if (d >= behind) {
        s.dims.window_dims.push_back(static_cast<int64_t>(d));
      } else {
        is_behind = is_behind || is_reduced(last_, d);
        if (!is_reduced(last_, d)) {
          if (is_behind) s.indices_are_sorted = false;
          s.dims.operand_batching_dims.push_back(static_cast<int64_t>(kept.size()));
          s.dims.indices_batching_dims.push_back(s.indices.rank());
        }
        s.indices.dims.push_back(frame_[d]);
      }
      if (!is_reduced(last_, d)) kept.push_back(frame_[d]);
    }
    s.dims.index_vector_dim = s.indices.rank();
    s.indices.dims.push_back(0);
    s.init = InitKind::fill;
    for (size_t i = 0; i < last_.results.size(); ++i) {
      const Tensor& initial = tensor_(last_.arguments[last_.results.size() + i]);
      s.results.push_back({last_.results[i].dtype, kept, {}});
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
    const auto* const reduce = last_.as<ReduceOp>();
    if (reduce == nullptr) return ordered(builder.returns({made[static_cast<size_t>(roots[0])]}));
    std::vector<int32_t> moved, results;
    for (const ExprNode& node : reduce->function.nodes)
      moved.push_back(node.op == ExprOp::update ? made[static_cast<size_t>(roots[static_cast<size_t>(node.index)])]
                                                : builder.copy(node, moved));
    for (const int32_t result : reduce->function.results) results.push_back(moved[static_cast<size_t>(result)]);
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
  const bool has_literals_;
  const Compute& last_;
  std::map<int, Dims> dims_;  ///< per value of the region
  Dims frame_;                ///< of what is computed for each element
  std::vector<Path> paths_{Path{}};
  std::map<std::pair<int, int>, int> known_;  ///< by value and path
  std::vector<Node> nodes_;
  std::vector<Source> sources_;
  std::vector<Tensor> constants_;
  int apart_ = -1;
  bool is_bad_ = false;
};

}  // namespace

std::variant<NoPiece, Alias, Piece> make_piece(const Program& program, const Region& region,
                                               const std::function<const Tensor&(int value)>& tensor) {
  PieceBuilder builder(program, region, tensor, true);
  std::variant<NoPiece, Alias, Piece> piece = builder.build();
  // An op has updates, so a constant must be one where nothing else is read.
  if (!builder.has_no_source()) return piece;
  return PieceBuilder(program, region, tensor, false).build();
}

}  // namespace strew::inline v0
