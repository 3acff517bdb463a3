// Makes rows of elements. Torch and ONNX spell a segment sum as a scatter of elements whose indices are expanded along the rows: each of the
// elements x[i[n, f], f] has an index vector of its own, all of which are equal along f. A row needs one: x[i[n], :]. Along a dim p of the
// index positions, n elements become a row, one window of n elements, if
//
// 1. no index component depends on the coordinate in p, and p is a batching dim, which takes element f of p to coordinate f of the operand's
//    dim d; or one component is the coordinate in p itself (an iota), which takes it there as well, and no other depends on it;
// 2. d is the last of the operand's dims, or all behind it belong to the window: windows that are no rows in memory are slower than elements;
// 3. the dims of the window lie in the updates, or in the gather's result, in the order in which the operand has them.
//
// The results keep every bit:
// - Before and after, the updates that reach an element of the result have its coordinate f in p, since p alone leads to dim d. Of these,
//   positions are visited in the row-major order of the other dims of the indices, before and after. So each element is the same fold.
// - All policies judge a window by its start and by its extent in the dims that components move. The starts in these dims are those of before
//   for every f. The start in d is now 0 and the window's extent there at most the operand's, as the coordinates in p were before: d was never
//   out of bounds, is never clipped, and does not wrap. So all f of a row are written, dropped, moved or filled as each was before.
// - Policy `error` reports the first bad position in row-major order. With equal indices along p that position has coordinate 0 in p, and of the
//   positions with coordinate 0 it is the first of the other dims: the one that the row reports. ProgramKernel::file_positions puts the
//   coordinate back. The extent of p must be known and not 0: without positions, no index would be looked at.
// - The hints stay true: the index vectors that are left are some of those of before, in the same order.
//
// Tested by tests/unit/compiler/import/fusion/fusion_rows_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/fusion/columns.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "strew/verify.h"

namespace strew::inline v0::fusion {
namespace {

using Dims = std::vector<int64_t>;

/// The broadcasts that were made for rows: by the value that had been read, and the dim along which it repeats. Kernels with the same indices keep
/// the same indices (update.cc asks for that).
using Narrowed = std::map<std::pair<int, int64_t>, int>;

class RowFusion {
 public:
  RowFusion(const FusionContext& context, int number, Narrowed& made)
      : context_(context),
        made_(made),
        reader_(context.reader),
        number_(number),
        op_(context.kernel(number).op),
        dims_(context.kernel(number).op.access()),
        value_(context.kernel(number).tensor(indices_slot(op_))),
        frame_(reader_.type(value_).dims) {}

  void run() {
    if (!applies()) return;
    for (size_t k = 0; k < dims_.components.size(); ++k) columns_.push_back(column(static_cast<int64_t>(k)));
    choose();
    if (rows_.empty()) return;
    const int vector_dim = place_indices();
    if (vector_dim >= 0) change(vector_dim);
  }

 private:
  /// A dim of the positions that becomes one of the window.
  struct Row {
    int64_t indices_dim, operand_dim;
    int component;  ///< that of the coordinate; -1: a batching dim
  };

  bool applies() const {
    const ProgramKernel& kernel = context_.kernel(number_);
    const std::vector<Extra>& extras = extras_of(op_);
    const bool is_stack = context_.program.value(value_).kind == ValueKind::stack;
    return !is_stack && !dims_.components.empty() && kernel.find(ArgumentUse::non_negative) == nullptr &&
           kernel.find(ArgumentUse::slice_sizes) == nullptr && std::all_of(extras.begin(), extras.end(), [](const Extra& extra) {
             return extra.kind == ExtraKind::per_element || extra.kind == ExtraKind::scalar;
           });
  }

  /// Component k where it is read from; where it is computed, as it stands in the kernel's indices.
  Quantity column(int64_t k) const {
    const Element here = reader_.column(value_, dims_.index_vector_dim, k);
    const Quantity quantity = reader_.quantity(here);
    return reader_.is_value(quantity) ? quantity : Quantity{here, -1, 0};
  }

  bool depends(const Quantity& quantity, int64_t dim) const {
    const auto& at = quantity.element.at;
    for (size_t d = 0; d < at.size(); ++d)
      if (at[d].dim == dim && !repeats_along(quantity.element.value, static_cast<int64_t>(d))) return true;
    return false;
  }

  const Compute* broadcast_of(int value) const { return context_.program.compute_of<BroadcastOp>(value); }
  /// Is the value a broadcast along its dim `dim`? Reader follows those whose argument has no open extents; of the others, this is all that is known.
  bool repeats_along(int value, int64_t dim) const {
    const Compute* const broadcast = broadcast_of(value);
    if (broadcast == nullptr) return false;
    const Dims& from = reader_.type(broadcast->arguments[0]).dims;
    for (size_t d = 0; d < from.size(); ++d)
      if (broadcast->as<BroadcastOp>()->dims[d] == dim && from[d] != 1) return false;
    return true;
  }

