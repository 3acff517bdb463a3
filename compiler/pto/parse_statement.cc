// The parser of statements: by the text of their rows (Instruction::text), and in generic form, as ptoas and mlir-opt --mlir-print-op-generic
// print them: "pto.mscatter"(%s, %i, %t) <{coalesce = #pto<coalesce row>}> : (TS, TI, TV) -> (). Both give the same tree.
//
// In generic form the attributes stand in `<{..}>` before the regions or, as MLIR before 17 prints them, in `{..}` behind them.
// operandSegmentSizes divides the operands into groups, and the types are compared with those of the operands. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include <algorithm>
#include <charconv>

#include "base/number.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/text_piece.h"
#include "compiler/pto/types.h"
#include "compiler/pto/words.h"

namespace strew::inline v0::pto {
namespace {

bool has_regions(Form form) { return form == Form::section || form == Form::loop || form == Form::branch; }

/// The statements whose results may be promised not to overflow.
bool may_overflow(Opcode opcode) {
  return opcode == Opcode::addi || opcode == Opcode::subi || opcode == Opcode::muli || opcode == Opcode::shli ||
         opcode == Opcode::trunci;
}

std::string similar_statement(std::string_view written) {
  std::vector<std::string_view> known;
  for (int i = 0; i < static_cast<int>(Opcode::load_tile); ++i) known.push_back(name(static_cast<Opcode>(i)));
  return did_you_mean(written, known);
}

}  // namespace

Status Parser::body(std::vector<Statement>& out, int depth) {
  const std::string outer = statement_;
  while (!is_at("}") && !is_at("return") && !is_at("\"func.return\"") && !is_at("\"scf.yield\"")) {
    statement_.clear();
    STREW_ASSIGN(Statement s, statement(depth));
    out.push_back(std::move(s));
  }
  statement_ = outer;
  return {};
}

Expected<Statement> Parser::statement(int depth) {
  Statement s;
  s.at = token().at;
  if (token().kind == TokenKind::value) {
    STREW_ASSIGN(s.result, new_name(""));
    STREW_TRY(expect("="));
    s.at = token().at;
  }
  const bool quoted = token().kind == TokenKind::string, word = token().kind == TokenKind::word;
  const Instruction* row = quoted || word ? find_instruction(token().text) : nullptr;
  if (row == nullptr)
    return fail_at(token().at, "statement {} is unknown, expected return or a statement of docs/sources.md{}",
                   word ? std::string(token().text) : lexer_.found(), word || quoted ? similar_statement(token().text) : "");
  if (has_regions(row->form) && depth >= kMaxNesting)
    return fail_at(s.at, "more than {} loops in one another, expected at most that", kMaxNesting);
  statement_ = row->name;
  s.opcode = row->opcode;
  lexer_.advance();
  const bool gives = row->form < Form::moves;
  STREW_TRY(check_named(s, gives));
  STREW_TRY(quoted ? generic(s, depth) : by_text(row->text, s, depth));
  if (has_regions(row->form)) return s;
  complete(s);
  STREW_TRY(check_types(s));
  if (gives) STREW_TRY(define_result(s));
  return s;
}

/// Does a name of the result stand before the statement if, and only if, it `gives` one?
Status Parser::check_named(const Statement& s, bool gives) const {
  if (gives != s.result.empty()) return {};
  if (gives) return fail_at(s.at, "its result has no name, expected %name = before it");
  return fail_at(s.at, "it has no result, expected it without %{} = before it", s.result);
}

Status Parser::define_result(const Statement& s) {
  const bool is_known = s.opcode == Opcode::constant && !is_float(s.type.element.dtype);
  return define(s.result, s.type, s.at, is_known ? std::optional(s.value) : std::nullopt);
}

/// Adds what the text leaves out, and replaces the opcode of an mgather or tmov with a tile in L1, for which the table has other rows.
void Parser::complete(Statement& s) const {
  const Form form = info(s.opcode).form;
  const bool is_open = s.type.kind == TypeKind::none;
  if (is_open && form == Form::nullary) s.type = make_scalar(DType::i64);
  if (is_open && form == Form::compare) s.type = make_scalar(DType::boolean);
  if (is_open && form == Form::partition) {  // ptoas prints no result type, which follows from the sizes
    s.type = {TypeKind::partition_view, type_of(s.operands[0][0]).element, {}, {}};
    for (const std::string& size : s.operands[2]) s.type.dims.push_back(known(size).constant.value_or(kDynamic));
  }
  const auto in_l1 = [&](size_t group) {
    const Type& type = type_of(s.operands[group][0]);
    return type.kind == TypeKind::tile && type.tile.location == "mat";
  };
  if (s.opcode == Opcode::mgather && s.operands.size() == 4) s.opcode = Opcode::gather_l1_elem;
  if (s.opcode == Opcode::mgather && in_l1(2)) s.opcode = Opcode::gather_l1;
  if (s.opcode == Opcode::tmov && in_l1(0)) s.opcode = Opcode::move_l1;
}

// --- by the text of the row ---

Status Parser::by_text(std::string_view text, Statement& s, int depth) {
  const std::span<const AttributeRule> rules = info(s.opcode).attributes;
  std::string left_out;  // what the parts that are not there would have begun with
  Names names;
  s.operands.resize(std::max(s.operands.size(), info(s.opcode).groups()));
  while (!text.empty()) {
    const Piece piece = next_piece(text);
    switch (piece.kind) {
      case PieceKind::blank:
        continue;
      case PieceKind::optional: {
        std::string_view part = piece.text.substr(piece.text.find_first_not_of(' '));
        const std::string_view first = next_piece(part).text;
        if (!is_at(first)) {
          left_out += shown(first) + " or ";
          continue;
        }
        STREW_TRY(by_text(piece.text, s, depth));
        break;
      }
      case PieceKind::token:
        STREW_TRY(expect(piece.text, left_out + shown(piece.text)));
        break;
      case PieceKind::operands:
        STREW_TRY(operands(piece.text, s));
        break;
      case PieceKind::types:
        STREW_TRY(types(piece.text, s));
        break;
      case PieceKind::attribute: {
        const AttributeRule& rule = rules[piece.text[0] - '0'];
        const std::string name(rule.name);
        STREW_TRY(one_of(rule.values, s.attributes.emplace_back(Attribute{name, {}}).value, name));
        break;
      }
      case PieceKind::attributes:
        if (!is_at("{")) continue;
        STREW_TRY(dictionary(names, [&](const std::string& name, Position at) { return statement_attribute(name, at, s); }));
        break;
      case PieceKind::result: {
        variable_ = token().at;
        STREW_ASSIGN(s.result, new_name("a value, %name"));
        break;
      }
      case PieceKind::constant:
        STREW_TRY(constant(s));
        break;
      case PieceKind::region:
        STREW_TRY(region(piece.text == "0" ? s.body : s.otherwise, s, depth, /*is_generic=*/false));
        break;
    }
    left_out.clear();
  }
  return {};
}

/// See `$` in text_piece.h.
Status Parser::operands(std::string_view groups, Statement& s) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] < '0' || groups[i] > '9') continue;  // * + ?
    const size_t group = groups[i] - '0';
    const char many = i + 1 < groups.size() ? groups[i + 1] : ' ';
    if (many == '?' && !is_at(",")) continue;
    if (i > 0) STREW_TRY(expect(","));
    if (group >= s.operands.size()) s.operands.resize(group + 1);
    for (size_t most = many == '*' ? 5 : many == '+' ? 2 : 1;;) {
      STREW_TRY(operand(s, group, s.operands[group].emplace_back()));
      if (s.operands[group].size() == most || (many == '*' && !is_at(","))) break;
      STREW_TRY(expect(","));
    }
  }
  return {};
}

