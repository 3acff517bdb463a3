// The part of pto-isa's headers that the C++ of `--emit pto-cpp` names, of our own, for the CPU: g++ checks types, modes, numbers of arguments
// and whether tiles and tables fit each other, and the program runs on the machine of tests/pto_cpu/machine, which checks flags and every
// access. As in the real headers __NPU_ARCH__ names the chip: 2201 is a3, 3101 and 3510 are a5.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tests/pto_cpu/machine/machine.h"

#if __NPU_ARCH__ == 2201
#define PTO_NPU_ARCH_A2A3
#elif __NPU_ARCH__ == 3101 || __NPU_ARCH__ == 3510
#define PTO_NPU_ARCH_A5
#else
#error "define __NPU_ARCH__: 2201 for a3, 3101 or 3510 for a5"
#endif

#define __global__
#define AICORE
#define __tf__
#define __in__
#define __out__
#define __ubuf__
#define __cbuf__
#define __DAV_CUBE__
#define __DAV_VEC__

struct half {
  uint16_t bits;
};
struct bfloat16_t {
  uint16_t bits;
};
struct float8_e4m3_t {
  uint8_t bits;
};
struct float8_e5m2_t {
  uint8_t bits;
};
struct hifloat8_t {
  uint8_t bits;
};

namespace pto_cpu {

#ifdef PTO_NPU_ARCH_A5
inline constexpr Chip kChip = Chip::a5;
#else
inline constexpr Chip kChip = Chip::a3;
#endif
inline constexpr bool kA5 = kChip == Chip::a5;

template <typename T, typename... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
template <typename T>
inline constexpr bool is_byte_float = is_one_of<T, float8_e4m3_t, float8_e5m2_t, hifloat8_t>;
template <typename T>
inline constexpr bool is_small_integer = is_one_of<T, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;

template <typename T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, half>) return Type::f16;
  if constexpr (std::is_same_v<T, bfloat16_t>) return Type::bf16;
  if constexpr (std::is_same_v<T, float>) return Type::f32;
  if constexpr (is_byte_float<T>) return Type::f8;
  constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<Type>(2 * kWidth + (std::is_unsigned_v<T> ? 1 : 0));
}

template <typename T>
uint64_t bits_of(T value) {
  uint64_t out = 0;
  __builtin_memcpy(&out, &value, sizeof value);
  return out;
}
template <typename T>
T from_bits(uint64_t bits) {
  T out;
  __builtin_memcpy(&out, &bits, sizeof out);
  return out;
}

/// An element of global memory, which the scalar unit reads and writes.
template <typename T>
class Cell {
 public:
  operator T() const { return from_bits<T>(get(this, sizeof(T))); }  // NOLINT(google-explicit-constructor): it stands for a T
  Cell& operator=(T value) {
    set(this, sizeof(T), bits_of(value));
    return *this;
  }

 private:
  T value_;
};

/// The element types behind __gm__, which becomes this namespace. `float` is a macro below, because a keyword is no member.
namespace gm {
using strew_float = Cell<float>;
using half = Cell<::half>;
using bfloat16_t = Cell<::bfloat16_t>;
using float8_e4m3_t = Cell<::float8_e4m3_t>;
using float8_e5m2_t = Cell<::float8_e5m2_t>;
using hifloat8_t = Cell<::hifloat8_t>;
using int8_t = Cell<::int8_t>;
using uint8_t = Cell<::uint8_t>;
using int16_t = Cell<::int16_t>;
using uint16_t = Cell<::uint16_t>;
using int32_t = Cell<::int32_t>;
using uint32_t = Cell<::uint32_t>;
using int64_t = Cell<::int64_t>;
using uint64_t = Cell<::uint64_t>;
}  // namespace gm

}  // namespace pto_cpu

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

namespace pto_cpu {
inline Pipe pipe_of(pipe_t pipe) {
  constexpr Pipe kPipes[] = {Pipe::s, Pipe::v, Pipe::other, Pipe::mte1, Pipe::mte2, Pipe::mte3, Pipe::other, Pipe::all};
  return kPipes[pipe];
}
}  // namespace pto_cpu

