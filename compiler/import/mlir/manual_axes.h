// The axes of a mesh of devices along which a program divides its tensors itself (sdy.manual_computation, which JAX makes of shard_map), so that XLA's partitioner does not.
#pragma once

#include <mlir/IR/Operation.h>

#include "compiler/import/mlir_text.h"

namespace strew::inline v0 {

/// Of what stands in a region of `around` (or in a function, which is `around`), in a module of several partitions. A region whose mesh is not found counts as one of which axes are left.
Partitioned partitioned_in(mlir::Operation* around);

}  // namespace strew::inline v0
