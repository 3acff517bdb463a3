// whole_text(): PTO IR with everything in MLIR's generic form, the module too, as mlir-opt --mlir-print-op-generic prints it.
#pragma once

#include <string>
#include <vector>

#include "compiler/pto/ast.h"

namespace strew::test {

std::string whole_text(const pto::Module& module);
/// The text of a tree of PTO IR in pretty form, with pto statements in generic form, and in generic form as a whole.
std::vector<std::string> every_text(const pto::Module& module);

}  // namespace strew::test
