// specialise(): dynamic extents, strides and slice sizes take the bound tensors' values; what cannot be is refused with slot and dim.
#include "compiler/op/specialise.h"

#include <deque>

#include "gtest/gtest.h"
#include "strew/text.h"
#include "strew/verify.h"

namespace strew {
namespace {

/// Views that own their dims and strides.
class Views {
 public:
  Views& add(DType dtype, std::vector<int64_t> dims, std::vector<int64_t> strides = {}) {
    const std::vector<int64_t>& d = lists_.emplace_back(std::move(dims));
    const std::vector<int64_t>& s = lists_.emplace_back(std::move(strides));
    views_.push_back({nullptr, dtype, static_cast<int32_t>(d.size()), d.data(), s.empty() ? nullptr : s.data()});
    return *this;
  }
  std::string specialise(const std::string& text) const {
    const Expected<Op> op = parse_op(text);
    EXPECT_TRUE(op.ok()) << op.status().message();
    EXPECT_TRUE(verify(*op).ok()) << verify(*op).message();
    const Expected<Op> out = strew::specialise(*op, views_);
    if (!out.ok()) return out.status().message();
    EXPECT_TRUE(verify(*out).ok()) << verify(*out).message();
    return print(*out);
  }

 private:
  std::deque<std::vector<int64_t>> lists_;
  std::vector<TensorView> views_;
};

const std::string kRowDims =
    "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1)";

TEST(Specialise, FillsDimsAndStrides) {
  EXPECT_EQ(
      Views()
          .add(DType::f32, {8, 16}, {64, -2})
          .add(DType::f32, {8, 16})
          .add(DType::i32, {4})
          .add(DType::f32, {4, 16}, {0, 1})
          .specialise("strew1.scatter(operand=f32[?,?] indices=i32[?] updates=f32[?,16]{?,?} result=f32[?,?]{?,-2} " + kRowDims),
      "strew1.scatter(operand=f32[8,16] indices=i32[4] updates=f32[4,16]{0,1} result=f32[8,16]{64,-2} " + kRowDims);
}

TEST(Specialise, DynamicStridesOfAContiguousBuffer) {
  EXPECT_EQ(Views()
                .add(DType::f32, {8, 16})
                .add(DType::f32, {8, 16})
                .add(DType::i32, {4})
                .add(DType::f32, {4, 16})
                .specialise("strew1.scatter(operand=f32[8,16] indices=i32[4] updates=f32[4,16]{?,?} " + kRowDims),
            "strew1.scatter(operand=f32[8,16] indices=i32[4] updates=f32[4,16]{16,1} " + kRowDims);
}

TEST(Specialise, OperandInPlaceFollowsItsResult) {
  const std::string dims = "init=in_place)";
  const std::string head = kRowDims.substr(0, kRowDims.size() - 1) + " " + dims;
  EXPECT_EQ(Views()
                .add(DType::f32, {8, 16}, {32, 1})
                .add(DType::i32, {4})
                .add(DType::f32, {4, 16})
                .specialise("strew1.scatter(operand=f32[?,16]{?,1} indices=i32[4] updates=f32[4,16] " + head),
            "strew1.scatter(operand=f32[8,16]{32,1} indices=i32[4] updates=f32[4,16] " + head);
}

TEST(Specialise, OperandOfFillFollowsItsResult) {
  const std::string tail = kRowDims.substr(0, kRowDims.size() - 1) + " init=fill fill=0:f32)";
  EXPECT_EQ(
      Views()
          .add(DType::f32, {8, 16}, {32, 1})
          .add(DType::i32, {4})
          .add(DType::f32, {4, 16})
          .specialise("strew1.scatter(operand=f32[?,16]{?,1} indices=i32[4] updates=f32[4,16] result=f32[?,16]{?,1} " + tail),
      "strew1.scatter(operand=f32[8,16] indices=i32[4] updates=f32[4,16] result=f32[8,16]{32,1} " + tail);
}

TEST(Specialise, SliceSizesFollowTheResult) {
  EXPECT_EQ(Views()
                .add(DType::f32, {5, 3, 16})
                .add(DType::f32, {8, 16})
                .add(DType::i32, {5, 2})
                .specialise("strew1.gather(operand=f32[?,16] indices=i32[?,2] result=f32[?,?,16] offset_dims=[1,2] "
                            "start_index_map=[0,1] index_vector_dim=1 slice_sizes=[?,?])"),
            "strew1.gather(operand=f32[8,16] indices=i32[5,2] result=f32[5,3,16] offset_dims=[1,2] start_index_map=[0,1] "
            "index_vector_dim=1 slice_sizes=[3,16])");
}

TEST(Specialise, AnEmptyTableKeepsItsPolicy) {
  EXPECT_EQ(
      Views()
          .add(DType::f32, {4, 16})
          .add(DType::f32, {0, 16})
          .add(DType::i32, {4})
          .specialise("strew1.gather(operand=f32[?,16] indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] "
                      "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16] oob=error)"),
      "strew1.gather(operand=f32[0,16] indices=i32[4] result=f32[4,16] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] index_vector_dim=1 slice_sizes=[0,16] oob=error)");
}

TEST(Specialise, StridesThatCannotBeFeltAreFree) {
  const std::string text = "strew1.scatter(operand=f32[1,16] indices=i32[4] updates=f32[4,16] " + kRowDims;
  EXPECT_EQ(Views()
                .add(DType::f32, {1, 16}, {999, 1})
                .add(DType::f32, {1, 16})
                .add(DType::i32, {4}, {1})
                .add(DType::f32, {4, 16})
                .specialise(text),
            text);
}

class SpecialiseErrors : public testing::Test {
 protected:
  std::string with(DType dtype, std::vector<int64_t> dims, std::vector<int64_t> strides = {}) {
    return Views()
        .add(DType::f32, {8, 16})
        .add(DType::f32, {8, 16})
        .add(DType::i32, {4})
        .add(dtype, std::move(dims), std::move(strides))
        .specialise("strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] " + kRowDims);
  }
};

TEST_F(SpecialiseErrors, NameSlotAndDim) {
  EXPECT_EQ(with(DType::f64, {4, 16}), "updates[0] (f32[?,16]) is bound to dtype f64; expected f32");
  EXPECT_EQ(with(DType::f32, {4}), "updates[0] (f32[?,16]) is bound to rank 1; expected 2");
  EXPECT_EQ(with(DType::f32, {4, 15}), "updates[0] (f32[?,16]) is bound to extent 15 in dim 1; expected 16");
  EXPECT_EQ(with(DType::f32, {-1, 16}), "updates[0] (f32[?,16]) is bound to extent -1 in dim 0; expected 0 or more");
  EXPECT_EQ(with(DType::f32, {4, 16}, {17, 1}),
            "updates[0] (f32[?,16]) is bound to stride 17 in dim 0; expected 16, for it is contiguous");
  EXPECT_EQ(with(DType::f32, {int64_t{1} << 62, 16}, {16, 1}), "updates[0] (f32[?,16]) has more than 2^63-1 elements");
}

TEST_F(SpecialiseErrors, CountTensors) {
  EXPECT_EQ(Views()
                .add(DType::f32, {8, 16})
                .specialise("strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] " + kRowDims),
            "1 tensors are bound; expected 4");
}

TEST_F(SpecialiseErrors, AnUnboundOperandAgreesWithItsResult) {
  const std::string tail = kRowDims.substr(0, kRowDims.size() - 1) + " init=fill fill=0:f32)";
  EXPECT_EQ(Views()
                .add(DType::f32, {9, 16})
                .add(DType::i32, {4})
                .add(DType::f32, {4, 16})
                .specialise("strew1.scatter(operand=f32[8,16] indices=i32[4] updates=f32[4,16] result=f32[?,16] " + tail),
            "operand[0] (f32[8,16]) is bound to extent 9 in dim 0, its result's; expected 8");
}

}  // namespace
}  // namespace strew
