// See pto_whole.h. print() writes pto statements in generic form; this rewrites the other lines of its text, in which all types stand that the
// generic form needs.
#include "tests/support/pto_whole.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "compiler/pto/instructions.h"
#include "compiler/pto/print.h"

namespace strew::test {
namespace {

/// What stands between `from` and `to`, or to the end if there is no `to`.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return "";
  const size_t begin = at + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

/// `%r = arith.NAME ..` in generic form.
std::string arith(const std::string& line) {
  const std::string result = line.substr(0, line.find(' ')), name = "arith." + between(line, "= arith.", " ");
  std::string rest = between(line, name + " ", "\n");
  if (name == "arith.constant")
    return result + " = \"" + name + "\"() <{value = " + rest + "}> : () -> " + between(rest, " : ", "\n");
  std::string properties;
  if (name == "arith.cmpi") {
    const auto predicates = pto::info(pto::Opcode::cmpi).attributes[0].values;
    const auto at = std::find(predicates.begin(), predicates.end(), rest.substr(0, rest.find(',')));
    properties = " <{predicate = " + std::to_string(at - predicates.begin()) + " : i64}>";
    rest.erase(0, rest.find(' ') + 1);
  }
  const std::string operands = rest.substr(0, rest.find(" : ")), types = between(rest, " : ", "\n");
  const std::string from = types.substr(0, types.find(" to "));
  const std::string to = name == "arith.cmpi" ? "i1" : from == types ? types : between(types, " to ", "\n");
  std::string all;
  for (const char c : "," + operands)
    if (c == ',') all += all.empty() ? (name == "arith.select" ? "i1" : from) : ", " + from;
  return result + " = \"" + name + "\"(" + operands + ")" + properties + " : (" + all + ") -> " + to;
}

class Rewriter {
 public:
  std::string run(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const size_t begin = line.find_first_not_of(' ');
      rewrite(line.substr(begin), std::string(begin, ' '));
    }
    return out_;
  }

 private:
  /// Begins a region, which ends with `end`.
  void open(const std::string& line, const std::string& end) {
    out_ += line + "\n";
    ends_.push_back(end);
  }

  void rewrite(const std::string& line, const std::string& indent) {
    const std::string yield = "  " + indent + "\"scf.yield\"() : () -> ()\n" + indent;
    if (line.starts_with("//")) {
      out_ += indent + line + "\n";
    } else if (line.starts_with("module")) {
      const std::string attributes = between(line, "attributes ", " {");
      open("\"builtin.module\"() ({", "})" + (attributes.empty() ? "" : " " + attributes) + " : () -> ()");
    } else if (line.starts_with("func.func")) {
      header_ = line;
      if (line.ends_with("{")) function(between(line, ") ", "{"));
    } else if (line.starts_with("attributes {")) {
      function(between(line, "attributes ", " {"));
    } else if (line == "return") {
      out_ += indent + "\"func.return\"() : () -> ()\n";
    } else if (line.starts_with("scf.for")) {
      const bool has_type = line.find(" : ") != std::string::npos;
      const std::string type = has_type ? between(line, " : ", " {") : "index";
      open(indent + "\"scf.for\"(" + between(line, " = ", " to") + ", " + between(line, "to ", " step") + ", " +
               between(line, "step ", " ") + ") ({\n" + indent + "^bb0(" + between(line, "for ", " =") + ": " + type + "):",
           yield + "}) : (" + type + ", " + type + ", " + type + ") -> ()");
    } else if (line.starts_with("scf.if")) {
      open(indent + "\"scf.if\"(" + between(line, "if ", " ") + ") ({", yield + "}, {\n" + indent + "}) : (i1) -> ()");
    } else if (line == "} else {") {
      out_ += yield + "}, {\n";
      ends_.back() = yield + "}) : (i1) -> ()";
    } else if (line.ends_with("({")) {  // a section
      open(indent + line, "");
    } else if (line.starts_with("}")) {
      const std::string end = ends_.back();
      ends_.pop_back();
      out_ += end.empty() ? indent + line : end.starts_with("  ") ? end : indent + end;
      out_ += "\n";
    } else {
      out_ += indent + (line.find(" = arith.") == std::string::npos ? line : arith(line)) + "\n";
    }
  }

  void function(const std::string& attributes) {
    const std::string arguments = between(header_, "(", ")");
    std::string types;
    for (size_t at = 0; (at = arguments.find(": ", at)) != std::string::npos; ++at)
      types += (types.empty() ? "" : ", ") + arguments.substr(at + 2, arguments.find(", %", at) - at - 2);
    out_ += "  \"func.func\"() <{function_type = (" + types + ") -> (), sym_name = \"" + between(header_, "@", "(") + "\"}> ({\n";
    if (!arguments.empty()) out_ += "  ^bb0(" + arguments + "):\n";
    ends_.push_back("})" + (attributes.empty() ? "" : " " + attributes) + " : () -> ()");
  }

  std::string out_, header_;
  std::vector<std::string> ends_;  ///< of the regions that are open
};

}  // namespace

std::vector<std::string> every_text(const pto::Module& module) {
  return {pto::print(module), pto::print(module, pto::TextForm::generic), whole_text(module)};
}

std::string whole_text(const pto::Module& module) { return Rewriter().run(pto::print(module, pto::TextForm::generic)); }

}  // namespace strew::test
