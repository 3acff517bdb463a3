// AccessDims: what each dim of operand, indices and slices is, for both ops, and that no number in an op makes the view name a dim that its
// tensor has not.
#include "compiler/op/access_dims.h"

#include <random>
#include <string>

#include "gtest/gtest.h"
#include "strew/text.h"

namespace strew {
namespace {

Op parsed(const std::string& text) {
  Expected<Op> op = parse_op(text);
  EXPECT_TRUE(op.ok()) << op.status().message();
  return op.ok() ? *op : Op();
}

/// One word per dim: "batching<-indices 1", "window->slices 3 by 0" (the component), "removed by 1"; with the window's extent.
std::string text_of(const AccessDims& dims) {
  std::string out;
  for (const AccessDims::OperandDim& dim : dims.operand) {
    out += dim.kind == OperandDimKind::window ? "window " : dim.kind == OperandDimKind::removed ? "removed " : "batching ";
    out += dim.window == kDynamic ? "?" : std::to_string(dim.window);
    if (dim.slices_dim >= 0) out += " at slices " + std::to_string(dim.slices_dim);
    if (dim.indices_dim >= 0) out += " with indices " + std::to_string(dim.indices_dim);
    if (dim.component >= 0) out += " moved by " + std::to_string(dim.component);
    out += "; ";
  }
  for (const AccessDims::Position& position : dims.positions) {
    out += "position " + std::to_string(position.indices_dim) + " at slices " + std::to_string(position.slices_dim);
    if (position.operand_dim >= 0) out += " walks " + std::to_string(position.operand_dim);
    out += "; ";
  }
  return out;
}

// StableHLO's own example of a gather with batching dims.
constexpr const char* kGather =
    "strew1.gather(operand=i32[2,3,4,2] indices=i64[2,2,3,2] result=i32[2,2,3,2,2] offset_dims=[3,4] collapsed_slice_dims=[1] "
    "operand_batching_dims=[0] start_indices_batching_dims=[1] start_index_map=[2,1] index_vector_dim=3 slice_sizes=[1,1,2,2])";
// The same access as a scatter, with the window's dims around the positions'.
constexpr const char* kScatter =
    "strew1.scatter(operand=i32[2,3,4,2] indices=i64[2,2,2,3] updates=i32[2,2,2,3,1] update_window_dims=[0,4] "
    "inserted_window_dims=[1] input_batching_dims=[0] scatter_indices_batching_dims=[2] scatter_dims_to_operand_dims=[2,1] "
    "index_vector_dim=1)";

TEST(AccessDims, OfAGather) {
  const AccessDims dims(parsed(kGather));
  EXPECT_EQ(text_of(dims),
            "batching 1 with indices 1; removed 1 moved by 1; window 2 at slices 3 moved by 0; window 2 at slices 4; "
            "position 0 at slices 0; position 1 at slices 1 walks 0; position 2 at slices 2; ");
  EXPECT_EQ(dims.window, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(dims.components, (std::vector<int64_t>{2, 1}));
  EXPECT_FALSE(dims.scalar_indices);
  EXPECT_EQ(dims.window_extents(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(dims.position_extents({5, 6, 7, 2}), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(dims.slices_extents({5, 6, 7}, {8, 9}), (std::vector<int64_t>{5, 6, 7, 8, 9}));
}

TEST(AccessDims, OfAScatterWithTheVectorInTheMiddleAndTheWindowAround) {
  const AccessDims dims(parsed(kScatter));
  EXPECT_EQ(text_of(dims),
            "batching 1 with indices 2; removed 1 moved by 1; window 2 at slices 0 moved by 0; window 1 at slices 4; "
            "position 0 at slices 1; position 2 at slices 2 walks 0; position 3 at slices 3; ");
  EXPECT_EQ(dims.slices_dim(0), 0);
  EXPECT_EQ(dims.slices_dim(1), 4);
  EXPECT_EQ(dims.slices_dim_of_indices(2), 2);
  EXPECT_EQ(dims.slices_dim_of_indices(1), -1) << "index_vector_dim is no position";
  EXPECT_EQ(dims.position_extents({5, 2, 6, 7}), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(dims.slices_extents({5, 6, 7}, {8, 9}), (std::vector<int64_t>{8, 5, 6, 7, 9}));
}

TEST(AccessDims, BothSidesOfTheSlicesAgree) {
  for (const char* text : {kGather, kScatter}) {
    const AccessDims dims(parsed(text));
    size_t positions = 0, window = 0;
    for (size_t d = 0; d < dims.slices.size(); ++d) {
      const AccessDims::SlicesDim& dim = dims.slices[d];
      ASSERT_NE(dim.operand_dim < 0, dim.indices_dim < 0) << "a dim of the slices is either";
      if (dim.operand_dim >= 0) {
        EXPECT_EQ(dim.operand_dim, dims.window[window]);
        EXPECT_EQ(dims.slices_dim(window++), static_cast<int64_t>(d));
      } else {
        EXPECT_EQ(dim.indices_dim, dims.positions[positions].indices_dim);
        EXPECT_EQ(dims.positions[positions++].slices_dim, static_cast<int64_t>(d));
      }
    }
    EXPECT_EQ(positions, dims.positions.size());
    EXPECT_EQ(window, dims.window.size());
  }
}

TEST(AccessDims, ScalarIndicesHaveNoVectorDim) {
  const AccessDims dims(parsed(
      "strew1.scatter(operand=f32[8] indices=i32[4] updates=f32[4] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
      "index_vector_dim=1)"));
  EXPECT_TRUE(dims.scalar_indices);
  EXPECT_EQ(text_of(dims), "removed 1 moved by 0; position 0 at slices 0; ");
}

TEST(AccessDims, AnOpenSliceSizeStaysOpen) {
  const AccessDims dims(
      parsed("strew1.gather(operand=f32[8,?] indices=i32[4] result=f32[4,?] offset_dims=[1] collapsed_slice_dims=[0] "
             "start_index_map=[0] "
             "index_vector_dim=1 slice_sizes=[1,?])"));
  EXPECT_EQ(dims.window_extents(), (std::vector<int64_t>{kDynamic}));
}

TEST(AccessDims, OfAnEmptyOpIsEmpty) {
  const AccessDims scatter{Scatter()}, gather{Gather()};
  for (const AccessDims* dims : {&scatter, &gather}) {
    EXPECT_TRUE(dims->operand.empty() && dims->slices.empty() && dims->positions.empty() && dims->window.empty());
    EXPECT_TRUE(dims->scalar_indices);
    EXPECT_TRUE(dims->slices_extents({}, {}).empty());
  }
}

/// Everything the view may name, held against the ranks.
void expect_in_range(const AccessDims& dims, int64_t operand, int64_t indices, int64_t slices) {
  const auto within = [](int64_t dim, int64_t rank) { return dim >= -1 && dim < rank; };
  ASSERT_EQ(static_cast<int64_t>(dims.operand.size()), operand);
  ASSERT_EQ(static_cast<int64_t>(dims.slices.size()), slices);
  for (const AccessDims::OperandDim& dim : dims.operand) {
    EXPECT_TRUE(within(dim.slices_dim, slices) && within(dim.indices_dim, indices));
    EXPECT_TRUE(within(dim.component, static_cast<int64_t>(dims.components.size())));
  }
  for (const AccessDims::SlicesDim& dim : dims.slices)
    EXPECT_TRUE(within(dim.operand_dim, operand) && within(dim.indices_dim, indices));
  for (const AccessDims::Position& position : dims.positions) {
    EXPECT_GE(position.indices_dim, 0);
    EXPECT_TRUE(within(position.indices_dim, indices) && within(position.slices_dim, slices) &&
                within(position.operand_dim, operand));
  }
  for (const int64_t d : dims.window) EXPECT_TRUE(d >= 0 && d < operand);
  for (const int64_t d : dims.components) EXPECT_TRUE(within(d, operand));
  EXPECT_LE(dims.position_extents({3}).size(), 1U) << "dims that the given list has not are left out";
  const size_t positions = dims.positions.size(), window = dims.window.size();
  const std::vector<int64_t> p(positions, 7), w(window, 9);
  EXPECT_EQ(dims.slices_extents(p, w).size(), positions + window);
}

TEST(AccessDims, HostileNumbersNameNoDimOutsideItsTensor) {
  std::mt19937_64 rng(20240611);
  const auto pick = [&](int64_t end) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(end)); };
  const auto number = [&] {
    constexpr int64_t kWild[] = {-1, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), 1 << 20};
    return pick(3) == 0 ? kWild[pick(4)] : pick(5);
  };
  const auto list = [&] {
    std::vector<int64_t> out(static_cast<size_t>(pick(5)));
    for (int64_t& each : out) each = number();
    return out;
  };
  const auto type = [&] { return TensorType{DType::i32, std::vector<int64_t>(static_cast<size_t>(pick(5)), 3), {}}; };
  for (int i = 0; i < 20'000; ++i) {
    Scatter s;
    if (pick(10) != 0) s.operands = {type()};
    if (pick(10) != 0) s.updates = {type()};
    s.indices = type();
    s.dims = {list(), list(), list(), list(), list(), number()};
    expect_in_range(AccessDims(s), s.operands.empty() ? 0 : s.operands[0].rank(), s.indices.rank(),
                    s.updates.empty() ? 0 : s.updates[0].rank());
    Gather g;
    g.operand = type(), g.indices = type(), g.result = type();
    g.dims = {list(), list(), list(), list(), list(), number()};
    g.slice_sizes = list();
    expect_in_range(AccessDims(g), g.operand.rank(), g.indices.rank(), g.result.rank());
  }
}

}  // namespace
}  // namespace strew
