// Merges a reshape into a gather. x[i] with one index arrives as a dynamic_slice with a result of [1, n] and a reshape to [n]. The window's
// dims of extent 1 that the reshape drops join the gather's collapsed_slice_dims instead. Tested by
// tests/unit/compiler/import/fusion/fusion_test.cc and tests/golden/fusion_test.cc.
#include <algorithm>

#include "compiler/import/fusion/steps.h"
#include "compiler/op/access_dims.h"

namespace strew::inline v0::fusion {
namespace {

/// Removes from the gather's window the dims of the result that `wanted` lacks. Returns false, with `gather` in no useful state, if the
/// reshape does more than drop window dims of extent 1.
bool drop_dims(Gather& gather, const AccessDims& dims, const std::vector<int64_t>& wanted) {
  std::vector<int64_t> offsets;
  size_t next = 0;
  for (size_t d = 0; d < dims.slices.size(); ++d) {
    const bool is_offset = dims.slices[d].operand_dim >= 0;
    const int64_t extent = gather.result.dims[d];
    if (next < wanted.size() && wanted[next] == extent) {
      if (is_offset) offsets.push_back(static_cast<int64_t>(next));
      ++next;
    } else if (is_offset && extent == 1) {
      gather.dims.removed_dims.push_back(dims.slices[d].operand_dim);
    } else {
      return false;
    }
  }
  std::sort(gather.dims.removed_dims.begin(), gather.dims.removed_dims.end());
  gather.dims.window_dims = std::move(offsets);
  gather.result.dims = wanted;
  return next == wanted.size();
}

}  // namespace

void fuse_result_shape(const FusionContext& context, int compute) {
  const Compute& reshape = context.program.compute(compute);
  if (!context.program.is_needed(compute) || reshape.as<ReshapeOp>() == nullptr) return;
  const int gathered = reshape.arguments[0];
  const int number = context.gather_of(gathered, 1);
  if (number < 0) return;
  Gather gather = std::get<Gather>(*context.kernel(number).op);
  if (!gather.extras.empty() || !drop_dims(gather, context.kernel(number).op.access(), reshape.results[0].dims)) return;
  if (replace_op(context, number, std::move(gather), context.kernel(number).tensors(), ComputeDisposition::folded,
                 "folded: dims of 1 are left out of the result"))
    context.program.become_result(context.program.result_of(compute), number, ComputeDisposition::folded);
}

}  // namespace strew::inline v0::fusion
