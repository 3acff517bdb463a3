// See extent.h. Tested by tests/unit/runtime/call/bind_test.cc.
#include "runtime/call/extent.h"

namespace strew::inline v0 {

bool row_major_strides(const int64_t* dims, size_t rank, int64_t* strides) {
  int64_t run = 1;
  for (size_t d = rank; d-- > 0;) {
    strides[d] = run;
    if (__builtin_mul_overflow(run, dims[d] == 0 ? 1 : dims[d], &run)) return false;
  }
  return true;
}

bool measure(int bits, int rank, const int64_t* dims, const int64_t* strides, Extent& out) {
  constexpr __int128 kMost = __int128{1} << 62;  // far from the limit of __int128, whatever the bits of an element
  out = {0, 0, is_empty(dims, rank), true};
  if (out.empty) return true;
  __int128 lo = 0, hi = 1;
  int64_t run = 1;
  for (int d = rank; d-- > 0;) {
    if (dims[d] != 1) out.row_major = out.row_major && strides[d] == run;
    if (__builtin_mul_overflow(run, dims[d], &run)) out.row_major = false;
    const __int128 reach = static_cast<__int128>(strides[d]) * (dims[d] - 1);
    (reach < 0 ? lo : hi) += reach;
    if (lo < -kMost || hi > kMost) return false;
  }
  lo *= bits;
  hi *= bits;
  if (lo < -kMost || hi > kMost) return false;
  out.lo = static_cast<int64_t>((lo - 7) / 8);  // rounds away from zero, to the whole byte of a packed element
  out.hi = static_cast<int64_t>((hi + 7) / 8);
  return true;
}

const int64_t* strides_of(const TensorView& view, StrideBuffer& buffer) {
  if (view.strides != nullptr) return view.strides;
  row_major_strides(view.dims, static_cast<size_t>(view.rank), buffer.data());
  return buffer.data();
}

Extent extent_of(const strew_tensor_rule& rule, const TensorView& view) {
  StrideBuffer buffer;  // NOLINT: filled by strides_of
  Extent out;
  measure(rule.bits, view.rank, view.dims, strides_of(view, buffer), out);
  return out;
}

bool same_layout(const TensorView& a, const TensorView& b) {
  if (a.dtype != b.dtype || a.rank != b.rank) return false;
  if (a.strides == nullptr && b.strides == nullptr) return true;
  StrideBuffer of_a, of_b;  // NOLINT: filled by strides_of
  const int64_t *const sa = strides_of(a, of_a), *const sb = strides_of(b, of_b);
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d] != 1 && sa[d] != sb[d]) return false;
  return true;
}

}  // namespace strew::inline v0
