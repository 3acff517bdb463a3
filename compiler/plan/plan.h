// Plan: an op as loops, strides and index components. Code generators read only a Plan, a Schedule and a Target.
//
// The op's dimension numbers become two loop nests, positions and window. Every tensor has a stride per loop. Index
// sources move the tensors that name them (results of a scatter, operand of a gather, tables of look-ups) by values read from index tensors:
//
//   for p in positions:                         row-major, in order
//     start[k] = policy(index[k, p])            one per component of the tensor's source
//     for w in window:
//       address = sum p*stride + sum start[k]*component stride + sum w*stride
// A plan may have no sources: its windows lie where the positions are, and it is a copy, a map, or a reduction along the loops that do not move a
// result. No op gives such a plan yet.
//
// Strides are in elements, because an i4 has no stride in bytes. A stride or extent is a Term: a constant times a
// product of symbols; a symbol is an extent or stride that is known only at the call. A Plan has no loops of extent 1,
// and adjacent loops that are contiguous in every tensor are merged. `strew explain` prints plans. Tested by
// tests/golden/plan_test.cc and tests/differential.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/term.h"
#include "strew/export.h"
#include "strew/status.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// A number that is known only at the call: the extent of dim `dim` of a bound tensor, or its stride in that dim.
/// Symbol number s is strew_args.dyn[s].
struct Symbol {
  Role role = Role::operand;
  int index = 0;  ///< number among the tensors of that role
  int dim = 0;
  bool is_stride = false;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// A tensor of the op. Tensor number t is strew_args.data[t].
struct PlanTensor {
  Role role = Role::result;
  int index = 0;
  DType dtype = DType::f32;
  ExtraKind extra = ExtraKind::scalar;  ///< role extra
  bool bound = true;                    ///< false: null in strew_args.data (operand of a scatter with init in_place or fill)
  int source = -1;                      ///< number of the index source that places its windows; -1: its address is affine
};

/// How the components of one index source move a window loop.
struct LoopMove {
  /// The component whose start moves the loop, whatever the policy: iteration i is at coordinate start + i / scale of the
  /// dim that the component indexes. -1: none.
  int component = -1;
  bool is_bounded = false;  ///< policies skip_element, wrap and fill_element: that start decides which iterations are in bounds
  bool touches = false;     ///< the loop is, or contains, a window dim of extent > 1 that a component moves
  /// Iterations per step of that dim: the extents of the inner loops that were merged into this one.
  Term scale;
};

/// A loop over positions, over a window, or over a result that init writes.
struct Loop {
  Term extent;
  std::vector<Term> strides;    ///< per tensor, in elements
  std::vector<LoopMove> moves;  ///< per index source; of a loop over positions or of init they say that nothing moves it

  /// By Plan::primary().
  const LoopMove& move() const {
    static const LoopMove& none = *new const LoopMove{.scale = {1, {}}};
    return moves.empty() ? none : moves.front();
  }
  LoopMove& move() { return moves.front(); }
  /// Does some source's policy decide which iterations are done, or which of them read what?
  bool is_bounded() const { return std::ranges::any_of(moves, &LoopMove::is_bounded); }
};

/// An index component: one entry of a source's index vectors, and the dim that it indexes of the tensors that the source places.
struct Component {
  int tensor = 0;  ///< that holds it; its strides per position are those of the loops
  DType dtype = DType::i64;
  bool normalize_negative = false;  ///< a negative index v stands for v + dim; never of an unsigned dtype
  Term index_offset;                ///< in the tensor, in elements, relative to the position's offset
  int operand_dim = 0;
  Term dim;                   ///< extent of that operand dim
  Term window;                ///< extent of the window in that dim (1 if the dim is inserted or collapsed)
  std::vector<Term> strides;  ///< per tensor: nonzero only for the tensors that the source places
};

/// A property that is known to hold, or not known to.
struct Fact {
  bool holds = false;
  std::string source;  ///< why it holds: "hint", "one position", "batching dims cover the positions", …
};

/// What the index tensors of a source hold.
enum class SourceKind : uint8_t {
  vectors,  ///< a start coordinate per component
};

/// An index source: index tensors that say, per position, where the windows of the tensors that name the source lie.
struct IndexSource {
  SourceKind kind = SourceKind::vectors;
  std::vector<Component> components;
  OobPolicy oob = OobPolicy::undefined;
  Scalar fill;  ///< policies fill_window and fill_element
  /// Bit d: dim d of the index tensor, which repeats along it (stride 0), is a loop of the window instead of one of the positions.
  uint32_t repeated_dims = 0;
  Fact sorted;                ///< the index vectors are sorted
  Fact in_bounds;             ///< every index is in bounds, so no check is needed
  bool checks_first = false;  ///< policy error: the check entry runs over all positions before anything is written
};

/// How the windows of two positions can overlap. It decides which strategies are legal (schedules/strategies).
enum class PlanKind : uint8_t {
  slice_update,  ///< not at all (one position, or a part per position by batching dims): any split of the work is legal
  row,           ///< windows are the same or disjoint: the window may be split, positions only by destination
  element,       ///< as row, with a window of one element
  general,       ///< windows may overlap partly
};

/// How destinations are numbered, for strategies that divide them. A destination's key, which is a row number where its rows lie one after
/// the other, is the sum of what its position and its start coordinates add; its window lies key * units[i] elements behind the first
/// element of result i. Two windows are one destination exactly where their keys are equal.
struct KeyForm {
  std::vector<Term> positions;   ///< per position loop: what an iteration adds; not negative
  std::vector<Term> components;  ///< per component of the results' source: what a step of its start adds; not negative
  std::vector<Term> units;       ///< per result; may be negative
};

/// A row-local value: a fold over the elements of a row (a window of one loop that nothing cuts), which the expression then reads. Of `lanes` lanes,
/// lane l folds `value` of the elements l, l + lanes, l + 2 * lanes, … in order, beginning with `initial`; then neighbours are folded in pairs, as
/// ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). So the bits are the same however the row is computed.
struct RowLocal {
  Expr value;                 ///< one result; its inputs are those of Plan::combine. It may read the row-local values before it
  ExprOp fold = ExprOp::add;  ///< of two values of the result's dtype
  Scalar initial;
  int lanes = 1;  ///< a power of two
};

struct Plan {
  bool gather = false;
  PlanKind kind = PlanKind::general;
  std::vector<Symbol> symbols;
  std::vector<PlanTensor> tensors;
  int pairs = 1;  ///< N: pairs of operand and updates; 1 for a gather

