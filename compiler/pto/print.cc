// See print.h. Statements are written by the text of their rows (Instruction::text). A tree has the types of values at their definitions only,
// so the printer keeps them to write them at the uses. Names are written as they are: the parser, or the planner, made legal ones. Tested by
// tests/unit/compiler/pto/pto_text_test.cc.
#include "compiler/pto/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "base/number.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/text_piece.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

/// A float in PTO IR. Infinities and NaNs are written as their bits.
std::string ir_float(DType dtype, uint64_t code) {
  const double value = decode(dtype, code);
  if (std::isfinite(value)) {
    if (std::abs(value) < 1e9 && value == std::nearbyint(value)) return fmt::format("{:.1f}", value);
    char text[64] = "";
    const auto [end, error] = dtype == DType::f32
                                  ? std::to_chars(text, text + 40, static_cast<float>(value), std::chars_format::scientific)
                                  : std::to_chars(text, text + 40, value, std::chars_format::scientific);
    std::string out(text, error == std::errc() ? end : text);
    if (out.find('.') == std::string::npos) out.insert(out.find('e'), ".0");  // MLIR's grammar requires it: 15.0e-1
    return out;
  }
  return fmt::format("0x{:0{}X}", code & (~uint64_t{0} >> (64 - bits(dtype))), bits(dtype) / 4);
}

/// A float in PTO-AS: with a decimal point and no exponent, because the grammar has none.
std::string as_float(DType dtype, uint64_t code) {
  char digits[1100];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, decode(dtype, code), std::chars_format::fixed);
  std::string out(digits, error == std::errc() ? end : digits);
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

/// The modes of an mscatter or mgather in PTO-AS.
std::string suffixes_text(const Statement& s) {
  std::string out;
  int rank = -1;  // the table has older spellings behind
  for (const Suffix& suffix : suffixes_of(s.opcode)) {
    if (suffix.rank == rank || s.attribute(suffix.attribute) != suffix.value) continue;
    out.append(".").append(suffix.text);
    rank = suffix.rank;
  }
  return out;
}

class Printer {
 public:
  Printer(const Module& module, TextForm form) : module_(module), form_(form), spelling_(module.spelling) {}

  std::string run() {
    if (spelling_ == Spelling::as) {
      for (const Argument& a : module_.functions[0].arguments) out_ += ".arg " + argument(a, " : ") + "\n";
      body(module_.functions[0].body, 0);
      return std::move(out_);
    }
    std::string attributes;
    const auto add = [&](const std::string& text) { attributes += (attributes.empty() ? "" : ", ") + text; };
    if (!module_.backend.empty()) add("pto.backend = \"" + module_.backend + "\"");
    if (!module_.kernel_kind.empty()) add(kernel_kind(module_.kernel_kind));
    if (module_.chip != Chip::any) add("pto.target_arch = \"" + std::string(name(module_.chip)) + "\"");
    out_ = "module" + (attributes.empty() ? "" : " attributes {" + attributes + "}") + " {\n";
    for (const Function& f : module_.functions) function(f);
    return std::move(out_) + "}\n";
  }

 private:
  static std::string kernel_kind(const std::string& kind) { return "pto.kernel_kind = #pto.kernel_kind<" + kind + ">"; }

  std::string argument(const Argument& a, const char* colon) {
    types_[a.name] = a.type;
    return "%" + a.name + colon + text(a.type);
  }

  void function(const Function& f) {
    types_.clear();
    out_ += "  func.func @" + f.name + "(";
    for (const Argument& a : f.arguments) out_ += (&a == f.arguments.data() ? "" : ", ") + argument(a, ": ");
    out_ += ")";
    std::string attributes = f.entry ? "pto.entry" : "";
    if (!f.kernel_kind.empty()) attributes += (attributes.empty() ? "" : ", ") + kernel_kind(f.kernel_kind);
    if (!attributes.empty()) out_ += "\n      attributes {" + attributes + "}";
    out_ += " {\n";
    body(f.body, 4);
    out_ += "    return\n  }\n";
  }

  void body(const std::vector<Statement>& statements, size_t indent) {
    for (const Statement& s : statements) {
      if (!s.note.text.empty() && spelling_ == Spelling::ir)
        out_.append(indent, ' ').append("// ").append(s.note.text).append("\n");
      out_.append(indent, ' ');
      statement(s, indent);
      out_ += "\n";
    }
  }

  void region(const std::vector<Statement>& statements, size_t indent) {
    out_ += "{\n";
    body(statements, indent + 2);
    out_.append(indent, ' ').append("}");
  }

  void statement(const Statement& s, size_t indent) {
    const Instruction& row = info(s.opcode);
    const bool is_as = spelling_ == Spelling::as, is_pto = row.name.starts_with("pto.");
    const std::string_view written = is_as ? as_text(s.opcode) : row.text;
    if (!s.result.empty()) types_[s.result] = s.type;
    if (!s.result.empty() && written.find('%') == std::string_view::npos) out_ += "%" + s.result + " = ";
    if (form_ == TextForm::generic && !is_as && is_pto) return generic(s, row, indent);
    if (!is_as)
      out_ += row.name;
    else
      out_ += s.opcode == Opcode::constant ? ".const" : row.name.substr(is_pto ? 4 : 0);
    if (is_as && !s.attribute("coalesce").empty()) out_ += suffixes_text(s);
    by_text(written, s, indent);
  }

