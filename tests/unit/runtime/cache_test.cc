// The cache: one build however many threads ask, failures forgotten, kernels forgotten when the capacity is reached, keys
// that see every field.
#include "runtime/cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <semaphore>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/kernel_state.h"
#include "schedules/knobs.h"
#include "strew/text.h"
#include "tests/support/options.h"

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
  options.backend = BackendChoice::reference;
  return options;
}

PreparedOp prepared(int rows) { return *PreparedOp::of(small_op(rows), on_reference()); }

Kernel any_kernel(int rows = 6) {
  Runtime runtime;
  return *runtime.get(small_op(rows), on_reference());
}

void on_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

TEST(Cache, BuildsOnceForManyThreads) {
  const Kernel kernel = any_kernel();
  std::atomic<int> builds{0}, answers{0};
  KernelCache cache(
      [&](BuildJob&) -> Expected<Kernel> {
        ++builds;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return kernel;
      },
      {});
  on_threads(16, [&](int) {
    const auto answer = cache.get(prepared(6));
    answers += answer.ok() && &answer->op() == &kernel.op();
  });
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(answers, 16);
  EXPECT_EQ(cache.stats().misses + cache.stats().hits, 16u);
}

TEST(Cache, WaitersShareAFailureAndThenItIsForgotten) {
  std::atomic<int> builds{0}, failures{0};
  std::atomic<bool> fails{true};
  KernelCache cache(
      [&](BuildJob&) -> Expected<Kernel> {
        if (!fails) return any_kernel();
        ++builds;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return unsupported("attempt " + std::to_string(builds));
      },
      {});
  on_threads(8, [&](int) { failures += !cache.get(prepared(6)).ok(); });
  EXPECT_EQ(failures, 8);
  EXPECT_LT(builds, 8);
  EXPECT_EQ(cache.stats().failed, static_cast<uint64_t>(builds));
  EXPECT_FALSE(cache.find(prepared(6).key().hash));
  fails = false;
  EXPECT_TRUE(cache.get(prepared(6)).ok());
  EXPECT_TRUE(cache.find(prepared(6).key().hash));
}

TEST(Cache, AnExceptionIsAFailureNotADeadlock) {
  int turn = 0;
  KernelCache cache(
      [&](BuildJob&) -> Expected<Kernel> {
        if (turn == 0) throw std::runtime_error("a surprise");
        if (turn == 1) throw std::bad_alloc();
        return any_kernel();
      },
      {});
  const auto answer = cache.get(prepared(6));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), Code::internal);
  EXPECT_EQ(answer.status().message(), "build: a surprise");
  turn = 1;
  const auto starved = cache.get(prepared(6));
  ASSERT_FALSE(starved.ok());
  EXPECT_EQ(starved.status().code(), Code::resource_exhausted);
  EXPECT_EQ(starved.status().message(),
            "kernel: out of memory; it was not built, and nothing is remembered, so ask again when there is memory");
  turn = 2;
  EXPECT_TRUE(cache.get(prepared(6)).ok());
}

/// A cache in which all requests for fewer than 100 rows lead to one built kernel, whose build stops at a gate.
class OneKernel {
 public:
  explicit OneKernel(int failures = 0, int threads = 2)
      : failures_(failures), cache_([this](BuildJob& job) { return build(job); }, {.compile_threads = threads}) {}
  KernelCache* operator->() { return &cache_; }
  PendingKernel ask(int rows) { return cache_.get_async(prepared(rows), {}); }
  /// Until that many jobs wait for the one that builds.
  void await_parked(int count) {
    while (parked_ < count) std::this_thread::yield();
  }
  void await_build() { begun_.acquire(); }
  void open() { gate_.release(); }
  int builds() const { return builds_; }

 private:
  Expected<Kernel> build(BuildJob& job) {
    const Hash128 key = job.request.op.key().hash, high = prepared(100).key().hash;
    if (key == high) return kernel_;
    const KernelCache::Claim claim = cache_.claim({1, 1}, job);
    if (claim.kernel != nullptr) return kernel_;
    if (!claim.is_mine) {
      ++parked_;
      return Kernel();
    }
    ++builds_;
    begun_.release();
    gate_.acquire();
    STREW_TRY(job.go_on());
    if (builds_ <= failures_) return unsupported("attempt " + std::to_string(builds_));
    cache_.share({1, 1}, kernel_.state()->built);
    return kernel_;
  }

