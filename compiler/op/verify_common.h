// What verify_scatter.cc, verify_gather.cc and verify_expr.cc share: checks of one tensor, of lists of dims, of dtypes. Each takes the
// label its error begins with and the field's name. Not for other rooms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// "label: message"
Status violated(std::string_view label, const std::string& message);

/// "[1,2,?]"
std::string show(const std::vector<int64_t>& list);
/// "operand[1]"
std::string field_of(std::string_view name, size_t index);

/// A number that is one of DType's: op_dtype.
Status check_dtype(const std::string& field, DType dtype);
/// A dtype, extents and strides that make sense and do not overflow: op_dtype, op_limits, op_dims, op_strides, op_size.
Status check_tensor(const std::string& field, const TensorType& type);
/// op_strides: no two elements of a result share an address, as far as dims and strides are static.
Status check_result_strides(const std::string& field, const TensorType& type);
/// i4..i64 or u4..u64.
Status check_index_dtype(std::string_view label, const TensorType& indices);

inline bool dims_agree(int64_t a, int64_t b) { return a == b || a == kDynamic || b == kDynamic; }
/// Same rank, and equal wherever both are static. `expected` says whose dims `want` are.
Status check_dims(std::string_view label, const std::string& field, const TensorType& type, const std::vector<int64_t>& want,
                  const std::string& expected);

/// Every entry in [0, end); `expected` names `end`.
Status check_range(std::string_view label, std::string_view field, const std::vector<int64_t>& list, int64_t end,
                   std::string_view expected);
Status check_sorted(std::string_view label, std::string_view field, const std::vector<int64_t>& list);
/// No entry twice, in `list` and `other` together.
Status check_unique(std::string_view label, std::string_view field, const std::vector<int64_t>& list,
                    std::string_view other_field = {}, const std::vector<int64_t>& other = {});
/// A list of indices batching dims: without index_vector_dim.
Status check_not_vector_dim(std::string_view label, std::string_view field, const std::vector<int64_t>& list,
                            int64_t index_vector_dim);
Status check_vector_dim(std::string_view label, const TensorType& indices, int64_t index_vector_dim);
/// One entry per component of the index vector.
Status check_components(std::string_view label, std::string_view field, const std::vector<int64_t>& map,
                        const TensorType& indices, int64_t index_vector_dim);

/// Operand batching dims against those of indices: equal, or with the relaxation not larger than the operand's.
Status check_batching_sizes(std::string_view label, const TensorType& operand, const std::vector<int64_t>& operand_dims,
                            const TensorType& indices, const std::vector<int64_t>& indices_dims, bool equal);

/// Whether values of `from` may become `to`: the same dtype, or both have arithmetic and no imaginary part is lost.
bool converts(DType from, DType to);
Status check_converts(std::string_view label, const std::string& from_field, DType from, const std::string& to_field, DType to);
/// A fill value or literal: of `dtype`, no bits beyond its width, and no address in it.
Status check_scalar(std::string_view label, const std::string& field, const Scalar& scalar, DType dtype);

/// Shapes of extra inputs. `element`, `position`, `window`: what the three kinds must look like.
Status check_extras(std::string_view label, const std::vector<Extra>& extras, const std::vector<int64_t>& element,
                    const std::vector<int64_t>& position, const std::vector<int64_t>& window);
/// Inputs of the graph have the dtypes of the tensors they read.
Status check_expr_inputs(std::string_view label, const Expr& expr, const std::vector<DType>& currents,
                         const std::vector<TensorType>& updates, const std::vector<Extra>& extras);

}  // namespace strew::inline v0
