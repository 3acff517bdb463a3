// In integers, a product by a one-hot tensor is a look-up: all but one of the terms are 0. In floats a term x * 0 is NaN where x is infinite or NaN, and the
// sum of -0 and 0 is 0. So there it is a look-up only if the file itself holds the other operand, all of whose elements are finite and none of which is -0.
// Then each term but one is 0 or -0, and adding those to the term x * 1 changes no bit of it. Tested by
// tests/unit/compiler/import/fusion/one_hot_test.cc.
#include "compiler/import/fusion/one_hot.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/number.h"
#include "compiler/import/builder/program_builder.h"
#include "compiler/import/fusion/reader.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/tensor.h"

namespace strew::inline v0::fusion {
namespace {

using Dims = std::vector<int64_t>;

/// Is the constant the number `wanted`, and not -0?
bool is_number(const std::optional<Scalar>& constant, int wanted) {
  return constant && !is_complex(constant->dtype) && *constant == Scalar::of(constant->dtype, wanted);
}

/// The index that the tensor is one-hot for along `dim`, in the frame of its dims.
std::optional<Quantity> index_of(const Reader& reader, int value, int64_t dim) {
  Quantity at = reader.quantity(reader.elements_of(value));
  while (reader.is(at, ExprOp::convert)) at = reader.argument(at, 0);
  if (reader.is(at, ExprOp::select)) {
    if (!is_number(reader.constant(reader.argument(at, 1)), 1) || !is_number(reader.constant(reader.argument(at, 2)), 0))
      return std::nullopt;
    at = reader.argument(at, 0);
  }
  if (!reader.is(at, ExprOp::eq)) return std::nullopt;
  Quantity index = reader.argument(at, 0), number = reader.argument(at, 1);
  if (!reader.counts(number, dim)) std::swap(index, number);
  const auto varies = [&](const Coord& coord) { return coord.dim == dim; };
  if (!reader.counts(number, dim) || std::ranges::any_of(index.element.at, varies) || !reader.is_value(index))
    return std::nullopt;
  return index;
}

/// The dims of a tensor of this rank without `dim`.
Dims others(size_t rank, int64_t dim) {
  Dims out = all_dims(rank);
  out.erase(out.begin() + dim);
  return out;
}

/// The index as a tensor over the one-hot tensor's other dims. Nothing if more than dims of 1 stand between the two.
std::optional<int> indices_over(Program& program, const std::string& location, const Quantity& index, const Dims& frame,
                                int64_t dim) {
  const std::vector<Coord>& at = index.element.at;
  const Dims& own = program.type(index.element.value).dims;
  Dims wanted, read;
  for (const int64_t d : others(frame.size(), dim))
    if (frame[static_cast<size_t>(d)] != 1) wanted.push_back(d);
  for (size_t d = 0; d < own.size(); ++d) {
    if (at[d].dim < 0 && own[d] != 1) return std::nullopt;
    if (at[d].dim < 0) continue;
    if (own[d] != frame[static_cast<size_t>(at[d].dim)]) return std::nullopt;
    read.push_back(at[d].dim);
  }
  if (read != wanted) return std::nullopt;
  Dims dims = frame;
  dims.erase(dims.begin() + dim);
  const Expected<int> shaped = ProgramBuilder(program, location).reshape(index.element.value, dims);
  return shaped.ok() ? std::optional(*shaped) : std::nullopt;
}

/// Are all elements of the float constant finite, and none of them -0?
bool keeps_sums(const Constant& constant) {
  constexpr int64_t kMostElements = int64_t{1} << 26;
  const Expected<int64_t> elements = element_count(constant.type.dims);
  if (!elements.ok() || *elements > kMostElements || constant.bytes().empty()) return false;
  const int64_t count = constant.splat ? std::min<int64_t>(*elements, 1) : *elements;
  for (int64_t i = 0; i < count; ++i) {
    const Scalar element = load_element(constant.type.dtype, constant.bytes().data(), i);
    const double number = decode(element.dtype, element.bits[0]);
    if (!std::isfinite(number) || (number == 0 && std::signbit(number))) return false;
  }
  return true;
}

}  // namespace

Expected<std::optional<ProductLookup>> lookup_of_product(Program& program, const std::string& location, const Product& product) {
  if (product.lhs_contracting.size() != 1 || product.rhs_contracting.size() != 1 || !product.lhs_batching.empty() ||
      !product.rhs_batching.empty())
    return std::optional<ProductLookup>();
  const Reader reader(program);
  const auto index_along = [&](int value, int64_t dim) {
    const TensorType& type = program.type(value);
    const bool is_known = dim >= 0 && dim < type.rank() && is_static(type.dims);
    return is_known ? index_of(reader, value, dim) : std::nullopt;
  };
  const int64_t left = product.lhs_contracting[0], right = product.rhs_contracting[0];
  std::optional<Quantity> index = index_along(product.lhs, left);
  const bool is_left = index.has_value();
  if (!is_left) index = index_along(product.rhs, right);
  if (!index) return std::optional<ProductLookup>();

  ProductLookup out;
  out.table = is_left ? product.rhs : product.lhs;
  const int64_t summed = is_left ? left : right, looked_up = is_left ? right : left;
  const TensorType hot = program.type(is_left ? product.lhs : product.rhs), table = program.type(out.table);
  const Constant* const constant = program.constant_of(out.table);
  if (table.dtype != product.result || hot.dtype != product.result)
    return unsupported("one operand is one-hot, but the product is of {} and {} to {}: a look-up converts nothing", hot.dtype,
                       table.dtype, product.result);
  if (!is_integer(table.dtype) && (!is_float(table.dtype) || constant == nullptr || !keeps_sums(*constant)))
    return unsupported(
        "one operand is one-hot, but the product is no look-up in {}: x * 0 is NaN where x is infinite or NaN, and 0 + -0 is 0; "
        "expected "
        "integers, or a constant of the file with finite elements and without -0",
        table.dtype);
  if (looked_up < 0 || looked_up >= table.rank() || !is_static(table.dims) ||
      table.dims[static_cast<size_t>(looked_up)] != hot.dims[static_cast<size_t>(summed)])
    return unsupported("one operand is one-hot, but the other is {}, expected a known extent of {} in dim {}", table.dims,
                       hot.dims[static_cast<size_t>(summed)], looked_up);
  const std::optional<int> indices = indices_over(program, location, *index, hot.dims, summed);
  if (!indices) return unsupported("one operand is one-hot, but its index does not have the other dims, in order");
  out.indices = *indices;

  Gather& gather = out.gather;
  gather.operand = table;
  gather.indices = program.type(*indices);
  gather.oob = OobPolicy::fill_window;
  gather.fill = Scalar::of(table.dtype, 0);
  gather.dims.removed_dims = gather.dims.index_map = {looked_up};
  gather.dims.index_vector_dim = gather.indices.rank();
  gather.slice_sizes = table.dims;
  gather.slice_sizes[static_cast<size_t>(looked_up)] = 1;
  Dims window = table.dims;
  window.erase(window.begin() + looked_up);
  const Dims &first = is_left ? gather.indices.dims : window, &second = is_left ? window : gather.indices.dims;
  gather.result = {table.dtype, first, {}};
  gather.result.dims.insert(gather.result.dims.end(), second.begin(), second.end());
  gather.dims.window_dims.resize(window.size());
  std::iota(gather.dims.window_dims.begin(), gather.dims.window_dims.end(), is_left ? gather.indices.rank() : 0);
  return std::optional(std::move(out));
}

}  // namespace strew::inline v0::fusion
