// The cache: built once however many threads ask, failures forgotten, look-ups safe while the table grows and is cleared, keys that see
// every field.
#include "runtime/cache.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <set>
#include <thread>

#include "compiler/op/combiner.h"
#include "runtime/op_key.h"
#include "strew/text.h"

namespace strew {
namespace {

Op small_op(int rows, const std::string& rest = "") {
  const auto op = parse_op("strew1.scatter(operand=f32[" + std::to_string(rows) +
                           ",4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
                           "scatter_dims_to_operand_dims=[0] index_vector_dim=1" +
                           rest + ")");
  EXPECT_TRUE(op.ok()) << op.status().message();
  return *op;
}

KernelOptions on_reference() {
  KernelOptions options;
  options.backend = "reference";
  return options;
}

Kernel any_kernel() {
  Runtime runtime;
  return *runtime.get(small_op(6), on_reference());
}

void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

TEST(Cache, BuildsOnceForManyThreads) {
  KernelCache cache;
  const Kernel kernel = any_kernel();
  std::atomic<int> builds{0}, answers{0};
  on_threads(16, [&](int) {
    const auto answer = cache.get({1, 2}, [&]() -> Expected<Kernel> {
      ++builds;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return kernel;
    });
    answers += answer.ok() && &answer->op() == &kernel.op();
  });
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(answers, 16);
  EXPECT_EQ(cache.stats().built, 1u);
  EXPECT_EQ(cache.stats().misses, 1u);
}

TEST(Cache, WaitersShareAFailureAndThenItIsForgotten) {
  KernelCache cache;
  std::atomic<int> builds{0}, failures{0};
  on_threads(8, [&](int) {
    const auto answer = cache.get({3, 4}, [&]() -> Expected<Kernel> {
      ++builds;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return unsupported("attempt " + std::to_string(builds));
    });
    failures += !answer.ok();
  });
  EXPECT_EQ(failures, 8);
  EXPECT_LT(builds, 8);
  EXPECT_FALSE(cache.find({3, 4}));
  EXPECT_TRUE(cache.get({3, 4}, [] { return Expected<Kernel>(any_kernel()); }).ok());
  EXPECT_TRUE(cache.find({3, 4}));
  EXPECT_EQ(cache.stats().failed, static_cast<uint64_t>(builds));
}

TEST(Cache, AnExceptionIsAFailureNotADeadlock) {
  KernelCache cache;
  const auto answer = cache.get({5, 6}, []() -> Expected<Kernel> { throw std::runtime_error("a surprise"); });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), Code::internal);
  EXPECT_EQ(answer.status().message(), "build: a surprise");
  const auto starved = cache.get({5, 6}, []() -> Expected<Kernel> { throw std::bad_alloc(); });
  ASSERT_FALSE(starved.ok());
  EXPECT_EQ(starved.status().code(), Code::unsupported);
  EXPECT_EQ(starved.status().message(), "build: out of memory");
  EXPECT_TRUE(cache.get({5, 6}, [] { return Expected<Kernel>(any_kernel()); }).ok());
}

TEST(Cache, TableIsReadWhileItGrowsAndIsCleared) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0}, found{0};
  std::thread writer([&] {
    for (int round = 0; round < 20; ++round) {
      for (uint64_t i = 1; i <= 500; ++i) table.insert({i, ~i}, kernel);
      if (!table.find({500, ~uint64_t{500}})) ++wrong;
      table.clear();
    }
    stop = true;
  });
  on_threads(3, [&](int) {
    for (uint64_t i = 1; !stop; i = i % 500 + 1) {
      const Kernel hit = table.find({i, ~i});
      if (hit && &hit.op() != &kernel.op()) ++wrong;
      if (table.find({i, i})) ++wrong;
      found += hit ? 1 : 0;
    }
  });
  writer.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(table.hits(), found + 20);
}

// A writer used to wait, under the cache's lock, for a moment without readers.
TEST(Cache, AReaderThatStaysNeverHoldsUpAWriter) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  std::optional<KernelTable::Reader> reader(table);
  for (uint64_t i = 1; i <= 500; ++i) table.insert({i, ~i}, kernel);
  EXPECT_TRUE(table.find({500, ~uint64_t{500}}));
  EXPECT_GT(table.retired(), 0u);  // it may read each of the smaller tables
  table.clear();
  EXPECT_FALSE(table.find({500, ~uint64_t{500}}));
  reader.reset();
  table.insert({1, 1}, kernel);
  EXPECT_EQ(table.retired(), 0u);
}

