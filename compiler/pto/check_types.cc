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
/// What the operands of a kind are, in the order of Kind.
struct KindRule {
  TypeKind type;
  const char* what;
  std::optional<DType> dtype = {};  ///< of the type, if no other is allowed
};
constexpr KindRule kTile = {TypeKind::tile, "a tile_buf"}, kPart = {TypeKind::partition_view, "a partition_tensor_view"};
constexpr KindRule kKindRules[] = {
    {TypeKind::none, ""},
    {TypeKind::scalar, "i1", DType::boolean},
    {TypeKind::index, "index"},
    {TypeKind::scalar, "i64", DType::i64},
    {TypeKind::ptr, "a pointer"},
    {TypeKind::tensor_view, "a tensor_view"},
    kPart,
    kTile,
    {TypeKind::scalar, "a number"},
    kTile,
    kTile,
    kTile,
    kTile,
    {TypeKind::memref, "a memref"},
    kPart,
};

int width_of(const Type& type) { return type.element.dtype == DType::boolean ? 1 : bits(type.element.dtype); }

}  // namespace

Status Parser::check_types(const Statement& s) const {
  const Instruction& row = info(s.opcode);
  for (size_t g = 0; g < s.operands.size(); ++g)
    for (const std::string& operand : s.operands[g]) STREW_TRY(check_kind(row.operands[g].kind, operand, s.at));
  const Form form = row.form;
  if (form == Form::constant || form == Form::binary || form == Form::loop || form == Form::cast) {
    STREW_TRY(check_scalars(s));
    return form == Form::cast ? check_cast(s) : check_equal(s, 0, s.type);
  }
  if (form == Form::nullary) return check_result(s, s.type == make_scalar(DType::i64), "i64");
  if (form == Form::compare) {
    const Type& type = type_of(s.operands[0][0]);
    if (!is_integral(type)) return fail_at(s.at, "it compares {}, expected index or integers", text(type));
    STREW_TRY(check_result(s, s.type == make_scalar(DType::boolean), "i1"));
    return check_equal(s, 0, type);
  }
  if (form == Form::select) {
    if (s.type.kind == TypeKind::scalar || s.type.kind == TypeKind::index) return check_equal(s, 1, s.type);
    return fail_at(s.at, "the type is {}, expected index or a number", text(s.type));
  }
  if (form == Form::view || form == Form::partition) return check_view(s);
  return form == Form::alloc ? check_alloc(s) : check_elements(s);
}

/// Is the operand what a group of this kind holds?
Status Parser::check_kind(Kind kind, const std::string& operand, Position at) const {
  const bool is_ir = spelling_ == Spelling::ir, in_memory = kind == Kind::partition || kind == Kind::places;
  const KindRule& rule = kKindRules[static_cast<size_t>(!is_ir && in_memory ? Kind::memref : kind)];
  const Type& type = type_of(operand);
  const bool is_dtype = !rule.dtype || type.element == Element{*rule.dtype};
  if (kind == Kind::scalar || (type.kind == rule.type && is_dtype)) return {};
  return fail_at(at, "%{} is {}, expected {}", operand, text(type), !is_ir && rule.type == TypeKind::tile ? "a tile" : rule.what);
}

/// Are the operands of the groups from `first_group` on of this type?
Status Parser::check_equal(const Statement& s, size_t first_group, const Type& wanted) const {
  for (size_t g = first_group; g < s.operands.size(); ++g) {
    const std::string& operand = s.operands[g][0];
    if (type_of(operand) != wanted) return fail_at(s.at, "%{} is {}, expected {}", operand, text(type_of(operand)), text(wanted));
  }
  return {};
}

/// Is the type of the result what `expected` says?
Status Parser::check_result(const Statement& s, bool fits, const std::string& expected) const {
  return fits ? Status() : fail_at(s.at, "its result is {}, expected {}", text(s.type), expected);
}

