// See types.h; the parser of types is in parse_types.cc. A tile type is written in the short form, `vec, 16x64xf32`, if its
// layout is the default one for its element type, extents and location, and otherwise in the long form. Every ptoas
// since 0.46 reads both. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#include "compiler/pto/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace strew::inline v0::pto {
namespace {

constexpr std::pair<std::string_view, Element> kElements[] = {
    {"i1", {DType::boolean}},     {"i8", {DType::i8}},          {"i16", {DType::i16}},
    {"i32", {DType::i32}},        {"i64", {DType::i64}},        {"si8", {DType::i8, true}},
    {"si16", {DType::i16, true}}, {"si32", {DType::i32, true}}, {"si64", {DType::i64, true}},
    {"ui8", {DType::u8}},         {"ui16", {DType::u16}},       {"ui32", {DType::u32}},
    {"ui64", {DType::u64}},       {"f16", {DType::f16}},        {"bf16", {DType::bf16}},
    {"f32", {DType::f32}},        {"f64", {DType::f64}},        {"f8E4M3FN", {DType::f8e4m3fn}},
    {"f8E5M2", {DType::f8e5m2}},  {"!pto.hif8", {DType::hif8}},
};

std::string dims_text(const Type& type) {
  std::string out;
  for (const int64_t dim : type.dims) out += extent_text(dim) + "x";
  return out + print(type.element);
}

std::string tile_text(const Type& type) {
  const TileLayout& t = type.tile;
  TileLayout plain = make_tile(type.element, type.dims[0], type.dims[1]).tile;
  plain.location = t.location;
  if (t == plain) return t.location + ", " + dims_text(type);
  return fmt::format("loc={}, dtype={}, rows={}, cols={}, v_row={}, v_col={}, blayout={}, slayout={}, fractal={}, pad={}",
                     t.location, print(type.element), extent_text(type.dims[0]), extent_text(type.dims[1]),
                     extent_text(t.valid[0]), extent_text(t.valid[1]), t.blayout, t.slayout, t.fractal, t.pad);
}

}  // namespace

std::string print(const Element& element) {
  for (const auto& [name, named] : kElements)
    if (named == element) return std::string(name);
  return "?";
}

std::optional<Element> element_from_name(std::string_view wanted) {
  for (const auto& [name, element] : kElements)
    if (name == wanted) return element;
  return std::nullopt;
}

std::string print(const Type& type, Spelling spelling) {
  if (type.kind == TypeKind::none) return "()";
  if (type.kind == TypeKind::index) return "index";
  if (type.kind == TypeKind::scalar) return print(type.element);
  const bool is_tile = type.kind == TypeKind::tile, is_as = spelling == Spelling::as;
  const auto* const known = std::find(std::begin(kTypeKinds), std::end(kTypeKinds), type.kind);
  const std::string_view name = is_tile && is_as ? *std::rbegin(kTypeNames) : kTypeNames[known - kTypeKinds];
  if (is_tile && !is_as) return fmt::format("!{}<{}>", name, tile_text(type));
  // The grammar of PTO-AS does not define types. The valid part after the extents is strew's own notation.
  const bool cut = is_tile && type.tile.valid != type.dims;
  return fmt::format("!{}<{}{}>", name, dims_text(type),
                     cut ? ", " + extent_text(type.tile.valid[0]) + "x" + extent_text(type.tile.valid[1]) : "");
}

Type make_tile(Element element, int64_t rows, int64_t cols) {
  Type type{TypeKind::tile, element, {rows, cols}, {}};
  type.tile.valid = type.dims;
  return type;
}

std::string extent_text(int64_t extent) { return extent == kDynamic ? "?" : std::to_string(extent); }

}  // namespace strew::inline v0::pto
