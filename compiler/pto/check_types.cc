// What a statement's types must say about each other: an extent that stands in a type and as a constant is the same number, elements
// agree, an operand is there exactly where a type has a `?`. Tested by tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/ir_parser.h"
#include "compiler/pto/types.h"

namespace strew::pto {
namespace {

bool is_integral(const Type& type) {
  return type.kind == TypeKind::index || (type.kind == TypeKind::scalar && is_integer(type.element.dtype));
}
std::string extent_text(int64_t extent) { return extent == kDynamic ? "?" : std::to_string(extent); }

}  // namespace

Status IrParser::check_types(const Statement& s) {
  switch (info(s.opcode).form) {
    case Form::constant:
    case Form::cast:
    case Form::binary:
    case Form::loop:
      return check_scalars(s);
    case Form::nullary:
      if (s.type == make_scalar(DType::i64)) return {};
      return fail_at(s.at, "its result is " + print(s.type) + ", expected i64");
    case Form::view:
      return check_view(s);
    case Form::partition:
      return check_partition(s);
    case Form::alloc:
      return check_alloc(s);
    case Form::moves:
      return check_moves(s);
    default:
      return {};
  }
}

Status IrParser::check_scalars(const Statement& s) {
  if (!is_integral(s.type)) return fail_at(s.at, "the type is " + print(s.type) + ", expected index or an integer");
  if (s.opcode == Opcode::constant) {
    const int width = bits(s.type.element.dtype);
    const int64_t low = is_signed_integer(s.type.element.dtype) ? -(int64_t{1} << (std::min(width, 63) - 1)) : 0;
    const bool fits = width >= 64 || (s.value >= low && s.value < int64_t{1} << width);
    return fits ? Status()
                : fail_at(s.at, "the value is " + std::to_string(s.value) + ", expected one that fits " + print(s.type));
  }
  if (info(s.opcode).form == Form::cast) {
    const Type& from = type_of(s.operands[0][0]);
    const bool index_cast = s.opcode == Opcode::index_cast || s.opcode == Opcode::index_castui;
    bool fits = is_integral(from);
    if (index_cast) {
      fits = fits && (from.kind == TypeKind::index) != (s.type.kind == TypeKind::index);
    } else {
      const int change = bits(s.type.element.dtype) - bits(from.element.dtype);
      fits = fits && from.kind == TypeKind::scalar && s.type.kind == TypeKind::scalar &&
             (s.opcode == Opcode::trunci ? change < 0 : change > 0);
    }
    if (fits) return {};
    return fail_at(s.at, "it is from " + print(from) + " to " + print(s.type) + ", expected " +
                             (index_cast                   ? "one of both to be index, the other an integer"
                              : s.opcode == Opcode::trunci ? "a narrower integer"
                                                           : "a wider integer"));
  }
  for (const auto& group : s.operands) {
    for (const std::string& operand : group) {
      if (type_of(operand) == s.type) continue;
      return fail_at(s.at, "%" + operand + " is " + print(type_of(operand)) + ", expected " + print(s.type));
    }
  }
  return {};
}

Status IrParser::check_kind(const Statement& s, size_t group, TypeKind kind, const char* what) {
  for (const std::string& operand : s.operands[group]) {
    if (type_of(operand).kind == kind) continue;
    return fail_at(s.at, "%" + operand + " is " + print(type_of(operand)) + ", expected " + what);
  }
  return {};
}

/// The result's extents against the operands that give them.
Status IrParser::check_extents(const Statement& s, size_t group) {
  for (size_t d = 0; d < s.type.dims.size(); ++d) {
    const std::string& operand = s.operands[group][d];
    const std::optional<int64_t> constant = known(operand).constant;
    if (constant && *constant < 0)
      return fail_at(s.at, "%" + operand + " is " + std::to_string(*constant) + ", expected an extent, 0 or more");
    if (s.type.dims[d] == kDynamic || !constant || *constant == s.type.dims[d]) continue;
    return fail_at(s.at, "dim " + std::to_string(d) + " of " + print(s.type) + " is " + extent_text(s.type.dims[d]) +
                             ", expected " + std::to_string(*constant) + " as %" + operand + " says");
  }
  return {};
}

Status IrParser::check_view(const Statement& s) {
  STREW_TRY(check_kind(s, 0, TypeKind::ptr, "a pointer"));
  STREW_TRY(check_kind(s, 1, TypeKind::index, "index"));
  STREW_TRY(check_kind(s, 2, TypeKind::index, "index"));
  const size_t rank = s.operands[1].size();
  if (rank == 0 || rank > 5 || s.operands[2].size() != rank)
    return fail_at(s.at, "it has " + std::to_string(rank) + " extents and " + std::to_string(s.operands[2].size()) +
                             " strides, expected as many of both, 1 to 5");
  const Type& pointer = type_of(s.operands[0][0]);
  if (s.type.kind != TypeKind::tensor_view || s.type.dims.size() != rank || s.type.element != pointer.element)
    return fail_at(s.at, "its result is " + print(s.type) + ", expected a tensor_view of " + std::to_string(rank) + " dims of " +
                             print(pointer.element));
  return check_extents(s, 1);
}

Status IrParser::check_partition(const Statement& s) {
  STREW_TRY(check_kind(s, 0, TypeKind::tensor_view, "a tensor_view"));
  STREW_TRY(check_kind(s, 1, TypeKind::index, "index"));
  STREW_TRY(check_kind(s, 2, TypeKind::index, "index"));
  const Type& view = type_of(s.operands[0][0]);
  const size_t rank = view.dims.size();
  if (s.operands[1].size() != rank || s.operands[2].size() != rank)
    return fail_at(s.at, "it has " + std::to_string(s.operands[1].size()) + " offsets and " +
                             std::to_string(s.operands[2].size()) + " sizes, expected " + std::to_string(rank) +
                             " of both, the view's rank");
  if (s.type.kind != TypeKind::partition_view || s.type.dims.size() != rank || s.type.element != view.element)
    return fail_at(s.at, "its result is " + print(s.type) + ", expected a partition_tensor_view of " + std::to_string(rank) +
                             " dims of " + print(view.element));
  return check_extents(s, 2);
}

Status IrParser::check_alloc(const Statement& s) {
  if (s.type.kind != TypeKind::tile) return fail_at(s.at, "its result is " + print(s.type) + ", expected a tile_buf");
  for (const std::string& addr : s.operands[0])
    if (type_of(addr) != make_scalar(DType::i64)) return fail_at(s.at, "addr is " + print(type_of(addr)) + ", expected i64");
  const int64_t valid[] = {s.type.tile.valid_rows, s.type.tile.valid_cols};
  constexpr const char* kNames[] = {"valid_row", "valid_col"};
  for (size_t i = 0; i < 2; ++i) {
    STREW_TRY(check_kind(s, i + 1, TypeKind::index, "index"));
    const bool given = !s.operands[i + 1].empty();
    if (given == (valid[i] == kDynamic)) continue;
    return fail_at(s.at, std::string(kNames[i]) + (given ? " is given" : " is missing") + " and the type says " +
                             extent_text(valid[i]) + ", expected " +
                             (given ? "no operand, or ? in the type" : "an operand for the ?"));
  }
  return {};
}

Status IrParser::check_moves(const Statement& s) {
  const auto elements_agree = [&](size_t a, size_t b) -> Status {
    const std::string &left = s.operands[a][0], &right = s.operands[b][0];
    if (type_of(left).element == type_of(right).element) return {};
    return fail_at(s.at, "%" + right + " has elements of " + print(type_of(right).element) + ", expected " +
                             print(type_of(left).element) + " as %" + left + " has");
  };
  switch (s.opcode) {
    case Opcode::tload:
    case Opcode::tstore: {
      const bool loads = s.opcode == Opcode::tload;
      STREW_TRY(check_kind(s, loads ? 0 : 1, TypeKind::partition_view, "a partition_tensor_view"));
      STREW_TRY(check_kind(s, loads ? 1 : 0, TypeKind::tile, "a tile_buf"));
      return elements_agree(0, 1);
    }
    case Opcode::mscatter:
      STREW_TRY(check_kind(s, 0, TypeKind::tile, "a tile_buf"));
      STREW_TRY(check_kind(s, 1, TypeKind::tile, "a tile_buf"));
      STREW_TRY(check_kind(s, 2, TypeKind::partition_view, "a partition_tensor_view"));
      return elements_agree(0, 2);
    default:
      STREW_TRY(check_kind(s, 0, TypeKind::partition_view, "a partition_tensor_view"));
      STREW_TRY(check_kind(s, 1, TypeKind::tile, "a tile_buf"));
      STREW_TRY(check_kind(s, 2, TypeKind::tile, "a tile_buf"));
      return elements_agree(0, 2);
  }
}

}  // namespace strew::pto