inline void set_flag(pipe_t from, pipe_t to, event_t event, int line = __builtin_LINE()) {
  pto_cpu::set_flag(pto_cpu::pipe_of(from), pto_cpu::pipe_of(to), event, line);
}
inline void wait_flag(pipe_t from, pipe_t to, event_t event, int line = __builtin_LINE()) {
  pto_cpu::wait_flag(pto_cpu::pipe_of(from), pto_cpu::pipe_of(to), event, line);
}
inline void pipe_barrier(pipe_t pipe, int line = __builtin_LINE()) { pto_cpu::pipe_barrier(pto_cpu::pipe_of(pipe), line); }
inline int64_t get_block_idx() { return pto_cpu::block_number(); }
inline int64_t get_block_num() { return pto_cpu::block_count(); }
/// A mixed kernel runs as its cube core and its first vector core, both by this one thread.
inline int64_t get_subblockid() { return 0; }
inline void set_intra_block(pipe_t after, uint8_t signal, int line = __builtin_LINE()) {
  pto_cpu::set_signal(pto_cpu::pipe_of(after), signal, line);
}
inline void wait_intra_block(pipe_t before, uint8_t signal, int line = __builtin_LINE()) {
  pto_cpu::wait_signal(pto_cpu::pipe_of(before), signal, line);
}
template <typename T>
T* __cce_get_tile_ptr(T* tile) {
  return tile;
}
/// One burst of `blocks` times 32 bytes, without gaps; other copies are in no program.
inline void copy_cbuf_to_ubuf(void* to, void* from, bool sub_block, uint16_t bursts, uint16_t blocks, uint16_t from_gap,
                              uint16_t to_gap, int line = __builtin_LINE()) {
  if (sub_block || bursts != 1 || from_gap != 0 || to_gap != 0)
    throw pto_cpu::Failure("copy_cbuf_to_ubuf: expected one burst without gaps");
  pto_cpu::copy_l1_to_buffer(to, from, int64_t{blocks} * 32, line);
}

enum class RoundMode { CAST_RINT };

namespace pto {

enum class TileType { Vec, Mat };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor };
enum class Layout { ND, DN, NZ };
enum class Coalesce { Row, Elem };
enum class ScatterAtomicOp { None, Add, Max, Min };
enum class ScatterOOB { Undefined, Skip, Clamp, Wrap };
enum class ScatterConflict { Last, Default };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };

/// Five numbers, and as many at run time as the type leaves open.
template <int64_t... kExtents>
struct Numbers {
  static constexpr int kOpen = ((kExtents < 0 ? 1 : 0) + ...);
  std::array<int64_t, sizeof...(kExtents)> values{kExtents...};
  template <typename... T>
  explicit Numbers(T... open) {
    static_assert(sizeof...(T) == kOpen, "a number for each extent that is open");
    const std::array<int64_t, sizeof...(T)> given{static_cast<int64_t>(open)...};
    size_t next = 0;
    for (int64_t& value : values)
      if (value < 0) value = given[next++];
  }
};
template <int64_t a, int64_t b, int64_t c, int64_t d, int64_t e>
struct Shape : Numbers<a, b, c, d, e> {
  using Numbers<a, b, c, d, e>::Numbers;
  static constexpr int64_t kRows = a < 0 || b < 0 || c < 0 || d < 0 ? -1 : a * b * c * d, kCols = e;
  /// In fractals: [.., block columns, block rows, 16, elements of 32 bytes].
  static constexpr int64_t kFractalRows = c < 0 ? -1 : c * d, kFractalCols = a < 0 || b < 0 ? -1 : a * b * e;
  static constexpr int64_t kBlockRows = d, kBlockCols = e;
};
template <int64_t a, int64_t b, int64_t c, int64_t d, int64_t e>
struct Stride : Numbers<a, b, c, d, e> {
  using Numbers<a, b, c, d, e>::Numbers;
};