  /// The dim of the positions that leads to dim `d` of the operand, if the elements along it can become a row.
  std::optional<Row> row_of(int64_t d) const {
    const AccessDims::OperandDim& dim = dims_.operand[d];
    for (const AccessDims::Position& position : dims_.positions) {
      const int64_t p = position.indices_dim, extent = frame_[p];
      const int64_t updated = slices_of(op_).dims[position.slices_dim];
      if (extent == kDynamic || extent < 2 || updated != extent) continue;
      int component = -1;
      if (dim.kind == OperandDimKind::removed && dim.component >= 0 && position.operand_dim < 0) {
        const int64_t there = operand_of(op_).dims[d];
        if (there == kDynamic || there < extent || !reader_.counts(columns_[dim.component], p)) continue;
        component = dim.component;
      } else if (position.operand_dim != d) {
        continue;
      }
      bool repeats = true;
      for (size_t k = 0; k < columns_.size(); ++k)
        repeats = repeats && (static_cast<int>(k) == component || !depends(columns_[k], p));
      if (repeats) return Row{p, d, component};
    }
    return std::nullopt;
  }

  /// From the operand's last dim outwards, as far as windows reach.
  void choose() {
    int64_t before = static_cast<int64_t>(slices_of(op_).dims.size());  // where the window's last dim so far lies in the slices
    for (auto d = static_cast<int64_t>(dims_.operand.size()); d-- > 0;) {
      const AccessDims::OperandDim& dim = dims_.operand[d];
      std::optional<Row> row;
      if (dim.kind != OperandDimKind::window) row = row_of(d);
      if (dim.kind != OperandDimKind::window && !row) break;
      const int64_t at = row ? dims_.slices_dim_of_indices(row->indices_dim) : dim.slices_dim;
      const bool is_last_component = row && row->component >= 0 && components_left() == 1;
      if (at >= before || is_last_component) break;
      before = at;
      if (row) rows_.push_back(*row);
    }
    // The dims of the window that lie further out must come before in the slices, too.
    while (!rows_.empty() && !is_in_order()) rows_.pop_back();
  }

