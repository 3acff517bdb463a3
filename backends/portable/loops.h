// Loops: the precompiled inner loops that programs of this backend are made of, as tables of function pointers. The loops are compiled once for
// each level of the CPU (backends/portable/loops): for the architecture's baseline and, on x86-64, for x86-64-v3. loops() is the best table that
// this machine can run.
//
// A place says where an element is: its address or, for elements of less than a byte, its address times the elements per byte, plus its
// number in that byte. So addresses of all dtypes are computed alike, as 64-bit integers. Loops need no alignment.
// Tested by tests/differential, and by tests/unit/backends/portable/portable_test.cc, which compares the levels.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "backends/lower/graph.h"
#include "strew/dtype.h"
#include "strew/expr.h"

namespace strew::inline v0::portable {

/// One side of a batch of rows. Row r begins at base + places[r] or, if `places` is null, at base + r * pitch; its elements are `step` apart.
struct Side {
  const int64_t* places = nullptr;
  int64_t base = 0, pitch = 0, step = 0;
  // Always taken in, so that no level's copy of it can serve another level.
  [[gnu::always_inline]] int64_t row(int64_t r) const { return base + (places != nullptr ? places[r] : r * pitch); }
};

/// A batch of rows of one length, which are done in order. The two sides share no memory.
struct Rows {
  Side to, from;
  int64_t count = 0, length = 0;
  /// While row r is done, the first cache lines of row r + ahead of `to` is prefetched or, if `ahead` is negative, of row r - ahead of `from`;
  /// 0: none is.
  int64_t ahead = 0;
  const void* format = nullptr;  ///< SmallFloat of the dtype, for loops that need one
  int32_t lines = 1;             ///< cache lines that are prefetched of a row
  bool streams = false;          ///< move: stores may bypass the caches
};
using RowsLoop = void (*)(const Rows& rows);

/// A step of an expression, on `n` elements that lie side by side. `extra`: a SmallFloat, or a function of the math table.
using StepLoop = void (*)(void* out, const void* a, const void* b, const void* c, int64_t n, const void* extra);

/// Index values of n places, sign- or zero-extended.
using IndexLoop = void (*)(int64_t* out, const Side& from, int64_t n);

/// How the codes of a float of at most 16 bits are decoded and encoded (loops/small_float.h has the arithmetic). Fields that mean nothing for
/// a dtype have values that make their comparisons false.
struct SmallFloat {
  uint32_t width = 0;     ///< bits of exponent and mantissa
  uint32_t mantissa = 0;  ///< bits of the mantissa
  float rescale = 0;      ///< 2^(127 - bias)
  uint32_t infinite_from = ~0U, nan_code = ~0U, nan_word = ~0U;
  uint32_t half = 0, bias_shift = 0, aligner = 0, subnormal_below = 0;
  int32_t largest = 0;
  uint32_t beyond = 0, nan = 0;
  uint32_t no_negative_zero = 0;  ///< 1: fnuz
};
/// Of a float dtype of at most 16 bits that has arithmetic.
const SmallFloat& small_float(DType dtype);

inline constexpr size_t kOps = 64;  ///< more than there are operators
static_assert(static_cast<size_t>(ExprOp::fma) < kOps);

template <class Loop>
using ByOp = std::array<Loop, kOps>;

struct Loops {
  std::string_view level;  ///< "baseline", "v3"

  // Rows. A null pointer: there is no such loop.
  std::array<RowsLoop, 5> move{};                                ///< by log2 of the element's bytes
  RowsLoop pack4 = nullptr, unpack4 = nullptr, move4 = nullptr;  ///< codes of 4 bits from bytes, to bytes, and as they are
  RowsLoop pack2 = nullptr, unpack2 = nullptr, move2 = nullptr;
  RowsLoop stream = nullptr;                          ///< moves bytes with non-temporal stores
  void (*fence)() = nullptr;                          ///< orders non-temporal stores before whatever the caller publishes next
  std::array<ByOp<RowsLoop>, kDTypeCount> combine{};  ///< to = op(to, from), elements of one dtype

  /// The loop of an operation of lowered graphs on arguments of type `from` (select: any), with values of type `to`. Its `extra`: of functions of
  /// the math table the function, of codes the SmallFloat. Null: there is none.
  StepLoop (*step)(lowered::Primitive op, lowered::Machine from, lowered::Machine to) = nullptr;

  // Indices and places.
  std::array<IndexLoop, kDTypeCount> index{};
  void (*line)(int64_t* out, int64_t first, int64_t step, int64_t n) = nullptr;  ///< first, first + step, ...
  void (*fold)(int64_t* v, int64_t dim, int64_t n) = nullptr;                    ///< adds dim to negative values
  void (*saturate)(int64_t* v, int64_t n) = nullptr;  ///< u64 values beyond the largest i64 become that
  void (*clamp)(int64_t* v, int64_t least, int64_t most, int64_t n) = nullptr;
  void (*wrap)(int64_t* v, int64_t dim, bool is_u64, int64_t n) = nullptr;
  /// inside[i] &= v[i] <= most, as unsigned numbers.
  void (*bound)(uint8_t* inside, const int64_t* v, uint64_t most, int64_t n) = nullptr;
  bool (*all)(const uint8_t* inside, int64_t n) = nullptr;
  void (*advance)(int64_t* places, const int64_t* v, int64_t stride, int64_t n) = nullptr;  ///< places[i] += v[i] * stride
  bool (*any_beyond)(const int64_t* v, uint64_t most, int64_t n) = nullptr;  ///< is some value, as an unsigned number, larger?
  /// keys[i] = places[i] / unit - first, or all bits set where inside[i] is 0. Divisions are exact.
  void (*keys)(uint32_t* keys, const int64_t* places, const uint8_t* inside, int64_t first, int64_t unit, int64_t n) = nullptr;
};

/// The best table that this machine can run.
const Loops& loops();
/// All tables that this machine can run; the baseline's first.
std::array<const Loops*, 2> all_loops();

}  // namespace strew::inline v0::portable
