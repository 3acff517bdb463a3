// tensor.gather and tensor.scatter have two spellings. Upstream's:
//   tensor.gather %s[%i] gather_dims([1]) unique : (S, I) -> R
//   tensor.scatter %u into %d[%i] scatter_dims([1]) unique : (U, D, I) -> R
// The RFC's, in which the dims and `unique` are optional and the types are written in the order of the operands:
//   tensor.gather %s[%i] gather_along_dimension(1) : S[I] -> R
//   tensor.scatter %u into %d[%i] coordinates = [1] : U into D[I] -> R
// Each part of an operation may come in either spelling. MLIR's own tensor dialect parses only the first, so it is not loaded, and the other
// operations of the dialect have the forms that are here: extract_slice, insert_slice and concat their own, and all others the boundary form.
// Tested by tests/unit/compiler/import/tensor/tensor_import_test.cc and tests/error/tensor_error_test.cc.
#include "compiler/import/tensor/forms.h"

#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/OpImplementation.h>

#include "compiler/import/mlir/boundary_form.h"

namespace strew::inline v0 {
namespace {

using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OperationState;
using mlir::ParseResult;
using mlir::success;

/// Parses dims written as ([1, 2]), (1, 2), = [1, 2] or = (1, 2).
ParseResult parse_dims(OpAsmParser& parser, llvm::SmallVectorImpl<int64_t>& dims) {
  const auto item = [&]() -> ParseResult { return parser.parseInteger(dims.emplace_back()); };
  if (mlir::succeeded(parser.parseOptionalEqual())) {
    if (mlir::succeeded(parser.parseOptionalLParen())) {
      if (parser.parseCommaSeparatedList(item)) return failure();
      return parser.parseRParen();
    }
    return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, item);
  }
  if (parser.parseLParen()) return failure();
  if (mlir::succeeded(parser.parseOptionalLSquare())) {
    if (mlir::succeeded(parser.parseOptionalRSquare())) return parser.parseRParen();
    if (parser.parseCommaSeparatedList(item) || parser.parseRSquare()) return failure();
    return parser.parseRParen();
  }
  if (parser.parseCommaSeparatedList(item)) return failure();
  return parser.parseRParen();
}

/// Parses the dims and `unique` in any order, each at most once. `own` is upstream's keyword for the dims, "gather_dims" or "scatter_dims".
ParseResult parse_clauses(OpAsmParser& parser, OperationState& state, llvm::StringRef own, bool& rfc, bool& has_dims) {
  for (;;) {
    const llvm::SMLoc place = parser.getCurrentLocation();
    llvm::StringRef word;
    if (failed(parser.parseOptionalKeyword(&word))) return success();
    const bool older = word == "gather_along_dimension" || word == "coordinates";
    if (!older && word != own && word != "unique")
      return parser.emitError(place) << "expected '" << own << "' or 'unique', found '" << word.take_front(80) << "'";
    if (state.attributes.get(word == "unique" ? word : own)) return parser.emitError(place) << "'" << word << "' is given twice";
    if (word == "unique") {
      state.addAttribute(word, parser.getBuilder().getUnitAttr());
      continue;
    }
    rfc = rfc || older;
    has_dims = true;
    llvm::SmallVector<int64_t> dims;
    if (parse_dims(parser, dims)) return failure();
    state.addAttribute(own, parser.getBuilder().getDenseI64ArrayAttr(dims));
  }
}

/// Parses the types: `(A, B) -> R`, or the RFC's `A[B] -> R` and `U into D[I] -> R`.
ParseResult parse_types(OpAsmParser& parser, bool is_scatter, llvm::SmallVectorImpl<mlir::Type>& inputs, OperationState& state,
                        bool& rfc) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  mlir::Type first;
  if (parser.parseColonType(first)) return failure();
  if (const auto function = llvm::dyn_cast<mlir::FunctionType>(first)) {
    inputs.append(function.getInputs().begin(), function.getInputs().end());
    if (function.getNumResults() != 1) return parser.emitError(place) << function.getNumResults() << " result types, expected 1";
    state.addTypes(function.getResults());
    return success();
  }
  rfc = true;
  inputs.push_back(first);
  if (is_scatter && (parser.parseKeyword("into") || parser.parseType(inputs.emplace_back()))) return failure();
  mlir::Type result;
  if (parser.parseLSquare() || parser.parseType(inputs.emplace_back()) || parser.parseRSquare() || parser.parseArrow() ||
      parser.parseType(result))
    return failure();
  state.addTypes(result);
  return success();
}

