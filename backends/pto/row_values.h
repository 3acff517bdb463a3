// RowValues: the values of a row that an expression reads beside the row's elements (Plan::locals), folded by the scalar unit in the order
// that the op states. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "backends/lower/graph.h"
#include "backends/pto/frame.h"

namespace strew::inline v0::pto {

class RowValues {
 public:
  /// Fails with the reason if the scalar unit cannot compute a value.
  static Expected<RowValues> of(const Plan& plan);

  /// Calls its argument once, with the number of an element of the row as a variable of the program.
  using Elements = std::function<void(const std::function<void(const Number& element)>& body)>;
  /// Gives the tile with the part of an update or of an extra input for that element, and its `shift` if elements share a byte.
  struct Input {
    Named tile;
    std::optional<Number> shift;
  };
  using Read = std::function<Input(const lowered::Graph::Input& input)>;
  /// Writes the folds. Returns a tile per value, whose first element is the value.
  std::vector<Named> write(Frame& frame, const Elements& elements, const Read& read) const;

 private:
  struct Fold {
    lowered::Graph value, fold;  ///< of an element; of the lane as `current` and that as `update`
    Scalar initial;
    int lanes;
  };
  class Writer;

  size_t extras_ = 0;  ///< extra inputs of the op, which come before row values among those of a graph
  std::vector<Fold> folds_;
};

}  // namespace strew::inline v0::pto
