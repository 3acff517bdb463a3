// The differential test's own parts: what the generators promise (every op verifies, patterns are what their names say, every kind of
// nasty value occurs), and that comparison and shrinking see what they must.
#include <algorithm>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/differential/compare.h"
#include "tests/differential/coverage.h"
#include "tests/differential/geometry.h"
#include "tests/differential/op_blueprint.h"
#include "tests/differential/random_data.h"
#include "tests/differential/random_indices.h"
#include "tests/differential/random_op.h"
#include "tests/differential/shrink.h"
#include "tests/support/elements.h"

namespace strew::test {
namespace {

using testing::HasSubstr;

Op parsed(const std::string& text) {
  Expected<Op> op = parse_op(text);
  EXPECT_TRUE(op.ok()) << op.status().message();
  return std::move(op).value();
}

const char* const kRows =
    "strew1.scatter(operand=f32[8,4] indices=i32[6] updates=f32[6,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=skip_window init=in_place)";
const char* const kSlices =
    "strew1.scatter(operand=f32[10] indices=i32[3] updates=f32[3,4] update_window_dims=[1] scatter_dims_to_operand_dims=[0] "
    "index_vector_dim=1 oob=skip_element)";

TEST(RandomOp, EveryOpAndEveryInstanceVerifies) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed);
    const Blueprint blueprint = random_blueprint(rng, {});
    const Op op = make_op(blueprint);
    ASSERT_TRUE(verify(op).ok()) << verify(op).message() << "\n" << print(op);
    const Op concrete = instantiate(blueprint, maxima(blueprint));
    ASSERT_TRUE(verify(concrete).ok()) << verify(concrete).message() << "\n" << print(concrete);
    texts.insert(print(op));
  }
  EXPECT_GT(texts.size(), 390u);
}

/// Extents of zero hide how large the others are: one that some policy turns into 1 must not reveal a tensor of terabytes.
TEST(RandomOp, EveryTensorFitsItsBudget) {
  constexpr int64_t kMostBytes = 32 << 20;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng = seed == 0 ? Rng::stream(196642174, 2 * 6256) : Rng(seed);  // the first asked for a terabyte once
    const Blueprint blueprint = random_blueprint(rng, {});
    const Op op = instantiate(blueprint, maxima(blueprint));
    for (const TensorSlot& slot : tensor_slots(op)) {
      const Extent extent = byte_extent(*slot.type);
      ASSERT_LE(extent.end - extent.first, kMostBytes) << seed << " " << print(op);
    }
  }
}

TEST(RandomOp, WishesAreGranted) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    OpWishes wishes;
    wishes.scatter = true;
    wishes.oob = OobPolicy::wrap;
    wishes.combiner = CombinerKind::max;
    wishes.dtype = DType::bf16;
    const Op op = make_op(random_blueprint(rng, wishes));
    const Scatter& s = std::get<Scatter>(op);
    EXPECT_EQ(s.oob, OobPolicy::wrap);
    EXPECT_EQ(s.combiner, CombinerKind::max);
    EXPECT_EQ(s.results[0].dtype, DType::bf16);
  }
}

TEST(BlueprintOf, PrintsTheSameOp) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const Op op = make_op(random_blueprint(rng, {}));
    EXPECT_EQ(print(make_op(blueprint_of(op))), print(op));
  }
}

TEST(RandomIndices, DuplicatedMeansAThirdAtLeast) {
  const Op op = parsed(
      "strew1.scatter(operand=f32[1000] indices=i64[300] updates=f32[300] inserted_window_dims=[0] "
      "scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1)");
  Rng rng(1);
  const IndexValues values = random_indices(rng, geometry_of(op), Pattern::duplicated, false);
  const std::set<Wide> distinct(values.begin(), values.end());
  EXPECT_LE(distinct.size(), values.size() * 7 / 10);
}

TEST(RandomIndices, PatternsAreWhatTheirNamesSay) {
  const Geometry g = geometry_of(parsed(kRows));
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    const auto make = [&](Pattern pattern) { return random_indices(rng, g, pattern, false); };
    for (int p = 0; p < kPatternCount; ++p) {
      if (!is_in_range(static_cast<Pattern>(p))) continue;
      EXPECT_FALSE(touched_by(g, make(static_cast<Pattern>(p))).any_bad) << name(static_cast<Pattern>(p));
    }
    EXPECT_FALSE(touched_by(g, make(Pattern::unique)).twice);
    const IndexValues sorted = make(Pattern::sorted);
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
    EXPECT_EQ(std::ranges::count_if(make(Pattern::one_bad), [&](Wide v) { return v < 0 || v > 7; }) > 1, false);
  }
}

