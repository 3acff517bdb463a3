// print_as(): writes PTO-AS, for print(). Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

#include <string>

#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

std::string print_as(const Module& module);

}  // namespace strew::inline v0::pto
