// Checks that verify_scatter.cc, verify_gather.cc and verify_expr.cc share: of one tensor, of lists of dims, of dtypes.
// Each takes the label that its error names (or has the labels that its comment names) and the name of the
// field. For use in this folder only.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/op/access_dims.h"
#include "compiler/op/message.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/verify.h"

namespace strew::inline v0 {

/// The name of a field for messages: "indices", or "operand[1]". An op is verified each time it is prepared, so the text is
/// made only when there is something to say.
class Field {
 public:
  Field(const char* name) : before_(name) {}  // NOLINT(google-explicit-constructor): check_tensor("indices", ...)
  /// Field("operand[", 1, "]")
  Field(std::string_view before, size_t index, std::string_view after)
      : before_(before), after_(after), index_(static_cast<int64_t>(index)) {}
  std::string text() const { return index_ < 0 ? std::string(before_) : fmt::format("{}{}{}", before_, index_, after_); }

 private:
  std::string_view before_, after_;
  int64_t index_ = -1;  ///< -1: the text is before_ alone
};

/// Label op_dtype: the number is one of the enum's.
Status check_dtype(const Field& field, DType dtype);
/// Label op_enum: the number is one of the `count` of the enum.
Status check_enum(const Field& field, int number, int count);
template <class Enum>
Status check_enum(const Field& field, Enum value) {
  constexpr int kCount = enumerators<Enum>();
  return check_enum(field, static_cast<int>(value), kCount);
}
/// Labels op_dtype, op_limits, op_dims, op_strides, op_size: dtype, rank, extents and strides are legal, and the size
/// does not overflow.
Status check_tensor(const Field& field, const TensorType& type);
/// Label op_strides: no two elements of a result share an address, as far as dims and strides are static. `repeated`: dims along which it repeats.
Status check_result_strides(const Field& field, const TensorType& type, const std::vector<int64_t>& repeated = {});
/// The index tensors of a scatter, a gather or a look-up: their dtype is one of i4..i64 and u4..u64. Label index_tensors: where there are several, all have
/// the dims of the first, which has no index vectors.
Status check_indices(std::string_view dtype_label, const TensorType& indices, const std::vector<TensorType>& more,
                     int64_t index_vector_dim);

inline bool dims_agree(int64_t a, int64_t b) { return a == b || a == kDynamic || b == kDynamic; }
bool dims_agree(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
/// The type has the rank of `want`, and equal extents wherever both are static. `expected` says in the message whose
/// dims `want` are.
Status check_dims(std::string_view label, const Field& field, const TensorType& type, const std::vector<int64_t>& want,
                  std::string_view expected);

/// The look-ups of a scatter of which everything else was checked. Labels lookup_tensor, lookup_gather, lookup_dims, and a gather's.
Status check_lookups(const Scatter& s, const AccessDims& dims);
/// The reductions over rows of a scatter whose tensors were checked. Label row_reductions.
Status check_row_reductions(const Scatter& s);
/// The rows and the results per row of a scatter of which everything else was checked. Labels row_window, row_results.
Status check_rows(const Scatter& s, const AccessDims& dims);
/// What the scatter's graph, or reduction number `reductions`, may read as extras: the extras, then as many reductions.
std::vector<Extra> readable_extras(const Scatter& s, size_t reductions);
/// What verify() does for a gather, which may have the policies that a look-up has.
Expected<AccessDims> verified_access(const Gather& g, const VerifyOptions& options, bool is_lookup);

/// What verify() does for an op. Returns its dimension numbers, decoded.
Expected<AccessDims> verified_access(const Scatter& s, const VerifyOptions& options);
Expected<AccessDims> verified_access(const Gather& g, const VerifyOptions& options);

/// The lists of dims and index_vector_dim: labels scatter_c2 and c7 to c22, gather_c1 to c8, c10, c11 and c13 to c19. The tensors were
/// checked before.
Status check_dimension_numbers(const Scatter& s, bool equal_batching_dims);
Status check_dimension_numbers(const Gather& g, bool equal_batching_dims);
/// The slices (updates, a gather's result) have the dims of the positions and of the window, which follow from the op's field `from` with the
/// value `given`. `list`: the name of the op's window dims.
Status check_slices(std::string_view label, const Field& field, const TensorType& slices, const TensorType& indices,
                    const AccessDims& dims, std::string_view list, std::string_view from, const std::vector<int64_t>& given);

/// Is there a conversion: are the dtypes the same, or do both have arithmetic without an imaginary part being lost?
bool converts(DType from, DType to);
/// The dtype of a node by `op` whose argument (of select, the second) has dtype `first`, which is legal for it.
DType result_dtype(ExprOp op, DType first);
/// The dtypes that the operator takes, of which `given` is none, for a message: "one of: bool, integers".
std::string expected_dtypes(ExprOp op, DType given);
Status check_converts(std::string_view label, const Field& from_field, DType from, const Field& to_field, DType to);
/// Are all bits beyond the dtype's width zero?
bool fits(const Scalar& scalar);
/// A fill value or literal has dtype `dtype`, no bits beyond the width, and is not a string (which would hold an address).
Status check_scalar(std::string_view label, const Field& field, const Scalar& scalar, DType dtype);

/// Extra inputs are there only for a graph, and have the shapes of their kinds.
Status check_extras(std::string_view label, const std::vector<Extra>& extras, bool has_graph, const TensorType& slices,
                    const TensorType& indices, const DimensionNumbers& numbers, const AccessDims& dims);
/// An op's graph is legal on its own, its inputs have the dtypes of the tensors that they read (label `inputs`), and its results those of
/// `results` (label `returns`).
Status check_graph(std::string_view inputs, std::string_view returns, const Expr& expr, std::span<const TensorType> currents,
                   std::span<const TensorType> updates, std::span<const Extra> extras, std::span<const TensorType> results);

}  // namespace strew::inline v0
