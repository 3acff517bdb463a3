// See parser.h. Types are parsed character by character, because 16x64xf32 is not a sequence of tokens. Attributes are
// looked up in the statement's row, so a misspelt attribute is an error here; ptoas drops it silently. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include "compiler/pto/parser.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "compiler/pto/parse.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr size_t kMaxRank = 5;
constexpr std::string_view kLocations[] = {"vec", "mat", "left", "right", "acc", "bias", "scaling"};
constexpr std::string_view kBlocked[] = {"row_major", "col_major"};
constexpr std::string_view kBoxed[] = {"none_box", "row_major", "col_major"};

std::string list_of(std::span<const std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool parse_integer(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Status error_at(Position at, const std::string& message) {
  return invalid_argument(std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + message);
}

bool Parser::accept_mark(std::string_view mark) {
  if (!at_mark(mark)) return false;
  lexer_.advance();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  lexer_.advance();
  return true;
}

Status Parser::fail_at(Position at, const std::string& message) const {
  return error_at(at, (statement_.empty() ? "" : statement_ + ": ") + message);
}
Status Parser::fail(const std::string& expected) const {
  return fail_at(token().at, "found " + lexer_.found() + ", expected " + expected);
}
Status Parser::expect_mark(std::string_view mark) { return accept_mark(mark) ? Status() : fail("'" + std::string(mark) + "'"); }
Status Parser::expect_word(std::string_view word) { return accept_word(word) ? Status() : fail(std::string(word)); }

Expected<int64_t> Parser::number(const char* what) {
  int64_t value = 0;
  if (token().kind != TokenKind::number) return fail(what);
  if (!parse_integer(token().text, value)) return fail(std::string(what) + " that fits 64 bits");
  lexer_.advance();
  return value;
}

// --- types ---

/// Parses an element type. `bare`: the type of a scalar value, which excludes !pto.hif8, a type of the pto dialect.
Expected<Element> Parser::element(bool bare) {
  Element out;
  std::string spelled;
  const Position at = token().at;
  if (!bare && at_mark("!")) {
    lexer_.advance();
    spelled = "!";
  }
  spelled += token().text;
  if (token().kind != TokenKind::word || !element_from_name(spelled, out))
    return fail_at(at, "the element type is '" + (token().kind == TokenKind::word ? spelled : std::string()) +
                           "', expected one of i8 to i64, si8 to si64, ui8 to ui64, f16, bf16, f32, f64, f8E4M3FN, f8E5M2, " +
                           "!pto.hif8");
  lexer_.advance();
  return out;
}

/// `16x?xf32`: extents, then the element type.
Expected<std::vector<int64_t>> Parser::dims(Element& into, size_t most) {
  std::vector<int64_t> out;
  for (;;) {
    const std::string_view rest = lexer_.rest();
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    int64_t extent = kDynamic;
    size_t used = 1;
    if (digits > 0) {
      used = digits;
      if (!parse_integer(rest.substr(0, digits), extent)) return fail("an extent that fits 63 bits");
    } else if (rest.empty() || rest.front() != '?') {
      break;
    }
    if (rest.substr(used, 1) != "x") return fail("extents with x between them, then an element type");
    if (out.size() == most) return fail("at most " + std::to_string(most) + " extents");
    out.push_back(extent);
    lexer_.skip(used + 1);
  }
  if (out.empty()) return fail("an extent: a number or ?");
  STREW_ASSIGN(into, element(false));
  return out;
}

/// `3x64`: a tile's valid part.
Expected<std::vector<int64_t>> Parser::valid_extents() {
  const std::string_view rest = lexer_.rest();
  const size_t size = std::min(rest.find_first_not_of("0123456789x"), rest.size());
  const std::string_view text = rest.substr(0, size);
  const size_t cross = std::min(text.find('x'), size);
  std::vector<int64_t> out(2);
  if (!parse_integer(text.substr(0, cross), out[0]) || cross == size || !parse_integer(text.substr(cross + 1), out[1]))
    return fail("the valid rows and columns, 3x64");
  lexer_.skip(size);
  return out;
}

Expected<int64_t> Parser::extent(const char* what) {
  if (accept_mark("?")) return kDynamic;
  return number(what);
}

/// One `key=value` of a tile type.
Status Parser::tile_field(const std::string& key, Type& type, std::vector<std::string>& seen) {
  if (std::find(seen.begin(), seen.end(), key) != seen.end()) return fail("each key once; '" + key + "' is there twice");
  seen.push_back(key);
  TileLayout& t = type.tile;
  const auto word = [&](std::string& into, std::span<const std::string_view> known) -> Status {
    for (const std::string_view k : known) {
      if (!at_word(k)) continue;
      into = k;
      lexer_.advance();
      return {};
    }
    return fail(key + " to be one of " + list_of(known));
  };
  const auto integer = [&](int64_t& into) -> Status {
    STREW_ASSIGN(into, extent("a number"));
    return {};
  };
  if (key == "loc") return word(t.location, kLocations);
  if (key == "blayout") return word(t.blayout, kBlocked);
  if (key == "slayout") return word(t.slayout, kBoxed);
  if (key == "rows") return integer(type.dims[0]);
  if (key == "cols") return integer(type.dims[1]);
  if (key == "v_row") return integer(t.valid_rows);
  if (key == "v_col") return integer(t.valid_cols);
  if (key == "fractal" || key == "pad") {
    STREW_ASSIGN((key == "pad" ? t.pad : t.fractal), number("a number"));
    return {};
  }
  if (key == "dtype") {
    STREW_ASSIGN(type.element, element(false));
    return {};
  }
  if (key == "valid") {  // valid=8x?: unlike in dims(), no `x` follows the last extent
    std::string_view rest = lexer_.rest();
    size_t used = 0;
    for (int64_t* into : {&t.valid_rows, &t.valid_cols}) {
      const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
      *into = kDynamic;
      if (digits > 0 ? !parse_integer(rest.substr(0, digits), *into) : rest.substr(0, 1) != "?") return fail("valid=ROWSxCOLS");
      const size_t step = std::max<size_t>(digits, 1);
      if (into == &t.valid_rows && rest.substr(step, 1) != "x") return fail("valid=ROWSxCOLS");
      used += step + (into == &t.valid_rows ? 1 : 0);
      rest.remove_prefix(std::min(rest.size(), step + (into == &t.valid_rows ? 1 : 0)));
    }
    lexer_.skip(used);
    return {};
  }
  return fail("a tile's loc, dtype, rows, cols, v_row, v_col, valid, blayout, slayout, fractal or pad; it is '" + key + "'");
}

Status Parser::tile_type(Type& type) {
  type.dims = {kDynamic, kDynamic};
  std::vector<std::string> seen;
  const auto has = [&](const char* key) { return std::find(seen.begin(), seen.end(), key) != seen.end(); };
  bool brief = false, first = true;
  do {
    const bool extents = token().kind == TokenKind::number || at_mark("?");
    if (extents && !first && !brief && !has("rows")) {  // the short form: vec, 16x64xf32
      brief = true;
      STREW_ASSIGN(type.dims, dims(type.element, 2));
      if (type.dims.size() != 2) return fail("two extents before, rows and cols");
      type.tile.valid_rows = type.dims[0];
      type.tile.valid_cols = type.dims[1];
      seen.insert(seen.end(), {"rows", "cols", "dtype"});
      continue;
    }
    if (token().kind != TokenKind::word) return fail("key=value");
    const std::string key(token().text);
    const Position at = token().at;
    lexer_.advance();
    if (first && !at_mark("=")) {  // the location before the short form
      if (std::find(std::begin(kLocations), std::end(kLocations), key) == std::end(kLocations))
        return fail_at(at, "the tile is in '" + key + "', expected one of " + list_of(kLocations));
      type.tile.location = key;
      seen.push_back("loc");
    } else {
      STREW_TRY(expect_mark("="));
      STREW_TRY(tile_field(key, type, seen));
    }
    first = false;
  } while (accept_mark(","));
  if (!has("loc") || !has("dtype") || !has("rows") || !has("cols")) return fail("loc, dtype, rows and cols before");
  if (!brief && (!has("v_row") || !has("v_col"))) return fail("v_row and v_col before");
  return tile_extents(type);
}

/// Checks that the physical extents are numbers and that the valid part lies inside them.
Status Parser::tile_extents(const Type& type) const {
  constexpr const char* kNames[][2] = {{"rows", "v_row"}, {"cols", "v_col"}};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t extent = type.dims[d], valid = d == 0 ? type.tile.valid_rows : type.tile.valid_cols;
    if (extent < 1)
      return fail_at(token().at, std::string("the tile's ") + kNames[d][0] + " is " +
                                     (extent == kDynamic ? "?" : std::to_string(extent)) + ", expected a number, 1 or more");
    if (valid != kDynamic && (valid < 0 || valid > extent))
      return fail_at(token().at, std::string("the tile's ") + kNames[d][1] + " is " + std::to_string(valid) + ", expected 0 to " +
                                     std::to_string(extent) + ", its " + kNames[d][0]);
  }
  return {};
}

/// Parses the parameters of the type `!pto.NAME<..>`, up to the `>`.
Status Parser::pto_type(std::string_view name, Type& type) {
  if (name == "pto.ptr") {
    type.kind = TypeKind::ptr;
    STREW_ASSIGN(type.element, element(false));
    return accept_mark(",") ? expect_word("gm") : Status();
  }
  if (name == "pto.tile_buf") {
    type.kind = TypeKind::tile;
    return tile_type(type);
  }
  const bool tile = name == "pto.tile";
  type.kind = name == "pto.tensor_view"             ? TypeKind::tensor_view
              : name == "pto.partition_tensor_view" ? TypeKind::partition_view
              : name == "pto.memref"                ? TypeKind::memref
                                                    : TypeKind::tile;
  STREW_ASSIGN(type.dims, dims(type.element, tile ? 2 : kMaxRank));
  if (!tile) return {};
  if (type.dims.size() != 2) return fail("two extents before, rows and columns");
  type.tile.valid_rows = type.dims[0];
  type.tile.valid_cols = type.dims[1];
  if (type.dims[1] == 1 && type.dims[0] != 1) type.tile.blayout = "col_major";
  if (accept_mark(",")) {
    STREW_ASSIGN(const std::vector<int64_t> valid, valid_extents());
    type.tile.valid_rows = valid[0];
    type.tile.valid_cols = valid[1];
  }
  return tile_extents(type);
}

Expected<Type> Parser::type() {
  Type out;
  const Position at = token().at;
  if (!at_mark("!")) {
    if (accept_word("index")) return make_index();
    STREW_ASSIGN(out.element, element(true));
    out.kind = TypeKind::scalar;
    return out;
  }
  lexer_.advance();
  const std::string name(token().kind == TokenKind::word ? token().text : std::string_view());
  constexpr std::string_view kKnown[] = {"pto.ptr",      "pto.tensor_view", "pto.partition_tensor_view",
                                         "pto.tile_buf", "pto.memref",      "pto.tile"};
  if (std::find(std::begin(kKnown), std::end(kKnown), name) == std::end(kKnown))
    return fail_at(at, "the type is '!" + name + "', expected index, an integer, or one of " + list_of(kKnown) + " after '!'");
  lexer_.advance();
  STREW_TRY(expect_mark("<"));
  STREW_TRY(pto_type(name, out));
  STREW_TRY(expect_mark(">"));
  return out;
}

Status Parser::expect_type(const Type& wanted, const std::string& of) {
  const Position at = token().at;
  STREW_ASSIGN(const Type given, type());
  if (given == wanted) return {};
  return fail_at(at, "the type of " + of + " is " + print(given) + " here, expected " + print(wanted) + " as it is defined");
}

// --- attributes ---

/// `#pto<family word>`, or `#pto.family<word>` if the rule is dotted.
Status Parser::attribute_value(const AttributeRule& rule, Attribute& attribute) {
  const std::string family(rule.family);
  const std::string form = rule.dotted ? "#pto." + family + "<..>" : "#pto<" + family + " ..>";
  const auto wrong = [&]() { return fail(attribute.name + " to be " + form); };
  if (!accept_mark("#")) return wrong();
  if (!accept_word(rule.dotted ? "pto." + family : "pto")) return wrong();
  if (!accept_mark("<")) return wrong();
  if (!rule.dotted && !accept_word(family)) return wrong();
  if (token().kind != TokenKind::word || std::find(rule.values.begin(), rule.values.end(), token().text) == rule.values.end())
    return fail(attribute.name + " to be one of " + list_of(rule.values));
  attribute.value = token().text;
  lexer_.advance();
  return expect_mark(">");
}

/// `array<i32: 1, 2, 2>`.
Status Parser::segment_sizes(std::vector<int64_t>& segments) {
  STREW_TRY(expect_word("array"));
  STREW_TRY(expect_mark("<"));
  STREW_TRY(expect_word("i32"));
  STREW_TRY(expect_mark(":"));
  do {
    STREW_ASSIGN(const int64_t size, number("a number"));
    if (size < 0 || size > 16 || segments.size() == 16) return fail("at most 16 segments of 0 to 16 operands before");
    segments.push_back(size);
  } while (accept_mark(","));
  return expect_mark(">");
}

Status Parser::attributes(const Instruction& row, std::vector<int64_t>* segments, std::vector<Attribute>& out) {
  if (at_mark("}")) return {};
  do {
    const Position at = token().at;
    if (token().kind != TokenKind::word) return fail("the name of an attribute");
    Attribute attribute{std::string(token().text), {}};
    lexer_.advance();
    const auto twice = std::find_if(out.begin(), out.end(), [&](const Attribute& a) { return a.name == attribute.name; });
    if (twice != out.end()) return fail_at(at, "attribute '" + attribute.name + "' is there twice");
    if (segments != nullptr && attribute.name == "operandSegmentSizes") {
      STREW_TRY(expect_mark("="));
      if (!segments->empty()) return fail_at(at, "operandSegmentSizes is there twice");
      STREW_TRY(segment_sizes(*segments));
      continue;
    }
    const auto rule = std::find_if(row.attributes.begin(), row.attributes.end(),
                                   [&](const AttributeRule& r) { return r.name == attribute.name; });
    if (rule == row.attributes.end()) {
      std::string known, near;
      for (const AttributeRule& r : row.attributes) {
        known += (known.empty() ? "" : ", ") + std::string(r.name);
        if (lower(r.name) == lower(attribute.name)) near = "; did you mean " + std::string(r.name) + "?";
      }
      return fail_at(
          at, "attribute '" + attribute.name + "' is unknown, expected " + (known.empty() ? "none" : "one of " + known) + near);
    }
    STREW_TRY(expect_mark("="));
    STREW_TRY(attribute_value(*rule, attribute));
    out.push_back(std::move(attribute));
  } while (accept_mark(","));
  const auto place = [&](const Attribute& a) {
    return std::find_if(row.attributes.begin(), row.attributes.end(), [&](const AttributeRule& r) { return r.name == a.name; });
  };
  std::sort(out.begin(), out.end(), [&](const Attribute& a, const Attribute& b) { return place(a) < place(b); });
  return {};
}

// --- values ---

Status Parser::define(const std::string& name, Type type, Position at, std::optional<int64_t> constant) {
  const auto [place, fresh] = known_.try_emplace(name, Known{std::move(type), constant, at});
  if (!fresh)
    return fail_at(at,
                   "%" + name + " is defined in line " + std::to_string(place->second.at.line) + " already, expected a new name");
  order_.push_back(name);
  return {};
}

Expected<const Parser::Known*> Parser::use(std::string& name) {
  if (token().kind != TokenKind::value) return fail("a value, %name");
  name = token().text;
  const auto found = known_.find(name);
  if (found == known_.end()) return fail_at(token().at, "%" + name + " is not defined before, expected a value in scope");
  lexer_.advance();
  return &found->second;
}

void Parser::leave_scope(size_t scope) {
  while (order_.size() > scope) {
    known_.erase(order_.back());
    order_.pop_back();
  }
}

}  // namespace strew::inline v0::pto
