// The folds themselves, one kernel at a time; fold.cc is their order. Each leaves the program as it was, or with the same bits.
#pragma once

#include "compiler/import/fold/reader.h"
#include "compiler/import/fold/use_counts.h"

namespace strew::fold {

/// What a fold works on.
struct FoldContext {
  Imported& imported;
  UseCounts& uses;
  const Reader& reader;

  ImportedKernel& kernel(int number) const { return imported.kernels[static_cast<size_t>(number)]; }
};

/// Where the indices of `kernel` stand among its arguments.
size_t indices_slot(const Op& op);

// indices.cc: `i < 0 ? i + n : i`, clips, conversions to wider integers, and movement into index vectors.
void fold_indices(const FoldContext& context, int kernel);
// fill.cc
/// compute: a select between what a gather gives and one value, by a mask that says the whole window is inside.
void fold_fill_mask(const FoldContext& context, int compute);
/// A scatter into a tensor that is one value everywhere.
void fold_operand(const FoldContext& context, int kernel);
// shape.cc
/// compute: a reshape that drops dims of 1 from what a gather gives.
void fold_result_shape(const FoldContext& context, int compute);
// fuse.cc
/// Elementwise operations that give a scatter's updates.
void fuse_updates(const FoldContext& context, int kernel);
/// compute: an elementwise operation on what a gather gives. How many operations were looked at.
size_t fuse_result(const FoldContext& context, int compute);

}  // namespace strew::fold
