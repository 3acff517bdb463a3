// Names of C and C++ in generated headers. Tested by tests/library.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace strew::inline v0 {

/// Is it an identifier of C?
inline bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Names that a generated header cannot use.
inline bool is_reserved(std::string_view name) {
  constexpr std::string_view kKeywords[] = {
      "auto",      "break",    "case",     "char",   "const",     "continue", "default", "do",     "double",   "else",
      "enum",      "extern",   "float",    "for",    "goto",      "if",       "inline",  "int",    "long",     "register",
      "restrict",  "return",   "short",    "signed", "sizeof",    "static",   "struct",  "switch", "typedef",  "union",
      "unsigned",  "void",     "volatile", "while",  "class",     "new",      "delete",  "this",   "template", "typename",
      "namespace", "operator", "private",  "public", "protected", "virtual",  "bool",    "true",   "false",    "try",
      "catch",     "throw",    "using",    "and",    "or",        "not",      "xor",     "main"};
  return std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords) || name.starts_with("strew_");
}

}  // namespace strew::inline v0
