// Directed ops: random ops that lie in a wanted cell of a coverage table.
#pragma once

#include "tests/differential/blueprint.h"
#include "tests/differential/engines.h"

namespace strew::test {

/// An op in legal_cells()[number]; after 80 tries, one near it.
Blueprint op_for_cell(const EngineRoom& room, uint64_t seed, size_t number);
/// An op that may be run by the strategy of legal_splits()[number]; after 200 tries, one that may not.
Blueprint op_for_split(const EngineRoom& room, uint64_t seed, size_t number);
/// An op whose calls may have `phase` on several threads, and the strategy for it.
struct PhaseOp {
  Blueprint blueprint;
  Strategy strategy = Strategy::window;
};
PhaseOp op_for_phase(const EngineRoom& room, Rng& rng, PhaseKind phase);
/// An op that may be run by `strategy`, which is as likely to be any other; after 200 tries, one that may not.
Blueprint op_for_strategy(const EngineRoom& room, Rng& rng, Strategy strategy);

}  // namespace strew::test