ParseResult parse_form(OpAsmParser& parser, OperationState& state, bool is_scatter) {
  const llvm::StringRef own = is_scatter ? "scatter_dims" : "gather_dims";
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseOperand(operands.emplace_back())) return failure();
  if (is_scatter && (parser.parseKeyword("into") || parser.parseOperand(operands.emplace_back()))) return failure();
  if (parser.parseLSquare() || parser.parseOperand(operands.emplace_back()) || parser.parseRSquare()) return failure();
  bool rfc = false, has_dims = false;
  llvm::SmallVector<mlir::Type> inputs;
  if (parse_clauses(parser, state, own, rfc, has_dims) || parser.parseOptionalAttrDict(state.attributes) ||
      parse_types(parser, is_scatter, inputs, state, rfc))
    return failure();
  if (!has_dims && !rfc) return parser.emitError(place) << "expected '" << own << "([...])' after the operands";
  if (rfc) state.addAttribute(kRfcSpelling, parser.getBuilder().getUnitAttr());
  return parser.resolveOperands(operands, inputs, place, state.operands);
}

/// Parses [0, %o] [2, 4] [1, 1] into attributes. As in the generic form, a number that is an operand is kDynamic in its list.
ParseResult parse_slice(OpAsmParser& parser, OperationState& state,
                        llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand>& numbers) {
  for (const llvm::StringRef name : {"static_offsets", "static_sizes", "static_strides"}) {
    llvm::SmallVector<int64_t> list;
    const auto item = [&]() -> ParseResult {
      const mlir::OptionalParseResult operand = parser.parseOptionalOperand(numbers.emplace_back());
      if (operand.has_value()) {
        list.push_back(mlir::ShapedType::kDynamic);
        return *operand;
      }
      numbers.pop_back();
      return parser.parseInteger(list.emplace_back());
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, item)) return failure();
    state.addAttribute(name, parser.getBuilder().getDenseI64ArrayAttr(list));
  }
  return success();
}

/// Parses: extract_slice %t[0, %o] [2, 4] [1, 1] : A to B; or insert_slice %s into %t[0, %o] [2, 4] [1, 1] : A into B.
ParseResult parse_slice_form(OpAsmParser& parser, OperationState& state, bool inserts) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> tensors(inserts ? 2 : 1), numbers;
  mlir::Type from, to;
  if (parser.parseOperand(tensors[0])) return failure();
  if (inserts && (parser.parseKeyword("into") || parser.parseOperand(tensors[1]))) return failure();
  if (parse_slice(parser, state, numbers) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(from) ||
      parser.parseKeyword(inserts ? "into" : "to") || parser.parseType(to))
    return failure();
  state.addTypes(to);
  return failure(failed(parser.resolveOperand(tensors[0], from, state.operands)) ||
                 (inserts && failed(parser.resolveOperand(tensors[1], to, state.operands))) ||
                 failed(parser.resolveOperands(numbers, parser.getBuilder().getIndexType(), state.operands)));
}
ParseResult extract_slice_form(OpAsmParser& parser, OperationState& state) { return parse_slice_form(parser, state, false); }
ParseResult insert_slice_form(OpAsmParser& parser, OperationState& state) { return parse_slice_form(parser, state, true); }

/// Parses: concat dim(1) %a, %b : (A, B) -> R.
ParseResult concat_form(OpAsmParser& parser, OperationState& state) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> tensors;
  int64_t dim = 0;
  mlir::FunctionType types;
  if (parser.parseKeyword("dim") || parser.parseLParen() || parser.parseInteger(dim) || parser.parseRParen() ||
      parser.parseOperandList(tensors) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(types))
    return failure();
  state.addAttribute("dim", parser.getBuilder().getI64IntegerAttr(dim));
  state.addTypes(types.getResults());
  return parser.resolveOperands(tensors, types.getInputs(), parser.getNameLoc(), state.operands);
}

ParseResult gather_form(OpAsmParser& parser, OperationState& state) { return parse_form(parser, state, false); }
ParseResult scatter_form(OpAsmParser& parser, OperationState& state) { return parse_form(parser, state, true); }

}  // namespace

std::optional<mlir::Dialect::ParseOpHook> tensor_form(llvm::StringRef name) {
  if (name == "tensor.gather") return mlir::Dialect::ParseOpHook(gather_form);
  if (name == "tensor.scatter") return mlir::Dialect::ParseOpHook(scatter_form);
  if (name == "tensor.extract_slice") return mlir::Dialect::ParseOpHook(extract_slice_form);
  if (name == "tensor.insert_slice") return mlir::Dialect::ParseOpHook(insert_slice_form);
  if (name == "tensor.concat") return mlir::Dialect::ParseOpHook(concat_form);
  return mlir::Dialect::ParseOpHook(boundary_form);
}

}  // namespace strew::inline v0
