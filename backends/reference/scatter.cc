// See run.h. Checks the indices (policy `error`), makes the initial values, then visits every index position in
// row-major order and every element of its window: loads the destination, combines, stores.
//
// Wide accumulation keeps a value per destination beside the results until the end. Only destinations that an update
// reached are then stored, so all others keep their bits. Updates are converted to the accumulator's dtype directly,
// with one rounding.
//
// This file has the reference's only optimisation: contiguous tensors of one dtype are copied by one memmove, because operands are caches and tables
// of many megabytes while updates are small. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/reference/geometry.h"
#include "backends/reference/policy.h"
#include "backends/reference/run.h"
#include "compiler/evaluate/arithmetic.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/op/combiner.h"

namespace strew::inline v0::reference {
namespace {

/// Is the tensor row-major without gaps, and does every element take whole bytes?
bool is_block(const BoundTensor& tensor) { return bits(tensor.dtype) >= 8 && tensor.strides == row_major(tensor.dims); }

/// The initial values of a result: the operand's, converted if the dtypes differ, with all bits if they are equal. Both may be the same buffer.
void init_copy(const BoundTensor& result, const BoundTensor& operand) {
  if (is_empty(result.dims)) return;
  if (result.dtype == operand.dtype && is_block(result) && is_block(operand)) {
    std::memmove(result.data, operand.data, static_cast<size_t>(storage_bytes(result.dtype, volume(result.dims))));
    return;
  }
  Coords coord(result.dims.size(), 0);
  do {
    result.store(dot(coord, result.strides), convert(operand.load(dot(coord, operand.strides)), result.dtype));
  } while (next(result.dims, coord));
}

void init_fill(const BoundTensor& result, const Scalar& value) {
  if (is_empty(result.dims)) return;
  Coords coord(result.dims.size(), 0);
  do {
    result.store(dot(coord, result.strides), value);
  } while (next(result.dims, coord));
}

/// Is the result's stride 0 in all window dims that have more than one element, of which there is one?
bool holds_values_of_rows(const Scatter& op, const TensorType& result) {
  bool repeats = false;
  for (size_t d = 0; d < result.strides.size(); ++d) {
    const auto has = [&](const std::vector<int64_t>& dims) {
      return std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end();
    };
    if (has(op.dims.removed_dims) || has(op.dims.operand_batching_dims) || result.dims[d] == 1) continue;
    if (result.strides[d] != 0) return false;
    repeats = true;
  }
  return repeats;
}

/// The wide accumulators of one result; the row-major number of a destination is the subscript. `touched`: an update
/// has reached it.
struct Accumulators {
  DType dtype;
  std::vector<Scalar> value;
  std::vector<bool> touched;
};

/// What a scatter reads once per position and window element: a tensor, or the elements that a look-up finds in its table.
class Input {
 public:
  explicit Input(Stream stream) : stream_(std::move(stream)) {}
  Input(const Gather& lookup, const BoundTensor& table, std::span<const BoundTensor> indices)
      : lookup_(std::make_unique<Found>(lookup, table, indices)) {}

  /// Policy `error`: the first index out of bounds.
  std::optional<strew_fault> find_fault() const {
    if (lookup_ == nullptr || lookup_->gather.oob != OobPolicy::error) return std::nullopt;
    return lookup_->policy.find_fault(lookup_->indices);
  }
  void start(const Coords& position) {
    if (lookup_ != nullptr) lookup_->policy.start(lookup_->indices, position);
  }
  /// Nothing: the table has no element there, and the policy gives no value.
  std::optional<Scalar> load(const Coords& position, const Coords& in_window) {
    return lookup_ == nullptr ? stream_->load(position, in_window) : lookup_->load(in_window);
  }

 private:
  struct Found {
    Found(const Gather& g, const BoundTensor& t, std::span<const BoundTensor> index_tensors)
        : gather(g),
          table(t),
          shape(geometry(g.dims, t.dims, index_tensors[0].dims, made_dims(g, t, index_tensors[0]))),
          indices(shape, index_tensors),
          policy(shape, g.oob, g.normalize_negative),
          source(shape.target.size(), 0) {}

    std::optional<Scalar> load(const Coords& in_window) {
      // An extra per position has no window.
      const Coords& element = shape.window.empty() ? none : in_window;
      const bool by_window = gather.oob == OobPolicy::fill_window || gather.oob == OobPolicy::skip_window;
      if ((!by_window || policy.window_inside()) && policy.resolve(element, source))
        return table.load(dot(source, table.strides));
      return is_fill(gather.oob) ? std::optional(gather.fill) : std::nullopt;
    }

