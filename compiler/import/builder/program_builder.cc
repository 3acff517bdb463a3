// See program_builder.h. What is known before the call is worked out here; what is not becomes an open dim of a result, which the interpreter
// takes from the arguments (Compute::takes_shape).
#include "compiler/import/builder/program_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/number.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "compiler/program/interpret/interpret.h"
#include "strew/expr_builder.h"
#include "strew/tensor.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostElements = 64;  ///< of a tensor that is kept as a list
// A short file may have many operations. In a program with so many constants only lists are computed at once, and in one with so many
// operations around the kernels, lists are no longer computed one element after the other.
constexpr size_t kMostLarge = 4096, kMostComputes = size_t{1} << 19;

/// Has a tensor of these dims at most `most` elements?
bool is_small(const std::vector<int64_t>& dims, int64_t most) {
  const std::optional<int64_t> count = checked::product(dims);
  return count && *count <= most;
}

Constant constant_of(const Tensor& tensor) {
  Constant out;
  out.type = {tensor.dtype, tensor.dims, {}};
  out.data.assign(tensor.data.data(), tensor.data.data() + tensor.data.size());
  const auto element = static_cast<size_t>(storage_bytes(tensor.dtype, 1));
  out.splat = bits(tensor.dtype) >= 8 && out.data.size() > element &&
              std::equal(out.data.begin() + static_cast<std::ptrdiff_t>(element), out.data.end(), out.data.begin());
  return out;
}

Tensor tensor_of(const Constant& constant) {
  Tensor out;
  out.dtype = constant.type.dtype;
  out.dims = constant.type.dims;
  out.data = Buffer::share(constant.bytes(), nullptr);
  return out;
}

/// A constant of the dims with these elements.
Constant constant_of(DType dtype, std::vector<int64_t> dims, const std::vector<Scalar>& elements) {
  Constant out;
  out.type = {dtype, std::move(dims), {}};
  out.data.resize(static_cast<size_t>(storage_bytes(dtype, static_cast<int64_t>(elements.size()))));
  for (size_t i = 0; i < elements.size(); ++i) store_element(dtype, out.data.data(), static_cast<int64_t>(i), elements[i]);
  return out;
}

Scalar integer_scalar(int64_t number, DType dtype) { return {dtype, {encode_i64(dtype, number), 0}}; }

Scalar scalar_at(const Constant& constant, int64_t at) { return load_element(constant.type.dtype, constant.bytes().data(), at); }

}  // namespace

Constant integer_list(const std::vector<int64_t>& numbers, DType dtype) {
  std::vector<Scalar> elements;
  for (const int64_t number : numbers) elements.push_back(integer_scalar(number, dtype));
  return constant_of(dtype, {static_cast<int64_t>(numbers.size())}, elements);
}

int ProgramBuilder::add_constant(Constant constant) { return program_.add_constant(std::move(constant)); }

int ProgramBuilder::input(ProgramInput input, std::vector<std::string> symbols) {
  return program_.add_input(std::move(input), std::move(symbols));
}

int ProgramBuilder::zeros(TensorType type, int like, int like_dim) {
  return program_.add_value({.kind = ValueKind::zeros, .type = std::move(type), .like = like, .like_dim = like_dim});
}

std::vector<int> ProgramBuilder::kernel(ProgramKernel kernel) {
  if (kernel.location.empty()) kernel.location = location_;
  const int first = program_.add_kernel(std::move(kernel));
  std::vector<int> results(program_.values().size() - static_cast<size_t>(first));
  std::iota(results.begin(), results.end(), first);
  return results;
}

int ProgramBuilder::opaque_value(int opaque, int result, const Expected<TensorType>& type) {
  return program_.add_value({.kind = ValueKind::opaque,
                             .type = type.ok() ? *type : TensorType{},
                             .is_typed = type.ok(),
                             .index = opaque,
                             .result = result});
}

