// See verify_common.h. A dynamic extent or stride agrees with everything here; each call checks it by the constraints of
// the descriptor (backends/descriptor.cc). Tested by tests/unit/compiler/op/verify_scatter_test.cc and verify_gather_test.cc.
#include "compiler/op/verify_common.h"

#include <algorithm>
#include <cstdlib>

#include "base/checked.h"
#include "base/strides.h"
#include "compiler/op/limits.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// Do the number of elements and the distance in bits between the lowest and the highest address fit int64? Empty and
/// dynamic dims count as extent 1, so that products of any of the dims fit too.
bool size_fits(const TensorType& type) {
  std::optional<int64_t> count = 1, span = 1;
  for (size_t d = 0; d < type.dims.size() && count && span; ++d) {
    const int64_t extent = std::max<int64_t>(type.dims[d], 1);
    const int64_t stride = type.strides.empty() || type.strides[d] == kDynamic ? 0 : std::abs(type.strides[d]);
    const std::optional<int64_t> reach = checked::mul(stride, extent - 1);
    count = checked::mul(*count, extent);
    span = reach ? checked::add(*span, *reach) : std::nullopt;
  }
  if (!count || !span) return false;
  const std::optional<int64_t> size = checked::mul(type.strides.empty() ? *count : *span, bits(type.dtype));
  return size && *size <= std::numeric_limits<int64_t>::max() - 7;
}

}  // namespace

Status check_dtype(const Field& field, DType dtype) {
  if (static_cast<int>(dtype) < kDTypeCount) return {};
  return violated("op_dtype", "{} has dtype number {}; expected 0 to {}", field, static_cast<int>(dtype), kDTypeCount - 1);
}

Status check_enum(const Field& field, int number, int count) {
  if (number < count) return {};
  return violated("op_enum", "{} has number {}; expected 0 to {}", field, number, count - 1);
}

Status check_tensor(const Field& field, const TensorType& type) {
  STREW_TRY(check_dtype(field, type.dtype));
  if (type.rank() > kMaxRank) return violated("op_limits", "{} has rank {}; expected at most {}", field, type.rank(), kMaxRank);
  for (size_t d = 0; d < type.dims.size(); ++d)
    if (type.dims[d] < 0 && type.dims[d] != kDynamic)
      return violated("op_dims", "{} is {}; expected dim {} to be 0 or more, or ?", field, type, d);
  if (!type.strides.empty() && type.strides.size() != type.dims.size())
    return violated("op_strides", "{} is {}; expected no strides (contiguous) or one per dim", field, type);
  if (size_fits(type)) return {};
  return violated("op_size", "{} is {}; expected a size in bits that fits 64-bit signed integers", field, type);
}

Status check_result_strides(const Field& field, const TensorType& type, const std::vector<int64_t>& repeated) {
  if (type.strides.empty()) return {};
  std::vector<int64_t> dims, strides;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (type.dims[d] == 0) return {};
    if (type.dims[d] == kDynamic || type.strides[d] == kDynamic) continue;
    if (std::ranges::find(repeated, static_cast<int64_t>(d)) != repeated.end()) continue;
    dims.push_back(type.dims[d]);
    strides.push_back(type.strides[d]);
  }
  const Distinct distinct = distinct_offsets(dims, strides);
  if (distinct == Distinct::yes) return {};
  return violated("op_strides", "{} is {}, {}", field, type,
                  distinct == Distinct::no
                      ? "where two elements share an address; a result needs strides that keep its elements apart"
                      : "whose elements cannot be shown to lie apart; use strides that nest");
}

bool dims_agree(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](int64_t x, int64_t y) { return dims_agree(x, y); });
}

Status check_dims(std::string_view label, const Field& field, const TensorType& type, const std::vector<int64_t>& want,
                  std::string_view expected) {
  if (dims_agree(type.dims, want)) return {};
  return violated(label, "{} is {}; expected dims {}, {}", field, type, want, expected);
}

Status check_indices(std::string_view dtype_label, const TensorType& indices, const std::vector<TensorType>& more,
                     int64_t index_vector_dim) {
  const auto check_index_tensor = [&](const Field& field, const TensorType& type) -> Status {
    STREW_TRY(check_tensor(field, type));
    if (is_integer(type.dtype) && bits(type.dtype) >= 4) return {};
    return violated(dtype_label, "{} is {}; expected an integer dtype from i4 to i64 or u4 to u64", field, type);
  };
  STREW_TRY(check_index_tensor("indices", indices));
  if (more.empty()) return {};
  if (more.size() > kMaxRank) return violated("op_limits", "{} more_indices; expected at most {}", more.size(), kMaxRank);
  if (index_vector_dim != indices.rank())
    return violated(
        "index_tensors",
        "index_vector_dim is {} with more_indices; expected {}, the rank of indices {}: each tensor has one component",
        index_vector_dim, indices.rank(), indices);
  for (size_t i = 0; i < more.size(); ++i) {
    const Field field("more_indices[", i, "]");
    STREW_TRY(check_index_tensor(field, more[i]));
    STREW_TRY(check_dims("index_tensors", field, more[i], indices.dims, "the dims of indices"));
  }
  return {};
}

Status check_slices(std::string_view label, const Field& field, const TensorType& slices, const TensorType& indices,
                    const AccessDims& dims, std::string_view list, std::string_view from, const std::vector<int64_t>& given) {
  const size_t positions = dims.positions.size(), window = dims.window.size();
  if (slices.dims.size() != positions + window)
    return violated(label, "{} is {} of rank {}; expected rank {}: {} dims of indices {} and {} {}", field, slices, slices.rank(),
                    positions + window, positions, indices, window, list);
  bool agree = true;
  for (size_t d = 0; agree && d < dims.slices.size(); ++d) {
    const auto& [operand_dim, indices_dim] = dims.slices[d];
    agree = dims_agree(slices.dims[d], operand_dim < 0 ? indices.dims[indices_dim] : dims.operand[operand_dim].window);
  }
  if (agree) return {};
  return violated(label, "{} is {}; expected dims {}, from indices {} and {} {}", field, slices,
                  dims.slices_extents(dims.position_extents(indices.dims), dims.window_extents()), indices, from, given);
}

