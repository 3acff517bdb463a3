// Op: the one canonical descriptor of an indexed write (Scatter) or read (Gather).
//
// Every front end translates into this value and nothing else; the meaning of each field is semantics.md (docs/semantics.md), bit
// for bit. Field names are StableHLO's. An Op is a plain value: copy it, compare it, print it (text.h), hash it (text.h), verify it
// (verify.h). Nothing here allocates kernels or looks at buffers.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "strew/dtype.h"
#include "strew/export.h"
#include "strew/expr.h"
#include "strew/scalar.h"

namespace strew::inline v0 {

/// A dimension, stride or slice size that is known only when the kernel is called; written `?` in text.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

/// Shape and storage of one tensor.
struct TensorType {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;     ///< extents in elements, >= 0 or kDynamic; outermost first
  std::vector<int64_t> strides;  ///< empty: contiguous, row-major. Else one per dim, in elements, may be 0, negative or kDynamic

  int rank() const { return static_cast<int>(dims.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Which element of an extra input an update sees.
enum class ExtraKind : uint8_t {
  per_element,   ///< shape of updates (scatter) or of the result (gather): one element each
  per_position,  ///< shape of indices without index_vector_dim: one element per index position (a row's weight)
  per_window,    ///< shape of the window (update_window_dims or offset_dims of it, in order): a bias
  scalar,        ///< rank 0
};
struct Extra {
  ExtraKind kind = ExtraKind::scalar;
  TensorType type;
  friend bool operator==(const Extra&, const Extra&) = default;
};

/// What builders and canonical text call a combiner; an op holds the graph that the name stands for (combiner.h). A name applies to each of
/// the N pairs: result = name(current, update converted to the result's dtype). `expr`: any other graph.
enum class CombinerKind : uint8_t { assign, add, sub, mul, div, min, max, bit_and, bit_or, bit_xor, expr };

enum class InitKind : uint8_t {
  copy,      ///< result = operand (converted where dtypes differ), then the updates
  in_place,  ///< the result buffer is the operand buffer
  fill,      ///< result = fill value, operand not read (and not bound)
};

/// Out-of-bounds policy, semantics.md section 3. The fill policies are gather's, the skip policies scatter's.
enum class OobPolicy : uint8_t { undefined, skip_element, skip_window, clamp, wrap, error, fill_element, fill_window };

enum class Order : uint8_t { in_order, relaxed };

enum class Accumulate : uint8_t {
  native,    ///< round after every combine
  wide,      ///< f16, bf16, f8 fold in f32, rounded once at the end; add and sub only
  wide_f64,  ///< the same for f32 in f64, on request
};

/// StableHLO's scatter dimension numbers. All lists are dims of the tensor their name says.
struct ScatterDims {
  std::vector<int64_t> update_window_dims;             ///< of updates, sorted
  std::vector<int64_t> inserted_window_dims;           ///< of operand, sorted
  std::vector<int64_t> input_batching_dims;            ///< of operand, sorted
  std::vector<int64_t> scatter_indices_batching_dims;  ///< of indices, pairwise with input_batching_dims
  std::vector<int64_t> scatter_dims_to_operand_dims;   ///< operand dim of each index component
  int64_t index_vector_dim = 0;                        ///< of indices; == rank(indices) means indices are scalars
  friend bool operator==(const ScatterDims&, const ScatterDims&) = default;
};

/// StableHLO's gather dimension numbers.
struct GatherDims {
  std::vector<int64_t> offset_dims;                  ///< of result, sorted
  std::vector<int64_t> collapsed_slice_dims;         ///< of operand, sorted
  std::vector<int64_t> operand_batching_dims;        ///< of operand, sorted
  std::vector<int64_t> start_indices_batching_dims;  ///< of indices, pairwise with operand_batching_dims
  std::vector<int64_t> start_index_map;              ///< operand dim of each index component
  int64_t index_vector_dim = 0;                      ///< of indices
  friend bool operator==(const GatherDims&, const GatherDims&) = default;
};

struct Scatter {
  std::vector<TensorType> operands;  ///< N >= 1, same dims. With init fill they give the shape and dtype only
  TensorType indices;                ///< integer dtype
  std::vector<TensorType> updates;   ///< N, same dims
  std::vector<Extra> extras;
  std::vector<TensorType> results;  ///< N, the operands' dims; dtype and strides of their own
  ScatterDims dims;
  Expr combiner;  ///< over current values, updates and extras; empty: assign, the update converted to the result's dtype
  InitKind init = InitKind::copy;
  std::vector<Scalar> fill;  ///< with init fill: N values, in the results' dtypes
  OobPolicy oob = OobPolicy::skip_element;
  bool normalize_negative = false;  ///< add the dim once to a negative index component (NumPy)
  Order order = Order::in_order;
  Accumulate accumulate = Accumulate::native;
  bool indices_are_sorted = false;  ///< hints: a false one may give wrong values, never a stray access
  bool unique_indices = false;
  friend bool operator==(const Scatter&, const Scatter&) = default;
};

struct Gather {
  TensorType operand;
  TensorType indices;
  std::vector<Extra> extras;
  TensorType result;
  GatherDims dims;
  std::vector<int64_t> slice_sizes;  ///< per operand dim; kDynamic: taken from the result's dim at the call (dynamic_gather)
  Expr expr;                         ///< over the gathered element (or the fill value) and extras; empty: convert to the result
  OobPolicy oob = OobPolicy::clamp;
  Scalar fill;  ///< with fill_element, fill_window: the value gathered instead, in the operand's dtype
  bool normalize_negative = false;
  bool indices_are_sorted = false;
  friend bool operator==(const Gather&, const Gather&) = default;
};

using Op = std::variant<Scatter, Gather>;

inline bool is_scatter(const Op& op) { return std::holds_alternative<Scatter>(op); }
inline const TensorType& indices_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).indices : std::get<Gather>(op).indices;
}

/// The tensors of an op in the order every caller binds them, which is also the order of strew_args.data (include/strew/abi.h):
/// results, operands, indices, updates, extras. Operands of a scatter with init fill or in_place are not bound (in_place: the
/// result buffer holds the operand); their slots are left out here and null in strew_args.
enum class Role : uint8_t { result, operand, indices, updates, extra };
struct TensorSlot {
  Role role;
  int index;               ///< which of the N (or which extra)
  const TensorType* type;  ///< points into the op
};
STREW_API std::vector<TensorSlot> tensor_slots(const Op& op);

STREW_API std::string_view name(Role role);
STREW_API std::string_view name(CombinerKind kind);
STREW_API std::string_view name(OobPolicy policy);
STREW_API std::string_view name(InitKind init);
STREW_API std::string_view name(Order order);
STREW_API std::string_view name(Accumulate accumulate);
STREW_API std::string_view name(ExtraKind kind);

}  // namespace strew::inline v0
