// ParsedModule: a parsed file of MLIR text. No other code creates an MLIRContext.
#pragma once

#include <llvm/Support/SourceMgr.h>
#include <mlir/AsmParser/AsmParserState.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/OwningOpRef.h>
#include <mlir/IR/Value.h>

#include <memory>
#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

class ParsedModule {
 public:
  /// Prescans and parses `text` and lets MLIR verify it. Error messages read "FILE:LINE: message".
  static Expected<std::unique_ptr<ParsedModule>> parse(std::string_view text, const std::string& path);

  /// The operations of the file's only module, or those at the top level of a file without a module.
  mlir::Block& body() const { return *module_.get().getBody(); }

  /// FILE:LINE where the text of `op` stands, whatever a loc(...) in the text claims.
  std::string where(mlir::Operation* op) const;
  /// The name of a value in the text, without "%", and with "_1" for the second result of several; empty if it has none.
  std::string name_of(mlir::Value value) const;
  /// The line where the text of `op` stands; 0: it is not known.
  int line_of(mlir::Operation* op) const;
  /// The byte of the text at which the operation begins, with the names of its results; -1: it is not known.
  int64_t begin_of(mlir::Operation* op) const;
  /// The byte of the text at which `place` is.
  size_t offset_of(llvm::SMLoc place) const;
  const mlir::AsmParserState& places() const { return places_; }
  /// "FILE:LINE: stablehlo.scatter"
  std::string location(mlir::Operation* op) const;
  /// An error with a message like "FILE:LINE: stablehlo.scatter: what".
  Status fail(mlir::Operation* op, const std::string& what) const;
  /// `status` with the same start of the message, unless it begins with a place in the file already: that of an operation inside `op`.
  Status at(mlir::Operation* op, const Status& status) const;

 private:
  explicit ParsedModule(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unique_ptr<mlir::MLIRContext> context_;
  llvm::SourceMgr sources_;
  mlir::AsmParserState places_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

}  // namespace strew::inline v0
