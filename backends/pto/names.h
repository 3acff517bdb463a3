// The names of a program's values, and a walk over its statements, for the builder and for the passes (passes.h). Tested by
// tests/golden/pto_program_test.cc.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

/// The names that are taken. They are never freed.
class Names {
 public:
  void add(const std::string& name) { taken_.insert(name); }
  /// `hint`, or the hint with the first number behind it that makes it a new name: a, a_2, a_3.
  std::string fresh(const std::string& hint) {
    std::string name = hint;
    if (taken_.insert(name).second) return name;
    // The search continues where the last one ended: a large expression uses one hint thousands of times.
    int& next = next_number_.try_emplace(hint, 2).first->second;
    do name = hint + "_" + std::to_string(next++);
    while (!taken_.insert(name).second);
    return name;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_number_;  ///< for each hint: the next number to try
};

/// A constant is named after its value: c16, cm1, c16_i32, bits1065353216_f32.
inline std::string constant_name(int64_t value) {
  return value < 0 ? "cm" + std::to_string(value).substr(1) : "c" + std::to_string(value);
}
inline std::string constant_name(int64_t value, const Element& element) {
  const std::string index = constant_name(value);
  return (is_float(element.dtype) ? "bits" + index.substr(1) : index) + "_" + print(element);
}

/// Calls `visit` for every statement, and for the statements of its bodies after it.
template <class Statements, class Visit>
void each(Statements& statements, const Visit& visit) {
  for (auto& s : statements) {
    visit(s);
    each(s.body, visit);
    each(s.otherwise, visit);
  }
}

}  // namespace strew::inline v0::pto
