// MLIR's parser has no "any token", so skip_piece() tries one kind of token after the other. Where the next token does not tell what
// follows (a dictionary or a region, the end of an operation), the text itself is looked at. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_forms_test.cc.
#include "compiler/import/mlir/tolerant_form.h"

#include <llvm/ADT/StringExtras.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <cstring>

#include "compiler/import/mlir/prescan.h"
#include "compiler/import/mlir_tokens.h"

namespace strew::inline v0 {
namespace {

using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::ParseResult;
using mlir::succeeded;
using mlir::success;

/// Takes "%name" and an optional "#3" or ":3" from the start of the text. False if there is none.
bool take_value(llvm::StringRef& text) {
  if (!text.consume_front("%")) return false;
  text = without_blanks(text.drop_while(is_name_char));
  if (text.starts_with(":") || text.starts_with("#"))
    text = without_blanks(without_blanks(text.drop_front()).drop_while([](char c) { return llvm::isDigit(c); }));
  return true;
}

using ParseMark = ParseResult (mlir::AsmParser::*)();
struct Brackets {
  ParseMark open, close;
};
constexpr Brackets kBrackets[] = {
    {&OpAsmParser::parseOptionalLParen, &OpAsmParser::parseOptionalRParen},
    {&OpAsmParser::parseOptionalLSquare, &OpAsmParser::parseOptionalRSquare},
    {&OpAsmParser::parseOptionalLBrace, &OpAsmParser::parseOptionalRBrace},
    {&OpAsmParser::parseOptionalLess, &OpAsmParser::parseOptionalGreater},
};

/// Consumes a token that is no bracket and no colon.
ParseResult skip_token(OpAsmParser& parser, UnresolvedOperands* operands) {
  OpAsmParser::UnresolvedOperand operand;
  if (const mlir::OptionalParseResult found = parser.parseOptionalOperand(operand); found.has_value()) {
    if (operands != nullptr) operands->push_back(operand);
    return *found;
  }
  llvm::StringRef word;
  std::string text;
  mlir::StringAttr symbol;
  if (succeeded(parser.parseOptionalKeyword(&word)) || succeeded(parser.parseOptionalString(&text)) ||
      succeeded(parser.parseOptionalSymbolName(symbol)) || succeeded(parser.parseOptionalComma()) ||
      succeeded(parser.parseOptionalEqual()) || succeeded(parser.parseOptionalArrow()) || succeeded(parser.parseOptionalStar()) ||
      succeeded(parser.parseOptionalQuestion()) || succeeded(parser.parseOptionalPlus()) ||
      succeeded(parser.parseOptionalVerticalBar()) || succeeded(parser.parseOptionalSlash()) ||
      succeeded(parser.parseOptionalEllipsis()))
    return success();
  const llvm::StringRef ahead = text_ahead(parser);
  const llvm::StringRef number = ahead.ltrim('-').drop_while([](char c) { return llvm::isDigit(c); });
  if (number.size() != ahead.size() && !number.starts_with(".") && !ahead.starts_with("->")) {
    llvm::APInt integer;
    if (const mlir::OptionalParseResult found = parser.parseOptionalInteger(integer); found.has_value()) return *found;
  }
  if (succeeded(parser.parseOptionalMinus())) return success();
  mlir::Attribute attribute;
  // With a type given, the parser leaves a colon behind the attribute alone.
  if (ahead.starts_with("#")) return parser.parseAttribute(attribute, parser.getBuilder().getNoneType());
  if (number.size() != ahead.size()) return parser.parseAttribute(attribute);
  mlir::Type type;
  if (ahead.starts_with("!")) return parser.parseType(type);
  return failure();
}

/// Is there a pretty or generic operation at the start of the text?
bool starts_operation(llvm::StringRef text) {
  if (text.starts_with("^") || text.starts_with("return")) return true;
  if (text.starts_with("\"")) {
    text = text.drop_front().drop_while([](char c) { return is_name_char(c); });
    return text.consume_front("\"") && without_blanks(text).starts_with("(");
  }
  if (text.starts_with("%")) {
    constexpr int kMostResults =
        64;  // that an operation names one by one: operands on lines of their own are not scanned again and again
    for (int i = 0; i < kMostResults && take_value(text); ++i)
      if (text.consume_front(",")) text = without_blanks(text);
    return text.starts_with("=");
  }
  const llvm::StringRef word = text.take_while(is_name_char);
  return !word.empty() && llvm::isAlpha(word.front()) && word.contains('.');
}

}  // namespace

llvm::StringRef text_ahead(OpAsmParser& parser) {
  constexpr size_t kLongest = size_t{1} << 13;
  const char* begin = parser.getCurrentLocation().getPointer();  // in a buffer that ends with a zero
  return {begin, strnlen(begin, kLongest)};
}

bool is_integer_list(llvm::StringRef text) {
  if (!text.consume_front("[")) return false;
  const llvm::StringRef rest =
      text.drop_while([](char c) { return llvm::isDigit(c) || llvm::isSpace(c) || c == ',' || c == '-'; });
  return rest.starts_with("]");
}

bool ends_operation(llvm::StringRef ahead, const char* last) {
  if (ahead.empty() || ahead.starts_with("}") || ahead.starts_with("loc(")) return true;
  const bool is_on_new_line = llvm::StringRef(last, static_cast<size_t>(ahead.data() - last)).contains('\n');
  return is_on_new_line && starts_operation(ahead);
}

ParseResult skip_piece(OpAsmParser& parser, UnresolvedOperands* operands) {
  llvm::SmallVector<const Brackets*> open;
  const auto takes = [&](ParseMark parse) { return succeeded((parser.*parse)()); };
  do {
    const Brackets* const opened = llvm::find_if(kBrackets, [&](const Brackets& each) { return takes(each.open); });
    if (opened != std::end(kBrackets)) {
      open.push_back(opened);
    } else if (!open.empty() && takes(open.back()->close)) {
      open.pop_back();
    } else if (open.empty() || failed(parser.parseOptionalColon())) {
      const bool is_taken = llvm::all_of(open, [](const Brackets* each) { return each == std::begin(kBrackets); });
      if (skip_token(parser, is_taken ? operands : nullptr)) return failure();
    }
  } while (!open.empty());
  return success();
}

mlir::OptionalParseResult parse_region_here(OpAsmParser& parser, mlir::OperationState& state) {
  llvm::StringRef ahead = text_ahead(parser);
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  if (ahead.consume_front("(")) {  // (%a: T, %b: T) { ... }
    ahead = without_blanks(ahead);
    if (!ahead.consume_front("%")) return {};
    if (!without_blanks(ahead.drop_while(is_name_char)).starts_with(":")) return {};
    if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true, /*allowAttrs=*/true))
      return ParseResult(failure());
  } else {
    if (!ahead.consume_front("{")) return {};
    ahead = without_blanks(ahead);
    llvm::StringRef after = ahead.drop_while(is_name_char);
    if (ahead.starts_with("\"")) after = ahead.drop_front().drop_until([](char c) { return c == '"'; }).drop_front();
    after = without_blanks(after);
    const bool is_dictionary =
        ahead.starts_with("}") || (!ahead.starts_with("%") && !ahead.starts_with("^") &&
                                   (after.starts_with("=") || after.starts_with(",") || after.starts_with("}")));
    if (is_dictionary) return {};
  }
  return parser.parseRegion(*state.addRegion(), arguments);
}

}  // namespace strew::inline v0
