// Written by strew for a5. Needs the pto-isa headers; what each kernel wants from its caller is in the side-car.
#include "pto/pto-inst.hpp"

using namespace pto;

extern "C" __global__ AICORE void lookup_fill(__gm__ float* table, __gm__ int32_t* indices, __gm__ float* updates_table, __gm__ int32_t* indices1) {
  const int64_t ub0 = 0;
  const int64_t ub128 = 128;
  const int64_t ub256 = 256;
  const int64_t c1 = 1;
  const int64_t c1280 = 1280;
  const int64_t c1600 = 1600;
  const int64_t c0 = 0;
  const int64_t c60 = 60;
  const int64_t cm1 = -1;
  const int64_t c40 = 40;
  const int64_t c39 = 39;
  const int64_t c50 = 50;
  const int64_t c49 = 49;
  const float bits1056964608_f32 = __builtin_bit_cast(float, static_cast<uint32_t>(1056964608u));
  const int64_t c32 = 32;
  const int64_t core_i64 = get_block_idx();
  const int64_t core = static_cast<int64_t>(core_i64);
  // one core does it all
  const bool more = core == c0;
  if (more) {
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID4);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID4);
    for (int64_t position = c0; position < c60; position += c1) {
      const int32_t index_word = indices[position];
      const int64_t index = static_cast<int64_t>(index_word);
      const int64_t near = (index > cm1) ? index : cm1;
      const int64_t near_2 = (near < c40) ? near : c40;
      const int64_t inside = (near_2 > c0) ? near_2 : c0;
      const int64_t inside_2 = (inside < c39) ? inside : c39;
      const int64_t off = near_2 - inside_2;
      const int64_t outside = off * off;
      const int64_t here = c1 - outside;
      const int32_t lookup_word = indices1[position];
      const int64_t lookup = static_cast<int64_t>(static_cast<uint32_t>(lookup_word));
      const int64_t near_3 = (lookup > cm1) ? lookup : cm1;
      const int64_t near_4 = (near_3 < c50) ? near_3 : c50;
      const int64_t inside_3 = (near_4 > c0) ? near_4 : c0;
      const int64_t inside_4 = (inside_3 < c49) ? inside_3 : c49;
      const int64_t off_2 = near_4 - inside_4;
      const int64_t outside_2 = off_2 * off_2;
      const int64_t here_2 = c1 - outside_2;
      wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
      wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID4);
      wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID4);
      set_flag(PIPE_MTE2, PIPE_V, EVENT_ID4);
      set_flag(PIPE_MTE3, PIPE_V, EVENT_ID4);
      set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
      for (int64_t row = c0; row < here; row += c1) {
        Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, 1, 32> update;
        TASSIGN(update, ub0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID4);
        wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID4);
        wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
        // the fill value, for an index out of bounds
        TEXPANDS(update, bits1056964608_f32);
        const bool more_2 = here_2 == c1;
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        if (more_2) {
          const int64_t cols_in = inside_4 * c32;
          using update_part_shape = Shape<1, 1, 1, 1, 32>;
          using update_part_stride = Stride<-1, -1, -1, -1, 1>;
          GlobalTensor<float, update_part_shape, update_part_stride, Layout::ND> update_part(updates_table + row * c1600 + cols_in, update_part_shape(), update_part_stride(c1 * c1600, c1 * c1600, c1 * c1600, c1600));
          TLOAD(update, update_part);
        }
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID4);
        const int64_t cols_in_2 = inside_2 * c32;
        using current_part_shape = Shape<1, 1, 1, 1, 32>;
        using current_part_stride = Stride<-1, -1, -1, -1, 1>;
        GlobalTensor<float, current_part_shape, current_part_stride, Layout::ND> current_part(table + row * c1280 + cols_in_2, current_part_shape(), current_part_stride(c1 * c1280, c1 * c1280, c1 * c1280, c1280));
        Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, 1, 32> current;
        TASSIGN(current, ub128);
        TLOAD(current, current_part);
        Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, 1, 32> combined;
        TASSIGN(combined, ub256);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TMAX(combined, current, update);
        const int64_t cols_in_3 = inside_2 * c32;
        using table_part_shape = Shape<1, 1, 1, 1, 32>;
        using table_part_stride = Stride<-1, -1, -1, -1, 1>;
        GlobalTensor<float, table_part_shape, table_part_stride, Layout::ND> table_part(table + row * c1280 + cols_in_3, table_part_shape(), table_part_stride(c1 * c1280, c1 * c1280, c1 * c1280, c1280));
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(table_part, combined);
        set_flag(PIPE_MTE3, PIPE_V, EVENT_ID4);
        set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
        pipe_barrier(PIPE_MTE3);
      }
      wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID4);
      wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID4);
      wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID4);
      set_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
      set_flag(PIPE_V, PIPE_MTE3, EVENT_ID4);
      set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID4);
      pipe_barrier(PIPE_MTE3);
    }
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID4);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID4);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID4);
  }
  pipe_barrier(PIPE_ALL);
}
