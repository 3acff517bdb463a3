// Tensors without elements. A window may lie in a dim that no index component moves and that the slices do not have (a fixed dim); if its
// extent is 0, no comparison of an index with a bound says that the tensor has no element. Here such a tensor's pointer is null or stands
// amid other data, which no call may read or write. Calls that move no elements end at once, however many positions they have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/kernel_state.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/rule_label.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::op_of;
using test::Views;
using testing::Each;

constexpr const char* kBackends[] = {"llvm", "portable", "halide", "reference"};
constexpr const char* kScatterPolicies[] = {"error", "skip_element", "skip_window", "clamp", "wrap"};

/// A scatter of elements: `rows` is the extent of the fixed dim 0; indices move dim 1.
std::string scatter_text(const std::string& rows, const std::string& policy, const std::string& rest) {
  return "strew1.scatter(operand=f32[" + rows + ",16] indices=i32[3,1] updates=f32[3] inserted_window_dims=[0,1] " +
         "scatter_dims_to_operand_dims=[1] index_vector_dim=1 oob=" + policy + " " + rest + ")";
}

class EmptyTensors : public testing::Test {
 protected:
  /// The kernel of `text`, or an empty handle where this build has no such backend.
  Kernel kernel(const std::string& text, const std::string& backend) {
    KernelOptions options;
    options.backend = test::backend(backend);
    const auto found = runtime_.get(op_of(text), options);
    if (!found.ok() && backend == "halide") return {};
    EXPECT_TRUE(found.ok()) << text << ": " << found.status().message();
    return found.ok() ? *found : Kernel{};
  }
  /// Binds the scatter's tensors; those with `rows` rows stand at `table`.
  Views scatter_views(float* table, int64_t rows, bool has_operand) {
    Views views;
    views.add(table, DType::f32, {rows, 16});
    if (has_operand) views.add(table, DType::f32, {rows, 16});
    return std::move(views).add(indices_.data(), DType::i32, {3, 1}).add(updates_.data(), DType::f32, {3});
  }

  Runtime runtime_;
  std::vector<int32_t> indices_{0, 5, 15};
  const std::vector<float> updates_{1, 2, 3};
};

TEST_F(EmptyTensors, ScattersIntoThemWriteNothing) {
  for (const char* backend : kBackends) {
    for (const char* policy : kScatterPolicies) {
      for (const std::string rows : {"0", "?"}) {
        for (const std::string rest : {"combiner=add init=in_place", "init=copy", "combiner=add init=fill fill=[7:f32]"}) {
          SCOPED_TRACE(std::string(backend) + " " + policy + " " + rows + " " + rest);
          const Kernel made = kernel(scatter_text(rows, policy, rest), backend);
          if (!made) continue;
          std::vector<float> neighbour(64, -1.0F);
          for (float* table : {neighbour.data() + 8, static_cast<float*>(nullptr)}) {
            const Status status = made.run(scatter_views(table, 0, rest == "init=copy"));
            EXPECT_TRUE(status.ok()) << status.message();
            EXPECT_THAT(neighbour, Each(-1.0F));
          }
        }
      }
    }
  }
}

TEST_F(EmptyTensors, IndicesAreCheckedAllTheSame) {
  indices_ = {0, 16, 15};
  for (const char* backend : kBackends) {
    for (const std::string rows : {"0", "?"}) {
      SCOPED_TRACE(std::string(backend) + " " + rows);
      const Kernel made = kernel(scatter_text(rows, "error", "init=in_place"), backend);
      if (!made) continue;
      const Status status = made.run(scatter_views(nullptr, 0, false));
      EXPECT_EQ(status.code(), Code::out_of_bounds) << status.message();
    }
  }
}

TEST_F(EmptyTensors, AFixedDimWithElementsIsWrittenAtItsFirst) {
  for (const char* backend : kBackends) {
    for (const std::string rows : {"2", "?"}) {
      SCOPED_TRACE(std::string(backend) + " " + rows);
      const Kernel made = kernel(scatter_text(rows, "error", "init=in_place"), backend);
      if (!made) continue;
      std::vector<float> table(32, -1.0F), expected = table;
      for (size_t i = 0; i < 3; ++i) expected[static_cast<size_t>(indices_[i])] = updates_[i];
      ASSERT_TRUE(made.run(scatter_views(table.data(), 2, false)).ok());
      EXPECT_EQ(table, expected);
    }
  }
}

