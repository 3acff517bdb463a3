// The text of an op, its hash and the conversions of numbers are the same in every floating-point environment of the caller: four rounding
// modes, and subnormals flushed to zero on the way in and out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "base/number.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

/// f() in every environment but the default; the caller's is back afterwards.
template <class F>
void in_every_environment(F f) {
  for (const int mode : {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD}) {
    for (const bool flush : {false, true}) {
      std::fenv_t saved;
      std::feholdexcept(&saved);
      std::fesetround(mode);
#if defined(__x86_64__)
      const unsigned kFlush = 0x8040;  // FTZ and DAZ
      if (flush) _mm_setcsr(_mm_getcsr() | kFlush);
      const unsigned before = _mm_getcsr() & ~0x3fu;
#endif
      f();
#if defined(__x86_64__)
      const unsigned after = _mm_getcsr() & ~0x3fu;
#endif
      const int left = std::fegetround();
      std::fesetenv(&saved);
      EXPECT_EQ(left, mode);
#if defined(__x86_64__)
      EXPECT_EQ(after, before) << "the caller's environment is as it was";
#endif
    }
  }
}

const char* const kNumbers[] = {"0.1", "1e-40", "3.4028235e+38", "16777217", "1.17549429e-38", "-0.3", "5e-324", "2.5", "-0"};

TEST(FpText, ScalarsReadAndPrintTheSame) {
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::f4e2m1}) {
    for (const char* number : kNumbers) {
      const Expected<Scalar> wanted = parse_scalar(number, dtype);
      const std::string text = wanted.ok() ? print(*wanted) : wanted.status().message();
      in_every_environment([&] {
        const Expected<Scalar> got = parse_scalar(number, dtype);
        EXPECT_EQ(got.ok() ? print(*got) : got.status().message(), text) << number;
        if (got.ok() && wanted.ok()) {
          EXPECT_EQ(got->bits, wanted->bits) << number << " " << name(dtype);
        }
      });
    }
  }
  in_every_environment([] { EXPECT_EQ(print(parse_scalar("(0.1,-0.3)", DType::complex64).value()), "(0.1,-0.3)"); });
}

TEST(FpText, OpsHashTheSame) {
  const std::string text =
      "strew1.gather(operand=f32[4] indices=i32[2] result=f32[2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
      "slice_sizes=[1] oob=fill_element fill=0.1:f32)";
  const Hash128 wanted = hash(test::op_of(text));
  in_every_environment([&] {
    const Op op = test::op_of(text);
    EXPECT_EQ(print(op), text);
    EXPECT_EQ(hash(op), wanted);
  });
}

TEST(FpText, ConversionsAreTheSame) {
  std::vector<uint64_t> codes = {0, 1, 0x7fffff, 0x800000, 0x3dcccccd, 0x80000001, 0x7f800000};
  for (uint64_t i = 0; i < 64; ++i) codes.push_back(0x0123456789abcdef * (2 * i + 1) >> 32);
  for (const uint64_t code : codes) {
    const double wanted = decode(DType::f32, code);
    in_every_environment(
        [&] { EXPECT_EQ(std::bit_cast<uint64_t>(decode(DType::f32, code)), std::bit_cast<uint64_t>(wanted)) << code; });
  }
  for (const uint64_t odd :
       {uint64_t{0x20000000000001}, ~uint64_t{0}, uint64_t{0x7fffffffffffffff}, uint64_t{0x8000000000000401}}) {
    const auto unsigned_bits = std::bit_cast<uint64_t>(decode(DType::u64, odd)),
               signed_bits = std::bit_cast<uint64_t>(decode(DType::i64, odd));
    in_every_environment([&] {
      EXPECT_EQ(std::bit_cast<uint64_t>(decode(DType::u64, odd)), unsigned_bits);
      EXPECT_EQ(std::bit_cast<uint64_t>(decode(DType::i64, odd)), signed_bits);
    });
  }
  in_every_environment(
      [] { EXPECT_EQ(encode(DType::boolean, std::bit_cast<double>(uint64_t{1})), 1u) << "a subnormal is not zero"; });
}

TEST(FpText, KernelsAreTheSame) {
  // 0.1 is a constant of the graph and 1e-40 is subnormal: both reach the code that is compiled.
  const Op op = test::op_of(
      "strew1.gather(operand=f32[4] indices=i32[2] result=f32[2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
      "slice_sizes=[1] expr={%0=current(0):f32; %1=constant(0.1):f32; %2=constant(1e-40):f32; %3=add(%1, %2):f32; "
      "%4=multiply(%0, "
      "%3):f32; "
      "return %4})");
  const auto run = [&] {
    Runtime runtime;
    const auto kernel = runtime.get(op, {});
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    std::vector<float> result(2), table = {1e-39f, 0.3f, 3, 7};
    std::vector<int32_t> at = {0, 1};
    const std::vector<int64_t> four = {4}, two = {2};
    const std::vector<TensorView> views = {{result.data(), DType::f32, 1, two.data(), nullptr},
                                           {table.data(), DType::f32, 1, four.data(), nullptr},
                                           {at.data(), DType::i32, 1, two.data(), nullptr}};
    if (kernel.ok()) {
      EXPECT_TRUE(kernel->run(views).ok());
    }
    return std::vector<uint32_t>{std::bit_cast<uint32_t>(result[0]), std::bit_cast<uint32_t>(result[1])};
  };
  const std::vector<uint32_t> wanted = run();
  in_every_environment([&] { EXPECT_EQ(run(), wanted); });
}

}  // namespace
}  // namespace strew
