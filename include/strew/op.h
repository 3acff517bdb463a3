// Op: the canonical form of an indexed write (Scatter) or an indexed read (Gather).
//
// Every front end translates into an Op. docs/semantics.md defines the meaning of each field, bit for bit; field names
// are StableHLO's. An Op is a plain value: copy it, compare it, print and hash it (text.h), verify it (verify.h).
// builder.h writes ops. Tested by tests/unit/compiler/op/op_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/expr.h"
#include "strew/scalar.h"

namespace strew::inline v0 {

/// An extent, stride or slice size that is known only when the kernel is called; canonical text writes `?`.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

/// Element type, shape and layout of a tensor.
struct TensorType {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;     ///< extents in elements, >= 0 or kDynamic; outermost first
  std::vector<int64_t> strides;  ///< empty: contiguous, row-major. Else one per dim, in elements; may be 0, negative or kDynamic

  int rank() const { return static_cast<int>(dims.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// The shape of an extra input, a tensor that the expression graph reads beside updates and current values.
enum class ExtraKind : uint8_t {
  per_element,   ///< shape of updates (scatter) or of the result (gather): one element for each of theirs
  per_position,  ///< shape of indices without index_vector_dim: one element per index position, such as a row's weight
  per_window,    ///< shape of the window (update_window_dims of updates, offset_dims of the result, in order), such as a bias
  scalar,        ///< rank 0: one element for all
};
struct Extra {
  ExtraKind kind = ExtraKind::scalar;
  TensorType type;
  friend bool operator==(const Extra&, const Extra&) = default;
};

/// What becomes of an update: each of the N pairs' results is name(current, update converted to the result's dtype); with `assign`
/// the converted update, with `expr` what a graph computes.
enum class CombinerKind : uint8_t { assign, add, sub, mul, div, min, max, bit_and, bit_or, bit_xor, expr };

enum class InitKind : uint8_t {
  copy,      ///< the result starts as the operand, converted if the dtypes differ
  in_place,  ///< the result's buffer holds the operand; the operand is not bound
  fill,      ///< the result starts as the fill value; the operand is not bound
};

/// What happens to an index that is out of bounds (docs/semantics.md section 3). The fill policies are for gathers, the
/// skip policies for scatters, and look-ups take both.
enum class OobPolicy : uint8_t { undefined, skip_element, skip_window, clamp, wrap, error, fill_element, fill_window };

/// Order of the updates that go to one destination: row-major, or, for float and complex sums and products, one that
/// the schedule chooses (docs/semantics.md section 2).
enum class Order : uint8_t { in_order, relaxed };

enum class Accumulate : uint8_t {
  native,    ///< round after every combine
  wide,      ///< add, sub and mul of f16, bf16, f8: fold in f32, round once at the end
  wide_f64,  ///< add, sub and mul of f32: fold in f64, round once at the end
};

/// What a tensor of an op is for.
enum class Role : uint8_t { result, operand, indices, updates, extra };

/// The dimension numbers of a scatter or gather. StableHLO has two names for each list, which builders, canonical text and messages
/// use: the first is a scatter's, the second a gather's. The slices are a scatter's updates, a gather's result.
struct DimensionNumbers {
  std::vector<int64_t> window_dims;            ///< update_window_dims, offset_dims: of the slices, sorted
  std::vector<int64_t> removed_dims;           ///< inserted_window_dims, collapsed_slice_dims: of operand, sorted
  std::vector<int64_t> operand_batching_dims;  ///< input_batching_dims, operand_batching_dims: of operand, sorted
  /// scatter_indices_batching_dims, start_indices_batching_dims: of indices, pairwise with operand_batching_dims
  std::vector<int64_t> indices_batching_dims;
  std::vector<int64_t> index_map;  ///< scatter_dims_to_operand_dims, start_index_map: operand dim of each index component
  int64_t index_vector_dim = 0;    ///< of indices; == rank(indices): index vectors of one component
  friend bool operator==(const DimensionNumbers&, const DimensionNumbers&) = default;
};

struct Gather {
  TensorType operand;
  TensorType indices;
  std::vector<TensorType> more_indices;  ///< as in Scatter
  std::vector<Extra> extras;
  TensorType result;
  DimensionNumbers dims;
  std::vector<int64_t> slice_sizes;  ///< per operand dim; kDynamic: taken from the result's dim at the call (dynamic_gather)
  Expr expr;                         ///< of the gathered element (or fill value) and extras; empty: convert to the result's dtype
  OobPolicy oob = OobPolicy::clamp;
  Scalar fill;                      ///< policies fill_element, fill_window: the value gathered instead, in the operand's dtype
  bool normalize_negative = false;  ///< as in Scatter
  bool indices_are_sorted = false;  ///< a hint, as in Scatter
  friend bool operator==(const Gather&, const Gather&) = default;
};

/// Tensors that a scatter reads through indices of its own, row by row while it runs, instead of from memory: updates or an extra input, which is
/// what a gather would make. The gather's operand, the table, is bound in its place; the gather's indices come after all other tensors.
struct Lookup {
  Role of = Role::updates;  ///< updates or extra
  int index = 0;            ///< number among the tensors of that role
  /// Without extras and expression. Its result is the tensor that it stands for: same dims and dtype, contiguous. Its policy may be skip_element or
  /// skip_window, too: then nothing is combined where the table has no element.
  Gather gather;
  friend bool operator==(const Lookup&, const Lookup&) = default;
};

/// A value of a row, which is what the window of one index position holds: a fold over the row's elements. The expression reads it as an extra: reduction
/// k is extra number `extras.size() + k`. Its order is part of its meaning: of `lanes` lanes, lane l folds `value` of the elements l, l + lanes,
/// l + 2 * lanes, … of the row (in row-major order) from the left; then lanes are folded in pairs, as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
struct RowReduction {
  ExprOp fold = ExprOp::add;  ///< an operator that combiners have and that has an identity: add, mul, min, max, …; not sub or div
  int lanes = 1;              ///< a power of two, at most 64
  Expr value;  ///< one result, of whole bytes and not complex, of updates, extras and the reductions before this one
  friend bool operator==(const RowReduction&, const RowReduction&) = default;
};

/// A scatter of N pairs of operand and updates, which share the indices.
struct Scatter {
  std::vector<TensorType> operands;  ///< N >= 1, same dims; with init fill only their types matter
  TensorType indices;                ///< integer dtype
  /// The index vectors' components 1, 2, …, if each component has a tensor of its own, as in NumPy's a[i, j]; `indices` is then component 0, and
  /// index_vector_dim its rank. All have the dims of `indices`, and an integer dtype and strides of their own (0 along a dim: they repeat). Empty:
  /// `indices` has all components.
  std::vector<TensorType> more_indices;
  std::vector<TensorType> updates;  ///< N, same dims
  std::vector<Extra> extras;
  std::vector<Lookup> lookups;  ///< updates first, then extras; each by number
  /// With combiner expr, and only where no index moves a window dim: rows are whole.
  std::vector<RowReduction> row_reductions;
  /// N, the operands' dims; dtype and strides of their own. Results whose strides are 0 in all window dims (then all are so, and operands, too) hold one
  /// value per row: the expression, which then reads no single element of a row, is evaluated once per position.
  std::vector<TensorType> results;
  DimensionNumbers dims;
  CombinerKind combiner = CombinerKind::assign;
  Expr expr;  ///< combiner expr: of current values, updates and extras; else empty
  InitKind init = InitKind::copy;
  std::vector<Scalar> fill;  ///< with init fill: N values, in the results' dtypes
  OobPolicy oob = OobPolicy::skip_element;
  bool normalize_negative = false;  ///< add the dim's extent once to a negative index component, as NumPy does
  Order order = Order::in_order;
  Accumulate accumulate = Accumulate::native;
  // Hints: a hint that is false may give wrong values, never an access outside the buffers.
  bool indices_are_sorted = false;
  bool unique_indices = false;
  friend bool operator==(const Scatter&, const Scatter&) = default;
};

using Op = std::variant<Scatter, Gather>;

inline bool is_scatter(const Op& op) { return std::holds_alternative<Scatter>(op); }
inline bool is_in_place(const Op& op) { return is_scatter(op) && std::get<Scatter>(op).init == InitKind::in_place; }
// The fields that both have.
inline const TensorType& indices_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).indices : std::get<Gather>(op).indices;
}
inline const DimensionNumbers& dims_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).dims : std::get<Gather>(op).dims;
}
inline const std::vector<Extra>& extras_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).extras : std::get<Gather>(op).extras;
}
/// None of a gather.
inline const std::vector<Lookup>& lookups_of(const Op& op) {
  static const auto& none = *new const std::vector<Lookup>;
  return is_scatter(op) ? std::get<Scatter>(op).lookups : none;
}
/// The look-up that tensor number `index` of the role stands for; null: it is a tensor of the caller.
inline const Lookup* lookup_of(const Op& op, Role role, int index) {
  for (const Lookup& lookup : lookups_of(op))
    if (lookup.of == role && lookup.index == index) return &lookup;
  return nullptr;
}
/// What is indexed: a scatter's first operand, a gather's operand.
inline const TensorType& operand_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).operands[0] : std::get<Gather>(op).operand;
}
/// What has a slice per index position: a scatter's first updates, a gather's result.
inline const TensorType& slices_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).updates[0] : std::get<Gather>(op).result;
}
inline OobPolicy oob_of(const Op& op) { return is_scatter(op) ? std::get<Scatter>(op).oob : std::get<Gather>(op).oob; }
inline bool normalizes_negative(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).normalize_negative : std::get<Gather>(op).normalize_negative;
}
inline bool has_sorted_indices(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).indices_are_sorted : std::get<Gather>(op).indices_are_sorted;
}

