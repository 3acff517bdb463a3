// MLIR types as strew's.
#pragma once

#include <mlir/IR/BuiltinTypes.h>

#include <string>

#include "base/status.h"
#include "compiler/op/op.h"

namespace strew {

/// The dtype that stores an element: signless and signed integers are iN, i1 is bool, index is i64, a quantized type is its
/// storage.
Expected<DType> element_dtype(mlir::Type element);

/// A ranked tensor whose static extents, multiplied, stay within 64 bits of storage.
Expected<TensorType> tensor_type(mlir::Type type);

bool is_quantized(mlir::Type tensor);
mlir::Type element_of(mlir::Type tensor);  ///< null if it is no tensor
std::string text_of(mlir::Type type);      ///< as MLIR prints it, cut at 120 characters

}  // namespace strew
