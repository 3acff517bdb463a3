// A runtime under everything at once: 32 threads ask for 1,000 descriptors in all ways, call the kernels, cancel and change the
// capacity, while kernels are evicted. Results are checked, and so is that every request was answered. ThreadSanitizer runs this, too.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/epoch.h"
#include "strew/runtime.h"
#include "strew/site.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

constexpr int kThreads = 32, kDescriptors = 1000, kRequests = 150;
/// One in so many descriptors is compiled; the others are interpreted, because most of a compilation is spent in LLVM.
constexpr int kCompiled = 12;

/// Adds rows of `width` to a table of 4 rows.
PreparedOp descriptor(int number) {
  const std::string width = std::to_string(1 + number);
  const Op op =
      test::op_of("strew1.scatter(operand=i32[4," + width + "] indices=i32[2] updates=i32[2," + width +
                  "] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
                  "combiner=add oob=error init=in_place)");
  KernelOptions options;
  options.backend = number % kCompiled == 0 ? BackendChoice::llvm : BackendChoice::reference;
  options.threads = 1;
  return *PreparedOp::of(op, options);
}

class Stress : public testing::Test {
 protected:
  Stress() {
    for (int i = 0; i < kDescriptors; ++i) descriptors_.push_back(descriptor(i));
  }

  /// Buffers for a call of a descriptor; `run` is called with its tensors, and must add row 0 to row 3 and row 1 to row 0.
  template <class Run>
  void expect_adds(int number, Run&& run) {
    const int64_t width = 1 + number;
    std::vector<int32_t> table(static_cast<size_t>(4 * width), 5), updates(static_cast<size_t>(2 * width), number);
    const int32_t indices[] = {3, 0};
    const int64_t table_dims[] = {4, width}, index_dims[] = {2}, update_dims[] = {2, width};
    const TensorView tensors[] = {{table.data(), table_dims}, {indices, index_dims}, {updates.data(), update_dims}};
    const Status status = run(std::span<const TensorView>(tensors));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(table.front(), 5 + number);
    EXPECT_EQ(table.back(), 5 + number);
    EXPECT_EQ(table[static_cast<size_t>(width)], 5);
  }

  void wait_for(PendingKernel& pending, int number, bool was_cancelled) {
    const Expected<Kernel> kernel = pending.wait();
    if (kernel.ok())
      expect_adds(number, [&](auto tensors) { return kernel->run(tensors); });
    else
      EXPECT_TRUE(was_cancelled && kernel.status().code() == Code::cancelled) << kernel.status().message();
  }

  void ask_async(int number, bool cancels, bool has_callback) {
    PendingKernel::Callback done;
    if (has_callback) {
      ++expected_answers_;
      done = [this](const Expected<Kernel>&) { ++answers_; };
    }
    PendingKernel pending = runtime_->get_async(descriptors_[static_cast<size_t>(number)], done);
    if (cancels) pending.cancel();
    wait_for(pending, number, cancels);
  }

  void ask_with_a_deadline(int number) {
    const Deadline soon = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    const Expected<Kernel> kernel = runtime_->get(descriptors_[static_cast<size_t>(number)], soon);
    if (!kernel.ok()) {
      EXPECT_EQ(kernel.status().code(), Code::deadline_exceeded) << kernel.status().message();
    }
  }

  void lend(int number) {
    const LentKernel lent = runtime_->lend(descriptors_[static_cast<size_t>(number)].key());
    if (lent) expect_adds(number, [&](auto tensors) { return lent->run(tensors); });
  }

  void one_request(std::mt19937& random) {
    const int number = static_cast<int>(random() % kDescriptors);
    const PreparedOp& op = descriptors_[static_cast<size_t>(number)];
    switch (random() % 10) {
      case 0:
        return ask_async(number, false, true);
      case 1:
        return ask_async(number, true, random() % 2 == 0);
      case 2:
        return ask_with_a_deadline(number);
      case 3:
        return lend(number);
      case 4:
      case 5:
        return expect_adds(number, [&](auto tensors) { return site_->run(op, tensors); });
      case 6:
        return expect_adds(number, [&](auto tensors) {
          return site_->run(
              tensors, [&] { return *op.op(); }, nullptr, 1, op.options());
        });
      case 7:
        runtime_->set_capacity(static_cast<int64_t>(random() % 4) << 18);
        if (random() % 20 == 0) runtime_->clear();
        return;
      default: {
        const Expected<Kernel> kernel = runtime_->get(op);
        ASSERT_TRUE(kernel.ok()) << kernel.status().message();
        expect_adds(number, [&](auto tensors) { return kernel->run(tensors); });
      }
    }
  }

  std::deque<PreparedOp> descriptors_;
  std::atomic<int> answers_{0}, expected_answers_{0};
  std::unique_ptr<Runtime> runtime_ = std::make_unique<Runtime>();  // its destructor waits for callbacks, which count answers
  std::unique_ptr<Site> site_ = std::make_unique<Site>(*runtime_);
};

TEST_F(Stress, EverythingAtOnce) {
  runtime_->set_capacity(int64_t{1} << 19);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (int i = 0; i < kRequests; ++i) one_request(random);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Runtime::Stats stats = runtime_->stats();
  EXPECT_GT(stats.hits, 0u);
  EXPECT_GT(stats.evicted, 0u);
  EXPECT_EQ(stats.failed, 0u);
  site_.reset();
  // Asynchronous builds may still be under way, and hold their kernels until they have answered.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    epochs::collect();  // kernels that the site had
    runtime_->set_capacity(0);
  } while (runtime_->stats().kernels > 0 && std::chrono::steady_clock::now() < end);
  EXPECT_EQ(runtime_->stats().kernels, 0U);
  runtime_.reset();
  EXPECT_EQ(answers_, expected_answers_);
}

}  // namespace
}  // namespace strew
