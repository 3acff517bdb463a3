// See print.h. Writes PTO IR in all forms. A tree has the types of values at their definitions only, so the printer
// keeps them to write them at the uses. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/number.h"
#include "base/partial_switch.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/print.h"
#include "compiler/pto/print_as.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "%" : ", %") + name;
  return out;
}

/// The number of a constant. Infinities and NaNs are written as their bits.
std::string constant_text(const Statement& s) {
  const DType dtype = s.type.element.dtype;
  if (s.type.kind != TypeKind::scalar || !is_float(dtype)) return std::to_string(s.value);
  const auto code = static_cast<uint64_t>(s.value);
  const double value = decode(dtype, code);
  char text[64] = "";
  if (std::isfinite(value)) {
    const auto [end, error] = dtype == DType::f32
                                  ? std::to_chars(text, text + 40, static_cast<float>(value), std::chars_format::scientific)
                                  : std::to_chars(text, text + 40, value, std::chars_format::scientific);
    std::string out(text, error == std::errc() ? end : text);
    // MLIR's grammar requires a decimal point: 15e-1 is written 15.0e-1.
    if (std::abs(value) < 1e9 && value == std::nearbyint(value)) {
      out = std::to_string(static_cast<int64_t>(value)) + ".0";
      if (std::signbit(value) && value == 0) out = "-0.0";
    } else if (out.find('.') == std::string::npos) {
      out.insert(out.find('e'), ".0");
    }
    return out;
  }
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "0x";
  for (int shift = bits(dtype) - 4; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 15];
  return out;
}

std::string segments_text(const Statement& s, const Instruction& row) {
  std::string out = "operandSegmentSizes = array<i32: ";
  for (size_t i = 0; i < row.segments.size(); ++i) {
    const size_t size = i < s.operands.size() ? s.operands[i].size() : 0;
    out += (i > 0 ? ", " : "") + std::to_string(size);
  }
  return out + ">";
}

class Printer {
 public:
  explicit Printer(TextForm form) : form_(form) {}

  std::string run(const Module& module) {
    std::string attributes;
    const auto add = [&](const std::string& text) { attributes += (attributes.empty() ? "" : ", ") + text; };
    if (!module.backend.empty()) add("pto.backend = \"" + module.backend + "\"");
    if (!module.kernel_kind.empty()) add("pto.kernel_kind = #pto.kernel_kind<" + module.kernel_kind + ">");
    if (module.chip != Chip::any) add("pto.target_arch = \"" + std::string(name(module.chip)) + "\"");
    if (form_ == TextForm::whole) {
      out_ = "\"builtin.module\"() ({\n";
      for (const Function& f : module.functions) generic_function(f);
      return std::move(out_) + "})" + (attributes.empty() ? "" : " {" + attributes + "}") + " : () -> ()\n";
    }
    out_ = "module" + (attributes.empty() ? "" : " attributes {" + attributes + "}") + " {\n";
    for (const Function& f : module.functions) function(f);
    return std::move(out_) + "}\n";
  }

 private:
  void function(const Function& f) {
    types_.clear();
    out_ += "  func.func @" + f.name + "(";
    for (size_t i = 0; i < f.arguments.size(); ++i) {
      const Argument& a = f.arguments[i];
      out_ += (i > 0 ? ", %" : "%") + a.name + ": " + print(a.type);
      types_[a.name] = a.type;
    }
    out_ += ")";
    const std::string attributes = function_attributes(f);
    if (!attributes.empty()) out_ += "\n      attributes {" + attributes + "}";
    out_ += " {\n";
    body(f.body, 4);
    out_ += "    return\n  }\n";
  }

  static std::string function_attributes(const Function& f) {
    std::string out = f.entry ? "pto.entry" : "";
    if (!f.kernel_kind.empty()) out += (out.empty() ? "" : ", ") + ("pto.kernel_kind = #pto.kernel_kind<" + f.kernel_kind + ">");
    return out;
  }

  void generic_function(const Function& f) {
    types_.clear();
    std::string types, arguments;
    for (const Argument& a : f.arguments) {
      types += (types.empty() ? "" : ", ") + print(a.type);
      arguments += (arguments.empty() ? "%" : ", %") + a.name + ": " + print(a.type);
      types_[a.name] = a.type;
    }
    out_ += "  \"func.func\"() <{function_type = (" + types + ") -> (), sym_name = \"" + f.name + "\"}> ({\n";
    if (!arguments.empty()) out_ += "  ^bb0(" + arguments + "):\n";
    body(f.body, 4);
    const std::string attributes = function_attributes(f);
    out_ += "    \"func.return\"() : () -> ()\n  })" + (attributes.empty() ? "" : " {" + attributes + "}") + " : () -> ()\n";
  }

