// print_cpp(): writes programs as C++ over the pto-isa headers, with flags and addresses, for the vendor's compiler.
//
// Calls are written from the templates of the instruction table (Instruction::cpp): {0} is an operand, {coalesce} the
// C++ spelling of an attribute, {tile 1} and {number 0} are the types of operands. An attribute that the statement does
// not have is left out together with its comma, as scatterConflict is on a3.
//
// A view produces no C++; each partition of it becomes a GlobalTensor whose type has the extents that are known. The
// type `index` is int64_t. Tested by tests/unit/backends/pto/pto_cpp_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "backends/pto/program.h"
#include "base/partial_switch.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {
namespace {

constexpr std::pair<DType, std::string_view> kElementNames[] = {
    {DType::boolean, "bool"},           {DType::f16, "half"},
    {DType::bf16, "bfloat16_t"},        {DType::f32, "float"},
    {DType::f8e4m3fn, "float8_e4m3_t"}, {DType::f8e5m2, "float8_e5m2_t"},
    {DType::hif8, "hifloat8_t"},
};
/// The name in the vendor's headers; verify() admits no other dtypes.
std::string element_name(const Element& element) {
  for (const auto& [dtype, name] : kElementNames)
    if (dtype == element.dtype) return std::string(name);
  return fmt::format("{}int{}_t", is_unsigned_integer(element.dtype) ? "u" : "", bits(element.dtype));
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
        [[fallthrough]];
      case Form::moves:
        return sided(indent, s.opcode == Opcode::tstore ? Side::vector : Side::cube, call(s));
      case Form::loop:
        return nested(
            fmt::format("for (int64_t {0} = {1}; {0} < {2}; {0} += {3})", s.result, operand(s, 0), operand(s, 1), operand(s, 2)),
            s.body, indent);
      case Form::branch:
        nested("if (" + operand(s, 0) + ")", s.body, indent, s.otherwise.empty() ? "}" : "} else {");
        if (s.otherwise.empty()) return;
        body(s.otherwise, indent + 2);
        return line(indent, "}");
      default:
        if (s.result.empty()) return line(indent, call(s) + ";");
        return line(indent, fmt::format("const {} {} = {};", scalar_type(s.type), s.result,
                                        s.opcode == Opcode::constant ? constant(s) : call(s)));
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
          fmt::format("{}_intra_block({}, {})", sets ? "set" : "wait", s.attributes[sets ? 0 : 1].value, id));
    return true;
  }

  static std::string scalar_type(const Type& type) {
    return type.kind == TypeKind::index ? "int64_t" : element_name(type.element);
  }

  static std::string constant(const Statement& s) {
    if (s.type.kind != TypeKind::scalar || !is_float(s.type.element.dtype)) {
      return s.value == INT64_MIN ? "INT64_MIN" : std::to_string(s.value);
    }
    return fmt::format("__builtin_bit_cast({}, static_cast<uint{}_t>({}u))", element_name(s.type.element),
                       bits(s.type.element.dtype), static_cast<uint64_t>(s.value));
  }

  void partition(const Statement& s, size_t indent) {
    const Statement& view = *views_.at(operand(s, 0));
    const std::string_view layout = view.attribute("layout");
    const bool column = layout == "dn", fractals = layout == "nz";
    const std::vector<std::string>&offsets = s.operands[1], &sizes = s.operands[2], &pitch = view.operands[2];
    std::vector<std::string> open, extents;
    std::string at;
    for (size_t d = 0; d < s.type.dims.size(); ++d) {
      const bool adjacent = !column && d + 1 == s.type.dims.size();
      at += " + " + offsets[d] + (adjacent ? "" : " * " + pitch[d]);
      extents.push_back(extent(s.type.dims[d]));
      if (s.type.dims[d] == kDynamic) open.push_back(sizes[d]);
    }
    // Shape and Stride have five dims. A matrix has three leading dims of extent 1, whose stride is the size of the
    // matrix.
    const std::string& step = pitch[column ? 1 : 0];
    const std::string all = column ? step : sizes[0] + " * " + step;
    line(indent, fmt::format("using {}_shape = Shape<{}{}>;", s.result, fractals ? "" : "1, 1, 1, ", fmt::join(extents, ", ")));
    line(indent, fmt::format("using {}_stride = Stride<{}>;", s.result, column ? "-1, -1, -1, 1, -1" : "-1, -1, -1, -1, 1"));
    line(indent,
         fmt::format("GlobalTensor<{0}, {1}_shape, {1}_stride, Layout::{2}> {1}({3}{4}, {1}_shape({5}), {1}_stride({6}));",
                     element_name(s.type.element), s.result,
                     column     ? "DN"
                     : fractals ? "NZ"
                                : "ND",
                     operand(view, 0), at, fmt::join(open, ", "),
                     fractals ? fmt::format("{}", fmt::join(pitch.begin(), pitch.begin() + 4, ", "))
                              : fmt::format("{0}, {0}, {0}, {1}", all, step)));
  }

  std::string tile_type(const Type& type) const {
    const TileLayout& t = type.tile;
    return fmt::format("Tile<TileType::{}, {}, {}, {}, BLayout::{}, {}, {}{}>", t.location == "mat" ? "Mat" : "Vec",
                       element_name(type.element), type.dims[0], type.dims[1], t.blayout == "col_major" ? "ColMajor" : "RowMajor",
                       extent(t.valid[0]), extent(t.valid[1]),
                       t.slayout == "row_major" ? fmt::format(", SLayout::RowMajor, {}", t.fractal) : "");
  }

  void alloc(const Statement& s, size_t indent) {
    std::string open;
    for (const size_t group : {size_t{1}, size_t{2}})
      if (!s.operands[group].empty()) open += (open.empty() ? "" : ", ") + operand(s, group);
    line(indent, tile_type(s.type) + " " + s.result + (open.empty() ? "" : "(" + open + ")") + ";");
    line(indent, "TASSIGN(" + s.result + ", " + operand(s, 0) + ");");
  }

  /// A sum, difference or product of numbers of the data, which wraps: C++ says so of numbers without sign only.
  static bool wraps(const Statement& s) {
    return s.type.kind == TypeKind::scalar && (s.opcode == Opcode::addi || s.opcode == Opcode::subi || s.opcode == Opcode::muli);
  }

  /// The call or the value: the row's template (Instruction::cpp) with all placeholders replaced.
  std::string call(const Statement& s) const {
    const Instruction& row = info(s.opcode);
    if (wraps(s)) {
      const std::string_view sign = row.cpp.substr(4, 1);  // of "{0} + {1}"
      return fmt::format("static_cast<{}>(static_cast<uint64_t>({}) {} static_cast<uint64_t>({}))", scalar_type(s.type),
                         operand(s, 0), sign, operand(s, 1));
    }
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
    if (place == "result") return scalar_type(s.type);
    if (place == "predicate") return s.attribute(place) == "eq" ? "==" : "<";  // programs have no other
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
