// Schedule knob `checked`: false hints are errors that name two positions, true ones change nothing, and nothing is written on an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

using test::op_of;
using testing::HasSubstr;

/// Runs an op of i32 indices with schedule `checked` and says what came of it. Buffers: one per tensor, the first is the result.
struct Call {
  std::vector<float> result;
  Status status;

  Call(const std::string& text, std::vector<int32_t> indices, const std::string& knobs = "checked=true") {
    const Op op = op_of(text);
    KernelOptions options;
    test::set_schedule(options, knobs);
    const auto kernel = Runtime::process().get(op, options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<std::vector<float>> buffers;
    std::vector<TensorView> views;
    for (const TensorSlot& slot : tensor_slots(op)) {
      int64_t elements = 1;
      for (const int64_t dim : slot.type->dims) elements *= dim;
      buffers.emplace_back(static_cast<size_t>(elements), slot.role == Role::updates ? 1.0f : 0.0f);
      void* const data = slot.role == Role::indices ? static_cast<void*>(indices.data()) : buffers.back().data();
      views.push_back({data, slot.type->dtype, slot.type->rank(), slot.type->dims.data(), nullptr});
    }
    if (kernel.ok()) status = kernel->run(views);
    result = buffers[0];
  }
  bool wrote_nothing() const {
    return std::all_of(result.begin(), result.end(), [](float value) { return value == 0; });
  }
};

const std::string kRows =
    "strew1.scatter(operand=f32[6,2] indices=i32[3] updates=f32[3,2] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place";

TEST(Hints, RowsWrittenTwiceAreNamed) {
  const Call twice(kRows + " unique_indices=true)", {4, 1, 4});
  EXPECT_EQ(twice.status.code(), Code::invalid_argument);
  EXPECT_EQ(
      twice.status.message(),
      "unique_indices: update positions 0 and 2 both write result element [4,0], expected every element written once; drop the "
      "hint, or the duplicates");
  EXPECT_TRUE(twice.wrote_nothing());
  EXPECT_TRUE(Call(kRows + " unique_indices=true)", {4, 1, 5}).status.ok());
  EXPECT_TRUE(Call(kRows + " unique_indices=true)", {4, 1, 4}, "").status.ok());
  EXPECT_TRUE(Call(kRows + ")", {4, 1, 4}).status.ok());
}

TEST(Hints, OnlyWhatIsWrittenCounts) {
  EXPECT_TRUE(Call(kRows + " unique_indices=true oob=skip_window)", {4, 9, 9}).status.ok());
  EXPECT_THAT(Call(kRows + " unique_indices=true oob=clamp)", {4, 9, 8}).status.message(),
              HasSubstr("positions 1 and 2 both write"));
  const std::string windows =
      "strew1.scatter(operand=f32[8] indices=i32[2,1] updates=f32[2,3] update_window_dims=[1] inserted_window_dims=[] "
      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place unique_indices=true)";
  EXPECT_TRUE(Call(windows, {0, 3}).status.ok());
  EXPECT_THAT(Call(windows, {0, 2}).status.message(), HasSubstr("result element [2]"));
}

TEST(Hints, StartsThatDecreaseAreNamed) {
  const Call back(kRows + " indices_are_sorted=true)", {1, 4, 2});
  EXPECT_EQ(back.status.message(),
            "indices_are_sorted: position 2 starts at [2], before [4] of position 1, expected starts that never decrease; drop "
            "the hint, "
            "or sort");
  EXPECT_TRUE(back.wrote_nothing());
  EXPECT_TRUE(Call(kRows + " indices_are_sorted=true)", {1, 4, 4}).status.ok());
}

// dim 0 batches: each batch is sorted by itself. A gather's hint is checked too.
TEST(Hints, BatchesAreSortedEachByItself) {
  const std::string gather =
      "strew1.gather(operand=f32[2,5] indices=i32[2,3] result=f32[2,3] offset_dims=[] collapsed_slice_dims=[1] "
      "operand_batching_dims=[0] start_indices_batching_dims=[0] start_index_map=[1] index_vector_dim=2 slice_sizes=[1,1] "
      "indices_are_sorted=true)";
  EXPECT_TRUE(Call(gather, {1, 2, 4, 0, 0, 3}).status.ok());
  EXPECT_THAT(Call(gather, {1, 2, 4, 0, 3, 2}).status.message(), HasSubstr("position 5 starts at [2], before [3] of position 4"));
}

}  // namespace
}  // namespace strew
