// The tree of a `.pto` file: what the parsers of both spellings build and the printers write.
//
// PTO IR is MLIR text (a module of functions; pretty or generic form, which give the same tree); PTO-AS is one straight line of
// instructions with `.arg` and `.const` lines, read as one function without a name. Types stand where values are defined only: every
// use must agree, which the parser checks. Two trees are equal whatever the positions of their statements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/dtype.h"
#include "strew/op.h"

namespace strew::inline v0::pto {

/// Line and column, both from 1. Positions never make trees differ.
struct Position {
  int line = 0, column = 0;
  friend bool operator==(const Position&, const Position&) { return true; }
};

/// An element type as written: `si32` and `i32` are one dtype and two types.
struct Element {
  DType dtype = DType::f32;
  bool marked_signed = false;  ///< si8, si16, si32, si64
  friend bool operator==(const Element&, const Element&) = default;
};

enum class TypeKind : uint8_t { none, scalar, index, ptr, tensor_view, partition_view, tile, memref };

/// What a tile type says beside its element and its physical extents.
struct TileLayout {
  std::string location = "vec";
  int64_t valid_rows = 0, valid_cols = 0;  ///< kDynamic: given by the allocation
  std::string blayout = "row_major";
  std::string slayout = "none_box";
  int64_t fractal = 512;
  int64_t pad = 0;
  friend bool operator==(const TileLayout&, const TileLayout&) = default;
};

struct Type {
  TypeKind kind = TypeKind::none;
  Element element;            ///< of scalars: the type itself
  std::vector<int64_t> dims;  ///< views and memrefs; tiles: rows, cols. kDynamic is `?`
  TileLayout tile;            ///< tiles only
  friend bool operator==(const Type&, const Type&) = default;
};

/// Every statement there is. instructions.h has a row for each.
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

/// A remark for readers, printed in front of a statement. It never makes trees differ.
struct Note {
  std::string text;
  friend bool operator==(const Note&, const Note&) { return true; }
};

struct Statement {
  Opcode opcode = Opcode::constant;
  Position at;
  std::string result;                              ///< without %, empty: none
  Type type;                                       ///< of the result
  std::vector<std::vector<std::string>> operands;  ///< per group of the instruction; names without %
  std::vector<Attribute> attributes;               ///< in the order of the instruction's row
  int64_t value = 0;                               ///< constant; of a float type: its bits
  std::vector<Statement> body, otherwise;
  Note note;

  /// The value of an attribute, or nothing.
  std::string_view attribute(std::string_view name) const;
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
  std::string kernel_kind;  ///< pto.kernel_kind, empty: not given
  std::vector<Statement> body;
  friend bool operator==(const Function&, const Function&) = default;
};

enum class Spelling : uint8_t { ir, as };
/// What an instruction may do depends on the chip; `any`: the text does not say.
enum class Chip : uint8_t { any, a3, a5 };

struct Module {
  Spelling spelling = Spelling::ir;
  Chip chip = Chip::any;
  std::string backend, kernel_kind;  ///< pto.backend, pto.kernel_kind of the module as ptoas prints them; empty: not given
  std::vector<Function> functions;   ///< PTO-AS: one
  friend bool operator==(const Module&, const Module&) = default;
};

inline std::string_view Statement::attribute(std::string_view wanted) const {
  for (const Attribute& a : attributes)
    if (a.name == wanted) return a.value;
  return {};
}

}  // namespace strew::inline v0::pto