/// PTO-AS has no types behind many of its operands, so that what is wrong with an operand is said here.
Status Parser::operand(const Statement& s, size_t group, std::string& into) {
  const Position at = token().at;
  if (spelling_ == Spelling::ir) return use(into);
  const Kind kind = info(s.opcode).operands[group].kind;
  if (kind == Kind::index && token().kind == TokenKind::number) {
    STREW_ASSIGN(const int64_t literal, number("an index"));
    into = std::to_string(literal);
    return literal >= 0 ? Status() : fail_at(at, "an index is {}, expected 0 or more", into);
  }
  STREW_TRY(use(into));
  const Status status = check_kind(kind, into, at);
  if (status.ok() || (s.opcode != Opcode::mscatter && s.opcode != Opcode::mgather)) return status;
  const bool scatters = s.opcode == Opcode::mscatter;
  return {status.code(), fmt::format("{}: the {} comes first, then the {}, then the index tile", status.message(),
                                     scatters ? "table" : "destination", scatters ? "source tile" : "table")};
}

Status Parser::types(std::string_view groups, Statement& s) {
  if (groups == "r") {
    STREW_ASSIGN(s.type, type());
    return {};
  }
  bool first = true;
  for (const char group : groups) {
    if (static_cast<size_t>(group - '0') >= s.operands.size()) continue;
    for (const std::string& operand : s.operands[group - '0']) {
      if (!first) STREW_TRY(expect(","));
      first = false;
      STREW_TRY(expect_type(type_of(operand), "%" + operand));
    }
  }
  return {};
}

