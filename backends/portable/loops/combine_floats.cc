// The combiners of floats and complex numbers (combine.h).
#include "backends/portable/loops/combine.h"

namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL {
namespace {

template <class Element>
void add_float(Loops& loops, DType dtype) {
  using E = ExprOp;
  add_combiners<Element, E::add, E::sub, E::mul, E::div, E::min, E::max>(loops, dtype);
}

template <class Element>
void add_complex(Loops& loops, DType dtype) {
  using E = ExprOp;
  add_combiners<Element, E::add, E::sub, E::mul, E::div>(loops, dtype);
}

}  // namespace

void add_combiners_of_floats(Loops& loops) {
  add_float<F4>(loops, DType::f4e2m1);
  for (const DType dtype : {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz})
    add_float<Small8>(loops, dtype);
  add_float<F16>(loops, DType::f16);
  add_float<Bf16>(loops, DType::bf16);
  add_float<Plain<float>>(loops, DType::f32);
  add_float<Plain<double>>(loops, DType::f64);
  add_complex<Plain<Complex<float>>>(loops, DType::complex64);
  add_complex<Plain<Complex<double>>>(loops, DType::complex128);
}

}  // namespace strew::inline v0::portable::STREW_PORTABLE_LEVEL
