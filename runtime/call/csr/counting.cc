// csr() by counting: a stable counting sort in blocks of positions, whose phases are
//
//   count(block)   reads the block's indices, and counts those of each segment: the block's histogram
//   add(chunk)     sums the histograms of a chunk of segments
//   start(chunk)   prefix sums over (segment, block): the offsets, and where each block's positions of a segment begin
//   place(block)   reads the indices again, and writes the block's positions
//
// It runs any call: the number of blocks is chosen such that all histograms together are no longer than the indices.
#include <algorithm>
#include <string>

#include "runtime/call/csr/csr.h"
#include "runtime/call/scratch.h"

namespace strew::inline v0 {
namespace {

/// Word: uint32_t, or uint64_t for 2^32 positions or segments and more.
template <class Word>
class Counting {
 public:
  Counting(const CsrJob& job, const Team& team, const ExecutionLimits& limits) : job_(job), first_bad_(job.positions) {
    const int64_t least = std::max<int64_t>({job.segments, limits.radix_least_block, 1});
    const int64_t most = int64_t{limits.radix_blocks_per_thread} * team.threads();
    blocks_ = team.has_help() ? static_cast<int>(std::clamp<int64_t>(job.positions / least, 1, most)) : 1;
    chunks_ = blocks_ == 1 ? 1 : static_cast<int>(std::clamp<int64_t>(job.segments * blocks_ / limits.radix_sum, 1, most));
  }
  /// As Scratch::borrow() takes them; nothing if they are too many to be counted.
  Expected<int64_t> scratch_bytes() const {
    int64_t words = 0, bytes = 0;
    if (__builtin_mul_overflow(job_.segments, int64_t{blocks_}, &words) || __builtin_add_overflow(words, chunks_, &words) ||
        __builtin_mul_overflow(words, int64_t{sizeof(Word)}, &bytes))
      return resource_exhausted("offsets: dim 0 is " + std::to_string(job_.segments + 1) +
                                ": the scratch for as many segments exceeds the address space");
    return bytes;
  }

  int64_t run(Team& team, char* scratch) {
    histograms_ = reinterpret_cast<Word*>(scratch);
    totals_ = histograms_ + job_.segments * blocks_;
    with_index_type(job_, [&](auto index) { team.run(blocks_, [&](int block) { count<decltype(index)>(block); }); });
    if (first_bad_.get() < job_.positions) return first_bad_.get();
    if (chunks_ > 1) team.run(chunks_, [&](int chunk) { add(chunk); });
    with_result_types(job_, [&](auto offset, auto position) {
      team.run(chunks_, [&](int chunk) { start<decltype(offset)>(chunk); });
      job_.offsets.set(job_.segments, static_cast<decltype(offset)>(job_.positions));
      with_index_type(
          job_, [&](auto index) { team.run(blocks_, [&](int block) { place<decltype(index), decltype(position)>(block); }); });
    });
    return job_.positions;
  }

 private:
  Word* histogram(int block) const { return histograms_ + job_.segments * block; }
  /// Item `part` of `parts` nearly equal parts begins here.
  static int64_t border(int64_t total, int part, int parts) {
    return total / parts * part + std::min<int64_t>(total % parts, part);
  }

  template <class Index>
  void count(int block) {
    // Copies in registers: the compiler must assume that the stores change what is behind references.
    const Integers indices = job_.indices;
    const uint64_t bound = job_.bound();
    Word* const counts = histogram(block);
    std::fill_n(counts, job_.segments, Word{0});
    const int64_t end = border(job_.positions, block + 1, blocks_);
    for (int64_t p = border(job_.positions, block, blocks_); p < end; ++p) {
      const auto index = indices.get<Index>(p);
      if (index >= bound) return first_bad_.note(p);
      ++counts[index];
    }
  }

  void add(int chunk) const {
    const int64_t from = border(job_.segments, chunk, chunks_), to = border(job_.segments, chunk + 1, chunks_);
    Word total = 0;
    for (int block = 0; block < blocks_; ++block) {
      const Word* const counts = histogram(block);
      for (int64_t s = from; s < to; ++s) total = static_cast<Word>(total + counts[s]);
    }
    totals_[chunk] = total;
  }

  template <class Offset>
  void start(int chunk) const {
    Word at = 0;
    for (int before = 0; before < chunk; ++before) at = static_cast<Word>(at + totals_[before]);
    const int64_t to = border(job_.segments, chunk + 1, chunks_);
    for (int64_t s = border(job_.segments, chunk, chunks_); s < to; ++s) {
      job_.offsets.set(s, static_cast<Offset>(at));
      for (int block = 0; block < blocks_; ++block) {
        Word& count = histogram(block)[s];
        const Word begin = at;
        at = static_cast<Word>(at + count);
        count = begin;
      }
    }
  }

  template <class Index, class Position>
  void place(int block) const {
    const Integers indices = job_.indices, permutation = job_.permutation;
    Word* const next = histogram(block);
    const int64_t end = border(job_.positions, block + 1, blocks_);
    for (int64_t p = border(job_.positions, block, blocks_); p < end; ++p)
      permutation.set(static_cast<int64_t>(next[indices.get<Index>(p)]++), static_cast<Position>(p));
  }

  const CsrJob& job_;
  FirstBad first_bad_;
  int blocks_ = 1;
  int chunks_ = 1;              ///< of segments; few segments are one chunk
  Word* histograms_ = nullptr;  ///< per block: positions per segment, then where the next position of the segment goes
  Word* totals_ = nullptr;      ///< per chunk, where there are several
};

template <class Word>
Expected<int64_t> run_counting(const CsrJob& job, Team& team, const ExecutionLimits& limits) {
  Counting<Word> counting(job, team, limits);
  STREW_ASSIGN(const int64_t bytes, counting.scratch_bytes());
  Scratch memory;
  const Scratch::Loan scratch = memory.borrow(bytes);
  if (!scratch) return resource_exhausted("csr: no memory for " + std::to_string(bytes) + " bytes of scratch");
  return counting.run(team, scratch.data());
}

}  // namespace

Expected<int64_t> csr_by_counting(const CsrJob& job, Team& team, const ExecutionLimits& limits) {
  constexpr int64_t kWords = int64_t{1} << 32;
  return job.positions < kWords && job.segments < kWords ? run_counting<uint32_t>(job, team, limits)
                                                         : run_counting<uint64_t>(job, team, limits);
}

}  // namespace strew::inline v0
