// Wide sums in registers: which calls take that way, and that every call has the bits of the reference, also where the hint that indices are sorted is
// false.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/executor/thread_pool.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

constexpr int64_t kBags = 50, kPositions = 1000, kTable = 70;

struct Case {
  std::string dtype = "bf16", init = "in_place", policy = "skip_window", combiner = "add";
  int64_t width = 40;
  std::string mode = "wide", more;
};

std::string op_text(const Case& c) {
  const std::string w = std::to_string(c.width), row = "," + w + "]";
  return "strew1.scatter(operand=" + c.dtype + "[50" + row + " indices=i32[1000] updates=" + c.dtype + "[1000" + row +
         " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 "
         "lookups=[updates(0)=gather(operand=" +
         c.dtype + "[70" + row + " indices=i32[1000] result=" + c.dtype + "[1000" + row +
         " offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1" + row +
         " oob=skip_window)] combiner=" + c.combiner + " accumulate=" + c.mode + " oob=" + c.policy + " init=" + c.init +
         " indices_are_sorted=true" + c.more + ")";
}

/// Gets no update.
constexpr int32_t kUntouched = 20;

/// Destinations from -2 to 52 in no order; `inside`: in bounds.
std::vector<int32_t> destinations(bool inside) {
  std::vector<int32_t> out(kPositions);
  uint32_t state = 5;
  for (int32_t& each : out) {
    state = state * 1664525U + 1013904223U;
    each = static_cast<int32_t>((state >> 8) % (inside ? 47 : 55)) - (inside ? 0 : 2);
    each += static_cast<int32_t>(each == kUntouched);
  }
  return out;
}
std::vector<int32_t> sorted(std::vector<int32_t> all) {
  std::sort(all.begin(), all.end());
  return all;
}

struct Answer {
  std::vector<uint8_t> result;
  bool in_registers = false;
  Status status;
};

