// Random ops over the whole descriptor space of semantics.md section 1.
#pragma once

#include <optional>

#include "tests/differential/blueprint.h"
#include "tests/support/rng.h"

namespace strew::test {

struct OpWishes {
  std::optional<bool> scatter;  ///< unset: random
  std::optional<Shape> shape;
  std::optional<OobPolicy> oob;
  std::optional<CombinerKind> combiner;  ///< a gather has assign (no graph) or expr
  std::optional<DType> dtype;            ///< of result 0
  int64_t elements = 0;                  ///< of the operand or the updates, about; 0: random, thousands at most
};

/// An op that verifies.
Blueprint random_blueprint(Rng& rng, const OpWishes& wishes);

/// May this combiner fold values of this dtype?
bool combines(CombinerKind combiner, DType dtype);

}  // namespace strew::test
