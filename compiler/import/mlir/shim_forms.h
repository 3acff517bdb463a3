// Parse hooks for the pretty forms of operations of StableHLO and of other dialects that libMLIR does not have, or that are not loaded.
#pragma once

#include <mlir/IR/Dialect.h>

#include <optional>

namespace strew::inline v0 {

/// The hook that parses the pretty form of `name` ("stablehlo.add"), if it has one. The parsed operation has the generic form's attribute
/// names, as discardable attributes.
std::optional<mlir::Dialect::ParseOpHook> pretty_form(llvm::StringRef name);

}  // namespace strew::inline v0
