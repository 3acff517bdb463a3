// The parser of PTO-AS, whose published grammar no longer changes: `.arg`, `.const` and instructions, one per line. mscatter and mgather have
// their operands in another order than PTO IR; the tree has the order of PTO IR. The result of an instruction on tiles is the last operand in
// the tree. The grammar does not define types; strew writes and reads !pto.memref<AxBxT> and !pto.tile<RxCxT>. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/pto/instructions.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

Expected<Module> Parser::lines() {
  Module out;
  out.spelling = Spelling::as;
  out.functions.resize(1);
  while (token().kind != TokenKind::end) {
    statement_.clear();
    STREW_TRY(line(out.functions[0]));
    accept(";");
    if (token().kind == TokenKind::end || token().line_start) continue;
    return fail("{}", is_at("{") ? "no attributes: PTO-AS has suffixes" : "the end of the line");
  }
  return out;
}

Status Parser::line(Function& function) {
  Statement s;
  const bool is_directive = accept(".");
  s.at = token().at;
  if (is_directive) {
    if (!is_at("arg") && !is_at("const")) return fail("arg or const after '.'");
    statement_ = "." + std::string(token().text);
    if (accept("arg")) return argument(function);
    lexer_.advance();
    STREW_TRY(by_text(as_text(Opcode::constant), s, 0));
    STREW_TRY(check_scalars(s));
  } else {
    STREW_TRY(instruction(s));
  }
  if (!s.result.empty()) STREW_TRY(define_result(s));
  if (info(s.opcode).form == Form::computes) {
    s.operands.back() = {s.result};
    STREW_TRY(check_kind(Kind::tile, s.result, s.at));
  }
  if (!is_directive) STREW_TRY(check_elements(s));
  function.body.push_back(std::move(s));
  return {};
}

Status Parser::instruction(Statement& s) {
  if (token().kind == TokenKind::value) {
    STREW_ASSIGN(s.result, new_name(""));
    STREW_TRY(expect("="));
  }
  const std::string opcode(token().kind == TokenKind::word ? token().text : std::string_view());
  const std::string stem = opcode.substr(0, opcode.find('.'));
  const std::string_view rest = std::string_view(opcode).substr(std::min(stem.size() + 1, opcode.size()));
  const Instruction* const row = find_instruction("pto." + stem);
  const bool computes = row != nullptr && row->form == Form::computes, indexed = stem == "mscatter" || stem == "mgather";
  if (!computes && !indexed && stem != "tload" && stem != "tstore")
    return fail("an instruction: tload, tstore, mscatter.MODE, mgather.MODE or one of tiles (or module, which starts PTO IR)");
  statement_ = opcode;
  const bool gives = !s.result.empty();
  if (stem != "mgather") STREW_TRY(check_named(s, stem == "tload" || computes));
  if (!indexed && !rest.empty()) return fail("no suffix");
  s.opcode = stem == "tload"              ? Opcode::load_tile
             : stem == "tstore"           ? Opcode::store_tile
             : stem == "mgather" && gives ? Opcode::gather_tile
                                          : row->opcode;
  if (indexed) STREW_TRY(suffixes(rest, s));
  lexer_.advance();
  STREW_TRY(by_text(as_text(s.opcode), s, 0));
  for (size_t g = 0; g + 1 < s.operands.size(); ++g)
    if (info(s.opcode).operands[g + 1].kind == Kind::index && type_of(s.operands[g][0]).dims.size() != 2)
      return fail_at(s.at, "%{} is {}, expected a memref of two dims", s.operands[g][0], text(type_of(s.operands[g][0])));
  return {};
}

Status Parser::suffixes(std::string_view text, Statement& s) {
  const std::span<const Suffix> known = suffixes_of(s.opcode);
  std::string all;
  for (const Suffix& k : known) all += (all.empty() ? "." : " .") + std::string(k.text);
  int rank = -1;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('.'));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const auto found = std::find_if(known.begin(), known.end(), [&](const Suffix& k) { return k.text == word; });
    if (found == known.end()) return fail_at(s.at, "suffix '.{}' is unknown, expected some of {}", word, all);
    if (found->rank <= rank) return fail_at(s.at, "suffix '.{}' stands too late, expected the order of {}", word, all);
    rank = found->rank;
    s.attributes.push_back({std::string(found->attribute), std::string(found->value)});
  }
  if (s.attribute("coalesce").empty()) return fail_at(s.at, "it has no mode, expected .row or .elem first");
  // The tree has the order of the instruction's row: coalesce, scatterAtomicOp, scatterOob.
  if (s.attributes.size() == 3) std::swap(s.attributes[1], s.attributes[2]);
  return {};
}

}  // namespace strew::inline v0::pto
