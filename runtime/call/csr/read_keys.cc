// Reading the indices of csr(). A block is read without a branch on its values; only where one is bad is it looked for.
#include <array>
#include <bit>

#include "runtime/call/csr/csr.h"

namespace strew::inline v0 {
namespace {

/// An index as the number whose sign bit says whether it is out of bounds: one that is negative, or that is more than `last`, which is at least -1.
template <class T>
uint64_t sign_if_bad(T index, uint64_t last) {
  const auto wide = static_cast<uint64_t>(static_cast<int64_t>(index));
  return wide | (last - wide);
}
constexpr uint64_t kSign = uint64_t{1} << 63;

template <class T, class Word, class At>
[[gnu::always_inline]] inline bool all_in_bounds(const At& at, uint64_t last, int64_t count, Word* keys) {
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; ++i) {
    const T index = at(i);
    keys[i] = static_cast<Word>(index);
    signs |= sign_if_bad(index, last);
  }
  return (signs & kSign) == 0;
}

template <class T, class Word>
int64_t read(const CsrJob& job, int64_t begin, int64_t count, Word* keys) {
  const auto last = static_cast<uint64_t>(job.segments - 1);
  const auto strided = [&](int64_t i) { return job.indices.get<T>(begin + i); };
  const char* const from = job.indices.data + begin * job.indices.step;
  const auto contiguous = [&](int64_t i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  };
  if (job.indices.step == sizeof(T) ? all_in_bounds<T>(contiguous, last, count, keys)
                                    : all_in_bounds<T>(strided, last, count, keys))
    return count;
  int64_t good = 0;
  while ((sign_if_bad(strided(good), last) & kSign) == 0) ++good;
  return good;
}

}  // namespace

template <class Word>
int64_t read_keys(const CsrJob& job, int64_t begin, int64_t count, Word* keys) {
  using Read = int64_t (*)(const CsrJob&, int64_t, int64_t, Word*);
  constexpr std::array<Read, 4> kSigned = {read<int8_t, Word>, read<int16_t, Word>, read<int32_t, Word>, read<int64_t, Word>};
  constexpr std::array<Read, 4> kUnsigned = {read<uint8_t, Word>, read<uint16_t, Word>, read<uint32_t, Word>,
                                             read<uint64_t, Word>};
  const auto width = static_cast<size_t>(std::countr_zero(static_cast<unsigned>(job.indices.bytes)));
  return (job.indices.is_signed ? kSigned : kUnsigned)[width](job, begin, count, keys);
}

template int64_t read_keys(const CsrJob& job, int64_t begin, int64_t count, uint32_t* keys);
template int64_t read_keys(const CsrJob& job, int64_t begin, int64_t count, uint64_t* keys);

}  // namespace strew::inline v0
