// print_cpp(): writes programs as C++ over the pto-isa headers, with flags and addresses, for the vendor's compiler.
//
// Calls are written from the templates of the instruction table (Instruction::cpp): {0} is an operand, {coalesce} the
// C++ spelling of an attribute, {tile 1} and {number 0} are the types of operands. An attribute that the statement does
// not have is left out together with its comma, as scatterConflict is on a3.
//
// A view produces no C++; each partition of it becomes a GlobalTensor whose type has the extents that are known. The
// type `index` is int64_t. Tested by tests/unit/backends/pto/pto_cpp_test.cc.
#include <algorithm>
#include <unordered_map>

#include "backends/pto/text.h"
#include "base/partial_switch.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {
namespace {

struct ElementName {
  DType dtype;
  std::string_view name;
};
constexpr ElementName kElementNames[] = {
    {DType::boolean, "bool"},
    {DType::i8, "int8_t"},
    {DType::u8, "uint8_t"},
    {DType::i16, "int16_t"},
    {DType::u16, "uint16_t"},
    {DType::i32, "int32_t"},
    {DType::u32, "uint32_t"},
    {DType::i64, "int64_t"},
    {DType::u64, "uint64_t"},
    {DType::f16, "half"},
    {DType::bf16, "bfloat16_t"},
    {DType::f32, "float"},
    {DType::f8e4m3fn, "float8_e4m3_t"},
    {DType::f8e5m2, "float8_e5m2_t"},
    {DType::hif8, "hifloat8_t"},
};
/// The name in the vendor's headers; verify() admits no other dtypes.
std::string element_name(const Element& element) {
  for (const ElementName& each : kElementNames)
    if (each.dtype == element.dtype) return std::string(each.name);
  return "void";
}

/// Is the program a mixed kernel, for cube and vector cores? On a5 a cube core has the vector core beside it store the
/// tiles of L1.
bool is_mixed(const TileProgram& program) {
  return program.chip == Chip::a5 && program.module.functions[0].kernel_kind == "cube";
}

constexpr std::string_view kMixed = R"(
// A mixed kernel is compiled for cube cores and for vector cores: what one does is nothing to the other.
#if defined(__DAV_CUBE__)
#define STREW_CUBE(...) __VA_ARGS__;
#else
#define STREW_CUBE(...)
#endif
#if defined(__DAV_VEC__)
#define STREW_VECTOR(...) \
  if (get_subblockid() == 0) __VA_ARGS__;
#else
#define STREW_VECTOR(...)
#endif

/// A tile of L1 into the buffer of the first vector core beside.
template <typename To, typename From>
__tf__ AICORE void strew_copy_l1(typename To::TileDType __out__ to, typename From::TileDType __in__ from) {
  copy_cbuf_to_ubuf((__ubuf__ void*)__cce_get_tile_ptr(to), (__cbuf__ void*)__cce_get_tile_ptr(from), 0, 1,
                    To::Rows * To::Cols * sizeof(typename To::DType) / 32, 0, 0);
}
template <typename To, typename From>
AICORE void strew_from_l1(To& to, From& from) {
  strew_copy_l1<To, From>(to.data(), from.data());
}
)";

std::string extent(int64_t value) { return value == kDynamic ? "-1" : std::to_string(value); }

class CppPrinter {
 public:
  std::string run(const TileProgram& program) {
    const Function& f = program.module.functions[0];
    mixed_ = is_mixed(program);
    out_ = "\nextern \"C\" __global__ AICORE void " + f.name + "(";
    for (size_t i = 0; i < f.arguments.size(); ++i) {
      const Argument& a = f.arguments[i];
      types_[a.name] = a.type;
      const bool pointer = a.type.kind == TypeKind::ptr;
      out_ += std::string(i > 0 ? ", " : "") + (pointer ? "__gm__ " : "") + element_name(a.type.element) +
              (pointer ? "* " : " ") + a.name;
    }
    out_ += ") {\n";
    body(f.body, 2);
    return std::move(out_) + "  pipe_barrier(PIPE_ALL);\n}\n";
  }

