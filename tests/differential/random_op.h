// random_blueprint: random ops over the whole op space of docs/semantics.md section 1.
#pragma once

#include <optional>

#include "tests/differential/blueprint.h"
#include "tests/support/rng.h"

namespace strew::test {

struct OpWishes {
  std::optional<bool> scatter;  ///< unset: drawn
  std::optional<Shape> shape;
  std::optional<OobPolicy> oob;
  std::optional<CombinerKind> combiner;  ///< a gather has assign (no graph) or expr
  std::optional<DType> dtype;            ///< the dtype of result 0
  bool lookups = false;                  ///< some updates are looked up
  std::optional<OobPolicy> lookup_oob;   ///< of look-ups
  bool lookup_parts = false;             ///< windows of look-ups are often parts of the table's dims, which indices move
  bool rows = false;     ///< of a scatter with combiner expr: rows have values of their own, where no index moves a window
  int64_t elements = 0;  ///< about how many in the operand or the updates; 0: drawn, at most some thousands
};

/// An op that verifies.
Blueprint random_blueprint(Rng& rng, const OpWishes& wishes);

}  // namespace strew::test
