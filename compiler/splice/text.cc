// Tested by tests/unit/compiler/splice/text_test.cc.
#include "compiler/splice/text.h"

#include <fmt/format.h>

#include "compiler/import/mlir_tokens.h"

namespace strew::inline v0 {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// Where the brackets end that are opened at `at`.
size_t end_of_brackets(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    if (const size_t behind = skip_quiet(text, at); behind != at) {
      at = behind;
      continue;
    }
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

}  // namespace

std::string mlir_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || code < 0x20 || code >= 0x7f)
      out += fmt::format("\\{:02X}", code);
    else
      out += c;
  }
  return out + '"';
}

std::string without_locations(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t behind = skip_quiet(text, at);
    if (behind != at) {
      out += text.substr(at, behind - at);
      at = behind;
    } else if (at > 0 && is_blank(text[at - 1]) && text.substr(at).starts_with("loc(")) {
      while (!out.empty() && is_blank(out.back())) out.pop_back();
      at = end_of_brackets(text, at);
    } else {
      out += text[at++];
    }
  }
  return out;
}

void append_renamed(std::string& out, std::string_view text, const TextIndex& index, size_t begin, size_t end,
                    const NewName& name) {
  each_token(index, begin, end, [&](const TextToken& token) {
    const std::string replacement = name(token);
    if (replacement.empty()) return;
    out += text.substr(begin, token.begin - begin);
    out += replacement;
    begin = token.end;
  });
  out += text.substr(begin, end - begin);
}

std::string name_in_text(std::string_view text, const TextIndex& index, int value) {
  const TextValue& v = index.values[value];
  if (v.definition == kNowhere) return {};
  std::string out(text.substr(v.definition, end_of_name(text, v.definition) - v.definition));
  return v.within < 0 ? out : fmt::format("{}#{}", out, v.within);
}

}  // namespace strew::inline v0
