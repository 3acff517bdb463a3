// The stable radix partition by itself, on keys of the test's own: whatever the threads, limits and keys, each position that is not dropped
// lies in exactly one bucket, in order, buckets are ranges of destinations in order, and none is heavier than it must be.
#include "runtime/call/strategies/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace strew {
namespace {

int32_t given_keys(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  auto* const keys = static_cast<uint32_t*>(const_cast<void*>(args->key));
  const auto* const given = static_cast<const uint32_t*>(args->data[0]);
  for (int64_t p = begin; p < end; ++p) keys[p - args->n_list] = given[p];
  return STREW_OK;
}

/// Small enough for several blocks, slots and sums of a few positions.
ExecutionLimits small_limits() {
  ExecutionLimits limits;
  limits.radix_least_block = 4;
  limits.radix_sum = 16;
  limits.line_bytes = 1;
  return limits;
}

struct Case {
  std::vector<uint32_t> keys;
  int64_t last_key;
  int threads = 4;
  ExecutionLimits limits = small_limits();
  Bytes key_bytes{4};
  Bytes scratch_bytes{int64_t{1} << 30};
};

/// What came of a case.
struct Outcome {
  PartitionLayout layout;
  int rounds = 0;
  uint32_t heaviest = 0;  ///< of all buckets of all rounds
};

class Checked {
 public:
  explicit Checked(Case c) : case_(std::move(c)) {
    const auto positions = static_cast<int64_t>(case_.keys.size());
    out_.layout = PartitionLayout::of(
        {positions, case_.last_key, case_.key_bytes, Bytes(int64_t{1} << 40), case_.scratch_bytes, case_.threads}, case_.limits);
    EXPECT_GE(out_.layout.round, 1);
    const auto bytes = static_cast<size_t>(out_.layout.scratch_bytes().count());
    std::vector<char> memory(bytes + 2 * 64, 'x');
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    char* const scratch = memory.data() + (64 - address % 64) % 64;
    void* data[] = {case_.keys.data()};
    strew_args args{};
    args.data = data;
    Partition partition(KeyScan(given_keys, args), out_.layout, scratch);
    for (int64_t begin = 0; begin < positions; begin += out_.layout.round, ++out_.rounds)
      run_round(partition, begin, std::min(out_.layout.round, positions - begin));
    EXPECT_TRUE(std::all_of(scratch + bytes, memory.data() + memory.size(), [](char byte) { return byte == 'x'; }))
        << "written behind the scratch";
  }
  const Outcome& outcome() const { return out_; }

 private:
  /// The arguments of each step in descending order: none depends on another.
  void run_round(Partition& partition, int64_t begin, int64_t count) {
    const PartitionLayout& layout = out_.layout;
    partition.start(begin, count);
    for (int block = layout.blocks; block-- > 0;) partition.count(block);
    for (int chunk = layout.sums; chunk-- > 0;) partition.add(chunk);
    partition.cut();
    for (int bucket = layout.buckets + 1; bucket-- > 0;) partition.place(bucket);
    for (int block = layout.blocks; block-- > 0;) partition.scatter(block);
    check_round(partition, begin, count);
  }

