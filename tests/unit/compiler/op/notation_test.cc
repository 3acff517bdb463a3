// Ops as assignments in NumPy's notation.
#include "compiler/op/notation.h"

#include <gtest/gtest.h>

#include "tests/support/ops.h"

namespace strew {
namespace {

std::string of(const std::string& text, std::vector<std::string> names = {}) {
  const VerifiedOp op = test::verified(test::op_of(text));
  return notation(*op, names);
}

const char* const kRows =
    "operand=f32[9,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 ";

TEST(Notation, Scatters) {
  EXPECT_EQ(of(std::string("strew1.scatter(") + kRows + "oob=error)"), "result[indices[i], :] = updates[i, :]");
  EXPECT_EQ(of(std::string("strew1.scatter(") + kRows + "combiner=add oob=error)", {"grad", "", "ids", "g"}),
            "grad[ids[i], :] += g[i, :]");
  EXPECT_EQ(of(std::string("strew1.scatter(") + kRows + "combiner=max oob=error)"),
            "result[indices[i], :] = maximum(result[indices[i], :], updates[i, :])");
  EXPECT_EQ(of("strew1.scatter(operand=f32[8,5,9,2] indices=i64[8] updates=f32[8,5,1,2] update_window_dims=[1,2,3] "
               "input_batching_dims=[0] scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[2] index_vector_dim=1 "
               "oob=error)"),
            "result[i, :, indices[i], :] = updates[i, :, 0, :]");
  EXPECT_EQ(
      of("strew1.scatter(operand=f32[9,9] indices=i64[3,2] updates=f32[3,2] update_window_dims=[1] inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0,1] index_vector_dim=1 oob=error)"),
      "result[indices[i, 0], indices[i, 1] : indices[i, 1]+2] = updates[i, :]");
}

TEST(Notation, Gathers) {
  EXPECT_EQ(of("strew1.gather(operand=f32[9,4] indices=i32[3,2,1] result=f32[3,2,4] offset_dims=[2] collapsed_slice_dims=[0] "
               "start_index_map=[0] index_vector_dim=2 slice_sizes=[1,4] oob=error)"),
            "result[i, j, :] = operand[indices[i, j, 0], :]");
}

TEST(Notation, Expressions) {
  const std::string graph =
      "combiner=expr expr={%0=current(0):f32; %1=update(0):f32; %2=extra(0):f32; %3=multiply(%1,%2):f32; "
      "%4=add(%0,%3):f32; return %4} ";
  EXPECT_EQ(
      of(std::string("strew1.scatter(") + kRows + "extras=[per_position:f32[3]] " + graph + "oob=error)", {"", "", "", "", "w"}),
      "result[indices[i], :] += updates[i, :] * w[i]");
  std::string longer = "combiner=expr expr={%0=update(0):f32";
  for (int n = 1; n < 40; ++n) longer += "; %" + std::to_string(n) + "=abs(%" + std::to_string(n - 1) + "):f32";
  EXPECT_EQ(of(std::string("strew1.scatter(") + kRows + longer + "; return %39} oob=error)"),
            "result[indices[i], :] = f(result[indices[i], :], updates[i, :])");
}

}  // namespace
}  // namespace strew
