// The traits table (include/strew/dtype.h), from the rows of dtypes.def. The parameters of the narrow floats are those of
// ml_dtypes (tests/oracle/narrow_floats compares every code). Tested by tests/unit/base/dtype_test.cc.
#include "strew/dtype.h"

#include <algorithm>
#include <array>

namespace strew::inline v0 {
namespace {

using K = DTypeKind;
using C = FloatCodes;

/// The last row is an extra one: it describes every number that is no DType. verify() refuses such numbers.
constexpr std::array<DTypeInfo, kDTypeCount + 1> kTable{{
#define STREW_DTYPE_ROW(dtype, c, name, kind, bits, used, arithmetic, codes, exponent, mantissa, bias) \
  {DType::dtype, name, K::kind, bits, arithmetic, C::codes, exponent, mantissa, bias, used},
    STREW_DTYPES(STREW_DTYPE_ROW)
#undef STREW_DTYPE_ROW
        {DType{kDTypeCount}, "(no dtype)", K::string, 128, false, C::none, 0, 0, 0, 128},
}};

/// Has the second table of dtypes.def one row for each dtype, in the same order?
constexpr bool formats_are_complete() {
  int count = 0;
#define STREW_DTYPE_IN_ORDER(dtype, ...) \
  if (DType::dtype != static_cast<DType>(count++)) return false;
  STREW_DTYPE_FORMATS(STREW_DTYPE_IN_ORDER)
#undef STREW_DTYPE_IN_ORDER
  return count == kDTypeCount;
}
static_assert(formats_are_complete());

}  // namespace

const DTypeInfo& info(DType dtype) { return kTable[std::min(static_cast<size_t>(dtype), size_t{kDTypeCount})]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kTable)
    if (row.name == name && row.dtype != DType{kDTypeCount}) return row.dtype;
  return std::nullopt;
}

}  // namespace strew::inline v0
