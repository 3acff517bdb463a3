// See verify_common.h. A dynamic extent or stride agrees with everything here; each call checks it by the constraints of
// the descriptor (backends/descriptor.cc). Tested by tests/unit/compiler/op/verify_scatter_test.cc and verify_gather_test.cc.
#include "compiler/op/verify_common.h"

#include <algorithm>

#include "base/strides.h"
#include "compiler/op/limits.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

bool multiply(int64_t a, int64_t b, int64_t& out) { return !__builtin_mul_overflow(a, b, &out); }
bool add_to(int64_t& total, int64_t more) { return !__builtin_add_overflow(total, more, &total); }

/// Do the number of elements and the distance in bits between the lowest and the highest address fit int64? Empty and
/// dynamic dims count as extent 1, so that products of any of the dims fit too.
bool size_fits(const TensorType& type) {
  int64_t count = 1;
  for (int64_t dim : type.dims) {
    if (dim != kDynamic && !multiply(count, std::max<int64_t>(dim, 1), count)) return false;
  }
  int64_t span = type.strides.empty() ? count : 1;
  for (size_t d = 0; d < type.strides.size(); ++d) {
    const int64_t stride = type.strides[d];
    if (stride == kDynamic || type.dims[d] == kDynamic) continue;
    int64_t reach = 0;
    if (!multiply(stride < 0 ? -stride : stride, std::max<int64_t>(type.dims[d], 1) - 1, reach) || !add_to(span, reach))
      return false;
  }
  int64_t size = 0;
  return multiply(span, bits(type.dtype), size) && size <= std::numeric_limits<int64_t>::max() - 7;
}

}  // namespace

std::string Field::text() const {
  std::string text(before_);
  if (index_ >= 0) text.append(std::to_string(index_)).append(after_);
  return text;
}

Status check_dtype(const Field& field, DType dtype) {
  if (static_cast<int>(dtype) < kDTypeCount) return {};
  return violated("op_dtype", field + " has dtype number " + std::to_string(static_cast<int>(dtype)) + "; expected 0 to " +
                                  std::to_string(kDTypeCount - 1));
}

Status check_enum(const Field& field, int number, int last) {
  if (number <= last) return {};
  return violated("op_enum", field + " has number " + std::to_string(number) + "; expected 0 to " + std::to_string(last));
}

Status check_tensor(const Field& field, const TensorType& type) {
  STREW_TRY(check_dtype(field, type.dtype));
  if (type.dims.size() > static_cast<size_t>(kMaxRank)) {
    return violated("op_limits",
                    field + " has rank " + std::to_string(type.dims.size()) + "; expected at most " + std::to_string(kMaxRank));
  }
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (type.dims[d] < 0 && type.dims[d] != kDynamic) {
      return violated("op_dims", field + " is " + print(type) + "; expected dim " + std::to_string(d) + " to be 0 or more, or ?");
    }
  }
  if (!type.strides.empty() && type.strides.size() != type.dims.size()) {
    return violated("op_strides", field + " is " + print(type) + "; expected no strides (contiguous) or one per dim");
  }
  if (!size_fits(type)) {
    return violated("op_size", field + " is " + print(type) + "; expected a size in bits that fits 64-bit signed integers");
  }
  return {};
}

Status check_result_strides(const Field& field, const TensorType& type) {
  if (type.strides.empty()) return {};
  std::vector<int64_t> dims, strides;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (type.dims[d] == 0) return {};
    if (type.dims[d] == kDynamic || type.strides[d] == kDynamic) continue;
    dims.push_back(type.dims[d]);
    strides.push_back(type.strides[d]);
  }
  switch (distinct_offsets(dims, strides)) {
    case Distinct::yes:
      return {};
    case Distinct::no:
      return violated("op_strides", field + " is " + print(type) +
                                        ", where two elements share an address; a result needs strides that "
                                        "keep its elements apart");
    case Distinct::unknown:
      return violated("op_strides",
                      field + " is " + print(type) + ", whose elements cannot be shown to lie apart; use strides that nest");
  }
  return {};
}

Status check_index_dtype(std::string_view label, const TensorType& indices) {
  if (is_integer(indices.dtype) && bits(indices.dtype) >= 4) return {};
  return violated(label, "indices is " + print(indices) + "; expected an integer dtype from i4 to i64 or u4 to u64");
}

