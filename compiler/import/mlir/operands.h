// Checks that the handlers of operations share: how many operands, of which types, with which dims. Error messages have no location.
#pragma once

#include <mlir/IR/Operation.h>

#include <string_view>
#include <vector>

#include "strew/import.h"

namespace strew::inline v0 {

class Translation;

bool is_static(const TensorType& type);
/// Refuses two static types with other numbers of elements.
Status same_count(const TensorType& from, const TensorType& to);
/// Refuses an operation that has not `operands` operands, one result and no region.
Status counts(mlir::Operation* op, unsigned operands);
/// The attribute `name`, an integer from 0 to `rank` - 1.
Expected<int64_t> dim_attribute(mlir::Operation* op, llvm::StringRef name, int rank);
/// Refuses `dims` unless they are `count` different numbers from 0 to `rank` - 1.
Status check_dims(const std::vector<int64_t>& dims, size_t count, int rank, std::string_view what);
/// Refuses operands of other element types than the result's.
Status same_elements(mlir::Operation* op);
/// Makes `compute` the concatenation of the operands along the dim that the attribute says.
Status read_concatenation(mlir::Operation* op, llvm::StringRef attribute, Compute& compute);
/// Adds the Compute that `read` makes of the operation.
Status import_with(Translation& t, mlir::Operation* op, Status (*read)(mlir::Operation*, Compute&));

}  // namespace strew::inline v0
