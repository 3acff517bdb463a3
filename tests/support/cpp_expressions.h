// Looks for arithmetic in the C++ that ptoas writes whose parentheses may be missing.
//
// ptoas 0.60 prints the operands of a parenthesised subexpression without parentheses of their own (backends/pto/guard.cc). What it
// meant cannot be read off the text, so this accepts only forms with one meaning, which are all that our programs need:
//   - a conditional whose condition compares two values, and whose branches are values: `a < b ? a : b`; and ptoas' division that
//     rounds up;
//   - sums of products with at most one / or % in each product; a difference of two values; one shift or one bitwise operator of two;
//   - a comparison of two values;
//   - two casts in front of an operator only directly inside of a cast that is not wider, where it does not matter what they belong to.
// A value is a name, a number, a call, something in parentheses (looked at by itself), or a cast of one.
// Tested by tests/unit/support/cpp_expressions_test.cc.
#pragma once

#include <string>
#include <vector>

namespace strew::test {

/// The expressions of `cpp` that have none of these forms, each with its line.
std::vector<std::string> ambiguous_expressions(const std::string& cpp);

}  // namespace strew::test
