// Directed ops: random ops that are in a wanted cell of a coverage table.
#pragma once

#include "tests/differential/blueprint.h"
#include "tests/differential/engines.h"

namespace strew::test {

/// An op in legal_cells()[number]. If 80 tries fail, the last one is returned.
Blueprint op_for_cell(const EngineRoom& room, uint64_t seed, size_t number);
/// An op with a look-up in legal_lookups()[number]. If 80 tries fail, the last one is returned.
Blueprint op_for_lookup(uint64_t seed, size_t number);
/// An op that the strategy of legal_splits()[number] is legal for. If 200 tries fail, the last one is returned.
Blueprint op_for_split(const EngineRoom& room, uint64_t seed, size_t number);
/// An op whose calls may run `phase` on several threads, and the strategy that does so.
struct PhaseOp {
  Blueprint blueprint;
  Strategy strategy = Strategy::window;
};
PhaseOp op_for_phase(const EngineRoom& room, Rng& rng, PhaseKind phase);
/// An op that `strategy` is legal for; other strategies may be legal, too. If 200 tries fail, the last one is
/// returned.
Blueprint op_for_strategy(const EngineRoom& room, Rng& rng, Strategy strategy);

}  // namespace strew::test