    const Gather& gather;
    const BoundTensor table;
    const Geometry shape;
    const Indices indices;
    Policy policy;
    Coords source;
    const Coords none;
  };

  std::optional<Stream> stream_;
  std::unique_ptr<Found> lookup_;  // it refers to its own geometry
};

class ScatterRun {
 public:
  ScatterRun(const Scatter& op, std::span<const TensorView> tensors)
      : op_(op),
        bound_(op, tensors),
        geometry_(geometry_of(op, bound_)),
        indices_(geometry_, bound_.sources[0]),
        policy_(geometry_, op.oob, op.normalize_negative),
        graph_(combine_graph(op)),
        evaluator_(graph_),
        per_row_(std::ranges::any_of(op.results, [&](const TensorType& type) { return holds_values_of_rows(op, type); })),
        current_(op.results.size()),
        update_(op.updates.size()),
        extra_(op.extras.size() + op.row_reductions.size()) {
    for (const RowReduction& reduction : op.row_reductions) reductions_.emplace_back(reduction.value);
    for (size_t i = 0; i < op.updates.size(); ++i)
      if (!add_lookup(updates_, Role::updates, i, bound_.updates[i]))
        updates_.emplace_back(slice_stream(geometry_, bound_.updates[i]));
    for (size_t i = 0; i < op.extras.size(); ++i)
      if (!add_lookup(extras_, Role::extra, i, bound_.extras[i]))
        extras_.emplace_back(extra_stream(geometry_, op.extras[i].kind, bound_.extras[i]));
  }

  std::optional<strew_fault> run() {
    if (const auto fault = find_fault()) return fault;
    for (size_t i = 0; i < bound_.results.size(); ++i) {
      if (op_.init == InitKind::copy) init_copy(bound_.results[i], bound_.operands[i]);
      if (op_.init == InitKind::fill) init_fill(bound_.results[i], op_.fill[i]);
    }
    if (is_empty(geometry_.positions) || is_empty(geometry_.window)) return std::nullopt;
    if (op_.accumulate != Accumulate::native) start_accumulators();
    visit_positions();
    finish_accumulators();
    return std::nullopt;
  }

 private:
  bool add_lookup(std::vector<Input>& list, Role role, size_t number, const BoundTensor& table) {
    for (size_t l = 0; l < op_.lookups.size(); ++l) {
      const Lookup& lookup = op_.lookups[l];
      if (lookup.of != role || lookup.index != static_cast<int>(number)) continue;
      list.emplace_back(lookup.gather, table, bound_.sources[l + 1]);
      return true;
    }
    return false;
  }

  /// The first bad index of all sources with policy error: that of the smallest position, and there that of the first source.
  std::optional<strew_fault> find_fault() const {
    std::optional<strew_fault> first;
    if (op_.oob == OobPolicy::error) first = policy_.find_fault(indices_);
    int64_t source = 0;
    for (const Lookup& lookup : op_.lookups) {
      ++source;
      const std::vector<Input>& list = lookup.of == Role::updates ? updates_ : extras_;
      std::optional<strew_fault> fault = list[static_cast<size_t>(lookup.index)].find_fault();
      if (!fault || (first && first->position <= fault->position)) continue;
      fault->source = source;
      first = fault;
    }
    return first;
  }

  void visit_positions() {
    Coords position(geometry_.positions.size(), 0), in_window(geometry_.window.size(), 0), target(geometry_.target.size(), 0);
    do {
      policy_.start(indices_, position);
      if (op_.oob == OobPolicy::skip_window && !policy_.window_inside()) continue;
      for (Input& input : updates_) input.start(position);
      for (Input& input : extras_) input.start(position);
      if (!op_.row_reductions.empty() && !reduce_row(position)) continue;
      do {
        if (policy_.resolve(in_window, target) && load_inputs(position, in_window)) update_element(target);
      } while (!per_row_ && next(geometry_.window, in_window));
    } while (next(geometry_.positions, position));
  }

