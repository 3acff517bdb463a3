// ProgramBuilder: how every front end builds a program: inputs, constants, kernels, and the operations around them, with the types of their
// results. The rules of shapes and their messages are here; a front end maps names and attributes, and adds the rules that its format alone has.
//
// Operations on small constants are carried out at once. A small rank-1 tensor of integers is kept as the list of its elements where these
// are known one by one (ValueKind::stack), so that a shape that a file computes from the shape of a tensor remains a list of numbers and
// extents. Every function returns the number of the value with the result; errors name what is wrong, without the location. Tested by
// tests/unit/compiler/import/builder/program_builder_test.cc, tests/unit/compiler/import/onnx/onnx_compute_test.cc and
// tests/unit/compiler/import/tflite/tflite_compute_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/assign.h"
#include "strew/export.h"
#include "strew/import.h"

namespace strew::inline v0 {

/// The numbers as a constant of rank 1.
Constant integer_list(const std::vector<int64_t>& numbers, DType dtype);
/// The function of a reduction or scan by one operator: current op update.
STREW_API Expr reducer(ExprOp op, DType dtype);

/// The functions that are marked are those that the module of MLIR's front ends calls.
class ProgramBuilder {
 public:
  /// `location` is that of the operation that is translated, as Compute::location.
  ProgramBuilder(Program& program, std::string location)
      : program_(program), location_(std::move(location)), first_(program.values().size()) {}

  /// A copy, because values move when one is added.
  TensorType type(int value) const { return program_.type(value); }
  bool is_constant(int value) const { return program_.value(value).kind == ValueKind::constant; }
  /// The elements of a constant of integers of rank 0 or 1, or of a stack of such constants; nothing if the value is not one.
  STREW_API std::optional<std::vector<int64_t>> integers(int value) const;
  /// The elements of a small rank-1 tensor, or the one of a rank-0 tensor, as rank-0 values; nothing if they are not known one by one.
  std::optional<std::vector<int>> elements(int value);

  /// The element of a constant of one number.
  std::optional<Scalar> constant(int value) const;
  /// The constant that the value is, or null. It is gone when another constant is added.
  const Constant* find_constant(int value) const;

  STREW_API int add_constant(Constant constant);
  int scalar(const Scalar& scalar);
  int number(double number, DType dtype) { return scalar(Scalar::of(dtype, number)); }
  STREW_API int integer(int64_t number, DType dtype = DType::i64);
  int integers(const std::vector<int64_t>& numbers, DType dtype = DType::i64);  ///< rank 1
  /// A rank-1 tensor of rank-0 values of one dtype; a constant if they are.
  STREW_API int stack(const std::vector<int>& elements, DType dtype);
  /// The extent of a dim, rank 0, i64.
  STREW_API int extent(int value, int64_t dim);
  /// The dims of the value as a rank-1 i64 tensor; [begin, end) of them.
  int shape(int value, size_t begin, size_t end);

  /// The elements of a rank-1 tensor of integers whose length is known; kDynamic where an element is not known before the call.
  std::vector<int64_t> known(int list);
  /// Element `at` of a rank-1 tensor, of rank 0 and dtype i64.
  Expected<int> element(int list, int64_t at);
  /// The dims that `shape` holds, a rank-1 tensor of integers: kDynamic where they are known at the call only.
  STREW_API Expected<std::vector<int64_t>> extents(int shape);

  STREW_API int input(ProgramInput input, std::vector<std::string> symbols = {});
  /// Zeros in place of an optional input that the file leaves out. Dim `like_dim` of `like` gives the extent of a dynamic dim.
  int zeros(TensorType type, int like, int like_dim);
  /// Adds a kernel, which becomes one of this builder's location unless it has one, and returns its results, which are contiguous: a program
  /// lays them out with the op's strides when it runs.
  STREW_API std::vector<int> kernel(ProgramKernel kernel);
  /// Result `result` of the opaque operation with the number `opaque`, or a value that only its regions see. A type that is an error is one
  /// that the file does not tell, or that strew does not store.
  STREW_API int opaque_value(int opaque, int result, const Expected<TensorType>& type);

  /// What a gather along dim 0 takes of a shape, if `value` is one (shape(), or made of one) and `indices` are constants; else nothing.
  Expected<std::optional<int>> taken(int value, int indices);

  /// The value of which the file says that it has the dims `dims`. Those that are open in the value's type and known here are checked when
  /// the program runs; a dim that both know must be equal.
  STREW_API Expected<int> declared(int value, const std::vector<int64_t>& dims);

  // Elementwise.
  /// A function of extras, applied to each element. Arguments have one shape, or rank 0, unless `broadcasts`.
  STREW_API Expected<int> map(Expr function, std::vector<int> arguments, bool broadcasts = false);
  /// One operation. Shapes are broadcast as NumPy does.
  Expected<int> apply(ExprOp op, const std::vector<int>& arguments);  ///< comparisons give bool; `select` takes a bool first
  /// The same, of values that other operations make, or of why they make none.
  Expected<int> apply(ExprOp op, std::initializer_list<Expected<int>> arguments);
  STREW_API Expected<int> convert(const Expected<int>& value, DType dtype);

