// csr() beside std::stable_sort: on generated indices of every dtype and layout, on any number of threads and on hosts that run tasks as they like; and what
// it refuses, with nothing written. A failure prints the seed of its case.
#include "runtime/call/csr/csr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "strew/csr.h"
#include "tests/support/rng.h"

namespace strew {
namespace {

using test::Rng;
using testing::HasSubstr;

/// Many blocks, chunks and buckets of a few positions each.
ExecutionLimits small_limits() {
  ExecutionLimits limits;
  limits.shares_all = true;
  limits.radix_least_block = 4;
  limits.radix_sum = 16;
  limits.line_bytes = 1;
  limits.csr_bucket = 8;
  return limits;
}
ExecutionLimits counting_limits() {
  ExecutionLimits limits = small_limits();
  limits.csr_counted = std::numeric_limits<int64_t>::max();
  return limits;
}
ExecutionLimits bucket_limits() {
  ExecutionLimits limits = small_limits();
  limits.csr_counted = -1;
  return limits;
}

/// Elements of one dim in memory of their own, `stride` elements apart, between elements that must not change.
class Strided {
 public:
  Strided(DType dtype, int64_t count, int64_t stride) : dtype_(dtype), count_(count), stride_(stride) {
    const int64_t span = count == 0 ? 0 : std::abs(stride) * (count - 1) + 1;
    bytes_.assign(static_cast<size_t>((span + 2 * kGuard) * size()), kUntouched);
    first_ = (kGuard + (stride < 0 ? span - 1 : 0)) * size();
  }
  TensorView view() { return {bytes_.data() + first_, dtype_, 1, &count_, &stride_}; }
  void set(int64_t i, int64_t value) { std::memcpy(at(i), &value, static_cast<size_t>(size())); }  // little-endian
  int64_t get(int64_t i) {
    int64_t value = 0;
    std::memcpy(&value, at(i), static_cast<size_t>(size()));
    return value;
  }
  /// All bytes, with the elements of the view as if nobody had written them.
  std::vector<unsigned char> around() {
    Strided copy = *this;
    for (int64_t i = 0; i < count_; ++i) std::memset(copy.at(i), kUntouched, static_cast<size_t>(size()));
    return copy.bytes_;
  }
  bool is_untouched() const {
    return std::all_of(bytes_.begin(), bytes_.end(), [](unsigned char byte) { return byte == kUntouched; });
  }
  bool stays_in_view() {
    const std::vector<unsigned char> rest = around();
    return std::all_of(rest.begin(), rest.end(), [](unsigned char byte) { return byte == kUntouched; });
  }

 private:
  static constexpr int64_t kGuard = 16;
  static constexpr unsigned char kUntouched = 0xa5;
  int64_t size() const { return bits(dtype_) / 8; }
  unsigned char* at(int64_t i) { return bytes_.data() + first_ + i * stride_ * size(); }

  DType dtype_;
  int64_t count_, stride_;
  int64_t first_ = 0;
  std::vector<unsigned char> bytes_;
};

/// A host whose parallel_for is a function of the test.
class Host final : public Executor {
 public:
  using Loop = std::function<void(int count, Task task, void* context)>;
  explicit Host(Loop loop) : loop_(std::move(loop)) {}
  int threads() const noexcept override { return 5; }
  void parallel_for(int count, Task task, void* context) override {
    ++calls;
    loop_(count, task, context);
  }
  int calls = 0;

