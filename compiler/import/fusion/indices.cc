// Folds the arithmetic that produces the indices into the op. Each index component is a column: the chain of operations from the program's
// inputs to the index that the kernel reads. From the kernel backwards, these operations are taken off a column:
//
// 1. `select(i < 0, i + n, i)` becomes normalize_negative;
// 2. `clamp(0, i, n - 1)` becomes policy clamp;
// 3. conversions between integer types that keep every value disappear.
//
// normalize_negative and the policy apply to all components of an op. So the first two are taken only if every other column has the idiom
// too, or is known by its range not to need it: its values are never negative, or always in bounds. If that fails, fewer idioms are taken
// and the rest stays interpreted.
//
// What remains of the columns must be the indices of the changed op. If it is one tensor whose dims are the positions, with or without the
// index vector's dim, the kernel reads that tensor in place: the broadcast to [6,1] that JAX puts before every kernel disappears this way.
// Otherwise new movement operations put the shorter columns together. Tested by tests/unit/compiler/import/fusion/fusion_test.cc.
#include <algorithm>

#include "compiler/import/fusion/columns.h"
#include "compiler/import/fusion/match.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::fusion {
namespace {

struct Column {
  Quantity raw;
  bool normalised = false, clamped = false;
};

struct Allowed {
  bool normalise, clamp;
};

class IndexFusion {
 public:
  IndexFusion(const FusionContext& context, int kernel)
      : context_(context),
        reader_(context.reader),
        kernel_(kernel),
        op_(context.kernel(kernel).op),
        side_(index_side(op_)),
        dims_(context.kernel(kernel).op.access()),
        value_(context.kernel(kernel).tensor(indices_slot(op_))) {}

  void run() {
    if (dims_.components.empty()) return;
    list_columns();
    for (const Allowed allowed : {Allowed{true, true}, Allowed{true, false}, Allowed{false, true}, Allowed{false, false}}) {
      columns_.clear();
      for (size_t c = 0; c < quantities_.size(); ++c) columns_.push_back(stripped(quantities_[c], c, allowed));
      if (consistent()) break;
    }
    apply();
  }

 private:
  const TensorType& type(int value) const { return reader_.type(value); }
  bool is_stack() const { return context_.program.value(value_).kind == ValueKind::stack; }
  int64_t dim_of(size_t c) const { return (*side_.operand)[dims_.components[c]]; }
  /// The largest start at which the window of component `c` fits; negative if it is not known or no window fits.
  int64_t most_of(size_t c) const {
    const int64_t dim = dim_of(c), window = dims_.operand[dims_.components[c]].window;
    return dim == kDynamic || window == kDynamic ? -1 : dim - window;
  }

  void list_columns() {
    const std::vector<int> parts = context_.program.value(value_).parts;
    for (size_t c = 0; c < dims_.components.size(); ++c) {
      if (is_stack()) {
        quantities_.push_back(reader_.quantity(reader_.elements_of(parts[c])));
      } else {
        quantities_.push_back(reader_.quantity(reader_.column(value_, side_.numbers->index_vector_dim, static_cast<int64_t>(c))));
      }
    }
    for (size_t p = 0; p < dims_.positions.size() && !is_stack(); ++p) positions_.push_back(dims_.positions[p].indices_dim);
  }

  Column stripped(const Quantity& quantity, size_t c, Allowed allowed) const {
    Column out{quantity};
    for (;;) {
      std::optional<Quantity> inner;
      if (!out.normalised && allowed.normalise && (inner = normalised(reader_, out.raw, dim_of(c)))) {
        out.normalised = reader_.range(*inner).low < 0;
      } else if (!out.normalised && allowed.clamp && (inner = clamped(reader_, out.raw, most_of(c)))) {
        out.clamped = true;
      } else {
        inner = widened(reader_, out.raw);
      }
      if (!inner || !reader_.is_value(*inner)) return out;
      out.raw = *inner;
    }
  }

  bool clamps_by_itself() const { return oob_of(op_) == OobPolicy::clamp; }
  bool counts_from_end() const {
    return std::visit([](const auto& op) { return op.normalize_negative; }, op_);
  }
  bool is_fill() const { return !is_scatter(op_) && !clamps_by_itself(); }

