// ProgramBuilder: writes the tree of one program, statement after statement. Numbers known now fold, constants come first and once,
// names are unique and stable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/pto/program.h"
#include "compiler/pto/ast.h"

namespace strew::inline v0::pto {

/// An `index` of the program: a number known now, or the name of a value.
struct Number {
  std::string name;
  std::optional<int64_t> value;
  bool is(int64_t wanted) const { return value == wanted; }
};

/// A value with its type: a view, a part of one, a tile, or an i32.
struct Named {
  std::string name;
  Type type;
};

/// Most calls write a statement or a constant. Where two arguments of one call would, they are named first: C++ does not order arguments,
/// and the text must not depend on the compiler.
class ProgramBuilder {
 public:
  ProgramBuilder(Chip chip, int cores);

  // Parameters, in order: pointers first.
  void pointer(const std::string& name, Element element);
  void scalar(const std::string& name);

  // Numbers.
  static Number number(int64_t value) { return {"", value}; }
  Number argument(const std::string& scalar);  ///< an i32 parameter as index
  Number core();
  Number cores();
  Number add(const Number& a, const Number& b, const char* hint = "at");
  Number sub(const Number& a, const Number& b, const char* hint = "left");
  Number mul(const Number& a, const Number& b, const char* hint = "scaled");
  Number min(const Number& a, const Number& b, const char* hint = "least");
  Number max(const Number& a, const Number& b, const char* hint = "most");
  Number ceil_div(const Number& a, const Number& b, const char* hint = "pieces");
  Number remainder(const Number& a, const Number& b, const char* hint = "rest");
  Number divide(const Number& a, const Number& b, const char* hint = "quotient");  ///< of what is not negative
  /// The same as an i32 value.
  Named i32(const Number& number);
  Named i32(int64_t value) { return i32(this->number(value)); }
  /// A constant of another type, by its bits (floats) or value.
  Named constant(Element element, int64_t value);

  // Memory and tiles.
  Named view(const std::string& hint, const std::string& pointer, const Number& rows, const Number& cols,
             const Number& row_stride);
  Named part(const std::string& hint, const Named& view, const Number& row, const Number& col, const Number& rows,
             const Number& cols);
  /// One column of `count` elements that lie side by side, and a part of it.
  Named column_view(const std::string& hint, const std::string& pointer, const Number& count);
  /// A matrix in fractals: blocks of 16 rows of `fractal` elements (32 bytes), block columns `rows` * fractal elements apart.
  Named fractal_view(const std::string& hint, const std::string& pointer, const Number& rows, int64_t cols, int64_t fractal);
  /// All columns of rows [row, row + rows), both multiples of 16.
  Named fractal_part(const std::string& hint, const Named& view, const Number& row, const Number& rows);
  /// `rows` x `cols` as they lie in the buffer; cols are rounded up to 32 bytes. Valid parts known now stand in the type.
  Named tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows,
             const Number& valid_cols);
  /// Tiles made from here on have rows that are as long in elements of `bytes` as in their own: what is converted stays in step.
  void align_tiles(int64_t bytes) { narrowest_ = bytes; }
  /// The same as a column, or in fractals.
  Named column_tile(const std::string& hint, Element element, int64_t rows, const Number& valid_rows);
  Named fractal_tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows);
  /// In fractals in L1, which makes the program one of the cube cores.
  Named l1_tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows);
  /// `from`, from + 1, .. along a tile of one row of i32.
  void count_up(const Named& tile, const Number& from);
  void load(const Named& part, const Named& tile);
  void store(const Named& tile, const Named& part);
  /// A statement without a result.
  void run(Opcode opcode, const std::vector<std::string>& operands, std::vector<Attribute> attributes = {});
  /// A statement with one.
  Named give(Opcode opcode, const std::string& hint, Type type, const std::vector<std::string>& operands,
             std::vector<Attribute> attributes = {});
  void barrier();

  /// `body` runs with the loop's variable; `trips`: how often a core runs it, for the cost report.
  void loop(const std::string& hint, const Number& from, const Number& to, const Number& step, double trips,
            const std::function<void(const Number&)>& body);
  /// `body` runs where the condition, an i1, holds.
  void when(const Named& condition, const std::function<void()>& body);
  /// a < b, a == b as i1.
  Named less(const Number& a, const Number& b);
  Named equal(const Number& a, const Number& b);
  /// Statements of `body` stand before everything else: for what depends on parameters only.
  void at_head(const std::function<void()>& body);
  /// Says something about the next statement.
  void note(std::string text) { note_ = std::move(text); }
  /// One core, whose number is known; and what PTO-AS has where chips differ.
  void one_core() { one_core_ = true; }
  /// Tiles of a known shape made from here on stand before the loops, so that they are alive together.
  void hoist_tiles(bool on) { hoist_ = on; }

  /// The name of a number; makes its constant.
  std::string use(const Number& number);
  Chip chip() const { return chip_; }
  int planned_cores() const { return cores_planned_; }
  /// Names and everything else go into `program`.
  void finish(Program& program, const std::string& kernel);

 private:
  Named allocate(const std::string& hint, Type type, const Number& valid_rows, const Number& valid_cols);
  Number launch_number(const char* known, Opcode opcode, const char* hint);
  Named compare(const char* predicate, const Number& a, const Number& b);
  std::string fresh(const std::string& hint);
  Statement& append(Statement s);
  Number binary(Opcode opcode, const Number& a, const Number& b, const char* hint);
  std::string constant_name(const std::string& name, Type type, int64_t value);
  void account(const Statement& s);

  Chip chip_;
  int cores_planned_;
  std::vector<Argument> arguments_;
  std::vector<Statement> constants_, head_, hoisted_, body_;
  std::vector<Statement>* into_ = &body_;
  std::map<std::string, Type> types_;
  std::set<std::string> names_;
  std::map<std::string, int> next_number_;                       ///< of a hint: where to look for a free name
  std::map<std::string, Number> casts_;                          ///< of parameters and the core's numbers
  std::map<std::string, std::string> narrow_;                    ///< i32 of an index, while in scope
  std::map<std::string, std::string> open_cols_;                 ///< valid_col of tiles that have one
  std::map<std::string, std::pair<int64_t, int64_t>> fractals_;  ///< of a fractal view: block columns, elements of one
  std::string note_;
  bool hoist_ = false, one_core_ = false, cube_ = false;
  int64_t narrowest_ = 32;
  double trips_ = 1;
  double loaded_ = 0, stored_ = 0, scattered_ = 0, instructions_ = 0;
};

}  // namespace strew::inline v0::pto
