// Nearly every pretty form reads "operands, key = value, ... {attributes} : types", so one hook parses them all; only operations with
// brackets or keywords of their own have another hook. A value is an integer, a list of integers, or a keyword, which is kept as a string.
// MLIR's attribute parser cannot read values: it would also consume the colon before the types.
//
// The types after the colon are a function type; or one type for all operands and the result; or for select the types of the predicate and
// of the values; or for complex, real and imag the type on the complex side. Tested by tests/unit/stablehlo_import_test.cc.
#include "compiler/import/mlir/shim_forms.h"

#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/OpImplementation.h>

namespace strew::inline v0 {
namespace {

using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OperationState;
using mlir::ParseResult;
using mlir::success;
using Operands = llvm::SmallVector<OpAsmParser::UnresolvedOperand, 4>;

llvm::StringRef short_name(const OperationState& state) {
  const llvm::StringRef full = state.name.getStringRef();
  return full.substr(full.find('.') + 1);
}

/// The generic form's name for a key of the pretty form.
llvm::StringRef generic_key(llvm::StringRef op, llvm::StringRef key) {
  struct Row {
    llvm::StringRef op, key, name;
  };
  static constexpr Row kRows[] = {
      {"broadcast_in_dim", "dims", "broadcast_dimensions"},
      {"dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"},
      {"transpose", "dims", "permutation"},
      {"reverse", "dims", "dimensions"},
      {"concatenate", "dim", "dimension"},
      {"iota", "dim", "iota_dimension"},
      {"dynamic_iota", "dim", "iota_dimension"},
      {"dynamic_slice", "sizes", "slice_sizes"},
      {"get_dimension_size", "dim", "dimension"},
      {"pad", "low", "edge_padding_low"},
      {"pad", "high", "edge_padding_high"},
      {"pad", "interior", "interior_padding"},
  };
  for (const Row& row : kRows)
    if (row.op == op && row.key == key) return row.name;
  return key;
}

ParseResult parse_value(OpAsmParser& parser, mlir::Attribute& value) {
  mlir::Builder& builder = parser.getBuilder();
  llvm::StringRef word;
  int64_t number = 0;
  if (mlir::OptionalParseResult found = parser.parseOptionalInteger(number); found.has_value()) {
    value = builder.getI64IntegerAttr(number);
    return *found;
  }
  if (mlir::succeeded(parser.parseOptionalKeyword(&word))) {
    value = builder.getStringAttr(word);
    return success();
  }
  llvm::SmallVector<int64_t> list;
  const auto item = [&]() -> ParseResult {
    if (mlir::succeeded(parser.parseOptionalKeyword(&word))) return success();  // precision = [DEFAULT, DEFAULT]
    return parser.parseInteger(list.emplace_back());
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, item)) return failure();
  value = builder.getDenseI64ArrayAttr(list);
  return success();
}

/// Parses the operands and then the "key = value" items.
ParseResult parse_items(OpAsmParser& parser, OperationState& state, Operands& operands) {
  bool first = true;
  for (;;) {
    OpAsmParser::UnresolvedOperand operand;
    llvm::StringRef key;
    if (mlir::OptionalParseResult found = parser.parseOptionalOperand(operand); found.has_value()) {
      if (failed(*found)) return failure();
      operands.push_back(operand);
    } else if (mlir::succeeded(parser.parseOptionalKeyword(&key))) {
      const std::string name = generic_key(short_name(state), key).str();
      mlir::Attribute value;
      if (parser.parseEqual() || parse_value(parser, value)) return failure();
      if (state.attributes.get(name)) return parser.emitError(parser.getNameLoc()) << "'" << name << "' is given twice";
      state.addAttribute(name, value);
    } else {
      return first ? success() : parser.emitError(parser.getCurrentLocation(), "expected an operand or 'key = value'");
    }
    first = false;
    if (failed(parser.parseOptionalComma())) return success();
  }
}

mlir::Type with_element(mlir::Type type, mlir::Type element) {
  if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type)) return tensor.clone(element);
  return type;
}

