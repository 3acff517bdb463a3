// A false hint gives wrong values at worst (docs/security.md): unsorted, repeated and out-of-bounds indices under indices_are_sorted and
// unique_indices, through every strategy and policy, in buffers that end at a page nobody may touch and that are checked on the other side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "schedules/schedule.h"
#include "strew/runtime.h"
#include "tests/support/guarded.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

constexpr int64_t kRows = 700, kUpdates = 6000, kWidth = 5, kHeight = 3;
constexpr std::byte kCanary{0x5A};

struct Case {
  bool rows = true;  ///< windows of one row; else of three, which an index moves
  std::string strategy, policy, combiner;
  int threads = 1;
  test::Flush flush = test::Flush::end;
};

std::vector<int32_t> lying_indices(bool in_bounds) {
  std::vector<int32_t> out(kUpdates);
  uint32_t state = 5;
  for (int32_t& i : out) {
    state = state * 1664525u + 1013904223u;
    i = static_cast<int32_t>((state >> 8) % (in_bounds ? kRows : 3 * kRows)) - (in_bounds ? 0 : static_cast<int32_t>(kRows));
  }
  std::fill(out.begin() + 100, out.begin() + 2100, 17);             // a long run, so that chunks are cut in it
  for (size_t i = 3000; i < 4000; ++i) out[i] = out[i - 1000] ^ 1;  // falling and rising in turn
  if (in_bounds)
    for (int32_t& i : out) i = std::clamp<int32_t>(i, 0, kRows - kHeight);
  return out;
}

/// Runs the case; false where its schedule is not legal for the op.
bool run(const Case& c) {
  const std::string shape = c.rows ? "updates=i32[6000,5] update_window_dims=[1] inserted_window_dims=[0]"
                                   : "updates=i32[6000,3,5] update_window_dims=[1,2]";
  const Op op = test::op_of("strew1.scatter(operand=i32[700,5] indices=i32[6000] " + shape +
                            " scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=" + c.combiner + " oob=" + c.policy +
                            " indices_are_sorted=true unique_indices=true)");
  KernelOptions options;
  test::set_schedule(options, "strategy=" + c.strategy + ",threads=" + std::to_string(c.threads));
  options.threads = c.threads;
  const auto kernel = Runtime::process().get(op, options);
  if (!kernel.ok()) return false;

  test::GuardedPool pool;
  const auto take = [&](size_t bytes, const char* label) -> test::GuardedBuffer& {
    test::GuardedBuffer& buffer = pool.take(bytes, c.flush, label);
    std::fill(buffer.all().begin(), buffer.all().end(), kCanary);
    std::memset(buffer.writable(), 0, bytes);
    return buffer;
  };
  test::GuardedBuffer& result = take(kRows * kWidth * 4, "result");
  const test::GuardedBuffer& operand = take(kRows * kWidth * 4, "operand");
  const test::GuardedBuffer& indices = take(kUpdates * 4, "indices");
  const int64_t per_update = c.rows ? kWidth : kHeight * kWidth;
  const test::GuardedBuffer& updates = take(static_cast<size_t>(kUpdates * per_update * 4), "updates");
  const std::vector<int32_t> values = lying_indices(c.policy == "error");
  std::memcpy(indices.writable(), values.data(), values.size() * 4);
  const int64_t table[] = {kRows, kWidth}, rows[] = {kUpdates, kWidth}, windows[] = {kUpdates, kHeight, kWidth};
  const TensorView views[] = {{result.writable(), DType::i32, 2, table, nullptr},
                              {operand.read_only(), DType::i32, 2, table, nullptr},
                              {indices.read_only(), DType::i32, 1, rows, nullptr},
                              {updates.read_only(), DType::i32, c.rows ? 2 : 3, c.rows ? rows : windows, nullptr}};
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < result.all().size(); ++i) {
    const bool outside = i < result.offset() || i >= result.offset() + result.size();
    EXPECT_TRUE(!outside || result.all()[i] == kCanary) << i;
  }
  return true;
}

TEST(FalseHints, NeverStray) {
  for (const Strategy strategy : kStrategies) {
    int legal = 0;
    for (const bool rows : {true, false})
      for (const char* policy : {"skip_element", "skip_window", "clamp", "wrap", "error"})
        for (const char* combiner : {"add", "assign"})
          for (const int threads : {1, 2, 5})
            for (const test::Flush flush : {test::Flush::end, test::Flush::begin}) {
#ifdef __SANITIZE_THREAD__
              if (threads > 1) continue;  // threads that were promised different destinations do write the same ones
#endif
              const Case c{rows, std::string(name(strategy)), policy, combiner, threads, flush};
              SCOPED_TRACE(c.strategy + " " + policy + " " + combiner + " " + std::to_string(threads) +
                           (rows ? " rows" : " windows"));
              legal += run(c);
            }
    EXPECT_GT(legal, 0) << name(strategy);
  }
}

}  // namespace
}  // namespace strew