 private:
  void body(const std::vector<Statement>& statements, size_t indent) {
    for (const Statement& s : statements) {
      if (!s.result.empty()) types_[s.result] = s.type;
      if (!s.note.text.empty()) line(indent, "// " + s.note.text);
      statement(s, indent);
    }
  }
  void line(size_t indent, const std::string& text) { out_.append(indent, ' ').append(text).append("\n"); }
  static const std::string& operand(const Statement& s, size_t group) { return s.operands[group][0]; }

  void nested(const std::string& head, const std::vector<Statement>& statements, size_t indent, const char* tail = "}") {
    line(indent, head + " {");
    body(statements, indent + 2);
    line(indent, tail);
  }

  STREW_PARTIAL_SWITCHES

  void statement(const Statement& s, size_t indent) {
    switch (info(s.opcode).form) {
      case Form::view:
        views_[s.result] = &s;
        return;
      case Form::partition:
        return partition(s, indent);
      case Form::alloc:
        return alloc(s, indent);
      case Form::flags:
        if (mixed_ && signal(s, indent)) return;
        return sided(indent, Side::cube,
                     std::string(s.opcode == Opcode::set_flag ? "set_flag(" : "wait_flag(") + s.attributes[0].value + ", " +
                         s.attributes[1].value + ", " + s.attributes[2].value + ")");
      case Form::barrier:
        return line(indent, "pipe_barrier(" + s.attributes[0].value + ");");
      case Form::loop: {
        const std::string& v = s.result;
        return nested("for (int64_t " + v + " = " + operand(s, 0) + "; " + v + " < " + operand(s, 1) + "; " + v +
                          " += " + operand(s, 2) + ")",
                      s.body, indent);
      }
      case Form::branch:
        nested("if (" + operand(s, 0) + ")", s.body, indent, s.otherwise.empty() ? "}" : "} else {");
        if (s.otherwise.empty()) return;
        body(s.otherwise, indent + 2);
        return line(indent, "}");
      case Form::moves:
        return sided(indent, s.opcode == Opcode::tstore ? Side::vector : Side::cube, call(s));
      case Form::computes:
      case Form::store:
        return line(indent, call(s) + ";");
      case Form::set:
        return line(indent, operand(s, 0) + ".SetValue(" + operand(s, 1) + ", " + operand(s, 2) + ");");
      default:
        return line(indent, "const " + scalar_type(s.type) + " " + s.result + " = " + value(s) + ";");
    }
  }

  STREW_END_PARTIAL_SWITCHES

  /// Which core of a mixed kernel executes a statement.
  enum class Side : uint8_t { cube, vector };
  void sided(size_t indent, Side side, const std::string& text) {
    if (!mixed_) return line(indent, text + ";");
    line(indent, std::string(side == Side::cube ? "STREW_CUBE(" : "STREW_VECTOR(") + text + ")");
  }

  /// Mixed kernels: a flag between MTE1 of the cube core and MTE3 of the vector core becomes a signal between the two
  /// cores. In these programs only MTE1 passes anything to MTE3, so all flags of MTE3 are such flags. Returns false for
  /// other flags.
  bool signal(const Statement& s, size_t indent) {
    const bool to_vector = s.attributes[1].value == "PIPE_MTE3", sets = s.opcode == Opcode::set_flag;
    if (!to_vector && s.attributes[0].value != "PIPE_MTE3") return false;
    const int id = s.attributes[2].value.back() - '0' + (to_vector ? 0 : kEvents);
    sided(indent, to_vector == sets ? Side::cube : Side::vector,
          std::string(sets ? "set_intra_block(" : "wait_intra_block(") + s.attributes[sets ? 0 : 1].value + ", " +
              std::to_string(id) + ")");
    return true;
  }

  static std::string scalar_type(const Type& type) {
    return type.kind == TypeKind::index ? "int64_t" : element_name(type.element);
  }

  STREW_PARTIAL_SWITCHES

