// Nearly every pretty form reads "operands, key = value, ... {attributes} : types", so one hook parses them all, and skips what else stands
// before the types (tolerant_form.h); only operations with regions or constants in their forms have another hook. A value is an integer, a
// list of integers, a keyword, which is kept as a string, or anything else, which is kept as its text. MLIR's attribute parser cannot read
// values: it would also consume the colon before the types.
//
// The types after the colon are a function type; or one type for all operands and the result; or one per operand, and results of the same
// types; or for select the types of the predicate and of the values; or for complex, real and imag the type on the complex side. Operations of
// linalg and of dialects like it have the types of their operands in groups: "ins(%a : A) outs(%b : B) -> B". Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/unit/compiler/import/tensor/tensor_boundary_test.cc.
//
// The parser knows no other form of an operation of a real dialect than the dialect's. So an operation that needs one is written with a capital
// letter in the text that the parser gets (parse.cc): Tensor.gather is of a shim dialect, and its hook makes it the operation tensor.gather.
#include "compiler/import/mlir/shim_forms.h"

#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/OpImplementation.h>

#include <algorithm>

#include "compiler/import/mlir/tolerant_form.h"
#include "compiler/import/tensor/forms.h"

namespace strew::inline v0 {
namespace {

using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OperationState;
using mlir::ParseResult;
using mlir::success;
using Operands = UnresolvedOperands;

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

/// Parses the value of a key. What is no integer, keyword or list of integers is kept as its text.
ParseResult parse_value(OpAsmParser& parser, mlir::Attribute& value) {
  mlir::Builder& builder = parser.getBuilder();
  const llvm::StringRef ahead = text_ahead(parser);
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
  if (is_integer_list(ahead)) {
    llvm::SmallVector<int64_t> list;
    const auto item = [&]() -> ParseResult { return parser.parseInteger(list.emplace_back()); };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, item)) return failure();
    value = builder.getDenseI64ArrayAttr(list);
    return success();
  }
  const char* begin = ahead.data();
  if (skip_piece(parser, nullptr)) return parser.emitError(parser.getCurrentLocation(), "expected an integer, a list or a word");
  value = builder.getStringAttr(llvm::StringRef(begin, text_ahead(parser).data() - begin).rtrim());
  return success();
}

/// Parses the group of operands with their types behind `ins` or `outs`, "(%a, %b : A, B)", if there is one. The results are of the types of
/// `outs`, unless an arrow says otherwise.
ParseResult parse_group(OpAsmParser& parser, OperationState& state, bool is_outs) {
  Operands operands;
  llvm::SmallVector<mlir::Type> types;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen())) return success();
  if (parser.parseOperandList(operands) || parser.parseColonTypeList(types) || parser.parseRParen()) return failure();
  if (is_outs) state.types.assign(types.begin(), types.end());
  return parser.resolveOperands(operands, types, place, state.operands);
}

/// Is the arrow before types what comes next? That between the dims of a convolution is followed by a list.
bool is_type_arrow(llvm::StringRef ahead) { return ahead.consume_front("->") && !ahead.ltrim().starts_with("["); }

/// Does the key have a list for each operand: `contracting_dims = [1] x [0]`?
bool is_pair(const OperationState& state, llvm::StringRef key) {
  return short_name(state) == "dot_general" && (key == "contracting_dims" || key == "batching_dims");
}
/// Parses the second list. The two become attributes of the generic form's dimension numbers.
ParseResult parse_pair(OpAsmParser& parser, OperationState& state, llvm::StringRef key, mlir::Attribute first) {
  mlir::Attribute second;
  if (parser.parseKeyword("x") || parse_value(parser, second)) return failure();
  const std::string name = key.drop_back(llvm::StringRef("dims").size()).str() + "dimensions";
  if (state.attributes.get("lhs_" + name)) return parser.emitError(parser.getNameLoc()) << "'" << key << "' is given twice";
  state.addAttribute("lhs_" + name, first);
  state.addAttribute("rhs_" + name, second);
  return success();
}

