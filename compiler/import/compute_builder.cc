// See compute_builder.h. What is known before the call is worked out here; what is not becomes an open dim of a result, which the interpreter
// takes from the arguments (Compute::takes_shape).
#include "compiler/import/compute_builder.h"

#include <algorithm>

#include "base/checked.h"
#include "base/number.h"
#include "compiler/program/interpret/interpret.h"
#include "strew/tensor.h"
#include "strew/text.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostEvaluated = 4096;  ///< elements of a result that is computed at once
constexpr int64_t kMostElements = 64;     ///< of a tensor that is kept as a list

bool is_static(const std::vector<int64_t>& dims) { return std::find(dims.begin(), dims.end(), kDynamic) == dims.end(); }

/// Has a tensor of these dims at most `most` elements?
bool is_small(const std::vector<int64_t>& dims, int64_t most) {
  const std::optional<int64_t> count = checked::product(dims);
  return count && *count <= most;
}

Constant constant_of(const Tensor& tensor) {
  Constant out;
  out.type = {tensor.dtype, tensor.dims, {}};
  out.data.assign(tensor.data.data(), tensor.data.data() + tensor.data.size());
  return out;
}

Tensor tensor_of(const Constant& constant) {
  Tensor out;
  out.dtype = constant.type.dtype;
  out.dims = constant.type.dims;
  out.data = Buffer::share(constant.bytes(), nullptr);
  return out;
}

Scalar scalar_at(const Constant& constant, int64_t at) { return load_element(constant.type.dtype, constant.bytes().data(), at); }

bool is_comparison(ExprOp op) { return op >= ExprOp::eq && op <= ExprOp::ge; }

/// A function of `count` extras that applies one operation.
Expected<Expr> function_of(ExprOp op, const std::vector<DType>& dtypes, DType result) {
  Expr out;
  ExprNode last;
  last.op = op;
  last.dtype = result;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    ExprNode node;
    node.op = ExprOp::extra;
    node.dtype = dtypes[i];
    node.index = static_cast<int32_t>(i);
    out.nodes.push_back(node);
    last.args.push_back(static_cast<int32_t>(i));
  }
  out.nodes.push_back(last);
  out.results = {static_cast<int32_t>(dtypes.size())};
  STREW_TRY(verify(out, 1, 0, static_cast<int>(dtypes.size())));
  return out;
}

}  // namespace

int ComputeBuilder::add_value(Value value) {
  imported_.values.push_back(std::move(value));
  return static_cast<int>(imported_.values.size()) - 1;
}

int ComputeBuilder::add_constant(Constant constant) {
  Value value;
  value.kind = ValueKind::constant;
  value.type = constant.type;
  value.index = static_cast<int>(imported_.constants.size());
  imported_.constants.push_back(std::move(constant));
  return add_value(std::move(value));
}

/// The result as a constant, if all arguments are constants and the result is small.
Expected<std::optional<int>> ComputeBuilder::evaluated(const Compute& compute) {
  if (compute.results.size() != 1) return std::optional<int>();
  const std::vector<int64_t>& dims = compute.results[0].dims;
  if (is_static(dims) && !is_small(dims, kMostEvaluated)) return std::optional<int>();
  std::vector<Tensor> tensors;
  for (const int argument : compute.arguments) {
    if (!is_constant(argument)) return std::optional<int>();
    const Constant& constant = imported_.constants[static_cast<size_t>(imported_.values[static_cast<size_t>(argument)].index)];
    if (constant.type.dtype == DType::string || !is_small(constant.type.dims, kMostEvaluated)) return std::optional<int>();
    tensors.push_back(tensor_of(constant));
  }
  if (!is_static(dims) && !compute.takes_shape && compute.op != ComputeOp::slice) return std::optional<int>();
  std::vector<const Tensor*> arguments;
  for (const Tensor& tensor : tensors) arguments.push_back(&tensor);
  STREW_ASSIGN(const std::vector<Tensor> results, interpret(compute, arguments));
  return std::optional<int>(add_constant(constant_of(results[0])));
}