/// The tensors of an op in the order in which a call binds them: results, operands, indices, updates, extras, and the further index tensors, which are
/// indices 1, 2, …: more_indices, then those of each look-up. A look-up's table stands where the tensor would that it makes. Operands of a scatter with init fill or in_place are not bound:
/// they are left out here, and null in strew_args.data (abi.h), which otherwise has the same order.
struct TensorSlot {
  Role role;
  int index;               ///< number among the tensors of that role
  const TensorType* type;  ///< points into the op, which must outlive it
};
STREW_API std::vector<TensorSlot> tensor_slots(const Op& op);
/// The index tensors of a scatter's destinations, of a gather or of a look-up's gather: component 0's, or that of all, first.
template <class Access>
std::vector<const TensorType*> index_tensors(const Access& access) {
  std::vector<const TensorType*> out = {&access.indices};
  for (const TensorType& type : access.more_indices) out.push_back(&type);
  return out;
}
/// The number, among the op's index tensors, of the first one of an index source: source 0 is the op's own, the others are the look-ups in their order.
inline int first_indices(const Op& op, size_t source) {
  if (source == 0) return 0;
  int number = static_cast<int>(std::visit([](const auto& each) { return each.more_indices.size(); }, op)) + 1;
  for (size_t l = 0; l + 1 < source; ++l) number += static_cast<int>(lookups_of(op)[l].gather.more_indices.size()) + 1;
  return number;
}
/// The tensors that the op reads, in that order: with init in_place the operands, which are what the result buffers hold before the call, come
/// first.
inline std::vector<TensorSlot> input_slots(const Op& op) {
  std::vector<TensorSlot> out;
  for (const TensorSlot& slot : tensor_slots(op)) {
    if (slot.role != Role::result)
      out.push_back(slot);
    else if (is_in_place(op))
      out.push_back({Role::operand, slot.index, slot.type});
  }
  return out;
}

