// The checks of a statement's types. An extent that is both in a type and a constant operand must be the same number, element types must agree,
// and an operand for a valid extent must be present exactly if the type has a `?` there. Tested by tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/parser.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

bool is_integral(const Type& type) {
  const DType dtype = type.element.dtype;
  return type.kind == TypeKind::index || (type.kind == TypeKind::scalar && (is_integer(dtype) || dtype == DType::boolean));
}
int width_of(const Type& type) { return type.element.dtype == DType::boolean ? 1 : bits(type.element.dtype); }

}  // namespace

Status Parser::check_types(const Statement& s) const {
  const Instruction& row = info(s.opcode);
  for (size_t g = 0; g < s.operands.size(); ++g)
    for (const std::string& operand : s.operands[g]) STREW_TRY(check_kind(row.operands[g].kind, operand, s.at));
  const Type boolean = make_scalar(DType::boolean);
  switch (row.form) {
    case Form::constant:
    case Form::binary:
    case Form::loop:
      STREW_TRY(check_scalars(s));
      return check_equal(s, 0, s.type);
    case Form::cast:
      STREW_TRY(check_scalars(s));
      return check_cast(s);
    case Form::nullary:
      if (s.type == make_scalar(DType::i64)) return {};
      return fail_at(s.at, "its result is " + text(s.type) + ", expected i64");
    case Form::compare: {
      const Type& type = type_of(s.operands[0][0]);
      if (!is_integral(type)) return fail_at(s.at, "it compares " + text(type) + ", expected index or integers");
      if (s.type != boolean) return fail_at(s.at, "its result is " + text(s.type) + ", expected i1");
      return check_equal(s, 0, type);
    }
    case Form::select:
      if (s.type.kind != TypeKind::scalar && s.type.kind != TypeKind::index)
        return fail_at(s.at, "the type is " + text(s.type) + ", expected index or a number");
      return check_equal(s, 1, s.type);
    case Form::view:
    case Form::partition:
      return check_view(s);
    case Form::alloc:
      return check_alloc(s);
    case Form::moves:
    case Form::computes:
    case Form::get:
    case Form::set:
    case Form::load:
    case Form::store:
    case Form::as_only:
      return check_elements(s);
    case Form::branch:
    case Form::flags:
    case Form::barrier:
    case Form::section:
      return {};
  }
  return {};
}

/// Is the operand what a group of this kind holds?
Status Parser::check_kind(Kind kind, const std::string& operand, Position at) const {
  const bool is_ir = spelling_ == Spelling::ir;
  const Type& type = type_of(operand);
  const auto expected = [&](bool fits, const char* what) {
    return fits ? Status() : fail_at(at, "%" + operand + " is " + text(type) + ", expected " + what);
  };
  switch (kind) {
    case Kind::scalar:
      return {};
    case Kind::condition:
      return expected(type == make_scalar(DType::boolean), "i1");
    case Kind::index:
      return expected(type.kind == TypeKind::index, "index");
    case Kind::address:
      return expected(type == make_scalar(DType::i64), "i64");
    case Kind::pointer:
      return expected(type.kind == TypeKind::ptr, "a pointer");
    case Kind::view:
      return expected(type.kind == TypeKind::tensor_view, "a tensor_view");
    case Kind::partition:
    case Kind::places:
      if (is_ir) return expected(type.kind == TypeKind::partition_view, "a partition_tensor_view");
      [[fallthrough]];
    case Kind::memref:
      return expected(type.kind == TypeKind::memref, "a memref");
    case Kind::tile:
    case Kind::indices:
    case Kind::mask:
    case Kind::scratch:
    case Kind::other:
      return expected(type.kind == TypeKind::tile, is_ir ? "a tile_buf" : "a tile");
    case Kind::number:
      return expected(type.kind == TypeKind::scalar, "a number");
  }
  return {};
}

/// Are the operands of the groups from `first_group` on of this type?
Status Parser::check_equal(const Statement& s, size_t first_group, const Type& wanted) const {
  for (size_t g = first_group; g < s.operands.size(); ++g) {
    const std::string& operand = s.operands[g][0];
    if (type_of(operand) != wanted)
      return fail_at(s.at, "%" + operand + " is " + text(type_of(operand)) + ", expected " + text(wanted));
  }
  return {};
}

/// The type of a constant, a loop or arithmetic, and that the number of a constant fits it.
Status Parser::check_scalars(const Statement& s) const {
  const bool number = s.type.kind == TypeKind::scalar && is_float(s.type.element.dtype);
  if (number && s.opcode == Opcode::constant) return {};
  const bool truth = s.type.kind == TypeKind::scalar && s.type.element.dtype == DType::boolean;
  if ((truth && (s.opcode == Opcode::constant || s.opcode == Opcode::loop)) ||
      (!is_integral(s.type) && !(number && s.opcode == Opcode::bitcast)))
    return fail_at(s.at, "the type is " + text(s.type) + ", expected index or an integer");
  if (s.opcode != Opcode::constant) return {};
  const int width = bits(s.type.element.dtype);
  const int64_t low = is_signed_integer(s.type.element.dtype) ? -(int64_t{1} << (std::min(width, 63) - 1)) : 0;
  if (width >= 64 || (s.value >= low && s.value < int64_t{1} << width)) return {};
  return fail_at(s.at, "the value is " + std::to_string(s.value) + ", expected one that fits " + text(s.type));
}