  void body(const std::vector<Statement>& statements, size_t indent) {
    for (const Statement& s : statements) {
      if (!s.note.text.empty()) out_.append(indent, ' ').append("// ").append(s.note.text).append("\n");
      out_.append(indent, ' ');
      statement(s, indent);
      out_ += "\n";
    }
  }

  void nested(const std::vector<Statement>& statements, size_t indent) {
    out_ += "{\n";
    body(statements, indent + 2);
    out_.append(indent, ' ');
    out_ += "}";
  }

  void statement(const Statement& s, size_t indent) {
    const Instruction& row = info(s.opcode);
    if (!s.result.empty()) types_[s.result] = s.type;
    if (form_ == TextForm::whole) {
      if (row.form == Form::loop || row.form == Form::branch) return generic_regions(s, row, indent);
      if (!s.result.empty()) out_ += "%" + s.result + " = ";
      return generic(s, row, indent);
    }
    if (row.form == Form::loop) {
      out_ +=
          "scf.for %" + s.result + " = %" + s.operands[0][0] + " to %" + s.operands[1][0] + " step %" + s.operands[2][0] + " ";
      if (s.type.kind != TypeKind::index) out_ += ": " + print(s.type) + " ";
      return nested(s.body, indent);
    }
    if (row.form == Form::branch) {
      out_ += "scf.if %" + s.operands[0][0] + " ";
      nested(s.body, indent);
      if (s.otherwise.empty()) return;
      out_ += " else ";
      return nested(s.otherwise, indent);
    }
    if (!s.result.empty()) out_ += "%" + s.result + " = ";
    if (form_ == TextForm::generic && row.name.substr(0, 4) == "pto.") return generic(s, row, indent);
    out_ += row.name;
    pretty(s, row, indent);
  }

  std::string attributes_text(const Statement& s, const Instruction& row) const {
    std::string out;
    for (const Attribute& a : s.attributes) {
      for (const AttributeRule& rule : row.attributes) {
        if (rule.name != a.name) continue;
        out += (out.empty() ? "" : ", ") + a.name + " = #pto" + (rule.dotted ? "." : "<") + std::string(rule.family) +
               (rule.dotted ? "<" : " ") + a.value + ">";
      }
    }
    return out;
  }

  static std::string element_text(const Statement& s) { return "%" + s.operands[0][0] + "[%" + s.operands[1][0] + "]"; }

  std::string type_list(const std::vector<std::vector<std::string>>& groups, size_t first, size_t last) const {
    std::string out;
    for (size_t g = first; g < last; ++g)
      for (const std::string& operand : groups[g]) out += (out.empty() ? "" : ", ") + print(types_.at(operand));
    return out;
  }

  std::string operand_list(const std::vector<std::vector<std::string>>& groups, size_t first, size_t last) const {
    std::string out;
    for (size_t g = first; g < last; ++g)
      for (const std::string& operand : groups[g]) out += (out.empty() ? "%" : ", %") + operand;
    return out;
  }

  /// scf.for and scf.if in generic form.
  void generic_regions(const Statement& s, const Instruction& row, size_t indent) {
    const auto region = [&](const std::vector<Statement>& statements) {
      body(statements, indent + 2);
      out_.append(indent + 2, ' ').append("\"scf.yield\"() : () -> ()\n").append(indent, ' ').append("}");
    };
    const std::string types = type_list(s.operands, 0, s.operands.size());
    out_ += "\"" + std::string(row.name) + "\"(" + operand_list(s.operands, 0, s.operands.size()) + ") ({\n";
    if (row.form == Form::loop) out_.append(indent, ' ').append("^bb0(%" + s.result + ": " + print(s.type) + "):\n");
    region(s.body);
    if (row.form == Form::branch) {
      out_ += ", {\n";
      if (s.otherwise.empty())
        out_.append(indent, ' ').append("}");
      else
        region(s.otherwise);
    }
    out_ += ") : (" + types + ") -> ()";
  }

  /// The attributes of an arith statement in generic form.
  static std::string arith_text(const Statement& s, const Instruction& row) {
    if (row.form == Form::constant) return "value = " + constant_text(s) + " : " + print(s.type);
    if (row.form != Form::compare) return "";
    const std::span<const std::string_view> values = row.attributes[0].values;
    const auto at = std::find(values.begin(), values.end(), s.attributes[0].value) - values.begin();
    return "predicate = " + std::to_string(at) + " : i64";
  }

  void generic(const Statement& s, const Instruction& row, size_t indent) {
    std::string attributes = row.name.starts_with("arith.") ? arith_text(s, row) : attributes_text(s, row);
    if (!row.segments.empty()) attributes += (attributes.empty() ? "" : ", ") + segments_text(s, row);
    out_ += "\"" + std::string(row.name) + "\"(" + operand_list(s.operands, 0, s.operands.size()) + ")";
    if (!attributes.empty()) out_ += " <{" + attributes + "}>";
    if (row.form == Form::section) {
      out_ += " (";
      nested(s.body, indent);
      out_ += ")";
    }
    out_ += " : (" + type_list(s.operands, 0, s.operands.size()) + ") -> " + print(s.result.empty() ? Type{} : s.type);
  }