  int64_t components_left() const {
    return static_cast<int64_t>(columns_.size()) -
           std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.component >= 0; });
  }
  const Row* row_at(int64_t operand_dim) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.operand_dim == operand_dim; });
    return found == rows_.end() ? nullptr : &*found;
  }
  bool is_row(int64_t indices_dim) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.indices_dim == indices_dim; });
  }
  bool is_row_component(int64_t k) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row.component == k; });
  }

  /// The dims of the window in the slices, in the order of the operand's dims.
  Dims window() const {
    Dims out;
    for (size_t d = 0; d < dims_.operand.size(); ++d) {
      const Row* const row = row_at(static_cast<int64_t>(d));
      if (row != nullptr) out.push_back(dims_.slices_dim_of_indices(row->indices_dim));
      if (dims_.operand[d].kind == OperandDimKind::window) out.push_back(dims_.operand[d].slices_dim);
    }
    return out;
  }
  bool is_in_order() const {
    const Dims list = window();
    return std::is_sorted(list.begin(), list.end());
  }

  /// Sets value_ to the indices of the rows. Returns the dim of their index vectors; -1 if they cannot be read or moved together.
  int place_indices() {
    IndexColumns left;
    for (const AccessDims::Position& position : dims_.positions)
      if (!is_row(position.indices_dim)) left.positions.push_back(position.indices_dim);
    for (size_t k = 0; k < columns_.size(); ++k)
      if (!is_row_component(static_cast<int64_t>(k))) left.columns.push_back(columns_[k].element);
    positions_ = left.positions;
    const int direct = left.direct(reader_, frame_);
    if (direct >= 0) {
      value_ = left.columns[0].value;
      return direct;
    }
    const int narrow = narrowed();
    if (narrow >= 0) return narrow;
    if (!is_static(frame_)) return -1;
    Dims dims, targets(frame_.size(), -1);
    for (const int64_t p : left.positions) {
      targets[p] = static_cast<int64_t>(dims.size());
      dims.push_back(frame_[p]);
    }
    const int vector_dim = static_cast<int>(dims.size());
    dims.push_back(1);
    for (const Element& column : left.columns)
      if (!is_static(reader_.type(column.value).dims)) return -1;
    std::vector<int> parts;
    for (Element& column : left.columns) {
      for (Coord& coord : column.at)  // along a row, all elements are the same
        if (coord.dim >= 0 && targets[coord.dim] < 0) coord = {-1, 0};
      parts.push_back(add_column(context_, number_, column.value, column, dims, targets));
    }
    dims.back() = static_cast<int64_t>(parts.size());
    const DType dtype = reader_.type(value_).dtype;
    value_ = parts.size() == 1 ? parts[0] : add_movement(context_, number_, ConcatenateOp{vector_dim}, parts, {dtype, dims, {}});
    return vector_dim;
  }

  /// The indices are a broadcast to extents that are known at the call: the same broadcast with extent 1 along the row, which then is the index
  /// vector of one component. Returns that dim; -1 if the indices are something else.
  int narrowed() {
    const Compute* const broadcast = broadcast_of(value_);
    if (broadcast == nullptr || !broadcast->takes_shape() || rows_.size() != 1 || columns_.size() != 1 || !dims_.scalar_indices)
      return -1;
    const int64_t dim = rows_[0].indices_dim;
    if (columns_[0].element.value != value_ || !repeats_along(value_, dim)) return -1;
    const auto [made, is_new] = made_.try_emplace({value_, dim}, -1);
    if (is_new) made->second = narrow(*broadcast, dim);
    value_ = made->second;
    return static_cast<int>(dim);
  }
  int narrow(Compute broadcast, int64_t dim) const {
    const TensorType shape = reader_.type(broadcast.arguments.back());
    const int extent = context_.program.add_constant(integer_list({1}, shape.dtype));
    broadcast.arguments.back() = add_movement(context_, number_, UpdateOp{{dim}}, {broadcast.arguments.back(), extent}, shape);
    broadcast.location = context_.kernel(number_).location + ", its indices";
    broadcast.results[0].dims[dim] = 1;
    return context_.program.add_compute(std::move(broadcast));
  }

  /// The number of a dim of the old indices among those of the new ones, whose vector is dim `vector_dim`.
  int64_t renumbered(int64_t indices_dim, int vector_dim) const {
    const auto place = std::find(positions_.begin(), positions_.end(), indices_dim) - positions_.begin();
    return place < vector_dim ? place : place + 1;
  }

  void change(int vector_dim) {
    const IndexSide side = index_side(op_);
    DimensionNumbers& numbers = *side.numbers;
    numbers.window_dims = window();
    Dims batching, of_indices, components;
    for (size_t i = 0; i < numbers.operand_batching_dims.size(); ++i) {
      if (row_at(numbers.operand_batching_dims[i]) != nullptr) continue;
      batching.push_back(numbers.operand_batching_dims[i]);
      of_indices.push_back(renumbered(numbers.indices_batching_dims[i], vector_dim));
    }
    numbers.operand_batching_dims = batching;
    numbers.indices_batching_dims = of_indices;
    std::erase_if(numbers.removed_dims, [&](int64_t d) { return row_at(d) != nullptr; });
    for (size_t k = 0; k < dims_.components.size(); ++k)
      if (!is_row_component(static_cast<int64_t>(k))) components.push_back(dims_.components[k]);
    numbers.index_map = components;
    *side.indices = reader_.type(value_);
    numbers.index_vector_dim = vector_dim;
    if (auto* gather = std::get_if<Gather>(&op_))
      for (const Row& row : rows_) gather->slice_sizes[row.operand_dim] = frame_[row.indices_dim];
    Expected<VerifiedOp> folded = VerifiedOp::of(std::move(op_));
    if (folded.ok()) apply(std::move(folded).value(), vector_dim);
  }

  void apply(VerifiedOp folded, int vector_dim) {
    const auto kernel = context_.program.edit_kernel(number_, ComputeDisposition::folded);
    int& indices = kernel->arguments[indices_slot(kernel->op)].value;
    const auto follow = [&](int& value, int& dim) {
      if (value != indices || std::find(positions_.begin(), positions_.end(), dim) == positions_.end()) return;
      value = value_;
      dim = static_cast<int>(renumbered(dim, vector_dim));
    };
    for (KernelArgument& argument : kernel->arguments) {
      if (argument.use != ArgumentUse::equal_extents) continue;
      follow(argument.value, argument.dim);
      follow(argument.other, argument.other_dim);
    }
    indices = value_;
    FilePositions file;
    for (const AccessDims::Position& position : dims_.positions)
      file.repeats.push_back(is_row(position.indices_dim) ? frame_[position.indices_dim] : 0);
    for (size_t k = 0; k < columns_.size(); ++k)
      if (!is_row_component(static_cast<int64_t>(k))) file.components.push_back(static_cast<int64_t>(k));
    kernel->file_positions = std::move(file);
    int64_t elements = 1;
    for (const Row& row : rows_) elements *= frame_[row.indices_dim];
    kernel->notes.insert(kernel->notes.begin(),
                         fmt::format("folded: each index of the file repeats for {} elements, which are a row here", elements));
    kernel->op = std::move(folded);  // last, as it ends what dims_ refers to
  }

  const FusionContext& context_;
  Narrowed& made_;
  const Reader& reader_;
  int number_;
  Op op_;
  const AccessDims& dims_;  ///< the kernel's, until its op is replaced
  int value_;               ///< the indices
  const Dims frame_;        ///< the dims of the indices before fusion
  std::vector<Quantity> columns_;
  std::vector<Row> rows_;  ///< from the operand's last dim outwards
  Dims positions_;         ///< dims of the indices before fusion that are still positions
};

}  // namespace

void fuse_rows(const FusionContext& context) {
  Narrowed made;
  const int kernels = static_cast<int>(context.program.kernels().size());
  for (int k = 0; k < kernels; ++k) RowFusion(context, k, made).run();
}

}  // namespace strew::inline v0::fusion
