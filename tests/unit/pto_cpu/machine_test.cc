// The machine under compiled NPU programs (tests/pto_cpu/machine): what it computes, and above all what it finds wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/pto_cpu/machine/elements.h"
#include "tests/pto_cpu/machine/launch.h"

namespace pto_cpu {
namespace {

using testing::HasSubstr;

/// A table and a list of numbers of i32, and tiles of eight of them.
struct Room {
  std::vector<int32_t> table, numbers;
  explicit Room(size_t slots = 8) : table(slots), numbers(8) {
    for (size_t i = 0; i < 8; ++i) numbers[i] = static_cast<int32_t>(i);
  }

  static Buffer buffer(const char* name, std::vector<int32_t>& of, bool writable) {
    return {.name = name,
            .data = reinterpret_cast<std::byte*>(of.data()),
            .bytes = static_cast<int64_t>(4 * of.size()),
            .writable = writable};
  }
  Launch launch() { return {.buffers = {buffer("table", table, true), buffer("numbers", numbers, false)}}; }
  std::string error_of(Chip chip, int blocks, const std::function<void()>& kernel, BlockOrder order = BlockOrder::forwards) {
    Launch out = launch();
    out.order = order;
    run(out, chip, blocks, kernel);
    return out.error;
  }
};

TileView tile(int64_t address, int64_t valid = 8) { return {false, address, Type::i32, Places::rows, 1, 8, 1, valid}; }
GlobalView line(std::vector<int32_t>& of, int64_t count = 8, int64_t first = 0) {
  return {of.data() + first, Type::i32, false, {1, 1, 1, 1, count}, {count, count, count, count, 1}};
}
/// One column of rows.
GlobalView rows(std::vector<int32_t>& of, int64_t count) {
  return {of.data(), Type::i32, false, {1, 1, 1, count / 8, 8}, {count, count, count, 8, 1}};
}

void flag(Pipe from, Pipe to) {
  set_flag(from, to, 0, 100);
  wait_flag(from, to, 0, 101);
}

TEST(PtoMachine, AFlagOrdersAReadBehindAWrite) {
  Room room;
  const auto kernel = [&](bool flags) {
    return [&, flags] {
      load(tile(0), line(room.numbers), 1);
      if (flags) flag(Pipe::mte2, Pipe::v);
      compute(Operation::add, "TADDS", tile(32), tile(0), 5, 2);
      if (flags) flag(Pipe::v, Pipe::mte3);
      store(line(room.table), tile(32), 3);
    };
  };
  EXPECT_EQ(room.error_of(Chip::a5, 1, kernel(true)), "");
  EXPECT_EQ(room.table, (std::vector<int32_t>{5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(
      room.error_of(Chip::a5, 1, kernel(false)),
      "block 0 of 1: TADDS in line 2: on PIPE_V it reads byte 0 of the vector buffer, which TLOAD in line 1 writes on PIPE_MTE2, "
      "expected a flag from PIPE_MTE2 to PIPE_V between");
}

TEST(PtoMachine, AFlagHandsOnWhatItsPipeWaitedFor) {
  Room room;
  const auto kernel = [&](bool second) {
    return [&, second] {
      load(tile(0), line(room.numbers), 1);
      flag(Pipe::mte2, Pipe::v);
      compute(Operation::add, "TADDS", tile(32), tile(0), 1, 2);
      if (second) flag(Pipe::v, Pipe::mte3);
      store(line(room.table), tile(0), 3);  // the tile of MTE2, not of V
    };
  };
  EXPECT_EQ(room.error_of(Chip::a5, 1, kernel(true)), "");
  EXPECT_THAT(room.error_of(Chip::a5, 1, kernel(false)), HasSubstr("expected a flag from PIPE_MTE2 to PIPE_MTE3"));
}

TEST(PtoMachine, AWriteWaitsForReadsAndWrites) {
  Room room;
  EXPECT_THAT(
      room.error_of(Chip::a5, 1,
                    [&] {
                      load(tile(0), line(room.numbers), 1);
                      flag(Pipe::mte2, Pipe::mte3);
                      store(line(room.table), tile(0), 2);
                      load(tile(0), line(room.numbers), 3);
                    }),
      HasSubstr(
          "TLOAD in line 3: on PIPE_MTE2 it writes byte 0 of the vector buffer, which TSTORE in line 2 reads on PIPE_MTE3"));
  EXPECT_THAT(
      room.error_of(Chip::a5, 1,
                    [&] {
                      load(tile(0), line(room.numbers), 1);
                      fill(tile(0), 7, 2);
                    }),
      HasSubstr(
          "TEXPANDS in line 2: on PIPE_V it writes byte 0 of the vector buffer, which TLOAD in line 1 writes on PIPE_MTE2"));
}

TEST(PtoMachine, OnlyA3NeedsBarriersOfV) {
  Room room;
  const auto kernel = [&](bool barrier) {
    return [&, barrier] {
      fill(tile(0), 3, 1);
      if (barrier) pipe_barrier(Pipe::v, 2);
      compute(Operation::add, "TADD", tile(0), tile(0), tile(0), 3);
    };
  };
  EXPECT_EQ(room.error_of(Chip::a5, 1, kernel(false)), "");
  EXPECT_EQ(room.error_of(Chip::a3, 1, kernel(true)), "");
  EXPECT_THAT(room.error_of(Chip::a3, 1, kernel(false)), HasSubstr("expected a barrier of PIPE_V between"));
}

TEST(PtoMachine, BothChipsNeedBarriersBetweenStoresOfTheSameBytes) {
  for (const Chip chip : {Chip::a3, Chip::a5}) {
    Room room(16);
    const auto kernel = [&](int64_t second, Pipe barrier) {
      return [&, second, barrier] {
        fill(tile(0), 3, 1);
        flag(Pipe::v, Pipe::mte3);
        store(line(room.table), tile(0), 2);
        if (barrier != Pipe::other) pipe_barrier(barrier, 3);
        store(line(room.table, 8, second), tile(0), 4);
      };
    };
    EXPECT_EQ(room.error_of(chip, 1, kernel(8, Pipe::other)), "");
    EXPECT_EQ(room.error_of(chip, 1, kernel(7, Pipe::mte3)), "");
    EXPECT_EQ(room.error_of(chip, 1, kernel(7, Pipe::all)), "");
    EXPECT_THAT(room.error_of(chip, 1, kernel(7, Pipe::other)), HasSubstr("writes byte 28 of table"));
  }
}

TEST(PtoMachine, FlagsComeInPairs) {
  Room room;
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { wait_flag(Pipe::v, Pipe::s, 3, 9); }),
              HasSubstr("wait_flag in line 9: the core hangs here, because nothing has set flag PIPE_V to PIPE_S, event 3"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { set_flag(Pipe::v, Pipe::s, 3, 9); }),
              HasSubstr("is still set when the kernel ends"));
  EXPECT_THAT(room.error_of(Chip::a5, 1,
                            [] {
                              set_flag(Pipe::v, Pipe::s, 3, 9);
                              set_flag(Pipe::v, Pipe::s, 3, 10);
                            }),
              HasSubstr("set_flag in line 10: flag PIPE_V to PIPE_S, event 3 is set already, in line 9"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { set_flag(Pipe::v, Pipe::v, 0, 1); }), HasSubstr("expected two pipes"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { set_flag(Pipe::all, Pipe::v, 0, 1); }), HasSubstr("it names PIPE_ALL"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { wait_signal(Pipe::mte3, 2, 4); }), HasSubstr("nothing has set signal 2"));
}

TEST(PtoMachine, ALineOfFlagsThatIsDeletedIsNotThere) {
  Room room;
  Launch launch = room.launch();
  launch.deleted = {100};
  run(launch, Chip::a5, 1, [] { flag(Pipe::v, Pipe::s); });
  EXPECT_THAT(launch.error, HasSubstr("wait_flag in line 101: the core hangs"));
  EXPECT_EQ(launch.flag_lines, (std::set<int>{100, 101}));
}

TEST(PtoMachine, AccessesStayInside) {
  Room room;
  EXPECT_THAT(room.error_of(Chip::a5, 1, [&] { load(tile(0), line(room.numbers, 8, 1), 1); }),
              HasSubstr("byte 4 from the start of numbers, which has 32 bytes"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [&] { load(tile(0, 7), line(room.numbers), 1); }),
              HasSubstr("the part of memory is 1x8, expected 1x7 as the valid part of the tile"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { check_tile(tile(128 * 1024 - 16), 6); }), HasSubstr("TASSIGN in line 6"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { check_tile(tile(128 * 1024), 6); }), HasSubstr("TASSIGN in line 6"));
  EXPECT_EQ(room.error_of(Chip::a3, 1, [] { check_tile(tile(128 * 1024), 6); }), "");
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { check_tile(tile(0, 9), 6); }), HasSubstr("its valid part is 1x9"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { (void)get(tile(0), 8, 1); }), HasSubstr("are not in the tile"));
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { fill(tile(-1), 0, 1); }), HasSubstr("expected a TASSIGN"));
  EXPECT_THAT(room.error_of(Chip::a5, 1,
                            [&] {
                              fill(tile(0), 0, 1);
                              flag(Pipe::v, Pipe::mte3);
                              store(line(room.numbers), tile(0), 2);
                            }),
              HasSubstr("it writes numbers, which is an input"));
}

