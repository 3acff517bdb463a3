// Known codes, specials, ties, subnormals and saturation of every number format, and packed elements in memory. The exhaustive
// comparison with ml_dtypes is tests/oracle/narrow_floats.
#include "base/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "strew/text.h"

namespace strew {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

std::vector<DType> binary_floats() {
  std::vector<DType> all;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_float(dtype) && info(dtype).codes != FloatCodes::opaque) all.push_back(dtype);
  }
  return all;
}

Scalar real(DType dtype, double value) { return {dtype, {encode(dtype, value), 0}}; }
Scalar integer(DType dtype, int64_t value) { return {dtype, {encode_i64(dtype, value), 0}}; }

TEST(Number, DecodesKnownCodes) {
  EXPECT_EQ(decode(DType::f16, 0x3c00), 1.0);
  EXPECT_EQ(decode(DType::f16, 0x7bff), 65504.0);
  EXPECT_EQ(decode(DType::f16, 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(decode(DType::f16, 0xfc00), -kInf);
  EXPECT_TRUE(std::isnan(decode(DType::f16, 0x7c01)));
  EXPECT_EQ(decode(DType::bf16, 0x4049), 3.140625);
  EXPECT_EQ(decode(DType::f32, 0x00000001), std::ldexp(1.0, -149));
  EXPECT_EQ(decode(DType::f64, 0x3ff8000000000000), 1.5);
  EXPECT_EQ(decode(DType::f8e4m3fn, 0x7e), 448.0);
  EXPECT_TRUE(std::isnan(decode(DType::f8e4m3fn, 0x7f)));
  EXPECT_TRUE(std::isnan(decode(DType::f8e4m3fn, 0xff)));
  EXPECT_EQ(decode(DType::f8e4m3fn, 0x01), std::ldexp(1.0, -9));
  EXPECT_EQ(decode(DType::f8e4m3fnuz, 0x7f), 240.0);
  EXPECT_TRUE(std::isnan(decode(DType::f8e4m3fnuz, 0x80)));
  EXPECT_EQ(decode(DType::f8e5m2, 0x7b), 57344.0);
  EXPECT_EQ(decode(DType::f8e5m2, 0x7c), kInf);
  EXPECT_TRUE(std::isnan(decode(DType::f8e5m2, 0x7d)));
  EXPECT_EQ(decode(DType::f8e5m2fnuz, 0x7f), 57344.0);
  EXPECT_EQ(decode(DType::f8e8m0, 0x00), std::ldexp(1.0, -127));
  EXPECT_EQ(decode(DType::f8e8m0, 0x7f), 1.0);
  EXPECT_TRUE(std::isnan(decode(DType::f8e8m0, 0xff)));
  const double f4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned code = 0; code < 8; ++code) {
    EXPECT_EQ(decode(DType::f4e2m1, code), f4[code]);
    EXPECT_EQ(decode(DType::f4e2m1, code | 8), -f4[code]);
    EXPECT_TRUE(std::signbit(decode(DType::f4e2m1, code | 8)));
  }
}

TEST(Number, EveryCodeOfUpTo16BitsRoundTrips) {
  for (const DType dtype : binary_floats()) {
    if (bits(dtype) > 16) continue;
    const int width = dtype == DType::f6e2m3 || dtype == DType::f6e3m2 ? 6 : bits(dtype);
    for (uint64_t code = 0; code < (uint64_t{1} << width); ++code) {
      const double value = decode(dtype, code);
      EXPECT_EQ(std::isnan(value), is_nan(dtype, code)) << name(dtype) << " " << code;
      if (std::isnan(value)) {
        EXPECT_TRUE(is_nan(dtype, encode(dtype, value))) << name(dtype) << " " << code;
      } else {
        EXPECT_EQ(encode(dtype, value), code) << name(dtype) << " " << value;
      }
    }
  }
}

// Between neighbouring codes: below the middle goes down, above goes up, the middle to the even code.
TEST(Number, TiesGoToEvenInEveryFormat) {
  for (const DType dtype : binary_floats()) {
    if (bits(dtype) > 16 || dtype == DType::f8e8m0) continue;
    for (uint64_t code = 0;; ++code) {
      const double low = decode(dtype, code), high = decode(dtype, code + 1);
      if (!std::isfinite(high) || std::signbit(high)) break;
      const double middle = low + (high - low) / 2;
      EXPECT_EQ(encode(dtype, middle), code + (code & 1)) << name(dtype) << " " << middle;
      EXPECT_EQ(encode(dtype, std::nextafter(middle, low)), code) << name(dtype) << " " << middle;
      EXPECT_EQ(encode(dtype, std::nextafter(middle, high)), code + 1) << name(dtype) << " " << middle;
      EXPECT_EQ(decode(dtype, encode(dtype, -middle)), -decode(dtype, code + (code & 1))) << name(dtype) << " " << middle;
    }
  }
}

TEST(Number, OverflowAndNanFollowTheFormat) {
  EXPECT_EQ(encode(DType::f16, 65519.9), 0x7bffu);
  EXPECT_EQ(encode(DType::f16, 65520), 0x7c00u);
  EXPECT_EQ(encode(DType::bf16, 3.4e38), 0x7f80u);
  EXPECT_EQ(encode(DType::f8e4m3fn, 464), 0x7eu);  // the tie goes to 448, whose code is even
  EXPECT_EQ(encode(DType::f8e4m3fn, 464.0001), 0x7fu);
  EXPECT_EQ(encode(DType::f8e4m3fn, -kInf), 0xffu);
  EXPECT_EQ(encode(DType::f8e5m2, 61440), 0x7cu);
  EXPECT_EQ(encode(DType::f8e5m2, -1e30), 0xfcu);
  EXPECT_EQ(encode(DType::f8e4m3fnuz, kInf), 0x80u);
  EXPECT_EQ(encode(DType::f8e4m3fnuz, -0.0), 0u);
  EXPECT_EQ(encode(DType::f8e5m2fnuz, -1e-30), 0u);
  EXPECT_EQ(encode(DType::f8e4m3fnuz, kNan), 0x80u);
  EXPECT_EQ(encode(DType::f4e2m1, 100), 0x7u);
  EXPECT_EQ(encode(DType::f4e2m1, -kInf), 0xfu);
  EXPECT_EQ(encode(DType::f4e2m1, kNan), 0x8u);
  EXPECT_EQ(encode(DType::f4e2m1, -kNan), 0x8u);
  EXPECT_EQ(encode(DType::f4e2m1, -0.0), 0x8u);
  EXPECT_EQ(encode(DType::f6e2m3, 1e9), 0x1fu);
  EXPECT_TRUE(is_nan(DType::f32, encode(DType::f32, kNan)));
  EXPECT_TRUE(is_nan(DType::f8e5m2, encode(DType::f8e5m2, kNan)));
}

TEST(Number, E8m0FollowsMlDtypes) {
  EXPECT_EQ(encode(DType::f8e8m0, 0), 0xffu);
  EXPECT_EQ(encode(DType::f8e8m0, -1), 0xffu);
  EXPECT_EQ(encode(DType::f8e8m0, kInf), 0xffu);
  EXPECT_EQ(encode(DType::f8e8m0, 1.4999), 127u);
  EXPECT_EQ(encode(DType::f8e8m0, 1.5), 128u);
  EXPECT_EQ(encode(DType::f8e8m0, 3.0), 129u);  // ties go up, not to even
  EXPECT_EQ(encode(DType::f8e8m0, std::ldexp(1.0, -140)), 0u);
  EXPECT_EQ(encode(DType::f8e8m0, std::ldexp(1.125, -127)), 1u);
  EXPECT_EQ(encode(DType::f8e8m0, std::ldexp(1.49, 127)), 254u);
  EXPECT_EQ(encode(DType::f8e8m0, std::ldexp(1.5, 127)), 0xffu);
  EXPECT_EQ(encode_i64(DType::f8e8m0, 8), 130u);
}

TEST(Number, RoundsLikeTheHardwareToF32) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    double value = std::bit_cast<double>(random());
    if (i % 2 == 0) value = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 320) - 210);
    if (std::isnan(value)) continue;
    EXPECT_EQ(encode(DType::f32, value), std::bit_cast<uint32_t>(static_cast<float>(value))) << value;
  }
}