  std::string value(const Statement& s) const {
    const Instruction& row = info(s.opcode);
    const auto binary = [&](const char* symbol) { return operand(s, 0) + " " + symbol + " " + operand(s, 1); };
    const auto choose = [&](const char* symbol) { return "(" + binary(symbol) + ") ? " + operand(s, 0) + " : " + operand(s, 1); };
    switch (s.opcode) {
      case Opcode::constant:
        return constant(s);
      case Opcode::get_block_idx:
        return "get_block_idx()";
      case Opcode::get_block_num:
        return "get_block_num()";
      case Opcode::index_castui:
      case Opcode::extui:
        return "static_cast<" + scalar_type(s.type) + ">(static_cast<u" + scalar_type(types_.at(operand(s, 0))) + ">(" +
               operand(s, 0) + "))";
      case Opcode::bitcast:
        return "__builtin_bit_cast(" + scalar_type(s.type) + ", " + operand(s, 0) + ")";
      case Opcode::addi:
        return binary("+");
      case Opcode::subi:
        return binary("-");
      case Opcode::muli:
        return binary("*");
      case Opcode::divsi:
        return binary("/");
      case Opcode::remsi:
        return binary("%");
      case Opcode::shrsi:
        return binary(">>");
      case Opcode::ceildivsi:
        // Divisors are extents or the number of cores, so they are positive.
        return "(" + operand(s, 0) + " > 0) ? (" + operand(s, 0) + " - 1) / " + operand(s, 1) + " + 1 : " + operand(s, 0) +
               " / " + operand(s, 1);
      case Opcode::minsi:
        return choose("<");
      case Opcode::maxsi:
        return choose(">");
      case Opcode::minui:
      case Opcode::maxui: {
        const std::string u = "static_cast<u" + scalar_type(s.type) + ">(";
        return "(" + u + operand(s, 0) + ") " + (s.opcode == Opcode::maxui ? ">" : "<") + " " + u + operand(s, 1) + ")) ? " +
               operand(s, 0) + " : " + operand(s, 1);
      }
      case Opcode::andi:
        return binary("&");
      case Opcode::ori:
        return binary("|");
      case Opcode::xori:
        return binary("^");
      case Opcode::cmpi:
        return binary(s.attribute("predicate") == "eq" ? "==" : "<");
      case Opcode::tgetval:
        return operand(s, 0) + ".GetValue(" + operand(s, 1) + ")";
      case Opcode::load_scalar:
        return call(s);
      default:
        break;
    }
    return row.form == Form::cast ? "static_cast<" + scalar_type(s.type) + ">(" + operand(s, 0) + ")" : call(s);
  }

  STREW_END_PARTIAL_SWITCHES

  static std::string constant(const Statement& s) {
    if (s.type.kind != TypeKind::scalar || !is_float(s.type.element.dtype)) {
      return s.value == INT64_MIN ? "INT64_MIN" : std::to_string(s.value);
    }
    const std::string unsigned_name = "uint" + std::to_string(bits(s.type.element.dtype)) + "_t";
    return "__builtin_bit_cast(" + element_name(s.type.element) + ", static_cast<" + unsigned_name + ">(" +
           std::to_string(static_cast<uint64_t>(s.value)) + "u))";
  }

  void partition(const Statement& s, size_t indent) {
    const Statement& view = *views_.at(operand(s, 0));
    const std::string layout(view.attribute("layout")), element = element_name(s.type.element);
    const std::string name = s.result, shape = name + "_shape", strides = name + "_stride";
    const std::vector<std::string>& pitch = view.operands[2];
    std::string open, extents, at;
    for (size_t d = 0; d < s.type.dims.size(); ++d) {
      if (s.type.dims[d] == kDynamic) open += (open.empty() ? "" : ", ") + s.operands[2][d];
      extents += (d > 0 ? ", " : "") + extent(s.type.dims[d]);
      if (d + 1 < s.type.dims.size() || layout == "dn") at += " + " + s.operands[1][d] + " * " + pitch[d];
    }
    if (layout != "dn") at += " + " + s.operands[1].back();
    // Shape and Stride have five dims. A matrix has three leading dims of extent 1, whose stride is the size of the
    // matrix.
    const std::string front = s.type.dims.size() == 2 ? "1, 1, 1, " : "";
    const std::string all = layout == "dn" ? pitch[1] : s.operands[2][0] + " * " + pitch[0];
    std::string types = "-1, -1, -1, -1, 1", values = all + ", " + all + ", " + all + ", " + pitch[0];
    if (layout == "dn") {
      types = "-1, -1, -1, 1, -1";
      values = all + ", " + all + ", " + all + ", " + pitch[1];
    } else if (layout == "nz") {
      values = pitch[0] + ", " + pitch[1] + ", " + pitch[2] + ", " + pitch[3];
    }
    const std::string kind = layout == "dn" ? "DN" : layout == "nz" ? "NZ" : "ND";
    line(indent, "using " + shape + " = Shape<" + front + extents + ">;");
    line(indent, "using " + strides + " = Stride<" + types + ">;");
    line(indent, "GlobalTensor<" + element + ", " + shape + ", " + strides + ", Layout::" + kind + "> " + name + "(" +
                     operand(view, 0) + at + ", " + shape + "(" + open + "), " + strides + "(" + values + "));");
  }

