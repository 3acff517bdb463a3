// Runs the steps in the one order that works. The fill mask comes first: it is compared with the indices as the gather reads them, before
// fuse_indices changes those. Then come indices and operands; transposes, which decide the order of an operand's dims; rows, which depend on
// that order and on where the indices are read; result shapes; and elementwise operations last: first those between a gather and a scatter of
// the same elements (the update idiom), then those before a scatter, then those after a gather, so that operations between a gather and a
// scatter join the scatter.
//
// With `--accumulate wide` updates are not fused: wide accumulation takes named combiners only. Tested by
// tests/unit/compiler/import/fusion/fusion_test.cc and tests/golden/fusion_test.cc.
#include "compiler/import/fusion/fusion.h"

#include "compiler/import/fusion/steps.h"

namespace strew::inline v0::fusion {
namespace {
constexpr size_t kMostLooked = 500'000;
}  // namespace

size_t indices_slot(const Op& op) {
  const Scatter* scatter = std::get_if<Scatter>(&op);
  if (scatter == nullptr) return 1;
  return scatter->init == InitKind::fill ? 0 : scatter->operands.size();
}

bool replace_op(const FusionContext& context, int number, Op op, const std::vector<int>& tensors, ComputeDisposition how,
                std::string note, bool first) {
  Expected<VerifiedOp> verified = VerifiedOp::of(std::move(op));
  if (!verified.ok()) return false;
  const auto kernel = context.program.edit_kernel(number, how);
  kernel->op = std::move(verified).value();
  kernel->set_tensors(tensors);
  if (!note.empty()) kernel->notes.insert(first ? kernel->notes.begin() : kernel->notes.end(), std::move(note));
  return true;
}

void fuse_program(Program& program, const ImportOptions& options) {
  if (program.kernels().empty()) return;
  follow_extents(program);
  const Reader reader(program);
  const FusionContext context{program, reader};
  const int kernels = static_cast<int>(program.kernels().size()), computes = static_cast<int>(program.computes().size());
  for (int c = 0; c < computes; ++c) fuse_fill_mask(context, c);
  for (int k = 0; k < kernels; ++k) {
    fuse_indices(context, k);
    fuse_filled_operand(context, k);
  }
  for (int c = 0; c < computes; ++c) fuse_result_transpose(context, c);
  fuse_argument_transposes(context);
  fuse_rows(context);
  for (int c = 0; c < computes; ++c) fuse_result_shape(context, c);
  const bool wide = options.override_accumulate && options.accumulate != Accumulate::native;
  std::vector<int> merged(program.kernels().size(), -1);
  for (int k = 0; k < kernels && !wide; ++k) {
    const int gather = fuse_update_idiom(context, k, options);
    if (gather >= 0) merged[gather] = k;
  }
  for (int k = 0; k < kernels && !wide; ++k) fuse_updates(context, k);
  // From the last Compute to the first, so that the last operation of a chain takes the whole chain. If a chain has
  // more nodes than a graph may have, it is examined again from each of its operations; kMostLooked bounds that work.
  size_t looked_at = 0;
  for (int c = computes; c-- > 0 && looked_at < kMostLooked;) looked_at += fuse_result(context, c);
  program.erase_merged(merged);
  program.mark_unused();
}

}  // namespace strew::inline v0::fusion