Status check_dims(std::string_view label, const Field& field, const TensorType& type, const std::vector<int64_t>& want,
                  std::string_view expected) {
  bool same = type.dims.size() == want.size();
  for (size_t d = 0; same && d < want.size(); ++d) same = dims_agree(type.dims[d], want[d]);
  if (same) return {};
  return violated(label, field + " is " + print(type) + "; expected dims " + dims_text(want) + ", " + std::string(expected));
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

bool converts(DType from, DType to) {
  if (from == to) return true;
  return info(from).arithmetic && info(to).arithmetic && (is_complex(to) || !is_complex(from));
}

Status check_converts(std::string_view label, const Field& from_field, DType from, const Field& to_field, DType to) {
  if (converts(from, to)) return {};
  std::string why = std::string(name(info(from).arithmetic ? to : from)) + " moves, but has no conversions";
  if (info(from).arithmetic && info(to).arithmetic) why = "the imaginary part would be lost";
  return violated(label, from_field + " has dtype " + std::string(name(from)) + "; expected one that converts to " +
                             std::string(name(to)) + ", the dtype of " + to_field + " (" + why + ")");
}

Status check_scalar(std::string_view label, const Field& field, const Scalar& scalar, DType dtype) {
  if (!scalar.has_value())
    return violated(label, field + " has no value; expected one of dtype " + std::string(name(dtype)) + ", as from Scalar::of");
  if (scalar.dtype != dtype) {
    return violated(label, field + " is " + print(scalar) + " of dtype " + std::string(name(scalar.dtype)) + "; expected dtype " +
                               std::string(name(dtype)));
  }
  const int width = bits(dtype);
  const bool fits = width >= 64 ? width > 64 || scalar.bits[1] == 0 : (scalar.bits[0] >> width) == 0 && scalar.bits[1] == 0;
  if (!fits) return violated(label, field + " is " + print(scalar) + "; expected at most " + std::to_string(width) + " bits");
  if (dtype == DType::boolean && scalar.bits[0] > 1)
    return violated(label, field + " is " + print(scalar) + "; expected true or false");
  if (dtype == DType::string && (scalar.bits[0] | scalar.bits[1]) != 0) {
    return violated(label, field + " is a string view; expected the empty string, all bits 0: an op holds no addresses");
  }
  return {};
}

Status check_extras(std::string_view label, const std::vector<Extra>& extras, const std::vector<int64_t>& element,
                    const std::vector<int64_t>& position, const std::vector<int64_t>& window) {
  if (extras.size() > static_cast<size_t>(kMaxExtras)) {
    return violated("op_limits", std::to_string(extras.size()) + " extras; expected at most " + std::to_string(kMaxExtras));
  }
  for (size_t i = 0; i < extras.size(); ++i) {
    const Field field("extras[", i, "]");
    STREW_TRY(check_tensor(field, extras[i].type));
    STREW_TRY(check_enum(Field("kind of extras[", i, "]"), extras[i].kind, ExtraKind::scalar));
    const std::string what = "for its kind is " + std::string(name(extras[i].kind));
    switch (extras[i].kind) {
      case ExtraKind::per_element:
        STREW_TRY(check_dims(label, field, extras[i].type, element, what));
        break;
      case ExtraKind::per_position:
        STREW_TRY(check_dims(label, field, extras[i].type, position, what));
        break;
      case ExtraKind::per_window:
        STREW_TRY(check_dims(label, field, extras[i].type, window, what));
        break;
      case ExtraKind::scalar:
        STREW_TRY(check_dims(label, field, extras[i].type, {}, what));
        break;
    }
  }
  return {};
}

Status check_expr_inputs(std::string_view label, const Expr& expr, const std::vector<DType>& currents,
                         const std::vector<TensorType>& updates, const std::vector<Extra>& extras) {
  for (size_t n = 0; n < expr.nodes.size(); ++n) {
    const ExprNode& node = expr.nodes[n];
    const auto i = static_cast<size_t>(node.index);
    DType want = node.dtype;
    if (node.op == ExprOp::current) want = currents[i];
    if (node.op == ExprOp::update) want = updates[i].dtype;
    if (node.op == ExprOp::extra) want = extras[i].type.dtype;
    if (node.dtype == want) continue;
    return violated(label, "expr node %" + std::to_string(n) + " reads " + std::string(name(node.op)) + " " +
                               std::to_string(node.index) + " as " + std::string(name(node.dtype)) + "; expected its dtype, " +
                               std::string(name(want)) + " (add a convert)");
  }
  return {};
}

}  // namespace strew::inline v0