template <typename T, typename ShapeType, typename StrideType, Layout kLayout>
struct GlobalTensor {
  using DType = T;
  static constexpr bool kFractal = kLayout == Layout::NZ;
  static_assert(!kFractal || (ShapeType::kBlockRows == 16 && ShapeType::kBlockCols * sizeof(T) == 32), "fractals of 512 bytes");
  struct Extents {
    static constexpr int64_t kRows = kFractal ? ShapeType::kFractalRows : ShapeType::kRows;
    static constexpr int64_t kCols = kFractal ? ShapeType::kFractalCols : ShapeType::kCols;
  };
  GlobalTensor(pto_cpu::Cell<T>* data, ShapeType shape, StrideType stride) {
    view.data = data;
    view.type = pto_cpu::type_of<T>();
    view.fractals = kFractal;
    for (size_t d = 0; d < 5; ++d) {
      view.shape[d] = shape.values[d];
      view.stride[d] = stride.values[d];
    }
  }
  pto_cpu::GlobalView view;
};

template <TileType kType, typename T, int kRows, int kCols, BLayout kLayout, int kValidRows, int kValidCols,
          SLayout kBoxes = SLayout::NoneBox, int kFractalBytes = 512>
struct Tile {
  using DType = T;
  using TileDType = T*;
  static constexpr int Rows = kRows, Cols = kCols;
  static constexpr bool kVec = kType == TileType::Vec;
  static constexpr bool kFractal = kLayout == BLayout::ColMajor && kBoxes == SLayout::RowMajor && kFractalBytes == 512;
  static constexpr bool kColumn = kLayout == BLayout::ColMajor && !kFractal;
  static_assert(kBoxes == SLayout::NoneBox || (kFractal && kRows % 16 == 0 && kCols * sizeof(T) % 32 == 0), "whole fractals");
  static constexpr int rows = kRows, cols = kCols, valid_rows = kValidRows, valid_cols = kValidCols;
  static_assert(kFractal || (kLayout == BLayout::RowMajor ? kCols : kRows) * sizeof(T) % 32 == 0, "rows of 32 bytes");
  static_assert(kValidRows <= kRows && kValidCols <= kCols, "the valid part lies inside");
  template <typename... N>
  explicit Tile(N... open) {
    static_assert(sizeof...(N) == (kValidRows < 0 ? 1 : 0) + (kValidCols < 0 ? 1 : 0), "a number for each extent that is open");
    const Numbers<kValidRows, kValidCols> valid(open...);
    view = {!kVec,
            -1,
            pto_cpu::type_of<T>(),
            kFractal  ? pto_cpu::Places::fractals
            : kColumn ? pto_cpu::Places::columns
                      : pto_cpu::Places::rows,
            kRows,
            kCols,
            valid.values[0],
            valid.values[1]};
  }
  T* data() { return static_cast<T*>(pto_cpu::tile_data(view)); }
  T GetValue(int64_t at, int line = __builtin_LINE()) const { return pto_cpu::from_bits<T>(pto_cpu::get(view, at, line)); }
  void SetValue(int64_t at, T value, int line = __builtin_LINE()) { pto_cpu::set(view, at, pto_cpu::bits_of(value), line); }
  pto_cpu::TileView view;
};

constexpr bool fits(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }

template <typename TileType>
void TASSIGN(TileType& tile, uint64_t address, int line = __builtin_LINE()) {
  tile.view.address = static_cast<int64_t>(address);
  pto_cpu::check_tile(tile.view, line);
}