/// Parses the operands, the "key = value" items, and whatever else stands before the types.
ParseResult parse_items(OpAsmParser& parser, OperationState& state, Operands& operands) {
  const char* last = text_ahead(parser).data();
  for (;;) {
    const llvm::StringRef ahead = text_ahead(parser);
    if (ahead.starts_with(":") || is_type_arrow(ahead) || ends_operation(ahead, last)) return success();
    llvm::StringRef key;
    if (mlir::OptionalParseResult region = parse_region_here(parser, state); region.has_value()) {
      if (failed(*region)) return failure();
    } else if (ahead.starts_with("{")) {
      if (parser.parseOptionalAttrDict(state.attributes)) return failure();
    } else if (mlir::succeeded(parser.parseOptionalKeyword(&key))) {
      if ((key == "ins" || key == "outs") && parse_group(parser, state, key == "outs")) return failure();
      if (failed(parser.parseOptionalEqual())) continue;
      const std::string name = generic_key(short_name(state), key).str();
      mlir::Attribute value;
      if (parse_value(parser, value)) return failure();
      if (is_pair(state, key)) {
        if (parse_pair(parser, state, key, value)) return failure();
        last = ahead.data();
        continue;
      }
      if (state.attributes.get(name)) return parser.emitError(parser.getNameLoc()) << "'" << name << "' is given twice";
      state.addAttribute(name, value);
    } else if (skip_piece(parser, &operands)) {
      return parser.emitError(parser.getCurrentLocation(), "expected an operand, 'key = value' or ':'");
    }
    last = ahead.data();
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

/// Parses the types after the colon: T, T; (T, T) -> T; T, T -> (T, T); T to T. Operands in groups have their types there, and there may be
/// no colon.
struct Types {
  llvm::SmallVector<mlir::Type> list, results;
  bool has_arrow = false;
};
ParseResult parse_types(OpAsmParser& parser, Types& types) {
  if (!text_ahead(parser).starts_with("->") && parser.parseColonTypeList(types.list)) return failure();
  const auto function = types.list.size() == 1 ? llvm::dyn_cast<mlir::FunctionType>(types.list[0]) : mlir::FunctionType();
  if (function) {
    types.list.assign(function.getInputs().begin(), function.getInputs().end());
    types.results.assign(function.getResults().begin(), function.getResults().end());
    types.has_arrow = true;
    return success();
  }
  llvm::StringRef word;
  if (failed(parser.parseOptionalArrow()) && failed(parser.parseOptionalKeyword(&word, {"to", "into"}))) return success();
  types.has_arrow = true;
  const auto item = [&]() -> ParseResult { return parser.parseType(types.results.emplace_back()); };
  const bool is_list = text_ahead(parser).starts_with("(");
  return parser.parseCommaSeparatedList(is_list ? OpAsmParser::Delimiter::Paren : OpAsmParser::Delimiter::None, item);
}

/// Parses a region, "{attributes}", the types and more regions, and resolves the operands. The types of `return` are those of its operands.
ParseResult finish(OpAsmParser& parser, OperationState& state, Operands& operands) {
  const bool has_result = short_name(state) != "return";
  const auto regions = [&]() -> ParseResult {
    mlir::OptionalParseResult region = parse_region_here(parser, state);
    while (region.has_value() && mlir::succeeded(*region)) region = parse_region_here(parser, state);
    return region.has_value() ? *region : ParseResult(success());
  };
  if (regions() || parser.parseOptionalAttrDict(state.attributes)) return failure();
  const llvm::SMLoc place = parser.getCurrentLocation();
  const llvm::StringRef ahead = text_ahead(parser);
  if (!state.types.empty()) {  // those of `outs`
    state.types.resize(std::min<size_t>(state.types.size(), parser.getNumResults()));
    if (!ahead.starts_with("->")) return success();
    state.types.clear();
  }
  if (operands.empty() && (!has_result || (parser.getNumResults() == 0 && !ahead.starts_with(":") && !ahead.starts_with("->"))))
    return success();
  if (!ahead.starts_with(":") && !ahead.starts_with("->"))
    return parser.emitError(parser.getNameLoc()) << "expected ':' and types, or the operation in generic form";
  Types types;
  if (parse_types(parser, types)) return failure();
  const size_t results = parser.getNumResults();
  llvm::SmallVector<mlir::Type> inputs = types.list;
  if (!has_result) {
    types.results.clear();
  } else if (!types.has_arrow && types.list.size() == 1 && results <= 1) {
    mlir::Type result = types.list[0];
    spread_type(short_name(state), types.list[0], operands.size(), inputs, result);
    if (results == 1) types.results = {result};
  } else if (!types.has_arrow && short_name(state) == "select" && types.list.size() == 2 && operands.size() == 3) {
    inputs = {types.list[0], types.list[1], types.list[1]};
    types.results = {types.list[1]};
  } else if (!types.has_arrow && types.list.size() == operands.size() && (results == operands.size() || results == 0)) {
    if (results > 0) types.results = types.list;  // optimization_barrier %a, %b : A, B
  } else if (types.list.size() + types.results.size() == operands.size()) {
    inputs.append(types.results);  // pack %a into %b : A -> B
  } else if (!types.has_arrow) {
    return parser.emitError(place) << types.list.size() << " types after ':', expected one, or (operands) -> results";
  }
  state.addTypes(types.results);
  if (parser.resolveOperands(operands, inputs, place, state.operands)) return failure();
  return regions();
}

ParseResult operands_form(OpAsmParser& parser, OperationState& state) {
  Operands operands;
  if (parse_items(parser, state, operands)) return failure();
  return finish(parser, state, operands);
}

/// The parser of MLIR's vector.contract takes whatever stands in `iterator_types` for strings.
ParseResult contract_form(OpAsmParser& parser, OperationState& state) {
  parser.getContext()->getOrLoadDialect("vector");
  state.name = mlir::OperationName("vector.contract", parser.getContext());
  return operands_form(parser, state);
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
  return finish(parser, state, operands);
}

/// Parses: custom_call @name(%a, ...) {attributes} : (A) -> R
ParseResult custom_call_form(OpAsmParser& parser, OperationState& state) {
  mlir::StringAttr name;
  Operands operands;
  if (parser.parseSymbolName(name) || parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren)) return failure();
  state.addAttribute("call_target_name", name);
  return finish(parser, state, operands);
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
  return finish(parser, state, operands);
}

/// Parses: reduce(%x init: %c), ... applies OP across dimensions = [...] : (A, C) -> R, or
///   reduce(%x init: %c), ... across dimensions = [...] : (A, C) -> R reducer(%a: T, %b: T) ... { ... }
/// The operands get the order of the generic form: inputs, then initial values; and so do the arguments of the region, which are written as
/// pairs. OP becomes the attribute "applies".
ParseResult reduce_form(OpAsmParser& parser, OperationState& state) {
  Operands inputs, initial;
  const auto pair = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
                   parser.parseColon() || parser.parseOperand(initial.emplace_back()) || parser.parseRParen());
  };
  llvm::StringRef applied;
  mlir::Attribute dims;
  if (parser.parseCommaSeparatedList(pair)) return failure();
  if (mlir::succeeded(parser.parseOptionalKeyword("applies"))) {
    if (parser.parseKeyword(&applied)) return failure();
    state.addAttribute("applies", parser.getBuilder().getStringAttr(applied));
  }
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() || parse_value(parser, dims))
    return failure();
  state.addAttribute("dimensions", dims);
  inputs.append(initial.begin(), initial.end());
  if (finish(parser, state, inputs)) return failure();
  if (!applied.empty()) return success();
  if (parser.parseKeyword("reducer")) return failure();
  llvm::SmallVector<OpAsmParser::Argument> current, update;
  while (text_ahead(parser).starts_with("(")) {
    const auto argument = [&](llvm::SmallVector<OpAsmParser::Argument>& list) {
      return parser.parseArgument(list.emplace_back(), /*allowType=*/true, /*allowAttrs=*/true);
    };
    if (parser.parseLParen() || argument(current) || parser.parseComma() || argument(update) || parser.parseRParen())
      return failure();
  }
  current.append(update.begin(), update.end());
  return parser.parseRegion(*state.addRegion(), current);
}

