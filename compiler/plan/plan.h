// Plan: what an op does to addresses. The only thing code generators read (with a Schedule and a Target).
//
// An op's dimension numbers become two loop nests, positions x window, in which every tensor has a stride per loop, and a list of
// index components that move the indexed tensor (result of a scatter, operand of a gather) by a value read from `indices`:
//
//   for p in positions:                         row-major, in order
//     start[k] = policy(indices[p, k])          one per component
//     for w in window:
//       indexed address = sum p*stride + sum start[k]*component stride + sum w*stride
//
// Strides are in elements (bytes cannot hold i4), each a constant times a product of symbols; a symbol is a dim or stride known
// only at the call. Loops that walk memory as one are already merged and loops of extent 1 are gone. Golden tests (tests/golden)
// pin print(); `strew explain` shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"
#include "strew/verified.h"

namespace strew::inline v0 {

/// A number known only at the call: dim `dim` of a bound tensor, or its stride in that dim. Slot s of strew_args.dyn.
struct Symbol {
  Role role = Role::operand;
  int index = 0;  ///< which of the N
  int dim = 0;
  bool is_stride = false;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// factor * product of symbols. The canonical zero has no symbols.
struct Term {
  int64_t factor = 0;
  std::vector<int> symbols;  ///< sorted, with repeats

  bool is_static() const { return symbols.empty(); }
  bool is(int64_t value) const { return symbols.empty() && factor == value; }
  friend bool operator==(const Term&, const Term&) = default;
};
STREW_API Term constant(int64_t value);
STREW_API Term operator*(const Term& a, const Term& b);
/// Its value; `dyn` holds one number per symbol. Static terms may pass null.
int64_t evaluate(const Term& term, const int64_t* dyn);

/// One tensor of strew_args.data, in that order.
struct PlanTensor {
  Role role = Role::result;
  int index = 0;
  DType dtype = DType::f32;
  ExtraKind extra = ExtraKind::scalar;  ///< role extra
  bool bound = true;                    ///< false: the slot is null (operand of an in_place or fill scatter)
};

struct Loop {
  Term extent;
  std::vector<Term> strides;  ///< per tensor, elements
  /// Window loops under skip_element, wrap and fill_element: the component whose start bounds this loop. Its iterations are
  /// `scale` per step of the operand dim (inner contiguous loops merged into it). -1: all iterations always run.
  int component = -1;
  /// The component whose start moves this loop, whatever the policy: iteration i stands at operand coordinate start + i / scale. -1: none.
  int moved_by = -1;
  Term scale;
  bool touches_indexed = false;  ///< window loops: an indexed operand dim with extent > 1 is (part of) this loop
};

/// One entry of the index vector.
struct Component {
  Term index_offset;  ///< elements from the position's place in `indices`
  int operand_dim = 0;
  Term dim;                   ///< extent of that operand dim
  Term window;                ///< extent of the window in it (1 where inserted, collapsed)
  std::vector<Term> strides;  ///< per tensor: nonzero only for the indexed tensors
};

/// What the index positions may do to each other; decides which strategies are legal (runtime/call/executor).
enum class PlanKind : uint8_t {
  slice_update,  ///< positions own disjoint slabs (batching dims) or there is one: any split is legal
  row,           ///< windows coincide or are disjoint: window splits are legal, position splits only by destination
  element,       ///< row with a window of one element
  general,       ///< windows may overlap partly
};

/// Something known, and why it is.
struct Fact {
  bool holds = false;
  std::string source;  ///< "hint", "one position", "batching dims cover the positions", …
};

struct Plan {
  bool gather = false;
  PlanKind kind = PlanKind::general;
  std::vector<Symbol> symbols;
  std::vector<PlanTensor> tensors;
  int pairs = 1;  ///< N

  std::vector<Loop> positions;  ///< outermost first
  std::vector<Loop> window;     ///< outermost first; the trailing loop is the run, unit stride where memory allows
  std::vector<Loop> init;       ///< result (and operand) walked once: init copy and fill
  std::vector<Component> components;

  DType index_dtype = DType::i64;
  OobPolicy oob = OobPolicy::undefined;
  bool normalize_negative = false;
  Scalar gather_fill;

  /// The combiner as a graph, always: named kinds are written out with their converts. Results are in the results' dtypes.
  Expr combine;
  bool pure_move = false;  ///< the graph only moves update (or gathered element) bits to the result: equal dtypes, no arithmetic
  InitKind init_kind = InitKind::in_place;
  std::vector<Scalar> init_fill;
  Accumulate accumulate = Accumulate::native;
  Order order = Order::in_order;

  Fact unique;  ///< no two positions touch one destination element
  Fact sorted;
  Fact in_bounds;             ///< no check is needed
  bool checks_first = false;  ///< policy error: the check entry runs over all positions before anything is written

  // Tensor numbers in strew_args.data: results N, operands N, indices, updates N, extras E (a gather has one result, one
  // operand).
  int result(int i) const { return i; }
  int operand(int i) const { return pairs + i; }
  int indices() const { return 2 * pairs; }
  int update(int i) const { return 2 * pairs + 1 + i; }
  int extra(int i) const { return (gather ? 3 : 3 * pairs + 1) + i; }
  /// Tensors addressed through the index: the results of a scatter, the operand of a gather.
  bool is_indexed(int tensor) const { return gather ? tensor == operand(0) : tensor < pairs; }
};

/// The plan of a canonicalised op (compiler/rewrite). Fails only on what no plan can hold, with the reason.
Expected<Plan> make_plan(const VerifiedOp& op);

STREW_API std::string print(const Plan& plan);
std::string_view name(PlanKind kind);

/// Number of index positions; iterations of the first window loop (1 without window loops).
STREW_API int64_t position_count(const Plan& plan, const int64_t* dyn);
STREW_API int64_t split_count(const Plan& plan, const int64_t* dyn);
/// Do the updates write every element of the results, each with bits of its own? Then nothing need be there before them. Holds as far as
/// the facts do: a false hint of uniqueness, or an index that was promised to be inside and is not, leaves elements as they were.
STREW_API bool overwrites_all(const Plan& plan, const int64_t* dyn);
/// Leading position loops that walk the results (batching dims): positions of different iterations never meet at a destination.
size_t slab_loops(const Plan& plan);
/// Places of the windows in the indexed tensor (result 0 of a scatter, operand of a gather) as numbers: element offsets are multiples of
/// this. 0: its strides are dynamic, negative or, between results, differ, so there is no such number.
STREW_API int64_t key_unit(const Plan& plan);

}  // namespace strew::inline v0
