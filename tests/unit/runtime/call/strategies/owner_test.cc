// Strategies owner and radix on calls large enough for several rounds and full queues, against one thread, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/call/strategies/owners.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/schedules.h"

namespace strew {
namespace {

/// 200000 inexact f32 updates of `width` elements into `rows` rows, skewed so that some rows take thousands.
std::vector<float> scatter_add(const std::string& schedule, int64_t width, const std::string& rest, int64_t rows = 5000) {
  const int64_t updates = width == 1 ? 200000 : 70000;
  const std::string w = width == 1 ? "" : "," + std::to_string(width);
  const std::string dims = width == 1 ? "" : "update_window_dims=[1] ";
  auto op = parse_op("strew1.scatter(operand=f32[" + std::to_string(rows) + w + "] indices=i32[" + std::to_string(updates) +
                     "] updates=f32[" + std::to_string(updates) + w + "] " + dims +
                     "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add init=in_place " +
                     rest + ")");
  EXPECT_TRUE(op.ok()) << op.status().message();
  std::vector<float> table(static_cast<size_t>(rows * width), 0.1f), values(static_cast<size_t>(updates * width));
  std::vector<int32_t> indices(static_cast<size_t>(updates));
  uint32_t state = 12345;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (float& v : values) v = static_cast<float>(next() >> 8) * 1e-6f;
  for (int32_t& i : indices) {
    const uint32_t r = next() >> 8;
    i = static_cast<int32_t>(r % 4 == 0 ? r % 7 : r % 5100) - 40;  // some out of range on both sides
  }
  Runtime runtime;
  KernelOptions options;
  test::set_schedule(options, schedule);
  auto kernel = runtime.get(*op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  const int64_t table_dims[] = {rows, width}, update_dims[] = {updates, width};
  const int32_t rank = width == 1 ? 1 : 2;
  const TensorView views[] = {{table.data(), DType::f32, rank, table_dims, nullptr},
                              {indices.data(), DType::i32, 1, update_dims, nullptr},
                              {values.data(), DType::f32, rank, update_dims, nullptr}};
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return table;
}

TEST(Owner, SameBitsAsOneThread) {
  for (const int64_t width : {1, 3, 16}) {
    for (const char* rest : {"oob=skip_window", "oob=clamp", "oob=wrap", "oob=skip_element normalize_negative=true"}) {
      const std::vector<float> expected = scatter_add("strategy=sequential,threads=1", width, rest);
      for (const char* strategy : {"owner", "radix"})
        for (const char* threads : {"2", "3", "8"})
          EXPECT_EQ(scatter_add("strategy=" + std::string(strategy) + ",prefetch=8,threads=" + threads, width, rest), expected)
              << strategy << " " << width << " " << rest << " threads " << threads;
    }
  }
}

/// 50003 updates of single elements at pairs of indices, by rows ([n,2]) or by components ([2,n]).
std::vector<int32_t> scatter_pairs(const std::string& schedule, const std::string& index_dtype, bool by_rows,
                                   const std::string& rest) {
  constexpr int64_t kUpdates = 50003;
  const std::string n = std::to_string(kUpdates);
  auto op = parse_op("strew1.scatter(operand=i32[70,90] indices=" + index_dtype + (by_rows ? "[" + n + ",2]" : "[2," + n + "]") +
                     " updates=i32[" + n + "] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[1,0] index_vector_dim=" +
                     (by_rows ? "1" : "0") + " init=in_place " + rest + ")");
  EXPECT_TRUE(op.ok()) << op.status().message();
  KernelOptions options;
  test::set_schedule(options, schedule);
  const auto kernel = Runtime::process().get(*op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  std::vector<int32_t> table(70 * 90), values(kUpdates), narrow(2 * kUpdates);
  uint32_t state = 99;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (int32_t& v : values) v = static_cast<int32_t>(next());
  for (int32_t& i : narrow) i = next() % 50 == 0 ? static_cast<int32_t>(next()) * 97 : static_cast<int32_t>(next() % 100) - 5;
  std::vector<int64_t> wide(narrow.begin(), narrow.end());
  for (size_t i = 0; i < wide.size(); i += 101) wide[i] += int64_t{1} << 32;  // in range if cut to 32 bits
  const int64_t table_dims[] = {70, 90}, pair_dims[] = {kUpdates, 2}, component_dims[] = {2, kUpdates};
  const bool is_wide = index_dtype == "i64";
  void* const indices = is_wide ? static_cast<void*>(wide.data()) : narrow.data();
  const TensorView views[] = {{table.data(), DType::i32, 2, table_dims, nullptr},
                              {indices, is_wide ? DType::i64 : DType::i32, 2, by_rows ? pair_dims : component_dims, nullptr},
                              {values.data(), DType::i32, 1, pair_dims, nullptr}};
  const Status status = kernel->run(views);
  EXPECT_TRUE(status.ok()) << status.message();
  return table;
}

TEST(Owner, KeysOfEightPositionsAreThoseOfOne) {
  for (const char* dtype : {"i32", "i64"}) {
    for (const bool by_rows : {true, false}) {
      for (const char* oob : {"skip_window", "skip_element", "clamp", "wrap"}) {
        for (const char* negative : {"", " normalize_negative=true"}) {
          const std::string rest = std::string("combiner=assign oob=") + oob + negative;
          const std::vector<int32_t> expected = scatter_pairs("strategy=sequential,threads=1", dtype, by_rows, rest);
          for (const char* strategy : {"owner", "radix"})
            EXPECT_EQ(scatter_pairs("threads=2,strategy=" + std::string(strategy), dtype, by_rows, rest), expected)
                << strategy << " " << dtype << " " << by_rows << " " << rest;
        }
      }
    }
  }
}

/// The keys entry itself, which needs no second thread: over [begin, 1003), and position by position, which takes no vectors.
TEST(Owner, TheKeysEntryDoesNotDependOnItsRange) {
  constexpr int64_t kPositions = 1003;
  std::vector<int32_t> table(70 * 90), values(kPositions), indices(2 * kPositions);
  uint32_t state = 5;
  for (int32_t& i : indices) i = static_cast<int32_t>((state = state * 1664525u + 1013904223u) >> 24) - 80;
  for (const char* oob : {"undefined", "skip_window", "clamp", "wrap"}) {
    const auto op = parse_op(
        "strew1.scatter(operand=i32[70,90] indices=i32[1003,2] updates=i32[1003] inserted_window_dims=[0,1] "
        "scatter_dims_to_operand_dims=[1,0] index_vector_dim=1 init=in_place combiner=add oob=" +
        std::string(oob) + ")");
    ASSERT_TRUE(op.ok()) << op.status().message();
    KernelOptions options;
    test::set_schedule(options, "strategy=owner,threads=2");
    const auto kernel = Runtime::process().get(*op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    void* data[] = {table.data(), nullptr, indices.data(), values.data()};
    strew_args args{};
    args.abi = STREW_ABI_VERSION;
    args.data = data;
    strew_fault unused;
    std::vector<uint32_t> expected(kPositions);
    args.key = expected.data();
    for (int64_t p = 0; p < kPositions; ++p) kernel->entry(STREW_ENTRY_keys)(&args, p, p + 1, &unused);
    for (const int64_t begin : {0, 1, 3, 7, 8, 990, 1000, 1003}) {
      std::vector<uint32_t> keys(static_cast<size_t>(kPositions - begin));
      args.key = keys.data();
      args.n_list = begin;
      kernel->entry(STREW_ENTRY_keys)(&args, begin, kPositions, &unused);
      EXPECT_EQ(keys, std::vector<uint32_t>(expected.begin() + begin, expected.end())) << oob << " from " << begin;
    }
  }
}

TEST(Owner, SelectsEveryKeyForOneOwnerInOrder) {
  std::vector<uint32_t> keys(1003);
  uint32_t state = 7;
  for (uint32_t& key : keys) {
    state = state * 1664525u + 1013904223u;
    key = (state >> 28) == 0 ? kDroppedKey : state >> (state & 15);
  }
  for (const int owners : {1, 2, 3, 7, 256}) {
    for (const int64_t key_bytes : {4, 256, 8192}) {
      const Owners dealt(owners, Bytes(key_bytes));
      size_t kept = 0;
      for (uint32_t me = 0; me < static_cast<uint32_t>(owners); ++me) {
        const Owners::Share share(dealt, me);
        std::vector<uint64_t> expected = {99}, plain(keys.size() + 1 + kSelectSlack, 99), fast = plain;
        for (size_t i = 0; i < keys.size(); ++i)
          if (keys[i] != kDroppedKey && dealt.of(keys[i]) == me) expected.push_back((i + 5) | uint64_t{keys[i]} << 32);
        const auto count = static_cast<int64_t>(keys.size());
        plain.resize(static_cast<size_t>(select_owned_plain(share, keys.data(), count, 5, plain.data(), 1)));
        fast.resize(static_cast<size_t>(select_owned(share, keys.data(), count, 5, fast.data(), 1)));
        EXPECT_EQ(plain, expected) << owners << " owners, " << key_bytes << " bytes";
        EXPECT_EQ(fast, expected) << owners << " owners, " << key_bytes << " bytes";
        kept += fast.size() - 1;
      }
      EXPECT_EQ(kept, keys.size() - static_cast<size_t>(std::count(keys.begin(), keys.end(), kDroppedKey)));
    }
  }
}

// Clamping and wrapping find no place in a table without rows: every update is dropped.
TEST(Owner, TablesWithoutRowsTakeNothing) {
  for (const char* rest : {"oob=clamp", "oob=wrap", "oob=skip_window"})
    for (const char* strategy : {"owner", "radix"})
      EXPECT_TRUE(scatter_add("strategy=" + std::string(strategy) + ",threads=2", 16, rest, 0).empty())
          << strategy << " " << rest;
}

TEST(Owner, RefusesWhatItCannotOwn) {
  const auto message = [](const std::string& text) { return test::schedule_message(text, "strategy=owner,threads=2"); };
  EXPECT_EQ(message("strew1.scatter(operand=f32[8,8] indices=i32[4] updates=f32[4,2,8] update_window_dims=[1,2] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1)"),
            "schedule: strategy owner: windows of kind general do not coincide");
  EXPECT_EQ(message("strew1.scatter(operand=i4[8] indices=i32[4] updates=i4[4] inserted_window_dims=[0] "
                    "scatter_dims_to_operand_dims=[0] index_vector_dim=1)"),
            "schedule: strategy owner: result 0 is packed i4");
  EXPECT_EQ(message("strew1.gather(operand=f32[8] indices=i32[4] result=f32[4] collapsed_slice_dims=[0] start_index_map=[0] "
                    "index_vector_dim=1 slice_sizes=[1])"),
            "schedule: strategy owner: a gather has no destinations to own");
}

}  // namespace
}  // namespace strew
