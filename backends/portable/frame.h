// Frame: one call of an entry: its program, its arguments, the numbers of this call, and the memory that the entry works in. Entries allocate
// nothing, so the memory is a piece of the stack, whose size the program knows (Program::memory). Tested by tests/differential.
#pragma once

#include <cstdint>

#include "backends/portable/program.h"
#include "strew/abi.h"

namespace strew::inline v0::portable {

/// Lays out the frames of the program: FrameMemory with offsets in place of addresses.
FrameMemory lay_out(const Program& program);
/// Positions of a block, so that the pieces of memory that it takes fit the first-level cache.
int64_t block_positions(const Program& program);

inline constexpr int64_t kSeen = 1024;  ///< elements of FrameMemory::seen

class Frame {
 public:
  /// `memory`: program.memory.bytes bytes.
  Frame(const strew_args& arguments, char* memory);

  const Program& p;
  const strew_args& args;
  const Loops& loops;
  FrameMemory m;

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
  const int64_t* numbers_;
};

/// The rows of a nest over its iterations [begin, end): each is a range of the innermost loop.
class NestRows {
 public:
  /// `slots`: strides per loop. `bases`: the place of each slot's element 0; `row` and `coordinates`: memory of the frame.
  NestRows(const Frame& frame, const Nest& nest, size_t slots, int64_t begin, int64_t end);

  /// Moves to the next row, of which iterations [lo, hi) are done. False: there is none.
  bool next();
  int64_t lo = 0, hi = 0;
  /// Per slot: the place of iteration 0 of the row. frame.m.row.
  const int64_t* row() const { return frame_.m.row; }
  /// Per slot: the stride of the innermost loop, or null if the nest has no loop.
  const int64_t* inner_strides() const { return inner_strides_; }

 private:
  void advance();

  const Frame& frame_;
  const Nest& nest_;
  size_t slots_;
  int64_t at_, end_, inner_ = 1;
  bool is_first_ = true;
  const int64_t* inner_strides_ = nullptr;
};

}  // namespace strew::inline v0::portable
