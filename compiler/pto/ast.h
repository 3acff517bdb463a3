// The syntax tree of a `.pto` file. The parsers build it, the printers write it, and the planner and simulator of NPU
// programs (backends/pto) use it.
//
// A file has one of two spellings. PTO IR is MLIR text: a module of functions, in pretty or generic form, which give
// the same tree. PTO-AS is a straight line of instructions with `.arg` and `.const` lines; its tree is one function
// without a name. The tree has the types of values at their definitions only; the parser checks that the types written
// at uses agree. Positions and notes do not count when trees are compared. Tested by tests/unit/compiler/pto/pto_text_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/dtype.h"
#include "strew/op.h"

namespace strew::inline v0::pto {

/// Line and column, both counted from 1. All positions compare as equal.
struct Position {
  int line = 0, column = 0;
  friend bool operator==(const Position&, const Position&) { return true; }
};

/// An element type as written: `si32` and `i32` are two types of one dtype.
struct Element {
  DType dtype = DType::f32;
  bool marked_signed = false;  ///< si8, si16, si32, si64
  friend bool operator==(const Element&, const Element&) = default;
};

enum class TypeKind : uint8_t { none, scalar, index, ptr, tensor_view, partition_view, tile, memref };

/// The part of a tile type other than its element type and its physical extents.
struct TileLayout {
  std::string location = "vec";
  std::vector<int64_t> valid;  ///< the rows and columns of the valid part. kDynamic: an operand of the allocation
  std::string blayout = "row_major";
  std::string slayout = "none_box";
  int64_t fractal = 512;
  int64_t pad = 0;
  friend bool operator==(const TileLayout&, const TileLayout&) = default;
};

struct Type {
  TypeKind kind = TypeKind::none;
  Element element;            ///< for a scalar: its type
  std::vector<int64_t> dims;  ///< the extents of views and memrefs; the rows and columns of tiles. kDynamic is written `?`
  TileLayout tile;            ///< for tiles only
  friend bool operator==(const Type&, const Type&) = default;
};

/// All statements. instructions.h has a row for each.
// clang-format off
enum class Opcode : uint8_t {
  constant,  ///< arith.constant; PTO-AS .const
  index_cast, index_castui, extsi, extui, trunci, bitcast,
  addi, subi, muli, divsi, divui, ceildivsi, ceildivui, remsi, remui, minsi, minui, maxsi, maxui,
  andi, ori, xori, shli, shrsi, shrui,
  cmpi,    ///< {a} {b}; its attribute `predicate` is eq, slt, ult, ..
  select,  ///< {condition} {a} {b}
  get_block_idx, get_block_num,
  make_tensor_view,  ///< {pointer} {shape...} {strides...}
  partition_view,    ///< {view} {offsets...} {sizes...}
  alloc_tile,        ///< {addr}? {valid_row}? {valid_col}?
  tload,             ///< {partition} {tile}
  tstore,            ///< {tile} {partition}
  mscatter,          ///< {source} {indices} {table}
  mgather,           ///< {table} {indices} {tile}
  set_flag, wait_flag, barrier,
  section_vector,  ///< a body
  loop,            ///< scf.for: {lower} {upper} {step}, a body; its result is the loop variable
  branch,          ///< scf.if: {condition}, a body, perhaps an `otherwise`
  load_scalar,     ///< {pointer} {index}
  store_scalar,    ///< {pointer} {index} {number}
  tgetval,         ///< {tile} {index}: an element, rows one after another at the tile's own pitch
  tsetval,         ///< {tile} {index} {number}
  tadd, tsub, tmul, tdiv, tmax, tmin, tand, tor, tshl, tshr,                ///< {tile} {tile} {into}
  txor,                                                                     ///< {tile} {tile} {scratch} {into}
  tadds, tsubs, tmuls, tmaxs, tmins, tands, tors, tshls, tshrs,             ///< {tile} {number} {into}
  tneg, tnot, tmov, tcvt,                                                   ///< {tile} {into}
  tcmp,             ///< {tile} {tile} {mask}
  tcmps,            ///< {tile} {number} {mask}
  tsel,             ///< {mask} {tile} {tile} {scratch} {into}
  texpands, tci,    ///< {number} {into}: everywhere the number; the number, one more, ..
  load_tile,       ///< PTO-AS tload: {memref} {row, column}, the tile is the result
  store_tile,      ///< PTO-AS tstore: {tile} {memref} {row, column}
  gather_tile,     ///< PTO-AS mgather with a result: {table} {indices}
  gather_l1,       ///< mgather into L1 (loc=mat), indices in memory: {table} {indices} {tile}
  gather_l1_elem,  ///< the same by element: {table} {indices} {tile} {scratch memory}
  move_l1,         ///< tmov from L1 to the vector buffer: {tile} {into}
};  // clang-format on

/// An attribute whose value is one word: coalesce = row, layout = nd, or the pipes and event of a flag.
struct Attribute {
  std::string name, value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// A comment that is printed before a statement. All notes compare as equal.
struct Note {
  std::string text;
  friend bool operator==(const Note&, const Note&) { return true; }
};

struct Statement {
  Opcode opcode = Opcode::constant;
  Position at;
  std::string result;                              ///< the result's name without %; empty: no result
  Type type;                                       ///< the result's type
  std::vector<std::vector<std::string>> operands;  ///< for each operand group of the instruction: names without %
  std::vector<Attribute> attributes;               ///< in the order of the instruction's row
  int64_t value = 0;                               ///< for a constant: its value; for a float its bits
  std::vector<Statement> body, otherwise;
  Note note;

  /// The value of an attribute; empty if the statement does not have it.
  std::string_view attribute(std::string_view wanted) const {
    for (const Attribute& a : attributes)
      if (a.name == wanted) return a.value;
    return {};
  }
  friend bool operator==(const Statement&, const Statement&) = default;
};

struct Argument {
  std::string name;
  Type type;
  Position at;
  friend bool operator==(const Argument&, const Argument&) = default;
};

struct Function {
  std::string name;
  Position at;
  std::vector<Argument> arguments;
  bool entry = false;       ///< pto.entry
  std::string kernel_kind;  ///< pto.kernel_kind: vector or cube; empty: not given
  std::vector<Statement> body;
  friend bool operator==(const Function&, const Function&) = default;
};

enum class Spelling : uint8_t { ir, as };
/// The chip of a program, which decides what its instructions may do. `any`: the text does not name one.
enum class Chip : uint8_t { any, a3, a5 };

struct Module {
  Spelling spelling = Spelling::ir;
  Chip chip = Chip::any;
  std::string backend, kernel_kind;  ///< the module's pto.backend and pto.kernel_kind, which ptoas prints; empty: not given
  std::vector<Function> functions;   ///< PTO-AS has one
  friend bool operator==(const Module&, const Module&) = default;
};

}  // namespace strew::inline v0::pto
