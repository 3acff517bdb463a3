// printable(): a text from a file for one line of a terminal or of a report. Tested by tests/error/cli_test.cc.
#pragma once

#include <string>
#include <string_view>

namespace strew::inline v0 {

/// The text with its control characters written as \n and \xNN.
inline std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u != 0x7F) {
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      out += {'\\', 'x', kHex[u >> 4], kHex[u & 15]};
    }
  }
  return out;
}

}  // namespace strew::inline v0
