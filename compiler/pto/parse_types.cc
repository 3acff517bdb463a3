// The parser of types. Extents are read character by character, because 16x64xf32 is not a sequence of tokens. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include <algorithm>
#include <map>

#include "compiler/pto/parser.h"
#include "compiler/pto/types.h"
#include "compiler/pto/words.h"

namespace strew::inline v0::pto {
namespace {

constexpr size_t kMaxRank = 5;
constexpr std::string_view kLocations[] = {"vec", "mat", "left", "right", "acc", "bias", "scaling"};
constexpr std::string_view kBlocked[] = {"row_major", "col_major"};
constexpr std::string_view kBoxed[] = {"none_box", "row_major", "col_major"};

}  // namespace

/// Parses an element type. `bare`: the type of a scalar value, which excludes !pto.hif8, a type of the pto dialect.
Expected<Element> Parser::element(bool bare) {
  const Position at = token().at;
  std::string spelled = !bare && accept("!") ? "!" : "";
  spelled += token().text;
  if (token().kind != TokenKind::word) spelled.clear();
  const std::optional<Element> out = element_from_name(spelled);
  if (!out)
    return fail_at(at,
                   "the element type is '{}', expected one of i8 to i64, si8 to si64, ui8 to ui64, f16, bf16, f32, f64, "
                   "f8E4M3FN, f8E5M2, !pto.hif8",
                   spelled);
  lexer_.advance();
  return *out;
}

/// `16x?`: extents with x between them; with `before_element` also an x behind the last, before an element type.
Expected<std::vector<int64_t>> Parser::extents(size_t most, bool before_element) {
  std::vector<int64_t> out;
  for (;;) {
    const std::string_view rest = lexer_.rest();
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    int64_t extent = kDynamic;
    if (digits > 0 && !parse_integer(rest.substr(0, digits), extent)) return fail("an extent that fits 63 bits");
    if (digits == 0 && !rest.starts_with('?')) {
      if (before_element && !out.empty()) return out;
      return fail("an extent: a number or ?");
    }
    const size_t used = std::max<size_t>(digits, 1);
    const bool goes_on = rest.substr(used, 1) == "x";
    if (before_element && !goes_on) return fail("extents with x between them, then an element type");
    if (out.size() == most) return fail("at most {} extents", most);
    out.push_back(extent);
    lexer_.skip(used + (goes_on ? 1 : 0));
    if (!goes_on) return out;
  }
}

/// `3x64`: a tile's valid part. PTO-AS has no operands that could give an extent.
Status Parser::valid_extents(Type& type) {
  STREW_ASSIGN(type.tile.valid, extents(2, /*before_element=*/false));
  if (type.tile.valid.size() != 2 || (spelling_ == Spelling::as && contains(type.tile.valid, kDynamic)))
    return fail("the valid rows and columns before, ROWSxCOLS");
  return {};
}

/// The value of one `key=value` of a tile type.
Status Parser::tile_field(const std::string& key, Type& type) {
  TileLayout& t = type.tile;
  if (key == "loc") return one_of(kLocations, t.location, key);
  if (key == "blayout") return one_of(kBlocked, t.blayout, key);
  if (key == "slayout") return one_of(kBoxed, t.slayout, key);
  const std::map<std::string_view, int64_t*> numbers = {{"rows", &type.dims[0]}, {"cols", &type.dims[1]}, {"v_row", &t.valid[0]},
                                                        {"v_col", &t.valid[1]},  {"fractal", &t.fractal}, {"pad", &t.pad}};
  if (const auto field = numbers.find(key); field != numbers.end()) {
    *field->second = kDynamic;
    if (key != "fractal" && key != "pad" && accept("?")) return {};
    STREW_ASSIGN(*field->second, number("a number"));
    return {};
  }
  if (key == "valid") return valid_extents(type);
  if (key != "dtype")
    return fail("a tile's loc, dtype, rows, cols, v_row, v_col, valid, blayout, slayout, fractal or pad; it is '{}'", key);
  STREW_ASSIGN(type.element, element(false));
  return {};
}

/// `16x64xf32`: the valid part is the whole tile.
Status Parser::short_tile(Type& type) {
  STREW_ASSIGN(type.dims, extents(2, /*before_element=*/true));
  if (type.dims.size() != 2) return fail("two extents before, rows and columns");
  type.tile.valid = type.dims;
  STREW_ASSIGN(type.element, element(false));
  return {};
}

/// `vec, 16x64xf32, valid=?x64`, or `loc=vec, dtype=f32, rows=16, ..`.
Status Parser::tile_type(Type& type) {
  type.dims = type.tile.valid = {kDynamic, kDynamic};
  Names seen;
  bool brief = false;
  const auto has = [&](const char* key) { return contains(seen, key); };
  do {
    if (has("loc") && !has("rows") && (token().kind == TokenKind::number || is_at("?"))) {
      STREW_TRY(short_tile(type));
      seen.insert(seen.end(), {"rows", "cols", "dtype"});
      brief = true;
      continue;
    }
    if (token().kind != TokenKind::word) return fail("key=value");
    const std::string key(token().text);
    const Position at = token().at;
    lexer_.advance();
    if (seen.empty() && !is_at("=")) {  // the location before the short form
      if (!contains(Words(kLocations), key))
        return fail_at(at, "the tile is in '{}', expected one of {}", key, list_of(kLocations));
      type.tile.location = key;
      seen.emplace_back("loc");
      continue;
    }
    STREW_TRY(expect("="));
    if (has(key.c_str())) return fail("each key once; '{}' is there twice", key);
    seen.push_back(key);
    STREW_TRY(tile_field(key, type));
  } while (accept(","));
  if (!has("loc") || !has("dtype") || !has("rows") || !has("cols")) return fail("loc, dtype, rows and cols before");
  if (!brief && (!has("v_row") || !has("v_col"))) return fail("v_row and v_col before");
  return tile_extents(type);
}

/// Checks that the physical extents are numbers and that the valid part lies inside them.
Status Parser::tile_extents(const Type& type) const {
  constexpr const char* kNames[][2] = {{"rows", "v_row"}, {"cols", "v_col"}};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t extent = type.dims[d], valid = type.tile.valid[d];
    if (extent < 1)
      return fail_at(token().at, "the tile's {} is {}, expected a number, 1 or more", kNames[d][0], extent_text(extent));
    if (valid != kDynamic && (valid < 0 || valid > extent))
      return fail_at(token().at, "the tile's {} is {}, expected 0 to {}, its {}", kNames[d][1], valid, extent, kNames[d][0]);
  }
  return {};
}

