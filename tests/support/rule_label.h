// rule_label: which rule a message names, for tests that want the rule and not the words of the message. Messages end with the label in
// brackets (base/violated.h).
#pragma once

#include <string>

namespace strew::test {

/// "scatter_c4" of "updates[0] is f32[5]; expected ... [scatter_c4]"; empty if the message does not end with a label.
inline std::string rule_label(const std::string& message) {
  const size_t begin = message.rfind(" [");
  if (begin == std::string::npos || message.back() != ']') return "";
  return message.substr(begin + 2, message.size() - begin - 3);
}

}  // namespace strew::test