  void check_round(const Partition& partition, int64_t begin, int64_t count) {
    const PartitionLayout& layout = out_.layout;
    ASSERT_EQ(partition.begin(), begin);
    std::vector<uint32_t> per_slot(static_cast<size_t>(layout.slots));
    int64_t kept = 0, next_key = 0;
    std::vector<bool> seen(static_cast<size_t>(count));
    ASSERT_EQ(partition.bucket_begin(0), 0U);
    for (int b = 0; b < layout.buckets; ++b) {
      const uint32_t from = partition.bucket_begin(b), to = partition.bucket_begin(b + 1);
      ASSERT_LE(from, to);
      out_.heaviest = std::max(out_.heaviest, to - from);
      int64_t last_position = -1, largest = next_key - 1;
      for (uint32_t i = from; i < to; ++i) {
        const auto position = static_cast<int64_t>(partition.list()[i] & 0xffffffffU);
        const auto key = static_cast<uint32_t>(partition.list()[i] >> 32);
        ASSERT_LT(last_position, position) << "bucket " << b << " is out of order";
        ASSERT_LT(position, count);
        ASSERT_EQ(key, case_.keys[static_cast<size_t>(begin + position)]);
        ASSERT_GE(key, next_key) << "bucket " << b << " shares destinations with an earlier one";
        seen[static_cast<size_t>(position)] = true;
        ++per_slot[key >> layout.shift];
        last_position = position, largest = std::max<int64_t>(largest, key);
        ++kept;
      }
      next_key = ((largest >> layout.shift) + 1) << layout.shift;  // slots are not divided
    }
    for (int64_t p = 0; p < count; ++p)
      ASSERT_EQ(seen[static_cast<size_t>(p)], case_.keys[static_cast<size_t>(begin + p)] != kDroppedKey) << "position " << p;
    const uint32_t hottest = *std::max_element(per_slot.begin(), per_slot.end());
    const int64_t share = (kept + layout.buckets - 1) / layout.buckets;
    for (int b = 0; b < layout.buckets; ++b)
      EXPECT_LE(partition.bucket_begin(b + 1) - partition.bucket_begin(b), share + hottest) << "bucket " << b << " is too heavy";
  }

