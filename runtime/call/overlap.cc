// Two views are disjoint if the intervals of their bytes are. Otherwise, for each stride G of either view: every byte of a view lies at
// base + (a multiple of G) + an offset made by the dims whose strides are no multiples of G. If the ranges of those offsets do not meet
// modulo G, the views are disjoint. The test never calls overlapping views disjoint, and it recognises the usual disjoint views of one
// buffer: columns, halves, every n-th row. Tested by tests/unit/runtime/call/bind_test.cc.
#include <algorithm>
#include <cstdlib>

#include "runtime/call/extent.h"

namespace strew::inline v0 {
namespace {

struct Range {
  __int128 lo, hi;  // [lo, hi)
};

/// The range of offsets made by the dims whose byte stride is no multiple of `modulus` (0: by all dims).
Range reach(const StridedBytes& v, int64_t modulus) {
  Range range{0, v.element};
  for (int d = 0; d < v.rank; ++d) {
    const __int128 stride = static_cast<__int128>(v.strides[d]) * v.element;
    if (v.dims[d] <= 1 || (modulus != 0 && stride % modulus == 0)) continue;
    (stride < 0 ? range.lo : range.hi) += stride * (v.dims[d] - 1);
  }
  return range;
}

bool apart_modulo(const StridedBytes& a, const StridedBytes& b, int64_t modulus) {
  const Range ra = reach(a, modulus), rb = reach(b, modulus);
  const __int128 length_a = ra.hi - ra.lo, length_b = rb.hi - rb.lo;
  if (length_a + length_b > modulus) return false;
  // The distance from the begin of a's range to the begin of b's, on a circle of length `modulus`.
  const __int128 from = static_cast<__int128>(b.base) + rb.lo - (static_cast<__int128>(a.base) + ra.lo);
  const __int128 distance = ((from % modulus) + modulus) % modulus;
  return distance >= length_a && distance + length_b <= modulus;
}

bool apart_by_some_stride(const StridedBytes& a, const StridedBytes& b, const StridedBytes& strides_of) {
  for (int d = 0; d < strides_of.rank; ++d) {
    const __int128 stride = static_cast<__int128>(std::abs(strides_of.strides[d])) * strides_of.element;
    if (strides_of.dims[d] > 1 && stride > 1 && apart_modulo(a, b, static_cast<int64_t>(stride))) return true;
  }
  return false;
}

bool before(const CallBytes& a, const CallBytes& b) { return a.begin < b.begin; }

void sort(std::vector<CallBytes>& list) {
  if (std::is_sorted(list.begin(), list.end(), before)) return;
  if (std::is_sorted(list.rbegin(), list.rend(), before))
    std::reverse(list.begin(), list.end());
  else
    std::sort(list.begin(), list.end(), before);
}

}  // namespace

bool disjoint(const StridedBytes& a, const StridedBytes& b) {
  const Range ra = reach(a, 0), rb = reach(b, 0);
  const __int128 base_a = a.base, base_b = b.base;
  if (base_a + ra.hi <= base_b + rb.lo || base_b + rb.hi <= base_a + ra.lo) return true;
  return apart_by_some_stride(a, b, a) || apart_by_some_stride(a, b, b);
}

/// The writes are sorted by address; then neighbours are compared, and each read is searched among the writes. Reads outside the range of all
/// writes, the common case, need no search.
std::optional<CallOverlap> find_overlap(std::vector<CallBytes>& writes, std::vector<CallBytes>& reads) {
  if (writes.empty()) return std::nullopt;
  sort(writes);
  for (size_t i = 1; i < writes.size(); ++i) {
    // Results of one call do not overlap: binding has checked that.
    if (writes[i].begin < writes[i - 1].end && writes[i].call != writes[i - 1].call) return CallOverlap{writes[i - 1], writes[i]};
  }
  const uintptr_t first = writes.front().begin, last = writes.back().end;
  for (const CallBytes& read : reads) {
    if (read.end <= first || read.begin >= last) continue;
    auto write = std::partition_point(writes.begin(), writes.end(), [&](const CallBytes& w) { return w.end <= read.begin; });
    for (; write != writes.end() && write->begin < read.end; ++write)
      if (write->call != read.call) return CallOverlap{*write, read};
  }
  return std::nullopt;
}

}  // namespace strew::inline v0
