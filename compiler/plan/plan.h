// Plan: an op as loops, strides and index components. Code generators read only a Plan, a Schedule and a Target.
//
// The op's dimension numbers become two loop nests, positions and window. Every tensor has a stride per loop. Index
// components move the indexed tensors (results of a scatter, operand of a gather) by values read from `indices`:
//
//   for p in positions:                         row-major, in order
//     start[k] = policy(indices[p, k])          one per component
//     for w in window:
//       indexed address = sum p*stride + sum start[k]*component stride + sum w*stride
//
// Strides are in elements, because an i4 has no stride in bytes. A stride or extent is a Term: a constant times a
// product of symbols; a symbol is an extent or stride that is known only at the call. A Plan has no loops of extent 1,
// and adjacent loops that are contiguous in every tensor are merged. `strew explain` prints plans. Tested by
// tests/golden/plan_test.cc and tests/differential.
#pragma once

#include <cstdint>
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
};

/// A loop over positions, over a window, or over a result that init writes. The fields from `component` on are for window loops.
struct Loop {
  Term extent;
  std::vector<Term> strides;  ///< per tensor, in elements
  /// Policies skip_element, wrap and fill_element: the component whose start decides which iterations are in bounds.
  /// -1: all iterations run.
  int component = -1;
  /// The component whose start moves this loop, whatever the policy: iteration i is at operand coordinate start + i /
  /// scale. -1: none.
  int moved_by = -1;
  /// Iterations per step of the operand dim: the extents of the inner loops that were merged into this one.
  Term scale;
  bool touches_indexed = false;  ///< this loop is, or contains, a window dim of extent > 1 that a component moves
};

/// An index component: one entry of the index vector, and the operand dim that it indexes.
struct Component {
  Term index_offset;  ///< of the component in `indices`, in elements, relative to the position's offset
  int operand_dim = 0;
  Term dim;                   ///< extent of that operand dim
  Term window;                ///< extent of the window in that dim (1 if the dim is inserted or collapsed)
  std::vector<Term> strides;  ///< per tensor: nonzero only for the indexed tensors
};

/// How the windows of two positions can overlap. It decides which strategies are legal (schedules/strategies).
enum class PlanKind : uint8_t {
  slice_update,  ///< not at all (one position, or a part per position by batching dims): any split of the work is legal
  row,           ///< windows are the same or disjoint: the window may be split, positions only by destination
  element,       ///< as row, with a window of one element
  general,       ///< windows may overlap partly
};

/// A property that is known to hold, or not known to.
struct Fact {
  bool holds = false;
  std::string source;  ///< why it holds: "hint", "one position", "batching dims cover the positions", …
};

struct Plan {
  bool gather = false;
  PlanKind kind = PlanKind::general;
  std::vector<Symbol> symbols;
  std::vector<PlanTensor> tensors;
  int pairs = 1;  ///< N: pairs of operand and updates; 1 for a gather

  std::vector<Loop> positions;  ///< outermost first
  /// Bit d: dim d of the indices, which repeat along it (stride 0), is a loop of the window instead of one of the positions.
  uint32_t repeated_dims = 0;
  std::vector<Loop> window;  ///< outermost first; the last loop is the run, which has stride 1 if the layouts allow it
  std::vector<Loop> init;    ///< init copy and fill: over all elements of a result (and its operand)
  std::vector<Component> components;

  DType index_dtype = DType::i64;
  OobPolicy oob = OobPolicy::undefined;
  bool normalize_negative = false;
  Scalar gather_fill;

  Expr combine;            ///< combine_graph() of the op: never empty, with every convert written out
  bool pure_move = false;  ///< the graph only moves bits of the updates (gather: of the operand) to the results
  InitKind init_kind = InitKind::in_place;
  std::vector<Scalar> init_fill;
  Accumulate accumulate = Accumulate::native;
  Order order = Order::in_order;

  Fact unique;                ///< no two positions write one destination
  Fact sorted;                ///< the index vectors are sorted
  Fact in_bounds;             ///< every index is in bounds, so no check is needed
  bool checks_first = false;  ///< policy error: the check entry runs over all positions before anything is written

  // Numbers of the tensors: N results, N operands, the indices, N updates, the extras (a gather: one result, one
  // operand, no updates).
  int result(int i) const { return i; }
  int operand(int i) const { return pairs + i; }
  int indices() const { return 2 * pairs; }
  int update(int i) const { return 2 * pairs + 1 + i; }
  int extra(int i) const { return (gather ? 3 : 3 * pairs + 1) + i; }
  /// Tensors addressed through the index: the results of a scatter, the operand of a gather.
  bool is_indexed(int tensor) const { return gather ? tensor == operand(0) : tensor < pairs; }
};

/// The plan of a canonical op (compiler/rewrite).
Plan make_plan(const VerifiedOp& op);

STREW_API std::string print(const Plan& plan);
std::string_view name(PlanKind kind);

/// Number of index positions, and iterations of the first window loop (1 if there is none). `dyn`: one number per symbol.
int64_t position_count(const Plan& plan, const int64_t* dyn);
int64_t split_count(const Plan& plan, const int64_t* dyn);
/// Do the updates replace every element of the results? Then init is not needed. The answer relies on the plan's facts:
/// after a false hint unique_indices, or an out-of-bounds index under policy undefined, elements may keep what the
/// buffer held.
STREW_API bool overwrites_all(const Plan& plan, const int64_t* dyn);
/// Number of leading position loops that move all results (loops over batching dims). Positions that differ in one of
/// these loops write no common destination.
size_t slab_loops(const Plan& plan);
/// A number of elements that divides the offset of every window in the indexed tensor (result 0 of a scatter, operand
/// of a gather). Strategies identify a destination by the key offset / key_unit. 0: there is no such number, because
/// strides are dynamic or negative, or differ between results.
STREW_API int64_t key_unit(const Plan& plan);

}  // namespace strew::inline v0