/// The type of a constant, a loop or arithmetic, and that the number of a constant fits it.
Status Parser::check_scalars(const Statement& s) const {
  const bool number = s.type.kind == TypeKind::scalar && is_float(s.type.element.dtype);
  if (number && s.opcode == Opcode::constant) return {};
  const bool truth = s.type.kind == TypeKind::scalar && s.type.element.dtype == DType::boolean;
  if ((truth && (s.opcode == Opcode::constant || s.opcode == Opcode::loop)) ||
      (!is_integral(s.type) && !(number && s.opcode == Opcode::bitcast)))
    return fail_at(s.at, "the type is {}, expected index or an integer", text(s.type));
  if (s.opcode != Opcode::constant) return {};
  const int width = bits(s.type.element.dtype);
  const int64_t low = is_signed_integer(s.type.element.dtype) ? -(int64_t{1} << (std::min(width, 63) - 1)) : 0;
  if (width >= 64 || (s.value >= low && s.value < int64_t{1} << width)) return {};
  return fail_at(s.at, "the value is {}, expected one that fits {}", s.value, text(s.type));
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
  return fits ? Status() : fail_at(s.at, "it is from {} to {}, expected {}", text(from), text(s.type), expected);
}

/// A view of a pointer, or a part of a view: the ranks, and the extents that operands give.
Status Parser::check_view(const Statement& s) const {
  const bool is_view = info(s.opcode).form == Form::view;
  const Type& of = type_of(s.operands[0][0]);
  const size_t rank = is_view ? s.operands[1].size() : of.dims.size();
  if (rank == 0 || rank > 5 || s.operands[1].size() != rank || s.operands[2].size() != rank)
    return fail_at(s.at, "it has {} {} and {} {}, expected {}", s.operands[1].size(), is_view ? "extents" : "offsets",
                   s.operands[2].size(), is_view ? "strides" : "sizes",
                   is_view ? "as many of both, 1 to 5" : fmt::format("{} of both, the view's rank", rank));
  const TypeKind wanted = is_view ? TypeKind::tensor_view : TypeKind::partition_view;
  STREW_TRY(check_result(
      s, s.type.kind == wanted && s.type.dims.size() == rank && s.type.element == of.element,
      fmt::format("a {} of {} dims of {}", is_view ? "tensor_view" : "partition_tensor_view", rank, print(of.element))));
  for (size_t d = 0; d < rank; ++d) {
    const std::string& operand = s.operands[is_view ? 1 : 2][d];
    const std::optional<int64_t> constant = known(operand).constant;
    if (constant && *constant < 0) return fail_at(s.at, "%{} is {}, expected an extent, 0 or more", operand, *constant);
    if (s.type.dims[d] == kDynamic || !constant || *constant == s.type.dims[d]) continue;
    return fail_at(s.at, "dim {} of {} is {}, expected {} as %{} says", d, text(s.type), s.type.dims[d], *constant, operand);
  }
  return {};
}

Status Parser::check_alloc(const Statement& s) const {
  STREW_TRY(check_result(s, s.type.kind == TypeKind::tile, "a tile_buf"));
  for (size_t i = 1; i <= 2; ++i) {
    const int64_t valid = s.type.tile.valid[i - 1];
    const bool given = !s.operands[i].empty();
    if (given == (valid == kDynamic)) continue;
    return fail_at(s.at, "{} is {} and the type says {}, expected {}", i == 1 ? "valid_row" : "valid_col",
                   given ? "given" : "missing", extent_text(valid),
                   given ? "no operand, or ? in the type" : "an operand for the ?");
  }
  return {};
}

/// Tiles, views, pointers and numbers of a statement have one element type.
Status Parser::check_elements(const Statement& s) const {
  const Operands& rules = info(s.opcode).operands;
  const std::string* first = nullptr;  // the first operand with an element type, with which all others must agree
  for (size_t g = 0; g < rules.size(); ++g) {
    const Kind kind = rules[g].kind;
    const std::string& operand = s.operands[g][0];
    if (kind != Kind::tile && kind != Kind::partition && kind != Kind::pointer && kind != Kind::number && kind != Kind::memref)
      continue;
    if (first == nullptr) first = &operand;
    const Type &type = type_of(operand), &wanted = type_of(*first);
    if (wanted.element == type.element) continue;
    if (kind == Kind::number) return fail_at(s.at, "%{} is {}, expected {}", operand, text(type), print(wanted.element));
    return fail_at(s.at, "%{} has elements of {}, expected {} as %{} has", operand, print(type.element), print(wanted.element),
                   *first);
  }
  const Form form = info(s.opcode).form;
  const bool is_as = form == Form::as_only;
  if (s.result.empty() || form == Form::computes) return {};
  const Element& wanted = type_of(*first).element;
  return check_result(
      s, s.type.kind == (is_as ? TypeKind::tile : TypeKind::scalar) && s.type.element == wanted,
      fmt::format("{}{}, {} of %{}", is_as ? "a tile of " : "", print(wanted), is_as ? "the elements" : "an element", *first));
}

}  // namespace strew::inline v0::pto