Expected<int> ComputeBuilder::add(Compute compute) {
  for (const TensorType& result : compute.results)
    if (is_static(result.dims)) STREW_TRY(element_count(result.dims).status());
  STREW_ASSIGN(const std::optional<int> constant, evaluated(compute));
  if (constant) return *constant;
  Value value;
  value.kind = ValueKind::compute;
  value.type = compute.results[0];
  value.index = static_cast<int>(imported_.computes.size());
  compute.location = location_;
  imported_.computes.push_back(std::move(compute));
  return add_value(std::move(value));
}

const Constant* ComputeBuilder::find_constant(int value) const {
  const Value& v = imported_.values[static_cast<size_t>(value)];
  return v.kind == ValueKind::constant ? &imported_.constants[static_cast<size_t>(v.index)] : nullptr;
}

std::optional<Scalar> ComputeBuilder::constant(int value) const {
  const Constant* const found = find_constant(value);
  if (found == nullptr || checked::product(found->type.dims) != 1 || found->type.dtype == DType::string) return std::nullopt;
  return scalar_at(*found, 0);
}

int ComputeBuilder::scalar(const Scalar& scalar) {
  Constant constant;
  constant.type = {scalar.dtype, {}, {}};
  constant.data.resize(static_cast<size_t>(storage_bytes(scalar.dtype, 1)));
  store_element(scalar.dtype, constant.data.data(), 0, scalar);
  return add_constant(std::move(constant));
}

int ComputeBuilder::integer(int64_t number, DType dtype) { return scalar({dtype, {encode_i64(dtype, number), 0}}); }

int ComputeBuilder::integers(const std::vector<int64_t>& numbers, DType dtype) {
  Constant constant;
  constant.type = {dtype, {static_cast<int64_t>(numbers.size())}, {}};
  constant.data.resize(static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(numbers.size()))));
  for (size_t i = 0; i < numbers.size(); ++i)
    store_element(dtype, constant.data.data(), static_cast<int64_t>(i), {dtype, {encode_i64(dtype, numbers[i]), 0}});
  return add_constant(std::move(constant));
}

std::optional<std::vector<int64_t>> ComputeBuilder::integers(int value) const {
  const Value& v = imported_.values[static_cast<size_t>(value)];
  if (!is_integer(v.type.dtype) || v.type.rank() > 1) return std::nullopt;
  std::vector<int64_t> out;
  if (v.kind == ValueKind::stack) {
    for (const int part : v.parts) {
      const std::optional<std::vector<int64_t>> one = integers(part);
      if (!one || one->size() != 1) return std::nullopt;
      out.push_back(one->front());
    }
    return out;
  }
  if (v.kind != ValueKind::constant) return std::nullopt;
  const Constant& constant = imported_.constants[static_cast<size_t>(v.index)];
  for (int64_t i = 0, n = constant.type.rank() == 0 ? 1 : constant.type.dims[0]; i < n; ++i)
    out.push_back(decode_i64(v.type.dtype, scalar_at(constant, i).bits[0]));
  return out;
}

std::optional<std::vector<int>> ComputeBuilder::elements(int value) {
  const Value v = imported_.values[static_cast<size_t>(value)];
  if (v.type.rank() == 0) return std::vector<int>{value};
  if (v.kind == ValueKind::stack) return v.parts;
  const bool is_small = v.type.rank() == 1 && v.type.dims[0] != kDynamic && v.type.dims[0] <= kMostElements;
  if (!is_small || v.type.dtype == DType::string || v.kind != ValueKind::constant) return std::nullopt;
  std::vector<int> out;
  for (int64_t i = 0; i < v.type.dims[0]; ++i)
    out.push_back(scalar(scalar_at(imported_.constants[static_cast<size_t>(v.index)], i)));
  return out;
}

int ComputeBuilder::stack(const std::vector<int>& elements, DType dtype) {
  if (std::all_of(elements.begin(), elements.end(), [&](int e) { return is_constant(e); })) {
    Constant constant;
    constant.type = {dtype, {static_cast<int64_t>(elements.size())}, {}};
    constant.data.resize(static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(elements.size()))));
    for (size_t i = 0; i < elements.size(); ++i) {
      const int number = imported_.values[static_cast<size_t>(elements[i])].index;
      store_element(dtype, constant.data.data(), static_cast<int64_t>(i),
                    scalar_at(imported_.constants[static_cast<size_t>(number)], 0));
    }
    return add_constant(std::move(constant));
  }
  Value value;
  value.kind = ValueKind::stack;
  value.type = {dtype, {static_cast<int64_t>(elements.size())}, {}};
  value.parts = elements;
  return add_value(std::move(value));
}

