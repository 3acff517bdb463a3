// Written by strew for a5. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

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

extern "C" __global__ AICORE void l1_elem_f32_clamp(__gm__ float* result, __gm__ float* table, __gm__ int32_t* indices, __gm__ float* scratch) {
  const int64_t ub0 = 0;
  const int64_t l1_0 = 0;
  const int64_t c1 = 1;
  const int64_t c64 = 64;
  const int64_t c0 = 0;
  const int64_t c32 = 32;
  const int64_t c8 = 8;
  const int64_t c2 = 2;
  const int64_t c16 = 16;
  const int64_t c256 = 256;
  const int64_t c128 = 128;
  const int64_t cores_i64 = get_block_num();
  const int64_t cores = static_cast<int64_t>(cores_i64);
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  using table_rows_shape = Shape<1, 1, 1, 1, 64>;
  using table_rows_stride = Stride<-1, -1, -1, -1, 1>;
  GlobalTensor<float, table_rows_shape, table_rows_stride, Layout::ND> table_rows(table + c0 * c64 + c0, table_rows_shape(), table_rows_stride(c1 * c64, c1 * c64, c1 * c64, c64));
  const int64_t stride = cores * c32;
  const int64_t first_tile = core * c32;
  STREW_CUBE(set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID4))
  STREW_VECTOR(set_intra_block(PIPE_MTE3, 12))
  for (int64_t first = first_tile; first < c32; first += stride) {
    using index_part_shape = Shape<1, 1, 1, 32, 8>;
    using index_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<int32_t, index_part_shape, index_part_stride, Layout::ND> index_part(indices + first * c8 + c0, index_part_shape(), index_part_stride(c32 * c8, c32 * c8, c32 * c8, c8));
    Tile<TileType::Mat, float, 32, 8, BLayout::ColMajor, 32, 8, SLayout::RowMajor, 512> rows;
    TASSIGN(rows, l1_0);
    using scratch_part_shape = Shape<1, 1, 1, 32, 8>;
    using scratch_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<float, scratch_part_shape, scratch_part_stride, Layout::ND> scratch_part(scratch + first * c8 + c0, scratch_part_shape(), scratch_part_stride(c32 * c8, c32 * c8, c32 * c8, c8));
    STREW_CUBE(wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID4))
    STREW_CUBE(wait_intra_block(PIPE_MTE1, 12))
    STREW_CUBE(MGATHER<pto::Coalesce::Elem, pto::GatherOOB::Clamp>(rows, table_rows, index_part, scratch_part))
    // the vector core beside this cube core stores it
    Tile<TileType::Vec, float, 32, 8, BLayout::ColMajor, 32, 8, SLayout::RowMajor, 512> handed;
    TASSIGN(handed, ub0);
    STREW_CUBE(set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0))
    STREW_CUBE(wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0))
    STREW_CUBE(strew_from_l1(handed, rows))
    const int64_t block = first / c16;
    using result_part_shape = Shape<1, 1, 2, 16, 8>;
    using result_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<float, result_part_shape, result_part_stride, Layout::NZ> result_part(result + c0 * c256 + c0 * c256 + block * c128 + c0 * c8 + c0, result_part_shape(), result_part_stride(c256, c256, c128, c8));
    STREW_CUBE(set_intra_block(PIPE_MTE1, 0))
    STREW_VECTOR(wait_intra_block(PIPE_MTE3, 0))
    STREW_VECTOR(TSTORE(result_part, handed))
    STREW_CUBE(set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID4))
    STREW_VECTOR(set_intra_block(PIPE_MTE3, 12))
  }
  STREW_CUBE(wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID4))
  STREW_CUBE(wait_intra_block(PIPE_MTE1, 12))
  pipe_barrier(PIPE_ALL);
}
