// Shapes of an operation's tensors, with `?` where the text leaves an extent open.
#pragma once

#include <mlir/IR/Operation.h>

#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/op/op.h"

namespace strew {

Expected<TensorType> operand_type(mlir::Operation* op, unsigned index);
Expected<TensorType> result_type(mlir::Operation* op, unsigned index);

/// Makes the dims of `types` equal: what one leaves open another may give. Fails with `label` where they contradict each other.
Status unify_dims(const std::vector<TensorType*>& types, std::string_view label, std::string_view what);

/// Fails with `label` unless the element types of `a` and `b` are the same, quantization included.
Status same_element(mlir::Type a, mlir::Type b, std::string_view label, std::string_view what);

}  // namespace strew
