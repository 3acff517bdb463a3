// Types of an operation's operands and results. Extents that the text leaves open (`?`) are kDynamic.
#pragma once

#include <mlir/IR/Operation.h>

#include <string>
#include <string_view>
#include <vector>

#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// An error, with the label of the rule that is violated unless it is empty.
Status refused(std::string message, std::string_view label);

/// Refuses an operation that has not `operands` operands (or more, if `or_more`), one result and no region.
Status check_counts(mlir::Operation* op, unsigned operands, bool or_more = false);

Expected<TensorType> operand_type(mlir::Operation* op, unsigned index);
Expected<TensorType> result_type(mlir::Operation* op, unsigned index);

/// Requires the dims of `types` to be equal; an extent that is open in one type gets its value from another. Fails if two extents
/// contradict each other: the message starts with `what`, such as "shape of the result", and ends with the label of the rule, if it has one.
Status unify_dims(const std::vector<TensorType*>& types, std::string_view what, std::string_view label = {});

/// Fails if the element types of `a` and `b`, quantization included, differ: `what` is the name of `b`.
Status same_element(mlir::Type a, mlir::Type b, std::string_view what, std::string_view label = {});

/// The extent of the index vector follows from its number of components (constraints C3 and C19), if the text leaves it open.
void infer_index_vector(TensorType& indices, int64_t index_vector_dim, size_t components);

}  // namespace strew::inline v0
