// EntryCall: one call of an entry: its program, its arguments, the numbers of this call, and the memory that the entry works in. Entries allocate
// nothing, so the memory is a piece of the stack, whose size the program knows (InterpretedKernel::memory). Tested by tests/differential.
#pragma once

#include <cstdint>
#include <limits>

#include "backends/portable/program.h"
#include "strew/abi.h"

namespace strew::inline v0::portable {

/// Lays out the memory of a call of the program.
CallMemory lay_out(const InterpretedKernel& program);
/// Positions of a block, so that the pieces of memory that it takes fit the first-level cache.
int64_t block_positions(const InterpretedKernel& program);

inline constexpr int64_t kSeen = 1024;  ///< elements of CallMemory::seen

class EntryCall {
 public:
  /// `memory`: program.memory.bytes bytes. `may_stream`: moves may bypass the caches.
  EntryCall(const strew_args& arguments, char* memory, bool may_stream);

  const InterpretedKernel& p;
  const strew_args& args;
  const Loops& loops;
  const bool streams;

  template <class T>
  T* operator()(Piece<T> piece) const {
    return reinterpret_cast<T*>(memory_ + piece.at);
  }
  int64_t* bases() const { return (*this)(p.memory.bases); }
  int64_t* row() const { return (*this)(p.memory.row); }
  int64_t* coordinates() const { return (*this)(p.memory.coordinates); }
  int64_t* places(size_t slot = 0) const { return (*this)(p.memory.places) + static_cast<int64_t>(slot) * p.positions_per_block; }
  int64_t* values(size_t component = 0) const {
    return (*this)(p.memory.values) + static_cast<int64_t>(component) * p.positions_per_block;
  }
  int64_t* lo() const { return (*this)(p.memory.lo); }
  int64_t* hi() const { return (*this)(p.memory.hi); }
  uint8_t* inside() const { return (*this)(p.memory.inside); }
  uint8_t* whole() const { return (*this)(p.memory.whole); }
  uint64_t* filling() const { return (*this)(p.memory.filling); }
  int64_t* walk() const { return (*this)(p.memory.walk); }

  int64_t at(Number n) const { return numbers_[n]; }
  const int64_t* from(Number n) const { return numbers_ + n; }
  /// The strides of the nest's loop `level`, one per slot.
  const int64_t* strides(const Nest& nest, size_t level, size_t slots) const { return numbers_ + nest.strides + level * slots; }
  int64_t extent(const Nest& nest, size_t level) const { return numbers_[nest.extents + level]; }
  /// The place of element [0,...,0] of a tensor.
  int64_t base(const Slot& slot) const {
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(args.data[slot.tensor])) << slot.log2_per_byte;
  }

 private:
  char* memory_;
  const int64_t* numbers_;
};

/// The rows of a nest over its iterations [begin, end): each is a range of the innermost loop.
class NestRows {
 public:
  /// `slots`: strides per loop. The call's bases are those of the slots.
  NestRows(const EntryCall& call, const Nest& nest, size_t slots, int64_t begin, int64_t end);

  /// From now on, only iterations [from, to) of each row are done.
  void cut(int64_t from, int64_t to) {
    from_ = from;
    to_ = to;
  }
  /// Moves to the next row, of which iterations [lo, hi) are done, which may be none. False: there is no row.
  bool next();
  int64_t lo = 0, hi = 0;
  /// Per slot: the place of iteration 0 of the row.
  const int64_t* row() const { return row_; }
  /// Per slot: the stride of the innermost loop, or null if the nest has no loop.
  const int64_t* inner_strides() const { return inner_strides_; }

 private:
  void advance();

  const EntryCall& call_;
  const Nest& nest_;
  size_t slots_;
  int64_t* row_;  // of a nest of one loop at most the bases themselves, which are its only row
  int64_t at_, end_, inner_ = 1;
  int64_t from_ = 0, to_ = std::numeric_limits<int64_t>::max();
  bool is_first_ = true;
  const int64_t* inner_strides_ = nullptr;
};

}  // namespace strew::inline v0::portable
