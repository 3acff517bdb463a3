// segment_ids() beside a plain loop, on generated segments of every dtype and kind of bounds; and what it refuses, with nothing written. A failure prints
// the seed of its case.
#include "strew/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "strew/dtype.h"
#include "tests/support/rng.h"

namespace strew {
namespace {

using test::Rng;

/// Elements of an integer dtype, contiguous.
std::vector<unsigned char> packed(const std::vector<int64_t>& values, DType dtype) {
  const auto size = static_cast<size_t>(bits(dtype) / 8);
  std::vector<unsigned char> out(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(out.data() + i * size, &values[i], size);  // little-endian
  return out;
}

TEST(SegmentIds, AreThoseOfAPlainLoop) {
  constexpr DType kDTypes[] = {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64};
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const int64_t batches = rng.chance(30) ? rng.between(0, 3) : 1, segments = rng.between(0, 9);
    const auto kind = static_cast<SegmentBounds>(rng.between(0, 2));
    const int64_t rows = segments == 0 ? 0 : rng.between(0, 40);
    std::vector<int64_t> bounds, expected;
    for (int64_t b = 0; b < batches; ++b) {
      std::vector<int64_t> ends;
      for (int64_t s = 0; s < segments; ++s) ends.push_back(s + 1 == segments ? rows : rng.between(0, rows));
      std::sort(ends.begin(), ends.end());
      int64_t before = 0;
      if (kind == SegmentBounds::offsets) bounds.push_back(0);
      for (int64_t s = 0; s < segments; ++s) {
        const int64_t end = ends[static_cast<size_t>(s)];
        bounds.push_back(kind == SegmentBounds::lengths ? end - before : kind == SegmentBounds::starts ? before : end);
        expected.insert(expected.end(), static_cast<size_t>(end - before), b * segments + s);
        before = end;
      }
    }
    const DType dtype = kDTypes[rng.between(0, 7)];
    const std::vector<unsigned char> memory = packed(bounds, dtype);
    const bool has_batches = batches != 1;
    const int64_t entries = segments + (kind == SegmentBounds::offsets ? 1 : 0);
    const std::vector<int64_t> bound_dims = has_batches ? std::vector<int64_t>{batches, entries} : std::vector<int64_t>{entries};
    const std::vector<int64_t> id_dims = has_batches ? std::vector<int64_t>{batches, rows} : std::vector<int64_t>{rows};
    std::vector<int64_t> wide(expected.size() + 1, -7);
    std::vector<int32_t> narrow(expected.size() + 1, -7);
    const TensorView of_bounds(static_cast<const void*>(memory.data()), dtype, bound_dims);
    Status status = segment_ids(of_bounds, kind, {wide.data(), id_dims});
    ASSERT_TRUE(status.ok()) << status.message();
    status = segment_ids(of_bounds, kind, {narrow.data(), id_dims});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(std::vector<int64_t>(wide.begin(), wide.end() - 1), expected);
    EXPECT_EQ(std::vector<int64_t>(narrow.begin(), narrow.end() - 1), expected);
    EXPECT_EQ(wide.back(), -7);
    EXPECT_EQ(narrow.back(), -7);
  }
}

TEST(SegmentIds, TakesStrides) {
  const std::vector<int32_t> lengths = {2, 9, 0, 9, 1};
  const std::vector<int64_t> bound_dims = {3}, bound_strides = {2}, id_dims = {3}, id_strides = {-2};
  std::vector<int64_t> ids(5, -7);
  const Status status =
      segment_ids({lengths.data(), bound_dims, bound_strides}, SegmentBounds::lengths, {ids.data() + 4, id_dims, id_strides});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(ids, (std::vector<int64_t>{2, -7, 0, -7, 0}));
}

/// The message of a call with these bounds of 4 rows, which must write nothing.
std::string refusal(const std::vector<int64_t>& bounds, SegmentBounds kind, std::vector<int64_t> bound_dims = {},
                    const std::vector<int64_t>& id_dims = {4}, DType dtype = DType::i64) {
  const std::vector<unsigned char> memory = packed(bounds, dtype);
  if (bound_dims.empty()) bound_dims = {static_cast<int64_t>(bounds.size())};
  std::vector<int64_t> ids(64, -7);
  const Status status = segment_ids({static_cast<const void*>(memory.data()), dtype, bound_dims}, kind, {ids.data(), id_dims});
  EXPECT_EQ(ids, std::vector<int64_t>(64, -7)) << "nothing is written";
  EXPECT_EQ(status.code(), Code::invalid_argument);
  return status.message();
}

TEST(SegmentIds, NamesTheFirstBadBound) {
  using enum SegmentBounds;
  EXPECT_EQ(refusal({4, -1, 1}, lengths), "lengths[1]: -1, expected 0 to 4, the rows that there are");
  EXPECT_EQ(refusal({0, 5}, lengths), "lengths[1]: 5, expected 0 to 4, the rows that there are");
  EXPECT_EQ(refusal({1, 2}, lengths), "lengths: 3 rows in all, expected 4, the rows that there are");
  EXPECT_EQ(refusal({}, lengths), "lengths: 0 rows in all, expected 4, the rows that there are");
  EXPECT_EQ(refusal({0, -1}, lengths, {}, {4}, DType::u64),
            "lengths[1]: 18446744073709551615, expected 0 to 4, the rows that there are");
  EXPECT_EQ(refusal({}, offsets), "offsets: no elements, expected where each segment begins and the last one ends");
  EXPECT_EQ(refusal({}, starts), "offsets: no elements, expected where each segment begins");
  EXPECT_EQ(refusal({1, 4}, offsets), "offsets[0]: 1, expected 0, where the first segment begins");
  EXPECT_EQ(refusal({0, 2, 1, 4}, offsets), "offsets[2]: 1, expected at least the one before, 2");
  EXPECT_EQ(refusal({0, 2, 1}, starts), "offsets[2]: 1, expected at least the one before, 2");
  EXPECT_EQ(refusal({0, 3}, offsets), "offsets[1]: 3, expected 4, the rows that there are");
  EXPECT_EQ(refusal({0, 5}, starts), "offsets[1]: 5, expected 0 to 4, the rows that there are");
  EXPECT_EQ(refusal({0, 2, 0, 3}, offsets, {2, 2}, {2, 2}), "offsets[1, 1]: 3, expected 0 to 2, the rows that there are");
}

TEST(SegmentIds, ChecksItsTensors) {
  using enum SegmentBounds;
  EXPECT_EQ(refusal({4}, lengths, {1}, {1, 4}), "ids: rank 2, expected 1, the rank of lengths");
  EXPECT_EQ(refusal({4, 4}, lengths, {2, 1}, {3, 4}), "ids: dim 0 is 3, expected 2, as in lengths");
  EXPECT_EQ(refusal({4}, lengths, {1}, {4}, DType::i4), "lengths: dtype i4, expected an integer of 8 to 64 bits");
  std::vector<int64_t> both = {0, 0, 0, 4, 4};
  const std::vector<int64_t> one = {1}, four = {4}, two_by_two = {2, 2}, strides = {1, 2};
  EXPECT_EQ(segment_ids({both.data() + 3, one}, lengths, {both.data(), four}).message(),
            "ids overlaps lengths: expected disjoint buffers");
  EXPECT_EQ(segment_ids({both.data() + 4, one}, lengths, {static_cast<const int64_t*>(both.data()), four}).message(),
            "ids: a view of memory that is read-only, expected one made from a pointer to memory that may be written");
  EXPECT_EQ(segment_ids({both.data(), two_by_two, strides}, offsets, {both.data(), two_by_two}).message(),
            "offsets: stride 2 of dim 1, expected 1: of several dims they are contiguous");
  std::vector<float> floats(4);
  EXPECT_EQ(segment_ids({both.data() + 4, one}, lengths, {floats.data(), four}).message(), "ids: dtype f32, expected i32 or i64");
  EXPECT_EQ(segment_ids({both.data() + 4, one}, static_cast<SegmentBounds>(3), {floats.data(), four}).message(),
            "kind: number 3, expected lengths, starts or offsets");
  EXPECT_EQ(both, (std::vector<int64_t>{0, 0, 0, 4, 4}));
}

}  // namespace
}  // namespace strew
