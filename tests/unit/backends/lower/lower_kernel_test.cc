// Lowered kernels: what policies become, that passes change nothing but how positions are walked, and kernels without index sources (copies, maps,
// reductions, row-local values) and with two of them, which run in llvm and portable with the bits of plain loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/halide/can_build/can_build.h"
#include "backends/link.h"
#include "backends/lower/walk.h"
#include "backends/modules.h"
#include "backends/pipeline.h"
#include "backends/portable/entries.h"
#include "backends/portable/program.h"
#include "schedules/target.h"
#include "strew/expr_builder.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"
#include "tests/support/rng.h"

namespace strew {
namespace {

using testing::ElementsAre;

Compiled planned(const std::string& text, const std::string& target = "x86-64-v3") {
  KernelOptions options;
  options.target = *parse_target(target);
  options.threads = 1;
  return test::value_or_abort(plan_kernel(test::verified(test::op_of(text)), options));
}
std::string rows_of(const std::string& policy) {
  return "strew1.scatter(operand=f32[50,8,4] indices=i32[9,2] updates=f32[9,3,4] update_window_dims=[1,2] "
         "inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 oob=" +
         policy + ")";
}

TEST(LoweredKernel, HasARuleForEachComponent) {
  const auto rules = [](const std::string& policy) {
    const Compiled kernel = planned(rows_of(policy));
    return lowered::lower_kernel(kernel.plan, kernel.schedule).primary().rules;
  };
  EXPECT_THAT(rules("undefined"), ElementsAre(PlaceRule::trusted, PlaceRule::trusted));
  EXPECT_THAT(rules("error"), ElementsAre(PlaceRule::trusted, PlaceRule::trusted)) << "the entry check comes first";
  EXPECT_THAT(rules("skip_window"), ElementsAre(PlaceRule::fits, PlaceRule::fits));
  EXPECT_THAT(rules("clamp"), ElementsAre(PlaceRule::clamped, PlaceRule::clamped));
  EXPECT_THAT(rules("skip_element"), ElementsAre(PlaceRule::inside, PlaceRule::cut));
  EXPECT_THAT(rules("wrap"), ElementsAre(PlaceRule::wrapped, PlaceRule::split));
}

TEST(LoweredKernel, BoundsTheLoopsThatAComponentCuts) {
  using lowered::Bounds;
  const auto bounds = [](const std::string& policy) {
    const Compiled kernel = planned(rows_of(policy));
    return lowered::lower_kernel(kernel.plan, kernel.schedule).primary().bounds;
  };
  EXPECT_THAT(bounds("skip_window"), ElementsAre(Bounds::whole));
  EXPECT_THAT(bounds("skip_element"), ElementsAre(Bounds::cut));
  EXPECT_THAT(bounds("wrap"), ElementsAre(Bounds::split));
}

/// An index moves both window dims of the table, and none of the results'.
TEST(LoweredKernel, BoundsTheLoopsThatALookUpCuts) {
  using lowered::Bounds;
  const auto kernel_of = [](const std::string& policy) {
    return planned(
        "strew1.scatter(operand=f32[50,3,4] indices=i32[9] updates=f32[9,3,4] lookups=[updates(0)=gather(operand=f32[5,7] "
        "indices=i32[9,2] result=f32[9,3,4] offset_dims=[1,2] start_index_map=[0,1] index_vector_dim=1 slice_sizes=[3,4] oob=" +
        policy +
        ")] update_window_dims=[1,2] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)");
  };
  const auto bounds = [&](const std::string& policy) {
    const Compiled kernel = kernel_of(policy);
    const lowered::Kernel lowered = lowered::lower_kernel(kernel.plan, kernel.schedule);
    for (const Bounds own : lowered.primary().bounds) EXPECT_EQ(own, Bounds::whole);
    return lowered.placings[1].bounds;
  };
  EXPECT_THAT(bounds("clamp"), ElementsAre(Bounds::whole, Bounds::whole));
  EXPECT_THAT(bounds("skip_element"), ElementsAre(Bounds::cut, Bounds::cut));
  EXPECT_THAT(bounds("fill_element fill=1:f32"), ElementsAre(Bounds::cut, Bounds::cut));
  EXPECT_THAT(bounds("wrap"), ElementsAre(Bounds::split, Bounds::split));
  const Compiled cut = kernel_of("skip_element");
  EXPECT_THAT(print(lowered::lower_kernel(cut.plan, cut.schedule)),
              testing::HasSubstr("  window loop 1 is cut by component 1 of source 1\n"));
}

TEST(LoweredKernel, PassesDecideHowPositionsAreWalkedAndNothingElse) {
  const Compiled kernel = planned(
      "strew1.gather(operand=f32[1000,2] indices=i32[512] result=f32[512,2] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,2] oob=fill_window)");
  lowered::Kernel lowered = lowered::lower_kernel(kernel.plan, kernel.schedule);
  const std::string before = print(lowered);
  EXPECT_THAT(before, testing::HasSubstr("window after window"));
  std::vector<std::string> names;
  for (const lowered::Pass& pass : lowered::passes()) {
    names.emplace_back(pass.name);
    pass.run(lowered, kernel.target);
  }
  EXPECT_THAT(names, ElementsAre("order", "tiles", "prefetch", "packing"));
  const lowered::Walk& walk = lowered.find(EntryKind::range)->walk;
  EXPECT_EQ(walk.way, lowered::Walk::Way::packed_rows);
  EXPECT_EQ(walk.together, lowered::kPackedRows);
  for (lowered::Entry& entry : lowered.entries) entry.walk = {};
  EXPECT_EQ(print(lowered), before);
}

// --- Kernels without sources. The plans are written by hand, since no op gives one yet.

/// A plan of one result and some inputs: `updates` 0 (or none), and extras.
struct PlanMaker {
  explicit PlanMaker(DType result) {
    plan.kind = PlanKind::slice_update;
    plan.tensors = {
        {Role::result, 0, result}, {Role::operand, 0, result}, {Role::indices, 0, DType::i64}, {Role::updates, 0, result}};
    plan.tensors[1].bound = plan.tensors[2].bound = false;
  }
  /// strides: of the result, the update and the extras, in elements.
  static Loop loop(int64_t extent, std::vector<int64_t> strides) {
    Loop made;
    made.extent = constant(extent);
    made.strides = {constant(strides[0]), constant(0), constant(0)};
    for (size_t i = 1; i < strides.size(); ++i) made.strides.push_back(constant(strides[i]));
    return made;
  }
  Plan plan;
};

int64_t positions_of(const Plan& plan) { return position_count(plan, nullptr); }

/// Runs entries init and range on one buffer per tensor.
void run(const std::function<strew_entry(EntryKind)>& entry, const void* program, const Plan& plan,
         std::vector<const void*> data) {
  strew_args args{};
  args.data = const_cast<void* const*>(reinterpret_cast<const void* const*>(data.data()));
  args.program = program;
  strew_fault fault{};
  int64_t elements = 1;
  for (const Loop& loop : plan.init) elements *= loop.extent.factor;
  if (plan.init_kind != InitKind::in_place) {
    ASSERT_EQ(entry(EntryKind::init)(&args, 0, elements, &fault), STREW_OK);
  }
  // In two calls, since a call may do any part of the positions.
  const int64_t positions = positions_of(plan), half = positions / 2;
  ASSERT_EQ(entry(EntryKind::range)(&args, 0, half, &fault), STREW_OK);
  ASSERT_EQ(entry(EntryKind::range)(&args, half, positions, &fault), STREW_OK);
}

/// Runs the plan by portable and by llvm for several targets, each on a fresh copy of `result`, and hands what the result holds to `check`.
template <class T>
void run_all(const Plan& plan, const std::vector<T>& result, const std::vector<const void*>& inputs,
             const std::function<void(const std::vector<T>&, const std::string& name)>& check, const void* indices = nullptr) {
  const auto data_of = [&](std::vector<T>& to) {
    std::vector<const void*> data = {to.data(), nullptr, indices};
    data.insert(data.end(), inputs.begin(), inputs.end());
    return data;
  };
  Schedule schedule;
  for (const portable::Loops* loops : portable::all_loops()) {
    const auto program = portable::make_program(plan, schedule, *loops);
    std::vector<T> to = result;
    run(portable::entry_of, program.get(), plan, data_of(to));
    check(to, "portable " + std::string(loops->level));
  }
  for (const char* name : {"x86-64-v2", "x86-64-v3", "native"}) {
    const Target target = *parse_target(name);
    if (!machine_can_run(target).ok()) continue;
    schedule.vector_bytes = std::min(schedule.vector_bytes, target.vector_bytes);
    const BuildRequest request{{}, plan, schedule, target, "lowered_kernel"};
    const auto artifact = find_backend("llvm")->build(request);
    ASSERT_TRUE(artifact.ok()) << artifact.status().message();
    std::vector<std::string> symbols;
    for (const EntryKind kind : entries_of(plan, schedule)) symbols.push_back("lowered_kernel_" + std::string(strew::name(kind)));
    const auto linked = (*open_llvm_module())->link({artifact->object}, symbols);
    ASSERT_TRUE(linked.ok()) << linked.status().message();
    const auto entry = [&](EntryKind kind) {
      const auto at = std::find(symbols.begin(), symbols.end(), "lowered_kernel_" + std::string(strew::name(kind)));
      return reinterpret_cast<strew_entry>(const_cast<void*>((*linked)->addresses[static_cast<size_t>(at - symbols.begin())]));
    };
    std::vector<T> to = result;
    run(entry, nullptr, plan, data_of(to));
    check(to, std::string("llvm ") + name);
  }
}

std::vector<float> random_floats(size_t count, uint64_t seed) {
  test::Rng rng(seed);
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(static_cast<int64_t>(rng.below(2'000'001)) - 1'000'000) / 777.0F;
  return out;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

TEST(KernelWithoutSources, Copies) {
  constexpr int64_t kRows = 37, kColumns = 53;  // transposed
  PlanMaker made(DType::f32);
  made.plan.positions = {PlanMaker::loop(kRows, {kColumns, 1})};
  made.plan.window = {PlanMaker::loop(kColumns, {1, kRows})};
  ExprBuilder e;
  made.plan.combine = e.returns({e.update(0, DType::f32)});
  made.plan.pure_move = true;
  const std::vector<float> from = random_floats(kRows * kColumns, 1);
  std::vector<float> expected(from.size());
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t c = 0; c < kColumns; ++c)
      expected[static_cast<size_t>(r * kColumns + c)] = from[static_cast<size_t>(c * kRows + r)];
  run_all<float>(made.plan, std::vector<float>(from.size()), {from.data()},
                 [&](const auto& got, const std::string& name) { EXPECT_TRUE(same_bits(got, expected)) << name; });
}

/// Windows whose updates lie in columns: [rows, between, columns], of which the last moves the updates by rows * between elements.
template <class T>
struct InColumns {
  int64_t rows, between, columns;