TEST(Number, IntegersRoundOnce) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    const auto as_signed = static_cast<int64_t>(random()) >> (random() % 64);
    EXPECT_EQ(encode_u64(DType::f32, value), std::bit_cast<uint32_t>(static_cast<float>(value))) << value;
    EXPECT_EQ(encode_u64(DType::f64, value), std::bit_cast<uint64_t>(static_cast<double>(value))) << value;
    EXPECT_EQ(encode_i64(DType::f32, as_signed), std::bit_cast<uint32_t>(static_cast<float>(as_signed))) << as_signed;
    EXPECT_EQ(encode_i64(DType::f64, as_signed), std::bit_cast<uint64_t>(static_cast<double>(as_signed))) << as_signed;
  }
  // Through double this would round twice and land on the even neighbour below.
  const int64_t above_tie = (int64_t{1} << 61) + (int64_t{1} << 53) + 1;
  EXPECT_EQ(encode_i64(DType::bf16, above_tie), encode(DType::bf16, std::ldexp(1.0 + 1.0 / 128, 61)));
  EXPECT_EQ(encode_i64(DType::bf16, above_tie - 1), encode(DType::bf16, std::ldexp(1.0, 61)));
  EXPECT_EQ(encode_i64(DType::f16, std::numeric_limits<int64_t>::min()), 0xfc00u);
  EXPECT_EQ(encode_i64(DType::f4e2m1, -5), 0xeu);  // tie between 4 and 6: 4 has the even code
}

