// tensor.gather and tensor.scatter have two spellings. MLIR's:
//   tensor.gather %s[%i] gather_dims([1]) unique : (S, I) -> R
//   tensor.scatter %u into %d[%i] scatter_dims([1]) unique : (U, D, I) -> R
// The RFC's, in which the dims and `unique` are optional and the types are written in the order of the operands:
//   tensor.gather %s[%i] gather_along_dimension(1) : S[I] -> R
//   tensor.scatter %u into %d[%i] coordinates = [1] : U into D[I] -> R
// Each part of an operation may come in either spelling; the operation is MLIR's in both.
//
// from_elements has a form here because MLIR's parser and verifier make a list of as many types as the result has elements, so that
// tensor<99999999999xf32> ends the process. Tested by tests/unit/compiler/import/tensor/tensor_import_test.cc and
// tests/error/tensor_error_test.cc.
#include "compiler/import/tensor/forms.h"

#include <llvm/ADT/STLExtras.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinTypes.h>

#include "compiler/import/mlir/tolerant_form.h"

namespace strew::inline v0 {
namespace {

using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OperationState;
using mlir::ParseResult;
using mlir::succeeded;
using mlir::success;
using Dims = llvm::SmallVector<int64_t>;

template <class Op>
mlir::OperationName name_of(OpAsmParser& parser) {
  parser.getContext()->getOrLoadDialect<mlir::tensor::TensorDialect>();
  return {Op::getOperationName(), parser.getContext()};
}

/// Parses dims written as ([1, 2]), (1, 2), [1, 2], or one of these behind "=".
ParseResult parse_dims(OpAsmParser& parser, Dims& dims) {
  (void)parser.parseOptionalEqual();
  const bool has_paren = succeeded(parser.parseOptionalLParen());
  const bool has_square = text_ahead(parser).starts_with("[");
  const auto item = [&]() -> ParseResult { return parser.parseInteger(dims.emplace_back()); };
  if (parser.parseCommaSeparatedList(has_square ? OpAsmParser::Delimiter::Square : OpAsmParser::Delimiter::None, item))
    return failure();
  return has_paren ? parser.parseRParen() : success();
}

/// The dims that an operation in the RFC's spelling leaves out: all of the indexed tensor, or as many unit dims of the small tensor as an
/// index has coordinates. Empty if the types do not tell them. `types`: of the indexed tensor, the indices and the small tensor.
Dims implied_dims(llvm::ArrayRef<mlir::Type> types) {
  const auto indexed = llvm::dyn_cast<mlir::RankedTensorType>(types[0]),
             indices = llvm::dyn_cast<mlir::RankedTensorType>(types[1]), small = llvm::dyn_cast<mlir::RankedTensorType>(types[2]);
  if (!indexed || !indices || !small || indices.getRank() == 0) return {};
  const int64_t rank = indexed.getRank(), positions = indices.getRank() - 1, count = indices.getShape().back();
  Dims all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (count == rank) return all;
  if (small.getRank() != positions + rank) return {};
  llvm::erase_if(all, [&](int64_t d) { return small.getDimSize(positions + d) != 1; });
  if (static_cast<int64_t>(all.size()) != count) llvm::erase_if(all, [&](int64_t d) { return indexed.getDimSize(d) == 1; });
  return static_cast<int64_t>(all.size()) == count ? all : Dims();
}

/// Parses the dims and `unique` in any order, each at most once. `own` is MLIR's keyword for the dims.
ParseResult parse_clauses(OpAsmParser& parser, OperationState& state, llvm::StringRef own, bool& rfc) {
  for (;;) {
    const llvm::SMLoc place = parser.getCurrentLocation();
    llvm::StringRef word;
    if (failed(parser.parseOptionalKeyword(&word))) return success();
    const bool older = word == "gather_along_dimension" || word == "coordinates";
    if (!older && word != own && word != "unique")
      return parser.emitError(place) << "expected '" << own << "' or 'unique', found '" << word.take_front(80) << "'";
    const llvm::StringRef name = word == "unique" ? word : own;
    if (state.attributes.get(name)) return parser.emitError(place) << "'" << word << "' is given twice";
    rfc = rfc || older;
    mlir::Attribute value = parser.getBuilder().getUnitAttr();
    if (name == own) {
      Dims dims;
      if (parse_dims(parser, dims)) return failure();
      value = parser.getBuilder().getDenseI64ArrayAttr(dims);
    }
    state.addAttribute(name, value);
  }
}

/// Parses the types: `(A, B) -> R`, or the RFC's `A[B] -> R` and `U into D[I] -> R`.
ParseResult parse_types(OpAsmParser& parser, bool is_scatter, llvm::SmallVectorImpl<mlir::Type>& inputs, OperationState& state,
                        bool& rfc) {
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseColonType(inputs.emplace_back())) return failure();
  if (const auto function = llvm::dyn_cast<mlir::FunctionType>(inputs[0])) {
    inputs.assign(function.getInputs().begin(), function.getInputs().end());
    if (function.getNumResults() != 1) return parser.emitError(place) << function.getNumResults() << " result types, expected 1";
    state.addTypes(function.getResults());
    return success();
  }
  rfc = true;
  mlir::Type result;
  if (is_scatter && (parser.parseKeyword("into") || parser.parseType(inputs.emplace_back()))) return failure();
  if (parser.parseLSquare() || parser.parseType(inputs.emplace_back()) || parser.parseRSquare() || parser.parseArrow() ||
      parser.parseType(result))
    return failure();
  state.addTypes(result);
  return success();
}

template <class Op>
ParseResult parse_form(OpAsmParser& parser, OperationState& state) {
  constexpr bool kIsScatter = std::is_same_v<Op, mlir::tensor::ScatterOp>;
  constexpr llvm::StringRef kDims = kIsScatter ? "scatter_dims" : "gather_dims";
  const llvm::SMLoc place = parser.getCurrentLocation();
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseOperand(operands.emplace_back())) return failure();
  if (kIsScatter && (parser.parseKeyword("into") || parser.parseOperand(operands.emplace_back()))) return failure();
  if (parser.parseLSquare() || parser.parseOperand(operands.emplace_back()) || parser.parseRSquare()) return failure();
  bool rfc = false;
  llvm::SmallVector<mlir::Type> inputs;
  if (parse_clauses(parser, state, kDims, rfc) || parser.parseOptionalAttrDict(state.attributes) ||
      parse_types(parser, kIsScatter, inputs, state, rfc) || parser.resolveOperands(operands, inputs, place, state.operands))
    return failure();
  if (rfc && !state.attributes.get(kDims)) {
    const Dims dims = implied_dims({inputs[kIsScatter ? 1 : 0], inputs.back(), kIsScatter ? inputs[0] : state.types[0]});
    if (dims.empty()) return parser.emitError(place) << kDims << " is missing, and the types do not tell which dims are indexed";
    state.addAttribute(kDims, parser.getBuilder().getDenseI64ArrayAttr(dims));
  }
  if (kIsScatter && rfc && !state.attributes.get("unique"))
    for (const llvm::StringRef name : {llvm::StringRef("unique"), llvm::StringRef(kMayRepeat)})
      state.addAttribute(name, parser.getBuilder().getUnitAttr());
  state.name = name_of<Op>(parser);
  return Op::verifyInherentAttrs(state.name, state.attributes, [&] { return parser.emitError(place); });
}

}  // namespace

ParseResult tensor_gather_form(OpAsmParser& parser, OperationState& state) {
  return parse_form<mlir::tensor::GatherOp>(parser, state);
}
ParseResult tensor_scatter_form(OpAsmParser& parser, OperationState& state) {
  return parse_form<mlir::tensor::ScatterOp>(parser, state);
}

/// Parses: from_elements %a, %b : T, whose operands are elements of T.
ParseResult from_elements_form(OpAsmParser& parser, OperationState& state) {
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> operands;
  mlir::RankedTensorType type;
  if (parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
    return failure();
  state.addTypes(type);
  state.name = name_of<mlir::tensor::FromElementsOp>(parser);
  return parser.resolveOperands(operands, type.getElementType(), state.operands);
}

}  // namespace strew::inline v0
