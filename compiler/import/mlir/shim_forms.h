// The pretty forms of StableHLO operations, as parse hooks.
#pragma once

#include <mlir/IR/Dialect.h>

#include <optional>

namespace strew {

/// The hook that reads the pretty form of `name` ("stablehlo.add"). The parsed operation has the generic form's attribute names,
/// as discardable attributes.
std::optional<mlir::Dialect::ParseOpHook> pretty_form(llvm::StringRef name);

inline constexpr char kMhloAdvice[] =
    "the mhlo dialect is not read; convert the module to StableHLO (mlir-hlo-opt --hlo-legalize-to-stablehlo)";

}  // namespace strew