/// The result as a constant, if all arguments are constants and the result is small.
Expected<std::optional<int>> ProgramBuilder::evaluated(const Compute& compute) {
  if (compute.results.size() != 1) return std::optional<int>();
  const std::vector<int64_t>& dims = compute.results[0].dims;
  const int64_t most = program_.constants().size() < kMostLarge ? kMostEvaluated : kMostElements;
  if (is_static(dims) && !is_small(dims, most)) return std::optional<int>();
  std::vector<Tensor> tensors;
  for (const int argument : compute.arguments) {
    const Constant* const constant = find_constant(argument);
    const bool is_read = constant != nullptr && constant->type.dtype != DType::string;
    if (!is_read || !is_small(constant->type.dims, kMostEvaluated)) return std::optional<int>();
    tensors.push_back(tensor_of(*constant));
  }
  if (!is_static(dims) && !compute.takes_shape() && compute.as<SliceOp>() == nullptr) return std::optional<int>();
  std::vector<const Tensor*> arguments;
  for (const Tensor& tensor : tensors) arguments.push_back(&tensor);
  STREW_ASSIGN(const std::vector<Tensor> results, interpret(compute, arguments));
  return std::optional<int>(add_constant(constant_of(results[0])));
}

Expected<int> ProgramBuilder::add(ComputeOp op, std::vector<int> arguments, std::vector<TensorType> results) {
  for (const TensorType& result : results)
    if (is_static(result.dims)) STREW_TRY(element_count(result.dims).status());
  Compute compute{std::move(op), location_, std::move(arguments), std::move(results)};
  STREW_ASSIGN(const std::optional<int> constant, evaluated(compute));
  return constant ? *constant : program_.add_compute(std::move(compute));
}

const Constant* ProgramBuilder::find_constant(int value) const { return program_.constant_of(value); }

std::optional<Scalar> ProgramBuilder::constant(int value) const {
  const Constant* const found = find_constant(value);
  if (found == nullptr || checked::product(found->type.dims) != 1 || found->type.dtype == DType::string) return std::nullopt;
  return scalar_at(*found, 0);
}

int ProgramBuilder::scalar(const Scalar& scalar) { return add_constant(constant_of(scalar.dtype, {}, {scalar})); }

int ProgramBuilder::integer(int64_t number, DType dtype) { return scalar(integer_scalar(number, dtype)); }

int ProgramBuilder::integers(const std::vector<int64_t>& numbers, DType dtype) {
  return add_constant(integer_list(numbers, dtype));
}

std::optional<std::vector<int64_t>> ProgramBuilder::integers(int value) const {
  const Value& v = at(value);
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
  const Constant* const found = find_constant(value);
  if (found == nullptr) return std::nullopt;
  for (int64_t i = 0, n = v.type.rank() == 0 ? 1 : v.type.dims[0]; i < n; ++i)
    out.push_back(decode_i64(v.type.dtype, scalar_at(*found, i).bits[0]));
  return out;
}

std::optional<std::vector<int>> ProgramBuilder::elements(int value) {
  const Value v = at(value);
  if (v.type.rank() == 0) return std::vector<int>{value};
  if (v.kind == ValueKind::stack) return v.parts;
  const bool is_small = v.type.rank() == 1 && v.type.dims[0] != kDynamic && v.type.dims[0] <= kMostElements;
  if (!is_small || v.type.dtype == DType::string || v.kind != ValueKind::constant) return std::nullopt;
  std::vector<int> out;
  for (int64_t i = 0; i < v.type.dims[0]; ++i) out.push_back(scalar(scalar_at(*find_constant(value), i)));
  return out;
}

std::vector<int64_t> ProgramBuilder::known(int list) {
  std::vector<int64_t> out(static_cast<size_t>(type(list).dims[0]), kDynamic);
  if (const auto numbers = integers(list)) return *numbers;
  const auto parts = elements(list);
  for (size_t i = 0; parts && i < parts->size(); ++i)
    if (const auto one = integers((*parts)[i])) out[i] = one->front();
  return out;
}

Expected<int> ProgramBuilder::element(int list, int64_t at) {
  if (const auto parts = elements(list)) return convert((*parts)[at], DType::i64);
  return convert(reshape(slice(list, {{at, at + 1, 1}}), {}), DType::i64);
}

