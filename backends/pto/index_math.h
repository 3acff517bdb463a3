// IndexMath: arithmetic on tiles of indices, which every form of index code uses (indices.h, placed.cc). It uses the instructions that both chips
// have for tiles of i32: add, subtract, multiply, maximum and minimum, with a tile or a scalar. There are no branches. So the sign of x is
// min(max(x, -1), 0). Whether x lies in [0, n] is computed in two steps: x is clamped to [-1, n + 1], so that nothing overflows later; the
// distance of that from x clamped to [0, n] is 0 for x inside and 1 or -1 outside. Tested by tests/golden/pto_program_test.cc and
// tests/differential/npu.
#pragma once

#include <limits>
#include <string>

#include "backends/pto/builder.h"

namespace strew::inline v0::pto {

class IndexMath {
 public:
  static constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();

  /// Tiles have room for `capacity` numbers, of which `count` are valid.
  IndexMath(ProgramBuilder& builder, int64_t capacity, Number count = {})
      : b_(builder), capacity_(capacity), count_(std::move(count)) {}
  /// The same of the tiles that are made from now on.
  void set_size(int64_t capacity, const Number& count) {
    capacity_ = capacity;
    count_ = count;
  }
  const Number& count() const { return count_; }

  Named line(const std::string& hint, DType dtype = DType::i32);  ///< allocates a tile
  /// Applies `opcode` with a scalar to the tile, in place.
  void scale(const Named& tile, Opcode opcode, const Number& by);
  /// A tile with -1 for every negative element, else 0.
  Named sign(const Named& tile, const char* hint);
  /// Clamps `tile` to [0, limit], and makes the elements of `bad` 1 that were outside. If `bad` has no name yet, it becomes a tile with 1 there
  /// and 0 elsewhere.
  void bound(const Named& tile, const Number& limit, Named& bad);
  /// Makes the elements of `bad` 1 where `wrong` has 1.
  void add_bad(const Named& wrong, Named& bad);
  /// u32: replaces values of 2^31 or more, which are negative as i32, by the largest i32.
  void saturate(const Named& tile);
  /// The low and high words of 64-bit numbers, brought to i32: a value that does not fit becomes an end of the range of i32. The result is the
  /// tile `low`; the elements of `high` are lost.
  Named narrow(const Named& low, const Named& high, bool is_signed);
  /// Adds `dim` to negative numbers.
  void from_end(const Named& tile, const Number& dim);
  /// Adds a multiple of `dim` to negative numbers that makes them positive, so that the remainder by `dim` as u32 is the one wanted.
  void lift(const Named& tile, const Number& dim);
  /// Replaces the rows of bad positions by ones outside [0, total); the elements of `bad` are lost. Does nothing if `bad` has no name.
  void send_away(const Named& rows, const Named& bad, const Number& total);

 private:
  ProgramBuilder& b_;
  int64_t capacity_;
  Number count_;
};

}  // namespace strew::inline v0::pto