TEST(PtoMachine, OnlyWhatWasWrittenIsRead) {
  Room room;
  EXPECT_THAT(room.error_of(Chip::a5, 1, [] { compute(Operation::add, "TADDS", tile(32), tile(0), 1, 1); }),
              HasSubstr("which nothing wrote"));
  EXPECT_THAT(room.error_of(Chip::a5, 1,
                            [] {
                              fill(tile(0, 5), 1, 1);
                              compute(Operation::add, "TADDS", tile(32), tile(0), 1, 2);
                            }),
              HasSubstr("it reads byte 20 of the vector buffer, which nothing wrote"));
  EXPECT_THAT(room.error_of(Chip::a5, 1,
                            [] {
                              fill(tile(0), 1, 1);
                              exclusive_or(tile(32), tile(0), tile(0), tile(64), 2);
                              compute(Operation::add, "TADDS", tile(32), tile(64), 1, 3);
                            }),
              HasSubstr("it reads byte 64 of the vector buffer, which nothing wrote"));
}

/// Each block loads its own number of the list as data, and where it goes.
std::function<void()> scatter_one(Room& room, bool by_row, Atomic atomic, Conflict conflict = Conflict::last) {
  return [&room, by_row, atomic, conflict] {
    load(tile(0), line(room.numbers), 1);
    load(tile(32), line(room.numbers), 2);
    for (const Pipe to : {Pipe::v, Pipe::mte3}) flag(Pipe::mte2, to);
    TileView indices = tile(32);
    if (by_row) indices.valid_cols = 1;
    scatter(by_row ? rows(room.table, static_cast<int64_t>(room.table.size())) : line(room.table), tile(0), indices, by_row,
            atomic, Bounds::skip, conflict, 3);
  };
}