template <typename TileType, typename Global>
constexpr void check_move() {
  static_assert(std::is_same_v<typename TileType::DType, typename Global::DType> && TileType::kFractal == Global::kFractal);
  static_assert(fits(TileType::valid_rows, Global::Extents::kRows) && fits(TileType::valid_cols, Global::Extents::kCols));
}
template <typename TileType, typename Global>
void TLOAD(TileType& tile, Global& from, int line = __builtin_LINE()) {
  check_move<TileType, Global>();
  static_assert(!(TileType::kFractal && pto_cpu::kA5), "a5 has no tables in fractals");
  pto_cpu::load(tile.view, from.view, line);
}
template <typename Global, typename TileType>
void TSTORE(Global& to, TileType& tile, int line = __builtin_LINE()) {
  check_move<TileType, Global>();
  static_assert(TileType::kVec || !pto_cpu::kA5, "a5 has no path from L1 to memory");
  pto_cpu::store(to.view, tile.view, line);
}

// --- indexed moves ---

template <typename T>
inline constexpr bool is_moved = pto_cpu::is_small_integer<T> || pto_cpu::is_one_of<T, half, bfloat16_t, float> ||
                                 (pto_cpu::kA5 && pto_cpu::is_byte_float<T>);

template <Coalesce kMode, typename Table, typename Data, typename Indices>
constexpr bool indexed() {
  static_assert(std::is_same_v<typename Table::DType, typename Data::DType> && is_moved<typename Data::DType>);
  static_assert(std::is_same_v<typename Indices::DType, int32_t> || std::is_same_v<typename Indices::DType, uint32_t>);
  static_assert(Table::kFractal == Data::kFractal && !Indices::kFractal);
  static_assert(!Table::kFractal || !pto_cpu::kA5, "a5 has no tables in fractals");
  static_assert(!Indices::kColumn || pto_cpu::kA5, "a3 takes indices in a row");
  if (kMode == Coalesce::Row && Indices::kColumn)
    return Indices::cols == 1 && fits(Indices::valid_rows, Data::valid_rows) && fits(Table::Extents::kCols, Data::valid_cols);
  if (kMode == Coalesce::Elem) return fits(Indices::valid_rows, Data::valid_rows) && fits(Indices::valid_cols, Data::valid_cols);
  return Indices::valid_rows == 1 && fits(Indices::valid_cols, Data::valid_rows) && fits(Table::Extents::kCols, Data::valid_cols);
}

template <typename T, ScatterAtomicOp kAtomic>
constexpr bool has_atomic() {
  if (kAtomic == ScatterAtomicOp::None) return true;
  if (kAtomic != ScatterAtomicOp::Add) return pto_cpu::kA5 && pto_cpu::is_one_of<T, int32_t, uint32_t, float>;
  if (pto_cpu::kA5) return pto_cpu::is_one_of<T, int32_t, uint32_t, half, bfloat16_t, float>;
  return pto_cpu::is_one_of<T, int8_t, int16_t, int32_t, half, bfloat16_t, float>;
}

template <Coalesce kMode, ScatterAtomicOp kAtomic, ScatterOOB kOob, typename Table, typename Data, typename Indices>
void scatter(Table& table, Data& data, Indices& indices, pto_cpu::Conflict conflict, int line) {
  static_assert(indexed<kMode, Table, Data, Indices>());
  static_assert(has_atomic<typename Data::DType, kAtomic>());
  constexpr pto_cpu::Bounds kBounds[] = {pto_cpu::Bounds::undefined, pto_cpu::Bounds::skip, pto_cpu::Bounds::clamp,
                                         pto_cpu::Bounds::wrap};
  pto_cpu::scatter(table.view, data.view, indices.view, kMode == Coalesce::Row,
                   static_cast<pto_cpu::Atomic>(static_cast<int>(kAtomic)), kBounds[static_cast<int>(kOob)], conflict, line);
}
template <Coalesce kMode, ScatterAtomicOp kAtomic, ScatterOOB kOob, typename Table, typename Data, typename Indices>
void MSCATTER(Table& table, Data& data, Indices& indices, int line = __builtin_LINE()) {
  scatter<kMode, kAtomic, kOob>(table, data, indices, pto_cpu::Conflict::last, line);
}
template <Coalesce kMode, ScatterAtomicOp kAtomic, ScatterOOB kOob, ScatterConflict kConflict, typename Table, typename Data,
          typename Indices>
