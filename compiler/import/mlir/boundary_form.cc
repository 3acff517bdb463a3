// Every %name in the text is an operand, wherever it stands: `linalg.matmul ins(%a, %b : A, B) outs(%c : C) -> C`,
// `tensor.insert_slice %s into %d[%o] [4] [1] : S into D`. Attributes are not kept. The operands' types need not be found in the text, because
// the values are defined before they are used. The results' types are those after `->`, or after `to` or `into` behind the colon; else those
// of the operands in `outs(...)`; else the last ones behind the colon. Tested by tests/unit/compiler/import/tensor/tensor_boundary_test.cc
// and tests/error/tensor_error_test.cc.
#include "compiler/import/mlir/boundary_form.h"

#include <llvm/ADT/STLExtras.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Diagnostics.h>

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

class BoundaryForm {
 public:
  BoundaryForm(OpAsmParser& parser, OperationState& state) : parser_(parser), state_(state), name_(state.name.getStringRef()) {}

  ParseResult run() {
    if (parse_pieces()) return failure();
    for (const OpAsmParser::UnresolvedOperand& operand : operands_)
      if (resolve(operand)) return failure();
    return add_results();
  }

 private:
  ParseResult parse_pieces() {
    const char* last = text_ahead(parser_).data();
    for (;;) {
      const llvm::StringRef ahead = text_ahead(parser_);
      if (ends_operation(ahead, last)) return success();
      if (parse_piece(ahead)) return failure();
      last = ahead.data();
    }
  }

  ParseResult parse_piece(llvm::StringRef ahead) {
    llvm::StringRef word;
    if (const mlir::OptionalParseResult region = parse_region_here(parser_, state_); region.has_value()) return *region;
    mlir::NamedAttrList ignored;
    if (ahead.starts_with("{")) return parser_.parseOptionalAttrDict(ignored);
    if (succeeded(parser_.parseOptionalArrow())) return parse_types(results_);
    if (ahead.starts_with(":")) return parse_colon();
    if (succeeded(parser_.parseOptionalKeyword(&word))) return parse_group_of(word);
    return skip(ahead);
  }

  ParseResult skip(llvm::StringRef ahead) {
    if (succeeded(skip_piece(parser_, &operands_, /*in_all_brackets=*/true))) return success();
    return parser_.emitError(parser_.getCurrentLocation(), "unexpected '")
           << ahead.take_front(1) << "' in an operation that is not read here";
  }

  /// Parses the brackets after `word`, if there are any. The operands in `outs(...)` are those that the results replace.
  ParseResult parse_group_of(llvm::StringRef word) {
    const llvm::StringRef ahead = text_ahead(parser_);
    if (!ahead.starts_with("(")) return success();
    const size_t first = operands_.size();
    if (skip(ahead)) return failure();
    if (word != "outs") return success();
    first_out_ = first;
    end_of_outs_ = operands_.size();
    return success();
  }

  /// Parses T; A, B; (A) -> R; A to R; A into R, after a colon.
  ParseResult parse_colon() {
    if (parser_.parseColonTypeList(types_)) return failure();
    const auto function = types_.size() == 1 ? llvm::dyn_cast<mlir::FunctionType>(types_[0]) : mlir::FunctionType();
    if (function) results_.assign(function.getResults().begin(), function.getResults().end());
    llvm::StringRef word;
    if (failed(parser_.parseOptionalKeyword(&word, {"to", "into"}))) return success();
    return parse_types(results_);
  }

  ParseResult parse_types(llvm::SmallVectorImpl<mlir::Type>& types) {
    types.clear();
    const auto item = [&]() -> ParseResult { return parser_.parseType(types.emplace_back()); };
    const bool is_list = text_ahead(parser_).starts_with("(");
    return parser_.parseCommaSeparatedList(is_list ? OpAsmParser::Delimiter::Paren : OpAsmParser::Delimiter::None, item);
  }

  /// Adds the operand with the type of its definition. The parser tells that type only in its message about a use with another type, so it is
  /// asked with the type none, and the message is read and dropped.
  ParseResult resolve(const OpAsmParser::UnresolvedOperand& operand) {
    mlir::Type defined;
    const auto read = [&](mlir::Diagnostic& message) {
      for (const mlir::DiagnosticArgument& argument : message.getArguments())
        if (argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::Type) defined = argument.getAsType();
      return success();  // handled: nobody else hears of it
    };
    {
      const mlir::ScopedDiagnosticHandler handler(parser_.getContext(), read);
      if (succeeded(parser_.resolveOperand(operand, parser_.getBuilder().getNoneType(), state_.operands))) return success();
    }
    if (!defined) return parser_.emitError(operand.location, "use of a value that is not defined");
    return parser_.resolveOperand(operand, defined, state_.operands);
  }

  /// The type of an only result that the text does not give: an extent, a rank, an index, an element.
  mlir::Type implied() const {
    static constexpr llvm::StringRef kIndices[] = {"affine.apply", "affine.max", "affine.min",
                                                   "memref.dim",   "tensor.dim", "tensor.rank"};
    if (llvm::is_contained(kIndices, name_)) return parser_.getBuilder().getIndexType();
    const auto shaped =
        state_.operands.empty() ? mlir::ShapedType() : llvm::dyn_cast<mlir::ShapedType>(state_.operands[0].getType());
    const bool is_element = name_ == "tensor.extract" || name_ == "memref.load" || name_ == "affine.load";
    return shaped && is_element ? shaped.getElementType() : mlir::Type();
  }

  ParseResult add_results() {
    const size_t count = parser_.getNumResults();
    if (count == 0) return success();
    const mlir::Type own = count == 1 ? implied() : mlir::Type();
    llvm::SmallVector<mlir::Type> outs;
    for (size_t i = first_out_; i < end_of_outs_; ++i) outs.push_back(state_.operands[i].getType());
    if (own)
      state_.addTypes(own);
    else if (results_.size() == count)
      state_.addTypes(results_);
    else if (outs.size() == count)
      state_.addTypes(outs);
    else if (results_.empty() && types_.size() >= count)
      state_.addTypes(llvm::ArrayRef(types_).take_back(count));
    else
      return parser_.emitError(parser_.getNameLoc(),
                               "expected the type of every result behind ':' or '->', or the operation in generic form");
    return success();
  }

  OpAsmParser& parser_;
  OperationState& state_;
  llvm::StringRef name_;
  UnresolvedOperands operands_;
  size_t first_out_ = 0, end_of_outs_ = 0;         ///< the operands in `outs(...)`
  llvm::SmallVector<mlir::Type> types_, results_;  ///< after the colon; after an arrow, `to` or `into`
};

}  // namespace

ParseResult boundary_form(OpAsmParser& parser, OperationState& state) { return BoundaryForm(parser, state).run(); }

}  // namespace strew::inline v0
