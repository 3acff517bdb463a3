// Reading the indices of csr(). A block is read without a branch on its values; only where one is bad is it looked for.
#include <array>
#include <bit>

#include "runtime/call/csr/csr.h"

namespace strew::inline v0 {
namespace {

/// The index as a number that is not less than any legal bound if the index is negative.
template <class T>
uint64_t unsigned_of(T index) {
  return static_cast<uint64_t>(static_cast<int64_t>(index));
}

template <class T, class Word, class At>
[[gnu::always_inline]] inline bool all_in_bounds(const At& at, uint64_t bound, int64_t count, Word* keys) {
  bool bad = false;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t index = unsigned_of<T>(at(i));
    keys[i] = static_cast<Word>(index);
    bad |= index >= bound;
  }
  return !bad;
}

template <class T, class Word>
int64_t read(const CsrJob& job, int64_t begin, int64_t count, Word* keys) {
  const auto bound = static_cast<uint64_t>(job.segments);
  const auto strided = [&](int64_t i) { return job.indices.get<T>(begin + i); };
  const char* const from = job.indices.data + begin * job.indices.step;
  const auto contiguous = [&](int64_t i) {
    T value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  };
  if (job.indices.step == sizeof(T) ? all_in_bounds<T>(contiguous, bound, count, keys)
                                    : all_in_bounds<T>(strided, bound, count, keys))
    return count;
  int64_t good = 0;
  while (unsigned_of<T>(strided(good)) < bound) ++good;
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
