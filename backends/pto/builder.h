// ProgramBuilder: builds the syntax tree of one program, statement after statement. Arithmetic on numbers that are
// known when the program is planned folds away. Every constant is written once, before all other statements. Names are
// unique, and the same in every run. Tested by tests/golden/pto_program_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/pto/passes.h"
#include "backends/pto/program.h"
#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

constexpr int64_t kFractalRows = 16;  ///< rows of a block of a matrix in fractals

/// A number of type `index`: known when the program is planned, or the name of a value that the program computes.
struct Number {
  std::string name;
  std::optional<int64_t> value;
  bool is(int64_t wanted) const { return value == wanted; }
};

/// A value of the program and its type: a view of memory, a partition of a view, a tile, or a scalar.
struct Named {
  std::string name;
  Type type;
};

/// Most methods append a statement or a constant. If two arguments of one call would do so, the caller evaluates them
/// in statements of their own first: C++ does not order the evaluation of arguments, and the program's text must not
/// depend on the C++ compiler.
class ProgramBuilder {
  using Numbers = std::initializer_list<Number>;

 public:
  ProgramBuilder(Chip chip, int cores) : chip_(chip), cores_planned_(cores) {
    cost_.chip = chip;
    cost_.cores = cores;
  }

  // The function's parameters, in order; pointers come first.
  void pointer(const std::string& name, Element element) { argument(name, {TypeKind::ptr, element, {}, {}}); }
  void scalar(const std::string& name) { argument(name, make_scalar(DType::i32)); }

  // Numbers.
  static Number number(int64_t value) { return {"", value}; }
  Number argument(const std::string& scalar);  ///< an i32 parameter, converted to index
  /// The number of the core that runs the program, and how many cores run it.
  Number core() { return launch_number("@core", Opcode::get_block_idx, "core"); }
  Number cores() { return launch_number("@cores", Opcode::get_block_num, "cores"); }
  // Arithmetic on known numbers, and with 0 and 1 where this changes nothing, appends nothing. Divisors are not 0.
  Number add(const Number& a, const Number& b, const char* hint = "at") { return binary(Opcode::addi, a, b, hint); }
  Number sub(const Number& a, const Number& b, const char* hint = "left") { return binary(Opcode::subi, a, b, hint); }
  Number mul(const Number& a, const Number& b, const char* hint = "scaled") { return binary(Opcode::muli, a, b, hint); }
  Number min(const Number& a, const Number& b, const char* hint = "least") { return binary(Opcode::minsi, a, b, hint); }
  Number max(const Number& a, const Number& b, const char* hint = "most") { return binary(Opcode::maxsi, a, b, hint); }
  Number ceil_div(const Number& a, const Number& b, const char* hint = "pieces") { return binary(Opcode::ceildivsi, a, b, hint); }
  Number remainder(const Number& a, const Number& b, const char* hint = "rest") { return binary(Opcode::remsi, a, b, hint); }
  /// `a` must not be negative.
  Number divide(const Number& a, const Number& b, const char* hint = "quotient") { return binary(Opcode::divsi, a, b, hint); }
  /// What is left of [at, end), at most `most`. `whole`: there is at least so much.
  Number left(const Number& at, const Number& end, const Number& most, bool whole, const char* hint = "count",
              const char* left_hint = "left");
  /// A scalar converted to index, as a signed or as an unsigned number.
  Number as_index(const std::string& hint, const std::string& scalar, bool is_unsigned = false);
  /// The number converted to i32; high bits are dropped.
  Named i32(const Number& number);
  Named i32(int64_t value) { return i32(this->number(value)); }
  Named i64(const Number& number);  ///< the number as an i64
  /// A constant of an element type. `value`: the bits of a float, the value of an integer.
  Named constant(Element element, int64_t value);

