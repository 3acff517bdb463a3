// The folds. Each is a function that works on one kernel or on one Compute; fold.cc calls them in order. A fold whose conditions do not
// hold changes nothing; a fold that applies keeps the program's results bit for bit.
#pragma once

#include "compiler/import/fold/reader.h"
#include "compiler/import/fold/use_counts.h"

namespace strew::inline v0::fold {

/// The program that the folds change, with the use counts and the reader that they share.
struct FoldContext {
  Imported& imported;
  UseCounts& uses;
  const Reader& reader;

  ImportedKernel& kernel(int number) const { return imported.kernels[static_cast<size_t>(number)]; }
};

/// The position of the indices in the list of a kernel's arguments.
size_t indices_slot(const Op& op);

// conditions.cc
/// Makes the conditions on extents name the values that the extents come from. Called before the uses of values are counted.
void follow_extents(Imported& imported);
// indices.cc: merges `i < 0 ? i + n : i`, clips, conversions to wider integers, and the movement that makes index vectors.
void fold_indices(const FoldContext& context, int kernel);
// transposes.cc
/// Merges `compute` if it is a transpose of a kernel's result, together with transposes of the kernel's arguments.
void fold_result_transpose(const FoldContext& context, int compute);
/// Merges transposes of gathers' operands and scatters' updates.
void fold_argument_transposes(const FoldContext& context);
// rows.cc: merges the broadcasts of indices along the elements of a row.
void fold_rows(const FoldContext& context);
// fill.cc
/// Merges `compute` if it is a select between a gather's result and a constant, by a mask which says that the gather's window is in bounds.
void fold_fill_mask(const FoldContext& context, int compute);
/// Replaces the operand of a scatter by a fill value where all elements of the operand are the same constant.
void fold_operand(const FoldContext& context, int kernel);
// shape.cc
/// Merges `compute` if it is a reshape that drops dims of extent 1 from a gather's result.
void fold_result_shape(const FoldContext& context, int compute);
// update.cc
/// Merges a gather, elementwise operations on what it gathers, and the scatter that writes the results back, if they are one update of each
/// destination: the scatter combines them. Returns the gather's kernel, which nobody reads then; -1 if nothing changes.
int fold_update_idiom(const FoldContext& context, int kernel, const ImportOptions& options);
/// Takes kernels that were merged into others out of the program. `into`: per kernel, the kernel that it became part of; -1: none.
void remove_merged_kernels(Imported& imported, const std::vector<int>& into);
// fuse.cc
/// Moves the elementwise operations that compute a scatter's updates into the scatter's combiner.
void fuse_updates(const FoldContext& context, int kernel);
/// Moves `compute`, an elementwise operation on a gather's result, into the gather, together with the elementwise operations before it.
/// Returns how many operations it examined.
size_t fuse_result(const FoldContext& context, int compute);

}  // namespace strew::inline v0::fold
