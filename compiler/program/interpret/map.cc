// map: elementwise operations. A function of a single node whose arguments are the map's, in order, takes a typed loop for
// integers and bools of at least 8 bits, f32 and f64, if it is one of the simple operations: integer arithmetic with
// wrap-around (done in unsigned types), comparisons, IEEE add, subtract and multiply, select. min and max of floats have no
// loop: the reference has the rules for NaN and zero. All other functions are evaluated element by element with the
// reference's scalars, so both ways agree bit for bit. Tested by tests/unit/compiler/program/interpret/interpret_test.cc,
// which runs both.
#include <cstdint>
#include <functional>
#include <type_traits>

#include "base/number.h"
#include "compiler/evaluate/expr_eval.h"
#include "compiler/program/interpret/interpret.h"

namespace strew::inline v0 {
namespace {

/// The dims of the result, which all arguments must have except those of rank 0.
Expected<std::vector<int64_t>> result_dims(const TensorType& type, const Arguments& arguments) {
  const std::vector<int64_t>* dims = nullptr;
  for (const Tensor* argument : arguments) {
    if (argument->dims.empty() && !type.dims.empty()) continue;
    if (dims == nullptr) dims = &argument->dims;
    STREW_TRY(check_extents(argument->dims, {argument->dtype, *dims, {}}, "an operand"));
  }
  if (dims == nullptr) return invalid_argument("every operand has rank 0, expected one of the result's rank");
  STREW_TRY(check_extents(*dims, type, "result"));
  return *dims;
}

/// The unsigned type for arithmetic on T, at least as wide as int, so that C++ promotes nothing to a signed type.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

/// Calls `use` with a zero of the C++ type of `dtype`. Returns false if there is no such type.
template <class Use>
bool with_type(DType dtype, Use use) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8:
      return use(uint8_t{});
    case DType::i8:
      return use(int8_t{});
    case DType::i16:
      return use(int16_t{});
    case DType::u16:
      return use(uint16_t{});
    case DType::i32:
      return use(int32_t{});
    case DType::u32:
      return use(uint32_t{});
    case DType::i64:
      return use(int64_t{});
    case DType::u64:
      return use(uint64_t{});
    case DType::f32:
      return use(float{});
    case DType::f64:
      return use(double{});
    case STREW_EACH_DTYPE(PACKED_INTEGER):
    case STREW_EACH_DTYPE(SMALL_FLOAT):
    case STREW_EACH_DTYPE(HALF_FLOAT):
    case STREW_EACH_DTYPE(COMPLEX):
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return false;
}

template <class T>
struct Column {
  const T* data;
  int64_t step;
  explicit Column(const Tensor& tensor)
      : data(reinterpret_cast<const T*>(tensor.data.data())), step(tensor.dims.empty() ? 0 : 1) {}
  T operator[](int64_t i) const { return data[i * step]; }
};

template <class T, class R, class F>
bool loop(const std::vector<const Tensor*>& arguments, Tensor& result, F f) {
  const Column<T> a(*arguments[0]), b(*arguments[1]);
  R* out = reinterpret_cast<R*>(result.data.data());
  for (int64_t i = 0, count = result.elements(); i < count; ++i) out[i] = static_cast<R>(f(a[i], b[i]));
  return true;
}

template <class T>
bool arithmetic(ExprOp op, const std::vector<const Tensor*>& arguments, Tensor& result) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op == ExprOp::add) return loop<T, T>(arguments, result, [](T a, T b) { return a + b; });
    if (op == ExprOp::sub) return loop<T, T>(arguments, result, [](T a, T b) { return a - b; });
    if (op == ExprOp::mul) return loop<T, T>(arguments, result, [](T a, T b) { return a * b; });
  } else {
    using W = Wrapping<T>;
    if (op == ExprOp::add) return loop<T, T>(arguments, result, [](T a, T b) { return W(a) + W(b); });
    if (op == ExprOp::sub) return loop<T, T>(arguments, result, [](T a, T b) { return W(a) - W(b); });
    if (op == ExprOp::mul) return loop<T, T>(arguments, result, [](T a, T b) { return W(a) * W(b); });
    if (op == ExprOp::min) return loop<T, T>(arguments, result, [](T a, T b) { return b < a ? b : a; });
    if (op == ExprOp::max) return loop<T, T>(arguments, result, [](T a, T b) { return a < b ? b : a; });
    if (op == ExprOp::bit_and) return loop<T, T>(arguments, result, [](T a, T b) { return W(a) & W(b); });
    if (op == ExprOp::bit_or) return loop<T, T>(arguments, result, [](T a, T b) { return W(a) | W(b); });
    if (op == ExprOp::bit_xor) return loop<T, T>(arguments, result, [](T a, T b) { return W(a) ^ W(b); });
  }
  return false;
}

