// Spread: the second pass of the planner decides which iterations the cores divide among themselves, and writes these
// loops. And what programs of rows and of windows do before them (init.cc). Policy error: they check all indices. The check
// keeps a tile of i32, the cell: its element 0 becomes 1 if an index is out of bounds. Then they make the initial values of the
// results: a copy of the operands, or a fill value. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "backends/pto/combine.h"
#include "backends/pto/walk.h"

namespace strew::inline v0::pto {

enum class Spread : uint8_t {
  single,  ///< one core does everything, in order
  tiles,   ///< core b takes the tiles b, b + cores, …
  items,   ///< core b takes the items b, b + cores, …: an item is a tile in one iteration of all loops around and within it
  outer,   ///< core b takes the iterations b, b + cores, … of the outermost position loop
  slab,    ///< as `outer`, and every iteration has destinations of its own (a slab), so their updates are applied in order
  ranges,  ///< each core owns a range of the table's rows, processes all updates, and applies those of its rows
};
CoreSplit split_of(Spread spread);

/// Programs of rows. A gather is spread by tiles or iterations, and so is a scatter whose updates have different
/// destinations or may be applied in any order. If the order matters, or the program initialises the result first,
/// cores own destinations: slabs if there are enough of them, otherwise ranges of rows.
Spread spread_rows(Frame& frame, const RowWalk& walk, const Combine& combine);
/// Programs of windows. A scatter is spread by slab, a gather by position, a single window by its tiles; one core does
/// everything else.
Spread spread_windows(Frame& frame, const WindowWalk& walk);

/// Does the program initialise the results before the updates?
bool initialises_results(const Frame& frame);
/// Does it do so in the launch of the updates?
bool initialises_at_once(const Frame& frame);

/// Writes the loops, outermost first, each from 0 to its extent. `at` holds their variables while `body` is written.
void write_nest(Frame& frame, const std::vector<Loop>& loops, const char* hint, std::vector<Number>& at,
                const std::function<void()>& body);

/// A loop over pieces: where it begins, and its step.
struct LoopTurns {
  Number from, step;
};
/// The turns of one core, of a loop whose turns `all` are: core b takes those with the numbers b, b + cores, … if `is_split`, else
/// all. `hints` are for the names of the core's first piece, of where it begins, and of its step.
LoopTurns turns_of(Frame& frame, bool is_split, const LoopTurns& all, const std::array<const char*, 3>& hints);

/// Writes what cores do: as `all` says, or with Spread::single, one core that initialises the results before it, if no launch before has.
Status write_spread(Frame& frame, Spread spread, const std::function<Status()>& all);

/// The position loops, as write_positions() writes them.
struct PositionLoops {
  const std::vector<Loop>& loops;
  Spread spread;
  const char *outer, *inner;  ///< hints for the names of the loops' variables
};
/// Writes the position loops. The cores share the outermost loop if `spread` is outer or slab; with slabs, an iteration
/// first initialises its destinations if the program has to.
Status write_positions(Frame& frame, const PositionLoops& positions, std::vector<Number>& at,
                       const std::function<Status()>& body);

/// Writes the check: `all` calls add_fault() for every index, before anything else is written. Then the cell is stored to the
/// argument `fault`, and frame.allowed is set: 1 if no index was out of bounds, else 0.
void write_check(Frame& frame, const std::function<void(const Named& cell)>& all);
/// Makes the cell the maximum of itself and `found`, an i32 that is 1 for an index out of bounds and 0 otherwise.
void add_fault(Frame& frame, const Named& cell, const Named& found);

/// Does the output have instructions that fill tiles of such words with the value?
bool can_fill(const Frame& frame, const Words& words, const Scalar& value);
/// The fill value; of a packed dtype, a byte of such elements.
Scalar whole_bytes(const Frame& frame, int tensor, const Scalar& value);
/// Fills the valid part of a tile, `rows` x `cols` words, with copies of one element.
void write_fill(Frame& frame, const Words& words, const Named& tile, const Number& rows, const Number& cols, const Scalar& value);

/// Writes zeros over packed results of a gather that are contiguous, up to the last whole byte: each of their elements is written into a byte that
/// holds others. What is beside the last elements in their byte is the caller's, and stays.
void clear_packed_results(Frame& frame);
/// Writes the initial values of elements [from, to) of every result and of its accumulator, if it has one, and a barrier. Writes nothing for
/// init in_place without accumulators and for gathers.
Status write_init(Frame& frame, const Number& from, const Number& to);
/// Writes the initial values of all elements of the result of a pair: where it or its operand has strides, or elements of fewer than 8 bits
/// are converted.
Status write_elements(Frame& frame, int pair);
/// Rounds elements [from, to) of accumulators to the results, after all updates. Writes nothing if there are none.
Status write_rounding(Frame& frame, const Number& from, const Number& to);

}  // namespace strew::inline v0::pto
