// Builders: write an op in C++.
//
//   using namespace strew::types;
//   Expected<Scatter> op = scatter_rows(f32({50000, 512}), i64({4096}), bf16({4096, 512}))
//                              .combine(CombinerKind::add).in_place().oob(OobPolicy::error).build();
//
// A form (forms.h: scatter_rows, gather, ...) returns a builder with the dimension numbers of a common operation filled
// in; every field can still be set. A builder can also be filled from nothing, with StableHLO's dimension numbers.
// build() derives the results that were left out and verifies the op. Builders own what they are given; a builder is
// not thread-safe. Tested by tests/unit/compiler/op/builder_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strew/export.h"
#include "strew/expr_builder.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/verify.h"

namespace strew::inline v0 {

/// Tensor types in short: f32({8, kDynamic}), i64({}). Dims and strides are in elements; without strides the tensor is
/// contiguous and row-major. tensor() takes any dtype.
namespace types {
using Dims = std::vector<int64_t>;
inline TensorType tensor(DType dtype, Dims dims, Dims strides = {}) { return {dtype, std::move(dims), std::move(strides)}; }
inline TensorType boolean(Dims dims, Dims strides = {}) { return tensor(DType::boolean, std::move(dims), std::move(strides)); }
inline TensorType i8(Dims dims, Dims strides = {}) { return tensor(DType::i8, std::move(dims), std::move(strides)); }
inline TensorType u8(Dims dims, Dims strides = {}) { return tensor(DType::u8, std::move(dims), std::move(strides)); }
inline TensorType i16(Dims dims, Dims strides = {}) { return tensor(DType::i16, std::move(dims), std::move(strides)); }
inline TensorType i32(Dims dims, Dims strides = {}) { return tensor(DType::i32, std::move(dims), std::move(strides)); }
inline TensorType u32(Dims dims, Dims strides = {}) { return tensor(DType::u32, std::move(dims), std::move(strides)); }
inline TensorType i64(Dims dims, Dims strides = {}) { return tensor(DType::i64, std::move(dims), std::move(strides)); }
inline TensorType u64(Dims dims, Dims strides = {}) { return tensor(DType::u64, std::move(dims), std::move(strides)); }
inline TensorType f16(Dims dims, Dims strides = {}) { return tensor(DType::f16, std::move(dims), std::move(strides)); }
inline TensorType bf16(Dims dims, Dims strides = {}) { return tensor(DType::bf16, std::move(dims), std::move(strides)); }
inline TensorType f32(Dims dims, Dims strides = {}) { return tensor(DType::f32, std::move(dims), std::move(strides)); }
inline TensorType f64(Dims dims, Dims strides = {}) { return tensor(DType::f64, std::move(dims), std::move(strides)); }
}  // namespace types

/// What the builders of both ops have.
template <class Builder, class T>
class OpBuilder {
 public:
  using Dims = std::vector<int64_t>;

  Builder& indices(TensorType type) { return op_.indices = std::move(type), self(); }
  /// Appends the tensor of the next component of the index vectors, of which indices() then has component 0.
  Builder& more_indices(TensorType type) { return op_.more_indices.push_back(std::move(type)), self(); }
  Builder& extra(ExtraKind kind, TensorType type) { return op_.extras.push_back({kind, std::move(type)}), self(); }

  /// All lists of the dimension numbers, and index_vector_dim.
  Builder& dimension_numbers(DimensionNumbers numbers) { return op_.dims = std::move(numbers), self(); }
  Builder& batching_dims(Dims of_operand, Dims of_indices) {
    op_.dims.operand_batching_dims = std::move(of_operand);
    op_.dims.indices_batching_dims = std::move(of_indices);
    return self();
  }
  Builder& index_vector_dim(int64_t dim) { return op_.dims.index_vector_dim = dim, self(); }

  Builder& oob(OobPolicy policy) { return op_.oob = policy, self(); }
  Builder& normalize_negative(bool on = true) { return op_.normalize_negative = on, self(); }
  Builder& indices_are_sorted(bool on = true) { return op_.indices_are_sorted = on, self(); }

  /// Records a failure; build() returns the first one. A form uses it where its arguments have no dimension numbers.
  Builder& fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
    return self();
  }

 protected:
  Builder& self() { return static_cast<Builder&>(*this); }

  T op_;
  Status failure_;
};

class GatherBuilder;

class ScatterBuilder : public OpBuilder<ScatterBuilder, Scatter> {
 public:
  /// Append the type of one pair's operand or updates; a scatter of N pairs calls each N times, in the order of the pairs.
  ScatterBuilder& operand(TensorType type) { return op_.operands.push_back(std::move(type)), *this; }
  ScatterBuilder& updates(TensorType type) { return op_.updates.push_back(std::move(type)), *this; }
  /// Appends the type of one pair's result. Without results, build() takes the operands' dims and dtypes, contiguous;
  /// with init in_place, the operands' types with their strides.
  ScatterBuilder& result(TensorType type) { return op_.results.push_back(std::move(type)), *this; }