  std::string text(const Type& type) const { return print(type, spelling_); }

  std::string attributes_text(const Statement& s) const {
    std::string out;
    for (const AttributeRule& rule : info(s.opcode).attributes) {
      const std::string_view value = s.attribute(rule.name);
      if (value.empty()) continue;
      const char* const format = spelling_ == Spelling::as ? "{0}" : rule.dotted ? "#pto.{1}<{0}>" : "#pto<{1} {0}>";
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", rule.name, fmt::format(fmt::runtime(format), value, rule.family));
    }
    return out;
  }

  /// The operands of `groups`, or their types.
  std::string listed(const Statement& s, std::string_view groups, bool types) const {
    std::string out;
    for (const char group : groups) {
      const auto g = static_cast<size_t>(group - '0');
      if (g >= s.operands.size()) continue;  // * + ?
      for (const std::string& operand : s.operands[g]) {
        const bool is_literal = spelling_ == Spelling::as && operand[0] >= '0' && operand[0] <= '9';
        out += (out.empty() ? "" : ", ") + (types ? text(types_.at(operand)) : (is_literal ? "" : "%") + operand);
      }
    }
    return out;
  }

  std::string constant_text(const Statement& s) const {
    const DType dtype = s.type.element.dtype;
    const bool is_number = s.type.kind != TypeKind::scalar || !is_float(dtype);
    const auto code = static_cast<uint64_t>(s.value);
    const std::string value = is_number                   ? std::to_string(s.value)
                              : spelling_ == Spelling::as ? as_float(dtype, code)
                                                          : ir_float(dtype, code);
    return value + " : " + text(s.type);
  }

  /// Is what may be left out there? An index is what the variable of a loop is if nothing else is said.
  static bool is_present(std::string_view part, const Statement& s) {
    while (!part.empty()) {
      const Piece piece = next_piece(part);
      if (piece.kind == PieceKind::region) return !s.otherwise.empty();
      if (piece.kind == PieceKind::types && piece.text == "r") return s.type.kind != TypeKind::index;
      if (piece.kind == PieceKind::types || piece.kind == PieceKind::operands) return !s.operands[piece.text[0] - '0'].empty();
    }
    return false;
  }

  void by_text(std::string_view written, const Statement& s, size_t indent) {
    while (!written.empty()) {
      const Piece piece = next_piece(written);
      switch (piece.kind) {
        case PieceKind::blank:
        case PieceKind::token:
          out_ += piece.text;
          break;
        case PieceKind::operands:
          out_ += listed(s, piece.text, /*types=*/false);
          break;
        case PieceKind::types:
          out_ += piece.text == "r" ? text(s.type) : listed(s, piece.text, /*types=*/true);
          break;
        case PieceKind::attribute:
          out_ += s.attributes[piece.text[0] - '0'].value;
          break;
        case PieceKind::attributes:
          if (!s.attributes.empty()) out_ += " {" + attributes_text(s) + "}";
          break;
        case PieceKind::result:
          out_ += "%" + s.result;
          break;
        case PieceKind::constant:
          out_ += constant_text(s);
          break;
        case PieceKind::region:
          region(piece.text == "0" ? s.body : s.otherwise, indent);
          break;
        case PieceKind::optional:
          if (is_present(piece.text, s)) by_text(piece.text, s, indent);
          break;
      }
    }
  }

  void generic(const Statement& s, const Instruction& row, size_t indent) {
    constexpr std::string_view kGroups = "0123456789";
    std::string attributes = attributes_text(s);
    std::vector<size_t> sizes(row.segments.size());
    for (size_t i = 0; i < std::min(sizes.size(), s.operands.size()); ++i) sizes[i] = s.operands[i].size();
    if (!sizes.empty())
      attributes += fmt::format("{}operandSegmentSizes = array<i32: {}>", attributes.empty() ? "" : ", ", fmt::join(sizes, ", "));
    out_ += fmt::format("\"{}\"({})", row.name, listed(s, kGroups, /*types=*/false));
    if (!attributes.empty()) out_ += " <{" + attributes + "}>";
    if (row.form == Form::section) {
      out_ += " (";
      region(s.body, indent);
      out_ += ")";
    }
    out_ += " : (" + listed(s, kGroups, /*types=*/true) + ") -> " + text(s.result.empty() ? Type{} : s.type);
  }

  const Module& module_;
  TextForm form_;
  Spelling spelling_;
  std::string out_;
  std::unordered_map<std::string, Type> types_;
};

}  // namespace

std::string print(const Module& module, TextForm form) { return Printer(module, form).run(); }

}  // namespace strew::inline v0::pto