 private:
  Loop loop_;
};

constexpr DType kIndexTypes[] = {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64};

int64_t most_of(DType dtype) {
  const int used = bits(dtype) - (is_signed_integer(dtype) ? 1 : 0);
  return used >= 32 ? int64_t{1} << 32 : (int64_t{1} << used);
}

/// One call with what it should give.
struct Case {
  DType dtype = DType::i64, offset = DType::i64, position = DType::i64;
  int64_t index_stride = 1, offset_stride = 1, position_stride = 1;
  int64_t segments = 1;
  std::vector<int64_t> indices;
};

std::vector<int64_t> expected_permutation(const std::vector<int64_t>& indices) {
  std::vector<int64_t> order(indices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return indices[static_cast<size_t>(a)] < indices[static_cast<size_t>(b)]; });
  return order;
}

void check(const Case& c, const CallOptions& options, const ExecutionLimits& limits) {
  const auto count = static_cast<int64_t>(c.indices.size());
  Strided indices(c.dtype, count, c.index_stride), offsets(c.offset, c.segments + 1, c.offset_stride),
      permutation(c.position, count, c.position_stride);
  for (int64_t i = 0; i < count; ++i) indices.set(i, c.indices[static_cast<size_t>(i)]);
  const Status status = csr(indices.view(), offsets.view(), permutation.view(), options, limits);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::vector<int64_t> order = expected_permutation(c.indices);
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(permutation.get(i), order[static_cast<size_t>(i)]) << "place " << i;
  std::vector<int64_t> below(static_cast<size_t>(c.segments) + 1);
  for (const int64_t index : c.indices) ++below[static_cast<size_t>(index) + 1];
  std::partial_sum(below.begin(), below.end(), below.begin());
  for (int64_t s = 0; s <= c.segments; ++s) ASSERT_EQ(offsets.get(s), below[static_cast<size_t>(s)]) << "segment " << s;
  EXPECT_TRUE(offsets.stays_in_view());
  EXPECT_TRUE(permutation.stays_in_view());
}

/// Indices below `segments` in one of the patterns that sorts differ in.
std::vector<int64_t> pattern_of(Rng& rng, int64_t count, int64_t segments) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  const int64_t kind = rng.below(6), one = rng.below(segments);
  for (int64_t& index : indices) {
    const bool is_hot = kind == 1 || (kind == 2 && rng.chance(80));
    index = is_hot ? one : kind == 5 ? rng.below(std::min<int64_t>(segments, 3)) : rng.below(segments);
  }
  if (kind == 3) std::sort(indices.begin(), indices.end());
  if (kind == 4) std::sort(indices.rbegin(), indices.rend());
  return indices;
}

Case generated(Rng& rng) {
  Case c;
  const auto stride = [&] { return rng.pick(std::vector<int64_t>{1, 1, 1, 2, 3, -1, -2}); };
  c.dtype = kIndexTypes[rng.below(8)];
  c.offset = rng.chance(50) ? DType::i32 : DType::i64;
  c.position = rng.chance(50) ? DType::i32 : DType::i64;
  c.index_stride = stride(), c.offset_stride = stride(), c.position_stride = stride();
  c.segments = rng.pick(std::vector<int64_t>{1, 2, rng.between(1, 20), rng.between(1, 300), rng.between(1, 5000)});
  const int64_t count = rng.pick(std::vector<int64_t>{0, 1, 2, rng.between(0, 50), rng.between(0, 3000)});
  c.indices = pattern_of(rng, count, std::min(c.segments, most_of(c.dtype)));
  if (!c.indices.empty() && rng.chance(10)) {
    c.index_stride = 0;
    std::fill(c.indices.begin(), c.indices.end(), c.indices.front());
  }
  return c;
}

void check_many(uint64_t seed, const std::function<void(const Case&)>& check_case) {
  for (uint64_t i = 0; i < 400 && !testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(i));
    Rng rng = Rng::stream(seed, i);
    check_case(generated(rng));
  }
}

TEST(Csr, IsAStableSortOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 5}) {
    const std::shared_ptr<Executor> pool = *make_executor(threads);
    for (const ExecutionLimits& limits : {counting_limits(), bucket_limits()})
      check_many(20 + static_cast<uint64_t>(threads), [&](const Case& c) { check(c, {threads, pool.get()}, limits); });
  }
}

TEST(Csr, RunsOnHostsThatRunTasksAsTheyLike) {
  const std::vector<Host::Loop> loops = {
      [](int count, Executor::Task task, void* context) {  // on one thread
        for (int i = 0; i < count; ++i) task(context, i);
      },
      [](int count, Executor::Task task, void* context) {
        for (int i = count; i-- > 0;) task(context, i);
      },
      [](int, Executor::Task, void*) {},  // nothing: the calling thread does it
  };
  for (const Host::Loop& loop : loops) {
    Host host(loop);
    for (const ExecutionLimits& limits : {counting_limits(), bucket_limits()})
      check_many(31, [&](const Case& c) { check(c, {0, &host}, limits); });
    EXPECT_GT(host.calls, 400);
  }
}

