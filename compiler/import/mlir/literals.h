// Literals: dense<...> and dense_resource<...> as constants.
#pragma once

#include <mlir/IR/Attributes.h>

#include "base/status.h"
#include "compiler/import/importer.h"

namespace strew {

/// What a splat may expand to: 256 MiB. Everything else is bounded by the file.
inline constexpr int64_t kMaxSplatBytes = int64_t{1} << 28;

/// The elements of `value`, stored as `type` (static dims; the dtype may be the storage type of a quantized one).
Expected<Constant> constant_from(mlir::Attribute value, const TensorType& type);

/// The one element of a rank-0 constant.
Scalar scalar_of(const Constant& constant);

}  // namespace strew
