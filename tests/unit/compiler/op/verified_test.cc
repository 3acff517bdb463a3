// An op is verified before anything that indexes by its dimension numbers sees it: by the type VerifiedOp, and in every front end before
// folding. The files below are those of the attack that crashed the fold of index arithmetic (a dimension number far outside).
#include "strew/verified.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <type_traits>

#include "backends/pipeline.h"
#include "backends/reference/reference.h"
#include "compiler/rewrite/rewrites.h"
#include "compiler/rewrite/split_wide.h"
#include "strew/import.h"
#include "strew/text.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using testing::HasSubstr;

// What indexes by dimension numbers takes no Op that nobody verified.
static_assert(!std::is_constructible_v<VerifiedOp, Op> && !std::is_default_constructible_v<VerifiedOp>);
static_assert(!std::is_invocable_v<decltype(make_plan), const Op&>);
static_assert(!std::is_invocable_v<decltype(canonicalise), const Op&>);
static_assert(!std::is_invocable_v<decltype(split_wide), const Op&>);
static_assert(!std::is_invocable_v<decltype(run_reference), const Op&, std::span<const TensorView>, BadIndex*>);
static_assert(!std::is_constructible_v<ProgramKernel, Op> && !std::is_default_constructible_v<ProgramKernel>);
static_assert(std::is_same_v<decltype(Compiled::op), VerifiedOp>);

constexpr const char* kGood =
    "strew1.scatter(operand=u8[1] indices=i64[1] updates=u8[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
    "combiner=max)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(Verified, OfKeepsALegalOpAndRefusesAnIllegalOne) {
  const Expected<VerifiedOp> good = VerifiedOp::of(test::op_of(kGood));
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ(**good, test::op_of(kGood));
  Scatter bad = std::get<Scatter>(test::op_of(kGood));
  bad.dims.index_map = {1000};
  const Expected<VerifiedOp> refused = VerifiedOp::of(bad);
  EXPECT_EQ(refused.status().code(), Code::invalid_argument);
  EXPECT_THAT(refused.status().message(), HasSubstr("scatter_dims_to_operand_dims"));
  EXPECT_THAT(refused.status().message(), HasSubstr("1000"));
}

TEST(Verified, FilesWithDimensionNumbersOutsideAreRefusedBeforeTheFold) {
  const std::string path = testing::TempDir() + "verified_test.strew";
  const std::string maps = "scatter_dims_to_operand_dims=[0]",
                    gather =
                        "strew1.gather(operand=f32[4,4] indices=i32[2] result=f32[2,4] offset_dims=[1] collapsed_slice_dims=[0] "
                        "start_index_map=[0] "
                        "index_vector_dim=1 slice_sizes=[1,4])";
  const std::vector<std::string> files = {
      replaced(kGood, maps, "scatter_dims_to_operand_dims=[1000000]"),
      replaced(kGood, maps, "scatter_dims_to_operand_dims=[-1]"),
      replaced(kGood, maps, maps + " index_vector_dim=-1"),
      replaced(kGood, maps, maps + " index_vector_dim=9"),
      replaced(kGood, "inserted_window_dims=[0] ", ""),
      replaced(kGood, "inserted_window_dims=[0]", "inserted_window_dims=[7]"),
      replaced(kGood, maps, maps + " input_batching_dims=[5] scatter_indices_batching_dims=[6]"),
      replaced(kGood, maps, maps + " update_window_dims=[3]"),
      replaced(gather, "start_index_map=[0]", "start_index_map=[99]"),
      replaced(gather, "offset_dims=[1]", "offset_dims=[44]"),
      replaced(gather, "index_vector_dim=1", "index_vector_dim=-7"),
      replaced(gather, "collapsed_slice_dims=[0]", "collapsed_slice_dims=[-3]"),
      replaced(gather, "slice_sizes=[1,4]", "slice_sizes=[1]"),
  };
  for (const std::string& text : files) {
    std::ofstream(path) << text << "\n";
    const Expected<Program> imported = import_file(path, {});
    ASSERT_FALSE(imported.ok()) << text;
    EXPECT_EQ(imported.status().code(), Code::invalid_argument) << text;
    EXPECT_THAT(imported.status().message(), HasSubstr("verified_test.strew:1: ")) << text;
  }
  std::filesystem::remove(path);
}

TEST(Verified, AnOverrideThatBreaksTheOpIsRefusedWithItsLocation) {
  const std::string path = testing::TempDir() + "verified_override.strew";
  std::ofstream(path) << kGood << "\n";
  ImportOptions options;
  options.override_oob = true;
  options.oob = OobPolicy::fill_window;
  const Expected<Program> imported = import_file(path, options);
  ASSERT_FALSE(imported.ok());
  EXPECT_THAT(imported.status().message(), HasSubstr("verified_override.strew:1: "));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace strew
