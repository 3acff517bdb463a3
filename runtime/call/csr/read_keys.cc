// Reading the indices of csr() as keys, in loops over vectors. A block is read without a branch on its values; only where one is bad is it looked for.
#include "runtime/call/csr/csr.h"

namespace strew::inline v0 {
namespace {

/// A number whose sign bit says whether the index is not less than the bound, which is `last` + 1 and at most 2^63.
uint64_t sign_if_bad(uint64_t index, uint64_t last) { return index | (last - index); }
constexpr uint64_t kSign = uint64_t{1} << 63;

template <class Index, class At>
[[gnu::always_inline]] inline bool all_in_bounds(const At& at, uint64_t last, int64_t count, uint32_t* keys) {
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Index index = at(i);
    keys[i] = static_cast<uint32_t>(index);
    signs |= sign_if_bad(index, last);
  }
  return (signs & kSign) == 0;
}

template <class Index>
int64_t read(const CsrJob& job, int64_t begin, int64_t count, uint32_t* keys) {
  const uint64_t last = job.bound() - 1;
  const auto strided = [&](int64_t i) { return job.indices.get<Index>(begin + i); };
  const char* const from = job.indices.data + begin * job.indices.step;
  const auto contiguous = [&](int64_t i) {
    Index index;
    std::memcpy(&index, from + i * static_cast<int64_t>(sizeof index), sizeof index);
    return index;
  };
  if (job.indices.step == sizeof(Index) ? all_in_bounds<Index>(contiguous, last, count, keys)
                                        : all_in_bounds<Index>(strided, last, count, keys))
    return count;
  int64_t good = 0;
  while ((sign_if_bad(strided(good), last) & kSign) == 0) ++good;
  return good;
}

}  // namespace

int64_t read_keys(const CsrJob& job, int64_t begin, int64_t count, uint32_t* keys) {
  return with_index_type(job, [&](auto index) { return read<decltype(index)>(job, begin, count, keys); });
}

}  // namespace strew::inline v0