  const Kernel kernel_ = any_kernel();
  const int failures_;
  std::atomic<int> builds_{0}, parked_{0};
  std::counting_semaphore<> begun_{0}, gate_{0};
  KernelCache cache_;
};

TEST(Cache, JobsThatNeedOneBuiltKernelShareItAndTakeNoThreadWhileTheyWait) {
  OneKernel cache;
  const PendingKernel first = cache.ask(1);
  cache.await_build();
  std::vector<PendingKernel> others;
  for (int rows = 2; rows <= 9; ++rows) others.push_back(cache.ask(rows));
  cache.await_parked(8);
  EXPECT_TRUE(cache->get(prepared(100)).ok()) << "a thread is free";
  for (const PendingKernel& other : others) EXPECT_FALSE(other.ready());
  cache.open();
  EXPECT_TRUE(first.wait().ok());
  for (const PendingKernel& other : others) EXPECT_TRUE(other.wait().ok());
  EXPECT_EQ(cache.builds(), 1);
  EXPECT_EQ(cache->stats().kernels, 10u);
}

TEST(Cache, AJobBuildsTheKernelIfTheOneThatItWaitsForFails) {
  OneKernel cache(/*failures=*/1);
  const PendingKernel first = cache.ask(1);
  cache.await_build();
  const PendingKernel second = cache.ask(2), third = cache.ask(3);
  cache.await_parked(2);
  cache.open();
  cache.open();
  EXPECT_EQ(first.wait().status().message(), "attempt 1");
  EXPECT_TRUE(second.wait().ok());
  EXPECT_TRUE(third.wait().ok());
  EXPECT_EQ(cache.builds(), 2);
}

TEST(Cache, ABuildGoesOnForTheJobsThatWaitForIt) {
  OneKernel cache;
  PendingKernel first = cache.ask(1);
  cache.await_build();
  const PendingKernel second = cache.ask(2);
  cache.await_parked(1);
  first.cancel();
  cache.open();
  EXPECT_EQ(first.wait().status().code(), Code::cancelled);
  EXPECT_TRUE(second.wait().ok());
  EXPECT_EQ(cache.builds(), 1);
}

TEST(Cache, AJobThatWaitsForAnotherIsAnsweredWhenTheCacheIsDrained) {
  OneKernel cache;
  const PendingKernel first = cache.ask(1);
  cache.await_build();
  const PendingKernel second = cache.ask(2);
  cache.await_parked(1);
  EXPECT_FALSE(cache->drain(std::chrono::steady_clock::now()));
  cache.open();
  EXPECT_TRUE(cache->drain(kNoDeadline));
  EXPECT_TRUE(first.wait().ok());
  EXPECT_TRUE(second.wait().ok());
}

TEST(Cache, AJobThatWaitsForAnotherIsAnsweredWhenTheCacheIsDestroyed) {
  auto cache = std::make_unique<OneKernel>();
  const PendingKernel first = cache->ask(1);
  cache->await_build();
  const PendingKernel second = cache->ask(2);
  cache->await_parked(1);
  cache->open();
  cache.reset();
  EXPECT_TRUE(first.ready());
  EXPECT_TRUE(second.ready());
}

