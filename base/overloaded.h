// Overloaded: functions of different types of argument as one, for std::visit: Overloaded{[](int) { … }, [](const std::string&) { … }}. Tested by
// tests/unit/compiler/program/verify_program_test.cc.
#pragma once

namespace strew::inline v0 {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace strew::inline v0