TEST(Cache, ReadersThatOverlapForEverDoNotKeepOldTables) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  std::array<std::optional<KernelTable::Reader>, 2> readers;  // of one thread, so of one stripe: one is always there
  readers[0].emplace(table);
  size_t most = 0;
  for (uint64_t round = 1; round <= 100; ++round) {
    table.clear();
    table.insert({round, round}, kernel);
    readers[round % 2].emplace(table);
    readers[(round + 1) % 2].reset();
    most = std::max(most, table.retired());
  }
  EXPECT_GT(most, 0u);
  EXPECT_LT(most, 8u);
}

TEST(Cache, WritersFinishWhileReadersNeverPause) {
  KernelTable table;
  const Kernel kernel = any_kernel();
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 40; ++t)  // more than there are stripes
    readers.emplace_back([&] {
      while (!stop) {
        const KernelTable::Reader reader(table);
        std::this_thread::yield();
      }
    });
  for (int round = 0; round < 50; ++round) {
    for (uint64_t i = 1; i <= 200; ++i) table.insert({i, ~i}, kernel);
    table.clear();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  table.insert({1, 1}, kernel);
  EXPECT_EQ(table.retired(), 0u);
}

TEST(Runtime, FindsWhatItBuilt) {
  Runtime runtime;
  const Op op = small_op(6);
  const KernelKey key = kernel_key(op, on_reference());
  EXPECT_FALSE(runtime.find(key));
  const auto built = runtime.get(op, on_reference());
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(&runtime.find(key).op(), &built->op());
  EXPECT_EQ(&runtime.get(op, on_reference())->op(), &built->op());
  EXPECT_EQ(runtime.stats().built, 1u);
  runtime.clear();
  EXPECT_FALSE(runtime.find(key));
  EXPECT_EQ(*built->op(), op);  // the handle lives on
}

TEST(Runtime, RefusesWhatDoesNotVerify) {
  Runtime runtime;
  Op op = small_op(6);
  std::get<Scatter>(op).dims.index_vector_dim = 7;
  for (int i = 0; i < 2; ++i) {
    const auto kernel = runtime.get(op, on_reference());
    ASSERT_FALSE(kernel.ok());
    EXPECT_EQ(kernel.status().code(), Code::invalid_argument);
  }
  EXPECT_EQ(runtime.stats().failed, 2u);
}

/// Ops and options that differ from one base in one field each.
std::vector<std::pair<Op, KernelOptions>> variants() {
  std::vector<std::pair<Op, KernelOptions>> list;
  const Op base = small_op(6);
  const auto scatter = [&](auto change) {
    Op op = base;
    change(std::get<Scatter>(op));
    list.emplace_back(op, KernelOptions{});
  };
  const auto options = [&](auto change) {
    KernelOptions o;
    change(o);
    list.emplace_back(base, o);
  };
  scatter([](Scatter&) {});
  scatter([](Scatter& s) { s.operands[0].dims[0] = 7; });
  scatter([](Scatter& s) { s.operands[0].dtype = DType::i32; });
  scatter([](Scatter& s) { s.operands[0].strides = {4, 1}; });
  scatter([](Scatter& s) { s.operands.push_back(s.operands[0]); });
  scatter([](Scatter& s) { s.indices.dims[0] = 2; });
  scatter([](Scatter& s) { s.updates[0].dims = {4, 3}; });
  scatter([](Scatter& s) { s.extras.push_back({ExtraKind::scalar, {}}); });
  scatter([](Scatter& s) { s.extras.push_back({ExtraKind::per_window, {}}); });
  scatter([](Scatter& s) { s.results[0].dtype = DType::f64; });
  scatter([](Scatter& s) { s.dims.update_window_dims = {0}; });
  scatter([](Scatter& s) { s.dims.inserted_window_dims = {}; });
  scatter([](Scatter& s) { s.dims.input_batching_dims = {0}; });
  scatter([](Scatter& s) { s.dims.scatter_indices_batching_dims = {0}; });
  scatter([](Scatter& s) { s.dims.scatter_dims_to_operand_dims = {1}; });
  scatter([](Scatter& s) { s.dims.index_vector_dim = 0; });
  scatter([](Scatter& s) { s.combiner = spelled(s, CombinerKind::add); });
  scatter([](Scatter& s) { s.combiner = {{{ExprOp::update, DType::f32, {}, 0, {}}}, {0}}; });
  scatter([](Scatter& s) { s.combiner = {{{ExprOp::current, DType::f32, {}, 0, {}}}, {0}}; });
  scatter([](Scatter& s) { s.init = InitKind::in_place; });
  scatter([](Scatter& s) { s.fill = {{DType::f32, {1, 0}}}; });
  scatter([](Scatter& s) { s.fill = {{DType::f32, {0, 1}}}; });
  scatter([](Scatter& s) { s.oob = OobPolicy::wrap; });
  scatter([](Scatter& s) { s.normalize_negative = true; });
  scatter([](Scatter& s) { s.order = Order::relaxed; });
  scatter([](Scatter& s) { s.accumulate = Accumulate::wide; });
  scatter([](Scatter& s) { s.indices_are_sorted = true; });
  scatter([](Scatter& s) { s.unique_indices = true; });
  options([](KernelOptions& o) { o.backend = "llvm"; });
  options([](KernelOptions& o) { o.schedule = "unroll=2"; });
  options([](KernelOptions& o) { o.target = "haswell"; });
  options([](KernelOptions& o) { o.threads = 1; });
  return list;
}

