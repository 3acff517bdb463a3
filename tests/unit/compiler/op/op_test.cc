// The binding order of tensors and the names of the op's enums and expression nodes.
#include "strew/op.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace strew {
namespace {

std::string order_of(const Op& op) {
  std::string out;
  for (const TensorSlot& slot : tensor_slots(op)) {
    out += std::string(name(slot.role)) + std::to_string(slot.index) + " ";
  }
  return out;
}

Scatter two_pairs() {
  Scatter s;
  s.operands.resize(2);
  s.updates.resize(2);
  s.results.resize(2);
  s.extras.resize(1);
  return s;
}

TEST(TensorSlots, ScatterCopyBindsResultsOperandsIndicesUpdatesExtras) {
  EXPECT_EQ(order_of(two_pairs()), "result0 result1 operand0 operand1 indices0 updates0 updates1 extra0 ");
}

TEST(TensorSlots, OperandsAreNotBoundInPlaceOrWithFill) {
  for (InitKind init : {InitKind::in_place, InitKind::fill}) {
    Scatter s = two_pairs();
    s.init = init;
    EXPECT_EQ(order_of(s), "result0 result1 indices0 updates0 updates1 extra0 ");
  }
}

TEST(TensorSlots, GatherAlwaysBindsItsOperand) {
  Gather g;
  g.extras.resize(2);
  EXPECT_EQ(order_of(g), "result0 operand0 indices0 extra0 extra1 ");
}

TEST(TensorSlots, TypesPointIntoTheOp) {
  const Op op = Gather{};
  EXPECT_EQ(tensor_slots(op)[2].type, &indices_of(op));
}

TEST(ExprOps, TableIsInEnumOrderWithDistinctNames) {
  std::set<std::string_view> names;
  int i = 0;
  for (const ExprOpInfo& row : expr_ops()) {
    EXPECT_EQ(static_cast<int>(row.op), i++) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(expr_ops().size(), static_cast<size_t>(ExprOp::fma) + 1);
}

TEST(EnumNames, AreTheTextForms) {
  EXPECT_EQ(name(CombinerKind::bit_xor), "xor");
  EXPECT_EQ(name(CombinerKind::expr), "expr");
  EXPECT_EQ(name(OobPolicy::fill_window), "fill_window");
  EXPECT_EQ(name(Accumulate::wide_f64), "wide_f64");
  EXPECT_EQ(name(ExtraKind::scalar), "scalar");
}

}  // namespace
}  // namespace strew