TEST(PtoMachine, BlocksMayNotMeetWithoutAnAtomic) {
  for (const BlockOrder order : {BlockOrder::forwards, BlockOrder::backwards, BlockOrder::threads}) {
    Room room;
    EXPECT_THAT(room.error_of(Chip::a5, 3, scatter_one(room, false, Atomic::none), order),
                HasSubstr("and nothing orders blocks"));
    room.table.assign(8, 100);
    EXPECT_EQ(room.error_of(Chip::a5, 3, scatter_one(room, false, Atomic::add), order), "");
    EXPECT_EQ(room.table, (std::vector<int32_t>{100, 103, 106, 109, 112, 115, 118, 121}));
    EXPECT_EQ(room.error_of(Chip::a3, 3, scatter_one(room, true, Atomic::add), order), "");
    EXPECT_THAT(room.error_of(Chip::a3, 3, scatter_one(room, false, Atomic::add), order), HasSubstr("and nothing orders blocks"))
        << "a3 adds elements by a scalar read and write";
  }
}

TEST(PtoMachine, BlocksMayWriteTheSameValuesWhereTheBufferSaysSo) {
  Room room;
  const auto kernel = [&](bool same) {
    return [&, same] {
      fill(tile(0), same ? 4 : static_cast<uint64_t>(block_number()), 1);
      flag(Pipe::v, Pipe::mte3);
      store(line(room.table), tile(0), 2);
    };
  };
  EXPECT_THAT(room.error_of(Chip::a5, 2, kernel(true)), HasSubstr("block 1 writes byte 0 of table, which block 0 writes"));
  Launch launch = room.launch();
  launch.buffers[0].agreed = true;
  run(launch, Chip::a5, 2, kernel(true));
  EXPECT_EQ(launch.error, "");
  run(launch, Chip::a5, 2, kernel(false));
  EXPECT_THAT(launch.error, HasSubstr("block 1 writes"));
}