  int64_t elements() const { return rows * between * columns; }
  /// strides: of the result, the update and an extra of as many elements as the window has columns.
  PlanMaker plan(DType dtype) const {
    PlanMaker made(dtype);
    made.plan.tensors.push_back({Role::extra, 0, dtype, ExtraKind::per_element});
    made.plan.window = {PlanMaker::loop(rows, {between * columns, 1, 0}), PlanMaker::loop(columns, {1, rows * between, 1})};
    if (between > 1) made.plan.window.insert(made.plan.window.begin() + 1, PlanMaker::loop(between, {columns, rows, 0}));
    return made;
  }
  T update(const std::vector<T>& updates, int64_t r, int64_t b, int64_t c) const {
    return updates[static_cast<size_t>((c * between + b) * rows + r)];
  }
  std::vector<T> expected(const std::function<T(int64_t at, int64_t r, int64_t b, int64_t c)>& element) const {
    std::vector<T> out;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t b = 0; b < between; ++b)
        for (int64_t c = 0; c < columns; ++c) out.push_back(element(static_cast<int64_t>(out.size()), r, b, c));
    return out;
  }
};

template <class T>
std::vector<T> counted(int64_t count, int factor) {
  std::vector<T> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<T>(i * factor + i / 251));
  return out;
}

