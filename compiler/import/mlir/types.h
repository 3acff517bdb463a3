// Converts MLIR's types to strew's.
#pragma once

#include <mlir/IR/BuiltinTypes.h>

#include <string>

#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The dtype that stores an element: iN for signless and signed integers, bool for i1, i64 for index, the storage type for a quantized
/// type.
Expected<DType> element_dtype(mlir::Type element);

/// The type of a ranked tensor. Fails if the product of the static extents takes more than 64 bits as bits of storage.
Expected<TensorType> tensor_type(mlir::Type type);

/// The type of a value as the imported program holds it: of a ranked tensor, or rank 0 for a scalar (`index`, `f32`).
Expected<TensorType> value_type(mlir::Type type);

bool is_quantized(mlir::Type tensor);
bool has_several_scales(mlir::Type tensor);  ///< quantized with other scales for other elements: along an axis, or by blocks
mlir::Type element_of(mlir::Type tensor);    ///< null if `tensor` is no tensor type
std::string text_of(mlir::Type type);        ///< the type as MLIR prints it, cut at 120 characters

}  // namespace strew::inline v0
