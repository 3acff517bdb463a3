// The update idiom: a gather, elementwise operations on what it gathers, and a scatter that writes their results back to where they came from
// (x[i] = f(x[i], u)). It becomes one scatter, whose combiner is f: the gathered element is the current value.
//
// The scatter alone gives the same bits if
// - it assigns, and both read the same operand at the same positions: the same index values, dimension numbers and windows;
// - no two updates go to one destination. If two did, f would see what the first has written, whereas the gather read the value from before.
//   The hint `unique_indices` promises this of positions, so windows must not overlap partly; a single position, and positions that batching
//   dims separate, need no promise. The promise is about indices as the file has them, so it says nothing of those that a policy moves (clamp,
//   wrap);
// - where the scatter writes, the gather has read that element and no other. Positions that the scatter drops may gather anything. A gather
//   with policy `error` must still report them, so it stays, unless the scatter reports them too;
// - nothing else reads what is gathered or what is computed from it.
//
// The combiner needs an update tensor. If f reads nothing but what was gathered, it is a tensor of zeros that nobody reads. Tested by
// tests/unit/compiler/import/fusion/fusion_update_test.cc and tests/unit/compiler/import/tensor/tensor_compute_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/import/fusion/region.h"
#include "compiler/import/importer.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "compiler/op/ordered.h"

namespace strew::inline v0::fusion {
namespace {

bool is_same_value(const Reader& reader, int a, int b) {
  if (a == b) return true;
  if (reader.type(a) != reader.type(b)) return false;
  const Quantity quantity = reader.quantity(reader.elements_of(a));
  return reader.is_value(quantity) && quantity == reader.quantity(reader.elements_of(b));
}

/// One scatter and a gather that feeds it.
class UpdateIdiom {
 public:
  UpdateIdiom(const FusionContext& context, int scatter, int gather, const ImportOptions& options)
      : context_(context),
        reader_(context.reader),
        options_(options),
        to_(context.kernel(scatter)),
        from_(context.kernel(gather)),
        scatter_(std::get<Scatter>(*to_.op)),
        gather_(std::get<Gather>(*from_.op)),
        written_(to_.op.access()),
        read_(from_.op.access()) {}

  bool has_same_destination() const { return is_same_value(reader_, from_.tensor(0), to_.tensor(0)); }

  /// Why the two are not one update; empty if they are. `readers`: how often the computation reads what is gathered at `value`.
  std::string obstacle(int value, int readers) const {
    const std::string gather = place(from_.location);
    if (!has_same_destination()) return gather + " reads another tensor than the destination";
    if (!has_same_dims()) return gather + " has other dims or windows";
    if (!has_same_indices()) return gather + " has other indices";
    if (!is_plain()) return gather + " is more than a gather of these elements";
    if (!is_separate() && !scatter_.unique_indices)
      return "no 'unique': where indices repeat, each update is computed from the value before the scatter and the last one "
             "stays, "
             "which is no fold";
    if (!is_separate() && !has_unit_windows()) return "windows at different indices may overlap";
    if (!policies_agree())
      return fmt::format("policies {} of {} and {} of the scatter do not allow it", name(final_policy(from_, options_)), gather,
                         name(final_policy(to_, options_)));
    if (context_.program.readers(value) != readers) return "the result of " + gather + " is read by another operation too";
    return "";
  }

  /// What makes the destinations differ, for the note.
  std::string uniqueness() const { return is_separate() ? "one update per destination" : "'unique'"; }

