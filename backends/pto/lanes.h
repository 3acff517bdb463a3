// Lanes: the iterations of a nest of loops side by side in one tile, for PTO-AS, which has no loops (placed.cc). Lane l is iteration l / words of
// the nest, in row-major order, and word l % words of its element. The value of a loop's variable in each lane is a tile of numbers, made with
// tile instructions only: quotients by powers of two are shifts, others a product and a shift. Tested by tests/golden/pto_program_test.cc
// and tests/differential/npu.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "backends/pto/frame.h"
#include "backends/pto/index_math.h"

namespace strew::inline v0::pto {

class Lanes {
 public:
  static constexpr int64_t kMost = 2048;

  /// All extents are known. `words`: of an element, a power of two.
  Lanes(Frame& frame, std::vector<Loop> loops, int64_t words);

  int64_t count() const { return count_; }  ///< of lanes
  IndexMath& math() { return math_; }
  const std::vector<Loop>& loops() const { return loops_; }
  Named line(const std::string& hint, DType dtype = DType::i32) { return math_.line(hint, dtype); }

  /// A step per iteration of each loop.
  using Steps = std::function<Term(const Loop& loop)>;
  static Steps strides_in(int tensor);
  /// Do the steps visit adjacent elements, one after the other?
  bool is_line(const Steps& steps) const;
  /// Are all steps 0?
  bool stays(const Steps& steps) const;
  /// A new tile with the sum of steps in each lane, as elements, or as words, times `words` and plus the lane's word. Its quotients are computed
  /// where they are first needed, or by prepare() before that.
  Named sums(const char* hint, const Steps& steps, bool as_words);
  /// Computes what sums() of these steps needs, so that later calls can be in loops.
  void prepare(const Steps& steps, bool as_words);

 private:
  const Named& numbers();          ///< 0, 1, 2, …
  const Named& rest(size_t loop);  ///< of each lane: its iteration of loops 0 to `loop` - 1
  const Named& digit(size_t loop);
  const Named& word();
  Named quotient_of(const Named& tile, int64_t divisor);
  Named remainder_of(const Named& tile, const Named& quotient, int64_t divisor, const char* hint);

  Frame& frame_;
  ProgramBuilder& b_;
  std::vector<Loop> loops_;
  int64_t words_, count_;
  IndexMath math_;
  Named numbers_, word_;
  std::map<size_t, Named> rests_, digits_;
};

}  // namespace strew::inline v0::pto
