// See run.h. Checks the indices (policy `error`), makes the initial values, then visits every index position in
// row-major order and every element of its window: loads the destination, combines, stores.
//
// Wide accumulation keeps a value per destination beside the results until the end. Only destinations that an update
// reached are then stored, so all others keep their bits. Updates are converted to the accumulator's dtype directly,
// with one rounding.
//
// This file has the reference's only optimisation: contiguous tensors of one dtype are copied by one memmove, because operands are caches and tables
// of many megabytes while updates are small. Tested by tests/unit/backends/reference/reference_scatter_test.cc.
#include <cstring>
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

/// The wide accumulators of one result; the row-major number of a destination is the subscript. `touched`: an update
/// has reached it.
struct Accumulators {
  DType dtype;
  std::vector<Scalar> value;
  std::vector<bool> touched;
};

/// The tensors of a call by role.
struct Bound {
  std::vector<BoundTensor> results, operands, indices, updates, extras;

  Bound(const Scatter& op, std::span<const TensorView> tensors) {
    size_t next_view = 0;
    const auto take = [&](std::vector<BoundTensor>& list, size_t count) {
      for (size_t i = 0; i < count; ++i) list.emplace_back(tensors[next_view++]);
    };
    take(results, op.results.size());
    take(operands, op.init == InitKind::copy ? op.operands.size() : 0);
    take(indices, 1);
    take(updates, op.updates.size());
    take(extras, op.extras.size());
  }
};

class ScatterRun {
 public:
  ScatterRun(const Scatter& op, std::span<const TensorView> tensors)
      : op_(op),
        bound_(op, tensors),
        geometry_(geometry(op.dims, bound_.results[0], bound_.indices[0], bound_.updates[0])),
        indices_(geometry_, bound_.indices[0]),
        policy_(geometry_, op.oob, op.normalize_negative),
        graph_(combine_graph(op)),
        evaluator_(graph_),
        current_(op.results.size()),
        update_(op.updates.size()),
        extra_(op.extras.size()) {
    for (const BoundTensor& tensor : bound_.updates) updates_.push_back(slice_stream(geometry_, tensor));
    for (size_t i = 0; i < op.extras.size(); ++i) extras_.push_back(extra_stream(geometry_, op.extras[i].kind, bound_.extras[i]));
  }

  std::optional<strew_fault> run() {
    if (op_.oob == OobPolicy::error)
      if (const auto fault = policy_.find_fault(indices_)) return fault;
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
  void visit_positions() {
    Coords position(geometry_.positions.size(), 0), in_window(geometry_.window.size(), 0), target(geometry_.target.size(), 0);
    do {
      policy_.start(indices_, position);
      if (op_.oob == OobPolicy::skip_window && !policy_.window_inside()) continue;
      do {
        if (policy_.resolve(in_window, target)) update_element(position, in_window, target);
      } while (next(geometry_.window, in_window));
    } while (next(geometry_.positions, position));
  }

  void update_element(const Coords& position, const Coords& in_window, const Coords& target) {
    const bool wide = op_.accumulate != Accumulate::native;
    if (!wide && op_.combiner != CombinerKind::assign) return update_by_expression(position, in_window, target);
    for (size_t i = 0; i < updates_.size(); ++i) {
      const BoundTensor& result = bound_.results[i];
      const Scalar update = updates_[i].load(position, in_window);
      if (wide)
        accumulate(i, target, update);
      else
        result.store(dot(target, result.strides), convert(update, result.dtype));
    }
  }

  void update_by_expression(const Coords& position, const Coords& in_window, const Coords& target) {
    for (size_t i = 0; i < updates_.size(); ++i) {
      current_[i] = bound_.results[i].load(dot(target, bound_.results[i].strides));
      update_[i] = updates_[i].load(position, in_window);
    }
    for (size_t i = 0; i < extras_.size(); ++i) extra_[i] = extras_[i].load(position, in_window);
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

  /// Folds one update into the wide accumulator. The combiner is a single add or sub: verify_scatter.cc admits no
  /// other.
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
  std::vector<Stream> updates_, extras_;
  const Expr graph_;
  scalar_eval::ExprEvaluator evaluator_;
  std::vector<Scalar> current_, update_, extra_;
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
