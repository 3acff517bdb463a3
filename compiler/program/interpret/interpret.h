// Interpret: evaluates the operations around an imported file's kernels (Compute), one whole tensor at a time.
#pragma once

#include <vector>

#include "compiler/import/importer.h"
#include "compiler/program/tensor.h"

namespace strew {

/// The results of `compute` on `arguments`, as its arguments' dims and dtypes allow. Failures carry no place.
Expected<std::vector<Tensor>> interpret(const Compute& compute, const std::vector<const Tensor*>& arguments);

// One family each: map.cc, reduce.cc, move.cc.
Expected<Tensor> interpret_map(const Compute& compute, const std::vector<const Tensor*>& arguments);
Expected<std::vector<Tensor>> interpret_reduce(const Compute& compute, const std::vector<const Tensor*>& arguments);
Expected<Tensor> interpret_iota(const Compute& compute);
Expected<Tensor> interpret_move(const Compute& compute, const std::vector<const Tensor*>& arguments);

/// Fails unless `actual` is what `type` lets it be.
Status check_extents(const std::vector<int64_t>& actual, const TensorType& type, const char* what);

}  // namespace strew