void MSCATTER(Table& table, Data& data, Indices& indices, int line = __builtin_LINE()) {
  static_assert(pto_cpu::kA5 && is_moved<typename Data::DType>, "a3 has no conflict mode");
  scatter<kMode, kAtomic, kOob>(table, data, indices,
                                kConflict == ScatterConflict::Last ? pto_cpu::Conflict::last : pto_cpu::Conflict::any, line);
}

constexpr pto_cpu::Bounds bounds_of(GatherOOB oob) {
  constexpr pto_cpu::Bounds kBounds[] = {pto_cpu::Bounds::undefined, pto_cpu::Bounds::clamp, pto_cpu::Bounds::wrap,
                                         pto_cpu::Bounds::zero};
  return kBounds[static_cast<int>(oob)];
}
/// Into L1 with indices in memory, or through the vector buffer with a tile of them.
template <Coalesce kMode, GatherOOB kOob, typename Data, typename Table, typename Indices>
void MGATHER(Data& data, Table& table, Indices& indices, int line = __builtin_LINE()) {
  if constexpr (Data::kVec) {
    static_assert(indexed<kMode, Table, Data, Indices>());
    pto_cpu::gather(data.view, table.view, indices.view, kMode == Coalesce::Row, bounds_of(kOob), line);
  } else {
    static_assert(kMode == Coalesce::Row && Data::kFractal && !Table::kFractal);
    static_assert(std::is_same_v<typename Table::DType, typename Data::DType>);
    static_assert(std::is_same_v<typename Indices::DType, int32_t> || std::is_same_v<typename Indices::DType, uint32_t>);
    static_assert(fits(Indices::Extents::kCols, Data::valid_rows) && fits(Table::Extents::kCols, Data::valid_cols));
    pto_cpu::gather(data.view, table.view, indices.view, nullptr, bounds_of(kOob), line);
  }
}
template <Coalesce kMode, GatherOOB kOob, typename Data, typename Table, typename Indices, typename Scratch>
void MGATHER(Data& data, Table& table, Indices& indices, Scratch& scratch, int line = __builtin_LINE()) {
  static_assert(kMode == Coalesce::Elem && !Data::kVec && Data::kFractal && !Table::kFractal);
  static_assert(std::is_same_v<typename Table::DType, typename Data::DType>);
  static_assert(std::is_same_v<typename Scratch::DType, typename Data::DType>);
  static_assert(fits(Indices::Extents::kRows, Data::valid_rows) && fits(Indices::Extents::kCols, Data::valid_cols));
  pto_cpu::gather(data.view, table.view, indices.view, &scratch.view, bounds_of(kOob), line);
}

// --- computation on tiles ---

/// The element types that the vector unit computes with.
template <typename T>
inline constexpr bool is_a3_number = pto_cpu::is_one_of<T, int16_t, int32_t, half, float>;
template <typename T>
inline constexpr bool is_number =
    pto_cpu::kA5 ? pto_cpu::is_small_integer<T> || pto_cpu::is_one_of<T, half, float> : is_a3_number<T>;
template <typename T>
inline constexpr bool is_factor = pto_cpu::kA5 ? is_number<T> && sizeof(T) >= 2 : is_a3_number<T>;
template <typename T>
inline constexpr bool is_sum = is_number<T> || (pto_cpu::kA5 && std::is_same_v<T, bfloat16_t>);
template <typename T>
inline constexpr bool is_quotient = pto_cpu::is_one_of<T, half, float>;
template <typename T>
inline constexpr bool is_filled = is_sum<T> || std::is_same_v<T, bfloat16_t>;