  /// Tensor number `index` of the role (updates, extra), whose type is given as ever, is what the gather makes (op.h: Lookup). The gather's result need not
  /// be given, and its policy may be skip_element or skip_window:
  ///
  ///   scatter_rows(f32({nodes, 64}), i64({edges}), f32({edges, 64}))
  ///       .look_up(Role::updates, 0, gather_rows(f32({nodes, 64}), i64({edges}))).combine(CombinerKind::add)
  STREW_API ScatterBuilder& look_up(Role role, int index, const GatherBuilder& gather);

  /// Appends a reduction over each row (op.h: RowReduction). The expression of combine() reads it as the extra after those that extra() appends.
  ScatterBuilder& row_reduction(ExprOp fold, int lanes, Expr value) {
    op_.row_reductions.push_back({fold, lanes, std::move(value)});
    return *this;
  }

  /// Adds a second pair to a scatter of one pair that takes maxima or minima: result 1, i64, says which position won each element, as arg-max does
  /// (docs/semantics.md, section 2). The combiner is max or min, or an expression of result maximum(current(0), x) or minimum(current(0), x); look-ups, extras and
  /// policies may be any. Call it last: it makes a graph of what was set before.
  ///
  /// The call binds the numbers of the positions, 0 or more, as updates 1, of which each number holds for a whole window: strides are 0 along windows, and others
  /// are the caller's. Init fill: values are filled with the combiner's identity (no fill, or this one, is given), and positions with -1, which elements without
  /// updates keep. Inits copy and in_place: operand 1 has the positions before the call, such as -1, which elements keep whose value before the call wins.
  ///
  ///   scatter_rows(f32({nodes, 64}), i64({edges}), f32({edges, 64})).combine(CombinerKind::max).fill({}).return_arg()
  STREW_API ScatterBuilder& return_arg();

  ScatterBuilder& update_window_dims(Dims dims) { return op_.dims.window_dims = std::move(dims), *this; }
  ScatterBuilder& inserted_window_dims(Dims dims) { return op_.dims.removed_dims = std::move(dims), *this; }
  ScatterBuilder& scatter_dims_to_operand_dims(Dims dims) { return op_.dims.index_map = std::move(dims), *this; }

  /// The combiner by name (any but CombinerKind::expr), or as an expression graph; the empty graph is assign.
  ScatterBuilder& combine(CombinerKind kind) {
    op_.combiner = kind;
    op_.expr = {};
    return *this;
  }
  ScatterBuilder& combine(Expr expr) {
    op_.combiner = expr == Expr{} ? CombinerKind::assign : CombinerKind::expr;
    op_.expr = std::move(expr);
    return *this;
  }
  ScatterBuilder& in_place() { return op_.init = InitKind::in_place, *this; }
  /// Sets init fill: one value per pair, in the results' dtypes.
  ScatterBuilder& fill(std::vector<Scalar> values) {
    op_.init = InitKind::fill;
    op_.fill = std::move(values);
    return *this;
  }
  ScatterBuilder& relaxed(bool on = true) { return op_.order = on ? Order::relaxed : Order::in_order, *this; }
  ScatterBuilder& accumulate(Accumulate mode) { return op_.accumulate = mode, *this; }
  ScatterBuilder& unique_indices(bool on = true) { return op_.unique_indices = on, *this; }

  /// Sets a field from text: its key and its value in canonical text (docs/op_text.md), "combiner" and "add", or "fill" and "0:f32". It
  /// replaces the field's value; an error names the field, and leaves the builder as it was.
  STREW_API Status set(std::string_view field, std::string_view value);

  /// The op, complete and verified; otherwise the recorded failure, or what verify() says.
  STREW_API Expected<Scatter> build(const VerifyOptions& options = {}) const;
};

class GatherBuilder : public OpBuilder<GatherBuilder, Gather> {
 public:
  GatherBuilder& operand(TensorType type) { return op_.operand = std::move(type), *this; }
  /// The result's type. Without it, build() derives the dims from indices and slice_sizes and the dtype from expr, or
  /// from the operand if there is no expr; contiguous.
  GatherBuilder& result(TensorType type) {
    op_.result = std::move(type);
    has_result_ = true;
    return *this;
  }

  GatherBuilder& offset_dims(Dims dims) { return op_.dims.window_dims = std::move(dims), *this; }
  GatherBuilder& collapsed_slice_dims(Dims dims) { return op_.dims.removed_dims = std::move(dims), *this; }
  GatherBuilder& start_index_map(Dims dims) { return op_.dims.index_map = std::move(dims), *this; }
  GatherBuilder& slice_sizes(Dims sizes) { return op_.slice_sizes = std::move(sizes), *this; }

  GatherBuilder& expr(Expr expr) { return op_.expr = std::move(expr), *this; }
  /// Sets policy fill_element or fill_window, and the value that an out-of-bounds element or window gets, in the operand's dtype.
  GatherBuilder& fill(OobPolicy policy, Scalar value) {
    op_.oob = policy;
    op_.fill = value;
    return *this;
  }

  /// As ScatterBuilder::set.
  STREW_API Status set(std::string_view field, std::string_view value);

  /// The op, complete and verified; otherwise the recorded failure, or what verify() says.
  STREW_API Expected<Gather> build(const VerifyOptions& options = {}) const;

 private:
  friend ScatterBuilder;
  TensorType derived_result() const;

  bool has_result_ = false;
};

}  // namespace strew::inline v0
