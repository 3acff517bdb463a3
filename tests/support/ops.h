// An op from its canonical text, for tests that write ops down.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "compiler/op/text.h"

namespace strew::test {

/// `text` must parse.
inline Op op_of(const std::string& text) {
  const auto op = parse_op(text);
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *op;
}

}  // namespace strew::test
