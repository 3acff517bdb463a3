// Shim dialects: stand-ins for dialects that libMLIR does not have (stablehlo, chlo, mhlo, sdy, and whatever surrounds them in files), with
// which MLIR's parser can read their text.
#pragma once

#include <set>
#include <string>

namespace mlir {
class DialectRegistry;
}  // namespace mlir

namespace strew::inline v0 {

/// Adds a shim for each of `dialects` that is not in the registry, and those that strew reads. Operations of these dialects then parse as
/// unregistered operations, in the generic form and in the pretty form, whose attributes get the names of the generic form if the operation is
/// one that is read. Of attributes `#stablehlo...` dimension numbers are parsed (dimension_numbers.h), and all others become OpaqueAttr.
void register_shim_dialects(const std::set<std::string>& dialects, mlir::DialectRegistry& registry);

}  // namespace strew::inline v0