/// `-3 : i32`, `1.5 : f32`, and in PTO IR `0x7F800000 : f32`; the tree has the bits of a float.
Status Parser::constant(Statement& s) {
  const Position at = token().at;
  const bool is_ir = spelling_ == Spelling::ir;
  const std::string written(lexer_.rest().substr(0, std::min(lexer_.rest().find_first_of(" :;\n\t"), lexer_.rest().size())));
  const bool hex = is_ir && written.starts_with("0x"), fraction = !hex && written.find('.') != std::string::npos;
  if (hex || fraction) {
    lexer_.skip(written.size());
  } else {
    STREW_ASSIGN(s.value, number("an integer"));
  }
  STREW_TRY(expect(":"));
  STREW_ASSIGN(s.type, type());
  const DType dtype = s.type.element.dtype;
  const bool floating = s.type.kind == TypeKind::scalar && is_float(dtype);
  if (!hex && !fraction && !floating) return {};
  const char *begin = written.data() + (hex ? 2 : 0), *end = written.data() + written.size();
  std::from_chars_result read{begin, std::errc::invalid_argument};
  uint64_t code = 0;
  double value = 0;
  if (floating && hex) read = std::from_chars(begin, end, code, 16);
  if (floating && fraction)
    read = std::from_chars(begin, end, value, is_ir ? std::chars_format::general : std::chars_format::fixed);
  const bool fits = !hex || bits(dtype) == 64 || code >> bits(dtype) == 0;
  if (read.ec != std::errc() || read.ptr != end || !fits)
    return fail_at(at, "the value is {} : {}, expected {}{}", written.substr(0, 40), text(s.type),
                   floating ? "a number with a decimal point" : "an integer", floating && is_ir ? ", or its bits as 0x.." : "");
  s.value = static_cast<int64_t>(hex ? code : encode(dtype, value));
  return {};
}

/// `{ .. }`; in generic form it has the loop's variable at its head and a terminator at its end.
Status Parser::region(std::vector<Statement>& into, Statement& s, int depth, bool is_generic) {
  const Form form = info(s.opcode).form;
  if (is_at("iter_args")) return fail("'{{': a loop that carries values is not read");
  STREW_TRY(expect("{"));
  const size_t outer = scope();
  if (form == Form::loop && is_generic) {
    STREW_TRY(block_name());
    STREW_TRY(expect("("));
    variable_ = token().at;
    STREW_ASSIGN(s.result, new_name("the loop's variable, %name"));
    STREW_TRY(expect(":"));
    STREW_ASSIGN(s.type, type());
    STREW_TRY(expect(")", "')': a loop that carries values is not read"));
    STREW_TRY(expect(":"));
  }
  if (form == Form::loop && s.type.kind == TypeKind::none) s.type = make_index();
  STREW_TRY(check_types(s));
  if (form == Form::loop) STREW_TRY(define(s.result, s.type, variable_));
  const bool is_absent = form == Form::branch && &into == &s.otherwise && is_at("}");
  STREW_TRY(body(into, depth + 1));
  if (is_generic && form != Form::section && !is_absent) STREW_TRY(expect("\"scf.yield\" ( ) : ( ) -> ( )"));
  leave_scope(outer);
  return expect("}");
}

// --- generic form ---

Status Parser::generic(Statement& s, int depth) {
  Names operands, names;
  STREW_TRY(listed([&]() -> Status {
    STREW_TRY(use(operands.emplace_back()));
    return operands.size() > 16 ? fail("at most 16 operands") : Status();
  }));
  if (s.opcode == Opcode::mgather && operands.size() == 4) s.opcode = Opcode::gather_l1_elem;
  const Instruction& row = info(s.opcode);
  std::vector<int64_t> segments;
  const auto read = [&](const std::string& name, Position at) { return generic_attribute(name, at, segments, s); };
  STREW_TRY(generic_attributes(names, read));
  STREW_TRY(split_operands(operands, segments, s));
  if (has_regions(row.form)) {
    STREW_TRY(expect("("));
    STREW_TRY(region(s.body, s, depth, /*is_generic=*/true));
    if (row.form == Form::branch) {
      STREW_TRY(expect(","));
      STREW_TRY(region(s.otherwise, s, depth, /*is_generic=*/true));
    }
    STREW_TRY(expect(")"));
    STREW_TRY(generic_attributes(names, read));
  }
  const bool needs_all = row.form == Form::flags || row.form == Form::barrier || row.form == Form::compare;
  if (needs_all && s.attributes.size() != row.attributes.size())
    return fail_at(s.at, "it has {} attributes, expected all of its {}", s.attributes.size(), row.attributes.size());
  if (row.form == Form::constant && s.type.kind == TypeKind::none) return fail_at(s.at, "it has no value, expected one");
  return generic_types(s);
}

