// The lowered kernel: what the entries of a kernel do, as data between the plan and the code generators. It says once, for all backends, which
// tensors and constants the expression of an element reads, what a policy does to each index component, which part of a window an entry does,
// what is filled, copied and merged, and in which order, groups and with which prefetches positions are walked. A backend writes or interprets
// what stands here; lower_kernel() makes it of a plan and a schedule, and the passes of walk.h decide how positions are walked. `strew explain
// --emit lowered` prints it. Tested by tests/golden/lowered_test.cc and tests/unit/backends/lower/lower_kernel_test.cc.
//
//   entry range:  for positions:  place the windows by every source; if the policy keeps them: for window: update; else fill
//   entry check:  for positions:  report the first index that does not fit
//   entry keys:   for positions:  write the destination's number
//   entry list:   for pairs of position and destination:  place the windows of look-ups; for window: update
//   entry init:   for elements of the results: init;   entry merge: for elements of the private tables: merge
//
// Loops, strides and terms are the plan's. A plan without sources gives a kernel whose windows lie where the positions are: a copy, a map or, where
// a result does not move along a loop, a reduction in the order of that loop.
#pragma once

#include <algorithm>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "backends/lower/place_rule.h"
#include "compiler/plan/plan.h"
#include "schedules/entries.h"
#include "schedules/schedule.h"
#include "strew/export.h"
#include "strew/expr.h"
#include "strew/target.h"

namespace strew::inline v0::lowered {

/// What an input node of a body's graph reads.
struct Operand {
  enum class Kind : uint8_t {
    tensor,    ///< its element
    table,     ///< an element of the private table of a result
    constant,  ///< `value`
    local,     ///< a row-local value of the body
  };
  Kind kind = Kind::tensor;
  int number = -1;  ///< tensor, table: of the plan's tensors; local: of Body::locals
  Scalar value;

  bool is(Kind one) const { return kind == one; }
  bool in_memory() const { return is(Kind::tensor) || is(Kind::table); }
};

/// What happens to the elements of a row. The row-local values are computed first, one after the other; then the graph maps the row's elements.
struct Body {
  const Expr* graph = nullptr;
  std::vector<int> results;  ///< tensors that receive the graph's results
  std::vector<Operand> currents, updates, extras;
  std::vector<const RowLocal*> locals;
  bool once = false;   ///< the graph is evaluated for the first element of a row only: results hold one value per row
  bool moves = false;  ///< the graph only copies bits: result i is update i or, without updates, current i
  bool bulk = false;   ///< rows are long

  const Operand& input(ExprOp op, int32_t index) const {
    const std::vector<Operand>& list = op == ExprOp::current ? currents : op == ExprOp::update ? updates : extras;
    return list[static_cast<size_t>(index)];
  }
};
/// Calls visit(node, operand) for the input nodes of the body's graphs.
template <class Visit>
void for_inputs(const Body& body, const Visit& visit) {
  const auto each = [&](const Expr& graph) {
    for (const ExprNode& node : graph.nodes)
      if (is_input(node.op)) visit(node, body.input(node.op, node.index));
  };
  for (const RowLocal* local : body.locals) each(local->value);
  each(*body.graph);
}

/// The bounds that the placement of a source gives to a window loop.
enum class Bounds : uint8_t {
  whole,  ///< all iterations
  cut,    ///< those that PlaceRule::cut of the loop's component keeps; where a look-up fills, the others read its fill value
  split,  ///< all, in two segments: PlaceRule::split of that component
};

/// How one source places windows.
struct Placing {
  std::vector<PlaceRule> rules;  ///< per component
  std::vector<Bounds> bounds;    ///< per window loop
  Dropped dropped = Dropped::nothing;

