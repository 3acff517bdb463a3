// The traits table (include/strew/dtype.h). Its rows are in the order of the enum, which a static_assert checks. The
// parameters of the narrow floats are those of ml_dtypes (tests/oracle/narrow_floats compares every code). Tested by
// tests/unit/dtype_test.cc.
#include "strew/dtype.h"

#include <algorithm>
#include <array>

namespace strew::inline v0 {
namespace {

using K = DTypeKind;
using C = FloatCodes;

/// The last row is an extra one: it describes every number that is no DType. verify() refuses such numbers.
constexpr std::array<DTypeInfo, kDTypeCount + 1> kTable{{
    {DType::boolean, "bool", K::boolean, 8, true, C::none, 0, 0, 0},
    {DType::i2, "i2", K::signed_integer, 2, false, C::none, 0, 0, 0},
    {DType::u2, "u2", K::unsigned_integer, 2, false, C::none, 0, 0, 0},
    {DType::i4, "i4", K::signed_integer, 4, true, C::none, 0, 0, 0},
    {DType::u4, "u4", K::unsigned_integer, 4, true, C::none, 0, 0, 0},
    {DType::i8, "i8", K::signed_integer, 8, true, C::none, 0, 0, 0},
    {DType::u8, "u8", K::unsigned_integer, 8, true, C::none, 0, 0, 0},
    {DType::i16, "i16", K::signed_integer, 16, true, C::none, 0, 0, 0},
    {DType::u16, "u16", K::unsigned_integer, 16, true, C::none, 0, 0, 0},
    {DType::i32, "i32", K::signed_integer, 32, true, C::none, 0, 0, 0},
    {DType::u32, "u32", K::unsigned_integer, 32, true, C::none, 0, 0, 0},
    {DType::i64, "i64", K::signed_integer, 64, true, C::none, 0, 0, 0},
    {DType::u64, "u64", K::unsigned_integer, 64, true, C::none, 0, 0, 0},
    {DType::f4e2m1, "f4e2m1", K::floating, 4, true, C::finite, 2, 1, 1},
    {DType::f6e2m3, "f6e2m3", K::floating, 8, false, C::finite, 2, 3, 1},
    {DType::f6e3m2, "f6e3m2", K::floating, 8, false, C::finite, 3, 2, 3},
    {DType::f8e3m4, "f8e3m4", K::floating, 8, false, C::ieee, 3, 4, 3},
    {DType::f8e4m3, "f8e4m3", K::floating, 8, false, C::ieee, 4, 3, 7},
    {DType::f8e4m3fn, "f8e4m3fn", K::floating, 8, true, C::fn, 4, 3, 7},
    {DType::f8e4m3fnuz, "f8e4m3fnuz", K::floating, 8, true, C::fnuz, 4, 3, 8},
    {DType::f8e4m3b11fnuz, "f8e4m3b11fnuz", K::floating, 8, false, C::fnuz, 4, 3, 11},
    {DType::f8e5m2, "f8e5m2", K::floating, 8, true, C::ieee, 5, 2, 15},
    {DType::f8e5m2fnuz, "f8e5m2fnuz", K::floating, 8, true, C::fnuz, 5, 2, 16},
    {DType::f8e8m0, "f8e8m0", K::floating, 8, false, C::e8m0, 8, 0, 127},
    {DType::hif8, "hif8", K::floating, 8, false, C::opaque, 0, 0, 0},
    {DType::f16, "f16", K::floating, 16, true, C::ieee, 5, 10, 15},
    {DType::bf16, "bf16", K::floating, 16, true, C::ieee, 8, 7, 127},
    {DType::f32, "f32", K::floating, 32, true, C::ieee, 8, 23, 127},
    {DType::f64, "f64", K::floating, 64, true, C::ieee, 11, 52, 1023},
    {DType::complex64, "complex64", K::complex, 64, true, C::none, 0, 0, 0},
    {DType::complex128, "complex128", K::complex, 128, true, C::none, 0, 0, 0},
    {DType::string, "string", K::string, 128, false, C::none, 0, 0, 0},
    {DType{kDTypeCount}, "(no dtype)", K::string, 128, false, C::none, 0, 0, 0},
}};

constexpr bool in_enum_order() {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kTable[static_cast<size_t>(i)].dtype != static_cast<DType>(i)) return false;
  return true;
}
static_assert(in_enum_order());

}  // namespace

const DTypeInfo& info(DType dtype) { return kTable[std::min(static_cast<size_t>(dtype), size_t{kDTypeCount})]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kTable)
    if (row.name == name && row.dtype != DType{kDTypeCount}) return row.dtype;
  return std::nullopt;
}

}  // namespace strew::inline v0
