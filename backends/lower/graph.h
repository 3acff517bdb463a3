// Lowered graphs: what an expression graph computes, in few operations on the types that machines have. lower_numeric.h makes them; code
// generators translate them node by node. primitives.def lists the operations.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "backends/lower/primitives.def"
#include "strew/expr.h"

namespace strew::inline v0::lowered {

/// Integers have no sign; operations that depend on one have two primitives. i1 is a truth value.
enum class Machine : uint8_t { i1, i8, i16, i32, i64, f32, f64 };
constexpr int width(Machine type) {
  constexpr int kWidths[] = {1, 8, 16, 32, 64, 32, 64};
  return kWidths[static_cast<size_t>(type)];
}
constexpr bool is_float(Machine type) { return type == Machine::f32 || type == Machine::f64; }
/// The integer of so many bits.
constexpr Machine integer_of(int bits) {
  return bits == 1 ? Machine::i1 : bits <= 8 ? Machine::i8 : bits == 16 ? Machine::i16 : bits == 32 ? Machine::i32 : Machine::i64;
}
/// The numbers with the low width(type) bits set.
constexpr uint64_t all_ones(Machine type) { return ~uint64_t{0} >> (64 - width(type)); }
std::string_view name(Machine type);
inline constexpr Machine kMachines[] = {Machine::i1,  Machine::i8,  Machine::i16, Machine::i32,
                                        Machine::i64, Machine::f32, Machine::f64};

enum class Primitive : uint8_t {
#define STREW_PRIMITIVE(op, ...) op,
  STREW_PRIMITIVES(STREW_PRIMITIVE) STREW_COMPOUNDS(STREW_PRIMITIVE)
#undef STREW_PRIMITIVE
};

enum class Takes : uint8_t { own, integers, floats, numbers, bits };  ///< numbers: integers and floats. bits: integers and i1
enum class Gives : uint8_t { own, same, i1 };
/// For which arguments is an operation defined?
enum class Domain : uint8_t {
  all,
  divisor,   ///< the second is not 0
  quotient,  ///< the second is not 0, and the quotient is not beyond the signed range
  amount,    ///< the second, without sign, is below the width
  range,     ///< 0 <= x < 2^width
};

struct PrimitiveInfo {
  std::string_view name;
  int arity;
  Takes takes;
  Gives gives;
  Domain domain;
  bool compound;
};
const PrimitiveInfo& info(Primitive op);
inline constexpr size_t kPrimitives = static_cast<size_t>(Primitive::float_to_code) + 1;

/// The compounds that a target has, and which therefore stay nodes.
class Natives {
 public:
  constexpr Natives(std::initializer_list<Primitive> list = {}) {
    for (const Primitive op : list) set(op, true);
  }
  constexpr bool has(Primitive op) const { return (bits_ >> static_cast<int>(op) & 1) != 0; }
  constexpr Natives& set(Primitive op, bool value) {
    bits_ = (bits_ & ~(uint64_t{1} << static_cast<int>(op))) | uint64_t{value} << static_cast<int>(op);
    return *this;
  }
  static constexpr Natives all() {
#define STREW_COMPOUND(op, ...) Primitive::op,
    return {STREW_COMPOUNDS(STREW_COMPOUND)};
#undef STREW_COMPOUND
  }

 private:
  uint64_t bits_ = 0;
};

struct Node {
  Primitive op = Primitive::constant;
  Machine type = Machine::i1;               ///< of the value
  std::array<int32_t, 3> args{-1, -1, -1};  ///< numbers of earlier nodes
  int32_t input = -1, part = 0;             ///< input: which, and 1 for the second of its parts
  ExprOp function = ExprOp::literal;        ///< call1 to call3: of the math table
  uint64_t bits = 0;                        ///< constant: its bits
  DType dtype = DType::f16;                 ///< half_to_float to float_to_code: of the code
};

struct Graph {
  /// What an input node of the expression graph reads.
  struct Input {
    ExprOp op = ExprOp::current;
    int32_t index = 0;
    DType dtype = DType::f32;
  };
  /// The element of a result: the nodes of its parts, or the input that it is, bit for bit.
  struct Result {
    DType dtype = DType::f32;
    std::array<int32_t, 2> parts{-1, -1};
    int32_t moved = -1;  ///< of inputs; -1: it is computed
  };
  std::vector<Input> inputs;
  std::vector<Node> nodes;  ///< in evaluation order
  std::vector<Result> results;
};

/// How elements of a dtype enter and leave a graph: as one integer or float, or as two; with the bits in memory. A dtype of less than 8 bits is
/// an i8 whose other bits are 0. A complex number is its real and imaginary part, any other dtype of 128 bits two i64, the low one first.
inline Machine part_type(DType dtype) {
  if (is_complex(dtype)) return dtype == DType::complex64 ? Machine::f32 : Machine::f64;
  if (dtype == DType::f32) return Machine::f32;
  return dtype == DType::f64 ? Machine::f64 : integer_of(bits(dtype) > 64 ? 64 : bits(dtype));
}
inline int part_count(DType dtype) { return is_complex(dtype) || bits(dtype) > 64 ? 2 : 1; }

/// One node a line: `%3 = shl i8 %1 %2`. Golden files and tests/oracle/lower_integers.py read it.
std::string print(const Graph& graph);

}  // namespace strew::inline v0::lowered