  std::vector<Loop> positions;  ///< outermost first
  std::vector<Loop> window;     ///< outermost first; the last one is the lane loop, which has stride 1 if the layouts allow it
  std::vector<Loop>
      init;  ///< init copy and fill: over all elements of a result (and its operand); per_row: over its rows, then their open dims
  std::vector<IndexSource> sources;

  Expr combine;  ///< combine_graph() of the op: never empty, with every convert written out
  /// Row-local values are extras of the graph: number k is extra `number of extra tensors + k`.
  std::vector<RowLocal> locals;
  bool per_row = false;    ///< results hold one value per row, so the graph is evaluated once per position that has a window
  bool pure_move = false;  ///< the graph only moves bits of the updates (gather: of the operand) to the results
  InitKind init_kind = InitKind::in_place;
  std::vector<Scalar> init_fill;
  Accumulate accumulate = Accumulate::native;
  Order order = Order::in_order;

  Fact unique;  ///< no two positions write one destination
  /// Of a scatter. Nothing: no key stands for a destination in all results.
  std::optional<KeyForm> keys;

  // Numbers of the tensors: N results, N operands, the first index tensor, N updates, the extras, the other index tensors (a gather: one result,
  // one operand, no updates).
  int result(int i) const { return i; }
  int operand(int i) const { return pairs + i; }
  int update(int i) const { return 2 * pairs + 1 + i; }
  int extra(int i) const { return (gather ? 3 : 3 * pairs + 1) + i; }
  /// Index tensor number i, first_indices() of op.h.
  int indices(int i) const {
    if (i == 0) return 2 * pairs;
    return extra(static_cast<int>(std::ranges::count(tensors, Role::extra, &PlanTensor::role))) + i - 1;
  }
  /// The first tensor that source 0 places: a scatter's result 0, or a gather's operand.
  int indexed() const { return gather ? operand(0) : result(0); }
  bool is_indexed(int tensor) const { return tensors[static_cast<size_t>(tensor)].source >= 0; }
  /// The source of indexed(): where a scatter writes, or a gather reads. The others are those of look-ups, in the op's order. Of a plan without
  /// sources it has no components.
  const IndexSource& primary() const {
    static const IndexSource& none = *new const IndexSource;
    return sources.empty() ? none : sources.front();
  }
  /// Policy error of some source: the check entry runs before anything is written.
  bool checks_first() const { return std::ranges::any_of(sources, &IndexSource::checks_first); }
};

/// The plan of a canonical op (compiler/rewrite).
Plan make_plan(const VerifiedOp& op);

STREW_API std::string print(const Plan& plan);
/// What prints call a tensor: "updates0", "indices", "indices1".
std::string print_name(Role role, int index);
std::string_view name(PlanKind kind);

/// What moves the windows of a tensor that source 0 places: its strides in the position loops, then in the source's components.
std::vector<Term> moves_of(const Plan& plan, int tensor);
/// Number of index positions, and iterations of the first window loop (1 if there is none). `dyn`: one number per symbol.
int64_t position_count(const Plan& plan, const int64_t* dyn);
int64_t split_count(const Plan& plan, const int64_t* dyn);
/// The loop whose iterations strategy window shares out: the first of windows; of a scatter of single elements the innermost position loop, if no two of its iterations
/// write one destination, because it is over a batching dim. Null: there is none.
const Loop* column_loop(const Plan& plan);
/// How many nodes the graphs of the plan have.
inline size_t node_count(const Plan& plan) {
  size_t count = plan.combine.nodes.size();
  for (const RowLocal& local : plan.locals) count += local.value.nodes.size();
  return count;
}
/// Have rows values of their own: row-local ones, or results? Then a row is computed as a whole, and nothing cuts it.
inline bool has_row_values(const Plan& plan) { return plan.per_row || !plan.locals.empty(); }
/// Does every look-up give a value for every element of every window, whatever the indices are? Then no position is dropped for a look-up.
bool lookups_give_all(const Plan& plan);
/// Do the updates replace every element of the results? Then init is not needed. The answer relies on the plan's facts:
/// after a false hint unique_indices, or an out-of-bounds index under policy undefined, elements may keep what the
/// buffer held.
STREW_API bool overwrites_all(const Plan& plan, const int64_t* dyn);
/// Number of leading position loops that move all results (loops over batching dims). Positions that differ in one of
/// these loops write no common destination.
size_t slab_loops(const Plan& plan);

}  // namespace strew::inline v0
