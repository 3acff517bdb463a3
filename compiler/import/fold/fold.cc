// The order matters: a mask is compared with the indices as the gather reads them, so it goes first; then indices, then the operand; then
// elementwise operations, on the side of the scatter before that of the gather, since the scatter needs its own to have updates at all.
//
// Wide accumulation takes named combiners only, so `--accumulate wide` leaves updates alone. Covered by tests/unit/fold_test.cc and
// tests/golden/fold_test.cc.
#include "compiler/import/fold/fold.h"

#include "compiler/import/fold/folds.h"

namespace strew::fold {
namespace {
constexpr size_t kMostLooked = 500'000;
}  // namespace

size_t indices_slot(const Op& op) {
  const Scatter* scatter = std::get_if<Scatter>(&op);
  if (scatter == nullptr) return 1;
  return scatter->init == InitKind::fill ? 0 : scatter->operands.size();
}

void fold_computes(Imported& imported, const ImportOptions& options) {
  if (imported.kernels.empty()) return;
  UseCounts uses(imported);
  const Reader reader(imported);
  const FoldContext context{imported, uses, reader};
  const int kernels = static_cast<int>(imported.kernels.size()), computes = static_cast<int>(imported.computes.size());
  for (int c = 0; c < computes; ++c) fold_fill_mask(context, c);
  for (int k = 0; k < kernels; ++k) {
    fold_indices(context, k);
    fold_operand(context, k);
  }
  for (int c = 0; c < computes; ++c) fold_result_shape(context, c);
  const bool wide = options.override_accumulate && options.accumulate != Accumulate::native;
  for (int k = 0; k < kernels && !wide; ++k) fuse_updates(context, k);
  // The last of a chain takes all of it. A chain too long for a graph is looked at from each of its ends: that is bounded.
  size_t looked_at = 0;
  for (int c = computes; c-- > 0 && looked_at < kMostLooked;) looked_at += fuse_result(context, c);
}

}  // namespace strew::fold