  /// Computes the row's reductions, each from the row's first element on. False: a look-up has no row, so nothing is combined.
  bool reduce_row(const Coords& position) {
    for (size_t k = 0; k < reductions_.size(); ++k) {
      const RowReduction& reduction = op_.row_reductions[k];
      const DType dtype = reduction.value.result().dtype;
      const auto fold = [&](Scalar& into, const Scalar& value) { into = scalar_eval::apply(reduction.fold, into, value); };
      std::vector<Scalar> lanes(static_cast<size_t>(reduction.lanes), Scalar{dtype, {*identity_bits(reduction.fold, dtype), 0}});
      Coords in_window(geometry_.window.size(), 0);
      size_t element = 0;
      do {
        if (!load_inputs(position, in_window)) return false;
        reductions_[k].run({}, update_, extra_);
        fold(lanes[element++ % lanes.size()], reductions_[k].result(0));
      } while (next(geometry_.window, in_window));
      for (; lanes.size() > 1; lanes.resize(lanes.size() / 2))
        for (size_t pair = 0; 2 * pair < lanes.size(); ++pair) {
          lanes[pair] = lanes[2 * pair];
          fold(lanes[pair], lanes[2 * pair + 1]);
        }
      extra_[op_.extras.size() + k] = lanes[0];
    }
    return true;
  }

  /// False: a look-up gives no value, so nothing is combined.
  bool load_inputs(const Coords& position, const Coords& in_window) {
    const auto load = [&](std::vector<Input>& inputs, std::vector<Scalar>& values) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        const std::optional<Scalar> value = inputs[i].load(position, in_window);
        if (!value) return false;
        values[i] = *value;
      }
      return true;
    };
    return load(updates_, update_) && load(extras_, extra_);
  }

  void update_element(const Coords& target) {
    const bool wide = op_.accumulate != Accumulate::native;
    if (!wide && op_.combiner != CombinerKind::assign) return update_by_expression(target);
    for (size_t i = 0; i < updates_.size(); ++i) {
      const BoundTensor& result = bound_.results[i];
      if (wide)
        accumulate(i, target, update_[i]);
      else
        result.store(dot(target, result.strides), convert(update_[i], result.dtype));
    }
  }

  void update_by_expression(const Coords& target) {
    for (size_t i = 0; i < updates_.size(); ++i) current_[i] = bound_.results[i].load(dot(target, bound_.results[i].strides));
    evaluator_.run(current_, update_, extra_);
    for (size_t i = 0; i < updates_.size(); ++i)
      bound_.results[i].store(dot(target, bound_.results[i].strides), evaluator_.result(i));
  }

  void start_accumulators() {
    const auto count = static_cast<size_t>(volume(geometry_.target));
    for (const BoundTensor& result : bound_.results)
      accumulators_.push_back(
          {accumulator_dtype(op_.accumulate, result.dtype), std::vector<Scalar>(count), std::vector<bool>(count, false)});
  }

  /// Folds one update into the wide accumulator. The combiner is add, sub or mul: verify_scatter.cc admits no other.
  void accumulate(size_t i, const Coords& target, const Scalar& update) {
    Accumulators& wide = accumulators_[i];
    const BoundTensor& result = bound_.results[i];
    const auto number = static_cast<size_t>(linear(geometry_.target, target));
    Scalar& value = wide.value[number];
    if (!wide.touched[number]) value = convert(result.load(dot(target, result.strides)), wide.dtype);
    wide.touched[number] = true;
    value = scalar_eval::apply(find_combiner(op_.combiner)->op, value, convert(update, wide.dtype));
  }

  void finish_accumulators() {
    for (size_t i = 0; i < accumulators_.size(); ++i) {
      const BoundTensor& result = bound_.results[i];
      if (is_empty(result.dims)) continue;
      Coords target(geometry_.target.size(), 0);
      size_t number = 0;
      do {
        if (accumulators_[i].touched[number])
          result.store(dot(target, result.strides), convert(accumulators_[i].value[number], result.dtype));
        ++number;
      } while (next(geometry_.target, target));
    }
  }

  const Scatter& op_;
  const Bound bound_;
  const Geometry geometry_;
  const Indices indices_;
  Policy policy_;
  std::vector<Input> updates_, extras_;
  const Expr graph_;
  scalar_eval::ExprEvaluator evaluator_;
  std::vector<scalar_eval::ExprEvaluator> reductions_;  // the values of the op's row_reductions
  const bool per_row_;                                  // results hold one value per row
  std::vector<Scalar> current_, update_, extra_;        // extra_: the extras, then the row's reductions
  std::vector<Accumulators> accumulators_;
};

}  // namespace

std::optional<strew_fault> run(const Scatter& op, std::span<const TensorView> tensors) { return ScatterRun(op, tensors).run(); }

DType accumulator_dtype(Accumulate accumulate, DType result) {
  if (accumulate == Accumulate::native || !is_float(result)) return result;
  const DType wide = accumulate == Accumulate::wide ? DType::f32 : DType::f64;
  return bits(result) < bits(wide) ? wide : result;
}

}  // namespace strew::inline v0::reference
