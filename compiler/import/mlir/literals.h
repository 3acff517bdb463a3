// Converts the literals dense<...> and dense_resource<...> to constants.
#pragma once

#include <mlir/IR/Attributes.h>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The most bytes to which a splat may expand: 256 MiB. The sizes of all other literals are bounded by the file's.
inline constexpr int64_t kMaxSplatBytes = int64_t{1} << 28;

/// The elements of `value`, stored as `type`, which must be static. Its dtype may be the storage type of a quantized type.
Expected<Constant> constant_from(mlir::Attribute value, const TensorType& type);

}  // namespace strew::inline v0