template <class T>
bool comparison(ExprOp op, const std::vector<const Tensor*>& arguments, Tensor& result) {
  if (op == ExprOp::eq) return loop<T, uint8_t>(arguments, result, std::equal_to<T>());
  if (op == ExprOp::ne) return loop<T, uint8_t>(arguments, result, std::not_equal_to<T>());
  if (op == ExprOp::lt) return loop<T, uint8_t>(arguments, result, std::less<T>());
  if (op == ExprOp::le) return loop<T, uint8_t>(arguments, result, std::less_equal<T>());
  if (op == ExprOp::gt) return loop<T, uint8_t>(arguments, result, std::greater<T>());
  if (op == ExprOp::ge) return loop<T, uint8_t>(arguments, result, std::greater_equal<T>());
  return false;
}

/// select only moves bits, so one type stands for all dtypes of its width.
bool select(const std::vector<const Tensor*>& arguments, Tensor& result) {
  const Column<uint8_t> which(*arguments[0]);
  return with_width(bits(result.dtype), [&]<class T>(T) {
    const Column<T> yes(*arguments[1]), no(*arguments[2]);
    T* const out = reinterpret_cast<T*>(result.data.data());
    for (int64_t i = 0, count = result.elements(); i < count; ++i) out[i] = which[i] != 0 ? yes[i] : no[i];
    return true;
  });
}

/// The only node of `function`, if its arguments are the extras in order; otherwise null.
const ExprNode* single_node(const Expr& function, size_t arguments) {
  if (function.nodes.size() != arguments + 1 || function.results[0] != static_cast<int32_t>(arguments)) return nullptr;
  for (size_t i = 0; i < arguments; ++i)
    if (function.nodes[i].op != ExprOp::extra || function.nodes[i].index != static_cast<int32_t>(i)) return nullptr;
  const ExprNode& node = function.nodes.back();
  if (node.args.size() != arguments) return nullptr;
  for (size_t i = 0; i < arguments; ++i)
    if (node.args[i] != static_cast<int32_t>(i)) return nullptr;
  return &node;
}

/// Computes `result` if `function` is a single node that has a typed loop. Returns false, with nothing written, if it is not.
bool map_typed(const Expr& function, const std::vector<const Tensor*>& arguments, Tensor& result) {
  const ExprNode* node = single_node(function, arguments.size());
  if (node == nullptr) return false;
  if (node->op == ExprOp::select) return select(arguments, result);
  if (arguments.size() != 2) return false;
  const ExprOp op = node->op;
  const DType dtype = arguments[0]->dtype;
  // On bool, add and mul mean `or` and `and`; only the bitwise operations and comparisons may treat the bytes as numbers.
  if (dtype == DType::boolean && (op == ExprOp::add || op == ExprOp::sub || op == ExprOp::mul)) return false;
  return with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (result.dtype == DType::boolean && is_comparison(op)) return comparison<T>(op, arguments, result);
    return result.dtype == dtype && arithmetic<T>(op, arguments, result);
  });
}

void map_scalars(const Expr& function, const Arguments& arguments, Tensor& result) {
  scalar_eval::ExprEvaluator evaluator(function);
  std::vector<Scalar> values(arguments.size());
  for (size_t a = 0; a < arguments.size(); ++a)
    if (result.elements() > 0 && arguments[a]->dims.empty())
      values[a] = load_element(arguments[a]->dtype, arguments[a]->data.data(), 0);
  for (int64_t i = 0, count = result.elements(); i < count; ++i) {
    for (size_t a = 0; a < arguments.size(); ++a)
      if (!arguments[a]->dims.empty()) values[a] = load_element(arguments[a]->dtype, arguments[a]->data.data(), i);
    evaluator.run({}, {}, values);
    store_element(result.dtype, result.data.data(), i, evaluator.result(0));
  }
}

}  // namespace

Expected<Tensor> evaluate(const MapOp& op, const TensorType& type, const Arguments& arguments) {
  STREW_ASSIGN(std::vector<int64_t> dims, result_dims(type, arguments));
  STREW_ASSIGN(Tensor result, make_tensor(type.dtype, std::move(dims)));
  if (!map_typed(op.function, arguments, result)) map_scalars(op.function, arguments, result);
  return result;
}

}  // namespace strew::inline v0
