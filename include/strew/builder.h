// Builders: how C++ writes an op.
//
//   using namespace strew::types;
//   Expected<Scatter> op = scatter_rows(f32({50000, 512}), i64({4096}), bf16({4096, 512}))
//                              .combine(CombinerKind::add).in_place().oob(OobPolicy::error).build();
//
// A factory knows the dimension numbers of one familiar form (semantics.md section 7) and returns a builder, so everything else can
// still be said. build() fills in what follows from the rest (results, strides) and verifies. Front ends use the same factories.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "strew/export.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/verify.h"

namespace strew::inline v0 {

/// f32({8, kDynamic}), i64({}), ... for the dtypes one writes most; tensor() for all.
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

class ScatterBuilder {
 public:
  using Dims = std::vector<int64_t>;

  /// One per pair, in order: call them N times.
  ScatterBuilder& operand(TensorType type) { return op_.operands.push_back(std::move(type)), *this; }
  ScatterBuilder& updates(TensorType type) { return op_.updates.push_back(std::move(type)), *this; }
  /// Left out: the operands' dims and dtypes, contiguous; in place: the operands' types.
  ScatterBuilder& result(TensorType type) { return op_.results.push_back(std::move(type)), *this; }
  ScatterBuilder& indices(TensorType type) { return op_.indices = std::move(type), *this; }
  ScatterBuilder& extra(ExtraKind kind, TensorType type) { return op_.extras.push_back({kind, std::move(type)}), *this; }

  ScatterBuilder& update_window_dims(Dims dims) { return op_.dims.update_window_dims = std::move(dims), *this; }
  ScatterBuilder& inserted_window_dims(Dims dims) { return op_.dims.inserted_window_dims = std::move(dims), *this; }
  ScatterBuilder& batching_dims(Dims of_input, Dims of_indices) {
    op_.dims.input_batching_dims = std::move(of_input);
    op_.dims.scatter_indices_batching_dims = std::move(of_indices);
    return *this;
  }
  ScatterBuilder& scatter_dims_to_operand_dims(Dims dims) {
    return op_.dims.scatter_dims_to_operand_dims = std::move(dims), *this;
  }
  ScatterBuilder& index_vector_dim(int64_t dim) { return op_.dims.index_vector_dim = dim, *this; }

  /// By name (not expr) or by graph, of which the empty one is assign.
  ScatterBuilder& combine(CombinerKind kind) { return combiner_ = kind, *this; }
  ScatterBuilder& combine(Expr expr) {
    combiner_ = CombinerKind::expr;
    op_.combiner = std::move(expr);
    return *this;
  }
  ScatterBuilder& in_place() { return op_.init = InitKind::in_place, *this; }
  /// init fill: one value per pair.
  ScatterBuilder& fill(std::vector<Scalar> values) {
    op_.init = InitKind::fill;
    op_.fill = std::move(values);
    return *this;
  }
  ScatterBuilder& oob(OobPolicy policy) { return op_.oob = policy, *this; }
  ScatterBuilder& normalize_negative(bool on = true) { return op_.normalize_negative = on, *this; }
  ScatterBuilder& relaxed(bool on = true) { return op_.order = on ? Order::relaxed : Order::in_order, *this; }
  ScatterBuilder& accumulate(Accumulate mode) { return op_.accumulate = mode, *this; }
  ScatterBuilder& indices_are_sorted(bool on = true) { return op_.indices_are_sorted = on, *this; }
  ScatterBuilder& unique_indices(bool on = true) { return op_.unique_indices = on, *this; }

  /// A factory that cannot name dimension numbers leaves the reason here; build() returns the first.
  ScatterBuilder& fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
    return *this;
  }

  STREW_API Expected<Scatter> build(const VerifyOptions& options = {}) const;

 private:
  Scatter op_;
  CombinerKind combiner_ = CombinerKind::assign;  ///< spelled out when the dtypes are known; expr: op_ holds the graph
  Status failure_;
};