TEST(PtoMachine, ThreadsDecideOnlyWhereTheModeLeavesItOpen) {
  for (const bool backwards : {false, true}) {
    for (const Conflict conflict : {Conflict::last, Conflict::any}) {
      Room room;
      Launch launch = room.launch();
      launch.threads_backwards = backwards;
      run(launch, Chip::a5, 1, [&] {
        load(tile(0), line(room.numbers), 1);
        fill(tile(32), 2, 2);
        flag(Pipe::mte2, Pipe::v);
        scatter(line(room.table), tile(0), tile(32), false, Atomic::none, Bounds::skip, conflict, 3);
      });
      EXPECT_EQ(launch.error, "");
      EXPECT_EQ(room.table[2], backwards && conflict == Conflict::any ? 0 : 7);
    }
  }
}

TEST(PtoMachine, IndicesAreUnsigned) {
  for (const Chip chip : {Chip::a3, Chip::a5}) {
    const auto gathered = [&](Bounds bounds, int32_t index, std::string* error) {
      Room room(7);
      for (size_t i = 0; i < 7; ++i) room.table[i] = static_cast<int32_t>(10 + i);
      int32_t out = -1;
      *error = room.error_of(chip, 1, [&] {
        fill(tile(0), static_cast<uint32_t>(index), 1);
        flag(Pipe::v, Pipe::s);
        gather(tile(32), line(room.table, 7), tile(0), false, bounds, 2);
        flag(Pipe::v, Pipe::s);
        out = static_cast<int32_t>(get(tile(32), 0, 3));
      });
      return out;
    };
    std::string error;
    EXPECT_EQ(gathered(Bounds::clamp, -1, &error), 16) << error;
    EXPECT_EQ(gathered(Bounds::wrap, -1, &error), 10 + 4294967295U % 7) << error;
    EXPECT_EQ(gathered(Bounds::zero, -1, &error), 0) << error;
    EXPECT_EQ(gathered(Bounds::undefined, 6, &error), 16) << error;
    EXPECT_EQ(error, "");
    gathered(Bounds::undefined, 7, &error);
    EXPECT_THAT(error, HasSubstr("index 7 is out of bounds: the table has 7 slots"));
  }
}

