// Reductions: a gather, elementwise operations on what it gathers, and a reduction over index positions (a bag of rows that is summed, as exporters of
// models write it) become one scatter. It looks the rows up and adds each to the row of its destination, which is a batching dim, so that there are no
// indices for it. Neither the rows nor what is computed from them is stored.
//
// The results keep every bit: the interpreter folds the elements of each result in row-major order from the initial value, and so does a scatter that is
// filled with it. What ONNX reduces over an open dim begins with 0 or -0, which only the call knows: then it is broadcast to an operand. Tested by tests/unit/compiler/import/fusion/fusion_reductions_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "compiler/import/builder/program_builder.h"
#include "compiler/import/fusion/region.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "compiler/op/ordered.h"

namespace strew::inline v0::fusion {
namespace {

using Dims = std::vector<int64_t>;

class ReductionFusion {
 public:
  ReductionFusion(const FusionContext& context, int compute, const ImportOptions& options)
      : context_(context), options_(options), compute_(compute), last_(context.program.compute(compute)) {}

  void run() {
    const auto* const reduce = last_.as<ReduceOp>();
    if (reduce == nullptr || !context_.program.is_needed(compute_) || last_.results.size() != 1) return;
    if (context_.is_refused(compute_, reduce->function)) return;
    reduced_ = reduce->dims;
    const Reader& reader = context_.reader;
    initial_ = reader.constant(reader.quantity(reader.elements_of(last_.arguments[1])));
    region_ = region_of(context_, last_.arguments[0], 1, reader.type(last_.arguments[0]).dims);
    if (reader.type(last_.arguments[1]).dtype != last_.results[0].dtype || !find_gather()) return;
    const Expected<Gather> gather = lookup_of_gather(context_, number_, gathered_, region_.leaves.at(gathered_), options_);
    if (gather.ok() && place(*gather)) fuse(reduce->function);
  }

 private:
  bool is_reduced(int64_t slices_dim) const { return std::ranges::find(reduced_, slices_dim) != reduced_.end(); }

  /// The last gather among what the region reads: all else must be known when its kernel runs.
  bool find_gather() {
    for (const auto& [leaf, count] : region_.leaves) {
      const int gather = context_.gather_of(leaf, count);
      if (gather <= number_ || context_.reader.type(leaf).dims != context_.reader.type(last_.arguments[0]).dims) continue;
      number_ = gather;
      gathered_ = leaf;
    }
    return number_ >= 0;
  }

  /// Sets scatter_ to the scatter of what is gathered, without a combiner. False if a window's dim is reduced, or if the call could not tell the extents
  /// of the result.
  bool place(const Gather& gather) {
    const AccessDims dims(gather);
    const TensorType& made = gather.result;
    for (size_t d = 0; d < made.dims.size(); ++d) {
      const bool is_window = dims.slices[d].operand_dim >= 0;
      if (is_window && (is_reduced(static_cast<int64_t>(d)) || made.dims[d] == kDynamic)) return false;
    }
    Scatter& s = scatter_;
    s.results = {last_.results[0]};
    s.operands = {{last_.results[0].dtype, last_.results[0].dims, {}}};
    s.updates = {{made.dtype, made.dims, {}}};
    s.indices.dtype = DType::i32;
    s.indices_are_sorted = true;
    if (initial_) {
      s.init = InitKind::fill;
      s.fill = {*initial_};
    }
    s.dims.window_dims = gather.dims.window_dims;
    bool is_behind = false;  // a position dim that is reduced
    for (const AccessDims::Position& position : dims.positions) {
      const int64_t number = s.indices.rank();
      s.indices.dims.push_back(made.dims[static_cast<size_t>(position.slices_dim)]);
      is_behind = is_behind || is_reduced(position.slices_dim);
      if (is_reduced(position.slices_dim)) continue;
      if (is_behind) s.indices_are_sorted = false;
      s.dims.operand_batching_dims.push_back(kept_before(position.slices_dim));
      s.dims.indices_batching_dims.push_back(number);
      kept_.push_back(position.indices_dim);
    }
    s.dims.index_vector_dim = s.indices.rank();
    s.indices.dims.push_back(0);
    s.lookups = {{Role::updates, 0, gather}};
    s.lookups[0].gather.result.strides.clear();
    return true;
  }
  /// How many dims of the slices before this one the result has.
  int64_t kept_before(int64_t slices_dim) const {
    return slices_dim - std::ranges::count_if(reduced_, [&](int64_t d) { return d < slices_dim; });
  }

