// The textual forms of tensor.gather and tensor.scatter, upstream's and the RFC's, as parse hooks.
#pragma once

#include <mlir/IR/Dialect.h>

#include <optional>

namespace strew {

/// Marks an operation that was written as the RFC writes it, where `unique` is optional and the dims may be left out.
inline constexpr char kRfcSpelling[] = "strew.rfc";

/// The hook that reads `name` ("tensor.gather"). The parsed operation has upstream's generic attribute names.
std::optional<mlir::Dialect::ParseOpHook> tensor_form(llvm::StringRef name);

}  // namespace strew