class GatherBuilder {
 public:
  using Dims = std::vector<int64_t>;

  GatherBuilder& operand(TensorType type) { return op_.operand = std::move(type), *this; }
  GatherBuilder& indices(TensorType type) { return op_.indices = std::move(type), *this; }
  /// Left out: the dims that indices and slice_sizes give, the operand's dtype (or what expr returns), contiguous.
  GatherBuilder& result(TensorType type) {
    op_.result = std::move(type);
    has_result_ = true;
    return *this;
  }
  GatherBuilder& extra(ExtraKind kind, TensorType type) { return op_.extras.push_back({kind, std::move(type)}), *this; }

  GatherBuilder& offset_dims(Dims dims) { return op_.dims.offset_dims = std::move(dims), *this; }
  GatherBuilder& collapsed_slice_dims(Dims dims) { return op_.dims.collapsed_slice_dims = std::move(dims), *this; }
  GatherBuilder& batching_dims(Dims of_operand, Dims of_indices) {
    op_.dims.operand_batching_dims = std::move(of_operand);
    op_.dims.start_indices_batching_dims = std::move(of_indices);
    return *this;
  }
  GatherBuilder& start_index_map(Dims dims) { return op_.dims.start_index_map = std::move(dims), *this; }
  GatherBuilder& index_vector_dim(int64_t dim) { return op_.dims.index_vector_dim = dim, *this; }
  GatherBuilder& slice_sizes(Dims sizes) { return op_.slice_sizes = std::move(sizes), *this; }

  GatherBuilder& expr(Expr expr) { return op_.expr = std::move(expr), *this; }
  GatherBuilder& oob(OobPolicy policy) { return op_.oob = policy, *this; }
  /// oob fill_element or fill_window, with the value gathered instead.
  GatherBuilder& fill(OobPolicy policy, Scalar value) {
    op_.oob = policy;
    op_.fill = value;
    return *this;
  }
  GatherBuilder& normalize_negative(bool on = true) { return op_.normalize_negative = on, *this; }
  GatherBuilder& indices_are_sorted(bool on = true) { return op_.indices_are_sorted = on, *this; }

  GatherBuilder& fail(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
    return *this;
  }

  STREW_API Expected<Gather> build(const VerifyOptions& options = {}) const;

 private:
  TensorType derived_result() const;

  Gather op_;
  bool has_result_ = false;
  Status failure_;
};

/// An expression graph, node by node; every call returns the node's number.
///
///   ExprBuilder e;
///   const int32_t weight = e.extra(0, DType::f32);
///   const int32_t term = e.mul(e.update(0, DType::f32), weight);
///   const int32_t sum = e.add(e.current(0, DType::f32), term);
///   Expr weighted_add = e.returns({sum});
///
/// At most one nested call per statement: C++ does not order the arguments of a call, and the order of nodes is part of the op's text.
class ExprBuilder {
 public:
  STREW_API int32_t current(int32_t index, DType dtype);
  STREW_API int32_t update(int32_t index, DType dtype);
  STREW_API int32_t extra(int32_t index, DType dtype);
  STREW_API int32_t literal(const Scalar& value);
  STREW_API int32_t convert(int32_t value, DType dtype);
  STREW_API int32_t bitcast(int32_t value, DType dtype);
  /// Any operation; the dtype of the result follows from the arguments.
  STREW_API int32_t apply(ExprOp op, std::vector<int32_t> args);
  int32_t add(int32_t a, int32_t b) { return apply(ExprOp::add, {a, b}); }
  int32_t sub(int32_t a, int32_t b) { return apply(ExprOp::sub, {a, b}); }
  int32_t mul(int32_t a, int32_t b) { return apply(ExprOp::mul, {a, b}); }

  STREW_API Expr returns(std::vector<int32_t> results) const;

 private:
  int32_t push(ExprNode node);

  std::vector<ExprNode> nodes_;
};

}  // namespace strew::inline v0