lowered::Walk::Tile tile_of(const Plan& plan, const std::string& target = "x86-64-v3") {
  Schedule schedule;
  schedule.vector_bytes = parse_target(target)->vector_bytes;
  lowered::Kernel kernel = lowered::lower_kernel(plan, schedule);
  lowered::run_passes(kernel, *parse_target(target));
  return kernel.find(EntryKind::range)->walk.tile;
}

template <class T>
class TransposedWindows : public testing::Test {};
using TransposedTypes = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(TransposedWindows, TransposedTypes);

/// Whole tiles, tiles that overlap, extents below the smallest tile, and a loop between those of the tiles.
TYPED_TEST(TransposedWindows, AreCopiedAndCombined) {
  using T = TypeParam;
  constexpr DType kTypes[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  const DType dtype = kTypes[std::countr_zero(sizeof(T))];
  for (const auto& [rows, between, columns] : std::vector<std::array<int64_t, 3>>{{16, 1, 16},
                                                                                  {64, 1, 32},
                                                                                  {33, 1, 20},
                                                                                  {4, 1, 4},
                                                                                  {7, 1, 5},
                                                                                  {3, 1, 40},
                                                                                  {40, 1, 3},
                                                                                  {100, 1, 17},
                                                                                  {17, 3, 18},
                                                                                  {130, 2, 21}}) {
    const InColumns<T> in{rows, between, columns};
    const std::string shape = fmt::format("{}x{}x{} u{}", rows, between, columns, 8 * sizeof(T));
    const std::vector<T> from = counted<T>(in.elements(), 7), extra = counted<T>(columns, 3),
                         before = counted<T>(in.elements(), 5);
    PlanMaker copy = in.plan(dtype);
    ExprBuilder moved;
    copy.plan.combine = moved.returns({moved.update(0, dtype)});
    copy.plan.pure_move = true;
    EXPECT_EQ(tile_of(copy.plan).size > 0, rows >= 4 && columns >= 4 && (between > 1 || rows > 1)) << shape;
    run_all<T>(copy.plan, before, {from.data(), extra.data()}, [&](const auto& got, const std::string& name) {
      EXPECT_TRUE(same_bits(got, in.expected([&](int64_t, int64_t r, int64_t b, int64_t c) { return in.update(from, r, b, c); })))
          << name << " " << shape;
    });
    for (const int terms : {1, 12}) {  // rows in registers, and in memory
      PlanMaker sum = in.plan(dtype);
      ExprBuilder e;
      int32_t value = e.apply(ExprOp::add, {e.current(0, dtype), e.update(0, dtype)});
      for (int i = 0; i < terms; ++i)
        value = e.apply(ExprOp::add, {e.apply(ExprOp::bit_xor, {value, e.update(0, dtype)}), e.extra(0, dtype)});
      sum.plan.combine = e.returns({value});
      const auto summed = in.expected([&](int64_t at, int64_t r, int64_t b, int64_t c) {
        const T update = in.update(from, r, b, c);
        T x = static_cast<T>(before[static_cast<size_t>(at)] + update);
        for (int i = 0; i < terms; ++i) x = static_cast<T>((x ^ update) + extra[static_cast<size_t>(c)]);
        return x;
      });
      run_all<T>(sum.plan, before, {from.data(), extra.data()}, [&](const auto& got, const std::string& name) {
        EXPECT_TRUE(same_bits(got, summed)) << name << " " << shape << " " << terms;
      });
    }
  }
}

/// The result lies in columns, and so does an extra; the updates lie in rows.
TYPED_TEST(TransposedWindows, AreWrittenInColumns) {
  using T = TypeParam;
  constexpr DType kTypes[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  const DType dtype = kTypes[std::countr_zero(sizeof(T))];
  constexpr int64_t kRows = 35, kColumns = 50;
  const std::vector<T> from = counted<T>(kRows * kColumns, 7), extra = counted<T>(kRows * kColumns, 3);
  for (const int terms : {1, 12}) {
    for (const bool reads_result : {false, true}) {
      PlanMaker made(dtype);
      made.plan.tensors.push_back({Role::extra, 0, dtype, ExtraKind::per_element});
      made.plan.window = {PlanMaker::loop(kRows, {1, kColumns, 1}), PlanMaker::loop(kColumns, {kRows, 1, kRows})};
      ExprBuilder e;
      int32_t value = e.apply(ExprOp::add, {reads_result ? e.current(0, dtype) : e.extra(0, dtype), e.update(0, dtype)});
      for (int i = 0; i < terms; ++i) value = e.apply(ExprOp::sub, {e.extra(0, dtype), value});
      made.plan.combine = e.returns({value});
      EXPECT_GT(tile_of(made.plan).size, 0);
      const std::vector<T> before = counted<T>(kRows * kColumns, 11);
      std::vector<T> expected = before;
      for (int64_t r = 0; r < kRows; ++r)
        for (int64_t c = 0; c < kColumns; ++c) {
          const auto at = static_cast<size_t>(c * kRows + r);
          T x = static_cast<T>((reads_result ? before[at] : extra[at]) + from[static_cast<size_t>(r * kColumns + c)]);
          for (int i = 0; i < terms; ++i) x = static_cast<T>(extra[at] - x);
          expected[at] = x;
        }
      run_all<T>(made.plan, before, {from.data(), extra.data()}, [&](const auto& got, const std::string& name) {
        EXPECT_TRUE(same_bits(got, expected)) << name << " " << terms << reads_result;
      });
    }
  }
}

TEST(Tiles, AreChosenByTheVectorsAndTheExtents) {
  const auto size = [](DType dtype, int64_t rows, int64_t columns, const std::string& target = "x86-64-v3") {
    PlanMaker made = InColumns<float>{rows, 1, columns}.plan(dtype);
    ExprBuilder e;
    made.plan.combine = e.returns({e.update(0, dtype)});
    return tile_of(made.plan, target).size;
  };
  EXPECT_EQ(size(DType::f32, 64, 64), 8);
  EXPECT_EQ(size(DType::f32, 64, 64, "x86-64-v4"), 16);
  EXPECT_EQ(size(DType::f32, 64, 64, "x86-64-v2"), 4);
  EXPECT_EQ(size(DType::f64, 64, 64, "x86-64-v2"), 0);  // two elements in a vector
  EXPECT_EQ(size(DType::u8, 64, 64, "x86-64-v4"), 16);
  EXPECT_EQ(size(DType::f32, 64, 24, "x86-64-v4"), 8);  // 24 = 3 * 8
  EXPECT_EQ(size(DType::f32, 5, 7), 4);
  EXPECT_EQ(size(DType::f32, 5, 5), 0);  // tiles would do 64 elements for 25
  EXPECT_EQ(size(DType::f32, 64, 3), 0);
  EXPECT_EQ(size(DType::f32, 3, 64), 0);
  EXPECT_EQ(size(DType::complex128, 64, 64), 0);
  EXPECT_EQ(size(DType::u4, 64, 64), 0);
}

TEST(Tiles, FollowOneAnotherAlongTheLongerLoopUnlessLinesCompete) {
  const auto rows_inside = [](int64_t rows, int64_t columns) {
    PlanMaker made = InColumns<float>{rows, 1, columns}.plan(DType::f32);
    ExprBuilder e;
    made.plan.combine = e.returns({e.update(0, DType::f32)});
    return tile_of(made.plan).rows_inside;
  };
  EXPECT_TRUE(rows_inside(2000, 64));
  EXPECT_FALSE(rows_inside(64, 2000));
  EXPECT_FALSE(rows_inside(2000, 256));
}

/// Where results do not move along a loop, the order of loops is that of a sum.
TEST(Tiles, AreNotMadeOfSums) {
  PlanMaker made(DType::f32);
  made.plan.window = {PlanMaker::loop(32, {0, 1}), PlanMaker::loop(32, {1, 32})};
  ExprBuilder e;
  made.plan.combine = e.returns({e.add(e.current(0, DType::f32), e.update(0, DType::f32))});
  EXPECT_EQ(tile_of(made.plan).size, 0);
}

TEST(KernelWithoutSources, Maps) {
  for (const int64_t columns : {1, 5, 8, 16, 61, 1000}) {
    constexpr int64_t kRows = 9;
    PlanMaker made(DType::f32);
    made.plan.tensors.push_back({Role::extra, 0, DType::f32, ExtraKind::scalar});
    made.plan.positions = {PlanMaker::loop(kRows, {columns, columns, 1})};  // an extra per row
    made.plan.window = {PlanMaker::loop(columns, {1, 1, 0})};
    ExprBuilder e;
    const int32_t x = e.update(0, DType::f32), w = e.extra(0, DType::f32);
    made.plan.combine = e.returns({e.apply(ExprOp::add, {e.apply(ExprOp::mul, {x, w}), x})});
    const std::vector<float> from = random_floats(static_cast<size_t>(kRows * columns), 2), weights = random_floats(kRows, 3);
    std::vector<float> expected(from.size());
    for (size_t i = 0; i < from.size(); ++i) {
      const float product = from[i] * weights[i / static_cast<size_t>(columns)];
      expected[i] = product + from[i];
    }
    run_all<float>(
        made.plan, std::vector<float>(from.size()), {from.data(), weights.data()},
        [&](const auto& got, const std::string& name) { EXPECT_TRUE(same_bits(got, expected)) << name << " " << columns; });
  }
}

/// Sums in row-major order, of rows (the result moves along the positions only) and of columns (it moves along the window only).
TEST(KernelWithoutSources, ReducesInTheOrderOfTheLoops) {
  for (const bool of_rows : {true, false}) {
    constexpr int64_t kRows = 23, kColumns = 71;
    const int64_t results = of_rows ? kRows : kColumns;
    PlanMaker made(DType::f32);
    made.plan.positions = {PlanMaker::loop(kRows, {of_rows ? 1 : 0, kColumns})};
    made.plan.window = {PlanMaker::loop(kColumns, {of_rows ? 0 : 1, 1})};
    made.plan.init_kind = InitKind::fill;
    made.plan.init_fill = {Scalar{DType::f32, {std::bit_cast<uint32_t>(0.5F), 0}}};
    made.plan.init = {PlanMaker::loop(results, {1, 0})};
    const std::vector<float> from = random_floats(kRows * kColumns, 4);
    for (const bool is_general : {false, true}) {  // an operator that has a loop of its own in portable, and an expression
      ExprBuilder e;
      const int32_t so_far = e.current(0, DType::f32), x = e.update(0, DType::f32);
      const int32_t term =
          is_general ? e.apply(ExprOp::mul, {so_far, e.literal(Scalar{DType::f32, {std::bit_cast<uint32_t>(0.75F), 0}})})
                     : so_far;
      made.plan.combine = e.returns({e.apply(ExprOp::add, {term, x})});
      std::vector<float> expected(static_cast<size_t>(results), 0.5F);
      for (size_t i = 0; i < from.size(); ++i) {
        float& to = expected[of_rows ? i / kColumns : i % kColumns];
        const float before = is_general ? to * 0.75F : to;
        to = before + from[i];
      }
      run_all<float>(made.plan, std::vector<float>(expected.size(), 7), {from.data()},
                     [&](const auto& got, const std::string& name) {
                       EXPECT_TRUE(same_bits(got, expected)) << name << of_rows << is_general;
                     });
    }
  }
}

TEST(KernelWithoutSources, IsRefusedByTheBackendsThatDoNotMakeIt) {
  PlanMaker made(DType::f32);
  ExprBuilder e;
  made.plan.combine = e.returns({e.update(0, DType::f32)});
  const Schedule schedule;
  const Target target = *parse_target("x86-64-v3");
  EXPECT_EQ(halide_can_build(made.plan, schedule, target).message(),
            "backend halide: plans without index sources are for others");
  made.plan.locals.resize(portable::kMostLocals + 1);
  EXPECT_EQ(portable::portable_can_build(made.plan).message(),
            "backend portable: the plan has 9 row-local values, expected at most 8");
  made.plan.locals.resize(1);
  made.plan.locals[0].lanes = 128;
  EXPECT_EQ(portable::portable_can_build(made.plan).message(),
            "backend portable: a row-local value has 128 lanes, expected at most 64");
}

/// What RowLocal says, for sums and maxima of floats.
float folded(const float* row, int64_t columns, int lanes, float initial, float (*fold)(float, float)) {
  std::vector<float> sums(static_cast<size_t>(lanes), initial);
  for (int64_t i = 0; i < columns; ++i) sums[static_cast<size_t>(i % lanes)] = fold(sums[static_cast<size_t>(i % lanes)], row[i]);
  for (; sums.size() > 1; sums.resize(sums.size() / 2))
    for (size_t k = 0; 2 * k < sums.size(); ++k) sums[k] = fold(sums[2 * k], sums[2 * k + 1]);
  return sums[0];
}
float sum_of(float a, float b) { return a + b; }
float max_of(float a, float b) { return a > b ? a : b; }

/// Rows divided by their largest magnitude, minus the sum of their squares; the second fold reads what the first one gave.
TEST(KernelWithoutSources, MapsRowsWithRowLocalValues) {
  for (const int lanes : {1, 4, 8, 64}) {
    for (const int64_t columns : {1, 7, 8, 64, 67, 1500}) {
      constexpr int64_t kRows = 5;
      PlanMaker made(DType::f32);
      made.plan.positions = {PlanMaker::loop(kRows, {columns, columns})};
      made.plan.window = {PlanMaker::loop(columns, {1, 1})};
      const Scalar zero{DType::f32, {0, 0}};
      const auto local = [&](ExprOp fold, const std::function<int32_t(ExprBuilder&)>& value) {
        ExprBuilder e;
        RowLocal made_local;
        made_local.value = e.returns({value(e)});
        made_local.fold = fold;
        made_local.initial = zero;
        made_local.lanes = lanes;
        made.plan.locals.push_back(made_local);
      };
      local(ExprOp::max, [](ExprBuilder& e) { return e.apply(ExprOp::abs, {e.update(0, DType::f32)}); });
      local(ExprOp::add, [](ExprBuilder& e) {
        const int32_t x = e.apply(ExprOp::div, {e.update(0, DType::f32), e.extra(0, DType::f32)});
        return e.apply(ExprOp::mul, {x, x});
      });
      ExprBuilder e;
      const int32_t scaled = e.apply(ExprOp::div, {e.update(0, DType::f32), e.extra(0, DType::f32)});
      made.plan.combine = e.returns({e.apply(ExprOp::sub, {scaled, e.extra(1, DType::f32)})});
      const std::vector<float> from = random_floats(static_cast<size_t>(kRows * columns), 5);
      std::vector<float> expected(from.size());
      for (int64_t r = 0; r < kRows; ++r) {
        std::vector<float> row(from.begin() + r * columns, from.begin() + (r + 1) * columns), squares = row;
        for (float& x : row) x = std::fabs(x);
        const float largest = folded(row.data(), columns, lanes, 0, max_of);
        for (float& x : squares) {
          const float quotient = x / largest;
          x = quotient * quotient;
        }
        const float sum = folded(squares.data(), columns, lanes, 0, sum_of);
        for (int64_t c = 0; c < columns; ++c) {
          const float quotient = from[static_cast<size_t>(r * columns + c)] / largest;
          expected[static_cast<size_t>(r * columns + c)] = quotient - sum;
        }
      }
      run_all<float>(made.plan, std::vector<float>(from.size()), {from.data()}, [&](const auto& got, const std::string& name) {
        EXPECT_TRUE(same_bits(got, expected)) << name << ", " << lanes << " lanes, " << columns << " columns";
      });
    }
  }
}

// --- Several sources. What follows a look-up is written by hand, too: result[to[e]] += table[from[e]] * weight[e].

/// Source 1 places the updates, and reads its components from a second index tensor.
TEST(KernelOfTwoSources, AddsRowsThatAnotherSourcePlaces) {
  constexpr int64_t kEdges = 301, kNodes = 40, kTable = 25;
  for (const int64_t columns : {1, 3, 8, 64, 67}) {
    for (const OobPolicy destinations : {OobPolicy::skip_window, OobPolicy::clamp, OobPolicy::wrap}) {
      PlanMaker made(DType::f32);
      Plan& plan = made.plan;
      plan.kind = PlanKind::row;
      plan.tensors.push_back({Role::extra, 0, DType::f32, ExtraKind::per_position});
      plan.tensors.push_back({Role::indices, 1, DType::i32});
      plan.tensors[2] = {Role::indices, 0, DType::i64};
      plan.tensors[0].source = 0;
      plan.tensors[3].source = 1;
      const auto strides = [](std::vector<int64_t> of) {
        std::vector<Term> terms;
        for (const int64_t each : of) terms.push_back(constant(each));
        return terms;
      };
      Loop edges, row;
      edges.extent = constant(kEdges);
      edges.strides = strides({0, 0, 1, 0, 1, 1});
      row.extent = constant(columns);
      row.strides = strides({1, 0, 0, 1, 0, 0});
      for (Loop* loop : {&edges, &row}) loop->moves.resize(2, LoopMove{.scale = constant(1)});
      plan.positions = {edges};
      if (columns > 1) plan.window = {row};
      const auto source = [&](int tensor, DType dtype, OobPolicy policy, int64_t dim, std::vector<int64_t> moves) {
        IndexSource& made_source = plan.sources.emplace_back();
        made_source.oob = policy;
        made_source.components.push_back(
            {tensor, dtype, true, constant(0), 0, constant(dim), constant(1), strides(std::move(moves))});
      };
      source(2, DType::i64, destinations, kNodes, {columns, 0, 0, 0, 0, 0});
      source(5, DType::i32, OobPolicy::clamp, kTable, {0, 0, 0, columns, 0, 0});
      ExprBuilder e;
      const int32_t product = e.apply(ExprOp::mul, {e.update(0, DType::f32), e.extra(0, DType::f32)});
      plan.combine = e.returns({e.apply(ExprOp::add, {e.current(0, DType::f32), product})});

      test::Rng rng(6);
      std::vector<int64_t> to(kEdges);
      std::vector<int32_t> from(kEdges);
      for (int64_t& each : to) each = static_cast<int64_t>(rng.below(3 * kNodes)) - kNodes;
      for (int32_t& each : from) each = static_cast<int32_t>(rng.below(3 * kTable)) - static_cast<int32_t>(kTable);
      const std::vector<float> table = random_floats(static_cast<size_t>(kTable * columns), 7),
                               weights = random_floats(kEdges, 8),
                               before = random_floats(static_cast<size_t>(kNodes * columns), 9);
      std::vector<float> expected = before;
      for (size_t i = 0; i < to.size(); ++i) {
        int64_t at = to[i] < 0 ? to[i] + kNodes : to[i];
        if (destinations == OobPolicy::skip_window && (at < 0 || at >= kNodes)) continue;
        at = destinations == OobPolicy::wrap ? ((at % kNodes) + kNodes) % kNodes : std::clamp<int64_t>(at, 0, kNodes - 1);
        const int64_t read = std::clamp<int64_t>(from[i] < 0 ? from[i] + kTable : from[i], 0, kTable - 1);
        for (int64_t c = 0; c < columns; ++c) {
          const float scaled = table[static_cast<size_t>(read * columns + c)] * weights[i];
          float& sum = expected[static_cast<size_t>(at * columns + c)];
          sum = sum + scaled;
        }
      }
      run_all<float>(
          plan, before, {table.data(), weights.data(), from.data()},
          [&](const auto& got, const std::string& name) {
            EXPECT_TRUE(same_bits(got, expected)) << name << ", " << columns << " columns, policy " << strew::name(destinations);
          },
          to.data());
    }
  }
}

}  // namespace
}  // namespace strew