/// Parses: while(%a = %x, ...) : T, ... attributes {...} cond { ... } do { ... }
ParseResult while_form(OpAsmParser& parser, OperationState& state) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  Operands operands;
  llvm::SmallVector<mlir::Type> types;
  const auto pair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, pair)) return failure();
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (text_ahead(parser).starts_with(":") && parser.parseColonTypeList(types)) return failure();
  if (parser.resolveOperands(operands, types, place, state.operands)) return failure();
  state.addTypes(types);
  for (size_t i = 0; i < types.size(); ++i) arguments[i].type = types[i];
  if (mlir::succeeded(parser.parseOptionalKeyword("attributes")) && parser.parseOptionalAttrDict(state.attributes))
    return failure();
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*state.addRegion(), arguments) || parser.parseKeyword("do") ||
                 parser.parseRegion(*state.addRegion(), arguments));
}

/// Parses: mesh @name = <["x"=2]> {attributes}
ParseResult mesh_form(OpAsmParser& parser, OperationState& state) {
  mlir::StringAttr name;
  mlir::Attribute mesh;
  if (parser.parseSymbolName(name) || parser.parseEqual() || parse_value(parser, mesh)) return failure();
  state.addAttribute("sym_name", name);
  state.addAttribute("mesh", mesh);
  return parser.parseOptionalAttrDict(state.attributes);
}

}  // namespace

std::optional<mlir::Dialect::ParseOpHook> pretty_form(llvm::StringRef name) {
  using Hook = ParseResult (*)(OpAsmParser&, OperationState&);
  struct Row {
    llvm::StringRef name;
    Hook hook;
  };
  static constexpr Row kRows[] = {
      {"stablehlo.constant", constant_form},
      {"stablehlo.custom_call", custom_call_form},
      {"stablehlo.compare", compare_form},
      {"stablehlo.reduce", reduce_form},
      {"stablehlo.slice", slice_form},
      {"stablehlo.while", while_form},
      {"sdy.mesh", mesh_form},
      {"Tensor.gather", tensor_gather_form},
      {"Tensor.scatter", tensor_scatter_form},
      {"Tensor.from_elements", from_elements_form},
      {"Vector.contract", contract_form},
      {"", operands_form},  // all others
  };
  return llvm::find_if(kRows, [&](const Row& row) { return row.name.empty() || row.name == name; })->hook;
}

}  // namespace strew::inline v0
