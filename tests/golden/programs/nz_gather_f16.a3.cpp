// Written by strew for a3. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void nz_gather_f16(__gm__ half* result, __gm__ half* table, __gm__ int32_t* indices) {
  const int64_t ub0 = 0;
  const int64_t ub64 = 64;
  const int64_t c1 = 1;
  const int64_t c32 = 32;
  const int64_t c2 = 2;
  const int64_t c4 = 4;
  const int64_t c16 = 16;
  const int64_t c2048 = 2048;
  const int64_t c1024 = 1024;
  const int64_t c256 = 256;
  const int64_t c512 = 512;
  const int64_t c0 = 0;
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  const int64_t cores_i64 = get_block_num();
  const int64_t cores = static_cast<int64_t>(cores_i64);
  const int64_t first_tile = core * c16;
  const int64_t stride = cores * c16;
  set_flag(PIPE_S, PIPE_MTE2, EVENT_ID4);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
  for (int64_t first = first_tile; first < c32; first += stride) {
    using index_part_shape = Shape<1, 1, 1, 1, 16>;
    using index_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<int32_t, index_part_shape, index_part_stride, Layout::ND> index_part(indices + c0 * c32 + first, index_part_shape(), index_part_stride(c1 * c32, c1 * c32, c1 * c32, c32));
    Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16> index;
    TASSIGN(index, ub0);
    wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID4);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
    TLOAD(index, index_part);
    using table_rows_shape = Shape<1, 2, 4, 16, 16>;
    using table_rows_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<half, table_rows_shape, table_rows_stride, Layout::NZ> table_rows(table + c0 * c2048 + c0 * c1024 + c0 * c256 + c0 * c16 + c0, table_rows_shape(), table_rows_stride(c2048, c1024, c256, c16));
    Tile<TileType::Vec, half, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 512> current;
    TASSIGN(current, ub64);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    MGATHER<pto::Coalesce::Row, pto::GatherOOB::Zero>(current, table_rows, index);
    const int64_t block = first / c16;
    using result_part_shape = Shape<1, 2, 1, 16, 16>;
    using result_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<half, result_part_shape, result_part_stride, Layout::NZ> result_part(result + c0 * c1024 + c0 * c512 + block * c256 + c0 * c16 + c0, result_part_shape(), result_part_stride(c1024, c512, c256, c16));
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(result_part, current);
    set_flag(PIPE_S, PIPE_MTE2, EVENT_ID4);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
  }
  wait_flag(PIPE_S, PIPE_MTE2, EVENT_ID4);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
  pipe_barrier(PIPE_ALL);
}