TEST(Number, FloatsToIntegersTruncateAndSaturate) {
  EXPECT_EQ(encode(DType::i8, 127.9), 127u);
  EXPECT_EQ(encode(DType::i8, 128), 127u);
  EXPECT_EQ(encode(DType::i8, -128.9), 0x80u);
  EXPECT_EQ(encode(DType::i8, -1e300), 0x80u);
  EXPECT_EQ(encode(DType::i8, -1.9), 0xffu);
  EXPECT_EQ(encode(DType::u8, -0.9), 0u);
  EXPECT_EQ(encode(DType::u8, -7), 0u);
  EXPECT_EQ(encode(DType::u8, 255.5), 255u);
  EXPECT_EQ(encode(DType::u8, kInf), 255u);
  EXPECT_EQ(encode(DType::i4, 9), 7u);
  EXPECT_EQ(encode(DType::i4, -9), 8u);
  EXPECT_EQ(encode(DType::i64, 9.3e18), static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(encode(DType::i64, -kInf), uint64_t{1} << 63);
  EXPECT_EQ(encode(DType::u64, kInf), ~uint64_t{0});
  EXPECT_EQ(encode(DType::u64, std::ldexp(1.0, 63)), uint64_t{1} << 63);
  EXPECT_EQ(encode(DType::i32, kNan), 0u);
  EXPECT_EQ(encode(DType::boolean, 1e-300), 1u);
  EXPECT_EQ(encode(DType::boolean, kNan), 1u);
  EXPECT_EQ(encode(DType::boolean, -0.0), 0u);
}

TEST(Number, ConvertsBetweenKinds) {
  EXPECT_EQ(convert(integer(DType::i32, -1), DType::u8), integer(DType::u8, 255));
  EXPECT_EQ(convert(integer(DType::i4, -3), DType::i64), integer(DType::i64, -3));
  EXPECT_EQ(convert(Scalar{DType::u64, {~uint64_t{0}, 0}}, DType::f64), real(DType::f64, std::ldexp(1.0, 64)));
  EXPECT_EQ(convert(Scalar{DType::boolean, {1, 0}}, DType::bf16), real(DType::bf16, 1));
  EXPECT_EQ(convert(Scalar{DType::boolean, {2, 0}}, DType::i8), integer(DType::i8, 1));
  EXPECT_EQ(convert(real(DType::f8e4m3fn, 2.75), DType::i8), integer(DType::i8, 2));
  EXPECT_EQ(convert(real(DType::f32, 3), DType::complex128), make_complex(DType::complex128, encode(DType::f64, 3), 0));
  EXPECT_EQ(convert(real(DType::f8e8m0, 4), DType::complex64), make_complex(DType::complex64, encode(DType::f32, 4), 0));
  const Scalar imaginary = make_complex(DType::complex64, 0, encode(DType::f32, -2));
  EXPECT_EQ(convert(imaginary, DType::complex128), make_complex(DType::complex128, 0, encode(DType::f64, -2)));
  EXPECT_EQ(convert(imaginary, DType::f16), real(DType::f16, 0));
  EXPECT_EQ(convert(imaginary, DType::boolean).bits[0], 1u);
  // f64 -> bf16 through f32 would round twice.
  EXPECT_EQ(convert(real(DType::f64, 1.0 + 1.0 / 256 + std::ldexp(1.0, -40)), DType::bf16), real(DType::bf16, 1.0 + 1.0 / 128));
}

TEST(Number, EqualDTypesKeepSignallingNans) {
  const Scalar signalling{DType::f32, {0x7f800001, 0}};
  EXPECT_EQ(convert(signalling, DType::f32), signalling);
  const Scalar narrow{DType::f4e2m1, {8, 0}};
  EXPECT_EQ(convert(narrow, DType::f4e2m1), narrow);
}

TEST(Number, SameValueTakesAnyNanForAnother) {
  EXPECT_TRUE(same_value({DType::f16, {0x7c01, 0}}, {DType::f16, {0xfe00, 0}}));
  EXPECT_FALSE(same_value({DType::f16, {0x7c00, 0}}, {DType::f16, {0x7c01, 0}}));
  EXPECT_FALSE(same_value(real(DType::f32, 0.0), real(DType::f32, -0.0)));
  EXPECT_TRUE(same_value(make_complex(DType::complex64, 0x7fc00000, 5), make_complex(DType::complex64, 0xffc00001, 5)));
  EXPECT_FALSE(same_value(make_complex(DType::complex64, 0x7fc00000, 5), make_complex(DType::complex64, 0x7fc00000, 6)));
  EXPECT_FALSE(same_value({DType::i32, {1, 0}}, {DType::u32, {1, 0}}));
}

TEST(Number, PackedElementsKeepTheirNeighbours) {
  unsigned char bytes[3] = {0xab, 0xcd, 0xef};
  EXPECT_EQ(load_element(DType::u4, bytes, 0).bits[0], 0xbu);
  EXPECT_EQ(load_element(DType::u4, bytes, 3).bits[0], 0xcu);
  EXPECT_EQ(load_element(DType::u4, bytes + 1, -1).bits[0], 0xau);
  EXPECT_EQ(load_element(DType::u4, bytes + 1, -2).bits[0], 0xbu);
  store_element(DType::i4, bytes + 2, -2, {DType::i4, {0x5, 0}});
  EXPECT_EQ(bytes[1], 0xc5);
  store_element(DType::u2, bytes, 3, {DType::u2, {0x1, 0}});
  EXPECT_EQ(bytes[0], 0x6b);
  EXPECT_EQ(load_element(DType::i2, bytes, 1).bits[0], 0x2u);
  EXPECT_EQ(decode_i64(DType::i2, 2), -2);
  EXPECT_EQ(bytes[2], 0xef);
}

TEST(Number, WideElementsMoveWhole) {
  unsigned char bytes[33] = {};
  const Scalar value{DType::complex128, {0x7ff0000000000001, 0x0123456789abcdef}};
  store_element(DType::complex128, bytes + 17, -1, value);
  EXPECT_EQ(load_element(DType::complex128, bytes + 1, 0), value);
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[17], 0);
  store_element(DType::i16, bytes, 1, {DType::i16, {0xfffe, 0}});
  EXPECT_EQ(decode_i64(DType::i16, load_element(DType::i16, bytes, 1).bits[0]), -2);
}