 private:
  bool has_same_indices() const {
    const int a = from_.tensor(indices_slot(from_.op)), b = to_.tensor(indices_slot(to_.op));
    if (a == b) return true;
    const Value &left = context_.program.value(a), &right = context_.program.value(b);
    if ((left.kind == ValueKind::stack) != (right.kind == ValueKind::stack)) return false;
    if (left.kind == ValueKind::stack)
      return std::equal(left.parts.begin(), left.parts.end(), right.parts.begin(), right.parts.end(), [&](int x, int y) {
        return reader_.same(reader_.quantity(reader_.elements_of(x)), reader_.quantity(reader_.elements_of(y)));
      });
    for (size_t c = 0; c < read_.components.size(); ++c) {
      const auto column = [&](int indices) {
        return reader_.quantity(reader_.column(indices, read_.index_vector_dim, static_cast<int64_t>(c)));
      };
      if (!reader_.same(column(a), column(b))) return false;
    }
    return true;
  }

  bool has_same_dims() const {
    return gather_.operand.dims == scatter_.operands[0].dims && gather_.indices == scatter_.indices &&
           gather_.result.dims == scatter_.updates[0].dims && read_.index_vector_dim == written_.index_vector_dim &&
           read_.components == written_.components && gather_.normalize_negative == scatter_.normalize_negative &&
           read_.operand == written_.operand && read_.positions == written_.positions;
  }

  /// Does the gather give the operand's elements as they are, and neither kernel ask for more than its op says?
  bool is_plain() const {
    const DType dtype = gather_.operand.dtype;
    return gather_.expr.empty() && gather_.extras.empty() && gather_.result.dtype == dtype &&
           scatter_.operands[0].dtype == dtype && scatter_.results[0].dtype == dtype &&
           from_.find(ArgumentUse::slice_sizes) == nullptr && from_.find(ArgumentUse::non_negative) == nullptr &&
           to_.find(ArgumentUse::non_negative) == nullptr;
  }

  /// Do positions go to different parts of the operand, whatever the indices are?
  bool is_separate() const {
    return std::all_of(written_.positions.begin(), written_.positions.end(), [&](const AccessDims::Position& position) {
      return position.operand_dim >= 0 || scatter_.indices.dims[position.indices_dim] == 1;
    });
  }

  /// Is each window inside the operand or outside as a whole, and are two of them the same or disjoint?
  bool has_unit_windows() const {
    return std::all_of(written_.components.begin(), written_.components.end(),
                       [&](int64_t d) { return written_.operand[d].window == 1; });
  }

  /// Wherever the scatter writes, has the gather read the same element; and is an error that the gather reports still reported?
  bool policies_agree() const {
    const OobPolicy reads = final_policy(from_, options_), writes = final_policy(to_, options_);
    if (reads == OobPolicy::error) return writes == OobPolicy::error;
    switch (writes) {
      case OobPolicy::undefined:
      case OobPolicy::error:
      case OobPolicy::skip_window:
        return true;  // only windows that are inside are written
      case OobPolicy::skip_element:
        return has_unit_windows() || reads == OobPolicy::fill_element || reads == OobPolicy::undefined;
      case OobPolicy::clamp:
        return is_separate() && reads == OobPolicy::clamp;
      case OobPolicy::wrap:
      case OobPolicy::fill_element:
      case OobPolicy::fill_window:
        break;
    }
    return false;
  }