TEST(RandomIndices, ExtremesReachTheEndsOfTheType) {
  const Geometry g = geometry_of(parsed(kRows));
  std::set<Wide> seen;
  Rng rng(3);
  for (int i = 0; i < 200; ++i)
    for (Wide v : random_indices(rng, g, Pattern::extremes, false)) seen.insert(v);
  EXPECT_TRUE(seen.contains(-(Wide{1} << 31)));
  EXPECT_TRUE(seen.contains((Wide{1} << 31) - 1));
}

TEST(Touched, ClippedWindowsTouchWhatRemains) {
  const Geometry g = geometry_of(parsed(kSlices));
  const Touched touched = touched_by(g, {-2, 8, 4});
  EXPECT_EQ(touched.element, (std::vector<uint8_t>{1, 1, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_FALSE(touched.twice);
  EXPECT_TRUE(touched.any_bad);
  EXPECT_TRUE(touched_by(g, {4, 5, 100}).twice);
}

TEST(RandomData, EveryClassOfFloatOccurs) {
  Rng rng(5);
  bool quiet = false, signalling = false, infinite = false, minus_zero = false, subnormal = false;
  for (int i = 0; i < 3000; ++i) {
    const auto v = static_cast<uint32_t>(random_value(rng, DType::f32, DataMode::nasty).bits[0]);
    const uint32_t magnitude = v & 0x7fffffff;
    quiet |= magnitude >= 0x7fc00000;
    signalling |= magnitude > 0x7f800000 && magnitude < 0x7fc00000;
    infinite |= magnitude == 0x7f800000;
    minus_zero |= v == 0x80000000;
    subnormal |= magnitude > 0 && magnitude < 0x00800000;
  }
  EXPECT_TRUE(quiet && signalling && infinite && minus_zero && subnormal);
}

class Comparison : public testing::Test {
 protected:
  /// A call on kRows in which only row 2 is touched, and its results with element `at` replaced by `value`.
  std::optional<std::string> after(int64_t at, uint64_t value, uint64_t original) {
    GuardedPool pool;
    Rng rng(1);
    const Call call(pool, rng, parsed(kRows), DataMode::small);
    Call::Image expected = call.results();
    store_element(expected[0].data() + call.origin_offset(0), {DType::f32, {original, 0}}, at);
    Call::Image actual = expected;
    store_element(actual[0].data() + call.origin_offset(0), {DType::f32, {value, 0}}, at);
    return first_difference(call, expected, actual, touched_by(geometry_of(call.op()), {2, 2, 2, 2, 2, 2}));
  }
};

TEST_F(Comparison, NamesCoordinatesAndBits) {
  const auto difference = after(9, 0x3f800000, 0x3f800001);
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(*difference, HasSubstr("result 0 [2,1]: expected 0x3f800001 (f32), got 0x3f800000 (f32)"));
}

TEST_F(Comparison, MovedAndUntouchedNaNsKeepTheirBits) {
  EXPECT_TRUE(after(9, 0x7fc00000, 0x7fc00001).has_value());  // assigned
  EXPECT_TRUE(after(0, 0x7fc00000, 0x7fa00000).has_value());  // no update reaches it
  EXPECT_FALSE(after(9, 0x7fc00001, 0x7fc00001).has_value());
}

TEST(StrayWrites, AByteInTheSlackIsFound) {
  GuardedPool pool;
  Rng rng(2);
  const Call call(pool, rng, parsed(kRows), DataMode::small);
  const Call::Image before = call.results();
  Call::Image after = before;
  const int64_t origin = call.origin_offset(0);
  const int64_t at = origin == 0 ? 8 * 4 * 4 : origin - 1;
  after[0][static_cast<size_t>(at)] ^= std::byte{0x10};
  EXPECT_TRUE(first_stray_write(call, before, after).has_value());
  EXPECT_FALSE(first_stray_write(call, before, before).has_value());
}

TEST(Shrink, FindsTheSmallestExtentThatStillFails) {
  const Blueprint small = shrink(blueprint_of(parsed(kRows)),
                                 [](const Blueprint& b) { return std::get<Scatter>(make_op(b)).operands[0].dims[1] >= 3; });
  const Scatter s = std::get<Scatter>(make_op(small));
  EXPECT_EQ(s.operands[0].dims[1], 3);
  EXPECT_EQ(s.operands[0].dims[0], 1);
}

TEST(CoverageTable, CountsAndMergesAndListsEmptyCells) {
  Coverage a, b;
  const Cell cell = cell_of(parsed(kRows), PlanKind::row);
  a.ran("llvm", cell, 5);
  b.merge(a.write());
  b.merge(a.write());
  EXPECT_TRUE(b.has("llvm", cell));
  EXPECT_THAT(b.write(), HasSubstr(" 10\n"));
  const std::vector<std::string> empty = b.empty_cells({"llvm"});
  EXPECT_EQ(std::ranges::count(empty, "llvm " + text(cell)), 0);
  EXPECT_GT(empty.size(), legal_cells().size() + legal_lookups().size() + legal_splits().size());  // phases and targets besides
}

TEST(CoverageTable, WantsEveryPolicyOfLookups) {
  const Op op = parsed(
      "strew1.scatter(operand=f32[9,4] indices=i32[5] updates=f32[5,4] extras=[per_element:f32[5,4]] "
      "lookups=[updates(0)=gather(operand=f32[6] indices=i32[5] result=f32[5,4] offset_dims=[1] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[4] oob=skip_element), extra(0)=gather(operand=f32[7,4] indices=i32[5] result=f32[5,4] "
      "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,4] oob=wrap)] "
      "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)");
  const std::vector<Lookup>& lookups = lookups_of(op);
  EXPECT_EQ(cell_of(lookups[0]), (LookupCell{OobPolicy::skip_element, true}));
  EXPECT_EQ(cell_of(lookups[1]), (LookupCell{OobPolicy::wrap, false})) << "no index moves its window";
  Coverage a, b;
  for (const LookupCell& cell : legal_lookups()) {
    EXPECT_EQ(std::ranges::count(a.empty_cells({"portable"}), "portable " + text(cell)), 1);
    a.ran("portable", cell, 3);
  }
  b.merge(a.write());
  for (const LookupCell& cell : legal_lookups())
    EXPECT_EQ(std::ranges::count(b.empty_cells({"portable"}), "portable " + text(cell)), 0);
  EXPECT_EQ(std::ranges::count(b.empty_cells({"llvm"}), "llvm " + text(LookupCell{OobPolicy::wrap, true})), 1);
}

TEST(CoverageTable, WantsEveryTarget) {
  Coverage a, b;
  for (const std::string& target : target_names()) {
    EXPECT_EQ(std::ranges::count(a.empty_cells({"llvm"}), "target " + target), 1);
    a.built_for(target);
  }
  b.merge(a.write());
  for (const std::string& target : target_names()) EXPECT_EQ(std::ranges::count(b.empty_cells({"llvm"}), "target " + target), 0);
  EXPECT_THAT(b.table(), HasSubstr("targets: ops  native 1"));
}

TEST(SplitCoverage, WantsEveryNumberOfThreads) {
  Coverage a, b;
  SplitCell cell{Strategy::clip, 1, false, OobPolicy::clamp, DType::f32};
  for (const int threads : kThreadCounts) {
    EXPECT_FALSE(a.has(cell));
    cell.threads = threads;
    a.ran(cell);
  }
  EXPECT_TRUE(a.has(cell));
  b.merge(a.write());
  EXPECT_TRUE(b.has(cell));
  EXPECT_EQ(std::ranges::count(b.empty_cells({"llvm"}), text(cell)), 0);
  EXPECT_EQ(std::ranges::count(Coverage().empty_cells({"llvm"}), text(cell)), 1);
  EXPECT_THAT(b.table(), HasSubstr("8 threads 1/"));
}

TEST(SplitCoverage, CountsThreadsByWhatTheTraceSays) {
  using K = PhaseKind;
  EXPECT_EQ(threads_of(std::vector<PhaseTrace::Step>{{K::check, 8, 8}, {K::owner, 5, 5}}, Strategy::owner), 5);
  EXPECT_EQ(threads_of(std::vector<PhaseTrace::Step>{{K::init, 8, 8}, {K::whole, 1, 1}}, Strategy::owner), 1);
  EXPECT_EQ(threads_of(std::vector<PhaseTrace::Step>{{K::columns, 3, 3}}, Strategy::radix), 3);
  EXPECT_EQ(threads_of(std::vector<PhaseTrace::Step>{{K::init, 8, 8}}, Strategy::window), 0);
  EXPECT_EQ(threads_of(std::vector<PhaseTrace::Step>{{K::window, 1, 8}}, Strategy::window), 0);  // seven of the chunks were empty
}

TEST(SplitCoverage, WantsEveryPhaseOnEveryNumberOfThreads) {
  SplitCoverage coverage;
  const auto lacks = [&](const char* what) { return std::ranges::count(coverage.empty_cells(), what) == 1; };
  EXPECT_TRUE(lacks("phase private_merge on 3 threads"));
  EXPECT_TRUE(lacks("phase wide_fold on 8 threads"));
  coverage.ran(std::vector<PhaseTrace::Step>{
      {PhaseKind::private_merge, 12, 3}, {PhaseKind::wide_fold, 0, 0}, {PhaseKind::init, 8, 8}, {PhaseKind::whole, 1, 1}});
  EXPECT_FALSE(lacks("phase private_merge on 3 threads"));
  EXPECT_FALSE(lacks("phase wide_fold on 8 threads"));
  EXPECT_TRUE(lacks("phase wide_narrow on 8 threads"));
}

}  // namespace
}  // namespace strew::test