TEST(ScalarOf, CppValuesKeepTheirBits) {
  EXPECT_EQ(Scalar::of(true), (Scalar{DType::boolean, {1, 0}}));
  EXPECT_EQ(Scalar::of(int8_t{-2}), (Scalar{DType::i8, {0xfe, 0}}));
  EXPECT_EQ(Scalar::of(uint16_t{65535}), (Scalar{DType::u16, {0xffff, 0}}));
  EXPECT_EQ(Scalar::of(-1), (Scalar{DType::i32, {0xffffffff, 0}}));
  EXPECT_EQ(Scalar::of(~uint64_t{0}), (Scalar{DType::u64, {~uint64_t{0}, 0}}));
  EXPECT_EQ(Scalar::of(1.5F), (Scalar{DType::f32, {0x3fc00000, 0}}));
  EXPECT_EQ(Scalar::of(-0.0), (Scalar{DType::f64, {0x8000000000000000, 0}}));
  EXPECT_EQ(Scalar::of(std::complex<float>(1, -2)), make_complex(DType::complex64, 0x3f800000, 0xc0000000));
  EXPECT_EQ(Scalar::of(std::complex<double>(0, 1)), make_complex(DType::complex128, 0, 0x3ff0000000000000));
}

TEST(ScalarOf, NumbersAreRoundedOnce) {
  EXPECT_EQ(Scalar::of(DType::bf16, 1.00390625), (Scalar{DType::bf16, {0x3f80, 0}}));  // halfway to 0x3f81: the even one
  EXPECT_EQ(Scalar::of(DType::i8, -1), (Scalar{DType::i8, {0xff, 0}}));
  EXPECT_EQ(Scalar::of(DType::u8, 300), (Scalar{DType::u8, {255, 0}}));
  EXPECT_EQ(Scalar::of(DType::complex64, 0.5), make_complex(DType::complex64, 0x3f000000, 0));
}

TEST(ScalarOf, OnlyADefaultConstructedScalarHasNoValue) {
  EXPECT_FALSE(Scalar{}.has_value());
  EXPECT_EQ(print(Scalar{}), "none");
  EXPECT_NE(Scalar{}, Scalar::of(0.0F));
  EXPECT_TRUE(Scalar::of(0.0F).has_value());
  EXPECT_TRUE(Scalar{DType::boolean}.has_value());
  EXPECT_EQ(Scalar::of(Scalar::kNone, 1), Scalar{});
}

}  // namespace
}  // namespace strew