/// The name of an enumerator as canonical text spells it, from names in the order of the enum; "invalid" for a number that is none.
template <class Enum>
constexpr std::string_view name_among(std::initializer_list<std::string_view> names, Enum value) {
  const auto number = static_cast<size_t>(value);
  return number < names.size() ? names.begin()[number] : std::string_view("invalid");
}
constexpr std::string_view name(Role role) { return name_among({"result", "operand", "indices", "updates", "extra"}, role); }
constexpr std::string_view name(CombinerKind kind) {
  return name_among({"assign", "add", "sub", "mul", "div", "min", "max", "and", "or", "xor", "expr"}, kind);
}
constexpr std::string_view name(OobPolicy policy) {
  return name_among({"undefined", "skip_element", "skip_window", "clamp", "wrap", "error", "fill_element", "fill_window"},
                    policy);
}
/// The policies for gathers that read nothing and give the fill value.
constexpr bool is_fill(OobPolicy policy) { return policy == OobPolicy::fill_element || policy == OobPolicy::fill_window; }
/// The policies for scatters and look-ups that drop what is out of bounds.
constexpr bool is_skip(OobPolicy policy) { return policy == OobPolicy::skip_element || policy == OobPolicy::skip_window; }
constexpr std::string_view name(InitKind init) { return name_among({"copy", "in_place", "fill"}, init); }
constexpr std::string_view name(Order order) { return name_among({"in_order", "relaxed"}, order); }
constexpr std::string_view name(Accumulate accumulate) { return name_among({"native", "wide", "wide_f64"}, accumulate); }
constexpr std::string_view name(ExtraKind kind) {
  return name_among({"per_element", "per_position", "per_window", "scalar"}, kind);
}
/// How many enumerators have a name.
template <class Enum>
constexpr int enumerators() {
  int count = 0;
  while (name(static_cast<Enum>(count)) != "invalid") ++count;
  return count;
}

}  // namespace strew::inline v0
