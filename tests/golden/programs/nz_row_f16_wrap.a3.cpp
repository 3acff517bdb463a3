// Written by strew for a3. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void nz_row_f16_wrap(__gm__ half* table, __gm__ int32_t* indices, __gm__ half* updates) {
  const int64_t ub0 = 0;
  const int64_t ub128 = 128;
  const int64_t c1 = 1;
  const int64_t c32 = 32;
  const int64_t c2 = 2;
  const int64_t c16 = 16;
  const int64_t c512 = 512;
  const int64_t c256 = 256;
  const int64_t c1024 = 1024;
  const int64_t c0 = 0;
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  // one core does it all
  const bool more = core == c0;
  if (more) {
    using index_part_shape = Shape<1, 1, 1, 1, 32>;
    using index_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<int32_t, index_part_shape, index_part_stride, Layout::ND> index_part(indices + c0 * c32 + c0, index_part_shape(), index_part_stride(c1 * c32, c1 * c32, c1 * c32, c32));
    Tile<TileType::Vec, int32_t, 1, 32, BLayout::RowMajor, 1, 32> index;
    TASSIGN(index, ub0);
    TLOAD(index, index_part);
    using table_rows_shape = Shape<1, 2, 1, 16, 16>;
    using table_rows_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<half, table_rows_shape, table_rows_stride, Layout::NZ> table_rows(table + c0 * c512 + c0 * c256 + c0 * c256 + c0 * c16 + c0, table_rows_shape(), table_rows_stride(c512, c256, c256, c16));
    using update_part_shape = Shape<1, 2, 2, 16, 16>;
    using update_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<half, update_part_shape, update_part_stride, Layout::NZ> update_part(updates + c0 * c1024 + c0 * c512 + c0 * c256 + c0 * c16 + c0, update_part_shape(), update_part_stride(c1024, c512, c256, c16));
    Tile<TileType::Vec, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 512> update;
    TASSIGN(update, ub128);
    TLOAD(update, update_part);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    MSCATTER<pto::Coalesce::Row, pto::ScatterAtomicOp::None, pto::ScatterOOB::Wrap>(table_rows, update, index);
  }
  pipe_barrier(PIPE_ALL);
}