TEST(Cache, ForgetsTheNamesOfKernelsThatAreGone) {
  KernelCache cache([](BuildJob&) -> Expected<Kernel> { return internal_error("nothing is built"); }, {});
  const auto kept = any_kernel().state()->built;
  for (int i = 0; i < 10'000; ++i)
    cache.share(hash_text("symbol_" + std::to_string(i)), i < 100 ? kept : std::make_shared<const BuiltKernel>(kept->compiled));
  EXPECT_GE(cache.slots(), 100u);
  EXPECT_LE(cache.slots(), 400u);
  EXPECT_EQ(cache.find_built(hash_text("symbol_7")), kept);
  EXPECT_EQ(cache.find_built(hash_text("symbol_700")), nullptr);
}

/// The memory that the cache counts for one kernel of small_op.
int64_t bytes_of_one() {
  const Kernel kernel = any_kernel();
  return kernel.state()->bytes() + kernel.state()->built->bytes + KernelTable::entry_bytes();
}

TEST(Cache, ForgetsTheLeastRecentlyUsedBeyondItsCapacity) {
  const int64_t one = bytes_of_one();
  KernelCache cache(
      [](BuildJob& job) -> Expected<Kernel> {
        return any_kernel(static_cast<int>(std::get<Scatter>(*job.request.op.op()).operands[0].dims[0]));
      },
      {.capacity = 16 * one + one / 2});
  for (int rows = 1; rows <= 12; ++rows) ASSERT_TRUE(cache.get(prepared(rows)).ok());
  EXPECT_EQ(cache.stats().kernels, 12u);
  EXPECT_EQ(cache.stats().evicted, 0u);
  for (int rows = 13; rows <= 60; ++rows) {
    ASSERT_TRUE(cache.get(prepared(rows)).ok());
    EXPECT_TRUE(cache.find(prepared(1).key().hash)) << "kernel 1 is asked for all the time";
    EXPECT_LE(cache.stats().bytes, 17 * one);
  }
  EXPECT_FALSE(cache.find(prepared(2).key().hash));
  EXPECT_TRUE(cache.find(prepared(60).key().hash));
  EXPECT_GE(cache.stats().evicted, 40u);
  EXPECT_EQ(cache.stats().kernels + cache.stats().evicted, 60u);
  // The compile thread refers to the last kernel until it has left the job.
  for (int turn = 0; turn < 1000 && cache.stats().kernels > 0; ++turn) {
    cache.set_capacity(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(cache.stats().kernels, 0u);
  EXPECT_EQ(cache.stats().bytes, 0);
  EXPECT_TRUE(cache.get(prepared(3)).ok());
  EXPECT_EQ(cache.stats().kernels, 0u) << "a capacity of 0 remembers nothing";
}

TEST(Cache, NeverForgetsAKernelThatAHandleRefersTo) {
  const int64_t one = bytes_of_one();
  KernelCache cache(
      [](BuildJob& job) -> Expected<Kernel> {
        return any_kernel(static_cast<int>(std::get<Scatter>(*job.request.op.op()).operands[0].dims[0]));
      },
      {.capacity = 3 * one});
  std::vector<Kernel> handles;
  for (int rows = 1; rows <= 10; ++rows) handles.push_back(*cache.get(prepared(rows)));
  EXPECT_EQ(cache.stats().kernels, 10u) << "forgetting them would free nothing";
  handles.clear();
  for (int rows = 11; rows <= 30; ++rows) ASSERT_TRUE(cache.get(prepared(rows)).ok());
  EXPECT_LE(cache.stats().kernels, 4u);
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
  EXPECT_EQ(runtime.stats().misses, 0u) << "nothing was built";
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
  scatter([](Scatter& s) { s.dims.window_dims = {0}; });
  scatter([](Scatter& s) { s.dims.removed_dims = {}; });
  scatter([](Scatter& s) { s.dims.operand_batching_dims = {0}; });
  scatter([](Scatter& s) { s.dims.indices_batching_dims = {0}; });
  scatter([](Scatter& s) { s.dims.index_map = {1}; });
  scatter([](Scatter& s) { s.dims.index_vector_dim = 0; });
  scatter([](Scatter& s) { s.combiner = CombinerKind::add; });
  scatter([](Scatter& s) { s.combiner = CombinerKind::expr; });
  scatter([](Scatter& s) { s.expr = {{{ExprOp::update, DType::f32, {}, 0, {}}}, {0}}; });
  scatter([](Scatter& s) { s.expr = {{{ExprOp::current, DType::f32, {}, 0, {}}}, {0}}; });
  scatter([](Scatter& s) { s.init = InitKind::in_place; });
  scatter([](Scatter& s) { s.fill = {{DType::f32, {1, 0}}}; });
  scatter([](Scatter& s) { s.fill = {{DType::f32, {0, 1}}}; });
  scatter([](Scatter& s) { s.oob = OobPolicy::wrap; });
  scatter([](Scatter& s) { s.normalize_negative = true; });
  scatter([](Scatter& s) { s.order = Order::relaxed; });
  scatter([](Scatter& s) { s.accumulate = Accumulate::wide; });
  scatter([](Scatter& s) { s.indices_are_sorted = true; });
  scatter([](Scatter& s) { s.unique_indices = true; });
  options([](KernelOptions& o) { o.backend = BackendChoice::llvm; });
  options([](KernelOptions& o) { o.threads = 1; });
  for (const Knob& knob : knobs()) {
    const std::string text = std::string(knob.name) + "=" + value_of(knob, Schedule{});  // the default, as a wish
    options([&](KernelOptions& o) { test::set_schedule(o, text); });
  }
  options([](KernelOptions& o) { test::set_schedule(o, "unroll=2"); });
  const auto target = [&](auto change) {
    Target changed = test::target("haswell");
    change(changed);
    options([&](KernelOptions& o) { o.target = changed; });
  };
  target([](Target&) {});
  target([](Target& t) { t.arch = "aarch64"; });
  target([](Target& t) { t.cpu = "znver3"; });
  target([](Target& t) { t.features = {"+avx512f"}; });
  target([](Target& t) { t.features = {"-avx2", "-fma"}; });
  target([](Target& t) { t.vector_bytes = 16; });
  target([](Target& t) { t.f16c = !t.f16c; });
  target([](Target& t) { t.cores += 1; });
  target([](Target& t) { t.l1d_bytes += 1; });
  target([](Target& t) { t.l2_bytes += 1; });
  target([](Target& t) { t.l3_bytes += 1; });
  return list;
}

TEST(Keys, SeeEveryFieldOfAScatter) {
  std::set<std::string> keys;
  const auto list = variants();
  for (const auto& [op, options] : list) {
    keys.insert(to_hex(kernel_key(op, options).hash));
    EXPECT_EQ(kernel_key(Op(op), KernelOptions(options)), kernel_key(op, options));
  }
  EXPECT_EQ(keys.size(), list.size());
}

TEST(Keys, SeeEveryFieldOfAGather) {
  const auto base = parse_op(
      "strew1.gather(operand=f32[6,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,4])");
  ASSERT_TRUE(base.ok()) << base.status().message();
  std::set<std::string> keys;
  size_t count = 0;
  const auto gather = [&](auto change) {
    Op op = *base;
    change(std::get<Gather>(op));
    keys.insert(to_hex(kernel_key(op, {}).hash));
    ++count;
  };
  gather([](Gather&) {});
  gather([](Gather& g) { g.operand.dims[0] = 7; });
  gather([](Gather& g) { g.indices.dtype = DType::u32; });
  gather([](Gather& g) { g.extras.push_back({ExtraKind::scalar, {}}); });
  gather([](Gather& g) { g.result.dtype = DType::f16; });
  gather([](Gather& g) { g.dims.window_dims = {0}; });
  gather([](Gather& g) { g.dims.removed_dims = {1}; });
  gather([](Gather& g) { g.dims.operand_batching_dims = {0}; });
  gather([](Gather& g) { g.dims.indices_batching_dims = {0}; });
  gather([](Gather& g) { g.dims.index_map = {1}; });
  gather([](Gather& g) { g.dims.index_vector_dim = 0; });
  gather([](Gather& g) { g.slice_sizes = {1, 3}; });
  gather([](Gather& g) { g.expr = {{{ExprOp::current, DType::f32, {}, 0, {}}}, {0}}; });
  gather([](Gather& g) { g.oob = OobPolicy::wrap; });
  gather([](Gather& g) { g.fill.bits[0] = 1; });
  gather([](Gather& g) { g.normalize_negative = true; });
  gather([](Gather& g) { g.indices_are_sorted = true; });
  EXPECT_EQ(keys.size(), count);
}

}  // namespace
}  // namespace strew
