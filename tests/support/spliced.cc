// See spliced.h. Used by tests/unit/compiler/splice.
#include "tests/support/spliced.h"

namespace strew::test {

std::string unquoted(const std::string& text, size_t begin) {
  std::string out;
  for (size_t at = begin + 1; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    out += static_cast<char>(std::stoi(text.substr(at + 1, 2), nullptr, 16));
    at += 2;
  }
  return out;
}

std::string with_functions(const std::string& spliced) {
  const std::string call = "stablehlo.custom_call @strew(", program = "program = ";
  std::string out, functions;
  size_t from = 0;
  for (int number = 0;; ++number) {
    const size_t at = spliced.find(call, from);
    if (at == std::string::npos) break;
    const std::string name = "@strew_part" + std::to_string(number);
    const size_t begin = at + call.size(), operands_end = spliced.find(')', begin), text = spliced.find(program, begin);
    const size_t types = spliced.find("} : (", text) + 1;
    out += spliced.substr(from, at - from) + "func.call " + name + spliced.substr(begin - 1, operands_end + 2 - begin);
    from = types;
    std::string function = unquoted(spliced, text + program.size());
    const size_t main = function.find("func.func public @main"), end = function.rfind('}');
    function = function.substr(main, end - main);
    functions += "  func.func private " + name + function.substr(std::string("func.func public @main").size());
  }
  out += spliced.substr(from);
  return out.insert(out.rfind("\n}") + 1, functions);
}

}  // namespace strew::test