  bool any(bool Column::*flag) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& column) { return column.*flag; });
  }

  bool consistent() const {
    const bool normalises = any(&Column::normalised), clamps = any(&Column::clamped);
    if (clamps && is_fill()) return false;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const Range range = reader_.range(column.raw);
      if (normalises && !column.normalised && range.low < 0) return false;
      // What counts from the end already would count twice, and what is clipped at 0 would count from there.
      if (counts_from_end() && (column.normalised || (column.clamped && range.low < 0))) return false;
      const bool inside = !column.normalised && range.low >= 0 && range.high <= most_of(c);
      if (clamps && !clamps_by_itself() && !column.clamped && !inside) return false;
    }
    return true;
  }

  /// If all columns are read from one tensor: which dim of it is the index vector (its rank if indices are scalars). -1 if they are not.
  int direct() const {
    IndexColumns out{{}, positions_};
    for (const Column& column : columns_) out.columns.push_back(column.raw.element);
    return out.direct(reader_, type(value_).dims);
  }

  int converted(int value, DType dtype) const {
    if (type(value).dtype == dtype) return value;
    ExprBuilder e;
    const int32_t to = e.convert(e.extra(0, type(value).dtype), dtype);
    return add_movement(context_, kernel_, MapOp{e.returns({to})}, {value}, {dtype, type(value).dims, {}});
  }

  /// The value that is this element of a stack, and nothing else.
  int alone(const Element& element) const {
    const std::vector<int64_t>& dims = type(element.value).dims;
    const bool is_alone = std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; });
    return is_alone ? element.value : add_column(context_, kernel_, element.value, element, {}, {});
  }

  /// The column as a tensor with the dims of the indices, in which the index vector has extent 1.
  int moved(const Column& column) const {
    std::vector<int64_t> dims = type(value_).dims;
    dims[side_.numbers->index_vector_dim] = 1;
    const int value = converted(column.raw.element.value, type(value_).dtype);
    return add_column(context_, kernel_, value, column.raw.element, dims, all_dims(dims.size()));
  }

  /// The columns as one tensor of the indices' type; -1 if no idiom was taken off, so that nothing is gained, or if it cannot be built.
  int rebuilt() const {
    if (!any(&Column::normalised) && !any(&Column::clamped)) return -1;
    std::vector<int> parts;
    if (is_stack()) {
      Value stack = context_.program.value(value_);
      stack.parts.clear();
      for (const Column& column : columns_) stack.parts.push_back(converted(alone(column.raw.element), stack.type.dtype));
      return context_.program.add_value(std::move(stack));
    }
    if (side_.numbers->index_vector_dim == type(value_).rank()) return -1;
    for (const Column& column : columns_)
      if (!is_static(type(column.raw.element.value).dims) || !is_static(type(value_).dims)) return -1;
    for (const Column& column : columns_) parts.push_back(moved(column));
    return parts.size() == 1
               ? parts[0]
               : add_movement(context_, kernel_, ConcatenateOp{side_.numbers->index_vector_dim}, parts, type(value_));
  }

  void apply() {
    const bool normalises = any(&Column::normalised), clamps = any(&Column::clamped);
    const int vector_dim = direct();
    const bool in_place = vector_dim >= 0 && columns_[0].raw.element.value != value_;
    const int value = in_place ? columns_[0].raw.element.value : rebuilt();
    if (value < 0) return;
    if (in_place) renumber(vector_dim);
    *side_.indices = type(value);
    std::visit(
        [&](auto& op) {
          op.normalize_negative = op.normalize_negative || normalises;
          if (clamps) op.oob = OobPolicy::clamp;
          if (normalises || clamps) op.indices_are_sorted = false;  // the attribute was about the indices before fusion
        },
        op_);
    std::vector<int> tensors = context_.kernel(kernel_).tensors();
    tensors[indices_slot(op_)] = value;
    if (!replace_op(context_, kernel_, std::move(op_), tensors, ComputeDisposition::folded, "")) return;
    const auto kernel = context_.program.edit_kernel(kernel_);
    if (normalises) kernel->notes.emplace_back("folded: indices below 0 count from the end (i < 0 ? i + n : i)");
    if (clamps && !kernel->fixed_policy) {
      kernel->notes.emplace_back("folded: indices are clipped, so the policy is clamp: --oob does not apply");
      kernel->fixed_policy = true;
    }
    if (in_place) kernel->notes.emplace_back("folded: index vectors are read where they lie");
  }

  /// Batching dims and the vector's dim are numbers of the indices' dims: renumbers them for the tensor that is read in place, which has
  /// the same positions around another vector dim.
  void renumber(int vector_dim) {
    for (int64_t& d : side_.numbers->indices_batching_dims) {
      const auto place = std::find(positions_.begin(), positions_.end(), d) - positions_.begin();
      d = place < vector_dim ? place : place + 1;
    }
    side_.numbers->index_vector_dim = vector_dim;
  }

  const FusionContext& context_;
  const Reader& reader_;
  int kernel_;
  Op op_;
  IndexSide side_;          ///< of op_
  const AccessDims& dims_;  ///< the kernel's, until its op is replaced
  int value_;
  std::vector<Quantity> quantities_;
  std::vector<int64_t> positions_;  ///< dims of the indices without the index vector's dim
  std::vector<Column> columns_;
};

}  // namespace

void fuse_indices(const FusionContext& context, int kernel) { IndexFusion(context, kernel).run(); }

}  // namespace strew::inline v0::fusion
