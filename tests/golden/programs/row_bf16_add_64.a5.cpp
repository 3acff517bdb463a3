// Written by strew for a5. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void row_bf16_add_64(__gm__ bfloat16_t* table, __gm__ int32_t* indices, __gm__ bfloat16_t* updates) {
  const int64_t ub0 = 0;
  const int64_t ub32 = 32;
  const int64_t c1 = 1;
  const int64_t c8 = 8;
  const int64_t c16 = 16;
  const int64_t c64 = 64;
  const int64_t c0 = 0;
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  const int64_t cores_i64 = get_block_num();
  const int64_t cores = static_cast<int64_t>(cores_i64);
  const int64_t first_tile = core * c8;
  const int64_t stride = cores * c8;
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
  for (int64_t first = first_tile; first < c8; first += stride) {
    using index_part_shape = Shape<1, 1, 1, 1, 8>;
    using index_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<int32_t, index_part_shape, index_part_stride, Layout::ND> index_part(indices + c0 * c8 + first, index_part_shape(), index_part_stride(c1 * c8, c1 * c8, c1 * c8, c8));
    Tile<TileType::Vec, int32_t, 1, 8, BLayout::RowMajor, 1, 8> index;
    TASSIGN(index, ub0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
    TLOAD(index, index_part);
    using table_rows_shape = Shape<1, 1, 1, 16, 64>;
    using table_rows_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<bfloat16_t, table_rows_shape, table_rows_stride, Layout::ND> table_rows(table + c0 * c64 + c0, table_rows_shape(), table_rows_stride(c16 * c64, c16 * c64, c16 * c64, c64));
    using update_part_shape = Shape<1, 1, 1, 8, 64>;
    using update_part_stride = Stride<-1, -1, -1, -1, 1>;
    GlobalTensor<bfloat16_t, update_part_shape, update_part_stride, Layout::ND> update_part(updates + first * c64 + c0, update_part_shape(), update_part_stride(c8 * c64, c8 * c64, c8 * c64, c64));
    Tile<TileType::Vec, bfloat16_t, 8, 64, BLayout::RowMajor, 8, 64> update;
    TASSIGN(update, ub32);
    TLOAD(update, update_part);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    MSCATTER<pto::Coalesce::Row, pto::ScatterAtomicOp::Add, pto::ScatterOOB::Undefined>(table_rows, update, index);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
  pipe_barrier(PIPE_ALL);
}