TEST(PtoMachine, A5TakesTheTilesWidthForTheDistanceOfRows) {
  for (const Chip chip : {Chip::a3, Chip::a5}) {
    Room room(32);
    EXPECT_EQ(room.error_of(chip, 1,
                            [&] {
                              load(tile(0), line(room.numbers), 1);
                              fill(tile(32, 1), 1, 2);
                              for (const Pipe to : {Pipe::v, Pipe::mte3}) flag(Pipe::mte2, to);
                              flag(Pipe::v, Pipe::mte3);
                              const GlobalView padded{room.table.data(), Type::i32, false, {1, 1, 1, 2, 8}, {32, 32, 32, 16, 1}};
                              scatter(padded, tile(0), tile(32, 1), true, Atomic::none, Bounds::skip, Conflict::last, 3);
                            }),
              "");
    EXPECT_EQ(room.table[chip == Chip::a3 ? 17 : 9], 1);
  }
}

TEST(PtoMachine, FloatsOf16BitsRoundToNearestEven) {
  for (const Type type : {Type::f16, Type::bf16}) {
    for (uint32_t code = 0; code < 65536; ++code) {
      const float value = to_float(type, code);
      if (!std::isnan(value)) {
        ASSERT_EQ(from_float(type, value), code) << code;
      }
      // Between two neighbours the even one is taken, and the nearer one beside the middle.
      const uint32_t next = code + 1;
      if ((code & 0x8000) != 0 || !std::isfinite(value) || !std::isfinite(to_float(type, next))) continue;
      const float middle = value / 2 + to_float(type, next) / 2;
      ASSERT_EQ(from_float(type, middle), code % 2 == 0 ? code : next) << code;
      ASSERT_EQ(from_float(type, std::nextafter(middle, 0.0F)), code) << code;
      ASSERT_EQ(from_float(type, std::nextafter(middle, INFINITY)), next) << code;
    }
  }
  EXPECT_EQ(to_float(Type::f16, 0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(to_float(Type::f16, 0x7BFF), 65504.0F);
  EXPECT_EQ(from_float(Type::f16, 1e38F), 0x7C00U);
  EXPECT_EQ(from_float(Type::f16, 65520.0F), 0x7C00U);
  EXPECT_EQ(from_float(Type::f16, 65519.0F), 0x7BFFU);
  EXPECT_TRUE(std::isnan(to_float(Type::f16, from_float(Type::f16, NAN))));
}

TEST(PtoMachine, MaximaAreThoseOfIeee754) {
  const auto of = [](Operation what, float a, float b) {
    return to_float(Type::f32, combined(what, Type::f32, from_float(Type::f32, a), from_float(Type::f32, b)));
  };
  EXPECT_TRUE(std::isnan(of(Operation::max, NAN, 1)));
  EXPECT_TRUE(std::isnan(of(Operation::min, 1, NAN)));
  EXPECT_FALSE(std::signbit(of(Operation::max, -0.0F, 0.0F)));
  EXPECT_FALSE(std::signbit(of(Operation::max, 0.0F, -0.0F)));
  EXPECT_TRUE(std::signbit(of(Operation::min, 0.0F, -0.0F)));
  EXPECT_TRUE(std::signbit(of(Operation::min, -0.0F, 0.0F)));
  EXPECT_EQ(of(Operation::min, -3, 2), -3);
  EXPECT_EQ(combined(Operation::max, Type::u8, 200, 100), 200U);
  EXPECT_EQ(combined(Operation::max, Type::i8, 200, 100), 100U);
}

TEST(PtoMachine, FractalsAreBlocksOf16RowsOf32Bytes) {
  const TileView tile{true, 0, Type::f16, Places::fractals, 32, 48, 32, 48};
  EXPECT_EQ(place_of(tile, 0, 15), 30);
  EXPECT_EQ(place_of(tile, 1, 0), 32);
  EXPECT_EQ(place_of(tile, 16, 0), 512);
  EXPECT_EQ(place_of(tile, 0, 16), 1024);
}

}  // namespace
}  // namespace pto_cpu