  /// Does the policy cut or split windows, so that their elements are not all treated alike?
  bool cuts_windows() const {
    return std::ranges::any_of(bounds, [](Bounds each) { return each != Bounds::whole; });
  }
};

/// Wide accumulation in one pass: the sums of a row are in registers from its first update to its last, so the positions of each destination must be
/// adjacent.
struct WideSum {
  DType dtype = DType::f32;      ///< of the sums; the current value that Kernel::update reads and its result have it
  Operand start;                 ///< what an element holds before its updates: the fill value, or the result's element
  const Expr* widen = nullptr;   ///< of `start`
  const Expr* narrow = nullptr;  ///< of the sum; what is stored
};

/// So many look-ups of an op may fill in a kernel, each of which doubles the code of a window. Of one with more, no bodies are made.
inline constexpr size_t kMostFills = 2;

/// Which part of each window an entry does. w0, w1, k0 and k1 are fields of strew_args.
enum class WindowCut : uint8_t {
  none,     ///< all of it
  columns,  ///< [w0, w1) of column_loop()
  owned,    ///< the iterations in [w0, w1) of the first loop whose coordinate in the operand dim that moves it is in [k0, k1)
};

/// How an entry walks positions. The passes of walk.h decide.
struct Walk {
  enum class Way : uint8_t {
    windows,       ///< window after window
    register_run,  ///< elements; the one that the position before wrote stays in a register
    row_run,       ///< rows; the one that the position before updated stays in registers, and is stored when another follows
    row_folds,     ///< rows of positions that all update one element; those of several rows stay in registers
    index_lanes,   ///< elements, or keys; offsets of kIndexLanes positions are computed in vectors
    equal_lanes,  ///< elements; where kEqualLanes positions have equal indices, so that their elements lie in a row, they are done as one
    packed_rows,  ///< short rows, several in a vector
  };
  enum class LookAhead : uint8_t {
    nothing,
    to_the_end,    ///< every position does, as far as the row of positions goes
    in_two_loops,  ///< all but the last positions of a row do, which have a loop of their own
  };
  /// Squares of elements of a window that are transposed in registers (tiles.h).
  struct Tile {
    size_t rows = 0;  ///< the window loop whose iterations are a tile's rows; its columns are iterations of the innermost
    int size = 0;     ///< rows, and columns; 0: there are no tiles
    bool rows_inside = false;  ///< one tile follows another along the rows' loop; else along the columns'
  };
  Way way = Way::windows;
  Tile tile;
  int panels = 1;    ///< row_run: so many equal parts of the rows, one after the other, each with all positions
  int together = 1;  ///< positions per iteration of the loop
  int unroll = 0;    ///< of the loop; 0: the compiler's choice
  int ahead = 0;     ///< positions from the one that is done to the one that is prefetched
  LookAhead look_ahead = LookAhead::nothing;
  bool fetches_indexed = true;  ///< what the primary source places is prefetched, too, and not only the rows of look-ups
  /// Elements that the policy drops go to a spare place, so that there is no branch; of a gather, they are read from a copy of the fill value.
  bool sinks = false;
};

struct Entry {
  EntryKind kind = EntryKind::range;
  WindowCut cut = WindowCut::none;
  bool nontemporal = false;  ///< stores bypass the caches
  Walk walk;                 ///< of range, stream, clip and keys
};

struct Kernel {
  const Plan& plan;
  const Schedule& schedule;
  std::vector<Placing> placings;  ///< per source of the plan
  Body update;                    ///< of an element of a window
  std::optional<Body> fill;       ///< the same of a gather's window, or part of it, that the policy fills
  std::vector<size_t> fills;      ///< sources of look-ups whose policies fill
  std::vector<Body> filled;       ///< `update` where some of these fill: number m, where bit i of m + 1 says that fills[i] does
  std::vector<Body> init;         ///< per result
  std::vector<Body> merge;        ///< per result; of its private table
  std::vector<Entry> entries;
  std::list<Expr> graphs;       ///< of init, merge and wide sums
  std::optional<WideSum> wide;  ///< Plan::accumulate is not native

  const Entry* find(EntryKind kind) const;
  /// Of Plan::primary().
  const Placing& primary() const {
    static const Placing& none = *new const Placing;
    return placings.empty() ? none : placings.front();
  }
};

/// The kernel, before the passes. It refers to the plan and the schedule.
STREW_API Kernel lower_kernel(const Plan& plan, const Schedule& schedule);

/// The text, with the walks.
std::string print(const Kernel& kernel);

}  // namespace strew::inline v0::lowered
