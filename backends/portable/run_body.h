// BodyRunner: does what a Body says to batches of rows. Values of expressions are computed in blocks of Body::lanes elements, which hold many short
// rows, or a part of a long one. Rows are done in order. If the body reads results, a block ends before a row whose destination another of its
// rows has; the destinations of a block are compared by a small hash table. Rows with row-local values are done one by one.
// Tested by tests/differential and tests/unit/backends/portable/portable_test.cc.
#pragma once

#include <array>

#include "backends/portable/entry_call.h"

namespace strew::inline v0::portable {

class BodyRunner {
 public:
  /// `steps`: per slot, the distance in places between the elements of a row; null: rows have one element. `columns`: memory for the columns.
  /// `ahead`: Rows::ahead for the side that an index moves.
  BodyRunner(const EntryCall& call, const Body& body, const int64_t* steps, char* columns, int64_t ahead = 0)
      : f_(call), body_(body), steps_(steps), columns_(columns), ahead_(ahead) {}

  /// From now on, rows have this distance between their elements.
  void set_steps(const int64_t* steps) { steps_ = steps; }

  /// Applies the rows, of `length` elements each. places: per slot, where the rows begin; the slots' lists are `pitch` apart.
  void run(const int64_t* places, int64_t pitch, int64_t rows, int64_t length);

 private:
  struct Part {  // of a batch: rows from `row` on, and in them elements from `column` on
    int64_t row, rows, column, elements;
  };
  Side side(const int64_t* places, int64_t pitch, int32_t slot, const Part& part) const;
  void evaluate(const Body& body, const int64_t* places, int64_t pitch, const Part& part);
  void store(const int64_t* places, int64_t pitch, const Part& part) const;
  void fill(const Body& body, int32_t out, uint8_t bytes, const void* value, int64_t from, int64_t to) const;
  void fill_constants(const Body& body, int64_t lanes);
  void fold(size_t local, const int64_t* places, int64_t pitch, int64_t row, int64_t length);
  bool reduces() const;
  void run_with_locals(const int64_t* places, int64_t pitch, int64_t rows, int64_t length);
  int64_t distinct_rows(const int64_t* places, int64_t most);
  char* column(const Body& body, int32_t place) const { return columns_ + place * body.lanes; }

  const EntryCall& f_;
  const Body& body_;
  const int64_t* steps_;
  char* columns_;
  int64_t ahead_;
  int64_t filled_ = 0;       // lanes that hold the body's constants
  uint32_t generation_ = 0;  // of the call's `seen`, of which the fill body has one of its own
  // The bits of the row-local values of the row that is done; not set where there are none, because a call of one position takes 50 ns.
  std::array<decltype(Scalar::bits), kMostLocals> locals_;
};

}  // namespace strew::inline v0::portable