/// With the limits that users have, past the number of segments from which on there are buckets.
TEST(Csr, SortsManyPositions) {
  Rng rng(41);
  for (const int64_t segments : {1000, 200000, 3000000}) {
    for (const int threads : {1, 2, 5}) {
      Case c;
      c.segments = segments;
      c.dtype = DType::i32;
      c.position = DType::i32;
      c.indices = pattern_of(rng, 700000, segments);
      SCOPED_TRACE(std::to_string(segments) + " segments, " + std::to_string(threads) + " threads");
      const std::shared_ptr<Executor> pool = *make_executor(threads);
      check(c, {threads, pool.get()}, *default_limits());
    }
  }
}

TEST(Csr, TakesEveryLegalIndexOfADType) {
  for (const DType dtype : kIndexTypes) {
    const int64_t segments = std::min<int64_t>(most_of(dtype), 70000);
    Case c{dtype};
    c.segments = segments;
    c.indices = {segments - 1, 0, segments / 2, segments - 1, 0};
    check(c, {1}, counting_limits());
    check(c, {1}, bucket_limits());
  }
}

TEST(Csr, PublicFunctionRunsOnTheProcessesExecutor) {
  const std::vector<int16_t> indices = {2, 0, 2, 1, 0};
  std::vector<int32_t> offsets(4);
  std::vector<int64_t> permutation(5);
  const int64_t positions[] = {5}, ends[] = {4};
  ASSERT_TRUE(csr({indices.data(), positions}, {offsets.data(), ends}, {permutation.data(), positions}).ok());
  EXPECT_EQ(offsets, (std::vector<int32_t>{0, 2, 3, 5}));
  EXPECT_EQ(permutation, (std::vector<int64_t>{1, 4, 3, 0, 2}));
}

/// A call on i64 tensors with a bad index: the status, and that nothing was written.
Status refused(const std::vector<int64_t>& given, int64_t segments, DType dtype, BadIndex& bad, int threads,
               const ExecutionLimits& limits) {
  const auto count = static_cast<int64_t>(given.size());
  Strided indices(dtype, count, 1), offsets(DType::i64, segments + 1, 1), permutation(DType::i64, count, 1);
  for (int64_t i = 0; i < count; ++i) indices.set(i, given[static_cast<size_t>(i)]);
  const std::shared_ptr<Executor> pool = *make_executor(threads);
  Status status = csr(indices.view(), offsets.view(), permutation.view(), {threads, pool.get(), &bad}, limits);
  EXPECT_TRUE(offsets.is_untouched() && permutation.is_untouched());
  return status;
}