// A kernel that was built for several shapes answers for the one without rows, too.
TEST_F(EmptyTensors, KernelsForSeveralShapesKnowTheEmptyOne) {
  std::vector<float> neighbour(64 * 16, -1.0F);
  for (const int64_t rows : {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) {
    const Kernel made = kernel(scatter_text(std::to_string(rows), "error", "combiner=add init=in_place"), "llvm");
    std::vector<float> before = neighbour;
    const Status status = made.run(scatter_views(neighbour.data() + 8, rows, false));
    ASSERT_TRUE(status.ok()) << status.message();
    for (size_t i = 0; i < 3 && rows > 0; ++i) before[8 + static_cast<size_t>(indices_[i])] += updates_[i];
    EXPECT_EQ(neighbour, before) << rows;
  }
}

TEST_F(EmptyTensors, BatchesOfCallsWriteNothing) {
  std::vector<float> neighbour(64, -1.0F);
  const Kernel made = kernel(scatter_text("?", "skip_element", "init=in_place"), "llvm");
  void* const data[] = {neighbour.data() + 8, indices_.data(), const_cast<float*>(updates_.data()),
                        neighbour.data() + 9, indices_.data(), const_cast<float*>(updates_.data())};
  const Status status = made.run_many(scatter_views(nullptr, 0, false), data);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(neighbour, Each(-1.0F));
}

// The fold of a wide accumulation is a kernel of its own.
TEST_F(EmptyTensors, WideSumsWriteNothing) {
  for (const char* backend : kBackends) {
    for (const std::string rows : {"0", "?"}) {
      SCOPED_TRACE(std::string(backend) + " " + rows);
      std::string text = scatter_text(rows, "error", "combiner=add init=in_place accumulate=wide");
      for (size_t at = 0; (at = text.find("f32[", at)) != std::string::npos;) text.replace(at, 3, "f16");
      const Kernel made = kernel(text, backend);
      if (!made) continue;
      std::vector<uint16_t> neighbour(64, 0xBEEF), updates(3, 0x3C00);
      const Status status = made.run(Views()
                                         .add(neighbour.data() + 8, DType::f16, {0, 16})
                                         .add(indices_.data(), DType::i32, {3, 1})
                                         .add(updates.data(), DType::f16, {3}));
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_THAT(neighbour, Each(0xBEEF));
    }
  }
}

/// A gather of elements from a fixed dim 0 with `rows` rows.
std::string gather_text(const std::string& rows, const std::string& positions, const std::string& policy, int slice) {
  return "strew1.gather(operand=f32[" + rows + ",16] indices=i32[" + positions + ",1] result=f32[" + positions +
         "] collapsed_slice_dims=[0,1] start_index_map=[1] " + "index_vector_dim=1 slice_sizes=[" + std::to_string(slice) +
         ",1] oob=" + policy + ")";
}

TEST_F(EmptyTensors, GathersThatWouldReadThemAreRefused) {
  for (const std::string policy : {"undefined", "error", "clamp", "wrap", "fill_element fill=7:f32", "fill_window fill=7:f32"}) {
    SCOPED_TRACE(policy);
    const auto fixed = parse_op(gather_text("0", "3", policy, 0));
    ASSERT_TRUE(fixed.ok()) << fixed.status().message();
    EXPECT_EQ(test::rule_label(VerifiedOp::of(*fixed).status().message()), "gather_empty");
    for (const int slice : {0, 1}) {
      for (const char* backend : kBackends) {
        SCOPED_TRACE(std::string(backend) + " " + std::to_string(slice));
        const Kernel made = kernel(gather_text("?", "?", policy, slice), backend);
        if (!made) continue;
        const std::vector<float> neighbour(64, -1.0F);
        std::vector<float> result(3, -2.0F);
        const Status status = made.run(Views()
                                           .add(result.data(), DType::f32, {3})
                                           .add(neighbour.data(), DType::f32, {0, 16})
                                           .add(indices_.data(), DType::i32, {3, 1}));
        EXPECT_EQ(status.code(), Code::invalid_argument);
        EXPECT_EQ(test::rule_label(status.message()), "gather_empty");
        EXPECT_THAT(result, Each(-2.0F));
      }
    }
  }
}

// 10^12 positions or rows without an element: a loop over them would not end.
TEST_F(EmptyTensors, CallsThatMoveNothingEndAtOnce) {
  constexpr int64_t kMany = 1'000'000'000'000;
  const std::vector<int32_t> indices{0, 1, 2, 3};
  for (const char* backend : kBackends) {
    SCOPED_TRACE(backend);
    for (const char* policy : {"error", "clamp"}) {
      const Kernel rows =
          kernel(std::string("strew1.gather(operand=f32[?,?,?] indices=i32[?] result=f32[?,?,?] offset_dims=[1,2] "
                             "collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
                             "slice_sizes=[1,?,?] oob=") +
                     policy + ")",
                 backend);
      if (!rows) continue;
      EXPECT_TRUE(rows.run(Views()
                               .add(nullptr, DType::f32, {4, kMany, 0})
                               .add(nullptr, DType::f32, {4, kMany, 0})
                               .add(indices.data(), DType::i32, {4}))
                      .ok());
      const Kernel updates = kernel(std::string("strew1.scatter(operand=f32[?,?,?] indices=i32[?] updates=f32[?,?,?] "
                                                "update_window_dims=[1,2] inserted_window_dims=[0] "
                                                "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=") +
                                        policy + ")",
                                    backend);
      EXPECT_TRUE(updates
                      .run(Views()
                               .add(nullptr, DType::f32, {4, kMany, 0})
                               .add(nullptr, DType::f32, {4, kMany, 0})
                               .add(indices.data(), DType::i32, {4})
                               .add(nullptr, DType::f32, {4, kMany, 0}))
                      .ok());
    }
    const Kernel positions = kernel(
        "strew1.gather(operand=f32[4] indices=i64[1000000000000,0] result=f32[1000000000000,0] offset_dims=[1] "
        "index_vector_dim=1 "
        "slice_sizes=[0] oob=error)",
        backend);
    if (!positions) continue;
    const std::vector<float> operand(4);
    EXPECT_TRUE(positions
                    .run(Views()
                             .add(nullptr, DType::f32, {kMany, 0})
                             .add(operand.data(), DType::f32, {4})
                             .add(nullptr, DType::i64, {kMany, 0}))
                    .ok());
  }
}

}  // namespace
}  // namespace strew
