// Indices with stride 0 along the elements of a row: calls run rows, with the bits and the messages of the reference, which knows only elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backends/reference/reference.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"
#include "tests/support/plan.h"
#include "tests/support/rng.h"

namespace strew {
namespace {

using testing::HasSubstr;
using testing::Not;
using Dims = std::vector<int64_t>;

/// A scatter into, or a gather of, elements along `axis`, with indices that repeat along some of the other dims.
struct Case {
  Dims operand, indices, strides;
  int64_t axis = 0;
  bool gather = false, open = false;
  CombinerKind combiner = CombinerKind::add;
  OobPolicy oob = OobPolicy::error;
  bool normalize = true;

  VerifiedOp op() const {
    Dims table_dims = operand, index_dims = indices;
    if (open) table_dims[static_cast<size_t>(axis)] = index_dims[static_cast<size_t>(axis)] = kDynamic;
    const TensorType table{DType::f32, table_dims, {}}, index{DType::i64, index_dims, strides},
        updates{DType::f32, index_dims, {}};
    if (gather) {
      auto builder = gather_elements(table, index, axis).normalize_negative(normalize);
      if (oob == OobPolicy::fill_element || oob == OobPolicy::fill_window)
        builder.fill(oob, Scalar::of(0.25F));
      else
        builder.oob(oob);
      return VerifiedOp::of(Op(builder.build().value())).value();
    }
    auto builder =
        scatter_elements(table, index, updates, axis).combine(combiner).in_place().oob(oob).normalize_negative(normalize);
    return VerifiedOp::of(Op(builder.build().value())).value();
  }
};

int64_t count(const Dims& dims) {
  int64_t out = 1;
  for (const int64_t d : dims) out *= d;
  return out;
}

struct Outcome {
  Status status;
  BadIndex bad;
  std::vector<uint32_t> table, other;
};

/// Runs `op` on data made from `seed`.
template <class Run>
Outcome outcome(const Case& c, const VerifiedOp& op, uint64_t seed, const Run& run) {
  test::Rng rng(seed);
  Outcome out;
  out.table.resize(static_cast<size_t>(count(c.operand)));
  out.other.resize(static_cast<size_t>(count(c.indices)));
  for (auto* list : {&out.table, &out.other})
    for (uint32_t& bits : *list)
      bits = rng.below(8) == 0 ? 0x7fa00000U | static_cast<uint32_t>(rng.below(1000))
                               : std::bit_cast<uint32_t>(0.25F * static_cast<float>(rng.between(-20, 20)));
  int64_t reach = 1;
  for (size_t d = 0; d < c.indices.size(); ++d) reach += std::max<int64_t>(c.indices[d] - 1, 0) * c.strides[d];
  const int64_t most = c.operand[static_cast<size_t>(c.axis)];
  std::vector<int64_t> indices(static_cast<size_t>(reach));
  const bool valid = rng.below(2) == 0 && most > 0;
  for (int64_t& i : indices) i = valid ? rng.below(most) : rng.between(-most - 1, most);
  std::vector<TensorView> views;
  for (const TensorSlot& slot : tensor_slots(op)) {
    const auto rank = static_cast<int32_t>(c.operand.size());
    if (slot.role == Role::indices)
      views.push_back({indices.data(), DType::i64, rank, c.indices.data(), c.strides.data()});
    else if (slot.role == (c.gather ? Role::operand : Role::result))
      views.push_back({out.table.data(), DType::f32, rank, c.operand.data(), nullptr});
    else
      views.push_back({out.other.data(), DType::f32, rank, c.indices.data(), nullptr});
  }
  out.status = run(views, &out.bad);
  return out;
}

void compare(const Case& c, Runtime& runtime, test::Rng& rng) {
  const VerifiedOp op = c.op();
  for (const std::string backend : {"auto", "portable", "halide"}) {
    KernelOptions options;
    options.backend = test::backend(backend);
    const Expected<Kernel> kernel = runtime.get(op, options);
    if (!kernel.ok() && backend == "halide") continue;  // not built, or it cannot
    ASSERT_TRUE(kernel.ok()) << kernel.status().message() << print(op);
    for (int round = 0; round < 3; ++round) {
      const uint64_t seed = rng.next();
      const Outcome got = outcome(c, op, seed, [&](const auto& views, BadIndex* bad) { return kernel->run(views, bad); });
      const Outcome want = outcome(c, op, seed, [&](const auto& views, BadIndex* bad) { return run_reference(op, views, bad); });
      EXPECT_EQ(got.status.message(), want.status.message()) << print(op);
      EXPECT_EQ(got.bad, want.bad) << print(op);
      const bool moves = c.gather || c.combiner == CombinerKind::assign;
      const auto same = [&](uint32_t a, uint32_t b) {
        const auto is_nan = [](uint32_t bits) { return (bits & 0x7fffffffU) > 0x7f800000U; };
        return a == b || (!moves && is_nan(a) && is_nan(b));
      };
      EXPECT_TRUE(std::equal(got.table.begin(), got.table.end(), want.table.begin(), same)) << backend << print(op);
      EXPECT_TRUE(std::equal(got.other.begin(), got.other.end(), want.other.begin(), same)) << backend << print(op);
    }
  }
}

std::string plan_of(const Case& c) { return print(*canonical_plan(c.op())); }

TEST(RepeatedIndices, PlansHaveRows) {
  Case c{.operand = {7, 4}, .indices = {5, 4}, .strides = {1, 0}};
  EXPECT_THAT(plan_of(c), HasSubstr("plan scatter row"));
  EXPECT_THAT(plan_of(c), HasSubstr("the window has dim 1 of indices, which repeat along it"));
  c.gather = true;
  EXPECT_THAT(plan_of(c), HasSubstr("plan gather row"));
  c.open = true;  // the number of rows is known at the call
  EXPECT_THAT(plan_of(c), HasSubstr("plan gather row"));
  c = {.operand = {7, 2, 3}, .indices = {5, 2, 3}, .strides = {1, 0, 0}};
  EXPECT_THAT(plan_of(c), HasSubstr("for 6: "));
  c.strides = {2, 1, 0};
  EXPECT_THAT(plan_of(c), HasSubstr("dim 2 of indices"));
  EXPECT_THAT(plan_of(c), Not(HasSubstr("dim 1 of indices")));
}

TEST(RepeatedIndices, WhatIsNoRowStays) {
  Case c{.operand = {4, 7}, .indices = {4, 5}, .strides = {0, 1}, .axis = 1};  // columns
  EXPECT_THAT(plan_of(c), HasSubstr("plan scatter element"));
  c = {.operand = {7, 4}, .indices = {5, 4}, .strides = {0, 1}};  // it repeats along the axis
  EXPECT_THAT(plan_of(c), HasSubstr("plan scatter element"));
  c = {.operand = {7, 4}, .indices = {5, 0}, .strides = {1, 0}};  // no index is looked at
  EXPECT_THAT(plan_of(c), HasSubstr("plan scatter element"));
}

TEST(RepeatedIndices, AMessageHasTheCallersCoordinates) {
  const Case c{.operand = {7, 4}, .indices = {5, 4}, .strides = {1, 0}};
  const VerifiedOp op = c.op();
  Runtime runtime;
  const Kernel kernel = runtime.get(op, {}).value();
  std::vector<float> table(28), updates(20);
  std::vector<int64_t> indices{0, 6, 1, 9, -8};
  const std::vector<TensorView> views{{table.data(), DType::f32, 2, c.operand.data(), nullptr},
                                      {indices.data(), DType::i64, 2, c.indices.data(), c.strides.data()},
                                      {updates.data(), DType::f32, 2, c.indices.data(), nullptr}};
  BadIndex bad;
  const Status status = kernel.run(views, &bad);
  EXPECT_THAT(status.message(), HasSubstr("update position [3,0] (linear 12), component 0: value 9, expected -7 <= v <= 6"));
  EXPECT_EQ(bad.position, 12);
}

TEST(RepeatedIndices, RandomCases) {
  test::Rng rng(11);
  Runtime runtime;
  for (int round = 0; round < 40; ++round) {
    Case c;
    const int64_t rank = rng.between(2, 4);
    c.axis = rng.below(rank);
    int64_t stride = 1;
    c.strides.resize(static_cast<size_t>(rank));
    for (int64_t d = 0; d < rank; ++d) {
      c.operand.push_back(rng.below(10) == 0 ? 0 : rng.between(1, 9));
      c.indices.push_back(d == c.axis ? rng.between(0, 6) : rng.between(0, c.operand.back()));
    }
    for (int64_t d = rank; d-- > 0;) {
      if (rng.below(2) == 0 && d != c.axis) continue;
      c.strides[static_cast<size_t>(d)] = stride;
      stride *= std::max<int64_t>(c.indices[static_cast<size_t>(d)], 1);
    }
    c.gather = rng.below(2) == 0;
    c.open = rng.below(3) == 0;
    c.normalize = rng.below(2) == 0;
    c.combiner = rng.pick(std::vector{CombinerKind::assign, CombinerKind::add, CombinerKind::max});
    c.oob = c.gather ? rng.pick(std::vector{OobPolicy::error, OobPolicy::fill_element, OobPolicy::fill_window, OobPolicy::wrap,
                                            OobPolicy::clamp})
                     : rng.pick(std::vector{OobPolicy::error, OobPolicy::skip_element, OobPolicy::skip_window, OobPolicy::wrap,
                                            OobPolicy::clamp});
    if (c.gather && std::count(c.operand.begin(), c.operand.end(), 0) > 0) continue;  // has no slice of 1
    compare(c, runtime, rng);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace strew
