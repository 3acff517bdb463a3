// Messages in fmt's form: "{} is {}; expected rank {}". Dtypes and other enumerators are written by their names, tensors, lists of
// dims and scalars as canonical text has them. Tested by tests/unit/compiler/op/message_test.cc.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/violated.h"
#include "compiler/op/dims.h"
#include "strew/text.h"

namespace strew::inline v0 {

/// How a message shows a value: what fmt takes.
inline std::string shown(const std::vector<int64_t>& dims) { return dims_text(dims); }
template <class T>
auto shown(const T& value) {
  if constexpr (requires { value.text(); })
    return value.text();
  else if constexpr (requires { name(value); })
    return name(value);
  else if constexpr (requires { print(value); })
    return print(value);
  else
    return value;
}
template <size_t N>
std::string_view shown(const char (&text)[N]) {
  return text;
}

template <class... Args>
using MessageText = std::type_identity_t<fmt::format_string<decltype(shown(std::declval<const Args&>()))...>>;

template <class... Args>
std::string message(MessageText<Args...> text, const Args&... args) {
  return fmt::format(text, shown(args)...);
}
/// violated() with such a message.
template <class... Args>
requires(sizeof...(Args) > 0) Status violated(std::string_view label, MessageText<Args...> text, const Args&... args) {
  return violated(label, message(text, args...));
}
/// invalid_argument() and unsupported() with such a message.
template <class... Args>
requires(sizeof...(Args) > 0) Status invalid_argument(MessageText<Args...> text, const Args&... args) {
  return invalid_argument(message(text, args...));
}
template <class... Args>
requires(sizeof...(Args) > 0) Status unsupported(MessageText<Args...> text, const Args&... args) {
  return unsupported(message(text, args...));
}
}  // namespace strew::inline v0