int ComputeBuilder::extent(int value, int64_t dim) {
  const int64_t known = type(value).dims[static_cast<size_t>(dim)];
  if (known != kDynamic) return integer(known);
  Value out;
  out.kind = ValueKind::extent;
  out.type = {DType::i64, {}, {}};
  out.like = value;
  out.like_dim = static_cast<int>(dim);
  return add_value(std::move(out));
}

int ComputeBuilder::shape(int value, size_t begin, size_t end) {
  std::vector<int> extents;
  for (size_t d = begin; d < end; ++d) extents.push_back(extent(value, static_cast<int64_t>(d)));
  // A list even if all are known: what is taken of it is index arithmetic then, not a gather of a table.
  Value out;
  out.kind = ValueKind::stack;
  out.type = {DType::i64, {static_cast<int64_t>(extents.size())}, {}};
  out.parts = std::move(extents);
  return add_value(std::move(out));
}

Expected<std::optional<int>> ComputeBuilder::taken(int value, int indices) {
  const Value from = imported_.values[static_cast<size_t>(value)];
  const std::optional<std::vector<int64_t>> numbers = integers(indices);
  if (from.kind != ValueKind::stack || !numbers) return std::optional<int>();
  const auto count = static_cast<int64_t>(from.parts.size());
  std::vector<int> parts;
  for (const int64_t number : *numbers) {
    if (number < -count || number >= count)
      return invalid_argument("index " + std::to_string(number) + " of a shape of " + std::to_string(count) + " dims");
    parts.push_back(from.parts[static_cast<size_t>(number < 0 ? number + count : number)]);
  }
  return std::optional<int>(type(indices).rank() == 0 ? parts[0] : stack(parts, from.type.dtype));
}

Expected<int> ComputeBuilder::convert(int value, DType dtype) {
  if (type(value).dtype == dtype) return value;
  STREW_ASSIGN(Expr function, function_of(ExprOp::convert, {type(value).dtype}, dtype));
  if (const Value v = imported_.values[static_cast<size_t>(value)]; v.kind == ValueKind::stack) {
    std::vector<int> parts;
    for (const int part : v.parts) {
      STREW_ASSIGN(const int converted, convert(part, dtype));
      parts.push_back(converted);
    }
    return stack(parts, dtype);
  }
  Compute compute;
  compute.arguments = {value};
  compute.results = {{dtype, type(value).dims, {}}};
  compute.function = std::move(function);
  return add(std::move(compute));
}

/// Arguments of one shape, or of rank 0.
Expected<std::vector<int>> ComputeBuilder::broadcast_all(const std::vector<int>& arguments) {
  size_t rank = 0;
  for (const int argument : arguments) rank = std::max(rank, type(argument).dims.size());
  std::vector<int64_t> dims(rank, 1);
  for (const int argument : arguments) {
    const std::vector<int64_t>& own = type(argument).dims;
    for (size_t i = 0; i < own.size(); ++i) {
      int64_t& all = dims[rank - own.size() + i];
      if (own[i] != kDynamic && own[i] != 1 && all != kDynamic && all != 1 && own[i] != all)
        return invalid_argument("dims " + std::to_string(own[i]) + " and " + std::to_string(all) + ", expected equal ones or 1");
      if (all == 1 || (all == kDynamic && own[i] != 1 && own[i] != kDynamic)) all = own[i];
    }
  }
  const bool is_known = is_static(dims);
  std::vector<int> out;
  for (const int argument : arguments) {
    if (type(argument).dims.empty() || type(argument).dims == dims) {
      out.push_back(argument);
    } else if (is_known) {
      STREW_ASSIGN(const int wide, broadcast(argument, dims));
      out.push_back(wide);
    } else {
      // The shape of the whole: of each dim, the extent of an argument that is not known to be 1.
      std::vector<int> extents;
      for (size_t d = 0; d < rank; ++d) {
        int found = -1;
        for (const int other : arguments) {
          const std::vector<int64_t>& own = type(other).dims;
          if (rank - own.size() > d || own[d - (rank - own.size())] == 1) continue;
          found = extent(other, static_cast<int64_t>(d - (rank - own.size())));
          break;
        }
        extents.push_back(found < 0 ? integer(1) : found);
      }
      STREW_ASSIGN(const int wide, broadcast_to(argument, stack(extents, DType::i64)));
      out.push_back(wide);
    }
  }
  return out;
}

