// The checks of a statement's types (IrParser::check_types). An extent that is both in a type and a constant operand
// must be the same number, element types must agree, and an operand for a valid extent must be present exactly if the
// type has a `?` there. Tested by tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/ir_parser.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

bool is_integral(const Type& type) {
  const DType dtype = type.element.dtype;
  return type.kind == TypeKind::index || (type.kind == TypeKind::scalar && (is_integer(dtype) || dtype == DType::boolean));
}
int width_of(const Type& type) { return type.element.dtype == DType::boolean ? 1 : bits(type.element.dtype); }

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
    case Form::compare:
      return check_compared(s);
    case Form::view:
      return check_view(s);
    case Form::partition:
      return check_partition(s);
    case Form::alloc:
      return check_alloc(s);
    case Form::select:
      return check_select(s);
    case Form::moves:
    case Form::computes:
    case Form::get:
    case Form::set:
    case Form::load:
    case Form::store:
    case Form::branch:
      return check_operands(s);
    case Form::flags:
    case Form::barrier:
    case Form::section:
    case Form::as_only:
      return {};
  }
  return {};
}

/// The operands of a comparison are integers or indices of one type, which its parser compared with the type in the text.
Status IrParser::check_compared(const Statement& s) {
  const Type& type = type_of(s.operands[0][0]);
  if (is_integral(type)) return {};
  return fail_at(s.at, "it compares " + print(type) + ", expected index or integers");
}

Status IrParser::check_scalars(const Statement& s) {
  const bool number = s.type.kind == TypeKind::scalar && is_float(s.type.element.dtype);
  if (number && s.opcode == Opcode::constant) return {};
  const bool truth = s.type.kind == TypeKind::scalar && s.type.element.dtype == DType::boolean;
  if ((truth && (s.opcode == Opcode::constant || s.opcode == Opcode::loop)) ||
      (!is_integral(s.type) && !(number && s.opcode == Opcode::bitcast)))
    return fail_at(s.at, "the type is " + print(s.type) + ", expected index or an integer");
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
    if (s.opcode == Opcode::bitcast) {
      fits = from.kind == TypeKind::scalar && s.type.kind == TypeKind::scalar && width_of(from) == width_of(s.type);
      if (fits) return {};
      return fail_at(s.at, "it is from " + print(from) + " to " + print(s.type) + ", expected two numbers as wide as each other");
    }
    if (index_cast) {
      fits = fits && (from.kind == TypeKind::index) != (s.type.kind == TypeKind::index);
    } else {
      const int change = width_of(s.type) - width_of(from);
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

/// Compares the extents of the result type with the operands that give them.
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

Status IrParser::check_select(const Statement& s) {
  if (s.type.kind != TypeKind::scalar && s.type.kind != TypeKind::index)
    return fail_at(s.at, "the type is " + print(s.type) + ", expected index or a number");
  for (size_t g = 0; g < 3; ++g) {
    const Type wanted = g == 0 ? make_scalar(DType::boolean) : s.type;
    const std::string& operand = s.operands[g][0];
    if (type_of(operand) != wanted)
      return fail_at(s.at, "%" + operand + " is " + print(type_of(operand)) + ", expected " + print(wanted));
  }
  return {};
}

/// Checks the operands against the kinds in the instruction's row: tiles, views, pointers and numbers have one element
/// type.
Status IrParser::check_operands(const Statement& s) {
  const std::span<const Operand> rules = info(s.opcode).operands;
  const std::string* first = nullptr;  // the first operand with an element type, with which all others must agree
  for (size_t g = 0; g < rules.size(); ++g) {
    const Kind kind = rules[g].kind;
    const std::string& operand = s.operands[g][0];
    const Type& type = type_of(operand);
    const auto wrong = [&](const std::string& expected) {
      return fail_at(s.at, "%" + operand + " is " + print(type) + ", expected " + expected);
    };
    if (kind == Kind::index && type.kind != TypeKind::index) return wrong("index");
    if (kind == Kind::condition && type != make_scalar(DType::boolean)) return wrong("i1");
    if ((kind == Kind::partition || kind == Kind::places) && type.kind != TypeKind::partition_view)
      return wrong("a partition_tensor_view");
    if (kind == Kind::pointer && type.kind != TypeKind::ptr) return wrong("a pointer");
    const bool tile =
        kind == Kind::tile || kind == Kind::indices || kind == Kind::mask || kind == Kind::scratch || kind == Kind::other;
    if (tile && type.kind != TypeKind::tile) return wrong("a tile_buf");
    if (kind == Kind::number && type.kind != TypeKind::scalar) return wrong("a number");
    if (kind != Kind::tile && kind != Kind::partition && kind != Kind::pointer && kind != Kind::number) continue;
    if (first == nullptr) first = &operand;
    if (type_of(*first).element == type.element) continue;
    if (kind == Kind::number) return wrong(print(type_of(*first).element));
    return fail_at(s.at, "%" + operand + " has elements of " + print(type.element) + ", expected " +
                             print(type_of(*first).element) + " as %" + *first + " has");
  }
  const Form form = info(s.opcode).form;
  if (form != Form::get && form != Form::load) return {};
  Type wanted;
  wanted.kind = TypeKind::scalar;
  wanted.element = type_of(*first).element;
  if (s.type == wanted) return {};
  return fail_at(s.at, "its result is " + print(s.type) + ", expected " + print(wanted) + ", an element of %" + *first);
}

}  // namespace strew::inline v0::pto