  Case case_;
  Outcome out_;
};

std::vector<uint32_t> random_keys(int64_t count, int64_t last_key, int dropped_percent = 10) {
  std::mt19937_64 random(static_cast<uint64_t>(count * 31 + last_key));
  std::vector<uint32_t> keys(static_cast<size_t>(count));
  for (uint32_t& key : keys) {
    key = static_cast<uint32_t>(random() % static_cast<uint64_t>(last_key + 1));
    if (static_cast<int>(random() % 100) < dropped_percent) key = kDroppedKey;
  }
  return keys;
}

TEST(Partition, KeepsEveryPositionOnceAndInOrder) {
  for (const int64_t last_key : {int64_t{0}, int64_t{1}, int64_t{6}, int64_t{999}, int64_t{123456}, int64_t{kDroppedKey} - 1})
    for (const int64_t count : {1, 2, 7, 8, 9, 63, 1000, 20011})
      for (const int threads : {1, 2, 3, 8, 33, 1024}) Checked({random_keys(count, last_key), last_key, threads});
}

TEST(Partition, TheLimitsOfUsersToo) {
  for (const int threads : {2, 8, 32}) {
    const Checked checked({random_keys(100003, 50000), 50000, threads, kDefaultLimits});
    EXPECT_EQ(checked.outcome().rounds, threads < 4 ? 2 : 1);  // 16384 positions for each of two blocks per thread
    EXPECT_EQ(checked.outcome().layout.buckets, 4 * threads);
    EXPECT_LT(checked.outcome().heaviest, 2 * 100003 / (4 * threads));
  }
}

TEST(Partition, AHotDestinationHasABucketNearlyToItself) {
  std::vector<uint32_t> keys = random_keys(40000, 9999, 0);
  for (size_t i = 0; i < keys.size(); ++i)
    if (i % 10 != 0) keys[i] = 7000;
  const Outcome out = Checked({std::move(keys), 9999, 8}).outcome();
  EXPECT_GE(out.heaviest, 36000U);
  EXPECT_LE(out.heaviest, 36000U + 2 * 40000 / 32);
}

TEST(Partition, BucketsAreEvenWhereDestinationsAre) {
  const Outcome out = Checked({random_keys(64000, 99999, 0), 99999, 8}).outcome();
  EXPECT_EQ(out.layout.buckets, 32);
  EXPECT_LE(out.heaviest, 2000U + 2000 / 10);
}

TEST(Partition, NothingToDo) {
  EXPECT_EQ(Checked({{}, 100}).outcome().rounds, 0);
  const Outcome dropped = Checked({std::vector<uint32_t>(500, kDroppedKey), 100}).outcome();
  EXPECT_EQ(dropped.rounds, 1);
  EXPECT_EQ(dropped.heaviest, 0U);
}

/// A promise of policy undefined that is broken: such an update goes nowhere, and nothing of the partition's own is written over.
TEST(Partition, KeysOf32BitsAreShiftedByLess) {
  for (const int64_t positions : {1, 2, 1000}) {
    const PartitionLayout layout =
        PartitionLayout::of({positions, int64_t{kDroppedKey} - 1, Bytes(4), Bytes(0), Bytes(1 << 30), 4}, kDefaultLimits);
    EXPECT_LT(layout.shift, 32) << positions;
    EXPECT_EQ(layout.slots, (int64_t{layout.last_key} >> layout.shift) + 1) << positions;
  }
}

TEST(Partition, KeysBeyondTheLastGoNowhere) {
  std::vector<uint32_t> keys = random_keys(1000, 50, 0);
  PartitionLayout layout = PartitionLayout::of({1000, 50, Bytes(4), Bytes(0), Bytes(1 << 30), 4}, small_limits());
  for (size_t i = 0; i < keys.size(); i += 3) keys[i] = 4000000000U;
  std::vector<uint64_t> scratch(static_cast<size_t>(layout.scratch_bytes().count()) / 8 + 9);
  const auto address = reinterpret_cast<uintptr_t>(scratch.data());
  void* data[] = {keys.data()};
  strew_args args{};
  args.data = data;
  Partition partition(KeyScan(given_keys, args), layout, reinterpret_cast<char*>(scratch.data()) + (64 - address % 64) % 64);
  partition.start(0, 1000);
  for (int block = 0; block < layout.blocks; ++block) partition.count(block);
  for (int chunk = 0; chunk < layout.sums; ++chunk) partition.add(chunk);
  partition.cut();
  EXPECT_EQ(partition.bucket_begin(layout.buckets), 1000U - 334U);
}

TEST(Partition, RoundsFitTheScratch) {
  const std::vector<uint32_t> keys = random_keys(50000, 3000);
  for (const Bytes bytes : {Bytes(4 << 10), Bytes(64 << 10), Bytes(300 << 10)}) {
    for (const int threads : {2, 8, 64}) {
      Case c{keys, 3000, threads};
      c.scratch_bytes = bytes;
      const Outcome out = Checked(std::move(c)).outcome();
      EXPECT_LE(out.layout.scratch_bytes(), bytes);
      EXPECT_GE(out.rounds, 50000 * 12 / bytes.count());
    }
  }
  for (const int threads : {1, 2, 8, 64, 1024}) {
    for (const Bytes bytes : {Bytes(1 << 20), Bytes(int64_t{1} << 36)}) {
      const Bytes most = PartitionLayout::most_scratch_bytes(threads, bytes, kDefaultLimits);
      for (const int64_t positions : {int64_t{1}, int64_t{5000}, int64_t{1} << 20, int64_t{1} << 40}) {
        for (const int64_t last_key : {int64_t{0}, int64_t{5000}, int64_t{kDroppedKey} - 1}) {
          const PartitionLayout layout =
              PartitionLayout::of({positions, last_key, Bytes(4), Bytes(int64_t{1} << 50), bytes, threads}, kDefaultLimits);
          EXPECT_LE(layout.scratch_bytes(), most) << threads << " threads, " << positions << " positions";
          EXPECT_LE(most, bytes);
          EXPECT_LE(layout.slots, PartitionLayout::kMostSlots);
          EXPECT_LE(layout.buckets, PartitionLayout::kMostBuckets);
        }
      }
    }
  }
}

TEST(Partition, RoundsStayBelow2To31) {
  ExecutionLimits limits;
  limits.radix_block = int64_t{1} << 40;
  constexpr Bytes kMuch(int64_t{1} << 60);
  const PartitionLayout layout = PartitionLayout::of({int64_t{1} << 40, 1000, Bytes(4), kMuch, kMuch, 8}, limits);
  EXPECT_LT(layout.round, int64_t{1} << 31);
  EXPECT_GT(layout.round, int64_t{1} << 30);
}

TEST(Partition, BucketsEndWithLinesOfTheResult) {
  Case c{random_keys(5000, 100000), 100000, 8};
  c.limits.line_bytes = 64;
  EXPECT_GE(Checked(c).outcome().layout.shift, 4);  // sixteen elements of four bytes
  c.key_bytes = Bytes(256);
  c.limits.radix_slots = 32768;
  c.last_key = 600;
  c.keys = random_keys(20000, 600);
  EXPECT_EQ(Checked(c).outcome().layout.shift, 0);
}

}  // namespace
}  // namespace strew