Expected<int> ComputeBuilder::apply(ExprOp op, const std::vector<int>& arguments) {
  std::vector<DType> dtypes;
  for (const int argument : arguments) dtypes.push_back(type(argument).dtype);
  const DType result = is_comparison(op) || op == ExprOp::is_finite ? DType::boolean : dtypes.back();
  STREW_ASSIGN(Expr function, function_of(op, dtypes, result));
  // Of lists of numbers, a list.
  std::vector<std::vector<int>> lists;
  const bool has_list = std::any_of(arguments.begin(), arguments.end(),
                                    [&](int a) { return imported_.values[static_cast<size_t>(a)].kind == ValueKind::stack; });
  size_t length = 0;
  for (const int argument : arguments) {
    if (!has_list) break;
    if (std::optional<std::vector<int>> list = elements(argument)) lists.push_back(std::move(*list));
    if (!lists.empty()) length = std::max(length, lists.back().size());
  }
  const bool fits = std::all_of(lists.begin(), lists.end(), [&](const auto& l) { return l.size() == 1 || l.size() == length; });
  if (has_list && lists.size() == arguments.size() && fits) {
    std::vector<int> out;
    for (size_t i = 0; i < length; ++i) {
      std::vector<int> each;
      for (const std::vector<int>& list : lists) each.push_back(list[list.size() == 1 ? 0 : i]);
      STREW_ASSIGN(const int element, apply(op, each));
      out.push_back(element);
    }
    return stack(out, result);
  }
  Compute compute;
  STREW_ASSIGN(compute.arguments, broadcast_all(arguments));
  std::vector<int64_t> dims;
  for (const int argument : compute.arguments)
    if (!type(argument).dims.empty() && (dims.empty() || !is_static(dims))) {
      const std::vector<int64_t>& own = type(argument).dims;
      if (dims.empty()) dims = own;
      for (size_t d = 0; d < dims.size(); ++d) dims[d] = dims[d] == kDynamic ? own[d] : dims[d];
    }
  compute.results = {{result, std::move(dims), {}}};
  compute.function = std::move(function);
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::reshape(int value, std::vector<int64_t> dims) {
  const std::vector<int64_t>& from = type(value).dims;
  const auto open = std::count(dims.begin(), dims.end(), kDynamic);
  if (open > 1) return invalid_argument("the shape leaves several dims open, expected one at most");
  if (is_static(from)) {
    STREW_ASSIGN(const int64_t all, element_count(from));
    std::vector<int64_t> others = dims;
    std::erase(others, kDynamic);
    STREW_ASSIGN(const int64_t known, element_count(others));
    if (open == 0 ? known != all : known == 0 || all % known != 0)
      return invalid_argument(print(type(value)) + " has " + std::to_string(all) + " elements, expected " +
                              (open == 0 ? "" : "a multiple of ") + std::to_string(known));
    for (int64_t& dim : dims) dim = dim == kDynamic ? all / known : dim;
  }
  if (dims == from) return value;
  if (const std::optional<std::vector<int>> list = elements(value);
      list && is_integer(type(value).dtype) && !is_constant(value)) {
    if (dims.empty() && list->size() == 1) return list->front();
    if (dims.size() == 1 && dims[0] == static_cast<int64_t>(list->size())) return stack(*list, type(value).dtype);
  }
  Compute compute;
  compute.op = ComputeOp::reshape;
  compute.arguments = {value};
  compute.results = {{type(value).dtype, std::move(dims), {}}};
  return add(std::move(compute));
}

/// The dims other than 1 correspond in order.
Expected<int> ComputeBuilder::reshape_units(int value, const std::vector<int64_t>& dims) {
  if (std::count(dims.begin(), dims.end(), kDynamic) <= 1) return reshape(value, dims);
  const std::vector<int64_t> from = type(value).dims;
  std::vector<int> extents;
  size_t at = 0;
  for (const int64_t dim : dims) {
    if (dim == 1) {
      extents.push_back(integer(1));
      continue;
    }
    while (at < from.size() && from[at] != dim) ++at;
    if (at == from.size()) return internal_error("a reshape that changes other dims than those of 1");
    extents.push_back(extent(value, static_cast<int64_t>(at++)));
  }
  return reshape_to(value, stack(extents, DType::i64), true);
}

Expected<int> ComputeBuilder::reshape_to(int value, int shape, bool allow_zero) {
  const TensorType& shape_type = type(shape);
  if (shape_type.rank() != 1 || shape_type.dims[0] == kDynamic)
    return unsupported("the shape is " + print(shape_type) + ", expected a rank that is known before the call");
  std::vector<int64_t> dims(static_cast<size_t>(shape_type.dims[0]), kDynamic);
  const std::optional<std::vector<int>> list = elements(shape);
  size_t open = 0, follows = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const std::optional<std::vector<int64_t>> one = list ? integers((*list)[d]) : std::nullopt;
    if (one && one->front() == 0 && !allow_zero) {
      if (d >= type(value).dims.size())
        return invalid_argument("the shape's dim " + std::to_string(d) + " is 0, expected a dim of " + print(type(value)));
      dims[d] = type(value).dims[d];
    } else if (one && one->front() >= 0) {
      dims[d] = one->front();
    } else if (one && one->front() < -1) {
      return invalid_argument("the shape's dim " + std::to_string(d) + " is " + std::to_string(one->front()) +
                              ", expected -1 or more");
    }
    const bool is_follower = one && one->front() == -1;
    follows += is_follower ? 1 : 0;
    open += dims[d] == kDynamic && !is_follower ? 1 : 0;
  }
  if (follows > 1) return invalid_argument("the shape has several dims of -1, expected one at most");
  if (open == 0) return reshape(value, std::move(dims));
  Compute compute;
  compute.op = ComputeOp::reshape;
  compute.arguments = {value, shape};
  compute.takes_shape = true;
  if (allow_zero) compute.dims = {1};
  compute.results = {{type(value).dtype, std::move(dims), {}}};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::transpose(int value, const std::vector<int64_t>& permutation) {
  const std::vector<int64_t>& from = type(value).dims;
  std::vector<bool> seen(from.size());
  std::vector<int64_t> dims;
  for (const int64_t d : permutation) {
    if (d < 0 || d >= static_cast<int64_t>(from.size()) || seen[static_cast<size_t>(d)] || permutation.size() != from.size())
      return invalid_argument("the permutation holds " + std::to_string(d) + ", expected each of 0 to " +
                              std::to_string(static_cast<int64_t>(from.size()) - 1) + " once");
    seen[static_cast<size_t>(d)] = true;
    dims.push_back(from[static_cast<size_t>(d)]);
  }
  if (permutation.size() != from.size())
    return invalid_argument("the permutation has " + std::to_string(permutation.size()) + " dims, expected " +
                            std::to_string(from.size()));
  if (std::is_sorted(permutation.begin(), permutation.end())) return value;
  Compute compute;
  compute.op = ComputeOp::transpose;
  compute.arguments = {value};
  compute.dims = permutation;
  compute.results = {{type(value).dtype, std::move(dims), {}}};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::broadcast(int value, const std::vector<int64_t>& dims) {
  const std::vector<int64_t> from = type(value).dims;
  if (from == dims) return value;
  if (from.size() > dims.size())
    return invalid_argument(print(type(value)) + " has rank " + std::to_string(from.size()) + ", expected at most " +
                            std::to_string(dims.size()));
  Compute compute;
  compute.op = ComputeOp::broadcast;
  compute.arguments = {value};
  for (size_t d = 0; d < from.size(); ++d) {
    const size_t to = dims.size() - from.size() + d;
    if (from[d] != kDynamic && from[d] != 1 && from[d] != dims[to])
      return invalid_argument("dim " + std::to_string(d) + " of " + print(type(value)) + " becomes " + std::to_string(dims[to]) +
                              ", expected an equal dim or one of 1");
    compute.dims.push_back(static_cast<int64_t>(to));
  }
  compute.results = {{type(value).dtype, dims, {}}};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::broadcast_to(int value, int shape) {
  const TensorType& shape_type = type(shape);
  if (shape_type.rank() != 1 || shape_type.dims[0] == kDynamic)
    return unsupported("the shape is " + print(shape_type) + ", expected a rank that is known before the call");
  const std::vector<int64_t> from = type(value).dims;
  std::optional<std::vector<int>> list = elements(shape);
  const auto length = static_cast<size_t>(shape_type.dims[0]);
  const size_t rank = std::max(length, from.size());
  std::vector<int64_t> dims(rank, kDynamic);
  bool is_known = true;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t own = d < rank - from.size() ? 1 : from[d - (rank - from.size())];
    std::optional<std::vector<int64_t>> wanted;
    if (d < rank - length)
      wanted = {1};
    else if (list)
      wanted = integers((*list)[d - (rank - length)]);
    if (wanted && (*wanted)[0] != 1 && (own == 1 || own == kDynamic)) dims[d] = (*wanted)[0];
    if (wanted && (*wanted)[0] == 1) dims[d] = own;
    if (own != 1 && own != kDynamic) dims[d] = own;
    is_known = is_known && dims[d] != kDynamic;
  }
  if (is_known) return broadcast(value, dims);
  Compute compute;
  compute.op = ComputeOp::broadcast;
  if (length < rank) {  // dims of 1 in front, which keep the value's
    if (!list) return unsupported("the shape has " + std::to_string(length) + " elements, expected " + std::to_string(rank));
    std::vector<int> longer(rank - length, integer(1, shape_type.dtype));
    longer.insert(longer.end(), list->begin(), list->end());
    shape = stack(longer, shape_type.dtype);
  }
  compute.arguments = {value, shape};
  compute.takes_shape = true;
  for (size_t d = 0; d < from.size(); ++d) compute.dims.push_back(static_cast<int64_t>(rank - from.size() + d));
  compute.results = {{type(value).dtype, std::move(dims), {}}};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::concatenate(const std::vector<int>& values, int64_t dim) {
  if (values.empty()) return invalid_argument("no tensors, expected one at least");
  TensorType result = type(values[0]);
  const auto along = static_cast<size_t>(dim);
  std::vector<int> list;
  bool is_list = result.rank() == 1 && is_integer(result.dtype);
  result.dims[along] = 0;
  for (const int value : values) {
    const TensorType& own = type(value);
    if (own.dtype != result.dtype || own.rank() != result.rank())
      return invalid_argument("tensors " + print(type(values[0])) + " and " + print(own) + ", expected the same dtype and rank");
    for (size_t d = 0; d < result.dims.size(); ++d) {
      if (d == along) {
        const bool is_open = own.dims[d] == kDynamic || result.dims[d] == kDynamic;
        const std::optional<int64_t> sum = is_open ? kDynamic : checked::add(result.dims[d], own.dims[d]);
        if (!sum) return invalid_argument("the sum of the extents in dim " + std::to_string(d) + " does not fit 63 bits");
        result.dims[d] = *sum;
      } else if (result.dims[d] == kDynamic) {
        result.dims[d] = own.dims[d];
      } else if (own.dims[d] != kDynamic && own.dims[d] != result.dims[d]) {
        return invalid_argument("dim " + std::to_string(d) + " is " + std::to_string(own.dims[d]) + ", expected " +
                                std::to_string(result.dims[d]));
      }
    }
    const std::optional<std::vector<int>> own_list = is_list ? elements(value) : std::nullopt;
    is_list = own_list.has_value();
    if (is_list) list.insert(list.end(), own_list->begin(), own_list->end());
  }
  if (values.size() == 1) return values[0];
  if (is_list) return stack(list, result.dtype);
  Compute compute;
  compute.op = ComputeOp::concatenate;
  compute.arguments = values;
  compute.dims = {dim};
  compute.results = {std::move(result)};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::reverse(int value, const std::vector<int64_t>& dims) {
  Compute compute;
  compute.op = ComputeOp::reverse;
  compute.arguments = {value};
  compute.dims = dims;
  compute.results = {type(value)};
  return add(std::move(compute));
}

Expected<int> ComputeBuilder::slice(int value, const std::vector<Range>& ranges) {
  const std::vector<int64_t> from = type(value).dims;
  if (ranges.size() < from.size())
    return invalid_argument(print(type(value)) + " is sliced in " + std::to_string(ranges.size()) + " dims, expected all");
  Compute compute;
  compute.op = ComputeOp::slice;
  compute.arguments = {value};
  compute.results = {type(value)};
  std::vector<int64_t> reversed;
  for (size_t d = 0; d < from.size(); ++d) {
    const Range& range = ranges[d];
    if (range.step == 0) return invalid_argument("the step in dim " + std::to_string(d) + " is 0, expected another number");
    if (from[d] == kDynamic) {
      if (range.step < 0 || range.start < 0 || range.end != Range::kToEnd)
        return unsupported("dim " + std::to_string(d) + " is open and sliced from " + std::to_string(range.start) + " to " +
                           std::to_string(range.end) + ", expected a start from 0 on and no end");
      compute.dims.push_back(range.start);
      compute.strides.push_back(range.step);
      continue;
    }
    const int64_t extent = from[d];
    const auto clamped = [&](int64_t at, int64_t low, int64_t high) {
      return std::clamp(at < 0 && at != INT64_MIN ? at + extent : at, low, high);
    };
    const bool is_backwards = range.step < 0;
    // Longer steps than the dim take one element at most, as one of the dim's extent does.
    const auto step =
        static_cast<int64_t>(std::min(checked::magnitude(range.step), static_cast<uint64_t>(std::max<int64_t>(extent, 1))));
    int64_t start = is_backwards ? clamped(range.start, -1, extent - 1) : clamped(range.start, 0, extent);
    int64_t end = is_backwards ? (range.end < -extent ? -1 : clamped(range.end, -1, extent - 1)) : clamped(range.end, 0, extent);
    const int64_t count = checked::ceil_div(is_backwards ? start - end : end - start, step);
    if (is_backwards) {
      reversed.push_back(static_cast<int64_t>(d));
      start = count == 0 ? 0 : start - (count - 1) * step;
    }
    compute.dims.push_back(count == 0 ? 0 : start);
    compute.strides.push_back(step);
    compute.results[0].dims[d] = count;
  }
  const bool is_whole = compute.results[0].dims == from &&
                        std::all_of(compute.dims.begin(), compute.dims.end(), [](int64_t s) { return s == 0; }) &&
                        std::all_of(compute.strides.begin(), compute.strides.end(), [](int64_t s) { return s == 1; });
  if (is_whole) return reversed.empty() ? value : reverse(value, reversed);
  if (const auto list = elements(value); list && from.size() == 1 && !is_constant(value) && reversed.empty()) {
    std::vector<int> some;
    for (int64_t i = 0; i < compute.results[0].dims[0]; ++i)
      some.push_back((*list)[static_cast<size_t>(compute.dims[0] + i * compute.strides[0])]);
    return stack(some, type(value).dtype);
  }
  STREW_ASSIGN(const int sliced, add(std::move(compute)));
  return reversed.empty() ? sliced : reverse(sliced, reversed);
}

Expected<int> ComputeBuilder::slice_from(int value, const std::vector<int>& starts, const std::vector<int64_t>& sizes) {
  Compute compute;
  compute.op = ComputeOp::slice;
  compute.arguments = {value};
  compute.arguments.insert(compute.arguments.end(), starts.begin(), starts.end());
  compute.dims.assign(sizes.size(), 0);
  compute.strides.assign(sizes.size(), 1);
  compute.results = {{type(value).dtype, sizes, {}}};
  return add(std::move(compute));
}

}  // namespace strew::inline v0
