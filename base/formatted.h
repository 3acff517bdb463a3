// Failures whose messages are formatted: invalid_argument("{} operands, expected {}", count, 2) is
// invalid_argument(fmt::format("{} operands, expected {}", count, 2)). A file that includes this one may use fmt::format, too.
// Tested by tests/unit/base/status_test.cc.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/violated.h"
#include "strew/status.h"

namespace strew::inline v0 {

template <class First, class... Args>
Status invalid_argument(fmt::format_string<First, Args...> message, First&& first, Args&&... args) {
  return invalid_argument(fmt::format(message, std::forward<First>(first), std::forward<Args>(args)...));
}
template <class First, class... Args>
Status unsupported(fmt::format_string<First, Args...> message, First&& first, Args&&... args) {
  return unsupported(fmt::format(message, std::forward<First>(first), std::forward<Args>(args)...));
}

template <class First, class... Args>
Status violated(std::string_view label, fmt::format_string<First, Args...> message, First&& first, Args&&... args) {
  return violated(label, fmt::format(message, std::forward<First>(first), std::forward<Args>(args)...));
}

}  // namespace strew::inline v0
