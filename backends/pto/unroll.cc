// unroll(). PTO-AS has arithmetic on tiles, but no loops, no branches and no arithmetic on numbers. So this file
// interprets all statements on numbers of a program of one core: loops are unrolled, addresses become literals, and
// every write of a tile defines a new value (SSA). The valid part of a tile is in its type, after the physical extents.
//
// Refused, with the reason, is what PTO-AS cannot express: numbers read from tiles or memory (policy error, windows
// placed one by one), parts of a table, two shapes of one memory, infinities, and more than kMostStatements lines. The
// tiles that are alive at the same time must fit the buffer. Tested by tests/golden/pto_program_test.cc,
// tests/error/pto_program_error_test.cc and tests/differential/npu.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "backends/pto/arithmetic.h"
#include "backends/pto/passes.h"
#include "base/number.h"
#include "base/partial_switch.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {
namespace {

constexpr size_t kMostStatements = 3000;
const char* const kInstead = "; pto-ir would work";

class Unroller {
 public:
  explicit Unroller(const TileProgram& program) : program_(program) {}

  Expected<Function> run() {
    const Function& planned = program_.module.functions[0];
    for (const Argument& a : planned.arguments) {
      if (a.type.kind != TypeKind::ptr)
        return unsupported(
            "pto-as: extents are known at the call only, expected numbers: the frozen grammar has no loops, and tiles of one "
            "shape" +
            std::string(kInstead));
      names_.add(a.name);
    }
    STREW_TRY(body(planned.body));
    for (size_t i = 0; i < planned.arguments.size(); ++i) {
      const Argument& a = planned.arguments[i];
      const auto [shape, unseen] = shapes_.try_emplace(a.name);
      if (unseen) shape->second = {1, words_of(program_.arguments[i], a.type.element)};
      out_.arguments.push_back({a.name, {TypeKind::memref, a.type.element, {shape->second.rows, shape->second.cols}, {}}, {}});
    }
    return std::move(out_);
  }

 private:
  struct Shape {
    int64_t rows = 0, cols = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
  };
  struct Part {
    std::string memory;
    int64_t row = 0, col = 0;
    Shape size;
  };
  /// The number of words of an argument that no statement views. One with an open extent that nothing reads has no
  /// positions, so it has no elements.
  static int64_t words_of(const ProgramArgument& argument, const Element& word) {
    int64_t count = 1;
    for (const int64_t dim : argument.dims) count *= dim == kDynamic ? 0 : dim;
    return storage_bytes(argument.dtype, count) / storage_bytes(word.dtype, 1);
  }

  static Status cannot(const std::string& what) { return unsupported("pto-as: " + what + kInstead); }
  int64_t number(const std::string& name) const { return number_of(*values_.at(name).type, values_.at(name).code); }

  Status body(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) STREW_TRY(statement(s));
    return {};
  }

  STREW_PARTIAL_SWITCHES

  Status statement(const Statement& s) {
    switch (info(s.opcode).form) {
      case Form::nullary:
        values_[s.result] = {&s.type, s.opcode == Opcode::get_block_idx ? 0u : 1u};
        return {};
      case Form::constant:
      case Form::cast:
      case Form::binary:
      case Form::compare:
      case Form::select: {
        std::vector<Bits> operands;
        for (const auto& group : s.operands) operands.push_back(values_.at(group[0]));
        const Expected<uint64_t> code = evaluate(s, operands);
        if (!code.ok()) return internal_error("pto-as: " + code.status().message());
        values_[s.result] = {&s.type, *code};
        return {};
      }
      case Form::view:
        return view(s);
      case Form::partition:
        parts_[s.result] = {views_.at(s.operands[0][0]),
                            number(s.operands[1][0]),
                            number(s.operands[1][1]),
                            {number(s.operands[2][0]), number(s.operands[2][1])}};
        return {};
      case Form::alloc:
        return alloc(s);
      case Form::moves:
        return moves(s);
      case Form::computes:
        return computes(s);
      case Form::loop:
        for (int64_t at = number(s.operands[0][0]); at < number(s.operands[1][0]); at += number(s.operands[2][0])) {
          values_[s.result] = {&s.type, static_cast<uint64_t>(at)};
          STREW_TRY(body(s.body));
        }
        return {};
      case Form::branch:
        return body(number(s.operands[0][0]) != 0 ? s.body : s.otherwise);
      case Form::barrier:
        return {};
      default:
        return cannot(std::string(name(s.opcode)) +
                      " moves a number at run time, and the frozen grammar has no statement that reads or writes one");
    }
  }