int ProgramBuilder::stack(const std::vector<int>& elements, DType dtype) {
  std::vector<Scalar> known;
  for (const int element : elements) {
    const Constant* const found = find_constant(element);
    if (found == nullptr) return list(elements, dtype);
    known.push_back(scalar_at(*found, 0));
  }
  return add_constant(constant_of(dtype, {static_cast<int64_t>(known.size())}, known));
}

int ProgramBuilder::list(std::vector<int> elements, DType dtype) {
  TensorType type{dtype, {static_cast<int64_t>(elements.size())}, {}};
  return program_.add_value({.kind = ValueKind::stack, .type = std::move(type), .parts = std::move(elements)});
}

int ProgramBuilder::extent(int value, int64_t dim) {
  const int64_t known = type(value).dims[dim];
  if (known != kDynamic) return integer(known);
  return program_.add_value(
      {.kind = ValueKind::extent, .type = {DType::i64, {}, {}}, .like = value, .like_dim = static_cast<int>(dim)});
}

int ProgramBuilder::shape(int value, size_t begin, size_t end) {
  std::vector<int> extents;
  for (size_t d = begin; d < end; ++d) extents.push_back(extent(value, static_cast<int64_t>(d)));
  // A list even if all are known: what is taken of it is index arithmetic then, not a gather of a table.
  return list(std::move(extents), DType::i64);
}

Expected<std::optional<int>> ProgramBuilder::taken(int value, int indices) {
  const Value from = at(value);
  const std::optional<std::vector<int64_t>> numbers = integers(indices);
  if (from.kind != ValueKind::stack || !numbers) return std::optional<int>();
  const auto count = static_cast<int64_t>(from.parts.size());
  std::vector<int> parts;
  for (const int64_t number : *numbers) {
    if (number < -count || number >= count) return invalid_argument("index {} of a shape of {} dims", number, count);
    parts.push_back(from.parts[number < 0 ? number + count : number]);
  }
  return std::optional<int>(type(indices).rank() == 0 ? parts[0] : stack(parts, from.type.dtype));
}