TEST(Csr, NamesTheFirstBadIndexAndWritesNothing) {
  Rng rng(51);
  for (int round = 0; round < 100; ++round) {
    const int64_t segments = rng.between(1, 400), count = rng.between(1, 3000), first = rng.below(count);
    std::vector<int64_t> indices(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      indices[static_cast<size_t>(i)] =
          i < first || rng.chance(50) ? rng.below(segments) : rng.pick(std::vector<int64_t>{-1, segments});
    const int64_t value = indices[static_cast<size_t>(first)] =
        rng.chance(50) ? -rng.between(1, 9000) : segments + rng.below(9000);
    for (const ExecutionLimits& limits : {counting_limits(), bucket_limits()}) {
      BadIndex bad;
      const Status status = refused(indices, segments, DType::i64, bad, static_cast<int>(rng.between(1, 5)), limits);
      ASSERT_EQ(status.code(), Code::out_of_bounds) << "seed 51, round " << round;
      const std::string at = std::to_string(first);
      EXPECT_EQ(status.message(), "index out of bounds: index position [" + at + "] (linear " + at + "), component 0: value " +
                                      std::to_string(value) + ", expected 0 <= v <= " + std::to_string(segments - 1));
      EXPECT_EQ(bad, (BadIndex{0, first, 0, value, segments - 1}));
    }
  }
}

TEST(Csr, NamesBadIndicesOfEveryDType) {
  for (const ExecutionLimits& limits : {counting_limits(), bucket_limits()}) {
    for (const DType dtype : kIndexTypes) {
      BadIndex bad;
      const Status status = refused({1, -1, 2}, 3, dtype, bad, 1, limits);
      const bool is_signed = is_signed_integer(dtype);
      const std::string value = is_signed             ? "-1"
                                : dtype == DType::u64 ? "18446744073709551615"
                                                      : std::to_string((int64_t{1} << bits(dtype)) - 1);
      EXPECT_THAT(status.message(), HasSubstr("[1] (linear 1), component 0: value " + value + ", expected 0 <= v <= 2"));
      EXPECT_EQ(bad.value, is_signed || dtype == DType::u64 ? -1 : (int64_t{1} << bits(dtype)) - 1);
    }
    BadIndex bad;
    EXPECT_THAT(refused({0}, 0, DType::i32, bad, 1, limits).message(),
                HasSubstr("value 0, expected no value: the indexed dim has extent 0"));
    EXPECT_EQ(bad.bound, -1);
  }
}

TEST(Csr, NoSegmentsAndNoPositions) {
  for (const ExecutionLimits& limits : {counting_limits(), bucket_limits()}) {
    Case c;
    c.segments = 0;
    check(c, {}, limits);
    c.segments = 1000;
    check(c, {}, limits);
  }
}

/// A legal call, one field of which each test spoils.
struct Tensors {
  std::vector<int64_t> memory = std::vector<int64_t>(64, 7);
  int64_t positions = 5, ends = 4, other = 6, stride = 1, none = 0;
  TensorView indices{memory.data(), DType::i64, 1, &positions}, offsets{memory.data() + 16, DType::i64, 1, &ends},
      permutation{memory.data() + 32, DType::i64, 1, &positions};
  Tensors() { std::fill_n(memory.begin(), 5, 1); }
};

void expect_refused(const std::function<void(Tensors&)>& spoil, const std::string& message) {
  Tensors tensors;
  spoil(tensors);
  const std::vector<int64_t> before = tensors.memory;
  const Status status = csr(tensors.indices, tensors.offsets, tensors.permutation);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr(message));
  EXPECT_EQ(tensors.memory, before);
}

TEST(Csr, RefusesWrongViews) {
  expect_refused([](Tensors& t) { t.indices.dtype = DType::f32; }, "indices: dtype f32, expected an integer of 8 to 64 bits");
  expect_refused([](Tensors& t) { t.indices.dtype = DType::i4; }, "indices: dtype i4, expected an integer");
  expect_refused([](Tensors& t) { t.indices.dtype = DType::boolean; }, "indices: dtype bool, expected an integer");
  expect_refused([](Tensors& t) { t.offsets.dtype = DType::u32; }, "offsets: dtype u32, expected i32 or i64");
  expect_refused([](Tensors& t) { t.permutation.dtype = DType::i16; }, "permutation: dtype i16, expected i32 or i64");
  expect_refused([](Tensors& t) { t.indices.rank = 2; }, "indices: rank 2, expected 1");
  expect_refused([](Tensors& t) { t.offsets.rank = 0; }, "offsets: rank 0, expected 1");
  expect_refused([](Tensors& t) { t.indices.rank = TensorView::kWrongStrides; },
                 "indices: the view was given another number of strides");
  expect_refused([](Tensors& t) { t.indices.dims = nullptr; }, "indices: dims is null");
  expect_refused([](Tensors& t) { t.positions = -1; }, "indices: dim 0 is -1, expected >= 0");
  expect_refused([](Tensors& t) { t.offsets.dims = &t.none; }, "offsets: dim 0 is 0, expected 1 or more");
  expect_refused([](Tensors& t) { t.permutation.dims = &t.other; }, "permutation: dim 0 is 6, expected 5, dim 0 of indices");
  expect_refused([](Tensors& t) { t.offsets.read_only = 1; }, "offsets: a view of memory that is read-only");
  expect_refused([](Tensors& t) { t.permutation.strides = &t.none; }, "permutation: its strides put two elements at one address");
  expect_refused([](Tensors& t) { t.offsets.data = nullptr; }, "offsets: data is null, expected 32 bytes");
  expect_refused([](Tensors& t) { t.stride = int64_t{1} << 62, t.indices.strides = &t.stride; },
                 "indices: its byte extent does not fit 63 bits");
  expect_refused([](Tensors& t) { t.indices.data = reinterpret_cast<void*>(~uintptr_t{7}); },
                 "indices: its byte extent wraps around the address space");
}

