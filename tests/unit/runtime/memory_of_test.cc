// What the cache counts is what it holds: the heap grows by about as much.
#include <gtest/gtest.h>
#include <malloc.h>

#include "runtime/kernel_state.h"
#include "strew/builder.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew {
namespace {

using namespace types;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their heaps count differently

int64_t heap() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

/// Asks for many shapes of one op, and returns the growth of the heap over what the runtime says that it holds.
template <class MakeOp>
double held_over_counted(Runtime& runtime, int first, int count, const MakeOp& op) {
  const int64_t heap_before = heap(), counted_before = runtime.stats().bytes;
  for (int i = first; i < first + count; ++i) {
    const auto made = op(i);
    EXPECT_TRUE(made.ok()) << made.status().message();
    const auto kernel = runtime.get(*made);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  }
  const int64_t counted = runtime.stats().bytes - counted_before;
  EXPECT_GT(counted, 0);
  return static_cast<double>(heap() - heap_before) / static_cast<double>(counted);
}

TEST(MemoryOf, ManyShapesOfAFamily) {
  Options options;
  options.cache_bytes = int64_t{1} << 40;
  Runtime runtime(options);
  const auto op = [](int i) {
    return scatter_rows(f32({100 + i, 4 + i % 7}), i32({3 + i % 5}), f32({3 + i % 5, 4 + i % 7}))
        .combine(CombinerKind::add)
        .build();
  };
  held_over_counted(runtime, 0, 500, op);
  const double ratio = held_over_counted(runtime, 1000, 4000, op);
  EXPECT_GT(ratio, 0.8);
  EXPECT_LT(ratio, 1.25);
}

TEST(MemoryOf, ShapesWithKernelsOfTheirOwn) {
  Options options;
  options.cache_bytes = int64_t{1} << 40;
  options.exact_shapes = 0;
  Runtime runtime(options);
  KernelOptions portable;
  const auto op = [](int i) { return scatter_rows(f32({100 + i, 4}), i32({3}), f32({3, 4})).combine(CombinerKind::add).build(); };
  const auto get = [&](int first, int count) {
    const int64_t heap_before = heap(), counted_before = runtime.stats().bytes;
    portable.backend = BackendChoice::portable;
    for (int i = first; i < first + count; ++i) EXPECT_TRUE(runtime.get(*op(i), portable).ok());
    return static_cast<double>(heap() - heap_before) / static_cast<double>(runtime.stats().bytes - counted_before);
  };
  get(0, 100);
  const double ratio = get(1000, 1000);
  EXPECT_GT(ratio, 0.7);  // what a plan takes is a guess
  EXPECT_LT(ratio, 1.4);
}

#endif

TEST(MemoryOf, ABlockIsWhatTheHeapTakesForIt) {
  EXPECT_EQ(block_bytes(0), 0);
  EXPECT_EQ(block_bytes(1), 32);
  EXPECT_EQ(block_bytes(24), 32);
  EXPECT_EQ(block_bytes(25), 48);
  EXPECT_EQ(block_bytes(1000), 1008);
}

}  // namespace
}  // namespace strew
