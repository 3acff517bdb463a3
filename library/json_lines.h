// JSON with line numbers: a value and the line on which it begins, so that messages about a manifest name the line. Comments as in C and
// C++ are allowed. Tested by tests/unit/library/manifest_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

struct JsonValue {
  enum class Kind : uint8_t { null, boolean, number, text, list, object };

  Kind kind = Kind::null;
  int line = 1;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<JsonValue> items;    ///< of a list; of an object, the values of its members, in the order of the file
  std::vector<std::string> names;  ///< of an object: those of its members

  const JsonValue* find(std::string_view name) const;
  /// "a text", "a list", …
  static const char* what(Kind kind);
};

/// Fails with "LINE: what is wrong", also if an object has a name twice.
Expected<JsonValue> parse_json(std::string_view text);
/// A text without control characters as JSON writes it.
std::string json_text(std::string_view text);

}  // namespace strew::inline v0