/// Derives the types of `count` operands and of the result of operation `name` from the only type after the colon.
void spread_type(llvm::StringRef name, mlir::Type type, size_t count, llvm::SmallVector<mlir::Type>& operands,
                 mlir::Type& result) {
  operands.assign(count, type);
  result = type;
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  const auto complex = tensor ? llvm::dyn_cast<mlir::ComplexType>(tensor.getElementType()) : mlir::ComplexType();
  if (!complex) return;
  if (name == "complex") operands.assign(count, with_element(type, complex.getElementType()));
  if (name == "real" || name == "imag" || name == "abs") result = with_element(type, complex.getElementType());
}

/// Parses "{attributes} : types" and resolves the operands. Without `has_result` the types are those of the operands (stablehlo.return).
ParseResult finish(OpAsmParser& parser, OperationState& state, Operands& operands, bool has_result) {
  if (parser.parseOptionalAttrDict(state.attributes)) return failure();
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (!has_result && operands.empty()) return success();
  if (parser.parseColonTypeList(types)) return failure();
  auto function = types.size() == 1 ? llvm::dyn_cast<mlir::FunctionType>(types[0]) : mlir::FunctionType();
  if (function) {
    state.addTypes(function.getResults());
    return parser.resolveOperands(operands, function.getInputs(), place, state.operands);
  }
  if (!has_result) return parser.resolveOperands(operands, types, place, state.operands);
  llvm::SmallVector<mlir::Type> inputs;
  mlir::Type result = types.back();
  if (mlir::succeeded(parser.parseOptionalArrow())) {  // chlo.erf %x : T -> T
    inputs = types;
    if (parser.parseType(result)) return failure();
  } else if (types.size() == 1) {
    spread_type(short_name(state), types[0], operands.size(), inputs, result);
  } else if (short_name(state) == "select" && types.size() == 2 && operands.size() == 3) {
    inputs = {types[0], types[1], types[1]};
  } else {
    return parser.emitError(place) << types.size() << " types after ':', expected one, or (operands) -> results";
  }
  state.addTypes(result);
  return parser.resolveOperands(operands, inputs, place, state.operands);
}

ParseResult operands_form(OpAsmParser& parser, OperationState& state) {
  Operands operands;
  if (parse_items(parser, state, operands)) return failure();
  return finish(parser, state, operands, /*has_result=*/true);
}

ParseResult return_form(OpAsmParser& parser, OperationState& state) {
  Operands operands;
  if (parse_items(parser, state, operands)) return failure();
  return finish(parser, state, operands, /*has_result=*/false);
}

/// Parses: constant {attributes} dense<...> : T
ParseResult constant_form(OpAsmParser& parser, OperationState& state) {
  mlir::Attribute value;
  if (parser.parseOptionalAttrDict(state.attributes)) return failure();
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseAttribute(value)) return failure();
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements) return parser.emitError(place) << "expected dense<...> : tensor<...>";
  state.addAttribute("value", value);
  state.addTypes(elements.getShapedType());
  return success();
}

/// Parses: compare LT, %a, %b, SIGNED : (A, A) -> B
ParseResult compare_form(OpAsmParser& parser, OperationState& state) {
  llvm::StringRef direction, type;
  Operands operands(2);
  if (parser.parseKeyword(&direction) || parser.parseComma() || parser.parseOperand(operands[0]) || parser.parseComma() ||
      parser.parseOperand(operands[1]))
    return failure();
  state.addAttribute("comparison_direction", parser.getBuilder().getStringAttr(direction));
  if (mlir::succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword(&type)) return failure();
    state.addAttribute("compare_type", parser.getBuilder().getStringAttr(type));
  }
  return finish(parser, state, operands, /*has_result=*/true);
}