#define STREW_BINARY(NAME, OPERATION, ALLOWED)                                                                                   \
  template <typename D, typename A, typename B>                                                                                  \
  void NAME(D& to, A& a, B& b, int line = __builtin_LINE()) {                                                                    \
    static_assert(std::is_same_v<typename D::DType, typename A::DType> && std::is_same_v<typename D::DType, typename B::DType>); \
    static_assert(ALLOWED<typename D::DType> && !D::kFractal && !D::kColumn && D::kVec);                                         \
    pto_cpu::compute(pto_cpu::Operation::OPERATION, #NAME, to.view, a.view, b.view, line);                                       \
  }
STREW_BINARY(TADD, add, is_sum)
STREW_BINARY(TSUB, sub, is_number)
STREW_BINARY(TMUL, mul, is_factor)
STREW_BINARY(TDIV, div, is_quotient)
STREW_BINARY(TMAX, max, is_number)
STREW_BINARY(TMIN, min, is_number)
STREW_BINARY(TAND, bit_and, pto_cpu::is_small_integer)
STREW_BINARY(TOR, bit_or, pto_cpu::is_small_integer)
#undef STREW_BINARY
template <typename D, typename A, typename B, typename Room>
void TXOR(D& to, A& a, B& b, Room& room, int line = __builtin_LINE()) {
  static_assert(std::is_same_v<typename D::DType, typename A::DType> && std::is_same_v<typename D::DType, typename B::DType>);
  static_assert(pto_cpu::is_small_integer<typename D::DType>);
  pto_cpu::exclusive_or(to.view, a.view, b.view, room.view, line);
}

#define STREW_NUMBER(NAME, OPERATION)                                                                                \
  template <typename D, typename A>                                                                                  \
  void NAME(D& to, A& a, typename A::DType number, int line = __builtin_LINE()) {                                    \
    static_assert(std::is_same_v<typename D::DType, typename A::DType> && is_sum<typename D::DType> && !D::kColumn); \
    pto_cpu::compute(pto_cpu::Operation::OPERATION, #NAME, to.view, a.view, pto_cpu::bits_of(number), line);         \
  }
STREW_NUMBER(TADDS, add)
STREW_NUMBER(TMULS, mul)
STREW_NUMBER(TMAXS, max)
STREW_NUMBER(TMINS, min)
#undef STREW_NUMBER
template <typename D>
void TEXPANDS(D& to, typename D::DType number, int line = __builtin_LINE()) {
  static_assert(is_filled<typename D::DType>);
  pto_cpu::fill(to.view, pto_cpu::bits_of(number), line);
}
template <typename D, typename T, int kDescending>
void TCI(D& to, T first, int line = __builtin_LINE()) {
  static_assert(std::is_same_v<typename D::DType, T> && pto_cpu::is_one_of<T, int16_t, int32_t> && kDescending == 0);
  pto_cpu::ascend(to.view, pto_cpu::bits_of(first), line);
}
/// The conversions of both chips, and a5's from i16 to wider integers.
template <typename T, typename From>
inline constexpr bool converts = std::is_same_v<From, float>  ? pto_cpu::is_one_of<T, half, bfloat16_t, int16_t, int32_t>
                                 : std::is_same_v<From, half> ? pto_cpu::is_one_of<T, float, int8_t, uint8_t, int16_t, int32_t>
                                 : std::is_same_v<From, bfloat16_t> ? pto_cpu::is_one_of<T, float, int32_t>
                                 : std::is_same_v<From, int16_t>    ? pto_cpu::is_one_of<T, half, float> ||
                                                                       (pto_cpu::kA5 && pto_cpu::is_one_of<T, int32_t, uint32_t>)
                                 : std::is_same_v<From, int32_t>
                                     ? std::is_same_v<T, float>
                                     : pto_cpu::is_one_of<From, int8_t, uint8_t>&& std::is_same_v<T, half>;
/// Rounded to nearest, ties to even.
template <typename D, typename A>
void TCVT(D& to, A& from, RoundMode, int line = __builtin_LINE()) {
  static_assert(converts<typename D::DType, typename A::DType>);
  pto_cpu::convert(to.view, from.view, line);
}

}  // namespace pto

using strew_float = float;
#define float strew_float
#define __gm__ pto_cpu::gm::