Expected<std::vector<int64_t>> ProgramBuilder::broadcast_dims(const std::vector<std::vector<int64_t>>& all) {
  std::vector<int64_t> dims;
  for (const std::vector<int64_t>& own : all) {
    if (own.size() > dims.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
    for (size_t i = 0; i < own.size(); ++i) {
      int64_t& dim = dims[dims.size() - own.size() + i];
      if (own[i] != kDynamic && own[i] != 1 && dim != kDynamic && dim != 1 && own[i] != dim)
        return invalid_argument("dims {} and {}, expected equal ones or 1", own[i], dim);
      if (dim == 1 || (dim == kDynamic && own[i] != 1)) dim = own[i];
    }
  }
  return dims;
}

/// The arguments broadcast as NumPy does; those of rank 0 stay as they are.
Expected<std::vector<int>> ProgramBuilder::broadcast_all(const std::vector<int>& arguments) {
  std::vector<std::vector<int64_t>> shapes;
  for (const int argument : arguments) shapes.push_back(type(argument).dims);
  STREW_ASSIGN(const std::vector<int64_t> dims, broadcast_dims(shapes));
  // Of each dim, the extent of an argument that is not known to be 1.
  const auto shape = [&] {
    std::vector<int> extents;
    for (size_t d = 0; d < dims.size(); ++d) {
      int found = -1;
      for (size_t i = 0; i < arguments.size() && found < 0; ++i) {
        const size_t lacks = dims.size() - shapes[i].size();
        if (lacks <= d && shapes[i][d - lacks] != 1) found = extent(arguments[i], static_cast<int64_t>(d - lacks));
      }
      extents.push_back(found < 0 ? integer(1) : found);
    }
    return stack(extents, DType::i64);
  };
  std::vector<int> out = arguments;
  for (int& argument : out) {
    if (type(argument).dims.empty() || type(argument).dims == dims) continue;
    STREW_ASSIGN(argument, is_static(dims) ? broadcast(argument, dims) : broadcast_to(argument, shape()));
  }
  return out;
}

/// The list of what the function makes of the elements, if an argument is a list and the elements of all are known one by one.
Expected<std::optional<int>> ProgramBuilder::map_lists(const Expr& function, const std::vector<int>& arguments) {
  const bool has_list = std::any_of(arguments.begin(), arguments.end(), [&](int a) { return at(a).kind == ValueKind::stack; });
  if (!has_list || program_.computes().size() > kMostComputes) return std::optional<int>();
  std::vector<std::vector<int>> lists;
  size_t length = 0;
  for (const int argument : arguments) {
    std::optional<std::vector<int>> list = elements(argument);
    if (!list) return std::optional<int>();
    length = std::max(length, list->size());
    lists.push_back(std::move(*list));
  }
  if (std::any_of(lists.begin(), lists.end(), [&](const auto& l) { return l.size() != 1 && l.size() != length; }))
    return std::optional<int>();
  std::vector<int> out;
  for (size_t i = 0; i < length; ++i) {
    std::vector<int> each;
    for (const std::vector<int>& list : lists) each.push_back(list[list.size() == 1 ? 0 : i]);
    STREW_ASSIGN(out.emplace_back(), map_verified(function, std::move(each)));
  }
  return std::optional<int>(stack(out, function.nodes[function.results[0]].dtype));
}

Expected<int> ProgramBuilder::map(Expr function, std::vector<int> arguments, bool broadcasts) {
  STREW_TRY(verify(function, 1, 0, static_cast<int>(arguments.size())));
  STREW_ASSIGN(const std::optional<int> list, map_lists(function, arguments));
  if (list) return *list;
  STREW_ASSIGN(std::vector<int> wide, broadcasts ? broadcast_all(arguments) : std::move(arguments));
  return map_verified(std::move(function), std::move(wide));
}

/// A Compute of the function, which verify() admits. Arguments that are lists are tensors to it.
Expected<int> ProgramBuilder::map_verified(Expr function, std::vector<int> arguments) {
  TensorType result{function.nodes[function.results[0]].dtype, {}, {}};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<int64_t> own = type(arguments[i]).dims;
    if (own.empty()) continue;
    if (result.dims.empty()) result.dims = own;
    STREW_TRY(unify_dims(result.dims, own, fmt::format("shape of operand {}", i)));
  }
  return add(MapOp{std::move(function)}, std::move(arguments), {std::move(result)});
}

Expected<int> ProgramBuilder::apply(ExprOp op, const std::vector<int>& arguments) {
  ExprBuilder e;
  std::vector<int32_t> extras;
  for (const int argument : arguments) extras.push_back(e.extra(static_cast<int32_t>(extras.size()), type(argument).dtype));
  const int32_t result = e.apply(op, std::move(extras));
  return map(e.returns({result}), arguments, /*broadcasts=*/true);
}

Expected<int> ProgramBuilder::apply(ExprOp op, std::initializer_list<Expected<int>> arguments) {
  std::vector<int> values;
  for (const Expected<int>& argument : arguments) STREW_TRY(assign(values.emplace_back(), argument));
  return apply(op, values);
}

Expected<int> ProgramBuilder::convert(const Expected<int>& value, DType dtype) {
  if (!value.ok() || type(*value).dtype == dtype) return value;
  ExprBuilder e;
  const int32_t from = e.extra(0, type(*value).dtype), to = e.convert(from, dtype);
  return map(e.returns({to}), {*value});
}

/// A result that nobody reads yet takes the dims; what was there before is checked by a map that leaves the elements as they are.
Expected<int> ProgramBuilder::declared(int value, const std::vector<int64_t>& dims) {
  TensorType own = type(value);
  const std::vector<int64_t> before = own.dims;
  STREW_TRY(unify_dims(own.dims, dims, "shape of the result"));
  if (own.dims == before) return value;
  if (at(value).kind == ValueKind::compute && static_cast<size_t>(value) >= first_) {
    program_.set_dims(value, own.dims);
    return value;
  }
  ExprBuilder e;
  const int32_t same = e.extra(0, own.dtype);
  return add(MapOp{e.returns({same})}, {value}, {own});
}

}  // namespace strew::inline v0