  STREW_END_PARTIAL_SWITCHES

  Status view(const Statement& s) {
    const std::string& memory = s.operands[0][0];
    const Shape shape{number(s.operands[1][0]), number(s.operands[1][1])};
    if (shape.rows > 1 && number(s.operands[2][0]) != shape.cols) return cannot("rows of %" + memory + " are padded");
    const auto [known, fresh] = shapes_.try_emplace(memory, shape);
    if (!fresh && known->second != shape)
      return cannot("%" + memory + " is seen as " + text(known->second) + " and as " + text(shape) +
                    ", where a memref has one shape");
    views_[s.result] = memory;
    return {};
  }
  static std::string text(const Shape& s) { return std::to_string(s.rows) + "x" + std::to_string(s.cols); }

  Status alloc(const Statement& s) {
    Type type = s.type;
    if (!s.operands[1].empty()) type.tile.valid[0] = number(s.operands[1][0]);
    if (!s.operands[2].empty()) type.tile.valid[1] = number(s.operands[2][0]);
    types_[s.result] = std::move(type);
    return {};
  }

  /// The PTO-AS value that a tile of the planned program holds at this point.
  Expected<std::string> read(const std::string& tile) {
    const auto found = current_.find(tile);
    if (found == current_.end()) return internal_error("pto-as: %" + tile + " is read before it is written");
    return found->second;
  }

  Status emit(Statement s) {
    if (out_.body.size() >= kMostStatements)
      return cannot("it would take more than " + std::to_string(kMostStatements) + " lines without loops");
    out_.body.push_back(std::move(s));
    return {};
  }

  /// Appends `s` as the definition of a new value of `tile`.
  Status write(const std::string& tile, Statement s) {
    s.result = names_.fresh(tile);
    s.type = types_.at(tile);
    if (info(s.opcode).form == Form::computes) s.operands.push_back({s.result});
    current_[tile] = s.result;
    return emit(std::move(s));
  }

  Status moves(const Statement& s) {
    const auto place = [](const Part& part) {
      return std::vector<std::string>{std::to_string(part.row), std::to_string(part.col)};
    };
    if (s.opcode == Opcode::tload) {
      const Part& from = parts_.at(s.operands[0][0]);
      return write(s.operands[1][0], {.opcode = Opcode::load_tile, .operands = {{from.memory}, place(from)}});
    }
    if (s.opcode == Opcode::tstore) {
      const Part& to = parts_.at(s.operands[1][0]);
      STREW_ASSIGN(const std::string tile, read(s.operands[0][0]));
      return emit({.opcode = Opcode::store_tile, .operands = {{tile}, {to.memory}, place(to)}});
    }
    const bool scatters = s.opcode == Opcode::mscatter;
    const Part& table = parts_.at(s.operands[scatters ? 2 : 0][0]);
    if (table.row != 0 || table.col != 0 || table.size != shapes_.at(table.memory))
      return cannot("a part of %" + table.memory + " is indexed, where a table is a whole memref");
    std::vector<Attribute> modes;
    for (const Attribute& a : s.attributes)
      if (a.name != "scatterConflict" && a.value != "none" && a.value != "undefined") modes.push_back(a);
    STREW_ASSIGN(const std::string indices, read(s.operands[1][0]));
    if (!scatters)
      return write(s.operands[2][0],
                   {.opcode = Opcode::gather_tile, .operands = {{table.memory}, {indices}}, .attributes = std::move(modes)});
    STREW_ASSIGN(const std::string tile, read(s.operands[0][0]));
    return emit({.opcode = Opcode::mscatter, .operands = {{tile}, {indices}, {table.memory}}, .attributes = std::move(modes)});
  }

