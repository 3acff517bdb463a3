// Parse hooks for the textual forms of the tensor dialect: tensor.gather and tensor.scatter in upstream's spelling and in the RFC's, and the
// other operations.
#pragma once

#include <mlir/IR/Dialect.h>

#include <optional>

namespace strew::inline v0 {

/// Attribute of operations written in the RFC's spelling, in which `unique` is optional and the dims may be left out.
inline constexpr char kRfcSpelling[] = "strew.rfc";

/// The hook that parses `name` ("tensor.gather"), if it has one. The parsed operation has upstream's generic attribute names.
std::optional<mlir::Dialect::ParseOpHook> tensor_form(llvm::StringRef name);

}  // namespace strew::inline v0