/// Parses the parameters of the type `!pto.NAME<..>`, up to the `>`.
Status Parser::pto_type(std::string_view name, Type& type) {
  if (name == "pto.tile_buf") return tile_type(type);
  const bool tile = type.kind == TypeKind::tile;
  if (type.kind != TypeKind::ptr && !tile) {
    STREW_ASSIGN(type.dims, extents(kMaxRank, /*before_element=*/true));
  }
  if (!tile) {
    STREW_ASSIGN(type.element, element(false));
    return type.kind == TypeKind::ptr && accept(",") ? expect("gm") : Status();
  }
  STREW_TRY(short_tile(type));
  if (type.dims[1] == 1 && type.dims[0] != 1) type.tile.blayout = "col_major";
  if (accept(",")) STREW_TRY(valid_extents(type));
  return tile_extents(type);
}

Expected<Type> Parser::type() {
  Type out;
  const Position at = token().at;
  if (accept("index")) return make_index();
  if (!accept("!")) {
    out.kind = TypeKind::scalar;
    STREW_ASSIGN(out.element, element(true));
    return out;
  }
  const std::string name(token().kind == TokenKind::word ? token().text : std::string_view());
  const auto* const known = std::find(std::begin(kTypeNames), std::end(kTypeNames), name);
  if (known == std::end(kTypeNames))
    return fail_at(at, "the type is '!{}', expected index, an integer, or one of {} after '!'", name, list_of(kTypeNames));
  out.kind = kTypeKinds[known - kTypeNames];
  lexer_.advance();
  STREW_TRY(expect("<"));
  STREW_TRY(pto_type(name, out));
  STREW_TRY(expect(">"));
  return out;
}

Status Parser::expect_type(const Type& wanted, const std::string& of) {
  const Position at = token().at;
  STREW_ASSIGN(const Type given, type());
  if (given == wanted) return {};
  return fail_at(at, "the type of {} is {} here, expected {} as it is defined", of, text(given), text(wanted));
}

}  // namespace strew::inline v0::pto