  const FusionContext& context_;
  const Reader& reader_;
  const ImportOptions& options_;
  const ProgramKernel &to_, &from_;
  const Scatter& scatter_;
  const Gather& gather_;
  const AccessDims &written_, &read_;
};

/// A tensor of updates that nobody reads; -1 if its extents cannot be told: an open one must be that of a dim of the indices.
int unread_update(const FusionContext& context, const Scatter& scatter, int indices) {
  Value zeros;
  zeros.kind = ValueKind::zeros;
  zeros.type = scatter.updates[0];
  const AccessDims dims(scatter);
  for (size_t d = 0; d < zeros.type.dims.size(); ++d) {
    if (zeros.type.dims[d] != kDynamic) continue;
    if (zeros.like >= 0 || dims.slices[d].indices_dim < 0) return -1;
    zeros.like = indices;
    zeros.like_dim = static_cast<int>(dims.slices[d].indices_dim);
  }
  return context.program.add_value(std::move(zeros));
}

/// Makes the region that computes the updates the scatter's combiner, with `gathered` as the current value. False if it cannot.
bool fuse(const FusionContext& context, int number, const Region& region, int gathered) {
  Scatter fused = std::get<Scatter>(*context.kernel(number).op);
  const Frame frame(fused.updates[0].dims, context.kernel(number).op.access());
  std::vector<int> arguments = context.kernel(number).tensors();
  const size_t slot = indices_slot(context.kernel(number).op) + 1;
  const Expr assign = combine_graph(Op(fused));
  GraphBuilder builder(context, frame, fused.extras);
  builder.set(gathered, builder.graph.current(0, fused.results[0].dtype));
  int update = choose_update(context, frame, region, gathered);
  if (update >= 0) {
    fused.updates[0] = context.reader.type(update);
    builder.set(update, builder.graph.update(0, fused.updates[0].dtype));
  } else {
    update = unread_update(context, fused, arguments[slot - 1]);
    if (update < 0) return false;
  }
  const auto computed = builder.build(region);
  if (!computed) return false;
  std::vector<int32_t> moved;
  for (const ExprNode& node : assign.nodes)  // the update, converted to the result's dtype
    moved.push_back(node.op == ExprOp::update ? *computed : builder.graph.copy(node, moved));
  set_combiner(fused, ordered(builder.graph.returns({moved[assign.results[0]]})));
  fused.extras = builder.extras;
  arguments[slot] = update;
  arguments.insert(arguments.end(), builder.added.begin(), builder.added.end());
  return replace_op(context, number, std::move(fused), arguments, ComputeDisposition::fused, "");
}

/// Returns the gather's kernel, which nobody reads then; -1 if nothing changes.
int fuse_update_idiom(const FusionContext& context, int number, const ImportOptions& options) {
  const ProgramKernel& kernel = context.kernel(number);
  const auto* scatter = std::get_if<Scatter>(&*kernel.op);
  if (scatter == nullptr || scatter->combiner != CombinerKind::assign || scatter->operands.size() != 1 ||
      scatter->init != InitKind::copy || scatter->accumulate != Accumulate::native)
    return -1;
  const std::vector<int> arguments = kernel.tensors();
  const int root = arguments[indices_slot(kernel.op) + 1];
  const auto readers = static_cast<int>(std::count(arguments.begin(), arguments.end(), root));
  const Region region = region_of(context, root, readers, scatter->updates[0].dims);
  std::string why;
  for (const auto& [leaf, count] : region.leaves) {
    const int gather = context.gather_of(leaf);
    if (region.values.empty() || gather < 0) continue;
    const UpdateIdiom idiom(context, number, gather, options);
    const std::string obstacle = idiom.obstacle(leaf, count);
    if (why.empty() || idiom.has_same_destination()) why = obstacle;
    if (!obstacle.empty()) continue;
    const std::string note =
        fmt::format("fused with {} and {}: {}, the same destination and indices, no other reader",
                    place(context.kernel(gather).location), operations(region.values.size()), idiom.uniqueness());
    if (!fuse(context, number, region, leaf)) {
      why = "its operations are not those of one combiner";
      continue;
    }
    absorb(context, number, gather, note);
    return gather;
  }
  if (!why.empty()) context.program.edit_kernel(number)->notes.push_back("not one update in place: " + why);
  return -1;
}

}  // namespace

void fuse_update_idioms(const FusionContext& context, const ImportOptions& options) {
  std::vector<int> merged(context.program.kernels().size(), -1);
  for (size_t k = 0; k < merged.size(); ++k)
    if (const int gather = fuse_update_idiom(context, static_cast<int>(k), options); gather >= 0)
      merged[gather] = static_cast<int>(k);
  context.program.erase_merged(merged);
}

}  // namespace strew::inline v0::fusion
