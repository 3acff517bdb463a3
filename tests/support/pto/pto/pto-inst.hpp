// The part of pto-isa's headers that emitted C++ names, as declarations of our own: enough for a compiler to check types, modes and
// numbers of arguments, and to refuse tiles and tables that do not fit each other. Nothing here runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define __gm__
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

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
void set_flag(pipe_t from, pipe_t to, event_t event);
void wait_flag(pipe_t from, pipe_t to, event_t event);
void pipe_barrier(pipe_t pipe);
int64_t get_block_idx();
int64_t get_block_num();
int64_t get_subblockid();
void set_intra_block(pipe_t after, uint8_t signal);
void wait_intra_block(pipe_t before, uint8_t signal);
template <typename T>
T* __cce_get_tile_ptr(T* tile);
void copy_cbuf_to_ubuf(void* to, void* from, bool sub_block, uint16_t bursts, uint16_t blocks, uint16_t from_gap,
                       uint16_t to_gap);

enum class RoundMode { CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC };
enum class SaturationMode { OFF, ON };
enum class CmpMode { EQ, NE, LT, GT, LE, GE };

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

/// As many run-time numbers as the type leaves open.
template <int64_t... kExtents>
struct Numbers {
  static constexpr int kOpen = ((kExtents < 0 ? 1 : 0) + ...);
  template <typename... T>
  explicit Numbers(T...) {
    static_assert(sizeof...(T) == kOpen, "a number for each extent that is open");
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
  GlobalTensor(T* data, ShapeType shape, StrideType stride);
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
  explicit Tile(N...) {
    static_assert(sizeof...(N) == (kValidRows < 0 ? 1 : 0) + (kValidCols < 0 ? 1 : 0), "a number for each extent that is open");
  }
  T* data();
  T GetValue(int64_t at) const;
  void SetValue(int64_t at, T value);
};

constexpr bool fits(int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; }

template <typename TileType>
void TASSIGN(TileType& tile, uint64_t address);
template <typename TileType, typename Global>
void TLOAD(TileType&, Global&) {
  static_assert(std::is_same_v<typename TileType::DType, typename Global::DType> && TileType::kFractal == Global::kFractal);
  static_assert(fits(TileType::valid_rows, Global::Extents::kRows) && fits(TileType::valid_cols, Global::Extents::kCols));
}
template <typename Global, typename TileType>
void TSTORE(Global&, TileType&) {
  static_assert(std::is_same_v<typename TileType::DType, typename Global::DType> && TileType::kFractal == Global::kFractal);
  static_assert(fits(TileType::valid_rows, Global::Extents::kRows) && fits(TileType::valid_cols, Global::Extents::kCols));
}

template <Coalesce kMode, typename Table, typename Data, typename Indices>
constexpr bool indexed() {
  static_assert(std::is_same_v<typename Table::DType, typename Data::DType>);
  static_assert(std::is_same_v<typename Indices::DType, int32_t> || std::is_same_v<typename Indices::DType, uint32_t>);
  static_assert(Table::kFractal == Data::kFractal && !Indices::kFractal);
  if (kMode == Coalesce::Row && Indices::kColumn)
    return Indices::cols == 1 && fits(Indices::valid_rows, Data::valid_rows) && fits(Table::Extents::kCols, Data::valid_cols);
  if (kMode == Coalesce::Elem) return fits(Indices::valid_rows, Data::valid_rows) && fits(Indices::valid_cols, Data::valid_cols);
  return Indices::valid_rows == 1 && fits(Indices::valid_cols, Data::valid_rows) && fits(Table::Extents::kCols, Data::valid_cols);
}

template <Coalesce kMode, ScatterAtomicOp kAtomic, ScatterOOB kOob, ScatterConflict kConflict = ScatterConflict::Last,
          typename Table, typename Data, typename Indices>
void MSCATTER(Table&, Data&, Indices&) {
  static_assert(indexed<kMode, Table, Data, Indices>());
  static_assert(kAtomic == ScatterAtomicOp::None || sizeof(typename Data::DType) >= 2 ||
                std::is_same_v<typename Data::DType, int8_t>);
}
/// Into L1 with indices in memory, or through the vector buffer with a tile of them.
template <Coalesce kMode, GatherOOB kOob, typename Data, typename Table, typename Indices>
void MGATHER(Data&, Table&, Indices&) {
  if constexpr (Data::kVec) {
    static_assert(indexed<kMode, Table, Data, Indices>());
  } else {
    static_assert(kMode == Coalesce::Row && Data::kFractal && !Table::kFractal);
    static_assert(std::is_same_v<typename Table::DType, typename Data::DType>);
    static_assert(std::is_same_v<typename Indices::DType, int32_t> || std::is_same_v<typename Indices::DType, uint32_t>);
    static_assert(fits(Indices::Extents::kCols, Data::valid_rows) && fits(Table::Extents::kCols, Data::valid_cols));
  }
}
template <Coalesce kMode, GatherOOB kOob, typename Data, typename Table, typename Indices, typename Scratch>
void MGATHER(Data&, Table&, Indices&, Scratch&) {
  static_assert(kMode == Coalesce::Elem && !Data::kVec && Data::kFractal && !Table::kFractal);
  static_assert(std::is_same_v<typename Table::DType, typename Data::DType>);
  static_assert(std::is_same_v<typename Scratch::DType, typename Data::DType>);
  static_assert(fits(Indices::Extents::kRows, Data::valid_rows) && fits(Indices::Extents::kCols, Data::valid_cols));
}

#define STREW_BINARY(NAME)                                                                                                       \
  template <typename D, typename A, typename B>                                                                                  \
  void NAME(D&, A&, B&) {                                                                                                        \
    static_assert(std::is_same_v<typename D::DType, typename A::DType> && std::is_same_v<typename D::DType, typename B::DType>); \
  }
STREW_BINARY(TADD)
STREW_BINARY(TSUB)
STREW_BINARY(TMUL)
STREW_BINARY(TDIV)
STREW_BINARY(TMAX)
STREW_BINARY(TMIN)
STREW_BINARY(TAND)
STREW_BINARY(TOR)
#undef STREW_BINARY
template <typename D, typename A, typename B, typename Room>
void TXOR(D&, A&, B&, Room&);

#define STREW_NUMBER(NAME)          \
  template <typename D, typename A> \
  void NAME(D&, A&, typename A::DType)
STREW_NUMBER(TADDS);
STREW_NUMBER(TMULS);
STREW_NUMBER(TMAXS);
STREW_NUMBER(TMINS);
#undef STREW_NUMBER
template <typename D>
void TEXPANDS(D&, typename D::DType);
template <typename D, typename T, int kDescending>
void TCI(D&, T);
template <typename D, typename A>
void TCVT(D&, A&, RoundMode);

}  // namespace pto