  std::string tile_type(const Type& type) const {
    const auto blocked = [](const std::string& layout) { return layout == "col_major" ? "ColMajor" : "RowMajor"; };
    const std::string boxes = type.tile.slayout == "row_major" ? ", SLayout::RowMajor, " + std::to_string(type.tile.fractal) : "";
    const char* place = type.tile.location == "mat" ? "Mat" : "Vec";
    return std::string("Tile<TileType::") + place + ", " + element_name(type.element) + ", " + std::to_string(type.dims[0]) +
           ", " + std::to_string(type.dims[1]) + ", BLayout::" + blocked(type.tile.blayout) + ", " + extent(type.tile.valid[0]) +
           ", " + extent(type.tile.valid[1]) + boxes + ">";
  }

  void alloc(const Statement& s, size_t indent) {
    std::string open;
    for (const size_t group : {size_t{1}, size_t{2}})
      if (!s.operands[group].empty()) open += (open.empty() ? "" : ", ") + operand(s, group);
    line(indent, tile_type(s.type) + " " + s.result + (open.empty() ? "" : "(" + open + ")") + ";");
    line(indent, "TASSIGN(" + s.result + ", " + operand(s, 0) + ");");
  }

  /// The call: the instruction's template (Instruction::cpp) with all placeholders replaced.
  std::string call(const Statement& s) const {
    const Instruction& row = info(s.opcode);
    std::string out;
    for (size_t at = 0; at < row.cpp.size(); ++at) {
      if (row.cpp[at] != '{') {
        out += row.cpp[at];
        continue;
      }
      const size_t end = row.cpp.find('}', at);
      out += filled(s, row, row.cpp.substr(at + 1, end - at - 1));
      at = end;
    }
    // A placeholder without a value is empty: its comma goes, too.
    for (size_t gap = out.find(", >"); gap != std::string::npos; gap = out.find(", >")) out.erase(gap, 2);
    for (size_t gap = out.find(", )"); gap != std::string::npos; gap = out.find(", )")) out.erase(gap, 2);
    return out;
  }

  /// The text for one placeholder.
  std::string filled(const Statement& s, const Instruction& row, std::string_view place) const {
    const auto group_of = [](std::string_view text) { return static_cast<size_t>(text.back() - '0'); };
    if (place.substr(0, 5) == "tile ") return tile_type(types_.at(operand(s, group_of(place))));
    if (place.substr(0, 7) == "number ") return scalar_type(types_.at(operand(s, group_of(place))));
    if (place.size() == 1 && place[0] >= '0' && place[0] <= '9') return operand(s, group_of(place));
    for (const AttributeRule& rule : row.attributes)
      if (rule.name == place && !s.attribute(place).empty()) return rule.in_cpp(s.attribute(place));
    return "";
  }

  bool mixed_ = false;
  std::string out_;
  std::unordered_map<std::string, Type> types_;
  std::unordered_map<std::string, const Statement*> views_;
};

}  // namespace

std::string print_cpp(const std::vector<TileProgram>& programs) {
  std::string out = "// Written by strew for " + std::string(name(programs[0].chip)) +
                    ". Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.\n"
                    "#include \"pto/pto-inst.hpp\"\n\nusing namespace pto;\n";
  if (std::any_of(programs.begin(), programs.end(), is_mixed)) out += kMixed;
  for (const TileProgram& program : programs) out += CppPrinter().run(program);
  return out;
}

}  // namespace strew::inline v0::pto