  /// The expression of the reduction, whose elements the region computes from the updates. Nothing if it would need too many extras.
  std::optional<Expr> combined(const Expr& function, GraphBuilder& builder) const {
    builder.set(gathered_, builder.graph.update(0, scatter_.updates[0].dtype));
    std::optional<int32_t> element = region_.values.empty() ? builder.known(gathered_) : builder.build(region_);
    if (!element) return std::nullopt;
    std::vector<int32_t> moved;
    for (const ExprNode& node : function.nodes)
      moved.push_back(node.op == ExprOp::update ? *element : builder.graph.copy(node, moved));
    return ordered(builder.graph.returns({moved[static_cast<size_t>(function.results[0])]}));
  }

  void fuse(const Expr& function) {
    const Expected<VerifiedOp> without = VerifiedOp::of(Op(scatter_));
    if (!without.ok()) return;
    GraphBuilder builder(context_, Frame(scatter_.updates[0].dims, without->access()), {});
    std::optional<Expr> expr = combined(function, builder);
    if (!expr) return;
    const auto is_late = [&](int value) { return context_.program.last_kernel(value) >= number_; };
    if (std::ranges::any_of(builder.added, is_late) || is_late(last_.arguments[1])) return;
    set_combiner(scatter_, std::move(*expr));
    scatter_.extras = std::move(builder.extras);
    const std::vector<int> read = context_.kernel(number_).tensors();
    const bool is_open = !is_static(scatter_.results[0].dims);
    const int shape = is_open || !initial_ ? shape_of_result(read[1]) : -1;
    const Expected<int> indices = no_indices(read[1]), first = initial_ ? Expected<int>(-1) : initial_values(shape);
    if (!indices.ok() || !first.ok()) return;
    std::vector<int> tensors = {*indices, read[0]};
    if (!initial_) tensors.insert(tensors.begin(), *first);
    tensors.insert(tensors.end(), builder.added.begin(), builder.added.end());
    tensors.insert(tensors.end(), read.begin() + 1, read.end());
    const std::string note = fmt::format(
        "fused: the reduction of {}{}: rows are looked up and combined, and not stored", fusion::place(last_.location),
        region_.values.empty() ? "" : fmt::format(", and {} before it", operations(region_.values.size())));
    const int root = context_.program.result_of(compute_);
    if (!replace_op(context_, number_, std::move(scatter_), tensors, ComputeDisposition::fused, note)) return;
    {
      const auto kernel = context_.program.edit_kernel(number_);
      kernel->file_positions.reset();
      kernel->fixed_policy = true;  // the look-up has its policy; the scatter has no indices that could be out of bounds
      if (is_open && initial_) kernel->arguments.emplace_back(ArgumentUse::result_shape, shape);
    }
    context_.program.become_result(root, number_, ComputeDisposition::fused);
  }

  /// The operand that holds the initial value, which only the call knows.
  Expected<int> initial_values(int shape) const {
    ProgramBuilder builder(context_.program, last_.location);
    return builder.broadcast_to(last_.arguments[1], shape, {});
  }

  /// An index tensor without elements.
  Expected<int> no_indices(int indices) const {
    TensorType type = scatter_.indices;
    if (is_static(type.dims)) return context_.program.add_constant({.type = std::move(type)});
    ProgramBuilder builder(context_.program, last_.location);
    const std::vector<AccessDims::Position> positions = AccessDims(scatter_.lookups[0].gather).positions;
    std::vector<int> extents;
    for (const AccessDims::Position& position : positions) extents.push_back(builder.extent(indices, position.indices_dim));
    extents.push_back(builder.integer(0));
    const int none = context_.program.add_constant({.type = {type.dtype, {0}, {}}});
    return builder.broadcast_to(none, builder.stack(extents, DType::i64), {type.rank() - 1});
  }

  /// The result's dims, of which batching dims are dims of the indices.
  int shape_of_result(int indices) const {
    ProgramBuilder builder(context_.program, last_.location);
    std::vector<int> extents;
    for (const int64_t extent : scatter_.results[0].dims) extents.push_back(extent == kDynamic ? -1 : builder.integer(extent));
    for (size_t b = 0; b < kept_.size(); ++b) {
      int& extent = extents[static_cast<size_t>(scatter_.dims.operand_batching_dims[b])];
      if (extent < 0) extent = builder.extent(indices, kept_[b]);
    }
    return builder.stack(extents, DType::i64);
  }

  const FusionContext& context_;
  const ImportOptions& options_;
  int compute_;
  const Compute last_;
  Dims reduced_;
  std::optional<Scalar> initial_;
  Region region_;
  int number_ = -1, gathered_ = -1;  ///< the gather's kernel, and its result
  Scatter scatter_;
  Dims kept_;  ///< per batching dim of the scatter: the dim of the gather's indices
};

}  // namespace

void fuse_reduction(const FusionContext& context, int compute, const ImportOptions& options) {
  ReductionFusion(context, compute, options).run();
}

}  // namespace strew::inline v0::fusion
