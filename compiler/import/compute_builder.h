// ComputeBuilder: how a front end adds the operations around the kernels to a program: movement, elementwise and shape arithmetic, with their
// result types. It is the one vocabulary of formats whose operators broadcast and take shapes as tensors (ONNX, TensorFlow Lite).
//
// Operations on small constants are carried out at once. A small rank-1 tensor of integers is kept as the list of its elements where these
// are known one by one (ValueKind::stack), so that a shape that a file computes from the shape of a tensor remains a list of numbers and
// extents. Every function returns the number of the value with the result; errors name what is wrong, without the location. Tested by
// tests/unit/onnx_compute_test.cc and tests/unit/tflite_compute_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strew/import.h"

namespace strew::inline v0 {

class ComputeBuilder {
 public:
  /// `location` is that of the operation that is translated, as Compute::location.
  ComputeBuilder(Imported& imported, std::string location) : imported_(imported), location_(std::move(location)) {}

  /// A copy, because values move when one is added.
  TensorType type(int value) const { return imported_.values[static_cast<size_t>(value)].type; }
  bool is_constant(int value) const { return imported_.values[static_cast<size_t>(value)].kind == ValueKind::constant; }
  /// The elements of a constant of integers of rank 0 or 1, or of a stack of such constants; nothing if the value is not one.
  std::optional<std::vector<int64_t>> integers(int value) const;
  /// The elements of a small rank-1 tensor, or the one of a rank-0 tensor, as rank-0 values; nothing if they are not known one by one.
  std::optional<std::vector<int>> elements(int value);

  /// The element of a constant of one number.
  std::optional<Scalar> constant(int value) const;
  /// The constant that the value is, or null. It is gone when another constant is added.
  const Constant* find_constant(int value) const;

  int scalar(const Scalar& scalar);
  int integer(int64_t number, DType dtype = DType::i64);
  int integers(const std::vector<int64_t>& numbers, DType dtype = DType::i64);  ///< rank 1
  /// A rank-1 tensor of rank-0 values of one dtype; a constant if they are.
  int stack(const std::vector<int>& elements, DType dtype);
  /// The extent of a dim, rank 0, i64.
  int extent(int value, int64_t dim);
  /// The dims of the value as a rank-1 i64 tensor; [begin, end) of them.
  int shape(int value, size_t begin, size_t end);

  /// What a gather along dim 0 takes of a shape, if `value` is one (shape(), or made of one) and `indices` are constants; else nothing.
  Expected<std::optional<int>> taken(int value, int indices);

  // Elementwise. Shapes are broadcast as NumPy does.
  Expected<int> apply(ExprOp op, const std::vector<int>& arguments);  ///< comparisons give bool; `select` takes a bool first
  Expected<int> convert(int value, DType dtype);

  // Movement.
  Expected<int> reshape(int value, std::vector<int64_t> dims);  ///< one dim may be kDynamic: it follows from the others
  Expected<int> reshape_units(int value,
                              const std::vector<int64_t>& dims);  ///< that adds or removes dims of 1: any may be kDynamic
  /// `shape`: rank 1, integers. An element of 0 keeps the value's dim (unless `allow_zero`), -1 follows from the others.
  Expected<int> reshape_to(int value, int shape, bool allow_zero);
  Expected<int> transpose(int value, const std::vector<int64_t>& permutation);
  Expected<int> broadcast(int value, const std::vector<int64_t>& dims);  ///< known dims
  Expected<int> broadcast_to(int value, int shape);  ///< `shape`: rank 1, integers; broadcast with the value's dims
  Expected<int> concatenate(const std::vector<int>& values, int64_t dim);
  Expected<int> reverse(int value, const std::vector<int64_t>& dims);
  /// value[start:end:step] in each dim. kDynamic as an end: to the end of the dim. Negative numbers count from the end of a dim; numbers
  /// beyond it are cut, as in Python. Steps must not be 0.
  struct Range {
    int64_t start = 0, end = kToEnd, step = 1;
    static constexpr int64_t kToEnd = INT64_MAX;
  };
  Expected<int> slice(int value, const std::vector<Range>& ranges);
  /// Of `size[d]` elements from the rank-0 value `starts[d]` on.
  Expected<int> slice_from(int value, const std::vector<int>& starts, const std::vector<int64_t>& sizes);

  // Others.
  Expected<int> reduce(ExprOp op, int value, std::vector<int64_t> dims, bool keep);
  /// The sums, or other results, of each element with all before it along `dim`.
  Expected<int> scan(ExprOp op, int value, int64_t dim, bool exclusive, bool reverse);
  /// start, start + delta, … below `limit`: rank-0 values of one dtype.
  Expected<int> range(int start, int limit, int delta);

 private:
  Expected<int> add(Compute compute);
  Expected<std::optional<int>> evaluated(const Compute& compute);
  int add_value(Value value);
  int add_constant(Constant constant);
  Expected<std::vector<int>> broadcast_all(const std::vector<int>& arguments);

  Imported& imported_;
  std::string location_;
};

}  // namespace strew::inline v0
