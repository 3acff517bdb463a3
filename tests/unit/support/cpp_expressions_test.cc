// The reader of the C++ that ptoas writes (tests/support/cpp_expressions.h) finds what is ambiguous there, and nothing else.
#include "tests/support/cpp_expressions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strew {
namespace {

/// What ptoas 0.60 wrote for arithmetic that was not guarded, and what that meant.
TEST(AmbiguousExpressions, AreFound) {
  for (const char* line : {
           "f((__gm__ float*) v2 + (v17 + v16 * v18 + v15 < v6 ? v15 : v6), v19, v20);",           // .. + (v15 < v6 ? v15 : v6)
           "int64_t v19 = (int64_t) ((uint64_t) (v11 >> (uint64_t) v13 % v9) + (uint64_t) v12);",  // (v11 >> v13) % v9
           "int64_t v20 = (int64_t) ((uint64_t) (v11 / v12 / v13) + (uint64_t) v12);",             // v11 / (v12 / v13)
           "int64_t v15 = (int64_t) ((uint64_t) ((int64_t) v3 < v4 ? v3 : v4) + (uint64_t) v7);",  // (v3 < v4 ? v3 : v4)
           "int64_t v14 = (int64_t) ((int16_t) (uint16_t) v3 + (uint16_t) v4);",                   // (int16_t) (..)
           "int64_t v22 = (int64_t) ((uint64_t) ((int64_t) (uint64_t) ((uint8_t) v11 < v12)) + (uint64_t) v12);",
           "int64_t v23 = (uint64_t) (v6 < v12 ? v11 : v12 / v13);",  // (v6 < v12 ? v11 : v12) / v13
           "T v76 = T((__gm__ float*) v1 + (v72 + v71 * v73 + (int64_t) v71 >> (uint64_t) v9), v74, v75);",
           "for (int64_t v16 = v6; v16 < v7 < v8 ? v7 : v8; v16 += v9) {",
           "int64_t v20 = v1 - v2 - v3;",
           "int64_t v20 = v1 * (v2 & v3 + v4);",
           "int64_t v5 = v1 * v2 % v3;",
       })
    EXPECT_EQ(test::ambiguous_expressions(line), std::vector<std::string>{line});
}

TEST(AmbiguousExpressions, AreNotFoundInWhatIsClear) {
  for (const char* line : {
           "f((__gm__ float*) v2 + (v17 + v16 * v18 + (v15 < v6 ? v15 : v6)), v19, v20);",
           "int64_t v20 = (int64_t) ((uint64_t) (v21 < v8 ? v21 : v8) + (uint64_t) v10);",
           "int64_t v20 = (int64_t) ((uint64_t) ((int64_t) (uint64_t) v11 ^ (uint64_t) v12) + (uint64_t) v12);",
           "int16_t v19 = (uint16_t) v18 < (uint16_t) v3 ? v3 : v18;",
           "for (int64_t v71 = v8; v71 < (v16 < v15 ? v16 : v15); v71 += v16 < v15 ? v15 : v16) {",
           "int64_t v27 = (int64_t) ((uint64_t) (v11 % v13 != v24 && v11 < v24 == v13 < v24 ? v26 + v25 : v26) * (uint64_t) "
           "v13);",
           "pto::Stride<-1, -1, -1, -1, -1> v26 = pto::Stride<-1, -1, -1, -1, -1>(v21 * v24, v24, v23, v15, v9);",
           "(v2)[(int64_t) ((uint64_t) v1 * (uint64_t) v3)] = v6;",
           "const int32_t v27 = -1;",
           "const float v16 = -1.17549435E-38f;",
           "if (v3 == v4) {",
           "if ((int64_t) v8 == v7) {",
           "extern \"C\" __global__ AICORE void k0(__gm__ float* v1, __gm__ float* v2, __gm__ int32_t* v3) {",
           "// pto: %a + %b < %c ? %d : %e",
       })
    EXPECT_EQ(test::ambiguous_expressions(line), std::vector<std::string>{}) << line;
}

}  // namespace
}  // namespace strew
