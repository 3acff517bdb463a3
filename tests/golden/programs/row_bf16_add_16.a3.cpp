// Written by strew for a3. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void row_bf16_add_16(__gm__ bfloat16_t* table, __gm__ int32_t* indices, __gm__ bfloat16_t* updates) {
  const int64_t ub0 = 0;
  const int64_t ub64 = 64;
  const int64_t c1 = 1;
  const int64_t c16 = 16;
  const int64_t c0 = 0;
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  const int64_t cores_i64 = get_block_num();
  const int64_t cores = static_cast<int64_t>(cores_i64);
  const int64_t first_tile = core * c16;
  const int64_t stride = cores * c16;
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
  for (int64_t first = first_tile; first < c16; first += stride) {
    using index_part_shape = Shape<1, 1, 1, 1, 16>;
    using index_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<int32_t, index_part_shape, index_part_stride, Layout::ND> index_part(indices + c0 * c16 + first, index_part_shape(), index_part_stride(c1 * c16, c1 * c16, c1 * c16, c16));
    Tile<TileType::Vec, int32_t, 1, 16, BLayout::RowMajor, 1, 16> index;
    TASSIGN(index, ub0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
    TLOAD(index, index_part);
    using table_rows_shape = Shape<1, 1, 1, 16, 16>;
    using table_rows_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<bfloat16_t, table_rows_shape, table_rows_stride, Layout::ND> table_rows(table + c0 * c16 + c0, table_rows_shape(), table_rows_stride(c16 * c16, c16 * c16, c16 * c16, c16));
    using update_part_shape = Shape<1, 1, 1, 16, 16>;
    using update_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<bfloat16_t, update_part_shape, update_part_stride, Layout::ND> update_part(updates + first * c16 + c0, update_part_shape(), update_part_stride(c16 * c16, c16 * c16, c16 * c16, c16));
    Tile<TileType::Vec, bfloat16_t, 16, 16, BLayout::RowMajor, 16, 16> update;
    TASSIGN(update, ub64);
    TLOAD(update, update_part);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    MSCATTER<pto::Coalesce::Row, pto::ScatterAtomicOp::Add, pto::ScatterOOB::Undefined>(table_rows, update, index);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
    pipe_barrier(PIPE_MTE3);
  }
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
  pipe_barrier(PIPE_ALL);
}
