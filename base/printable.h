// printable(): a text from a file for one line of a terminal or of a report; and bytes as digits. Tested by tests/error/cli_test.cc.
#pragma once

#include <string>
#include <string_view>

namespace strew::inline v0 {

/// Two digits for each byte.
inline std::string hex_digits(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    out += {kDigits[u >> 4], kDigits[u & 15]};
  }
  return out;
}

inline bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

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
      out += "\\x" + hex_digits({&c, 1});
    }
  }
  return out;
}

}  // namespace strew::inline v0
