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
/// Is the op a wide accumulation of which every kernel that is made for its shapes sums rows in registers, on every level of the CPU and with every
/// schedule? Then calls are right also where the op says that indices are sorted and they are not.
bool sums_in_registers(const Op& op);
PhaseOp op_for_phase(const EngineRoom& room, Rng& rng, PhaseKind phase);
/// An op that `strategy` is legal for; other strategies may be legal, too. If 200 tries fail, the last one is
/// returned.
Blueprint op_for_strategy(const EngineRoom& room, Rng& rng, Strategy strategy);

}  // namespace strew::test
