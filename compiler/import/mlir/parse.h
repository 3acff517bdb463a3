// ParsedModule: MLIR text behind one door. The only place that makes an MLIRContext.
#pragma once

#include <llvm/Support/SourceMgr.h>
#include <mlir/AsmParser/AsmParserState.h>
#include <mlir/IR/Block.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/Operation.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace strew {

class ParsedModule {
 public:
  /// Prescans, parses and lets MLIR verify `text`. Failures read "FILE:LINE: message".
  static Expected<std::unique_ptr<ParsedModule>> parse(std::string_view text, const std::string& path);

  /// The operations of the file's one module, or those at the top level of a file without one.
  mlir::Block& body() const { return *body_; }

  /// FILE:LINE of the text of `op`, whatever a loc(...) in it claims.
  std::string where(mlir::Operation* op) const;
  /// "FILE:LINE: stablehlo.scatter: what"
  Status fail(mlir::Operation* op, const std::string& what) const;
  /// The same for a failure that has no place yet.
  Status at(mlir::Operation* op, const Status& status) const;

 private:
  explicit ParsedModule(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::unique_ptr<mlir::MLIRContext> context_;
  llvm::SourceMgr sources_;
  mlir::Block top_;
  mlir::AsmParserState places_;
  mlir::Block* body_ = nullptr;
};

}  // namespace strew