  // Movement. `shape`, where an operation takes one, is the result's: rank 1, integers.
  STREW_API Expected<int> iota(const TensorType& type, int64_t dim);  ///< known dims
  STREW_API Expected<int> iota_to(DType dtype, int shape, int64_t dim);
  STREW_API Expected<int> reshape(const Expected<int>& given,
                                  std::vector<int64_t> dims);  ///< one dim may be kDynamic: it follows from the others
  /// That adds or removes dims of 1: any may be kDynamic.
  Expected<int> reshape_units(int value, const std::vector<int64_t>& dims);
  /// An element of 0 of `shape` keeps the value's dim (unless `allow_zero`), -1 follows from the others.
  STREW_API Expected<int> reshape_to(int value, int shape, bool allow_zero);
  STREW_API Expected<int> transpose(int value, const std::vector<int64_t>& permutation);
  /// Dim d of the value becomes dim `targets[d]` of the result, whose dims are known. An extent of 1 is repeated.
  STREW_API Expected<int> broadcast(int value, const std::vector<int64_t>& dims, const std::vector<int64_t>& targets);
  STREW_API Expected<int> broadcast_to(int value, int shape, const std::vector<int64_t>& targets);
  STREW_API Expected<int> broadcast(int value, const std::vector<int64_t>& dims);  ///< to the last dims, as NumPy does
  Expected<int> broadcast_to(int value, int shape);                                ///< of NumPy: a dim of 1 of either is repeated
  /// The dims to which tensors of these dims are broadcast as NumPy does.
  static Expected<std::vector<int64_t>> broadcast_dims(const std::vector<std::vector<int64_t>>& all);
  STREW_API Expected<int> concatenate(const std::vector<int>& values, int64_t dim);
  STREW_API Expected<int> reverse(int value, const std::vector<int64_t>& dims);
  /// value[start:end:step] in each dim. kDynamic as an end: to the end of the dim. Negative numbers count from the end of a dim; numbers
  /// beyond it are cut, as in Python. Steps must not be 0.
  struct Range {
    int64_t start = 0, end = kToEnd, step = 1;
    static constexpr int64_t kToEnd = INT64_MAX;
  };
  Expected<int> slice(int value, const std::vector<Range>& ranges);
  /// In dim d, sizes[d] elements from starts[d] on, strides[d] apart; a size that is kDynamic reaches to the end of the dim.
  STREW_API Expected<int> slice(int value, std::vector<int64_t> starts, std::vector<int64_t> sizes, std::vector<int64_t> strides);
  /// Of `size[d]` elements from the rank-0 value `starts[d]` on.
  Expected<int> slice_from(int value, const std::vector<int>& starts, const std::vector<int64_t>& sizes);
  /// `into` with `part` written into it from `starts` on: numbers, or rank-0 values.
  STREW_API Expected<int> update(int into, int part, std::vector<int64_t> starts);
  Expected<int> update_from(int into, int part, const std::vector<int>& starts);

  // Others.
  /// The dims without the dims `axes`; with 1 in their places if `keep`.
  static std::vector<int64_t> reduced(const std::vector<int64_t>& dims, const std::vector<int64_t>& axes, bool keep);
  /// Reduces `dims` of the inputs by a function of N current values and N updates, in row-major order, from N rank-0 values.
  STREW_API Expected<std::vector<int>> reduce(Expr function, const std::vector<int>& inputs, const std::vector<int>& initials,
                                              std::vector<int64_t> dims);
  Expected<int> reduce(ExprOp op, int value, const std::vector<int64_t>& dims, bool keep);
  /// Each element becomes the function of the result before it along `dim` and itself.
  struct Direction {
    bool exclusive = false;  ///< of the elements before it alone
    bool reverse = false;    ///< from the end of the dim
  };
  STREW_API Expected<int> scan(Expr function, int value, int initial, int64_t dim, Direction direction);
  Expected<int> scan(ExprOp op, int value, int64_t dim, Direction direction);
  /// start, start + delta, … below `limit`: rank-0 values of one dtype.
  Expected<int> range(int start, int limit, int delta);

 private:
  static constexpr int64_t kMostEvaluated = 4096;  ///< elements of a result that is computed at once
  const Value& at(int value) const { return program_.value(value); }
  /// The first result of the operation, which has the type, or the types, `results`. Worked out at once if it is small and constant.
  Expected<int> add(ComputeOp op, std::vector<int> arguments, std::vector<TensorType> results);
  Expected<std::optional<int>> evaluated(const Compute& compute);
  Expected<std::vector<int>> broadcast_all(const std::vector<int>& arguments);
  int list(std::vector<int> elements, DType dtype);
  Expected<int> map_verified(Expr function, std::vector<int> arguments);
  Expected<std::optional<int>> map_lists(const Expr& function, const std::vector<int>& arguments);

  Program& program_;
  std::string location_;
  size_t first_;  ///< the first value that this builder may have made
};

}  // namespace strew::inline v0