TEST(Csr, RefusesOverlap) {
  expect_refused([](Tensors& t) { t.offsets.data = t.memory.data() + 4; }, "offsets overlaps indices: expected disjoint buffers");
  expect_refused([](Tensors& t) { t.permutation.data = t.memory.data(); }, "permutation overlaps indices");
  expect_refused([](Tensors& t) { t.permutation.data = t.memory.data() + 19; }, "permutation overlaps offsets");
}

TEST(Csr, TakesTensorsThatTakeTurnsInOneBuffer) {
  Tensors t;
  t.stride = 2;
  for (int i = 0; i < 5; ++i) t.memory[static_cast<size_t>(2 * i)] = 4 - i;
  t.indices.strides = t.permutation.strides = &t.stride;
  t.permutation.data = t.memory.data() + 1;
  t.ends = 6;
  ASSERT_TRUE(csr(t.indices, t.offsets, t.permutation).ok());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(t.memory[static_cast<size_t>(2 * i + 1)], 4 - i);
}

TEST(Csr, RefusesThreads) {
  const Tensors t;
  EXPECT_THAT(csr(t.indices, t.offsets, t.permutation, {1025}).message(), HasSubstr("threads: 1025, expected 0..1024"));
  EXPECT_THAT(csr(t.indices, t.offsets, t.permutation, {-1}).message(), HasSubstr("threads: -1"));
}

/// Tensors at addresses where no memory is: the call ends before it reads or writes.
TEST(Csr, RefusesWhatItCannotHold) {
  const int64_t many = (int64_t{1} << 31) + 1, ends = 4, stride = 0, one = 1;
  const auto at = [](int64_t gib) { return reinterpret_cast<void*>(uintptr_t{1} << 44 | static_cast<uintptr_t>(gib << 30)); };
  const TensorView indices(at(0), DType::i64, 1, &many, &stride), offsets(at(1), DType::i64, 1, &ends, &one),
      permutation(at(100), DType::i64, 1, &many, &one);
  TensorView narrow = permutation;
  narrow.dtype = DType::i32;
  EXPECT_EQ(csr(indices, offsets, narrow).message(),
            "permutation: dtype i32, expected i64: with 2147483649 indices it would have to hold 2147483648");
  narrow = offsets;
  narrow.dtype = DType::i32;
  EXPECT_EQ(csr(indices, narrow, permutation).message(),
            "offsets: dtype i32, expected i64: with 2147483649 indices it would have to hold 2147483649");
}

TEST(Csr, SaysWhenThereIsNoMemoryForScratch) {
  const std::vector<int64_t> indices = {0, 1};
  std::vector<int64_t> permutation = {7, 7};
  const int64_t positions = 2, ends = (int64_t{1} << 48) + 1, one = 1;
  const TensorView offsets(reinterpret_cast<void*>(uintptr_t{1} << 60), DType::i32, 1, &ends, &one);
  const Status status =
      csr({indices.data(), DType::i64, {&positions, 1}}, offsets, {permutation.data(), DType::i64, 1, &positions});
  EXPECT_EQ(status.code(), Code::resource_exhausted);
  EXPECT_THAT(status.message(), HasSubstr("csr: no memory for 2251799813685"));
  EXPECT_EQ(permutation, (std::vector<int64_t>{7, 7}));
}

}  // namespace
}  // namespace strew