Status Parser::check_cast(const Statement& s) const {
  const Type& from = type_of(s.operands[0][0]);
  const bool scalars = from.kind == TypeKind::scalar && s.type.kind == TypeKind::scalar;
  const int change = width_of(s.type) - width_of(from);
  bool fits = scalars && is_integral(from) && change > 0;
  const char* expected = "a wider integer";
  if (s.opcode == Opcode::bitcast) {
    fits = scalars && change == 0;
    expected = "two numbers as wide as each other";
  } else if (s.opcode == Opcode::trunci) {
    fits = scalars && is_integral(from) && change < 0;
    expected = "a narrower integer";
  } else if (s.opcode == Opcode::index_cast || s.opcode == Opcode::index_castui) {
    fits = is_integral(from) && (from.kind == TypeKind::index) != (s.type.kind == TypeKind::index);
    expected = "one of both to be index, the other an integer";
  }
  return fits ? Status() : fail_at(s.at, "it is from " + text(from) + " to " + text(s.type) + ", expected " + expected);
}

/// A view of a pointer, or a part of a view: the ranks, and the extents that operands give.
Status Parser::check_view(const Statement& s) const {
  const bool is_view = info(s.opcode).form == Form::view;
  const Type& of = type_of(s.operands[0][0]);
  const size_t rank = is_view ? s.operands[1].size() : of.dims.size();
  if (rank == 0 || rank > 5 || s.operands[1].size() != rank || s.operands[2].size() != rank)
    return fail_at(s.at, "it has " + std::to_string(s.operands[1].size()) + (is_view ? " extents and " : " offsets and ") +
                             std::to_string(s.operands[2].size()) + (is_view ? " strides" : " sizes") + ", expected " +
                             (is_view ? "as many of both, 1 to 5" : std::to_string(rank) + " of both, the view's rank"));
  const TypeKind wanted = is_view ? TypeKind::tensor_view : TypeKind::partition_view;
  if (s.type.kind != wanted || s.type.dims.size() != rank || s.type.element != of.element)
    return fail_at(s.at, "its result is " + text(s.type) + ", expected a " + (is_view ? "tensor_view" : "partition_tensor_view") +
                             " of " + std::to_string(rank) + " dims of " + print(of.element));
  for (size_t d = 0; d < rank; ++d) {
    const std::string& operand = s.operands[is_view ? 1 : 2][d];
    const std::optional<int64_t> constant = known(operand).constant;
    if (constant && *constant < 0)
      return fail_at(s.at, "%" + operand + " is " + std::to_string(*constant) + ", expected an extent, 0 or more");
    if (s.type.dims[d] == kDynamic || !constant || *constant == s.type.dims[d]) continue;
    return fail_at(s.at, "dim " + std::to_string(d) + " of " + text(s.type) + " is " + extent_text(s.type.dims[d]) +
                             ", expected " + std::to_string(*constant) + " as %" + operand + " says");
  }
  return {};
}

Status Parser::check_alloc(const Statement& s) const {
  if (s.type.kind != TypeKind::tile) return fail_at(s.at, "its result is " + text(s.type) + ", expected a tile_buf");
  const int64_t valid[] = {s.type.tile.valid_rows, s.type.tile.valid_cols};
  constexpr const char* kNames[] = {"valid_row", "valid_col"};
  for (size_t i = 0; i < 2; ++i) {
    const bool given = !s.operands[i + 1].empty();
    if (given == (valid[i] == kDynamic)) continue;
    return fail_at(s.at, std::string(kNames[i]) + (given ? " is given" : " is missing") + " and the type says " +
                             extent_text(valid[i]) + ", expected " +
                             (given ? "no operand, or ? in the type" : "an operand for the ?"));
  }
  return {};
}

/// Tiles, views, pointers and numbers of a statement have one element type.
Status Parser::check_elements(const Statement& s) const {
  const std::span<const Operand> rules = info(s.opcode).operands;
  const std::string* first = nullptr;  // the first operand with an element type, with which all others must agree
  for (size_t g = 0; g < rules.size(); ++g) {
    const Kind kind = rules[g].kind;
    const std::string& operand = s.operands[g][0];
    if (kind != Kind::tile && kind != Kind::partition && kind != Kind::pointer && kind != Kind::number && kind != Kind::memref)
      continue;
    if (first == nullptr) first = &operand;
    const Type &type = type_of(operand), &wanted = type_of(*first);
    if (wanted.element == type.element) continue;
    if (kind == Kind::number) return fail_at(s.at, "%" + operand + " is " + text(type) + ", expected " + print(wanted.element));
    return fail_at(s.at, "%" + operand + " has elements of " + print(type.element) + ", expected " + print(wanted.element) +
                             " as %" + *first + " has");
  }
  const Form form = info(s.opcode).form;
  const bool is_as = form == Form::as_only;
  if (s.result.empty() || form == Form::computes) return {};
  const TypeKind wanted = is_as ? TypeKind::tile : TypeKind::scalar;
  if (s.type.kind == wanted && s.type.element == type_of(*first).element) return {};
  return fail_at(s.at, "its result is " + text(s.type) + ", expected " + (is_as ? "a tile of " : "") +
                           print(type_of(*first).element) + ", " + (is_as ? "the elements" : "an element") + " of %" + *first);
}

}  // namespace strew::inline v0::pto
