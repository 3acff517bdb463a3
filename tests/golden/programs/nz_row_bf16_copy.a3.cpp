// Written by strew for a3. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void nz_row_bf16_copy(__gm__ bfloat16_t* result, __gm__ bfloat16_t* operand, __gm__ int32_t* indices, __gm__ bfloat16_t* updates) {
  const int64_t ub0 = 0;
  const int64_t ub16384 = 16384;
  const int64_t ub16576 = 16576;
  const int64_t ub16768 = 16768;
  const int64_t c1 = 1;
  const int64_t c48 = 48;
  const int64_t c3 = 3;
  const int64_t c4 = 4;
  const int64_t c16 = 16;
  const int64_t c3072 = 3072;
  const int64_t c1024 = 1024;
  const int64_t c256 = 256;
  const int64_t c2304 = 2304;
  const int64_t c768 = 768;
  const int64_t c64 = 64;
  const int64_t c0 = 0;
  const int64_t c8192 = 8192;
  const int32_t cm1_i32 = -1;
  const int32_t c0_i32 = 0;
  const int32_t cm2147483647_i32 = -2147483647;
  const int32_t c63_i32 = 63;
  const int64_t cores_i64 = get_block_num();
  const int64_t cores = static_cast<int64_t>(cores_i64);
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  // each core owns a range of the table's rows
  const int64_t share = (c4 > 0) ? (c4 - 1) / cores + 1 : c4 / cores;
  const int64_t share_rows = share * c16;
  const int64_t core_row = core * share_rows;
  const int64_t begin = (core_row < c64) ? core_row : c64;
  const int64_t next_row = begin + share_rows;
  const int64_t end = (next_row < c64) ? next_row : c64;
  const int64_t owned_rows = end - begin;
  const int64_t first_element = begin * c16;
  const int64_t last_element = end * c16;
  for (int64_t block = c0; block < c3; block += c1) {
    const int64_t block_start = block * c1024;
    const int64_t to_element = block_start + last_element;
    const int64_t from_element = block_start + first_element;
    // the operand first
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
    for (int64_t copied = from_element; copied < to_element; copied += c8192) {
      const int64_t left = to_element - copied;
      const int64_t count = (left < c8192) ? left : c8192;
      Tile<TileType::Vec, bfloat16_t, 1, 8192, BLayout::RowMajor, 1, -1> line(count);
      TASSIGN(line, ub0);
      using line_from_shape = Shape<1, 1, 1, 1, -1>;
      using line_from_stride = Stride<-1, -1, -1, -1, 1>;
      GlobalTensor<bfloat16_t, line_from_shape, line_from_stride, Layout::ND> line_from(operand + c0 * c3072 + copied, line_from_shape(count), line_from_stride(c1 * c3072, c1 * c3072, c1 * c3072, c3072));
      wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
      TLOAD(line, line_from);
      using line_to_shape = Shape<1, 1, 1, 1, -1>;
      using line_to_stride = Stride<-1, -1, -1, -1, 1>;
      GlobalTensor<bfloat16_t, line_to_shape, line_to_stride, Layout::ND> line_to(result + c0 * c3072 + copied, line_to_shape(count), line_to_stride(c1 * c3072, c1 * c3072, c1 * c3072, c3072));
      set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
      TSTORE(line_to, line);
      set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
      pipe_barrier(PIPE_MTE3);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
    pipe_barrier(PIPE_ALL);
    pipe_barrier(PIPE_MTE3);
  }
  using index_part_shape = Shape<1, 1, 1, 1, 48>;
  using index_part_stride = Stride<-1, -1, -1, -1, 1>;
  GlobalTensor<int32_t, index_part_shape, index_part_stride, Layout::ND> index_part(indices + c0 * c48 + c0, index_part_shape(), index_part_stride(c1 * c48, c1 * c48, c1 * c48, c48));
  Tile<TileType::Vec, int32_t, 1, 48, BLayout::RowMajor, 1, 48> index;
  TASSIGN(index, ub16384);
  TLOAD(index, index_part);
  Tile<TileType::Vec, int32_t, 1, 48, BLayout::RowMajor, 1, 48> from_2_31;
  TASSIGN(from_2_31, ub16576);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TMAXS(from_2_31, index, cm1_i32);
  pipe_barrier(PIPE_V);
  TMINS(from_2_31, from_2_31, c0_i32);
  pipe_barrier(PIPE_V);
  TMULS(from_2_31, from_2_31, cm2147483647_i32);
  pipe_barrier(PIPE_V);
  TMAX(index, index, from_2_31);
  pipe_barrier(PIPE_V);
  TMAXS(index, index, c0_i32);
  pipe_barrier(PIPE_V);
  TMINS(index, index, c63_i32);
  const int64_t from_base = c0 - begin;
  const int32_t from_base_i32 = static_cast<int32_t>(from_base);
  pipe_barrier(PIPE_V);
  TADDS(index, index, from_base_i32);
  const int64_t blocks = owned_rows / c16;
  const int64_t block_2 = begin / c16;
  using result_rows_shape = Shape<1, 3, -1, 16, 16>;
  using result_rows_stride = Stride<-1, -1, -1, -1, 1>;
  GlobalTensor<bfloat16_t, result_rows_shape, result_rows_stride, Layout::NZ> result_rows(result + c0 * c3072 + c0 * c1024 + block_2 * c256 + c0 * c16 + c0, result_rows_shape(blocks), result_rows_stride(c3072, c1024, c256, c16));
  using update_part_shape = Shape<1, 3, 3, 16, 16>;
  using update_part_stride = Stride<-1, -1, -1, -1, 1>;
  GlobalTensor<bfloat16_t, update_part_shape, update_part_stride, Layout::NZ> update_part(updates + c0 * c2304 + c0 * c768 + c0 * c256 + c0 * c16 + c0, update_part_shape(), update_part_stride(c2304, c768, c256, c16));
  Tile<TileType::Vec, bfloat16_t, 48, 48, BLayout::ColMajor, 48, 48, SLayout::RowMajor, 512> update;
  TASSIGN(update, ub16768);
  TLOAD(update, update_part);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID1);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  pipe_barrier(PIPE_MTE3);
  MSCATTER<pto::Coalesce::Row, pto::ScatterAtomicOp::None, pto::ScatterOOB::Skip>(result_rows, update, index);
  pipe_barrier(PIPE_ALL);
}