Answer answer(const Case& c, const std::vector<int32_t>& to, const std::string& backend, int threads) {
  const auto op = parse_op(op_text(c));
  EXPECT_TRUE(op.ok()) << op.status().message();
  PhaseTrace trace;
  const auto limits = std::make_shared<ExecutionLimits>();
  limits->trace = &trace;
  limits->shares_all = true;
  limits->line_bytes = limits->init_unit = limits->owner_positions = limits->owner_piece_bytes = 1;
  Runtime runtime{{std::make_shared<ThreadPool>(ThreadPoolOptions{.threads = threads, .waits = true}), limits}};
  KernelOptions options;
  options.backend = test::backend(backend);
  options.threads = threads;
  if (threads > 1) test::set_schedule(options, "strategy=runs");
  const auto kernel = runtime.get(*op, options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  if (!kernel.ok()) return {};
  const DType dtype = *dtype_from_name(c.dtype);
  const auto bytes = [&](int64_t rows) { return static_cast<size_t>(rows * c.width * bits(dtype) / 8); };
  Answer out;
  std::vector<uint8_t> operand(bytes(kBags)), table(bytes(kTable));
  uint32_t state = 11;
  // The second byte of each element bounds its exponent, so that there are neither infinities nor NaNs.
  const size_t size = static_cast<size_t>(bits(dtype)) / 8;
  const auto fill = [&](std::vector<uint8_t>& all) {
    for (size_t i = 0; i < all.size(); ++i) {
      state = state * 1664525U + 1013904223U;
      all[i] = static_cast<uint8_t>(i % size + 1 == size ? 0x38 + (state >> 24) % 7 : state >> 24);
    }
  };
  fill(operand), fill(table);
  // A signalling NaN of bf16 and f16 that no update reaches stays what it is.
  if (size == 2) operand[bytes(kUntouched)] = 0x81, operand[bytes(kUntouched) + 1] = 0x7f;
  std::vector<int32_t> from(kPositions), given = to;
  for (size_t p = 0; p < from.size(); ++p) from[p] = static_cast<int32_t>(p * p % 73) - 1;
  out.result.assign(operand.size(), 0x12);
  const int64_t result_dims[] = {kBags, c.width}, table_dims[] = {kTable, c.width}, positions[] = {kPositions};
  std::vector<TensorView> views = {{c.init == "in_place" ? operand.data() : out.result.data(), dtype, 2, result_dims, nullptr}};
  if (c.init == "copy") views.push_back({operand.data(), dtype, 2, result_dims, nullptr});
  views.push_back({given.data(), DType::i32, 1, positions, nullptr});
  views.push_back({table.data(), dtype, 2, table_dims, nullptr});
  views.push_back({from.data(), DType::i32, 1, positions, nullptr});
  out.status = kernel->run(views);
  if (c.init == "in_place") out.result = operand;
  out.in_registers = std::ranges::any_of(trace.steps(), [](const auto& step) { return step.kind == PhaseKind::wide_sums; });
  return out;
}

TEST(WideSums, SortedCallsStayInRegistersAndOthersHaveTheSameBits) {
  for (const std::string dtype : {"bf16", "f16", "f8e5m2", "f32"})
    for (const std::string init : {"in_place", "copy", "fill"}) {
      Case c{.dtype = dtype, .init = init == "fill" ? "fill fill=1.5:" + dtype : init};
      if (dtype == "f32") c.mode = "wide_f64";
      for (const bool is_sorted : {true, false}) {
        const std::vector<int32_t> to = is_sorted ? sorted(destinations(false)) : destinations(false);
        const Answer expected = answer(c, to, "reference", 1);
        for (const int threads : {1, 2, 3, 8}) {
          const Answer got = answer(c, to, "llvm", threads);
          EXPECT_TRUE(got.status.ok()) << got.status.message();
          EXPECT_EQ(got.result, expected.result) << op_text(c) << " threads " << threads << " sorted " << is_sorted;
          EXPECT_EQ(got.in_registers, is_sorted) << op_text(c) << " threads " << threads;
        }
      }
    }
}

TEST(WideSums, PoliciesAndCombiners) {
  for (const std::string policy : {"skip_window", "skip_element", "clamp", "error", "undefined"})
    for (const std::string combiner : {"add", "sub", "mul"}) {
      const Case c{.policy = policy, .combiner = combiner};
      const std::vector<int32_t> to = sorted(destinations(policy == "error" || policy == "undefined"));
      const Answer got = answer(c, to, "llvm", 2);
      EXPECT_TRUE(got.in_registers) << op_text(c);
      EXPECT_EQ(got.result, answer(c, to, "reference", 1).result) << op_text(c);
    }
}

/// Padding between the positions of a bag separates them, and one decrease at the border of blocks or chunks is enough.
TEST(WideSums, OneDecreaseTakesTheOtherWay) {
  const std::vector<int32_t> good = sorted(destinations(true));
  for (const size_t at :
       {size_t{1}, size_t{2}, size_t{16}, size_t{17}, size_t{499}, size_t{500}, size_t{992}, size_t{998}, size_t{999}}) {
    std::vector<int32_t> to = good;
    to[at] = to[at - 1] > 0 ? 0 : -1;
    if (at == 1) to[0] = 3;
    for (const int threads : {1, 2, 8}) {
      const Answer got = answer({}, to, "llvm", threads);
      EXPECT_FALSE(got.in_registers) << at;
      EXPECT_EQ(got.result, answer({}, to, "reference", 1).result) << at;
    }
  }
}

TEST(WideSums, BadIndexLeavesTheResultAlone) {
  std::vector<int32_t> to = sorted(destinations(true));
  const Case c{.policy = "error"};
  const std::vector<uint8_t> before = answer(c, std::vector<int32_t>(kPositions, 77), "reference", 1).result;
  to.back() = 50;
  for (const int threads : {1, 2}) {
    const Answer got = answer(c, to, "llvm", threads), expected = answer(c, to, "reference", 1);
    EXPECT_EQ(got.status.code(), Code::out_of_bounds);
    EXPECT_EQ(got.status.message(), expected.status.message());
    EXPECT_EQ(got.result, before);
  }
}

/// Threads share the columns of a destination that has most of the updates, which the part in registers cannot.
TEST(WideSums, OneLargeDestinationIsForOneThreadOnly) {
  std::vector<int32_t> to(kPositions, 7);
  EXPECT_TRUE(answer({}, to, "llvm", 1).in_registers);
  EXPECT_FALSE(answer({}, to, "llvm", 2).in_registers);
  EXPECT_EQ(answer({}, to, "llvm", 2).result, answer({}, to, "reference", 1).result);
}

TEST(WideSums, ReasonsWhyNot) {
  const auto reason = [](const Case& c, BackendChoice backend = BackendChoice::automatic) {
    KernelOptions options;
    options.target = *parse_target("x86-64-v3");
    options.backend = backend;
    const auto planned = plan_kernel(test::verified(test::op_of(op_text(c))), options);
    EXPECT_TRUE(planned.ok()) << planned.status().message();
    return planned->sums;
  };
  EXPECT_EQ(reason({}), "");
  EXPECT_EQ(reason({}, BackendChoice::portable), "not in registers: backend portable builds no such part");
  EXPECT_EQ(reason({.policy = "wrap"}), "not in registers: strategy runs: policy wrap breaks the order of indices");
  EXPECT_EQ(reason({.more = " order=relaxed"}), "not in registers: order relaxed says in which groups updates are summed");
  EXPECT_EQ(reason({.width = 5000}), "not in registers: the registers do not hold a row, or it is too short");
}

}  // namespace
}  // namespace strew