TEST(Keys, SeeEveryFieldOfAScatter) {
  std::set<std::string> quick, stable;
  const auto list = variants();
  for (const auto& [op, options] : list) {
    quick.insert(to_hex(quick_key(op, options)));
    EXPECT_EQ(to_hex(quick_key(Op(op), KernelOptions(options))), to_hex(quick_key(op, options)));
  }
  EXPECT_EQ(quick.size(), list.size());
}

TEST(Keys, SeeEveryFieldOfAGather) {
  const auto base = parse_op(
      "strew1.gather(operand=f32[6,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,4])");
  ASSERT_TRUE(base.ok()) << base.status().message();
  std::set<std::string> quick;
  size_t count = 0;
  const auto gather = [&](auto change) {
    Op op = *base;
    change(std::get<Gather>(op));
    quick.insert(to_hex(quick_key(op, {})));
    ++count;
  };
  gather([](Gather&) {});
  gather([](Gather& g) { g.operand.dims[0] = 7; });
  gather([](Gather& g) { g.indices.dtype = DType::u32; });
  gather([](Gather& g) { g.extras.push_back({ExtraKind::scalar, {}}); });
  gather([](Gather& g) { g.result.dtype = DType::f16; });
  gather([](Gather& g) { g.dims.offset_dims = {0}; });
  gather([](Gather& g) { g.dims.collapsed_slice_dims = {1}; });
  gather([](Gather& g) { g.dims.operand_batching_dims = {0}; });
  gather([](Gather& g) { g.dims.start_indices_batching_dims = {0}; });
  gather([](Gather& g) { g.dims.start_index_map = {1}; });
  gather([](Gather& g) { g.dims.index_vector_dim = 0; });
  gather([](Gather& g) { g.slice_sizes = {1, 3}; });
  gather([](Gather& g) { g.expr = {{{ExprOp::current, DType::f32, {}, 0, {}}}, {0}}; });
  gather([](Gather& g) { g.oob = OobPolicy::wrap; });
  gather([](Gather& g) { g.fill.bits[0] = 1; });
  gather([](Gather& g) { g.normalize_negative = true; });
  gather([](Gather& g) { g.indices_are_sorted = true; });
  EXPECT_EQ(quick.size(), count);
}

TEST(Keys, StableKeyIsOfCanonicalText) {
  const Op op = small_op(6);
  KernelOptions options;
  options.target = "znver3-avx2+avx2";
  KernelOptions same;
  same.target = "x86_64-znver3";
  EXPECT_EQ(kernel_key(op, options), kernel_key(op, same));
  same.threads = 1;
  EXPECT_FALSE(kernel_key(op, options) == kernel_key(op, same));
}

}  // namespace
}  // namespace strew