  /// Does the statement add 0 to integers, or multiply them by 1? The result is then the value that it reads.
  bool is_copy(const Statement& s) const {
    if (s.opcode != Opcode::tadds && s.opcode != Opcode::tmuls) return false;
    const Type &from = types_.at(s.operands[0][0]), &into = types_.at(s.operands[2][0]);
    return from == into && is_integer(from.element.dtype) && number(s.operands[1][0]) == (s.opcode == Opcode::tmuls ? 1 : 0);
  }

  Status computes(const Statement& s) {
    const Instruction& row = info(s.opcode);
    if (is_copy(s)) {
      STREW_ASSIGN(current_[s.operands[2][0]], read(s.operands[0][0]));
      return {};
    }
    Statement out{.opcode = s.opcode, .attributes = s.attributes};
    for (size_t g = 0; g + 1 < row.operands.size(); ++g) {
      if (row.operands[g].access == Access::write)
        return cannot(std::string(name(s.opcode)) + " works in a scratch tile, which only a result can be");
      std::string operand;
      if (row.operands[g].kind == Kind::number) {
        STREW_ASSIGN(operand, constant(values_.at(s.operands[g][0])));
      } else {
        STREW_ASSIGN(operand, read(s.operands[g][0]));
      }
      out.operands.push_back({operand});
    }
    return write(s.operands.back()[0], std::move(out));
  }

  /// The name of the `.const` with this value; appends it if it is new.
  Expected<std::string> constant(const Bits& scalar) {
    const Element& element = scalar.type->element;
    if (is_float(element.dtype) && !std::isfinite(decode(element.dtype, scalar.code)))
      return cannot("a number is infinite or none, which the grammar cannot write");
    const bool negates = is_signed_integer(element.dtype);
    const int64_t value = negates ? number_of(*scalar.type, scalar.code) : static_cast<int64_t>(scalar.code);
    const std::string wanted = constant_name(value, element);
    std::string& known = constants_[wanted];
    if (!known.empty()) return known;
    known = names_.fresh(wanted);
    STREW_TRY(emit({.opcode = Opcode::constant, .result = known, .type = *scalar.type, .value = value}));
    return known;
  }

  const TileProgram& program_;
  Function out_;
  Names names_;
  std::unordered_map<std::string, Bits> values_;
  std::unordered_map<std::string, std::string> views_;  ///< for each view: the pointer behind it
  std::unordered_map<std::string, Part> parts_;
  std::unordered_map<std::string, Shape> shapes_;         ///< for each pointer: the shape in which it is viewed
  std::unordered_map<std::string, Type> types_;           ///< of the planned program's tiles
  std::unordered_map<std::string, std::string> current_;  ///< for each of these tiles: the value that it holds
  std::unordered_map<std::string, std::string> constants_;
};

/// The largest number of bytes of tiles that are alive at the same time.
int64_t peak_bytes(const Function& function) {
  std::unordered_map<std::string, size_t> last;
  for (size_t i = 0; i < function.body.size(); ++i)
    for (const auto& group : function.body[i].operands)
      for (const std::string& operand : group) last[operand] = i;
  std::vector<int64_t> freed(function.body.size() + 1, 0);
  int64_t alive = 0, most = 0;
  for (size_t i = 0; i < function.body.size(); ++i) {
    const Statement& s = function.body[i];
    if (s.type.kind == TypeKind::tile) {
      const int64_t bytes = storage_bytes(s.type.element.dtype, s.type.dims[0] * s.type.dims[1]);
      alive += bytes;
      freed[std::max(last[s.result], i)] += bytes;
    }
    most = std::max(most, alive);
    alive -= freed[i];
  }
  return most;
}

}  // namespace

Status unroll(TileProgram& program, Chip chip) {
  STREW_ASSIGN(Function line, Unroller(program).run());
  const int64_t peak = peak_bytes(line);
  if (peak > safe_buffer_bytes(chip))
    return unsupported("pto-as: tiles of " + std::to_string(peak) + " bytes are alive together, expected at most " +
                       std::to_string(safe_buffer_bytes(chip)) + " on " + std::string(name(chip)) + kInstead);
  program.ub_bytes = program.cost.ub_peak = peak;
  program.module = {};
  program.module.spelling = Spelling::as;
  program.module.functions.push_back(std::move(line));
  return {};
}

}  // namespace strew::inline v0::pto
