// The combiners of integers and bool (combine.h).
#include "backends/portable/loops/combine.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

template <class Element>
void add_integer(Loops& loops, DType dtype) {
  using E = ExprOp;
  add_combiners<Element, E::add, E::sub, E::mul, E::div, E::min, E::max, E::bit_and, E::bit_or, E::bit_xor>(loops, dtype);
}

}  // namespace

void add_combiners_of_integers(Loops& loops) {
  add_integer<I4>(loops, DType::i4);
  add_integer<U4>(loops, DType::u4);
  add_integer<Plain<int8_t>>(loops, DType::i8);
  add_integer<Plain<uint8_t>>(loops, DType::u8);
  add_integer<Plain<int16_t>>(loops, DType::i16);
  add_integer<Plain<uint16_t>>(loops, DType::u16);
  add_integer<Plain<int32_t>>(loops, DType::i32);
  add_integer<Plain<uint32_t>>(loops, DType::u32);
  add_integer<Plain<int64_t>>(loops, DType::i64);
  add_integer<Plain<uint64_t>>(loops, DType::u64);
  using E = ExprOp;
  add_combiners<Bool, E::add, E::mul, E::min, E::max, E::bit_and, E::bit_or, E::bit_xor>(loops, DType::boolean);
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