DType result_dtype(ExprOp op, DType first) {
  switch (info(op).result) {
    case ExprResult::own:
    case ExprResult::same:
      return first;
    case ExprResult::boolean:
      return DType::boolean;
    case ExprResult::part:
      return first == DType::complex64 ? DType::f32 : DType::f64;
    case ExprResult::whole:
      return first == DType::f32 ? DType::complex64 : DType::complex128;
  }
  return first;
}

std::string expected_dtypes(ExprOp op, DType given) {
  constexpr std::pair<unsigned, std::string_view> kFamilies[] = {{expr_dtypes::boolean, "bool"},
                                                                 {expr_dtypes::integers, "integers"},
                                                                 {expr_dtypes::signed_integers, "signed integers"},
                                                                 {expr_dtypes::floats, "floats"},
                                                                 {expr_dtypes::complexes, "complex"}};
  std::string out;
  unsigned left = info(op).arguments;
  for (const auto& [family, words] : kFamilies) {
    if ((left & family) != family) continue;
    out.append(out.empty() ? "one of: " : ", ").append(words);
    left &= ~family;
  }
  return out + (info(given).arithmetic ? "" : ", with arithmetic (this one only moves)");
}

bool converts(DType from, DType to) {
  if (from == to) return true;
  return info(from).arithmetic && info(to).arithmetic && (is_complex(to) || !is_complex(from));
}

Status check_converts(std::string_view label, const Field& from_field, DType from, const Field& to_field, DType to) {
  if (converts(from, to)) return {};
  const bool loses = info(from).arithmetic && info(to).arithmetic;
  return violated(label, "{} has dtype {}; expected one that converts to {}, the dtype of {} ({})", from_field, from, to,
                  to_field,
                  loses ? "the imaginary part would be lost"
                        : message("{} moves, but has no conversions", info(from).arithmetic ? to : from));
}

bool fits(const Scalar& scalar) {
  const int width = bits(scalar.dtype);
  return width > 64 || (scalar.bits[1] == 0 && (width == 64 || scalar.bits[0] >> width == 0));
}

Status check_scalar(std::string_view label, const Field& field, const Scalar& scalar, DType dtype) {
  if (!scalar.has_value()) return violated(label, "{} has no value; expected one of dtype {}, as from Scalar::of", field, dtype);
  if (scalar.dtype != dtype)
    return violated(label, "{} is {} of dtype {}; expected dtype {}", field, scalar, scalar.dtype, dtype);
  if (!fits(scalar)) return violated(label, "{} is {}; expected at most {} bits", field, scalar, bits(dtype));
  if (dtype == DType::boolean && scalar.bits[0] > 1) return violated(label, "{} is {}; expected true or false", field, scalar);
  if (dtype != DType::string || (scalar.bits[0] | scalar.bits[1]) == 0) return {};
  return violated(label, "{} is a string view; expected the empty string, all bits 0: an op holds no addresses", field);
}

Status check_extras(std::string_view label, const std::vector<Extra>& extras, bool has_graph, const TensorType& slices,
                    const TensorType& indices, const DimensionNumbers& numbers, const AccessDims& dims) {
  if (extras.empty()) return {};
  if (!has_graph)
    return violated(label, "{} extras without expr; expected none: only an expression graph reads them", extras.size());
  if (extras.size() > kMaxExtras) return violated("op_limits", "{} extras; expected at most {}", extras.size(), kMaxExtras);
  std::vector<int64_t> window;
  for (const int64_t d : numbers.window_dims) window.push_back(slices.dims[d]);
  const std::vector<int64_t> want[] = {
      slices.dims, dims.position_extents(indices.dims), window, {}};  // in the order of ExtraKind
  for (size_t i = 0; i < extras.size(); ++i) {
    const Field field("extras[", i, "]");
    STREW_TRY(check_tensor(field, extras[i].type));
    STREW_TRY(check_enum(Field("kind of extras[", i, "]"), extras[i].kind));
    STREW_TRY(check_dims(label, field, extras[i].type, want[static_cast<size_t>(extras[i].kind)],
                         message("for its kind is {}", extras[i].kind)));
  }
  return {};
}

Status check_graph(std::string_view inputs, std::string_view returns, const Expr& expr, std::span<const TensorType> currents,
                   std::span<const TensorType> updates, std::span<const Extra> extras, std::span<const TensorType> results) {
  STREW_TRY(verify(expr, static_cast<int>(currents.size()), static_cast<int>(updates.size()), static_cast<int>(extras.size())));
  for (size_t n = 0; n < expr.nodes.size(); ++n) {
    const ExprNode& node = expr.nodes[n];
    const auto i = static_cast<size_t>(node.index);
    DType want = node.dtype;
    if (node.op == ExprOp::current) want = currents[i].dtype;
    if (node.op == ExprOp::update) want = updates[i].dtype;
    if (node.op == ExprOp::extra) want = extras[i].type.dtype;
    if (node.dtype == want) continue;
    return violated(inputs, "expr node %{} reads {} {} as {}; expected its dtype, {} (add a convert)", n, node.op, node.index,
                    node.dtype, want);
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (const DType given = expr.result(i).dtype; given != results[i].dtype)
      return violated(returns, "expr returns {} as result {}; expected {}, its dtype", given, i, results[i].dtype);
  return {};
}

}  // namespace strew::inline v0
