// PTO-AS as text, for print().
#pragma once

#include <string>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

std::string print_as(const Module& module);

}  // namespace strew::inline v0::pto
