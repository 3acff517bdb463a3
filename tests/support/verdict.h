// What verify() says of ops that tests write as text, whose text must also come back the same when it is printed and parsed again.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "strew/text.h"
#include "strew/verify.h"

namespace strew::test {

/// "ok", or the message of what does not parse or verify. `text`: of the op.
inline std::string verdict(const std::string& text, const VerifyOptions& options = {}) {
  const Expected<Op> op = parse_op(text);
  if (!op.ok()) return op.status().message();
  const std::string printed = print(*op);
  const Expected<Op> again = parse_op(printed);
  EXPECT_TRUE(again.ok()) << printed << ": " << again.status().message();
  if (again.ok()) {
    EXPECT_EQ(print(*again), printed);
  }
  const Status status = verify(*op, options);
  EXPECT_TRUE(status.ok() || status.code() == Code::invalid_argument);
  return status.ok() ? "ok" : status.message();
}

/// The same of a scatter or gather with these fields.
inline std::string scatter_verdict(const std::string& fields, const VerifyOptions& options = {}) {
  return verdict("strew1.scatter(" + fields + ")", options);
}
inline std::string gather_verdict(const std::string& fields, const VerifyOptions& options = {}) {
  return verdict("strew1.gather(" + fields + ")", options);
}

}  // namespace strew::test
