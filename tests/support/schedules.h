// What a forced schedule is refused with: the tests of the strategies ask it the same way.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew::test {

/// The message of asking for `text`'s kernel with `schedule`; empty where it builds.
inline std::string schedule_message(const std::string& text, const std::string& schedule) {
  const auto op = parse_op(text);
  EXPECT_TRUE(op.ok()) << op.status().message();
  if (!op.ok()) return {};
  KernelOptions options;
  test::set_schedule(options, schedule);
  return Runtime().get(*op, options).status().message();
}

}  // namespace strew::test