/// `<{..}>`, if it is there.
Status Parser::properties(Names& names, const ReadAttribute& read) {
  if (!accept("<")) return {};
  STREW_TRY(dictionary(names, read));
  return expect(">");
}

/// `<{..}>`, `{..}` or both.
Status Parser::generic_attributes(Names& names, const ReadAttribute& read) {
  STREW_TRY(properties(names, read));
  return is_at("{") ? dictionary(names, read) : Status();
}

Status Parser::generic_attribute(const std::string& name, Position at, std::vector<int64_t>& segments, Statement& s) {
  const Instruction& row = info(s.opcode);
  if (!row.segments.empty() && name == "operandSegmentSizes") return segment_sizes(segments);
  if (row.form == Form::constant) {
    if (name != "value") return unknown_attribute(name, at, {"value"});
    STREW_TRY(expect("="));
    return constant(s);
  }
  if (may_overflow(s.opcode)) {
    if (name != "overflowFlags") return unknown_attribute(name, at, {"overflowFlags"});
    return expect("= # arith.overflow < none >");
  }
  if (row.form != Form::compare || name != "predicate") return statement_attribute(name, at, s);
  STREW_TRY(expect("="));
  const Words values = row.attributes[0].values;  // in the order of MLIR's numbers
  const Position place = token().at;
  STREW_ASSIGN(const int64_t value, number("the number of a predicate"));
  if (value < 0 || value >= static_cast<int64_t>(values.size()))
    return fail_at(place, "predicate is {}, expected 0 to {}", value, values.size() - 1);
  s.attributes.push_back({name, std::string(values[value])});
  return expect(": i64");
}

/// `= array<i32: 1, 2, 2>`.
Status Parser::segment_sizes(std::vector<int64_t>& segments) {
  STREW_TRY(expect("= array < i32 :"));
  do {
    STREW_ASSIGN(const int64_t size, number("a number"));
    if (size < 0 || size > 16 || segments.size() == 16) return fail("at most 16 segments of 0 to 16 operands before");
    segments.push_back(size);
  } while (accept(","));
  return expect(">");
}

Status Parser::split_operands(const Names& names, const std::vector<int64_t>& segments, Statement& s) {
  const Instruction& row = info(s.opcode);
  const std::vector<int64_t> sizes = row.segments.empty() ? std::vector<int64_t>(row.groups(), 1) : segments;
  bool fits = row.segments.empty() || sizes.size() == row.segments.size();
  int64_t total = 0;
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    if (!row.segments.empty() && row.segments[i] != '*') fits = sizes[i] == row.segments[i] - '0';
    if (s.opcode == Opcode::alloc_tile) fits = fits && sizes[i] <= 1;
    total += sizes[i];
  }
  if (!fits) return fail_at(s.at, "operandSegmentSizes is [{}], expected what a {} has", list_of(sizes), row.name);
  if (total != static_cast<int64_t>(names.size())) return fail_at(s.at, "it has {} operands, expected {}", names.size(), total);
  s.operands.resize(row.groups());
  size_t next = 0;
  for (size_t g = 0; g < s.operands.size(); ++g)
    for (int64_t i = 0; i < sizes[g]; ++i) s.operands[g].push_back(names[next++]);
  return {};
}

/// `: (T, T) -> T` or `-> ()`.
Status Parser::generic_types(Statement& s) {
  STREW_TRY(expect(": ("));
  STREW_TRY(types("01234", s));
  STREW_TRY(expect(") ->"));
  const Form form = info(s.opcode).form;
  if (form >= Form::moves) return expect("( )");
  if (form == Form::constant) return expect_type(s.type, "its value");
  STREW_ASSIGN(s.type, type());
  return {};
}

/// `^bb0`.
Status Parser::block_name() {
  STREW_TRY(expect("^"));
  if (token().kind != TokenKind::word) return fail("the name of the block, ^bb0");
  lexer_.advance();
  return {};
}

}  // namespace strew::inline v0::pto