/// Parses: custom_call @name(%a, ...) {attributes} : (A) -> R
ParseResult custom_call_form(OpAsmParser& parser, OperationState& state) {
  mlir::StringAttr name;
  Operands operands;
  if (parser.parseSymbolName(name) || parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren)) return failure();
  state.addAttribute("call_target_name", name);
  return finish(parser, state, operands, /*has_result=*/true);
}

/// Parses: slice %x [begin:end:stride, ...] : (A) -> R
ParseResult slice_form(OpAsmParser& parser, OperationState& state) {
  Operands operands(1);
  llvm::SmallVector<int64_t> begin, end, stride;
  const auto range = [&]() -> ParseResult {
    if (parser.parseInteger(begin.emplace_back()) || parser.parseColon() || parser.parseInteger(end.emplace_back()))
      return failure();
    stride.push_back(1);
    return mlir::succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride.back()) : success();
  };
  if (parser.parseOperand(operands[0]) || parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, range)) return failure();
  mlir::Builder& builder = parser.getBuilder();
  state.addAttribute("start_indices", builder.getDenseI64ArrayAttr(begin));
  state.addAttribute("limit_indices", builder.getDenseI64ArrayAttr(end));
  state.addAttribute("strides", builder.getDenseI64ArrayAttr(stride));
  return finish(parser, state, operands, /*has_result=*/true);
}

/// Parses: reduce(%x init: %c), ... applies OP across dimensions = [...] : (A, C) -> R. The operands get the order of the generic form:
/// inputs, then initial values. OP becomes the attribute "applies".
ParseResult reduce_form(OpAsmParser& parser, OperationState& state) {
  Operands inputs, initial;
  const auto pair = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
                   parser.parseColon() || parser.parseOperand(initial.emplace_back()) || parser.parseRParen());
  };
  mlir::StringAttr unused;
  llvm::StringRef applied;
  mlir::Attribute dims;
  if (parser.parseCommaSeparatedList(pair)) return failure();
  if (failed(parser.parseOptionalKeyword("applies")))
    return parser.emitError(parser.getNameLoc()) << "only 'applies OP across dimensions = [...]' is read, or the generic form";
  if (parser.parseKeyword(&applied) || parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual() || parse_value(parser, dims))
    return failure();
  state.addAttribute("applies", parser.getBuilder().getStringAttr(applied));
  state.addAttribute("dimensions", dims);
  inputs.append(initial.begin(), initial.end());
  return finish(parser, state, inputs, /*has_result=*/true);
}

ParseResult unread_form(OpAsmParser& parser, OperationState& /*state*/) {
  return parser.emitError(parser.getNameLoc()) << "this operation's pretty form is not read";
}

ParseResult mhlo_form(OpAsmParser& parser, OperationState& /*state*/) {
  return parser.emitError(parser.getNameLoc()) << kMhloAdvice;
}

}  // namespace

std::optional<mlir::Dialect::ParseOpHook> pretty_form(llvm::StringRef name) {
  using Hook = ParseResult (*)(OpAsmParser&, OperationState&);
  struct Row {
    llvm::StringRef name;
    Hook hook;
  };
  static constexpr Row kRows[] = {
      {"stablehlo.constant", constant_form}, {"stablehlo.return", return_form},      {"stablehlo.custom_call", custom_call_form},
      {"stablehlo.compare", compare_form},   {"stablehlo.reduce", reduce_form},      {"stablehlo.slice", slice_form},
      {"stablehlo.while", unread_form},      {"stablehlo.dot_general", unread_form}, {"stablehlo.convolution", unread_form},
  };
  static constexpr Hook kMhlo = mhlo_form, kOperands = operands_form;
  if (name.starts_with("mhlo.")) return kMhlo;
  for (const Row& row : kRows)
    if (row.name == name) return row.hook;
  return kOperands;
}

}  // namespace strew::inline v0