  // Memory and tiles.
  Named view(const std::string& hint, const std::string& pointer, const Number& rows, const Number& cols,
             const Number& row_stride) {
    return make_view(hint, pointer, "nd", {rows, cols}, {row_stride, number(1)});
  }
  /// The partition_view of `rows` x `cols` elements of a view, from [row, col] on.
  Named part(const std::string& hint, const Named& view, const Number& row, const Number& col, const Number& rows,
             const Number& cols) {
    return make_part(hint, view, {row, col}, {rows, cols});
  }
  /// A view of `count` adjacent elements as one column (layout dn).
  Named column_view(const std::string& hint, const std::string& pointer, const Number& count) {
    return make_view(hint, pointer, "dn", {count, number(1)}, {number(1), count});
  }
  /// A view of a matrix in fractals (layout nz): blocks of 16 rows of `fractal` elements (32 bytes); a block column
  /// starts `rows` * `fractal` elements after the one before it.
  Named fractal_view(const std::string& hint, const std::string& pointer, const Number& rows, int64_t cols, int64_t fractal);
  /// The partition of rows [row, row + rows) of a view in fractals, with all columns. Both numbers are multiples of 16.
  Named fractal_part(const std::string& hint, const Named& view, const Number& row, const Number& rows);
  /// A row-major tile of `rows` x `cols` elements; `cols` is rounded up to 32 bytes. The valid part is in the tile's
  /// type if it is known when the program is planned, otherwise it is an operand of alloc_tile.
  Named tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows,
             const Number& valid_cols);
  /// Later tiles round the number of their columns up as if elements had `bytes` bytes, if their own are wider. So
  /// tiles of different element types have the same physical shape, which conversions between them need.
  void align_tiles(int64_t bytes) { narrowest_ = bytes; }
  /// A tile of one column.
  Named column_tile(const std::string& hint, Element element, int64_t rows, const Number& valid_rows);
  /// A tile in fractals; with location `mat` it is in L1, and the program runs on cube cores.
  Named fractal_tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows,
                     const char* location = "vec");
  /// Fills a tile of one row of i32 with from, from + 1, ….
  void count_up(const Named& tile, const Number& from);
  void load(const Named& part, const Named& tile) { run(Opcode::tload, {part.name, tile.name}); }
  void store(const Named& tile, const Named& part) { run(Opcode::tstore, {tile.name, part.name}); }
  /// Appends a statement without a result.
  void run(Opcode opcode, const std::vector<std::string>& operands, std::vector<Attribute> attributes = {}) {
    give(opcode, "", {}, operands, std::move(attributes));
  }
  /// Appends a statement with a result.
  Named give(Opcode opcode, const std::string& hint, Type type, const std::vector<std::string>& operands,
             std::vector<Attribute> attributes = {});
  void barrier() { run(Opcode::barrier, {}, {{"pipe", "PIPE_ALL"}}); }  ///< of all pipes

  /// Appends a loop; `body` appends its statements and gets the loop's variable.
  void loop(const std::string& hint, const Number& from, const Number& to, const Number& step,
            const std::function<void(const Number&)>& body);
  /// Appends an `if` on the condition, an i1; `body` appends its statements.
  void when(const Named& condition, const std::function<void()>& body);
  /// The comparisons a < b and a == b, as i1.
  Named less(const Number& a, const Number& b) { return compare("slt", a, b); }
  Named equal(const Number& a, const Number& b) { return compare("eq", a, b); }
  /// Statements that `body` appends go to the head of the function, before all loops. They may depend on parameters
  /// only.
  void at_head(const std::function<void()>& body);
  /// Attaches a comment to the next statement.
  void note(std::string text) { note_ = std::move(text); }
  /// The program runs on one core, for PTO-AS: core() is 0, cores() is 1, and count_up() is always the instruction tci.
  void one_core() { one_core_ = true; }
  /// While on, tiles with a known valid part are allocated before the loops, so that they do not share memory.
  void hoist_tiles(bool on) { hoist_ = on; }

  /// The name of a number, for an operand. Writes a constant for a known number.
  std::string use(const Number& number);
  int planned_cores() const { return cores_planned_; }
  /// Counts the moves of the tile to or from memory as moves of data (CostInputs::moved).
  void moves_data(const Named& tile) { cost_.moved.insert(tile.name); }
  /// A number that is read from memory or a tile is about `about` (CostInputs::read).
  void reads_about(const std::string& name, int64_t about) { cost_.read[name] = about; }
  const CostInputs& cost_inputs() const { return cost_; }
  /// Moves the function into program.module. Its cost is not filled in. The builder has no statements afterwards.
  void finish(TileProgram& program, const std::string& kernel);

 private:
  void argument(const std::string& name, Type type);
  Named allocate(const std::string& hint, Type type, const Number& valid_rows, const Number& valid_cols);
  Number launch_number(const char* known, Opcode opcode, const char* hint);
  Named compare(const char* predicate, const Number& a, const Number& b);
  /// Appends a statement that has a note if there is one, and a name made of the hint if it has a result.
  Named append(Statement s, const std::string& hint = "");
  std::vector<std::string> use_all(Numbers numbers);
  Named make_view(const std::string& hint, const std::string& pointer, const char* layout, Numbers dims, Numbers strides);
  Named make_part(const std::string& hint, const Named& view, Numbers offsets, Numbers sizes);
  /// The statements that `body` appends; numbers in scope leave it afterwards.
  std::vector<Statement> inner(const std::function<void()>& body);
  Number binary(Opcode opcode, const Number& a, const Number& b, const char* hint);
  std::string named_constant(const std::string& name, Type type, int64_t value);

  Chip chip_;
  int cores_planned_;
  std::vector<Argument> arguments_;
  std::vector<Statement> constants_, head_, hoisted_, body_;
  std::vector<Statement>* into_ = &body_;
  std::map<std::string, Type> types_;
  Names names_;
  /// Values at the head: casts of parameters, of core() and of cores()
  std::map<std::string, Number> casts_;
  std::map<std::string, std::string> narrow_;     ///< for each index in scope: its i32, if there is one
  std::map<std::string, std::string> open_cols_;  ///< for each tile whose valid columns are computed: their number
  /// For each view in fractals: block columns, elements of a fractal's row
  std::map<std::string, std::pair<Number, Number>> fractals_;
  std::string note_;
  bool hoist_ = false, one_core_ = false, cube_ = false;
  int64_t narrowest_ = 32;  ///< see align_tiles()
  CostInputs cost_;
};

}  // namespace strew::inline v0::pto
