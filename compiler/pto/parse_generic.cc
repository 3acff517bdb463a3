// The parser of PTO IR in generic form: "pto.mscatter"(%s, %i, %t) <{coalesce = #pto<coalesce row>}> : (TS, TI, TV) ->
// (). It gives the same tree as the pretty form: operandSegmentSizes divides the operands into groups, and the types
// are compared with those of the operands. Statements of the dialects func, scf and arith stay in pretty form, as
// mlir-opt prints them beside statements of an unknown dialect. Tested by tests/unit/pto_text_test.cc and
// tests/error/pto_error_test.cc.
#include "compiler/pto/ir_parser.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

Status IrParser::generic(Statement& s, int depth) {
  const Position at = s.at;
  if (info(s.opcode).name.substr(0, 4) != "pto.")
    return fail_at(at, "it stands in quotes, expected generic form for pto statements only");
  Names names;
  STREW_TRY(expect_mark("("));
  while (!at_mark(")")) {
    STREW_TRY(use(names.emplace_back()).status());
    if (names.size() > 16) return fail("at most 16 operands");
    if (!at_mark(")")) STREW_TRY(expect_mark(","));
  }
  lexer().advance();
  if (s.opcode == Opcode::mgather && names.size() == 4) s.opcode = Opcode::gather_l1_elem;
  const Instruction& row = info(s.opcode);
  std::vector<int64_t> segments;
  const bool properties = accept_mark("<");
  if (properties || at_mark("{")) {
    STREW_TRY(expect_mark("{"));
    STREW_ASSIGN(s.attributes, attributes(row, row.segments.empty() ? nullptr : &segments));
    STREW_TRY(expect_mark("}"));
    if (properties) STREW_TRY(expect_mark(">"));
  }
  STREW_TRY(split_operands(row, names, segments, at, s));
  choose_l1_opcode(s);
  if (row.form == Form::section) STREW_TRY(generic_body(s, depth));
  if ((row.form == Form::flags || row.form == Form::barrier) && s.attributes.size() != row.attributes.size())
    return fail_at(at, "it has " + std::to_string(s.attributes.size()) + " attributes, expected all of its " +
                           std::to_string(row.attributes.size()));
  return generic_types(names, s);
}

Status IrParser::generic_body(Statement& s, int depth) {
  STREW_TRY(expect_mark("("));
  STREW_TRY(expect_mark("{"));
  const size_t outer = scope();
  STREW_TRY(body(s.body, depth + 1));
  leave_scope(outer);
  STREW_TRY(expect_mark("}"));
  return expect_mark(")");
}

Status IrParser::split_operands(const Instruction& row, const Names& names, const std::vector<int64_t>& segments, Position at,
                                Statement& s) {
  std::vector<int64_t> sizes = segments;
  if (row.segments.empty()) sizes.assign(row.groups(), 1);
  std::string shown;
  for (size_t i = 0; i < sizes.size(); ++i) shown += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  bool fits = row.segments.empty() || sizes.size() == row.segments.size();
  int64_t total = 0;
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    if (!row.segments.empty() && row.segments[i] != '*') fits = sizes[i] == row.segments[i] - '0';
    if (s.opcode == Opcode::alloc_tile) fits = fits && sizes[i] <= 1;
    total += sizes[i];
  }
  if (!fits) return fail_at(at, "operandSegmentSizes is [" + shown + "], expected what a " + std::string(row.name) + " has");
  if (total != static_cast<int64_t>(names.size()))
    return fail_at(at, "it has " + std::to_string(names.size()) + " operands, expected " + std::to_string(total));
  s.operands.resize(row.groups());
  size_t next = 0;
  for (size_t g = 0; g < s.operands.size(); ++g)
    for (int64_t i = 0; i < sizes[g]; ++i) s.operands[g].push_back(names[next++]);
  return {};
}

/// `: (T, T) -> T` or `-> ()`.
Status IrParser::generic_types(const Names& names, Statement& s) {
  STREW_TRY(expect_mark(":"));
  STREW_TRY(expect_mark("("));
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) STREW_TRY(expect_mark(","));
    STREW_TRY(expect_type(type_of(names[i]), "%" + names[i]));
  }
  STREW_TRY(expect_mark(")"));
  STREW_TRY(expect_mark("->"));
  if (!s.result.empty()) {
    STREW_ASSIGN(s.type, type());
    return {};
  }
  STREW_TRY(expect_mark("("));
  return expect_mark(")");
}

}  // namespace strew::inline v0::pto