  STREW_PARTIAL_SWITCHES

  void pretty(const Statement& s, const Instruction& row, size_t indent) {
    const std::string attributes = attributes_text(s, row);
    const std::string braced = attributes.empty() ? "" : " {" + attributes + "}";
    switch (row.form) {
      case Form::constant:
        out_ += " " + constant_text(s) + " : " + print(s.type);
        return;
      case Form::cast:
        out_ += " %" + s.operands[0][0] + " : " + print(types_.at(s.operands[0][0])) + " to " + print(s.type);
        return;
      case Form::binary:
        out_ += " %" + s.operands[0][0] + ", %" + s.operands[1][0] + " : " + print(s.type);
        return;
      case Form::compare:
        out_ += " " + s.attributes[0].value + ", %" + s.operands[0][0] + ", %" + s.operands[1][0] + " : " +
                print(types_.at(s.operands[0][0]));
        return;
      case Form::select:
        out_ += " " + operand_list(s.operands, 0, 3) + " : " + print(s.type);
        return;
      case Form::get:
        out_ += " ins(" + operand_list(s.operands, 0, 2) + " : " + type_list(s.operands, 0, 2) + ") outs : " + print(s.type);
        return;
      case Form::set:
        out_ += " ins(" + operand_list(s.operands, 1, 3) + " : " + type_list(s.operands, 1, 3) + ") outs(" +
                operand_list(s.operands, 0, 1) + " : " + type_list(s.operands, 0, 1) + ")";
        return;
      case Form::load:
        out_ += " " + element_text(s) + " : " + type_list(s.operands, 0, 1) + " -> " + print(s.type);
        return;
      case Form::store:
        out_ += " " + operand_list(s.operands, 2, 3) + ", " + element_text(s) + " : " + type_list(s.operands, 0, 1) + ", " +
                type_list(s.operands, 2, 3);
        return;
      case Form::view:
        out_ += " %" + s.operands[0][0] + ", shape = [" + joined(s.operands[1]) + "], strides = [" + joined(s.operands[2]) + "]" +
                braced + " : " + print(s.type);
        return;
      case Form::partition:
        out_ += " %" + s.operands[0][0] + ", offsets = [" + joined(s.operands[1]) + "], sizes = [" + joined(s.operands[2]) +
                "] : " + print(types_.at(s.operands[0][0])) + " -> " + print(s.type);
        return;
      case Form::alloc: {
        constexpr const char* kGroups[] = {" addr = ", " valid_row = ", " valid_col = "};
        for (size_t g = 0; g < s.operands.size(); ++g)
          if (!s.operands[g].empty()) out_ += kGroups[g] + joined(s.operands[g]);
        out_ += " : " + print(s.type);
        return;
      }
      case Form::moves:
      case Form::computes: {
        const auto ins = static_cast<size_t>(row.ins);
        const bool inside = row.form == Form::computes;
        if (s.opcode == Opcode::gather_l1_elem) {
          out_ += " ins(" + operand_list(s.operands, 0, 2) + ", " + operand_list(s.operands, 3, 4) + " : " +
                  type_list(s.operands, 0, 2) + ", " + type_list(s.operands, 3, 4) + ") outs(" + operand_list(s.operands, 2, 3) +
                  " : " + type_list(s.operands, 2, 3) + ")" + braced;
          return;
        }
        out_ += " ins(" + operand_list(s.operands, 0, ins) + (inside ? braced : "") + " : " + type_list(s.operands, 0, ins) +
                ") outs(" + operand_list(s.operands, ins, s.operands.size()) + " : " +
                type_list(s.operands, ins, s.operands.size()) + ")" + (inside ? "" : braced);
        return;
      }
      case Form::flags:
        out_ += "[<" + s.attributes[0].value + ">, <" + s.attributes[1].value + ">, <" + s.attributes[2].value + ">]";
        return;
      case Form::barrier:
        out_ += " <" + s.attributes[0].value + ">";
        return;
      case Form::section:
        out_ += " ";
        return nested(s.body, indent);
      default:
        return;
    }
  }

  STREW_END_PARTIAL_SWITCHES

  TextForm form_;
  std::string out_;
  std::unordered_map<std::string, Type> types_;
};

}  // namespace

std::string print(const Module& module, TextForm form) {
  return module.spelling == Spelling::as ? print_as(module) : Printer(form).run(module);
}

}  // namespace strew::inline v0::pto
