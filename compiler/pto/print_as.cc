// See print_as.h. Writes the arguments, then the statements in order. Names are written as they are: the parser, or the
// planner, made legal ones. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#include "compiler/pto/print_as.h"

#include <charconv>
#include <unordered_map>

#include "base/number.h"
#include "base/partial_switch.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

std::string suffixes_text(const Statement& s) {
  std::string out = "." + std::string(s.attribute("coalesce"));
  for (const char* attribute : {"scatterOob", "gatherOob", "scatterAtomicOp"}) {
    const std::string value(s.attribute(attribute));
    const std::string_view written = attribute;
    if (value.empty() || value == "none" || value == "undefined") continue;
    out += (written == "scatterAtomicOp" ? ".atomic_" : ".") + value;
  }
  return out;
}

/// The number of a constant. Floats have a decimal point and no exponent, because the grammar has none.
std::string number_text(const Statement& s) {
  if (s.type.kind != TypeKind::scalar || !is_float(s.type.element.dtype)) return std::to_string(s.value);
  char digits[1100];
  const double value = decode(s.type.element.dtype, static_cast<uint64_t>(s.value));
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  std::string out(digits, error == std::errc() ? end : digits);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

class AsPrinter {
 public:
  std::string run(const Function& f) {
    std::string out;
    for (const Argument& a : f.arguments) {
      types_[a.name] = a.type;
      out += ".arg %" + a.name + " : " + text(a.type) + "\n";
    }
    for (const Statement& s : f.body) out += statement(s) + "\n";
    return out;
  }

 private:
  static std::string text(const Type& type) { return print(type, Spelling::as); }
  std::string type_of(const std::string& name) const { return text(types_.at(name)); }

  static std::string address(const std::string& memref, const std::vector<std::string>& indices) {
    std::string out = "%" + memref + "[";
    for (size_t i = 0; i < indices.size(); ++i) {
      const bool literal = indices[i][0] >= '0' && indices[i][0] <= '9';
      out += (i > 0 ? ", " : "") + std::string(literal ? "" : "%") + indices[i];
    }
    return out + "]";
  }

  /// Tile arithmetic, whose last operand is the result itself.
  std::string computes(const Statement& s) const {
    std::string operands, types, attributes;
    for (size_t g = 0; g + 1 < s.operands.size(); ++g) {
      operands += (g > 0 ? ", %" : "%") + s.operands[g][0];
      types += (g > 0 ? ", " : "") + type_of(s.operands[g][0]);
    }
    for (const Attribute& a : s.attributes) attributes += (attributes.empty() ? "" : ", ") + a.name + " = " + a.value;
    return "%" + s.result + " = " + std::string(name(s.opcode).substr(4)) + " " + operands +
           (attributes.empty() ? "" : " {" + attributes + "}") + " : (" + types + ") -> " + text(s.type);
  }

  STREW_PARTIAL_SWITCHES

  std::string statement(const Statement& s) {
    const auto& o = s.operands;
    if (!s.result.empty()) types_[s.result] = s.type;
    switch (s.opcode) {
      case Opcode::constant:
        return ".const %" + s.result + " = " + number_text(s) + " : " + text(s.type);
      case Opcode::load_tile:
        return "%" + s.result + " = tload " + address(o[0][0], o[1]) + " : (" + type_of(o[0][0]) + ", index, index) -> " +
               text(s.type);
      case Opcode::store_tile:
        return "tstore %" + o[0][0] + ", " + address(o[1][0], o[2]) + " : (" + type_of(o[0][0]) + ", " + type_of(o[1][0]) +
               ", index, index)";
      case Opcode::mscatter:
        return "mscatter" + suffixes_text(s) + " %" + o[2][0] + ", %" + o[0][0] + ", %" + o[1][0] + " : (" + type_of(o[2][0]) +
               ", " + type_of(o[0][0]) + ", " + type_of(o[1][0]) + ")";
      case Opcode::mgather:
        return "mgather" + suffixes_text(s) + " %" + o[2][0] + ", %" + o[0][0] + ", %" + o[1][0] + " : (" + type_of(o[2][0]) +
               ", " + type_of(o[0][0]) + ", " + type_of(o[1][0]) + ")";
      case Opcode::gather_tile:
        return "%" + s.result + " = mgather" + suffixes_text(s) + " %" + o[0][0] + ", %" + o[1][0] + " : (" + type_of(o[0][0]) +
               ", " + type_of(o[1][0]) + ") -> " + text(s.type);
      default:
        return computes(s);
    }
  }

  STREW_END_PARTIAL_SWITCHES

  std::unordered_map<std::string, Type> types_;
};

}  // namespace

std::string print_as(const Module& module) { return AsPrinter().run(module.functions[0]); }

}  // namespace strew::inline v0::pto
